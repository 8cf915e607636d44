package oracle

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/insn"
)

// Processor runs single instructions in a stopped process.
type Processor struct {
	pid   int
	code  uintptr
	Start syscall.PtraceRegs // at the place where instructions run; its stack has 100 KB at least
}

// StartProcessor starts a process, which ends with the test.
func StartProcessor(t testing.TB) *Processor {
	t.Helper()
	return startTraced(t, "/bin/true")
}

func startTraced(t testing.TB, program string, args ...string) *Processor {
	t.Helper()
	runtime.LockOSThread()
	c := exec.Command(program, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Skip("processes can't be traced here: ", err)
	}
	p := &Processor{pid: c.Process.Pid}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		runtime.UnlockOSThread()
	})
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(p.pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		t.Fatal(err, ws)
	}
	if err := syscall.PtraceGetRegs(p.pid, &p.Start); err != nil {
		t.Fatal(err)
	}
	p.code = uintptr(p.Start.Rip)
	return p
}

// Registers returns the registers by their DWARF numbers.
func Registers(r *syscall.PtraceRegs) [16]*uint64 {
	return [16]*uint64{&r.Rax, &r.Rdx, &r.Rcx, &r.Rbx, &r.Rsi, &r.Rdi, &r.Rbp, &r.Rsp, &r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
}

// Run executes the instruction at the start of code, which has 16 bytes, and reads the registers behind it. It reports
// whether it ran to its end.
func (p *Processor) Run(t testing.TB, r *syscall.PtraceRegs, code []byte) bool {
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

// Word returns 8 bytes of memory.
func (p *Processor) Word(at uint64) uint64 {
	var b [8]byte
	if _, err := syscall.PtracePeekData(p.pid, uintptr(at), b[:]); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

// RandomInstruction returns 16 bytes that begin with some instruction, often.
func RandomInstruction(r *rand.Rand) []byte {
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

// DifferentInstructions returns the instructions of code that differ by their opcodes and kinds of operands, with 16 bytes
// for each, until there are many.
func DifferentInstructions(texts iter.Seq[[]byte]) (all [][]byte) {
	seen := map[[7]byte]bool{}
	for code := range texts {
		if all = appendDifferent(all, seen, code); len(all) > 200_000 {
			break
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

// Opcode returns the index of an instruction's opcode.
func Opcode(code []byte) (i int) {
	prefixes := []byte{0x66, 0xf2, 0xf3, 0x64, 0x65, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0xf0}
	for i < len(code)-1 && slices.Contains(prefixes, code[i]) {
		i++
	}
	if i < len(code)-1 && code[i]>>4 == 4 {
		i++
	}
	return i
}

// Dangerous reports whether an instruction leaves the process, changes a segment, or is one that Linux emulates.
func Dangerous(code []byte) bool {
	i := Opcode(code)
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

// Write stores bytes in the process's memory.
func (p *Processor) Write(t testing.TB, at uint64, data []byte) {
	t.Helper()
	if _, err := syscall.PtracePokeData(p.pid, uintptr(at), data); err != nil {
		t.Fatal(err)
	}
}

// Trace runs a program, and calls fn before each instruction until it ends, or fn returns false. A program without a fixed
// address has its registers' values as they are.
func Trace(t testing.TB, fn func(p *Processor, r *syscall.PtraceRegs) bool, program string, args ...string) {
	t.Helper()
	p := startTraced(t, program, args...)
	for r := p.Start; fn(p, &r); {
		if err := syscall.PtraceSingleStep(p.pid); err != nil {
			t.Fatal(err)
		}
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(p.pid, &ws, 0, nil); err != nil {
			t.Fatal(err)
		}
		if ws.Exited() {
			return
		}
		if err := syscall.PtraceGetRegs(p.pid, &r); err != nil {
			t.Fatal(err)
		}
	}
}
