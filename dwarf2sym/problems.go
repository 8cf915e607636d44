package dwarf2sym

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
)

// placedProblem is a problem with its place in the order, which does not
// depend on the number of workers.
type placedProblem struct {
	section int // order of sections
	off     uint64
	bin.Problem
}

// Order of problems by where they come from.
const (
	problemFile = iota
	problemUnits
	problemSplit // what skeletons stand for
	problemNames
	problemCFI
	problemMapping
)

// Garbage causes a problem every few bytes; the first ones are enough.
const (
	unitProblems = 16   // kept for a unit
	allProblems  = 1000 // kept for all units
)

// problemList is the damage that one worker found in units, which come to it
// in order. Units are kept or dropped as a whole, so that the first
// allProblems of several lists are the first of all.
type problemList struct {
	kept    []placedProblem
	dropped int
	unit    int  // number of problems of the current unit
	full    bool // only count
	split   bool // for what skeletons stand for
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
	section := problemUnits
	if l.split {
		section = problemSplit
	}
	l.kept = append(l.kept, placedProblem{section: section, off: off, Problem: bin.Problem{Lost: lost, Err: err}})
}

// any reports whether there was damage.
func (l *problemList) any() bool { return len(l.kept)+l.dropped > 0 }

// problem records damage outside units. section orders it among the others.
func (r *reader) problem(section int, lost string, err error) {
	r.problems = append(r.problems, placedProblem{section: section, Problem: bin.Problem{Lost: lost, Err: err}})
}

// addProblems adds the damage in units.
func (r *reader) addProblems(l *problemList) {
	r.problems = append(r.problems, l.kept...)
	r.dropped += l.dropped
}

// sortedProblems returns all problems in order, with the first allProblems of
// those in units.
func (r *reader) sortedProblems() []bin.Problem {
	slices.SortStableFunc(r.problems, func(a, b placedProblem) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.off, b.off))
	})
	var out []bin.Problem
	units := 0
	for i := range r.problems {
		p := &r.problems[i]
		if p.section == problemUnits || p.section == problemSplit {
			if units++; units > allProblems {
				r.dropped++
				continue
			}
		}
		if p.section > problemSplit {
			out = r.addDropped(out)
		}
		out = append(out, p.Problem)
	}
	return r.addDropped(out)
}

// addDropped adds the number of problems in units that were not reported.
func (r *reader) addDropped(out []bin.Problem) []bin.Problem {
	if r.dropped == 0 {
		return out
	}
	n := r.dropped
	r.dropped = 0
	return append(out, bin.Problem{Err: &bin.Error{File: r.file.Path, Section: ".debug_info", Msg: fmt.Sprintf("%d more problems", n)}})
}
