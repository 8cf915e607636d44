package dwarf2sym

import (
	"context"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Call frame information: .eh_frame, .debug_frame and .ARM.exidx -> STACK CFI.
//
// ehframe.go reads CIEs and FDEs, cfa.go runs their instructions, expr.go turns
// DWARF expressions into postfix, cfimerge.go decides which FDE applies to an
// address, cfiwrite.go writes blocks and rows, exidx.go reads what ARM has in
// place of .eh_frame, cfisegment.go finds both without section headers. Formats:
// DWARF 5, 6.4; LSB 5.0 core, 10.6 (.eh_frame); Breakpad's symbol files, "STACK CFI
// records".
//
// Rules that the formats leave open:
//
//   - Return address. The rule of the CIE's return-address column is .ra, not a
//     register of its own. Without a rule it is still in its register, which is
//     said from the first row on (".ra: x30"): walkers need .ra everywhere.
//     Where the column is not a general register (x86) a missing rule is ".undef".
//   - A return address that DWARF calls undefined ends the stack (DWARF 5,
//     6.4.4). It is written ".ra: 1" (cfi.EndOfStack): Breakpad and rust-minidump
//     stop at a return address below 4096, but take ".ra: .undef" for broken
//     CFI, and Breakpad's walker for x86-64 ".ra: 0", too; they go on by frame
//     pointer and scanning, into frames that do not exist.
//   - An undefined register is ".undef", but only where its absence would be
//     taken for "unchanged": for callee-saved ones, and after another rule in
//     the same block. Breakpad's walker gives up a frame that has ".undef".
//   - A register that goes back to having no rule gets "$r: $r".
//   - Stack pointer without a rule: the CFA, as the format says. On s390x,
//     where the CFA lies 160 bytes above it, its rule is written out.
//   - Pointer authentication (arm64) leaves no trace in the text: walkers strip
//     the bits. The rows' marks have what SFrame can say of it.
//   - A CFA that cannot be written ends the block; the next row that can be
//     written starts another. A register that cannot be written is ".undef".
//   - Damage in an FDE's instructions: rows that end before it are kept, code
//     after it is left without CFI from this FDE.
//   - An advance past the end of the FDE, or one that wraps, is reported; the
//     rows before it are kept up to the end. One to the very end is usual.
//   - A zero length in .eh_frame ends nothing: linkers leave several
//     terminators behind when they join tables.
//   - 64-bit DWARF in .eh_frame has a CIE pointer of 4 bytes (LSB 10.6.1).

// cfiInput is what the reader of call frame information gets from the ELF file.
type cfiInput struct {
	arch     *arch.Arch
	order    binary.ByteOrder
	ptrSize  int    // bytes of an address, 4 or 8
	base     uint64 // address that is RVA 0
	textAddr uint64 // .text, for DW_EH_PE_textrel
	dataAddr uint64 // .got (or .got.plt), for DW_EH_PE_datarel

	// fixed says that link-time addresses are those of the process (ET_EXEC).
	// Otherwise only the bits below a page are the same.
	fixed bool

	sections []cfiSection
	moved    []uint64 // by section: what to add to absolute addresses in it; nil for nothing

	// codeBytes is how much code the file has, or 0: expressions that depend on
	// the pc are evaluated at no more addresses.
	codeBytes uint64

	// ARM's index tables. tables returns the section with the data at an
	// address, codeEnd the end of the section with the code at one.
	index   []cfiSection
	tables  func(addr uint64) (cfiSection, bool)
	codeEnd func(addr uint64) (uint64, bool)

	// exec reports whether [lo, hi) lies in an executable section; an FDE that
	// starts elsewhere is dead. If nil, one that starts at 0 is dead.
	exec func(lo, hi uint64) bool
}

// cfiSection is a section's contents, uncompressed and relocated.
type cfiSection struct {
	name string
	addr uint64 // in the binary
	data []byte
	eh   bool   // .eh_frame's rules, otherwise .debug_frame's
	file string // path, for messages
}

// cfiStats counts what was found and what could not be kept.
type cfiStats struct {
	CIEs, FDEs  int // entries read
	Blocks      int // STACK CFI INIT records
	Rows        int // STACK CFI records
	Terminators int // zero lengths in .eh_frame

	IndexEntries int // of .ARM.exidx
	CantUnwind   int // of these, ones that forbid it

	Dead       int // FDEs and entries of code that the linker dropped
	Empty      int // FDEs and entries of no code
	Duplicates int // FDEs and entries whose code others describe entirely
	Cut        int // FDEs and entries of which others describe a part

	LostCFA   int // rules for the CFA that have no postfix form
	LostRules int // rules for registers that have none
	Unnamed   int // rules for registers that Breakpad has no name for
	PerPC     int // addresses at which an expression was evaluated

	Signal int // pieces of code of signal handlers' frames
}

const (
	// cfiMaxProblems bounds the list of problems; more are counted. A damaged
	// section could have one in every 12 bytes.
	cfiMaxProblems = 1000

	// cfiMaxPC bounds the addresses at which expressions that depend on the pc
	// are evaluated: a PLT of 130,000 entries. Files with less code have less.
	cfiMaxPC = 1 << 21

	// cfiRulesFactor bounds the memory of rule sets, as a multiple of the
	// sections' size. Real ones need less than their size.
	cfiRulesFactor = 32
)

// cfiReader is the state of one readCFI.
type cfiReader struct {
	in       *cfiInput
	ctx      context.Context
	regs     [2]*cfiRegs // usual numbering; that of arch.Alt
	mask     uint64      // of an address
	stats    cfiStats
	problems cfiProblems

	cies   []cfiCIE
	byOff  map[cfiPlace]int32 // CIEs by section and offset; -1 for refused ones
	broken map[cfiPlace]int   // refused CIEs: number of their FDEs
	later  []cfiPending       // FDEs before their CIE
	fdes   []cfiFDE

	eval cfiEval
	vm   cfiVM
	w    cfiWriter
}

// readCFI reads all sections. The table's blocks are sorted and do not overlap;
// problems are in the order of sections and offsets. After a cancelled ctx the
// result is incomplete.
func readCFI(ctx context.Context, in *cfiInput) (symfmt.CFITable, cfiStats, []bin.Problem) {
	r := newCFIReader(ctx, in)
	for i := range in.sections {
		r.walk(i)
	}
	r.resolveLater()
	r.reportBroken()
	r.merge()
	r.readIndex()
	table := r.w.table
	if len(table.Rows) < cap(table.Rows)/8*7 {
		table.Rows = slices.Clone(table.Rows)
	}
	r.stats.Blocks, r.stats.Rows = len(table.Blocks), table.TextRows()
	return table, r.stats, r.problems.sorted(slices.Concat(in.sections, in.index))
}

func newCFIReader(ctx context.Context, in *cfiInput) *cfiReader {
	r := &cfiReader{
		in: in, ctx: ctx,
		mask:   ^uint64(0) >> (64 - 8*in.ptrSize),
		byOff:  make(map[cfiPlace]int32),
		broken: make(map[cfiPlace]int),
	}
	r.w.table.Rules.SetArch(in.arch)
	names := r.w.table.Rules.Names()
	r.regs[0] = newCFIRegs(names, in.arch.ReturnAddress, 0)
	if alt := in.arch.Alt; alt != nil {
		r.regs[1] = newCFIRegs(names, alt.ReturnAddress, 1)
	}
	size := 0
	for _, s := range in.sections {
		size += len(s.data)
	}
	r.fdes = make([]cfiFDE, 0, size/48) // compilers need 40 to 60 bytes for an FDE
	for _, s := range in.index {
		size += 2 * len(s.data) // with what is in .ARM.extab
	}
	r.eval.init(in, names)
	r.vm.r = r
	r.w.init(r, size)
	return r
}

// cfiPlace is an entry of a section.
type cfiPlace struct {
	section int
	offset  uint64
}

// cfiProblems collects problems, which are found in another order than that of
// the input.
type cfiProblems struct {
	list    []cfiProblem
	dropped int
}

type cfiProblem struct {
	cfiPlace
	bin.Problem
}

func (p *cfiProblems) add(place cfiPlace, lost string, err error) {
	if len(p.list) >= cfiMaxProblems {
		p.dropped++
		return
	}
	p.list = append(p.list, cfiProblem{place, bin.Problem{Lost: lost, Err: err}})
}

func (p *cfiProblems) sorted(sections []cfiSection) []bin.Problem {
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
			e.File = sections[q.section].file
		}
		out = append(out, q.Problem)
	}
	if p.dropped > 0 {
		e := cfiErrorf(sections[0].name, 0, "and %d more problems in call frame information", p.dropped)
		e.File = sections[0].file
		out = append(out, bin.Problem{Err: e})
	}
	return out
}
