package dwarf2sym

import "github.com/symtool/symtool/internal/bin"

// Garbage causes a problem every few bytes; the first ones are enough.
const (
	unitProblems = 16   // kept for a unit
	allProblems  = 1000 // kept for all units
)

// unitProblem is damage at an offset of .debug_info.
type unitProblem struct {
	off uint64
	bin.Problem
}

// problemList is the damage that one worker found in units, which come to it
// in order. Units are kept or dropped as a whole, so that the first
// allProblems of several lists are the first of all.
type problemList struct {
	kept    []unitProblem
	dropped int
	unit    int  // number of problems of the current unit
	full    bool // only count
}

// next begins a unit.
func (l *problemList) next() {
	l.unit, l.full = 0, len(l.kept) >= allProblems
}

// add records damage at off of .debug_info.
func (l *problemList) add(off uint64, lost string, err error) {
	if l.unit++; l.unit > unitProblems || l.full {
		l.dropped++
		return
	}
	l.kept = append(l.kept, unitProblem{off, bin.Problem{Lost: lost, Err: err}})
}

// any reports whether there was damage.
func (l *problemList) any() bool { return len(l.kept)+l.dropped > 0 }
