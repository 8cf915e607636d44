package walk

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// Code in memory: a function at 0x500100 that calls itself, or another by a register, and one at 0x500200 that calls it.
const (
	recursiveCode = "53 e8faffffff ffd0 5b c3"        // push %rbx; call 0x500100; call *%rax; pop %rbx; ret
	callingCode   = "4883ec18 e8f7feffff 4883c418 c3" // sub $24, %rsp; call 0x500100; add $24, %rsp; ret
	recursiveAt   = 0x500100
	callingAt     = 0x500200
)

// recursion returns a process that is in that code, outside of modules, depth frames deep. Nothing is known about its
// last frame, and no frame has a frame pointer.
func recursion(t testing.TB, depth int, kind string) *walktest.Assembler {
	t.Helper()
	a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, "")
	a.Dump.Maps = []dump.Mapping{{Range: dump.Range{Addr: 0x400000, Size: 0x1000}, Read: true, Exec: true}, {Range: dump.Range{Addr: 0x500000, Size: 0x1000}, Read: true, Exec: true}}
	if kind != "no code" {
		a.At(recursiveAt).Bytes(decoded(t, recursiveCode)...).At(callingAt).Bytes(decoded(t, callingCode)...)
	}
	a.At(stackAt).Mark("sp")
	ret := uint64(recursiveAt + 6)
	if kind == "by a pointer" {
		ret = recursiveAt + 8
	}
	for range depth {
		a.Words(walktest.Junk, ret) // behind the frame of each
	}
	a.Words(walktest.Junk, callingAt+9, 1, 2, 3, hole)
	return a.Regs("$rip", recursiveAt+1, "$rsp", "sp", "$rbp", 1, "$rax", 7)
}

func decoded(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Code that only the dump has, such as a JIT compiler's, is followed from where a call says that a function begins.
func TestCodeInMemory(t *testing.T) {
	const depth = 20
	for _, c := range []struct {
		kind    string
		derived int
	}{{"", depth + 1}, {"by a pointer", 0}, {"no code", 0}} {
		s := walkFirst(recursion(t, depth, c.kind), Config{})
		n := 0
		for i := range s.Frames {
			if s.Frames[i].By == ByCode {
				n++
			}
		}
		if n != c.derived {
			t.Errorf("%s: %d frames by rules from instructions, want %d\n%s", c.kind, n, c.derived, strings.Join(s.Trace, "\n"))
		}
	}
}
