package lint

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

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

	known   ranges // code that has call frame information
	startup Share  // entries of start-up code, which no limit asks for
}

// HasCFI reports whether the code at an address has call frame information.
func (c *Coverage) HasCFI(rva symfmt.RVA) bool { return c.known.in(rva, 1) == 1 }

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
	s.Covered, s.Total = addUp(s.Covered, covered), addUp(s.Total, total)
}

// addUp adds two sizes, saturating: a damaged file has functions of 2^63 bytes.
func addUp(a, b uint64) uint64 {
	n, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return n
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
	c.known = p.known()
	for _, fn := range p.Functions.All {
		c.function(fn)
	}
	for _, pub := range p.Publics.All {
		c.Public.add(c.known.in(pub.RVA, 1), 1)
	}
	if !p.unreadable {
		for _, s := range p.startup {
			if s.Size > 0 {
				c.startup.add(c.known.in(s.RVA, 1), 1)
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

func (c *Coverage) function(fn *FuncFact) {
	covered := c.known.in(fn.RVA, fn.Size)
	c.Code.add(covered, fn.Size)
	c.Entries.add(c.known.in(fn.RVA, 1), 1)
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

// known are the ranges of code that have call frame information.
func (f *Facts) known() []symfmt.Range {
	all := make([]symfmt.Range, 0, f.Blocks.Len()+f.Wins.Len()+len(f.cfi.holes))
	holes := f.cfi.holes
	for i, b := range f.Blocks.All {
		at, left := b.RVA, b.Size
		for ; len(holes) > 0 && int(holes[0].block) == i; holes = holes[1:] {
			h := holes[0]
			all = append(all, symfmt.Range{RVA: at, Size: uint64(h.rva - at)})
			left -= uint64(h.end - at)
			at = h.end
		}
		all = append(all, symfmt.Range{RVA: at, Size: left})
	}
	if f.usesWin() {
		for _, w := range f.Wins.All {
			if w.Usable {
				all = append(all, symfmt.Range{RVA: w.RVA, Size: w.Size})
			}
		}
	}
	return mergeRanges(all)
}

// usesWin reports whether readers use STACK WIN records for the CPU.
func (f *Facts) usesWin() bool { return f.Arch == nil || f.Arch.Name == "x86" }

// ranges are pieces of code, sorted, that do not overlap or touch.
type ranges []symfmt.Range

// mergeRanges sorts ranges and joins those that overlap or touch. It uses the
// memory of all.
func mergeRanges(all []symfmt.Range) []symfmt.Range {
	all = slices.DeleteFunc(all, func(r symfmt.Range) bool { return r.Size == 0 })
	byRVA := func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(all, byRVA) {
		slices.SortFunc(all, byRVA)
	}
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && uint64(r.RVA-out[n-1].RVA) <= out[n-1].Size {
			out[n-1].Size = max(out[n-1].Size, addUp(uint64(r.RVA-out[n-1].RVA), r.Size))
			continue
		}
		out = append(out, r)
	}
	return out
}

// in is the number of bytes of [rva, rva+size) that lie in the ranges.
func (rs ranges) in(rva symfmt.RVA, size uint64) (n uint64) {
	i, found := slices.BinarySearchFunc(rs, rva, func(r symfmt.Range, rva symfmt.RVA) int { return cmp.Compare(r.RVA, rva) })
	if !found && i > 0 {
		if before := uint64(rva - rs[i-1].RVA); before < rs[i-1].Size {
			n = min(size, rs[i-1].Size-before)
		}
	}
	for ; i < len(rs) && uint64(rs[i].RVA-rva) < size; i++ {
		n += min(rs[i].Size, size-uint64(rs[i].RVA-rva))
	}
	return n
}
