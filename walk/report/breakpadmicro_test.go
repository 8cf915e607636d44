package report

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// TestBreakpadMicrodumps expects the outputs that Breakpad records for its microdumps, byte by byte, except for a rule:
// on ARM Breakpad prints a guess at the place of the call instruction, 2 (Thumb) or 4 bytes before the return address,
// and leaves the Thumb bit in program counters. We print the return address, as both programs do on x86, and the actual
// addresses of instructions. On ARM64 we also find one more frame, the program's entry, by the frame pointer of libc's
// function.
func TestBreakpadMicrodumps(t *testing.T) {
	for _, c := range []struct {
		cpu           string
		first, others int64 // what Breakpad's offsets lack, in the first frame and in the others
		thumb         bool
		more          int // frames that only we find
	}{{"arm", -1, 1, true, 0}, {"arm64", 0, 4, false, 1}} {
		name := testenv.Shared(t, "data", "microdumps", "microdump-"+c.cpu+".dmp")
		r := walks.Dump(t, name, walks.SymbolSources(t, testenv.Shared(t, "data", "microdumps", "symbols")), walk.Config{})
		s := &r.Stacks[0]
		whole := len(s.Frames) - c.more
		for _, f := range s.Frames[whole:] {
			if f.By != walk.ByFramePointer {
				t.Errorf("%s: a frame that Breakpad lacks is found by %v", c.cpu, f.By)
			}
		}
		s.Frames = s.Frames[:whole]
		var text, machine bytes.Buffer
		if err := WriteText(&text, r, TextOptions{Registers: true}); err != nil {
			t.Fatal(err)
		}
		if err := WriteMachine(&machine, r); err != nil {
			t.Fatal(err)
		}
		for form, got := range map[string]string{"stackwalk": text.String(), "stackwalk.machine_readable": machine.String()} {
			want, err := os.ReadFile(testenv.Shared(t, "data", "microdumps", "microdump."+form+"-"+c.cpu+".out"))
			if err != nil {
				t.Fatal(err)
			}
			if want := ours(string(want), c.first, c.others, c.thumb); got != want {
				t.Errorf("%s: got\n%swant\n%s", form, got, want)
			}
		}
	}
}

var (
	frameOffset = regexp.MustCompile(`^ ?(?:0\||)( ?\d+)[ |].*?(0x[0-9a-f]+)\]?$`)
	thumbPC     = regexp.MustCompile(`pc = 0x[0-9a-f]+[13579bdf]$`)
)

// ours applies the rule of TestBreakpadMicrodumps to an output of Breakpad's.
func ours(text string, first, others int64, thumb bool) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if m := frameOffset.FindStringSubmatchIndex(line); m != nil {
			more := others
			if n := strings.TrimSpace(line[m[2]:m[3]]); n == "0" {
				more = first
			}
			offset, _ := strconv.ParseInt(line[m[4]:m[5]], 0, 64)
			lines[i] = line[:m[4]] + fmt.Sprintf("%#x", offset+more) + line[m[5]:]
			lines[i] = strings.Replace(lines[i], "0x0x", "0x", 1)
		}
		if thumb && thumbPC.MatchString(line) {
			last := line[len(line)-1]
			digit, _ := strconv.ParseInt(string(last), 16, 8)
			lines[i] = line[:len(line)-1] + strconv.FormatInt(digit&^1, 16)
		}
	}
	return strings.Join(lines, "\n")
}
