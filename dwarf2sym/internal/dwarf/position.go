package dwarf

import "github.com/symtool/symtool/internal/dw"

// Position is what a row of a line table has about an address, with what a Row leaves out.
type Position struct {
	File                        uint64 // as the line program numbers it
	Line, Column, Discriminator uint32 // 0 for none
}

// positionFinder runs a line program to find the position of one address.
type positionFinder struct {
	*LineTable
	addr  uint64
	state lineState
	now   Position // its column and discriminator

	// Of the open sequence: the last row at or before addr.
	last    Position
	at      uint64
	covered bool

	found Position
	end   uint64 // of the sequence that found is from; 0 if there is none
}

// Position runs the line program of u, and returns the position of an address. If several sequences contain
// it, the one that ends first counts, as in LLVM. The names of the files can be had afterwards, but no rows.
func (t *LineTable) Position(u *Unit, w *Window, addr uint64) (p Position, ok bool, err error) {
	if err := t.ReadFiles(u, w); err != nil {
		return p, false, err
	}
	if t.lineRange == 0 && t.opBase != 0 {
		return p, false, t.errorf(u, 0, "line range 0")
	}
	f := positionFinder{LineTable: t, addr: addr, state: lineState{file: 1, num: 1}}
	special := t.specials()
	for pos := t.prog; pos < len(t.data); {
		op, next := t.data[pos], 0
		if op >= t.opBase {
			f.special(special[op])
			next = pos + 1
		} else {
			next = f.step(u, op, pos+1)
		}
		if next < 0 {
			return f.found, f.end > 0, t.errorf(u, pos, "line program ends within opcode %d", op)
		}
		pos = next
	}
	return f.found, f.end > 0, nil
}

// special executes a special opcode.
func (f *positionFinder) special(op specialOp) {
	if f.maxOps == 1 {
		f.state.addr += op.addr // specials has multiplied it
	} else {
		f.advance(&f.state, op.addr)
	}
	f.state.num += int64(op.num)
	f.row()
}

// step executes an opcode that is not a special one, and returns where the next is; -1 if the program ends
// within it.
func (f *positionFinder) step(u *Unit, op byte, pos int) int {
	switch op {
	case dw.LNSCopy:
		f.row()
		return pos
	case dw.LNSSetColumn:
		column, next := uleb(f.data, pos)
		f.now.Column = uint32(column)
		return next
	case 0:
		f.extended(pos)
	}
	return f.standard(u, &f.state, op, pos)
}

// extended takes from an extended opcode what LineTable.extended does not.
func (f *positionFinder) extended(pos int) {
	size, pos := uleb(f.data, pos)
	if pos < 0 || size == 0 || size > uint64(len(f.data)-pos) {
		return
	}
	switch f.data[pos] {
	case dw.LNEEndSequence:
		f.endSequence()
	case dw.LNESetDiscriminator:
		d, _ := uleb(f.data, pos+1)
		f.now.Discriminator = uint32(d)
	}
}

// row appends the row that the state describes.
func (f *positionFinder) row() {
	if s := &f.state; s.addr <= f.addr && (!f.covered || s.addr >= f.at) {
		f.last, f.at, f.covered = f.now, s.addr, true
		f.last.File, f.last.Line = s.file, uint32(s.num)
	}
	f.now.Discriminator = 0
}

func (f *positionFinder) endSequence() {
	if end := f.state.addr; f.covered && f.addr < end && (f.end == 0 || end < f.end) {
		f.found, f.end = f.last, end
	}
	f.now, f.covered = Position{}, false
}
