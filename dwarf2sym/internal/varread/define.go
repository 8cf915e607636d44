package varread

import (
	"context"
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/text"
)

// define reads structures that variables have, although the readers met only declarations of them. It makes an extra
// pass over the units of the files until all have been found.
//
// Only rustc declares structures like this: when it optimizes functions of several units together, an imported
// function refers to declarations. What a C++ compiler only declares is defined where the class has its methods, and
// so is met there, or in another module.
func (v *Reader) define(ctx context.Context, files []File, readers []*Reader) {
	all := []*varjoin.Records{v.Records}
	for _, o := range readers {
		all = append(all, o.Records)
	}
	wanted := wantedNames{full: varjoin.Undefined(all), last: map[string]bool{}}
	for name := range wanted.full {
		wanted.last[text.LastPart(name)] = true
	}
	for _, f := range files {
		if len(wanted.full) > 0 {
			f.Use(func(d *units.Data) { v.definitions(ctx, d, wanted) })
		}
	}
}

// definitions reads the wanted structures of a file.
func (v *Reader) definitions(ctx context.Context, d *units.Data, wanted wantedNames) {
	for i := range d.Units {
		if len(wanted.full) == 0 || v.Meter.Exhausted || ctx.Err() != nil {
			return
		}
		h := &d.Units[i].Header
		v.inUnit(d, h, "definitions in", func(data []byte) {
			if v.main.Lang == dw.LangRust {
				v.defineIn(wanted, func() bool { return v.host.Begin(d, h, data) })
				d.Passed(int64(h.Size), nil)
			}
		})
	}
}

// wantedNames are names of structures, with all scopes and without any.
type wantedNames struct{ full, last map[string]bool }

// defineIn reads the wanted structures of the open unit. Before it needs scopes it calls begin, which makes the unit
// the host's current one: most units have none of the names.
func (v *Reader) defineIn(wanted wantedNames, begin func() bool) {
	u, begun := &v.main, false
	d := v.die()
	top := v.top
	for pos := u.Children(); pos < u.Len(); {
		v.release(top)
		if u.Head(pos, d) != nil {
			return
		}
		var err error
		at := u.Off + uint64(pos)
		switch d.Tag {
		case dw.TagStructureType, dw.TagClassType, dw.TagUnionType, dw.TagEnumerationType:
			pos, err = u.Take(d)
		case dw.TagSubprogram:
			if pos, err = u.Over(d); err == nil {
				pos, err = u.SkipTree(d, pos)
			}
			d.Tag = 0
		default:
			pos, err = u.Over(d)
			d.Tag = 0
		}
		if err != nil {
			return
		}
		if d.Tag == 0 || !v.mayBeWanted(d, wanted) {
			continue
		}
		if !begun {
			if begun = begin(); !begun {
				return
			}
		}
		if v.isWanted(d, at, wanted) {
			v.typeAt(u, dwarf.Value{Kind: dwarf.Ref, U: at})
			v.readMembers()
		}
	}
}

// mayBeWanted reports whether d may be a wanted structure, from its name without scopes.
func (v *Reader) mayBeWanted(d *dwarf.DIE, wanted wantedNames) bool {
	name, _ := v.main.Text(d.Value(dw.AtName))
	v.Meter.Spend(uint64(len(name)))
	return wanted.last[string(name)] && !d.Flag(dw.AtDeclaration)
}

// isWanted reports whether the structure with DIE d is wanted, and removes it from the wanted ones.
func (v *Reader) isWanted(d *dwarf.DIE, at uint64, wanted wantedNames) bool {
	full := strings.Clone(v.typeName(&v.main, d, dieKey{v.main.D, at}))
	found := wanted.full[full]
	delete(wanted.full, full)
	return found
}
