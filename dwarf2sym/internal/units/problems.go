package units

import "github.com/symtool/symtool/internal/bin"

// Garbage causes a problem every few bytes; the first few are enough.
const (
	unitProblems = 16   // kept for a unit
	AllProblems  = 1000 // kept for all units
)

// Damage describes damage at an offset of .debug_info.
type Damage struct {
	Off uint64
	bin.Problem
}

// Problems collects the damage that one worker finds in units, which it reads in order.
// Units are kept or dropped as a whole, so that the first AllProblems of several lists
// are the first of all.
type Problems struct {
	Kept    []Damage
	Dropped int
	unit    int  // number of problems of the current unit
	full    bool // only count further problems
}

// Next begins a unit.
func (l *Problems) Next() {
	l.unit, l.full = 0, len(l.Kept) >= AllProblems
}

// Add records damage at off of .debug_info.
func (l *Problems) Add(off uint64, lost string, err error) {
	if l.unit++; l.unit > unitProblems || l.full {
		l.Dropped++
		return
	}
	l.Kept = append(l.Kept, Damage{off, bin.Problem{Lost: lost, Err: err}})
}

// Any reports whether there was damage.
func (l *Problems) Any() bool { return len(l.Kept)+l.Dropped > 0 }
