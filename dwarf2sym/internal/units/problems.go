package units

import "github.com/symtool/symtool/internal/bin"

// Garbage causes a problem every few bytes; the first ones are enough.
const (
	unitProblems = 16   // kept for a unit
	AllProblems  = 1000 // kept for all units
)

// Damage is what is wrong at an offset of .debug_info.
type Damage struct {
	Off uint64
	bin.Problem
}

// Problems is the damage that one worker found in units, which come to it
// in order. Units are kept or dropped as a whole, so that the first
// AllProblems of several lists are the first of all.
type Problems struct {
	Kept    []Damage
	Dropped int
	unit    int  // number of problems of the current unit
	full    bool // only count
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
