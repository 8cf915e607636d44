package dwarf2sym

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
)

// placedProblem is a problem with its place in the order, which does not
// depend on the number of workers.
type placedProblem struct {
	section int // order of sections
	units.Damage
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

// problem records damage outside units. section orders it among the others.
func (r *reader) problem(section int, lost string, err error) {
	r.problems = append(r.problems, placedProblem{section, units.Damage{Problem: bin.Problem{Lost: lost, Err: err}}})
}

// addProblems adds the damage in units; section is problemUnits or problemSplit.
func (r *reader) addProblems(section int, l *units.Problems) {
	for _, p := range l.Kept {
		r.problems = append(r.problems, placedProblem{section, p})
	}
	r.dropped += l.Dropped
}

// sortedProblems returns all problems in order, with the first allProblems of
// those in units.
func (r *reader) sortedProblems() []bin.Problem {
	slices.SortStableFunc(r.problems, func(a, b placedProblem) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.Off, b.Off))
	})
	var out []bin.Problem
	count := 0
	for i := range r.problems {
		p := &r.problems[i]
		if p.section == problemUnits || p.section == problemSplit {
			if count++; count > units.AllProblems {
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
