package lint

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// disassembled calls fn for each instruction that objdump sees.
func disassembled(t *testing.T, path string, fn func(addr uint64, code []byte, text string)) {
	t.Helper()
	disassembledBy(t, "objdump", path, fn)
}

func disassembledBy(t *testing.T, objdump, path string, fn func(addr uint64, code []byte, text string)) {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, objdump), "-dw", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	for in := bufio.NewScanner(out); in.Scan(); {
		place, rest, ok := strings.Cut(strings.TrimSpace(in.Text()), ":")
		addr, err := strconv.ParseUint(place, 16, 64)
		if !ok || err != nil {
			continue
		}
		raw, text, ok := strings.Cut(strings.TrimSpace(rest), "\t")
		raw = strings.TrimSpace(raw)
		code, err := hex.DecodeString(strings.ReplaceAll(raw, " ", ""))
		if ok && err == nil {
			fn(addr, code, text)
		}
	}
}

// The length of every instruction is what objdump says.
func TestLengthsAMD64(t *testing.T) {
	testenv.Oracle(t)
	for _, path := range []string{
		testenv.File(t, "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6"),
		testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6"),
		testenv.File(t, "/usr/bin/bash", "bash"),
	} {
		compared, unknown := 0, map[string]int{}
		wrong := map[string]int{}
		disassembled(t, path, func(addr uint64, code []byte, text string) {
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
