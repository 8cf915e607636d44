package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
)

// blocks has the code of lexical blocks outside of the functions that they are in, by the offsets of these. GHC
// describes a procedure by its first block, and the others, wherever they are, as lexical blocks below it.
type blocks struct {
	tables dwarf.AbbrevCache // with all attributes
	unit   dwarf.Unit
	die    dwarf.DIE
	in     []uint64 // the innermost function around each level of children, or 0
	of     map[uint64][]dwarf.Span
}

// read reads the blocks of a unit. Damage ends them, and is left to the reader of functions.
func (b *blocks) read(s *dwarf.Sections, u *dwarf.Unit, data []byte, m *dwarf.Meter) {
	clear(b.of)
	if u.Lang != dw.LangHaskell {
		return
	}
	b.tables.All = true
	t, cost, err := b.tables.Get(s, &u.Header)
	if m.Spend(cost); err != nil || b.unit.Begin(s, &u.Header, data, t, m) != nil {
		return
	}
	if b.of == nil {
		b.of = map[uint64][]dwarf.Span{}
	}
	b.in = append(b.in[:0], 0)
	for pos := b.unit.Children(); pos < b.unit.Len() && len(b.in) > 0 && len(b.in) < dwarf.MaxDepth; {
		if pos = b.entry(pos); pos == 0 {
			return
		}
	}
}

// entry reads the DIE at pos, and returns where the next one is; 0 if it is damaged.
func (b *blocks) entry(pos int) (next int) {
	u, d := &b.unit, &b.die
	if u.Head(pos, d) != nil {
		return 0
	}
	within, err := b.in[len(b.in)-1], error(nil)
	switch d.Tag {
	case 0:
		b.in = b.in[:len(b.in)-1]
		return pos + 1
	case dw.TagSubprogram:
		within = u.Off + uint64(pos)
		next, err = u.Over(d)
	case dw.TagLexicalBlock:
		if next, err = u.Take(d); err == nil && within != 0 {
			b.of[within], _ = u.Spans(d.Value(dw.AtLowPC), d.Value(dw.AtHighPC), d.Value(dw.AtRanges), b.of[within])
		}
	default:
		next, err = u.Over(d)
	}
	if err != nil {
		return 0
	}
	if d.Children {
		b.in = append(b.in, within)
	}
	return next
}
