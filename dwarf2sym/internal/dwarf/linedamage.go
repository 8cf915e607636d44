package dwarf

import "fmt"

// Damage in a line program costs what follows it in the same sequence. The rows before it are right, as readelf and gdb
// show them, and the next sequence begins with a fresh state and its own address.

// program is the part of the state that spans sequences.
type program struct {
	ended    int   // number of sequences that ended
	broken   int   // number of sequences whose rest is lost, including the open one
	firstCut Fault // what is lost in the first of them
}

// cut records that the rest of the open sequence is lost, from the state's address on. Only the first cut sequence of a
// program gets a message.
func (t *LineTable) cut(u *Unit, s *lineState, pos int, format string, args ...any) {
	if s.cut {
		return
	}
	if s.broken++; s.broken == 1 {
		s.firstCut = Fault{s.rest(), t.errorf(u, pos, format, args...)}
	}
	s.keep()
}

// keep ends the rows of the open sequence at the state's address.
func (s *lineState) keep() {
	if !s.cut && !s.none {
		s.hi = s.addr
	}
	s.cut, s.none = true, true
}

// rest describes what is lost when nothing more is known about the open sequence.
func (s *lineState) rest() string {
	switch {
	case s.cut:
		return fmt.Sprintf("lines behind sequence %d", s.ended+1) // the rest of this one was reported
	case !s.none && s.addr > 0:
		return fmt.Sprintf("lines from %#x on in sequence %d", s.addr, s.ended+1)
	}
	return fmt.Sprintf("lines of sequence %d", s.ended+1)
}

// finish ends the program at pos, and reports what is lost if pos is within an opcode or a sequence.
func (t *LineTable) finish(u *Unit, s *lineState, pos int, open bool) {
	if s.broken > 1 {
		s.firstCut.Lost += fmt.Sprintf(", and parts of %d more sequences", s.broken-1)
	}
	if s.broken > 0 {
		t.faults = append(t.faults, s.firstCut)
	}
	switch {
	case pos < len(t.data):
		t.stop(u, s, pos, open)
	case open && !s.cut:
		t.faults = append(t.faults, Fault{s.rest(), t.errorf(u, pos, "line program ends within a sequence")})
		s.keep()
	}
}

// stop ends the program inside an opcode. More sequences may have followed.
func (t *LineTable) stop(u *Unit, s *lineState, pos int, open bool) {
	lost := "lines"
	switch {
	case open:
		lost = s.rest() + " and all behind it"
	case s.ended > 0:
		lost = fmt.Sprintf("lines behind sequence %d", s.ended)
	}
	t.faults = append(t.faults, Fault{lost, t.errorf(u, pos, "line program ends within opcode %d", t.data[pos])})
	s.keep()
}

// end ends the open sequence before pos. It returns the address where its rows end, and reports false if there is none:
// the extent of rows that left the address space is unknown. The end of code may be just past the highest address.
func (t *LineTable) end(u *Unit, s *lineState, pos int) (hi uint64, ok bool) {
	s.ended++
	if s.cut {
		return s.hi, s.hi > 0
	}
	if s.past || s.addr > t.most && s.addr-1 > t.most {
		t.faults = append(t.faults, Fault{"lines of a sequence", t.errorf(u, pos, "addresses past the highest one, %#x", t.most)})
		return 0, false
	}
	return s.addr, !s.none
}
