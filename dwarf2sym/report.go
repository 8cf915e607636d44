package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/companion"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Values of Stats.CFISource.
const (
	SourceDWARF  = "dwarf"
	SourceSFrame = "sframe"
)

// Stats counts what was read, written and lost. The names of the JSON fields
// are part of the command's interface: fields may be added, but not changed.
type Stats struct {
	Units      int `json:"units"`       // units of .debug_info, without type units
	SplitUnits int `json:"split_units"` // of these, read from .dwo files and packages
	LineRows   int `json:"line_rows"`   // rows of their line tables, without repetitions

	Funcs   int `json:"functions"` // FUNC records
	Inlines int `json:"inlines"`   // INLINE records
	Lines   int `json:"lines"`     // line records
	Files   int `json:"files"`     // FILE records
	Origins int `json:"origins"`   // INLINE_ORIGIN records
	Publics int `json:"publics"`   // PUBLIC records

	DeadFuncs       int    `json:"dead_functions"`   // dropped by the linker
	FoldedFuncs     int    `json:"folded_functions"` // at an address that another one names
	CutFuncs        int    `json:"cut_functions"`    // at an address that another function has
	LostBodies      int    `json:"-"`                // parts of functions that overlap others
	SymbolFuncs     int    `json:"symbol_functions"` // of CutFuncs, parts whose lines were not looked for
	RepairedInlines int    `json:"repaired_inlines"` // pieces of functions whose inlines did not nest
	CodeBytes       uint64 `json:"code_bytes"`       // pieces of functions whose inlines did not nest

	CFISource    string `json:"cfi_source"`         // "dwarf" or "sframe"; empty without STACK CFI
	CFIBlocks    int    `json:"cfi_blocks"`         // STACK CFI INIT records
	CFIRows      int    `json:"cfi_rows"`           // STACK CFI records
	CFIBytes     uint64 `json:"cfi_bytes"`          // bytes of code that they cover
	CFIDead      int    `json:"cfi_dead"`           // FDEs of code that the linker dropped
	CFILostRules int    `json:"cfi_lost_rules"`     // rules that the format cannot express
	CFILostRegs  int    `json:"cfi_lost_registers"` // rules of registers that Breakpad does not name
	SignalFrames int    `json:"signal_frames"`      // FDEs of signal handlers' frames
}

// add adds the counts of a worker.
func (s *Stats) add(w *Stats) {
	s.Units += w.Units
	s.SplitUnits += w.SplitUnits
	s.LineRows += w.LineRows
	s.DeadFuncs += w.DeadFuncs
	s.SymbolFuncs += w.SymbolFuncs
	s.RepairedInlines += w.RepairedInlines
}

// count counts the records of the finished module, except those of bodies.
func (s *Stats) count(m *symfmt.Module) {
	s.Funcs, s.Files, s.Origins, s.Publics = len(m.Funcs), len(m.Files), len(m.Origins), len(m.Publics)
}

// countBody counts the records of a function while it is the current one: examining all of them
// again would bring all of a large file into memory.
func (s *Stats) countBody(b symfmt.Body) {
	inlines, lines := b.Counts()
	s.Inlines += inlines
	s.Lines += lines
}

func (s *Stats) countCFI(c *companion.CFI) {
	t := &c.Table
	s.CFIBlocks, s.CFIRows = len(t.Blocks), t.TextRows()
	for i := range t.Blocks {
		s.CFIBytes += t.Blocks[i].Size
	}
	s.CFIDead, s.CFILostRules, s.CFILostRegs = c.Stats.Dead, c.Stats.LostCFA+c.Stats.LostRules, c.Stats.Unnamed
	s.SignalFrames = c.Stats.Signal
	if len(t.Blocks) > 0 {
		if s.CFISource = SourceDWARF; c.SFrame {
			s.CFISource = SourceSFrame
		}
	}
}

// addPublic adds the extent of a PUBLIC whose symbol has a size.
func addPublic(e *symfmt.Extents, s *companion.Symbol) {
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
