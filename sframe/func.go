package sframe

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/damage"
)

// Func is a function with all its rows, independent of any section. [Encode] takes this form.
type Func struct {
	Start  uint64 // address of the first byte
	Size   uint32 // bytes
	Block  uint32 // for a PCMASK function, the size of the block that repeats; otherwise 0
	KeyB   bool   // AArch64: return addresses are signed with key B
	Signal bool   // a signal interrupted the code at the frame's return address
	Rows   []Row  // sorted by Start
}

// Func returns FDE i with its rows. If it returns an error, the rows before the damage are set. A
// function that version 3 marks as outermost by giving it no rows gets one row that says so.
func (s *Section) Func(i int) (Func, error) {
	f := &s.FDEs[i]
	rows := s.Rows(i)
	fn := Func{Start: f.Start, Size: f.Size, KeyB: f.KeyB, Signal: f.Signal}
	if f.Mask {
		fn.Block = f.Block
	}
	if s.Outermost(i) {
		fn.Rows = []Row{{RA: Rule{Kind: Undefined}}}
		return fn, nil
	}
	fn.Rows = make([]Row, 0, rows.atMost())
	for rows.Next() {
		fn.Rows = append(fn.Rows, rows.Row)
	}
	return fn, rows.Err()
}

// atMost limits the number of rows by the number of bytes available for them.
func (r *Rows) atMost() uint64 {
	if uint64(r.pos) >= uint64(len(r.h.rows)) {
		return 0
	}
	return min(uint64(r.left), uint64(len(r.h.rows)-int(r.pos))/(uint64(r.f.addrSize)+1))
}

// sharedRows is the number of rows that Funcs returns in addition to one for each byte of the
// section's rows. Unshared rows have at least two bytes, but all functions of a section may refer
// to the same thousands of rows.
const sharedRows = 1 << 12

// Funcs returns the functions of all headers. A function with damaged rows is left out, as the
// rows before the damage would otherwise be in force up to its end.
func (s *Section) Funcs() (funcs []Func, problems []damage.Problem) {
	funcs = make([]Func, 0, len(s.FDEs))
	left := s.RowBytes() + sharedRows
	for i := range s.FDEs {
		f, err := s.funcOf(i, left)
		left -= min(left, uint64(len(f.Rows)))
		if err != nil {
			problems = append(problems, damage.Problem{Lost: fmt.Sprintf("function at %#x", f.Start), Err: err})
			continue
		}
		funcs = append(funcs, f)
	}
	return funcs, problems
}

// funcOf implements Funcs for FDE i. It returns an error if there are more than maxRows rows, or
// for a PCMASK function without a block.
func (s *Section) funcOf(i int, maxRows uint64) (Func, error) {
	d := &s.FDEs[i]
	rows := s.Rows(i)
	if rows.atMost() > maxRows {
		return Func{Start: d.Start}, s.fail(s.Offset(i), "%d rows: the functions before share theirs, and have too many", d.NumRows)
	}
	f, err := s.Func(i)
	if err == nil && d.Mask && d.Block == 0 {
		err = s.fail(s.Offset(i), "PCMASK with a block of size 0")
	}
	return f, err
}
