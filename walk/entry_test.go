package walk

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// An address that is the first instruction of a function belongs to that function, unless a call
// precedes it. The stack of a coroutine begins there.
func TestEntryOfCoroutine(t *testing.T) {
	const rules = "STACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	nops := []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}
	call := []byte{0x90, 0x90, 0x90, 0xe8, 0x00, 0xff, 0xff, 0xff} // to 0x400100
	for _, c := range []struct {
		name, symbols string
		before        []byte
		above         uint64
		end           End
		want          []string
	}{
		{"begins there", twoFunctions + rules, nops, walktest.Junk, EndStart, []string{"400200 cfi symbols g"}},
		{"behind a call", twoFunctions + rules, call, walktest.Junk, EndNothing, []string{"400200 cfi symbols f"}},
		{"code not known", twoFunctions + rules, nil, walktest.Junk, EndNothing, []string{"400200 cfi symbols f"}},
		{"by rules alone", rules + "STACK CFI INIT 200 100 .cfa: $rsp 8 + .ra: .undef\n", nops, walktest.Junk, EndStart, []string{"400200 cfi symbols"}},
		{"with a caller", twoFunctions + rules + "STACK CFI INIT 200 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", nops, inF, EndNothing,
			[]string{"400200 cfi symbols g", "400150 cfi symbols f"}},
		{"Boost's", "FUNC 100 80 0 f\nPUBLIC 1f0 0 make_fcontext\n" + rules, nops, walktest.Junk, EndStart, []string{"400200 cfi symbols make_fcontext"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, c.symbols)
			if c.before != nil {
				a.At(0x4001f8).Bytes(c.before...)
			}
			a.At(stackAt).Mark("sp").Words(0x400200, c.above, walktest.Junk, walktest.Junk)
			s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
			top := "400120 context context"
			if c.symbols[0] == 'F' {
				top += " f"
			}
			wantStack(a, s, c.end, append([]string{top}, c.want...)...)
		})
	}
}

// Kernel threads have neither code nor a stack. A thread that crashed may have lost both.
func TestKernelThread(t *testing.T) {
	a := process(t, arch.X86_64, dump.Linux).Words(walktest.Junk, walktest.Junk)
	a.Regs("$rip", 0x400120, "$rsp", "sp").Regs("$rip", 0, "$rsp", 0, "$rcx", inG)
	for i, want := range map[int]End{0: EndNoMemory, 1: EndOutermost} {
		a.Dump.Crash = &dump.Crash{Thread: uint32(2 - i)}
		s := &walkAll(a, Config{}).Stacks[1]
		if s.End != want || len(s.Frames) != 1 {
			t.Errorf("thread %d crashed: %v (%s), %d frames", 2-i, s.End, s.Why, len(s.Frames))
		}
	}
}
