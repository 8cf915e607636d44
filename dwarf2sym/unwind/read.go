// Package unwind converts call frame information to the blocks and rows of STACK CFI:
// .eh_frame, .debug_frame, .ARM.exidx, .pdata and __unwind_info.
//
// ehframe.go reads CIEs and FDEs, cfa.go executes their instructions, expr.go converts DWARF
// expressions to postfix, merge.go decides which FDE applies to an address, write.go makes blocks
// and rows, and index.go reads what single addresses need. exidx.go, pdata.go and compact.go read
// what ARM, Windows and macOS have instead of or beside .eh_frame. Formats: DWARF 5, 6.4; LSB 5.0
// core, 10.6 (.eh_frame); Breakpad's symbol files, "STACK CFI records".
//
// # Rules that the formats leave open
//
//   - Return address. The rule of the CIE's return-address column is .ra, not a
//     register of its own. Without a rule it is still in its register, which is
//     written from the first row on (".ra: x30"), as walkers need .ra everywhere.
//     If the column is not a general register (x86), a missing rule is ".undef".
//   - An undefined return address ends the stack (DWARF 5,
//     6.4.4). It is written ".ra: 1" (cfi.EndOfStack): Breakpad and rust-minidump
//     stop at a return address below 4096, but treat ".ra: .undef" as broken
//     CFI, as Breakpad's walker for x86-64 does with ".ra: 0": they continue by
//     frame pointer and scanning, into frames that do not exist.
//   - An undefined register is ".undef", but only where its absence would be
//     taken for "unchanged": for callee-saved ones, and after another rule in
//     the same block. Breakpad's walker gives up a frame that has ".undef".
//   - A register that goes back to having no rule gets "$r: $r".
//   - Stack pointer without a rule: the CFA, as the format says. On s390x,
//     where the CFA is 160 bytes above it, its rule is written.
//   - Pointer authentication (arm64) leaves no trace in the text: walkers strip
//     the bits. The rows' marks record as much of it as SFrame can represent.
//   - A CFA that cannot be written ends the block; the next row that can be
//     written starts another. A register that cannot be written is ".undef".
//   - Damage in an FDE's instructions: rows that end before it are kept, and code
//     after it gets no CFI from this FDE.
//   - An advance past the end of the FDE, or one that wraps, is reported; the
//     rows before it are kept up to the end. An advance to the very end is usual.
//   - A zero length does not end .eh_frame: linkers leave several
//     terminators when they join tables.
//   - Free Pascal writes CIE pointers of 8 bytes into FDEs of 32-bit DWARF in
//     .debug_frame, for 64-bit processors. An FDE is read this way if it then
//     describes code, and otherwise does not. FDEs that describe no code either
//     way are reported.
//   - 64-bit DWARF in .eh_frame has a CIE pointer of 4 bytes (LSB 10.6.1).
package unwind

import (
	"context"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Input is what Read needs to know about a binary.
type Input struct {
	Arch     *arch.Arch
	Order    binary.ByteOrder
	PtrSize  int    // size of an address in bytes, 4 or 8
	Base     uint64 // the address of RVA 0
	TextAddr uint64 // .text, for DW_EH_PE_textrel
	DataAddr uint64 // .got (or .got.plt), for DW_EH_PE_datarel

	// Fixed means that link-time addresses are also the addresses in the process (ET_EXEC). Otherwise only the bits
	// below a page are the same.
	Fixed bool

	Sections []Section // .eh_frame and .debug_frame

	// CodeBytes is the amount of code in the file, or 0. It limits the number of
	// addresses at which expressions that depend on the pc are evaluated.
	CodeBytes uint64

	// Index has ARM's index tables. Tables returns the section that contains the data at addr, CodeEnd the end of the
	// section that contains the code at addr. For a Windows binary (Pdata), Index is its .pdata, and Tables also
	// finds its code.
	Index   []Section
	Tables  func(addr uint64) (Section, bool)
	CodeEnd func(addr uint64) (uint64, bool)

	// Pdata means that Index is .pdata. PdataLast means that DWARF takes precedence over it.
	Pdata, PdataLast bool

	// Compact means that Index is the __unwind_info of a macOS binary, for which Tables finds the code. Starts has
	// the addresses at which functions begin, of all functions if AllStarts is set. Stubs is the code that jumps to
	// other modules. Both are sorted.
	Compact   bool
	Starts    []uint64
	AllStarts bool
	Stubs     []Range

	// Code has the ranges of executable code of a Windows or macOS binary, in order. Padding returns the length of
	// the padding at the start of code.
	Code    []Range
	Padding func(code []byte) int

	// Exec reports whether an address is in code; an FDE that starts elsewhere is dead. If Exec is nil, an FDE that
	// starts at 0 is dead.
	Exec func(addr uint64) bool
}

// Range is the code in [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// ranges joins Ranges.
var ranges = span.Type[Range]{
	Ends: func(r Range) (lo, hi uint64) { return r.Lo, r.Hi },
	Make: func(lo, hi uint64) Range { return Range{lo, hi} },
}

// Section is a section's contents, uncompressed and relocated.
type Section struct {
	Name  string
	Addr  uint64 // in the binary
	Data  []byte
	EH    bool   // the format is that of .eh_frame, not .debug_frame
	File  string // path, for messages
	Moved uint64 // added to absolute addresses in the section, modulo 2^64
}

// Stats counts what was found and what was lost.
type Stats struct {
	CIEs, FDEs  int // entries read
	Blocks      int // STACK CFI INIT records
	Rows        int // STACK CFI records
	Terminators int // zero lengths in .eh_frame

	IndexEntries int // of .ARM.exidx, .pdata or __unwind_info
	CantUnwind   int // IndexEntries that forbid unwinding

	Dead       int // FDEs and entries for code that the linker dropped
	Empty      int // FDEs and entries without code
	Duplicates int // FDEs and entries whose code others describe entirely
	Cut        int // FDEs and entries whose code others describe in part

	LostCFA   int // rules for the CFA that cannot be written as postfix
	LostRules int // rules for registers that cannot be written as postfix
	Unnamed   int // rules for registers that Breakpad has no name for
	PerPC     int // addresses at which an expression was evaluated

	Signal int // pieces of code with the frames of signal handlers
}

const (
	// maxProblems bounds the list of problems; the others are only counted. A damaged section could have one in
	// every 12 bytes.
	maxProblems = 1000

	// maxPC bounds the addresses at which expressions that depend on the pc are evaluated: enough for a PLT of
	// 130,000 entries. Files with less code have a lower bound.
	maxPC = 1 << 21

	// rulesFactor bounds the memory of rule sets, as a multiple of the
	// sections' size. Real files need less than their size.
	rulesFactor = 32
)

// reader holds the state of Read.
type reader struct {
	in       *Input
	ctx      context.Context
	regs     [2]*regTable // usual numbering, and that of arch.Alt
	mask     uint64       // of an address
	stats    Stats
	problems problemList
	odd      []oddFDEs

	cies   []cieInfo
	byOff  map[entryPos]int32 // CIEs by section and offset; -1 for rejected ones
	broken map[entryPos]int   // number of FDEs of rejected CIEs
	later  []pendingFDE       // FDEs that precede their CIE
	fdes   []fdeInfo

	eval    evaluator
	vm      machine
	w       writer
	compact *compactReader // of a macOS binary whose instructions can be followed; otherwise nil
}

// Result is the result of Read.
type Result struct {
	CFI      symfmt.CFITable // blocks are sorted and do not overlap
	Stats    Stats
	Problems []symfmt.Problem // in the order of sections and offsets
}

// Read reads all sections. It returns an error only if ctx is done.
func Read(ctx context.Context, in *Input) (*Result, error) {
	r := newReader(ctx, in)
	r.entries()
	r.all()
	table := r.w.table
	if len(table.Rows) < cap(table.Rows)/8*7 {
		table.Rows = slices.Clone(table.Rows)
	}
	r.stats.Blocks, r.stats.Rows = len(table.Blocks), table.TextRows()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	sections := slices.Concat(in.Sections, in.Index)
	if len(sections) == 0 {
		sections = []Section{{Name: "code"}} // the code was followed without a table
	}
	return &Result{table, r.stats, r.problems.sorted(sections)}, nil
}

// entries reads all CIEs and FDEs.
func (r *reader) entries() {
	for i := range r.in.Sections {
		r.walk(i)
	}
	r.resolveLater()
	r.reportBroken()
	r.reportOdd()
}

func newReader(ctx context.Context, in *Input) *reader {
	r := &reader{
		in: in, ctx: ctx,
		mask:   ^uint64(0) >> (64 - 8*in.PtrSize),
		byOff:  make(map[entryPos]int32),
		broken: make(map[entryPos]int),
	}
	r.w.table.Rules.SetArch(in.Arch)
	names := r.w.table.Rules.Names()
	r.regs[0] = newRegTable(names, in.Arch.ReturnAddress, 0)
	if alt := in.Arch.Alt; alt != nil {
		r.regs[1] = newRegTable(names, alt.ReturnAddress, 1)
	}
	size := 0
	for _, s := range in.Sections {
		size += len(s.Data)
	}
	r.fdes = make([]fdeInfo, 0, size/48) // compilers write 40 to 60 bytes for an FDE
	for _, s := range in.Index {
		size += 2 * len(s.Data) // including .ARM.extab
	}
	r.eval.init(in, names)
	r.vm.r = r
	r.w.init(r, size)
	return r
}

// entryPos locates an entry by its section and its offset there.
type entryPos struct {
	section int
	offset  uint64
}

// problemList collects problems, which are not found in the order of the input.
type problemList struct {
	list    []entryProblem
	dropped int
}

type entryProblem struct {
	entryPos
	bin.Problem
}

func (p *problemList) add(place entryPos, lost string, err error) {
	if len(p.list) >= maxProblems {
		p.dropped++
		return
	}
	p.list = append(p.list, entryProblem{place, bin.Problem{Lost: lost, Err: err}})
}

func (p *problemList) sorted(sections []Section) []bin.Problem {
	sort.SliceStable(p.list, func(i, j int) bool {
		a, b := &p.list[i], &p.list[j]
		if a.section != b.section {
			return a.section < b.section
		}
		return a.offset < b.offset
	})
	var out []bin.Problem
	for _, q := range p.list {
		if e, ok := q.Err.(*bin.Error); ok {
			e.File = sections[min(q.section, len(sections)-1)].File
		}
		out = append(out, q.Problem)
	}
	if p.dropped > 0 {
		e := errorf(sections[0].Name, 0, "and %d more problems in call frame information", p.dropped)
		e.File = sections[0].File
		out = append(out, bin.Problem{Err: e})
	}
	return out
}
