package code

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// The CFA is cpuCFA bytes below the top of the processor's stack, and other memory that registers point to is around cpuScratch
// bytes below it.
const (
	cpuCFA     = 24 << 10
	cpuScratch = 88 << 10
)

// flagsOf returns the flags after a comparison.
func flagsOf(a, b uint64, size uint8) (flags uint64) {
	shift := 64 - 8*uint(size)
	a, b = a<<shift, b<<shift
	d := a - b
	if a < b {
		flags |= 1
	}
	if d == 0 {
		flags |= 1 << 6
	}
	flags |= d >> 63 << 7
	flags |= (a ^ b) & (a ^ d) >> 63 << 11
	return flags
}

const statusFlags = 1 | 1<<6 | 1<<7 | 1<<11

// prepareAMD64 returns a state and registers that it describes, and writes memory.
func prepareAMD64(t *testing.T, p *oracle.Processor, r *rand.Rand) (s state, regs syscall.PtraceRegs, c concrete) {
	t.Helper()
	top := p.Start.Rsp
	regs = p.Start
	c = concrete{word: p.Word, cfa: (top-cpuCFA)&^15 + uint64(r.IntN(2))*8}
	c.aligned = (c.cfa - 40<<10) &^ 63 // far from what is relative to the CFA, as frames are
	for i := range c.initial {
		c.initial[i] = top - cpuScratch + uint64(r.IntN(1<<14)-1<<13)
	}
	all := oracle.Registers(&regs)
	for i := range all {
		s.regs[i], *all[i] = c.pick(r, i, len(all))
	}
	off := -8 * int64(1+r.IntN(40))
	s.regs[amdSP], *all[amdSP] = value{base: cfa, off: off}, c.cfa+uint64(off)
	if r.IntN(8) == 0 {
		s.regs[amdSP], *all[amdSP] = value{base: aligned, off: 64}, c.aligned+64
	}
	stack := c.stack(r, &s, len(all))
	p.Write(t, c.cfa-uint64(len(stack)), stack)
	if r.IntN(2) == 0 {
		s.flags = compare{reg: int8(r.IntN(16)), n: uint32(r.IntN(100)), size: uint8(1) << r.IntN(4)}
		regs.Eflags = regs.Eflags&^statusFlags | flagsOf(*all[s.flags.reg], uint64(s.flags.n), s.flags.size)
	}
	return s, regs, c
}

// unsoundAMD64 returns what a state says after an instruction that does not hold.
func unsoundAMD64(c *concrete, s *state, regs *syscall.PtraceRegs) string {
	var have []uint64
	all := oracle.Registers(regs)
	for _, reg := range all {
		have = append(have, *reg)
	}
	if f := s.flags; f.size != 0 && f.reg >= 0 {
		with := uint64(f.n)
		if f.other > 0 {
			with = *all[f.other-1]
		}
		if want := flagsOf(*all[f.reg], with, f.size); (want^regs.Eflags)&statusFlags != 0 {
			return fmt.Sprintf("the flags are %#x, not %#x of %+v", regs.Eflags&statusFlags, want, f)
		}
	}
	return c.unsound(s, have)
}

// indexed reports whether an instruction may have a memory operand with an index.
func indexed(code []byte) bool {
	i := oracle.Opcode(code)
	switch code[i] {
	case 0xc5:
		i += 2
	case 0xc4:
		i += 3
	case 0x62:
		i += 4
	case 0x0f:
		switch i++; code[i] {
		case 0x38, 0x3a:
			i++
		case 0xab, 0xb3, 0xbb: // the register is an index of bits
			return true
		}
	}
	i++
	return i+1 < len(code) && code[i]>>6 != 3 && code[i]&7 == 4 && code[i+1] != 0x24
}

// TestOracleProcessor lets the processor execute single instructions in a state that an abstract state describes, and
// looks whether the state behind describes what it did.
func TestOracleProcessor(t *testing.T) {
	testenv.Oracle(t)
	p := oracle.StartProcessor(t)
	n := 50_000
	if testenv.OracleFull() {
		n = 500_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	ran, known, bads := 0, 0, map[string]int{}
	library := oracle.DifferentInstructions(textOf("/lib/x86_64-linux-gnu/lib[cm].so.6", "/usr/lib/x86_64-linux-gnu/lib*.so.*"))
	t.Logf("%d instructions of libraries", len(library))
	for i := range n {
		code := oracle.RandomInstruction(r)
		if i%2 == 0 && len(library) > 0 {
			code = library[r.IntN(len(library))]
		}
		size, _, _ := insn.AMD64(code, p.Start.Rip)
		if size == 0 || oracle.Dangerous(code[:size]) {
			continue
		}
		s, regs, c := prepareAMD64(t, p, r)
		before := s.regs[amdSP]
		in := stepAMD64(code, p.Start.Rip, &s)
		if !p.Run(t, &regs, code) {
			continue
		}
		ran++
		next := p.Start.Rip + uint64(size)
		report := func(what string) {
			key := fmt.Sprintf("% x", code[:size])
			if bads[key]++; len(bads) < 60 && bads[key] == 1 {
				t.Errorf("% x: %s", code[:size], what)
			}
		}
		switch in.flow {
		case bad:
			continue
		case flow(0):
			if regs.Rip != next && regs.Rip != p.Start.Rip {
				report(fmt.Sprintf("goes on at %+d, not %+d", int64(regs.Rip-p.Start.Rip), size))
				continue
			}
		case jump, call:
			if in.to != 0 && regs.Rip != in.to {
				report("jumps elsewhere")
			}
			continue
		case branch:
			if regs.Rip != in.to && regs.Rip != next {
				report("branches elsewhere")
				continue
			}
			if l := in.limit; l.size == 8 && l.reg >= 0 && l.n >= l.less && (regs.Rip == in.to) == l.taken && in.to != next {
				s.limit(l, cpuAMD64.changed)
			}
		default:
			continue
		}
		known++
		if indexed(code[:size]) {
			s.slots = nil // it may store anywhere
		}
		if sp := (value{base: aligned}); s.regs[amdSP] == sp && before != sp {
			c.aligned = regs.Rsp // from here on
		}
		if what := unsoundAMD64(&c, &s, &regs); what != "" {
			report(what)
		}
	}
	t.Logf("%d of %d instructions ran, %d were compared, %d differ", ran, n, known, len(bads))
}
