package dwarf2sym

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/merge"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// placedProblem is a problem with its position in the report, which does not depend on the number
// of workers.
type placedProblem struct {
	section int // one of the constants below
	units.Damage
}

// Sections of the report, in order.
const (
	problemFile = iota
	problemUnits
	problemSplit // damage in what skeletons stand for
	problemNames
	problemCFI
	problemMapping
)

// problem records damage outside units. section determines its position among the others.
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

// sortedProblems returns all problems in order; of those in units, only the first allProblems.
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

// addDropped adds a problem that counts the unreported problems in units.
func (r *reader) addDropped(out []bin.Problem) []bin.Problem {
	if r.dropped == 0 {
		return out
	}
	n := r.dropped
	r.dropped = 0
	return append(out, bin.Problem{Err: &bin.Error{File: r.file.Path, Section: ".debug_info", Msg: fmt.Sprintf("%d more problems", n)}})
}

// noteUnit records the damage that was found in a portion.
func (l *Lookup) noteUnit(problems, elsewhere *units.Problems) {
	if problems.Any() || elsewhere.Any() {
		all := reader{file: l.r.file}
		all.addProblems(problemUnits, problems)
		all.addProblems(problemSplit, elsewhere)
		l.note(all.sortedProblems())
	}
	*problems, *elsewhere = units.Problems{}, units.Problems{}
}

// note records problems that were not recorded before, as units are read again for other
// functions.
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
}

// Damage returns the damage found so far, in the order in which it was found.
func (l *Lookup) Damage() []symfmt.Problem {
	l.damageMu.Lock()
	defer l.damageMu.Unlock()
	return slices.Clip(l.damage)
}

// Values of Stats.CFISource.
const (
	SourceDWARF  = "dwarf"
	SourceSFrame = "sframe"
	SourceCode   = "code" // instructions alone
)

// Stats counts what was read, written and lost. The names of the JSON fields are part of the
// command's interface: fields may be added, but not changed.
type Stats struct {
	Units      int `json:"units"`       // units of .debug_info, without type units
	SplitUnits int `json:"split_units"` // those of Units that were read from .dwo files and packages
	LineRows   int `json:"line_rows"`   // rows of their line tables, without repetitions

	Funcs   int `json:"functions"` // FUNC records
	Inlines int `json:"inlines"`   // INLINE records
	Lines   int `json:"lines"`     // line records
	Files   int `json:"files"`     // FILE records
	Origins int `json:"origins"`   // INLINE_ORIGIN records
	Publics int `json:"publics"`   // PUBLIC records

	DeadFuncs       int    `json:"dead_functions"`   // functions that the linker dropped
	FoldedFuncs     int    `json:"folded_functions"` // functions left out in favour of another one at the same address
	CutFuncs        int    `json:"cut_functions"`    // parts of functions that overlapped others
	LostBodies      int    `json:"-"`                // those of CutFuncs whose lines were not looked up
	SymbolFuncs     int    `json:"symbol_functions"` // functions made from symbols
	RepairedInlines int    `json:"repaired_inlines"` // pieces of functions whose inlines did not nest
	CodeBytes       uint64 `json:"code_bytes"`       // executable bytes of the file

	CFISource    string `json:"cfi_source"`                  // "dwarf", "sframe" or "code"; empty without STACK CFI
	CFIBlocks    int    `json:"cfi_blocks"`                  // STACK CFI INIT records
	CFIRows      int    `json:"cfi_rows"`                    // STACK CFI records
	CFIBytes     uint64 `json:"cfi_bytes"`                   // bytes of code that the rules cover
	CFIDerived   uint64 `json:"cfi_derived_bytes,omitempty"` // those of CFIBytes whose rules come from instructions
	CFILimit     uint64 `json:"cfi_limit,omitempty"`         // if more bytes of code than this have no rules, so that none were followed
	CFIDead      int    `json:"cfi_dead"`                    // FDEs for code that the linker dropped
	CFILostRules int    `json:"cfi_lost_rules"`              // rules that the format cannot express
	CFILostRegs  int    `json:"cfi_lost_registers"`          // rules for registers that Breakpad does not name
	SignalFrames int    `json:"signal_frames"`               // FDEs of signal handler frames

	StackWins int `json:"stack_wins,omitempty"` // STACK WIN records, for x86 with a PDB
}

// add adds the counts of a worker.
func (s *Stats) add(w *funcs.Stats) {
	s.Units += w.Units
	s.SplitUnits += w.SplitUnits
	s.LineRows += w.LineRows
	s.DeadFuncs += w.DeadFuncs
	s.SymbolFuncs += w.SymbolFuncs
	s.RepairedInlines += w.RepairedInlines
}

// addMerged adds the counts of joining.
func (s *Stats) addMerged(m *merge.Stats) {
	s.Inlines, s.Lines = s.Inlines+m.Inlines, s.Lines+m.Lines
	s.FoldedFuncs, s.CutFuncs, s.LostBodies = m.FoldedFuncs, m.CutFuncs, m.LostBodies
}

// count counts the records of the finished module, except those of bodies.
func (s *Stats) count(m *symfmt.Module) {
	s.Funcs, s.Files, s.Origins, s.Publics = len(m.Funcs), len(m.Files), len(m.Origins), len(m.Publics)
}

func (s *Stats) countCFI(c *callframe.Result) {
	t := &c.Table
	s.CFIBlocks, s.CFIRows = len(t.Blocks), t.TextRows()
	for i := range t.Blocks {
		s.CFIBytes += t.Blocks[i].Size
	}
	s.CFIDead, s.CFILostRules, s.CFILostRegs = c.Stats.Dead, c.Stats.LostCFA+c.Stats.LostRules, c.Stats.Unnamed
	s.SignalFrames, s.CFIDerived, s.CFILimit = c.Stats.Signal, c.Derived.Size, c.Derived.Limit
	if len(t.Blocks) > 0 {
		switch {
		case c.Derived.Size == s.CFIBytes:
			s.CFISource = SourceCode
		case c.SFrame:
			s.CFISource = SourceSFrame
		default:
			s.CFISource = SourceDWARF
		}
	}
}

// addPublic adds the extent of a PUBLIC whose symbol has a size.
func addPublic(e *symfmt.Extents, s *publics.Symbol) {
	if s.Size > 0 {
		e.Publics = append(e.Publics, symfmt.Range{RVA: s.RVA, Size: s.Size})
	}
}

func addCode(e *symfmt.Extents, f *object.File) {
	base := f.Base
	if f.Kind != object.Relocatable {
		e.Base = base
	}
	for _, r := range f.CodeRanges() {
		if r.Start >= base {
			e.Code = append(e.Code, symfmt.Range{RVA: symfmt.RVA(r.Start - base), Size: r.End - r.Start})
		}
	}
}
