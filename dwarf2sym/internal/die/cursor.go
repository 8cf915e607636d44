// Package die iterates over the DIEs of a unit, decoding each once for every visitor.
package die

import "github.com/symtool/symtool/dwarf2sym/internal/dwarf"

// Visitor is called with the entries that it wants. F, the frame of an entry, is what the visitor needs to know about
// an entry whose children are visited.
type Visitor[F any] interface {
	// Inlines reports whether the inlined subroutines directly below an entry are wanted.
	Inlines(f *F) bool
	// Enter visits an entry. f is a copy of the enclosing entry's frame, and becomes the frame of e's children.
	Enter(e *dwarf.Entry, f *F)
	// Leave is called after the children of an entry, with its frame. end is the position in the unit where the
	// children end or, for an entry without children, its attributes.
	Leave(f *F, end int)
}

// Cursor visits the entries of a unit in order.
type Cursor[F any] struct {
	dwarf.Scanner
	stack []F // the frame around the first entry, then those of the entries whose children are being read
}

// Walk visits the entries from the scanner's position on or, with one, only the first of them and what is below it.
// around is the frame that encloses them. Entries cut short by an error are left as if their children ended with the
// unit.
func (c *Cursor[F]) Walk(v Visitor[F], around F, one bool) error {
	s := &c.Scanner
	stack := append(c.stack[:0], around)
	defer func() { c.stack = stack[:0] }()
	for {
		top := len(stack) - 1
		s.Inlines(v.Inlines(&stack[top]))
		e, done, err := s.Next()
		switch {
		case done:
			for ; top >= 0; top-- {
				v.Leave(&stack[top], s.Size())
			}
			return err
		case e == nil:
			v.Leave(&stack[top], s.At())
			stack = stack[:top]
		default:
			stack = append(stack, stack[top])
			f := &stack[top+1]
			v.Enter(e, f)
			if !e.Children {
				v.Leave(f, s.At())
				stack = stack[:top+1]
			}
		}
		if one && len(stack) == 1 {
			return nil
		}
	}
}
