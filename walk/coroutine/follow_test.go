package coroutine

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// follower returns a Follower of code at resumeA, in hexadecimal, and a frame with a number of the suspension point.
func follower(t *testing.T, text string, index uint64) (*Follower, *Frame) {
	t.Helper()
	code, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	d := process(arch.X86_64, heap, resumeA, destroyA, index, 0)
	return NewFollower(d, func(addr uint64, n int) []byte {
		if b := d.Memory.Bytes(addr, n); len(b) > 0 {
			return b
		}
		if at := addr - resumeA; at < uint64(len(code)) {
			return code[at:min(uint64(len(code)), at+uint64(n))]
		}
		return nil
	}), &Frame{Addr: heap, Resume: resumeA, Destroy: destroyA}
}

// A coroutine is suspended where its number leads, and only if other numbers lead elsewhere.
func TestPoint(t *testing.T) {
	// push %rbp; mov %rsp,%rbp; mov %rdi,-8(%rbp); movzbl 0x10(%rdi),%eax; cmp $1,%eax; je +4; call; call
	const tree = "55 4889e5 48897df8 0fb64710 83f801 7405 e800000000 e800000000"
	for _, c := range []struct {
		name, code string
		index      uint64
		want       uint64 // relative to resumeA; 0 if it is not certain
	}{
		{"the second", tree, 1, 0x16},
		{"the first", tree, 0, 0x11},
		{"no jump", "55 0fb64710 e800000000", 0, 0},
		{"a trap", "0fb64710 83f801 7405 0f0b 909090 0f0b", 1, 0},
		{"an unknown condition", "83fe01 7405 0fb64710 83f801 7405 e800000000 c3", 1, 0},
		{"an endless jump", "0fb64710 ebfa", 1, 0},
		{"code that ends", "0fb647", 1, 0},
		// What distinguishes 1 from 2 comes after a call, which is not followed.
		{"two numbers to one place", "0fb64710 83f800 7405 e800000000 c3", 2, 0},
	} {
		f, frame := follower(t, c.code, c.index)
		got := uint64(0)
		if p := f.Point(frame, &Layout{Size: 32, Index: dump.Range{Addr: 16, Size: 1}, IndexStep: 1}); p != nil {
			got = p.PC - resumeA
		}
		if got != c.want {
			t.Errorf("%s: at +%#x, want +%#x", c.name, got, c.want)
		}
	}
}

// The registers and the stack are those with which the function goes on.
func TestPointState(t *testing.T) {
	f, frame := follower(t, "55 4889e5 48897df8 0fb64710 83f801 7405 e800000000 e800000000", 1)
	p := f.Point(frame, &Layout{Size: 32, Index: dump.Range{Addr: 16, Size: 1}, IndexStep: 1})
	if p == nil {
		t.Fatal("no point")
	}
	rbp, ok := p.Registers.Get("$rbp")
	rdi, _ := p.Registers.Get("$rdi")
	if !ok || rbp != stackTop-maxStack-16 || rdi != heap {
		t.Errorf("rbp %#x, rdi %#x", rbp, rdi)
	}
	if _, ok := p.Registers.Get("$rax"); ok {
		t.Error("rax, which has the number, is known")
	}
	if len(p.Stack) != 1 || p.Stack[0].Addr != rbp-8 || len(p.Stack[0].Data) != 8 {
		t.Errorf("stack %v", p.Stack)
	}
}

// The instructions that set the number have it as an operand, or in a register since the last jump.
func TestStores(t *testing.T) {
	// movb $2,0x10(%rdi); mov $3,%ecx; mov %cl,0x10(%rbx); mov $4,%ecx; jmp +0; mov %cl,0x10(%rbx); movb $5,0x11(%rdi)
	f, _ := follower(t, "c6471002 b903000000 884b10 b904000000 eb00 884b10 c6471105", 0)
	var addrs int
	got := f.Stores(resumeA, 26, &Layout{Index: dump.Range{Addr: 16, Size: 1}}, func(uint64) { addrs++ })
	if len(got) != 2 || got[0] != (Store{resumeA, 2}) || got[1] != (Store{resumeA + 9, 3}) || addrs != 7 {
		t.Errorf("%x in %d instructions", got, addrs)
	}
}

// FuzzPoint follows any code: it ends, without a panic.
func FuzzPoint(f *testing.F) {
	f.Add([]byte("\x55\x48\x89\xe5\x48\x89\x7d\xf8\x0f\xb6\x47\x10\x83\xf8\x01\x74\x05\xe8\x00\x00\x00\x00"), uint64(1))
	f.Add([]byte("\x0f\xb6\x47\x10\xff\x24\xc5\x00\x01\x40\x00"), uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, index uint64) {
		w, frame := follower(t, hex.EncodeToString(code), index)
		l := &Layout{Size: 32, Index: dump.Range{Addr: 16, Size: 8}, IndexStep: 1 + index%2}
		w.Point(frame, l)
		w.Stores(resumeA, uint64(len(code)), l, func(uint64) {})
		w.FirstCall(resumeA)
	})
}
