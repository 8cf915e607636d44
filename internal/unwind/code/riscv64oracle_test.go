package code

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// instructionsRISCV64 returns different instructions of libraries, and random ones, of 2 or 4 bytes.
func instructionsRISCV64(r *rand.Rand, n int) (code []uint32) {
	seen := map[uint32]bool{}
	for text := range textOf("/usr/riscv64-linux-gnu/lib/lib*.so.*") {
		for len(text) >= 4 {
			size, _, _ := insn.RISCV64(text, 0)
			w := binary.LittleEndian.Uint32(text)
			if size == 2 {
				w &= 0xffff
			}
			if !seen[w] && size != 0 && len(code) < n/2 {
				seen[w] = true
				code = append(code, w)
			}
			text = text[max(size, 2):]
		}
	}
	for len(code) < n {
		if w := r.Uint32(); len(code)%2 == 0 {
			code = append(code, w|3)
		} else {
			code = append(code, w)
		}
	}
	return code
}

// prepareRISCV64 returns a state and registers that it describes, and writes memory.
func prepareRISCV64(t *testing.T, e *oracle.Emulator, r *rand.Rand) (s state, regs oracle.EmulatorRegisters, c concrete) {
	t.Helper()
	const apart, n = 128 << 10, 32
	c = concrete{word: func(at uint64) uint64 { return e.Word(t, at) }, cfa: oracle.EmulatorHigh - apart}
	c.aligned = c.cfa - apart
	for i := range c.initial {
		c.initial[i] = oracle.EmulatorData + apart + uint64(r.IntN(1<<14))
	}
	c.initial[0] = 0
	for i := 1; i < n; i++ {
		s.regs[i], regs[i] = c.pick(r, i, n)
		if n := uint64(r.IntN(20)); r.IntN(10) == 0 {
			s.regs[i], regs[i] = value{base: scaled, off: 8, n: 20}, 8*n
		} else if r.IntN(20) == 0 {
			s.regs[i], regs[i] = value{base: cell, off: int64(c.initial[1]), n: 20, size: 8}, c.initial[1]+8*n
		}
	}
	s.regs[0] = value{base: constant}
	off := -16 * int64(r.IntN(20))
	s.regs[riscvSP], regs[riscvSP] = value{base: cfa, off: off}, c.cfa+uint64(off)
	if r.IntN(8) == 0 {
		s.regs[riscvSP], regs[riscvSP] = value{base: aligned, off: 64}, c.aligned+64
	}
	stack := c.stack(r, &s, n)
	e.Write(t, c.cfa-uint64(len(stack)), stack)
	return s, regs, c
}

// TestOracleEmulatedStepsRISCV64 does the same as TestOracleEmulatedSteps, for RISC-V.
func TestOracleEmulatedStepsRISCV64(t *testing.T) {
	e := oracle.StartEmulator(t, "riscv64")
	n := 10_000
	if testenv.OracleFull() {
		n = 200_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	code := instructionsRISCV64(r, n)
	e.Load(t, code)
	ran, known, different := 0, 0, map[uint32]bool{}
	for i, w := range code {
		if w == 0x73 { // ecall
			continue
		}
		s, regs, c := prepareRISCV64(t, e, r)
		addr := oracle.EmulatorCode + 4*uint64(i)
		regs[oracle.EmulatorPC] = addr
		before := s.regs[riscvSP]
		in := stepRISCV64(binary.LittleEndian.AppendUint32(nil, w), addr, &s)
		if !e.Run(t, &regs) {
			continue
		}
		ran++
		what := ""
		switch pc := regs[oracle.EmulatorPC]; in.flow {
		case next:
			if pc != addr+uint64(in.size) {
				what = fmt.Sprintf("goes on at %+d", int64(pc-addr))
			}
		case jump, call:
			if in.to != 0 && pc != in.to {
				what = "jumps elsewhere"
			}
		case branch:
			if pc != in.to && pc != addr+uint64(in.size) {
				what = "branches elsewhere"
			} else if l := in.limit; l.size == 8 && l.n >= l.less && (pc == in.to) == l.taken && in.to != addr+uint64(in.size) {
				s.limit(l, cpuRISCV64.changed)
			}
		}
		if what == "" && (in.flow == next || in.flow == branch) {
			known++
			if sp := (value{base: aligned}); s.regs[riscvSP] == sp && before != sp {
				c.aligned = regs[riscvSP]
			}
			if w&0x7f == 0x27 || w&0x7f == 0x57 { // vectors are stored in buffers
				s.slots = nil
			}
			what = c.unsound(&s, regs[:32])
		}
		if what != "" && !different[w] {
			different[w] = true
			if len(different) < 60 {
				t.Errorf("%#08x: %s", w, what)
			}
		}
	}
	t.Logf("%d of %d instructions ran, %d were compared, %d differ", ran, n, known, len(different))
}
