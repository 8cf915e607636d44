package srcread

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt"
)

// Variable is where a variable with a fixed address is declared.
type Variable struct {
	Addr uint64 // in the file
	File symfmt.SourceFile
	Line uint32
}

// readVariables appends the variables of the unit that have an address and a line.
func (r *Reader) readVariables() error {
	r.table.Clear()
	if u := r.lineUnit(); u.StmtList.Kind == dwarf.SecOff || u.StmtList.Kind == dwarf.Const {
		for _, f := range r.table.ReadFiles(u, r.lines) {
			r.host.Problem(r.main.Off, f.Lost+" of "+r.main.OwnName(), f.Err)
		}
		r.meter.Spend(uint64(r.table.HeaderSize()))
	}
	_, err := r.variables(r.main.Children())
	return err
}

// variables visits the DIEs from pos to the end of their parent's children. It skips types, which contain no
// variables with an address: static members are defined outside.
func (r *Reader) variables(pos int) (next int, err error) {
	u := &r.main
	if r.depth++; r.depth > dwarf.MaxDepth {
		return 0, u.Errorf(pos, "DIEs nested more than %d deep", dwarf.MaxDepth)
	}
	defer func() { r.depth-- }()
	var d dwarf.DIE
	for pos < u.Len() {
		if err := u.Head(pos, &d); err != nil {
			return 0, err
		}
		if d.Tag == dw.TagVariable && d.Has(dw.AtLocation) {
			if pos, err = u.Take(&d); err == nil {
				r.variable(&d)
			}
		} else {
			pos, err = u.Over(&d)
		}
		switch {
		case err != nil || d.Tag == 0:
			return pos, err
		case holdsVariables(d.Tag) && d.Children:
			pos, err = r.variables(pos)
		default:
			pos, err = u.SkipTree(&d, pos)
		}
		if err != nil {
			return 0, err
		}
	}
	return pos, nil
}

func holdsVariables(tag uint16) bool {
	switch tag {
	case dw.TagSubprogram, dw.TagInlinedSubroutine, dw.TagLexicalBlock, dw.TagTryBlock, dw.TagCatchBlock, dw.TagNamespace, dw.TagModule:
		return true
	}
	return false
}

// variable appends the variable with the DIE d if it has an address and a line.
func (r *Reader) variable(d *dwarf.DIE) {
	loc := d.Attr(dw.AtLocation)
	code, ok := r.main.Block(loc)
	if !ok {
		return // a variable with a location list moves
	}
	addr, ok := r.main.Constant(code)
	if !ok {
		return
	}
	if own := r.describe(d); own.line != 0 {
		r.Variables = append(r.Variables, Variable{addr, r.unit.files[own.file], own.line})
		r.meter.Spend(variableCost)
	}
}

// variableCost is the approximate memory that a variable takes, in bytes.
const variableCost = 96
