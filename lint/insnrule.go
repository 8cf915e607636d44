package lint

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

var followRule = &Rule{
	ID: "SYM551", Title: "CFA that the instructions of a function contradict", Severity: Error, Since: "0.3", Misleads: true,
	Spec: binarySpec + "STACK CFI records",
	Doc: `The stack pointer was followed from the function's first instruction through pushes,
pops and additions, and at this address the CFA is not where the rule says: a
walker reads the return address from a wrong place, or all frames below are lost.
Where the stack pointer cannot be followed the rule says nothing (SYM552). It is about
functions whose rule is wrong at a call, so that each walk through them goes
wrong, or at half of their instructions; the others are SYM553.

The binary's own call frame information may have the mistake: hand-written assembly
is where. Compare "readelf --debug-dump=frames-interp" with "objdump -d".`,
	Cites: []string{"llvm-project#145443", "llvm-project#145633", "llvm-project#220720"},
	Check: checkFollow,
}

// maxBlock limits the code of one STACK CFI INIT that is followed, in bytes.
const maxBlock = 4 << 20

// maxInstructions limits the instructions that are followed: the state at each takes memory. They
// are 300 KB of code; one STACK CFI INIT of libLLVM is longer, with 345,643 bytes, the next has
// 161,134.
const (
	maxInstructions  = 1 << 16
	manyInstructions = 1 << 14
)

// maxJumps limits the states at indirect jumps that are kept.
const maxJumps = 1 << 10

func followCPU(b *elfBinary) *frameCPU { return followedCPU(b.Machine, b.Class) }

// followedCPU returns the decoder for a CPU, nil for most.
func followedCPU(machine elf.Machine, class elf.Class) *frameCPU {
	switch {
	case machine == elf.EM_X86_64 && class == elf.ELFCLASS64:
		return frameAMD64
	case machine == elf.EM_AARCH64 && class == elf.ELFCLASS64:
		return frameARM64
	}
	return nil
}

func checkFollow(p *Pass) (func(*symfmt.Record), func()) {
	return sharedAtEnd(p, func(b *elfBinary) *bool { return &b.followed }, func() {
		rows, cpu := p.binary.ready(), followCPU(p.binary)
		if cpu == nil || len(rows.blocks) == 0 || rows.cpu == nil || rows.cpu.Machine != p.binary.Machine {
			return
		}
		f := newFollower(cpu, rows, p.binary.base)
		f.all(p)
		p.report.Followed = &f.stats
		f.reportSkipped(p)
	})
}

// lateBlock is a block that calls from elsewhere may show to be wrong.
type lateBlock struct {
	addr uint64
	m    *mismatch
}

// all follows all blocks.
func (f *follower) all(p *Pass) {
	cpu := f.cpu
	var late []lateBlock
	budget := uint64(0)
	for _, r := range p.binary.ExecRanges() {
		budget += 4 * (r.End - r.Start)
	}
	var code []byte // of the section of the block before
	var start uint64
	for i := range f.table.blocks {
		b := &f.table.blocks[i]
		addr := p.binary.addr(b.rva)
		if off := addr - start; code == nil || off >= uint64(len(code)) {
			code, start = p.binary.code(addr), addr
		}
		why := reasonNone
		switch {
		case len(code) == 0:
			why = reasonNoCode
		case b.size > maxBlock:
			why = reasonLong
		case b.size > budget:
			why = reasonOverlap
		}
		if why != reasonNone {
			f.stats.Blocks++
			f.abstain(why)
			continue
		}
		budget -= b.size
		rest := code[addr-start:]
		m, isLate := f.check(b, rest[:min(b.size, uint64(len(rest)))], addr)
		if f.save != nil {
			f.reportSave(p, f.save)
		}
		if m != nil {
			f.report(p, m)
		} else if isLate {
			_, _, off := f.ruleAt(0)
			late = append(late, lateBlock{addr, f.whole(off, cpu.entry)})
		}
	}
	if len(late) > 0 {
		p.binary.exported(func(addr uint64) { f.calls[addr] = struct{}{} })
	}
	for _, l := range late {
		if _, called := f.calls[l.addr]; called {
			l.m.why = "it is called, or exported, as a function"
			f.stats.Wrong++
			f.report(p, l.m)
		}
	}
}

func (f *follower) report(p *Pass, m *mismatch) {
	id := "SYM551"
	if !m.broad() {
		id = "SYM553"
	}
	f.reportAs(p, id, m.line, m.addr, m)
}

// reportSave reports a rule of a register.
func (f *follower) reportSave(p *Pass, m *saveMismatch) {
	f.stats.WrongSaves++
	id := "SYM555"
	switch {
	case m.ra && m.calls > 0:
		id = "SYM554"
	case m.absent:
		id = "SYM556"
	}
	f.reportAs(p, id, m.line, m.addr, m)
}

// reportAs reports a finding at an address of the binary, if the rule is enabled.
func (f *follower) reportAs(p *Pass, id string, line uint32, addr uint64, m fmt.Stringer) {
	was := p.rule
	defer func() { p.rule = was }()
	if !p.turn(id) {
		return
	}
	before := len(p.report.Findings)
	p.ReportAt(int(line), p.binary.rva(addr), "at 0x%x %s", uint64(p.binary.rva(addr)), m)
	if n := len(p.report.Findings); n > before {
		p.report.Findings[n-1].Function = p.binary.nameAt(addr)
	}
}

// reportSkipped reports what was not compared.
func (f *follower) reportSkipped(p *Pass) {
	if f.stats.Followed == f.stats.Blocks {
		return
	}
	s := &f.stats
	p.also("SYM552", 0, "of %d STACK CFI INITs %d were compared with the instructions, %d in part and %d not%s; %d instructions were compared, %d were not%s",
		s.Blocks, s.Followed+s.Wrong, s.Partly, s.Abstained, byReason(s.AbstainedBy), s.Instructions, total(s.NotCompared), byReason(s.NotCompared))
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// byReason lists counts, greatest first.
func byReason(counts map[string]int) string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s: %d", k, counts[k])
	}
	if len(keys) == 0 {
		return ""
	}
	return " (" + strings.Join(keys, ", ") + ")"
}
