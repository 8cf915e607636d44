// Package coverage defines the result of measuring a symbol file: how much of the code has call
// frame information and lines, which functions lack most, and the resulting Verdict.
package coverage

import (
	"github.com/symtool/symtool/lint/extent"
	"github.com/symtool/symtool/symfmt"
)

// Coverage is how much of a module's code has call frame information and lines. Code has call frame
// information if it lies in a STACK CFI block with computable rules for .cfa and .ra, or in a STACK
// WIN record that readers can use. Bytes in two overlapping FUNC records count twice.
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

	// LineEnds are the line records whose code has CFI: return addresses may be at the end of a
	// line's code, but which of them are is unknown without the binary. The lines of a function
	// with call frame information for only part of its code are Unsure and not in Covered.
	LineEnds LineEnds `json:"cfi_line_ends"`
	// Calls are the return addresses in the code: the addresses after call
	// instructions. It is nil without the binary, and for CPUs whose calls are not
	// decoded.
	Calls *Share `json:"cfi_calls,omitempty"`

	Lines     Share `json:"line_bytes"`     // bytes of functions with lines
	WithLines Share `json:"line_functions"` // functions with line records

	// Worst are the functions with the most bytes without call frame information (what All
	// lacks), the largest first. WorstLines are the FUNCs with the most bytes without
	// lines.
	Worst      []Gap `json:"worst_cfi,omitempty"`
	WorstLines []Gap `json:"worst_lines,omitempty"`

	// Unnamed is the number of pieces of code outside FUNCs without call frame information.
	Unnamed int `json:"-"`

	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"`

	Known   extent.Ranges `json:"-"` // code with call frame information, by address; pieces do not touch
	Startup Share         `json:"-"` // first bytes of start-up code, which no limit covers
}

// HasCFI reports whether the code at an address has call frame information.
func (c *Coverage) HasCFI(rva symfmt.RVA) bool { return c.Known.In(rva, 1) == 1 }

// AnyCFI reports whether any code has call frame information.
func (c *Coverage) AnyCFI() bool { return len(c.Known) > 0 }

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

// Below reports whether the share is below a limit in percent.
func (s Share) Below(percent float64) bool { return s.Total > 0 && s.Percent() < percent }

// Add adds a part of the whole, of which some is covered.
func (s *Share) Add(covered, total uint64) {
	s.Covered, s.Total = extent.Sum(s.Covered, covered), extent.Sum(s.Total, total)
}

// CodeShare is the share of a module's code with call frame information, on which the
// verdict, --min-cfi, dump --check-cfi and doctor are based.
//
// With the binary, the code is its executable bytes without the procedure linkage table and without
// these if they have no rules: start-up code (execcode.StartupName), padding around functions, and
// data (execcode.Data, dataIn). Without the binary, it is the code in records: the bytes of FUNCs,
// and for each PUBLIC outside them its block of rules or, without rules, everything up to the next
// record. No byte counts twice.
type CodeShare struct {
	Share
	Of string `json:"of"` // CodeOfBinary or CodeOfRecords

	// Bytes that do not count.
	Startup uint64 `json:"startup"` // .init and .fini, and start-up code without rules
	Linkage uint64 `json:"linkage"` // .plt and the like; for binaries with section headers
	Padding uint64 `json:"padding"` // without rules; for binaries
	Data    uint64 `json:"data"`    // without rules; for binaries
}

// The values of CodeShare.Of.
const (
	CodeOfBinary  = "binary"
	CodeOfRecords = "records"
)

// LineEnds counts line records.
type LineEnds struct {
	Share
	Unsure uint64 `json:"unsure"`
}

// The kinds of a Gap.
const (
	GapFunc   = "FUNC"
	GapPublic = "PUBLIC"
	GapCode   = "code" // code without a name
)

// Gap is a function that lacks something.
type Gap struct {
	RVA     symfmt.RVA `json:"-"`
	Address string     `json:"rva"`            // hexadecimal
	Kind    string     `json:"kind"`           // GapFunc, GapPublic or GapCode
	Line    int        `json:"line"`           // in the symbol file; 0 for code without a name
	Name    string     `json:"name,omitempty"` // see Coverage.ReadNames
	Size    uint64     `json:"size"`           // for a PUBLIC, up to what follows
	Missing uint64     `json:"missing"`        // bytes that lack it
}
