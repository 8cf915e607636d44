package lint

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/lint/extent"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// Coverage is how much of a module's code has call frame information and lines. Code has call frame
// information if it lies in a STACK CFI block with rules for .cfa and .ra that can be computed, or
// in a STACK WIN record that readers can use. Bytes of two FUNC records that overlap count twice.
type Coverage struct {
	Functions int `json:"functions"` // FUNC records
	Publics   int `json:"publics"`   // PUBLIC records
	Blocks    int `json:"blocks"`    // STACK CFI INIT records
	WinBlocks int `json:"win_blocks,omitempty"`

	// All is the code that has call frame information; see CodeShare.
	All CodeShare `json:"cfi_code"`

	Code    Share `json:"cfi_bytes"`   // bytes of functions with call frame information
	Entries Share `json:"cfi_entries"` // functions whose first byte has CFI
	Public  Share `json:"cfi_publics"` // PUBLIC records whose first byte has CFI

	// LineEnds are the line records whose code has CFI: the end of a line's code is where return
	// addresses may be. Without the binary it is not known which of them are. If a function has
	// call frame information for a part of its code only, its lines are Unsure, and not among
	// Covered.
	LineEnds LineEnds `json:"cfi_line_ends"`
	// Calls are the return addresses of the code: what follows each call
	// instruction. It is nil without the binary, and for CPUs whose calls are not read.
	Calls *Share `json:"cfi_calls,omitempty"`

	Lines     Share `json:"line_bytes"`     // bytes of functions with lines
	WithLines Share `json:"line_functions"` // functions with line records

	// Worst are the functions with the most bytes without call frame information: what
	// All lacks, the largest first. WorstLines are FUNCs with the most bytes without lines.
	Worst      []Gap `json:"worst_cfi,omitempty"`
	WorstLines []Gap `json:"worst_lines,omitempty"`

	// Unnamed is the number of pieces of code outside of FUNCs that lack call frame information.
	Unnamed int `json:"-"`

	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"`

	known   extent.Ranges // code that has call frame information
	startup Share         // entries of start-up code, which no limit asks for
}

// HasCFI reports whether the code at an address has call frame information.
func (c *Coverage) HasCFI(rva symfmt.RVA) bool { return c.known.In(rva, 1) == 1 }

// CFIRanges are the pieces of code that have call frame information, by address; they do not touch.
// The caller must not modify them.
func (c *Coverage) CFIRanges() []symfmt.Range { return c.known }

// anyCFI reports whether any code has call frame information.
func (c *Coverage) anyCFI() bool { return len(c.known) > 0 }

// Share is a part of a whole.
type Share struct {
	Covered uint64 `json:"covered"`
	Total   uint64 `json:"total"`
}

// Percent returns the share in percent, 100 if Total is 0.
func (s Share) Percent() float64 {
	if s.Total == 0 {
		return 100
	}
	return 100 * float64(s.Covered) / float64(s.Total)
}

// below reports whether the share is under a limit in percent.
func (s Share) below(percent float64) bool { return s.Total > 0 && s.Percent() < percent }

func (s *Share) add(covered, total uint64) {
	s.Covered, s.Total = extent.Sum(s.Covered, covered), extent.Sum(s.Total, total)
}

// LineEnds counts line records.
type LineEnds struct {
	Share
	Unsure uint64 `json:"unsure"`
}

// The kinds of a Gap.
const (
	GapFunc   = "FUNC"
	GapPublic = "PUBLIC"
	GapCode   = "code" // without a name
)

// Gap is a function that lacks something.
type Gap struct {
	RVA     symfmt.RVA `json:"-"`
	Address string     `json:"rva"`            // hexadecimal
	Kind    string     `json:"kind"`           // GapFunc, GapPublic or GapCode
	Line    int        `json:"line"`           // of the symbol file; 0 for code without a name
	Name    string     `json:"name,omitempty"` // see Coverage.ReadNames
	Size    uint64     `json:"size"`           // of a PUBLIC, up to what follows
	Missing uint64     `json:"missing"`        // bytes without
}

// maxGaps is how many functions are listed.
const maxGaps = 20

// measure measures what the symbol file covers. measured is nil for a file whose encoding no reader
// accepts.
func (p *Pass) measure() (c *Coverage, measured *codeMeasure) {
	c = &Coverage{Functions: p.Functions.Len(), Publics: p.Publics.Len(), Blocks: p.Blocks.Len(), WinBlocks: p.Wins.Len()}
	c.known = p.Covered()
	for _, fn := range p.Functions.All {
		c.function(fn)
	}
	for _, pub := range p.Publics.All {
		c.Public.add(c.known.In(pub.RVA, 1), 1)
	}
	if !p.unreadable {
		for _, s := range p.Startup {
			if s.Size > 0 {
				c.startup.add(c.known.In(s.RVA, 1), 1)
			}
		}
		measured = p.codeShare(c.known, func(g *Gap) {
			c.Worst = addGap(c.Worst, *g)
			if g.Kind != GapFunc {
				c.Unnamed++
			}
		})
		c.All = measured.share
	}
	for _, gaps := range [][]Gap{c.Worst, c.WorstLines} {
		sortGaps(gaps)
		for i := range gaps {
			gaps[i].Address = hexRVA(gaps[i].RVA)
		}
	}
	c.Worst, c.WorstLines = worstOf(c.Worst), worstOf(c.WorstLines)
	return c, measured
}

func (c *Coverage) function(fn *facts.Func) {
	covered := c.known.In(fn.RVA, fn.Size)
	c.Code.add(covered, fn.Size)
	c.Entries.add(c.known.In(fn.RVA, 1), 1)
	c.Lines.add(fn.Covered, fn.Size)
	c.WithLines.add(min(uint64(fn.Lines), 1), 1)
	lines := uint64(fn.Lines)
	switch {
	case covered == fn.Size:
		c.LineEnds.add(lines, lines)
	case covered > 0:
		c.LineEnds.Unsure += lines
		fallthrough
	default:
		c.LineEnds.add(0, lines)
	}
	c.WorstLines = addGap(c.WorstLines, Gap{RVA: fn.RVA, Kind: GapFunc, Line: int(fn.Line), Size: fn.Size, Missing: fn.Size - fn.Covered})
}

// addGap keeps the functions that lack most.
func addGap(gaps []Gap, g Gap) []Gap {
	if g.Missing == 0 {
		return gaps
	}
	gaps = append(gaps, g)
	if len(gaps) == 16*maxGaps {
		sortGaps(gaps)
		gaps = gaps[:maxGaps]
	}
	return gaps
}

func sortGaps(gaps []Gap) {
	slices.SortFunc(gaps, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Line, b.Line))
	})
}

func worstOf(gaps []Gap) []Gap { return slices.Clip(gaps[:min(len(gaps), maxGaps)]) }
