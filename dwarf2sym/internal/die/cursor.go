// Package die goes over the DIEs of a unit, once for all who want something of them.
package die

import "github.com/symtool/symtool/dwarf2sym/internal/dwarf"

// Visitor is called with the entries that it wants. F is what it knows of an entry whose children are visited: the
// frame of these.
type Visitor[F any] interface {
	// Inlines reports whether inlined subroutines are wanted among what is directly below an entry.
	Inlines(f *F) bool
	// Enter visits an entry. f is a copy of the frame around it, and becomes that of its children.
	Enter(e *dwarf.Entry, f *F)
	// Leave is called with the frame of an entry after its children, which end at a position in the unit. Of an entry
	// without children that is where its attributes end.
	Leave(f *F, end int)
}

// Cursor visits the entries of a unit in order.
type Cursor[F any] struct {
	dwarf.Scanner
	stack []F // the entries whose children are being read, after what is around the first
}

// Walk visits the entries from where the scanner is on, or only the first of them and what is below it. around is
// the frame that they are in. Entries that an error cuts short are left as if their children ended with the unit.
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
