package insn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// The length of every instruction matches objdump's.
func TestCallLengths(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		path, pkg string
		step      Step
	}{
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6", AMD64},
		{"/usr/lib/x86_64-linux-gnu/libstd-a5a48102fbd58791.so", "libstd-rust-1.63", AMD64},
		{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6", AMD64},
		{"/usr/i686-linux-gnu/lib/libc.so.6", "libc6-i386-cross", X86},
	} {
		compared, wrong := 0, map[string]int{}
		testenv.Disassemble(t, "objdump", testenv.File(t, c.path, c.pkg), func(addr uint64, code []byte, text string) {
			if strings.Contains(text, "(bad)") || len(code) == 1 && strings.Contains("lock data16 cs rex.W", strings.Fields(text)[0]) {
				return
			}
			compared++
			if n, _, _ := c.step(append(code[:len(code):len(code)], make([]byte, 15)...), addr); n != len(code) {
				wrong[fmt.Sprintf("%x %s: %d", code, text, n)]++
			}
		})
		t.Logf("%s: %d instructions, %d of another length", c.path, compared, len(wrong))
		n := 0
		for w := range wrong {
			if n++; n < 15 {
				t.Error(w)
			}
		}
	}
}
