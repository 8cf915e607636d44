package funcs

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
)

// blocks holds the code of lexical blocks that lie outside their functions, by the offset of the function's DIE. GHC
// describes a procedure by its first block, and the others, wherever they are, as lexical blocks below it.
type blocks struct {
	unit dwarf.Unit // with all attributes
	die  dwarf.DIE
	in   []uint64 // the innermost function around each level of children, or 0
	of   map[uint64][]dwarf.Span
}

// readBlocks returns the blocks of a unit, or nil if it has none outside their functions. It stops at damage, which the
// reader of functions reports.
func readBlocks(s *dwarf.Sections, u *dwarf.Unit, data []byte, m *dwarf.Meter) *blocks {
	if u.Lang != dw.LangHaskell {
		return nil
	}
	tables := dwarf.AbbrevCache{All: true}
	t, cost, err := tables.Get(s, &u.Header)
	b := &blocks{in: []uint64{0}, of: map[uint64][]dwarf.Span{}}
	if m.Spend(cost); err != nil || b.unit.Begin(s, &u.Header, data, t, m) != nil {
		return nil
	}
	for pos := b.unit.Children(); pos > 0 && pos < b.unit.Len() && len(b.in) > 0 && len(b.in) < dwarf.MaxDepth; {
		pos = b.entry(pos)
	}
	return b
}

// entry reads the DIE at pos and returns the position of the next one, or 0 if the DIE is damaged.
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
