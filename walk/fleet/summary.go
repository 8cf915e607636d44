package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk/verify"
)

// Summary sums up dumps. Set it up with NewSummary. It must not be used concurrently.
type Summary struct {
	makes   *SignatureMaker
	modules map[Module]*Counts
	crashes map[string]*Crashes
	totals  Totals
}

// NewSummary returns an empty Summary, whose signatures are made according to rules.
func NewSummary(rules *Rules) *Summary {
	return &Summary{makes: NewSignatureMaker(rules), modules: map[Module]*Counts{}, crashes: map[string]*Crashes{}}
}

// Add adds the next dump, which may be one that could not be read.
func (s *Summary) Add(w *Walked) {
	s.totals.Add(TotalsOf(w))
	if w.Err != nil {
		return
	}
	at := s.totals.Dumps
	for m, counts := range ModulesOf(w, at) {
		if s.modules[m] == nil {
			s.modules[m] = &Counts{}
		}
		s.modules[m].Add(*counts)
	}
	name, crash := CrashOf(w, at, s.makes)
	if s.crashes[name] == nil {
		s.crashes[name] = &Crashes{}
	}
	s.crashes[name].Add(crash)
}

// Tables returns what was added so far.
func (s *Summary) Tables() *Tables {
	t := &Tables{Totals: s.totals, Crashes: []CrashRow{}, Modules: []ModuleRow{}}
	for m, counts := range s.modules {
		t.Modules = append(t.Modules, NewModuleRow(m, *counts))
	}
	for name, crash := range s.crashes {
		t.Crashes = append(t.Crashes, NewCrashRow(name, *crash, s.totals.Read()))
	}
	t.Sort()
	return t
}

// Tables is a summary for writing.
type Tables struct {
	Totals  Totals
	Crashes []CrashRow            // those with the most dumps first
	Modules []ModuleRow           // those with the highest cost first
	Verify  *verify.TallyDocument // the verdicts of all dumps; nil if they were not judged
}

// Sort sorts the rows.
func (t *Tables) Sort() {
	slices.SortFunc(t.Crashes, byDumps)
	slices.SortFunc(t.Modules, byCost)
}

// Holds reports whether the symbols hold: at least one dump was read, and no module has a cost.
func (t *Tables) Holds() bool {
	return t.Totals.Read() > 0 && (len(t.Modules) == 0 || t.Modules[0].Cost == 0)
}

// Verdict returns one line about all dumps, which names the worst module.
func (t *Tables) Verdict() string {
	var callers, guessed, ends, unnamed int64
	for i := range t.Modules {
		m := &t.Modules[i]
		callers, guessed, ends, unnamed = callers+m.Callers, guessed+m.guessed(), ends+m.Ends-m.CutEnds, unnamed+m.Unnamed
	}
	read := t.Totals.Read()
	switch {
	case read == 0:
		return fmt.Sprintf("no verdict: none of %s could be read", text.Count(t.Totals.Dumps, "dump"))
	case t.Holds() && callers == 0:
		return fmt.Sprintf("nothing contradicts the symbols: no stack of %s has a caller", text.Count(read, "dump"))
	case t.Holds():
		return fmt.Sprintf("the symbols hold: %s in %s, none guessed", text.Count(callers, "caller"), text.Count(read, "dump"))
	}
	worst := &t.Modules[0]
	blame := "symbols to blame"
	if worst.Symbols == StateNone {
		blame = "not decided"
	}
	return fmt.Sprintf("%s: %d of %s guessed, %s too early, %s without a function, in %s; %d%% of it by %s, %s", blame,
		guessed, text.Count(callers, "caller"), text.Count(ends, "end"), text.Count(unnamed, "frame"), text.Count(read, "dump"),
		100*worst.Cost/(guessed+ends+unnamed), text.Printable(worst.name()), worst.lack())
}

// name returns the name by which texts refer to a module.
func (r *ModuleRow) name() string {
	if r.Symbols == StateNone {
		return "code in no module"
	}
	return strings.TrimSpace(r.Module + " " + r.DebugID)
}

// lack says what a module lacks.
func (r *ModuleRow) lack() string {
	switch r.Symbols {
	case StateNone:
		return "which no symbols describe"
	case StateCorrupt:
		return "whose symbols cannot be used"
	case StateOtherID:
		return "which has symbols of other builds only"
	case StateMissing:
		return "which has no symbols"
	case StateNoCFI:
		return "whose symbols have no call frame information there"
	}
	return "whose symbols lack something there"
}
