package resolve_test

import (
	"bytes"
	"debug/macho"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleCrashReports checks that crash reports in Apple's forms, with frames all over the code of a file,
// have, after --filter, llvm-symbolizer's answers for the same addresses. All frames but the first are after
// calls.
func TestOracleCrashReports(t *testing.T) {
	testenv.Oracle(t)
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
		var report, ips strings.Builder
		var asked []uint64
		report.WriteString("Report Version:  104\n\nThread 0 Crashed:\n")
		ips.WriteString("{\"bug_type\":\"309\"}\n{\n\"threads\" : [{\"frames\":[{}")
		n := 0
		for addr := code.Addr; addr < code.Addr+code.Size; addr += 3 {
			fmt.Fprintf(&report, "%-3d %-30s\t0x%016x 0x%x + %d\n", n, c.file, addr+slide, image.Addr+slide, addr-image.Addr)
			fmt.Fprintf(&ips, ",\n{\"imageOffset\":%d,\"imageIndex\":0}", addr-image.Addr)
			asked = append(asked, addr-uint64(min(n, 1)))
			n++
		}
		fmt.Fprintf(&report, "\nBinary Images:\n%#18x - %#18x +%s (1.0) <%s> /Applications/My App.app/Contents/MacOS/%s\n",
			image.Addr+slide, image.Addr+slide+image.Memsz-1, c.file, c.id, c.file)
		fmt.Fprintf(&ips, "]}],\n\"usedImages\" : [{\"base\":%d,\"uuid\":\"%s\",\"path\":\"\\/Applications\\/My App.app\\/%s\"}]\n}\n", image.Addr+slide, c.id, c.file)
		want := oracle.LLVM(t, testenv.Input(t, c.file+".dSYM"), asked, "--functions=short")
		got := strings.Split(filtered(t, c.file, report.String()), "\n")[3:]
		object := ipsFrames(t, filtered(t, c.file, ips.String()))
		found := 0
		for i, answer := range want {
			want, ok := reportFrames(answer)
			if !ok {
				continue
			}
			found++
			if !strings.HasSuffix(got[i], want) {
				t.Errorf("%s, want %s", got[i], want)
			}
			if i > 0 && object[i] != want { // the first frame of the other form is empty
				t.Errorf("%s, want %s", object[i], want)
			}
		}
		if found < 100 {
			t.Errorf("%s: %d of %d places are in the source", c.file, found, n)
		}
	}
}

// filtered returns a report about a file in golden/input after --filter.
func filtered(t *testing.T, file, report string) string {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"symtool", "resolve", "--filter", "--binaries", testenv.Input(t, file), "--binaries", testenv.Input(t, file+".dSYM")}
	if status := app.Run(t.Context(), args, strings.NewReader(report), &out, &errs); status != cli.StatusOK {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	return out.String()
}

// ipsFrames returns the contents of each frame of a JSON report, in the form of reportFrames.
func ipsFrames(t *testing.T, report string) (all []string) {
	t.Helper()
	_, object, _ := strings.Cut(report, "\n")
	var r struct {
		Threads []struct {
			Frames []struct {
				Symbol, SourceFile string
				SourceLine         int
				Inline             bool
			}
		}
	}
	if err := json.Unmarshal([]byte(object), &r); err != nil {
		t.Fatal(err)
	}
	place := " "
	for _, f := range r.Threads[0].Frames[1:] {
		place += fmt.Sprintf("%s at %s:%d", f.Symbol, f.SourceFile, f.SourceLine)
		if f.Inline {
			place += ", inlined by "
			continue
		}
		all, place = append(all, place), " "
	}
	return all
}

// reportFrames returns what --filter writes for an answer of llvm-symbolizer. known is false unless all of it
// is in the source.
func reportFrames(answer []oracle.Frame) (_ string, known bool) {
	var frames []string
	for _, s := range answer {
		if s.Line == 0 || s.Function == "" {
			return "", false
		}
		frames = append(frames, fmt.Sprintf("%s at %s:%d", s.Function, s.File, s.Line))
	}
	return " " + strings.Join(frames, ", inlined by "), len(frames) > 0
}
