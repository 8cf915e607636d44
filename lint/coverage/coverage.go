// Package coverage defines the result of measuring a symbol file: how much of the code has call frame
// information and lines, which functions lack most, and the resulting Verdict.
package coverage

import (
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Coverage says how much of a module's code has call frame information and lines. Code has call frame
// information if it lies in a STACK CFI block with computable rules for .cfa and .ra, or in a STACK WIN
// record that readers can use. Bytes in two overlapping FUNC records count twice.
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

	// LineEnds are the line records that end in code with CFI. A return address may be at the end of a
	// line's code, but without the binary it is unknown which line ends are return addresses. If only
	// part of a function has call frame information, its lines count as Unsure and not as Covered.
	LineEnds LineEnds `json:"cfi_line_ends"`
	// Calls are the return addresses in the code: the addresses after call
	// instructions. It is nil without the binary, and for CPUs whose calls are not
	// decoded.
	Calls *Share `json:"cfi_calls,omitempty"`

	Lines     Share `json:"line_bytes"`     // bytes of functions with lines
	WithLines Share `json:"line_functions"` // functions with line records

	// Worst lists the functions with the most bytes without call frame information (the bytes missing
	// from All), the largest first. WorstLines lists the FUNCs with the most bytes without lines.
	Worst      []Gap `json:"worst_cfi,omitempty"`
	WorstLines []Gap `json:"worst_lines,omitempty"`

	// NoCode means that the binary has no code that counts, so no stack passes through the module.
	NoCode bool `json:"-"`

	// Unnamed is the number of pieces of code that are outside FUNCs and lack call frame information.
	Unnamed int `json:"-"`

	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"`

	Known   []symfmt.Range `json:"-"` // code with call frame information, by address; pieces do not touch
	Startup Share          `json:"-"` // first bytes of start-up code, to which no limit applies
}

// CodeOf describes the code that All is a share of.
func (c *Coverage) CodeOf() string {
	if c.All.Of == CodeOfBinary {
		return "the binary's code"
	}
	return "the code of FUNCs and PUBLICs"
}

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

// String formats the share for messages. It never rounds an incomplete share up to 100 %.
func (s Share) String() string {
	if s.Covered < s.Total {
		return fmt.Sprintf("%.2f %%", min(s.Percent(), 99.99))
	}
	return "100 %"
}

// CodeShare is the share of a module's code with call frame information. The verdict, --min-cfi, dump
// --check-cfi and doctor are based on it.
//
// With the binary, the code is its executable bytes except the procedure linkage table. Start-up code
// (execcode.StartupName), padding around functions, and data (execcode.Data, dataIn) also do not count,
// unless they have rules. Without the binary, the code is the code in records: the bytes of FUNCs and,
// for each PUBLIC outside them, its block of rules or, without rules, everything up to the next record.
// No byte counts twice.
type CodeShare struct {
	Share
	Of string `json:"of"` // CodeOfBinary or CodeOfRecords

	// Bytes that do not count:
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

// Gap is a function, or code without a name, that lacks call frame information or lines.
type Gap struct {
	RVA     symfmt.RVA `json:"-"`
	Address string     `json:"rva"`            // hexadecimal
	Kind    string     `json:"kind"`           // GapFunc, GapPublic or GapCode
	Line    int        `json:"line"`           // in the symbol file; 0 for code without a name
	Name    string     `json:"name,omitempty"` // see Coverage.ReadNames
	Size    uint64     `json:"size"`           // for a PUBLIC, up to what follows
	Missing uint64     `json:"missing"`        // bytes that lack the information
}

// Verdict says what a symbol file is good for.
type Verdict string

// The verdicts.
const (
	GoodForUnwinding  Verdict = "good for unwinding"
	NotMeasured       Verdict = "unwinding not measured" // there is call frame information, but its share of the code is unknown
	SymbolicationOnly Verdict = "symbolication only"
	VariablesOnly     Verdict = "variables only" // for a file with variables, separate from the symbols
	Unusable          Verdict = "unusable"
)

// Label describes the record of a gap, with its name if known.
func (g *Gap) Label() string {
	switch {
	case g.Line == 0:
		return ", neither FUNC nor PUBLIC"
	case g.Name == "":
		return fmt.Sprintf(", line %d", g.Line)
	}
	return fmt.Sprintf(", line %d %s", g.Line, quoteName(g.Name))
}

// ReadNames reads the symbol file a second time, up to the last function in Worst or WorstLines, and
// sets the names of the listed functions. A check does not keep them.
func (c *Coverage) ReadNames(in io.Reader) error {
	want := map[int][]*Gap{}
	last := 0
	for _, gaps := range [][]Gap{c.Worst, c.WorstLines} {
		for i := range gaps {
			if gaps[i].Line > 0 {
				want[gaps[i].Line] = append(want[gaps[i].Line], &gaps[i])
				last = max(last, gaps[i].Line)
			}
		}
	}
	if last == 0 {
		return nil
	}
	rd := symfmt.NewReader(in, symfmt.ReadOptions{Tolerant: true, MaxProblems: 1})
	for {
		r, err := rd.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.Kind != symfmt.KindFunc && r.Kind != symfmt.KindPublic {
			continue
		}
		line := r.Pos().Line
		for _, g := range want[line] {
			g.Name = string(r.Name)
		}
		if line >= last {
			return nil
		}
	}
}

// maxName is the length in bytes at which Label cuts a name.
const maxName = 80

// quoteName formats a name from the file for people: escaped and shortened.
func quoteName(name string) string {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "..."
	}
	return text.Printable(name)
}

// Extent is a piece of a module, [RVA, End).
type Extent struct {
	RVA, End symfmt.RVA
}

// Size returns the size in bytes.
func (e Extent) Size() uint64 { return uint64(e.End - e.RVA) }
