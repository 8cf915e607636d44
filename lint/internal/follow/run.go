package follow

import "github.com/symtool/symtool/symfmt/arch"

// Binary is the follower's view of a binary.
type Binary struct {
	Base uint64 // address of RVA 0
	Size uint64 // size of the executable code in bytes
	// Code returns the code from an address to the end of its section, or nil.
	Code func(addr uint64) []byte
	// Tables reports whether there may be tables of RVAs between instructions, as in the code of Microsoft's compiler.
	Tables bool
	// Exported calls fn for each function that other modules may call.
	Exported func(fn func(addr uint64))
	// Begins reports whether a symbol begins in [from, to). It is nil if no symbol is known.
	Begins func(from, to uint64) bool
}

// Kind is the kind of a Finding.
type Kind uint8

// The kinds.
const (
	WrongCFA     Kind = iota // at a call, or at half of a STACK CFI INIT's instructions
	WrongCFASome             // at fewer instructions
	WrongReturn              // where the return address is, at a call
	WrongSaved               // where a saved register is
	MissingRule              // a register was saved and overwritten, but has no rule
)

// Finding is a rule that the instructions contradict.
type Finding struct {
	Kind Kind
	Addr uint64 // address of the first wrong instruction
	Line uint32 // line of the record in the symbol file
	Text string
}

// maxBlock is the maximum size in bytes of a STACK CFI INIT that is followed.
const maxBlock = 4 << 20

// maxInstructions is the maximum number of instructions followed in a block, as the state at each
// takes memory. That is 300 KB of code; one STACK CFI INIT of libLLVM is longer, with 345,643
// bytes, and the next has 161,134.
const (
	maxInstructions  = 1 << 16
	manyInstructions = 1 << 14
)

// maxJumps is the maximum number of states kept at indirect jumps.
const maxJumps = 1 << 10

// CPUOf returns the follower's description of a CPU, given the size of its addresses in bytes, or nil if the CPU is not
// supported, as most are not.
func CPUOf(cpu *arch.Arch, addrSize int) *CPU {
	switch {
	case addrSize != 8:
	case cpu == arch.X86_64:
		return frameAMD64
	case cpu == arch.ARM64:
		return frameARM64
	}
	return nil
}

// Run compares the rows of a table with the instructions of a binary, and calls report for each mistake: at most two
// per STACK CFI INIT, one about the CFA and one about the other rules.
func Run(cpu *CPU, rows *Table, b *Binary, report func(Finding)) *Stats {
	f := newFollower(cpu, rows, b.Base)
	f.codeAt, f.tables, f.begins = b.Code, b.Tables, b.Begins
	f.all(b, report)
	return &f.stats
}

// lateBlock is a block whose finding is decided at the end: calls from elsewhere may prove it wrong, or jumps prove it
// right.
type lateBlock struct {
	addr uint64
	m    *mismatch
}

// all follows all blocks.
func (f *follower) all(bin *Binary, report func(Finding)) {
	var late, doubted []lateBlock
	var saves saveEvidence
	budget := 4 * bin.Size
	var code []byte // section of the previous block
	var start uint64
	for i := range f.table.Blocks {
		b := &f.table.Blocks[i]
		addr := bin.Base + uint64(b.RVA)
		if off := addr - start; code == nil || off >= uint64(len(code)) {
			code, start = bin.Code(addr), addr
		}
		why := reasonNone
		switch {
		case len(code) == 0:
			why = reasonNoCode
		case b.Size > maxBlock:
			why = reasonLong
		case b.Size > budget:
			why = reasonOverlap
		}
		if why != reasonNone {
			f.stats.Blocks++
			f.abstain(why)
			continue
		}
		budget -= b.Size
		rest := code[addr-start:]
		m, isLate := f.check(b, rest[:min(b.Size, uint64(len(rest)))], addr)
		saves.add(f, addr)
		switch {
		case m != nil && m.byExits:
			doubted = append(doubted, lateBlock{addr, m})
		case m != nil:
			report(m.finding())
		case isLate:
			_, _, off := f.ruleAt(0)
			late = append(late, lateBlock{addr, f.whole(off, f.cpu.entry)})
		}
	}
	saves.report(f, bin, report)
	f.checkDoubted(doubted, report)
	f.checkLate(late, bin, report)
}

// checkDoubted reports the blocks that their exits contradict, unless a function that jumps to them agrees with their
// rules. In that case the exit is unusual: a jump to another function that passes arguments on the stack, as V8's
// functions do.
func (f *follower) checkDoubted(doubted []lateBlock, report func(Finding)) {
	for _, d := range doubted {
		if f.confirmed[d.addr] {
			f.stats.Wrong--
			f.stats.Partly++
			continue
		}
		report(d.m.finding())
	}
}

// checkLate reports the late blocks that are called, and are therefore wrong.
func (f *follower) checkLate(late []lateBlock, bin *Binary, report func(Finding)) {
	if len(late) > 0 {
		bin.Exported(func(addr uint64) { f.calls[addr] = false })
	}
	for _, l := range late {
		if _, called := f.calls[l.addr]; called {
			l.m.why = "it is called, or exported, as a function"
			f.stats.Wrong++
			report(l.m.finding())
		}
	}
}

func (m *mismatch) finding() Finding {
	kind := WrongCFA
	if !m.broad() {
		kind = WrongCFASome
	}
	return Finding{kind, m.addr, m.line, m.String()}
}

func (m *saveMismatch) finding() Finding {
	kind := WrongSaved
	switch {
	case m.ra && m.calls > 0:
		kind = WrongReturn
	case m.absent:
		kind = MissingRule
	}
	return Finding{kind, m.addr, m.line, m.String()}
}
