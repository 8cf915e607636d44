package main

import (
	"bytes"
	"debug/macho"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// A crash report of Apple's form, with frames all over the code of a file, has after --filter what llvm-symbolizer
// answers for the same addresses.
func TestOracleCrashReports(t *testing.T) {
	testenv.Oracle(t)
	symbolizer := testenv.Tool(t, "llvm-symbolizer-22")
	for _, c := range []struct{ file, id string }{
		{"macho-arm64", "4c4c44fc-5555-3144-a1f3-548c71e2662f"},
		{"macho-x86_64", "4C4C441E-5555-3144-A126-AF3F2A8D41D4"},
	} {
		f, err := macho.Open(testenv.Input(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		image, code := f.Segment("__TEXT"), f.Section("__text")
		const slide = 0x2a3c000
		var report, questions strings.Builder
		report.WriteString("Report Version:  104\n\nThread 0 Crashed:\n")
		n := 0
		for addr := code.Addr; addr < code.Addr+code.Size; addr += 3 {
			fmt.Fprintf(&report, "%-3d %-30s\t0x%016x 0x%x + %d\n", n, c.file, addr+slide, image.Addr+slide, addr-image.Addr)
			fmt.Fprintf(&questions, "%#x\n", addr)
			n++
		}
		fmt.Fprintf(&report, "\nBinary Images:\n%#18x - %#18x +%s (1.0) <%s> /Applications/My App.app/Contents/MacOS/%s\n",
			image.Addr+slide, image.Addr+slide+image.Memsz-1, c.file, c.id, c.file)
		var out, errs bytes.Buffer
		args := []string{"symtool", "resolve", "--filter", "--binaries", testenv.Input(t, c.file), "--binaries", testenv.Input(t, c.file+".dSYM")}
		if status := run(t.Context(), args, strings.NewReader(report.String()), &out, &errs); status != cli.StatusOK {
			t.Fatalf("status %d: %s", status, errs.String())
		}
		cmd := exec.Command(symbolizer, "--output-style=JSON", "--functions=short", "--obj="+testenv.Input(t, c.file+".dSYM"))
		cmd.Stdin = strings.NewReader(questions.String())
		answers, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got, found := strings.Split(out.String(), "\n")[3:], 0
		for i, answer := range strings.Split(strings.TrimSpace(string(answers)), "\n") {
			want, ok := reportFrames(t, answer)
			if !ok {
				continue
			}
			if found++; !strings.HasSuffix(got[i], want) {
				t.Errorf("%s, want %s", got[i], want)
			}
		}
		if found < 100 {
			t.Errorf("%s: %d of %d places are in the source", c.file, found, n)
		}
	}
}

// reportFrames returns what --filter writes for an answer of llvm-symbolizer, if all of it is in the source.
func reportFrames(t *testing.T, answer string) (_ string, known bool) {
	t.Helper()
	var at struct {
		Symbol []struct {
			FileName, FunctionName string
			Line                   int
		}
	}
	if err := json.Unmarshal([]byte(answer), &at); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	var frames []string
	for _, s := range at.Symbol {
		if s.Line == 0 || s.FunctionName == "" {
			return "", false
		}
		frames = append(frames, fmt.Sprintf("%s at %s:%d", s.FunctionName, s.FileName, s.Line))
	}
	return " " + strings.Join(frames, ", inlined by "), len(frames) > 0
}
