package follow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// The length of every instruction agrees with objdump.
func TestLengthsAMD64(t *testing.T) {
	testenv.Oracle(t)
	for _, path := range []string{
		testenv.File(t, "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6"),
		testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6"),
		testenv.File(t, "/usr/bin/bash", "bash"),
	} {
		compared, unknown := 0, map[string]int{}
		wrong := map[string]int{}
		testenv.Disassemble(t, "objdump", path, func(addr uint64, code []byte, text string) {
			if strings.Contains(text, "(bad)") || strings.HasPrefix(text, "lock") && len(code) == 1 {
				return
			}
			compared++
			var s frameState
			st := stepAMD64(append(code[:len(code):len(code)], 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90), addr, &s)
			name, _, _ := strings.Cut(text, " ")
			switch {
			case st.kind == stepBad:
				unknown[name]++
			case st.size != len(code):
				wrong[fmt.Sprintf("%x %s: %d", code, text, st.size)]++
			}
		})
		t.Logf("%s: %d instructions, not known %v", path, compared, unknown)
		if compared < 10000 {
			t.Error("too few instructions")
		}
		for w := range wrong {
			t.Error(w)
		}
	}
}
