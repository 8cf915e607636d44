package dwarf

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/dw"
)

// Position is what a row of a line table says about an address, including what a [Row] leaves out.
type Position struct {
	Addr                        uint64
	File                        uint32 // as the line program numbers it
	Line, Column, Discriminator uint32 // 0 for none
}

// Positions are all rows of a line table. The rows of a sequence are in order of address; of several at the same
// address, the last one counts.
type Positions struct {
	Rows []Position
	Seqs []Sequence // in the order of the program
}

// bytesPerRow is the typical number of bytes of a line program per row: compilers that write columns take 4 to 6.
const bytesPerRow = 5

// positionReader runs a line program for its positions.
type positionReader struct {
	*LineTable
	out   Positions
	state lineState // first is an index in out.Rows
	now   Position  // only its column and discriminator
}

// Positions runs the line program of u. In a damaged sequence, the rows before the damage are returned. The names of
// files are available afterwards.
func (t *LineTable) Positions(u *Unit, w *Window) (Positions, []Fault) {
	if err := t.open(u, w); err != nil {
		return Positions{}, []Fault{{"lines", err}}
	}
	r := positionReader{LineTable: t}
	r.state.next(0)
	r.out.Rows = make([]Position, 0, (len(t.data)-t.prog)/bytesPerRow)
	special, pos := t.specials(), t.prog
	for pos < len(t.data) {
		op, next := t.data[pos], 0
		if op >= t.opBase && t.lineRange > 0 {
			r.special(special[op])
			next = pos + 1
		} else {
			next = r.step(u, op, pos+1)
		}
		if next < 0 {
			break
		}
		pos = next
	}
	t.finish(u, &r.state, pos, len(r.out.Rows) > r.state.first)
	r.close(r.state.hi)
	return r.out, t.faults
}

// special executes a special opcode.
func (r *positionReader) special(op specialOp) {
	if r.maxOps == 1 {
		r.state.add(op.addr) // already multiplied in specials
	} else {
		r.advance(&r.state, op.addr)
	}
	r.state.num += int64(op.num)
	r.row()
}

// step executes an opcode that is not a special one and returns the position of the next, or -1 if the program ends
// within it.
func (r *positionReader) step(u *Unit, op byte, pos int) int {
	switch op {
	case dw.LNSCopy:
		r.row()
		return pos
	case dw.LNSSetColumn:
		column, next := uleb(r.data, pos)
		r.now.Column = uint32(column)
		return next
	case 0:
		return r.extended(u, pos)
	}
	return r.standard(u, &r.state, op, pos)
}

// extended executes an extended opcode.
func (r *positionReader) extended(u *Unit, pos int) int {
	size, at := uleb(r.data, pos)
	if at >= 0 && size > 0 && size <= uint64(len(r.data)-at) {
		switch r.data[at] {
		case dw.LNEEndSequence:
			r.endSequence(u, at)
			return at + int(size)
		case dw.LNESetDiscriminator:
			d, _ := uleb(r.data, at+1)
			r.now.Discriminator = uint32(d)
		}
	}
	return r.LineTable.extended(u, &r.state, pos)
}

// row appends the row that the state describes.
func (r *positionReader) row() {
	if r.state.none {
		r.now.Discriminator = 0
		return
	}
	p := r.now
	p.Addr, p.File, p.Line = r.state.addr, uint32(r.state.file), uint32(r.state.num)
	r.out.Rows = append(r.out.Rows, p)
	r.now.Discriminator = 0
}

func (r *positionReader) endSequence(u *Unit, pos int) {
	if hi, ok := r.end(u, &r.state, pos); ok {
		r.close(hi)
	}
	r.state.next(len(r.out.Rows))
	r.now = Position{}
}

// close makes a sequence that ends at hi from the open rows.
func (r *positionReader) close(hi uint64) {
	rows := r.out.Rows[r.state.first:]
	byAddr := func(a, b Position) int { return cmp.Compare(a.Addr, b.Addr) }
	if !slices.IsSortedFunc(rows, byAddr) {
		slices.SortStableFunc(rows, byAddr)
	}
	if len(rows) > 0 && rows[0].Addr < hi {
		r.out.Seqs = append(r.out.Seqs, Sequence{Lo: rows[0].Addr, Hi: hi, First: r.state.first, Last: len(r.out.Rows)})
	}
}

// Of returns the last row of a sequence at or before addr, which must be in the sequence.
func (p *Positions) Of(s *Sequence, addr uint64) Position {
	rows := p.Rows[s.First:s.Last]
	i, _ := slices.BinarySearchFunc(rows, addr, func(row Position, addr uint64) int {
		if row.Addr <= addr {
			return -1
		}
		return 1
	})
	return rows[i-1]
}
