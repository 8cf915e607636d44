//go:build linux && amd64

package code

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/insn"
)

// processor runs single instructions in a stopped process.
type processor struct {
	pid   int
	code  uintptr
	start syscall.PtraceRegs
}

// The stack of the process: the CFA is cpuCFA bytes below its top, and other memory that registers point to is around
// cpuScratch bytes below it.
const (
	cpuCFA     = 24 << 10
	cpuScratch = 88 << 10
)

func startProcessor(t *testing.T) *processor {
	t.Helper()
	runtime.LockOSThread()
	c := exec.Command("/bin/true")
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Skip("processes can't be traced here: ", err)
	}
	p := &processor{pid: c.Process.Pid}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		runtime.UnlockOSThread()
	})
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(p.pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		t.Fatal(err, ws)
	}
	if err := syscall.PtraceGetRegs(p.pid, &p.start); err != nil {
		t.Fatal(err)
	}
	p.code = uintptr(p.start.Rip)
	return p
}

// registers returns the registers by their DWARF numbers.
func registers(r *syscall.PtraceRegs) [16]*uint64 {
	return [16]*uint64{&r.Rax, &r.Rdx, &r.Rcx, &r.Rbx, &r.Rsi, &r.Rdi, &r.Rbp, &r.Rsp, &r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
}

// run executes an instruction. It reports whether it ran to its end.
func (p *processor) run(t *testing.T, r *syscall.PtraceRegs, code []byte) bool {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := syscall.PtracePokeText(p.pid, p.code, code)
	check(err)
	check(syscall.PtraceSetRegs(p.pid, r))
	check(syscall.PtraceSingleStep(p.pid))
	var ws syscall.WaitStatus
	_, err = syscall.Wait4(p.pid, &ws, 0, nil)
	check(err)
	if !ws.Stopped() {
		t.Fatalf("% x ended the process: %v", code, ws)
	}
	check(syscall.PtraceGetRegs(p.pid, r))
	return ws.StopSignal() == syscall.SIGTRAP
}

// word returns 8 bytes of memory.
func (p *processor) word(at uint64) uint64 {
	var b [8]byte
	if _, err := syscall.PtracePeekData(p.pid, uintptr(at), b[:]); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

// concrete is a state of the processor that a state describes.
type concrete struct {
	cfa, aligned uint64
	initial      [17]uint64
	p            *processor
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
	case word, entry, target, pointer:
		for i := range min(uint64(v.n), 64) + 1 {
			at := uint64(v.off) + i*v.wordSize()
			w := c.p.word(at)
			low := uint64(uint32(w))
			sign := uint64(int64(int32(low)))
			if v.base == word && have == low || v.base == entry && have == sign || v.base == target && have == uint64(v.off)+sign || v.base == pointer && have == w {
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
func (p *processor) prepare(t *testing.T, r *rand.Rand) (s state, regs syscall.PtraceRegs, c concrete) {
	t.Helper()
	top := p.start.Rsp
	regs = p.start
	c = concrete{p: p, cfa: (top-cpuCFA)&^15 + uint64(r.IntN(2))*8}
	c.aligned = (c.cfa - 16<<10) &^ 63 // far from what is relative to the CFA, as frames are
	for i := range c.initial {
		c.initial[i] = top - cpuScratch + uint64(r.IntN(1<<14)-1<<13)
	}
	all := registers(&regs)
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
	if _, err := syscall.PtracePokeData(p.pid, uintptr(c.cfa-uint64(len(stack))), stack[:]); err != nil {
		t.Fatal(err)
	}
	if r.IntN(2) == 0 {
		s.flags = compare{reg: int8(r.IntN(16)), n: uint32(r.IntN(100)), size: uint8(1) << r.IntN(4)}
		regs.Eflags = regs.Eflags&^statusFlags | flagsOf(*all[s.flags.reg], uint64(s.flags.n), s.flags.size)
	}
	return s, regs, c
}

// unsound returns what a state says after an instruction that does not hold.
func (c *concrete) unsound(s *state, regs *syscall.PtraceRegs) string {
	all := registers(regs)
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
		have := c.p.word(at + uint64(k.place.off))
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

// random returns the bytes of some instruction.
func randomInstruction(r *rand.Rand) []byte {
	b := make([]byte, 0, 32)
	for _, p := range []byte{0x66, 0xf2, 0xf3, 0x64, 0x67} {
		if r.IntN(12) == 0 && p != 0x64 && p != 0x67 || r.IntN(60) == 0 {
			b = append(b, p)
		}
	}
	if r.IntN(2) == 0 {
		b = append(b, 0x40|byte(r.IntN(16)))
	}
	switch r.IntN(8) {
	case 0, 1:
		b = append(b, 0x0f)
	case 2:
		b = append(b, 0x0f, 0x38)
	case 3:
		b = append(b, 0x0f, 0x3a)
	case 4:
		b = append(b[:0], 0xc5)
	case 6:
		b = append(b[:0], 0x62, 0xf0&byte(r.Uint32())|byte(1+r.IntN(3)), byte(r.Uint32())|4, byte(r.Uint32())&^7)
	case 5:
		b = append(b[:0], 0xc4, 0xe0&byte(r.Uint32())|byte(1+r.IntN(3)), byte(r.Uint32()))
	}
	for len(b) < 16 {
		b = append(b, byte(r.Uint32()))
	}
	return b[:16]
}

// realInstructions returns different instructions of libraries, by their opcodes and kinds of operands.
func realInstructions(t *testing.T) (all [][]byte) {
	t.Helper()
	seen := map[[7]byte]bool{}
	for _, pattern := range []string{"/lib/x86_64-linux-gnu/lib[cm].so.6", "/usr/lib/x86_64-linux-gnu/lib*.so.*"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			f, err := elf.Open(name)
			if err != nil {
				continue
			}
			if s := f.Section(".text"); s != nil && s.Size < 8<<20 && len(all) < 200_000 {
				if code, err := s.Data(); err == nil {
					all = appendDifferent(all, seen, code)
				}
			}
			_ = f.Close()
		}
	}
	return all
}

func appendDifferent(all [][]byte, seen map[[7]byte]bool, code []byte) [][]byte {
	for len(code) > 0 {
		n, _, _ := insn.AMD64(code, 0)
		if n == 0 {
			n = 1
		} else {
			var key [7]byte // displacements and constants are mostly behind these
			copy(key[:], code[:min(n, max(3, n-4))])
			if !seen[key] {
				seen[key] = true
				all = append(all, append(slices.Clone(code[:n]), make([]byte, 16-n)...))
			}
		}
		code = code[n:]
	}
	return all
}

// opcode returns the index of an instruction's opcode.
func opcode(code []byte) (i int) {
	prefixes := []byte{0x66, 0xf2, 0xf3, 0x64, 0x65, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0xf0}
	for i < len(code)-1 && slices.Contains(prefixes, code[i]) {
		i++
	}
	if i < len(code)-1 && code[i]>>4 == 4 {
		i++
	}
	return i
}

// dangerous reports whether an instruction leaves the process, changes a segment, or is one that Linux emulates.
func dangerous(code []byte) bool {
	i := opcode(code)
	what := byte(0)
	if i+1 < len(code) {
		what = code[i+1]
	}
	switch code[i] {
	case 0x0f:
		return slices.Contains([]byte{0x00, 0x01, 0x05, 0x07, 0x34, 0x35}, what)
	case 0xff:
		return what>>3&7 == 3 || what>>3&7 == 5
	}
	return slices.Contains([]byte{0x8e, 0xca, 0xcb, 0xcd, 0xcf}, code[i])
}

// indexed reports whether an instruction may have a memory operand with an index.
func indexed(code []byte) bool {
	i := opcode(code)
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
	p := startProcessor(t)
	n := 50_000
	if os.Getenv("SYMTOOL_ORACLE") == "full" {
		n = 500_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	ran, known, bads := 0, 0, map[string]int{}
	library := realInstructions(t)
	t.Logf("%d instructions of libraries", len(library))
	for i := range n {
		code := randomInstruction(r)
		if i%2 == 0 && len(library) > 0 {
			code = library[r.IntN(len(library))]
		}
		size, _, _ := insn.AMD64(code, uint64(p.code))
		if size == 0 || dangerous(code[:size]) {
			continue
		}
		s, regs, c := p.prepare(t, r)
		before := s.regs[amdSP]
		in := stepAMD64(code, uint64(p.code), &s)
		if !p.run(t, &regs, code) {
			continue
		}
		ran++
		next := uint64(p.code) + uint64(size)
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
			if regs.Rip != next && regs.Rip != uint64(p.code) {
				report(fmt.Sprintf("goes on at %+d, not %+d", int64(regs.Rip-uint64(p.code)), size))
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
