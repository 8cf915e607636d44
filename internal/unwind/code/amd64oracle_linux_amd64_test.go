package code

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/oracle"
)

// The CFA is cpuCFA bytes below the top of the processor's stack, and other memory that registers point to is around cpuScratch
// bytes below it.
const (
	cpuCFA     = 24 << 10
	cpuScratch = 88 << 10
)

// concrete is a state of the processor that a state describes.
type concrete struct {
	cfa, aligned uint64
	initial      [17]uint64
	p            *oracle.Processor
}

// holds reports whether a value describes what a register has.
func (c *concrete) holds(v value, have uint64) bool {
	switch v.base {
	case cfa:
		return have == c.cfa+uint64(v.off)
	case aligned:
		return have == c.aligned+uint64(v.off)
	case initial:
		return have == c.initial[v.off]
	case constant:
		return have == uint64(v.off)
	case below:
		return have <= uint64(v.n)
	case scaled:
		return have%uint64(v.off) == 0 && have/uint64(v.off) <= uint64(v.n)
	case word, entry, target:
		for i := range min(uint64(v.n), 64) + 1 {
			at := uint64(v.off) + i*uint64(v.size)
			w := c.p.Word(at)
			low := uint64(uint32(w))
			sign := uint64(int64(int32(low)))
			if v.base == word && (v.size == 4 && have == low || v.size == 8 && have == w) || v.base == entry && have == sign || v.base == target && have == uint64(v.off)+sign {
				return true
			}
		}
		return v.n > 64
	}
	return true
}

// pick returns a value and one that it describes. In a slot, only some values are kept.
func (c *concrete) pick(r *rand.Rand, reg int) (value, uint64) {
	scratch := c.initial[r.IntN(16)]
	switch r.IntN(20) {
	case 0, 1:
		n := uint32(r.IntN(300))
		return value{base: below, n: n}, uint64(r.IntN(int(n) + 1))
	case 2, 3:
		off := int64(r.IntN(64)-40) * 8
		return value{base: cfa, off: off}, c.cfa + uint64(off)
	case 4:
		off := int64(r.IntN(32)) * 8
		return value{base: aligned, off: off}, c.aligned + uint64(off)
	case 5:
		n := int64(r.IntN(40))
		return value{base: constant, off: n}, uint64(n)
	case 6:
		return value{base: constant, off: int64(scratch)}, scratch
	case 7:
		other := r.IntN(16)
		return value{base: initial, off: int64(other)}, c.initial[other]
	case 8:
		return value{}, scratch
	}
	return value{base: initial, off: int64(reg)}, c.initial[reg]
}

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

// prepare returns a state and registers that it describes, and writes memory.
func prepare(t *testing.T, p *oracle.Processor, r *rand.Rand) (s state, regs syscall.PtraceRegs, c concrete) {
	t.Helper()
	top := p.Start.Rsp
	regs = p.Start
	c = concrete{p: p, cfa: (top-cpuCFA)&^15 + uint64(r.IntN(2))*8}
	c.aligned = (c.cfa - 16<<10) &^ 63 // far from what is relative to the CFA, as frames are
	for i := range c.initial {
		c.initial[i] = top - cpuScratch + uint64(r.IntN(1<<14)-1<<13)
	}
	all := oracle.Registers(&regs)
	for i := range all {
		s.regs[i], *all[i] = c.pick(r, i)
	}
	off := -8 * int64(1+r.IntN(40))
	s.regs[amdSP], *all[amdSP] = value{base: cfa, off: off}, c.cfa+uint64(off)
	if r.IntN(8) == 0 {
		s.regs[amdSP], *all[amdSP] = value{base: aligned, off: 64}, c.aligned+64
	}
	var stack [512]byte // below the CFA
	for i := range stack {
		stack[i] = byte(r.Uint32())
	}
	for range 8 {
		off := -8 * int64(1+r.IntN(len(stack)/8-1))
		v, have := c.pick(r, r.IntN(16))
		if v.base != cfa && v.base != aligned && v.base != initial && v.base != constant && v.base != below {
			continue
		}
		s.store(place{cfa, off}, v, 8)
		binary.LittleEndian.PutUint64(stack[len(stack)+int(off):], have)
	}
	p.Write(t, c.cfa-uint64(len(stack)), stack[:])
	if r.IntN(2) == 0 {
		s.flags = compare{reg: int8(r.IntN(16)), n: uint32(r.IntN(100)), size: uint8(1) << r.IntN(4)}
		regs.Eflags = regs.Eflags&^statusFlags | flagsOf(*all[s.flags.reg], uint64(s.flags.n), s.flags.size)
	}
	return s, regs, c
}

// unsound returns what a state says after an instruction that does not hold.
func (c *concrete) unsound(s *state, regs *syscall.PtraceRegs) string {
	all := oracle.Registers(regs)
	for i, v := range s.regs[:len(all)] {
		if !c.holds(v, *all[i]) {
			return fmt.Sprintf("register %d is %#x, not %+v", i, *all[i], v)
		}
	}
	for _, k := range s.slots {
		at := c.cfa
		if k.place.base == aligned {
			at = c.aligned
		}
		have := c.p.Word(at + uint64(k.place.off))
		if k.value.base == below {
			have = uint64(uint32(have)) // at least these are known
		}
		if !c.holds(k.value, have) {
			return fmt.Sprintf("the word at %+v is %#x, not %+v", k.place, have, k.value)
		}
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
	return ""
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
	p := oracle.StartProcessor(t)
	n := 50_000
	if os.Getenv("SYMTOOL_ORACLE") == "full" {
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
		s, regs, c := prepare(t, p, r)
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
		if what := c.unsound(&s, &regs); what != "" {
			report(what)
		}
	}
	t.Logf("%d of %d instructions ran, %d were compared, %d differ", ran, n, known, len(bads))
}
