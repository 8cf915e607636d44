package testenv

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Dump returns what symtool dump prints of a binary.
func Dump(t testing.TB, path string) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.Command(Symtool(t), "dump", path)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		t.Fatalf("dump %s: %v: %s", path, err, problems.Bytes())
	}
	return out.Bytes()
}

// Disassemble calls fn for each instruction that an objdump sees in a binary.
func Disassemble(t testing.TB, objdump, path string, fn func(addr uint64, code []byte, text string)) {
	t.Helper()
	cmd := exec.Command(Tool(t, objdump), "-dw", path)
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
