package code

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// instructionsARM64 returns random words, and different instructions of libraries.
func instructionsARM64(r *rand.Rand, n int) (code []uint32) {
	seen := map[uint32]bool{}
	for text := range textOf("/usr/aarch64-linux-gnu/lib/lib*.so.*") {
		for ; len(text) >= 4; text = text[4:] {
			w := binary.LittleEndian.Uint32(text)
			if key := w &^ 0x1f0000; !seen[key] && len(code) < n/2 {
				seen[key] = true
				code = append(code, w)
			}
		}
	}
	for len(code) < n {
		code = append(code, r.Uint32())
	}
	return code
}

// prepareARM64 returns a state and registers that it describes, and writes memory.
func prepareARM64(t *testing.T, e *oracle.Emulator, r *rand.Rand) (s state, regs oracle.EmulatorRegisters, c concrete) {
	t.Helper()
	const apart = 128 << 10
	c = concrete{word: func(at uint64) uint64 { return e.Word(t, at) }, cfa: oracle.EmulatorHigh - apart}
	c.aligned = c.cfa - apart
	for i := range c.initial {
		c.initial[i] = oracle.EmulatorData + apart + uint64(r.IntN(1<<14))
	}
	const n = 32
	for i := range n {
		s.regs[i], regs[i] = c.pick(r, i, n)
	}
	off := -16 * int64(r.IntN(20))
	s.regs[armSP], regs[armSP] = value{base: cfa, off: off}, c.cfa+uint64(off)
	if r.IntN(8) == 0 {
		s.regs[armSP], regs[armSP] = value{base: aligned, off: 64}, c.aligned+64
	}
	stack := c.stack(r, &s, n)
	e.Write(t, c.cfa-uint64(len(stack)), stack)
	e.Flags = 0
	if r.IntN(2) == 0 {
		s.flags = compare{reg: int8(r.IntN(31)), n: uint32(r.IntN(100)), size: uint8(4) << r.IntN(2)}
		e.Flags = flagsARM64(regs[s.flags.reg], uint64(s.flags.n), s.flags.size)
	}
	return s, regs, c
}

// flagsARM64 returns N, Z, C and V after a comparison.
func flagsARM64(a, b uint64, size uint8) (flags uint32) {
	shift := 64 - 8*uint(size)
	a, b = a<<shift, b<<shift
	d := a - b
	flags = uint32(d>>63<<31 | (a^b)&(a^d)>>63<<28)
	if d == 0 {
		flags |= 1 << 30
	}
	if a >= b {
		flags |= 1 << 29
	}
	return flags
}

// wildARM64 reports whether an instruction may store somewhere in the stack by an index.
func wildARM64(w uint32) bool {
	switch {
	case w>>25&5 == 4 && w>>21&1 == 1 && w>>24&1 == 0 && w>>28&3 == 3 && w>>10&3 == 2, // a register and another one
		w>>25&15 == 2,      // SVE
		w>>24 == 0xd5,      // dc zva
		w>>24&0x3f == 0x19: // of tags, and copies
		return true
	}
	return false
}

// undefinedARM64 reports whether the architecture does not say what an instruction does: it writes the base of its operand
// back, which it loads or stores, or it authenticates what was not signed.
func undefinedARM64(w uint32) bool {
	t, n, second := w&31, w>>5&31, w>>10&31
	switch {
	case w>>27&7 == 5 && w>>26&1 == 0 && (w>>23&1 == 1 || w>>22&1 == 1):
		return n != 31 && (t == n || second == n) || w>>22&1 == 1 && t == second
	case w>>27&7 == 7 && w>>24&1 == 0 && w>>21&1 == 0 && w>>10&1 == 1 && w>>26&1 == 0:
		return n != 31 && t == n
	case w&0xfffff01f == 0xd503201f:
		hint := w >> 5 & 127
		return hint >= 12 && hint <= 15 || hint >= 28 && hint <= 31
	}
	return false
}

// TestOracleEmulatedSteps lets qemu execute single instructions of arm64 in a state that an abstract state describes, and
// looks whether the state behind describes what it did.
func TestOracleEmulatedSteps(t *testing.T) {
	e := oracle.StartEmulator(t, "aarch64")
	n := 10_000
	if testenv.OracleFull() {
		n = 200_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	code := instructionsARM64(r, n)
	e.Load(t, code)
	ran, known, different := 0, 0, map[uint32]bool{}
	for i, w := range code {
		if w>>24 == 0xd4 || undefinedARM64(w) { // svc, hlt and the like
			continue
		}
		s, regs, c := prepareARM64(t, e, r)
		addr := oracle.EmulatorCode + 4*uint64(i)
		regs[oracle.EmulatorPC] = addr
		before := s.regs[armSP]
		in := stepARM64(binary.LittleEndian.AppendUint32(nil, w), addr, &s)
		if !e.Run(t, &regs) {
			continue
		}
		ran++
		what := ""
		switch pc := regs[oracle.EmulatorPC]; in.flow {
		case next:
			if pc != addr+4 && pc != addr { // one that is repeated
				what = fmt.Sprintf("goes on at %+d", int64(pc-addr))
			}
		case jump, call:
			if in.to != 0 && pc != in.to {
				what = "jumps elsewhere"
			}
		case branch:
			if pc != in.to && pc != addr+4 {
				what = "branches elsewhere"
			} else if l := in.limit; l.size == 8 && l.reg >= 0 && l.n >= l.less && (pc == in.to) == l.taken && in.to != addr+4 {
				s.limit(l, cpuARM64.changed)
			}
		}
		if what == "" && (in.flow == next || in.flow == branch) {
			known++
			if wildARM64(w) {
				s.slots = nil
			}
			if sp := (value{base: aligned}); s.regs[armSP] == sp && before != sp {
				c.aligned = regs[armSP]
			}
			what = c.unsound(&s, regs[:32])
			if f := s.flags; what == "" && f.size != 0 && f.reg >= 0 && f.other == 0 {
				if want := flagsARM64(regs[f.reg], uint64(f.n), f.size); want != e.Flags&0xf0000000 {
					what = fmt.Sprintf("the flags are %#x, not %#x of %+v", e.Flags, want, f)
				}
			}
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
