package dwarf2sym

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
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

// noteUnit keeps the damage that was found in a portion.
func (l *Lookup) noteUnit(problems, elsewhere *units.Problems) {
	if problems.Any() || elsewhere.Any() {
		all := reader{file: l.r.file}
		all.addProblems(problemUnits, problems)
		all.addProblems(problemSplit, elsewhere)
		l.note(all.sortedProblems())
	}
	*problems, *elsewhere = units.Problems{}, units.Problems{}
}

// note keeps problems that were not recorded before, as units are read again for other functions.
func (l *Lookup) note(problems []symfmt.Problem) {
	if len(problems) == 0 {
		return
	}
	l.damageMu.Lock()
	defer l.damageMu.Unlock()
	if l.noted == nil {
		l.noted = make(map[string]bool)
	}
	for _, p := range problems {
		if text := p.String(); !l.noted[text] {
			l.noted[text] = true
			l.damage = append(l.damage, p)
		}
	}
	l.damaged.Store(int64(len(l.damage)))
}

// Damage returns the damage in the order in which it was found, and Damaged its number.
func (l *Lookup) Damage() []symfmt.Problem {
	l.damageMu.Lock()
	defer l.damageMu.Unlock()
	return slices.Clip(l.damage)
}

// Damaged returns the length of Damage.
func (l *Lookup) Damaged() int { return int(l.damaged.Load()) }
