package report

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// If Breakpad is available, it walks thousands of stacks of random words and records to
// the same frames, as long as all have records.
func TestOracleBreakpadRandomWin(t *testing.T) {
	tool := os.Getenv(breakpadVar)
	if tool == "" {
		t.Skip(breakpadVar + " names no minidump_stackwalk")
	}
	frames, searched := 0, 0
	const seeds = 1500
	for seed := range uint64(seeds) {
		a := randomWin(t, rand.New(rand.NewPCG(seed, 1)))
		want := winFrames(breakpadText(t, tool, a))
		r := walks.Assembled(a, walk.Config{})
		got := winFrames(textOf(t, r, TextOptions{Registers: true}))
		if r.Stacks[0].End == walk.EndStuck && len(r.Stacks[0].Frames) == 1 && strings.HasPrefix(want, got) {
			continue // Breakpad assumes that the topmost frame leaves nothing on the stack, even after a call
		}
		if got != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s\ntrace\n%s\nsymbols\n%s", seed, got, want, strings.Join(r.Stacks[0].Trace, "\n"), a.Files["app.exe"])
		}
		frames += strings.Count(got, "Found by")
		searched += strings.Count(got, "scanning")
	}
	t.Logf("%d frames, %d of them found by searches", frames, searched)
	if frames < 5000 || searched < 1000 {
		t.Error("too few")
	}
}

// randomWin returns a process with a random stack. All functions have arguments
// of the same size, because Breakpad takes the size from another function
// than we do (see stackwin.go).
func randomWin(t *testing.T, rng *rand.Rand) *walktest.Assembler {
	a := walktest.Assemble(t, arch.X86, dump.Windows)
	programs := []string{
		walktest.WinTraditional, walktest.WinNoPointer, walktest.WinTraditional + " $ebx $T0 4 - ^ = $esi $T0 8 - ^ =", walktest.WinNoPointer + " $ebp $T0 8 - ^ =",
		"$T1 $ebp 4 + = $T0 $ebp = $L $T0 8 @ = $eip .raSearchStart ^ = $ebp $T0 ^ = $esp .raSearchStart 4 + =",
		"$eip $ebx ^ = $esp $esp 8 + =", "$eip .raSearch ^ = $ebp $ebp = $esp .raSearch .cbCalleeParams + 4 + =", "$esp 4 =", "1", "0", "1", "0",
	}
	params := 4 * rng.IntN(4)
	var symbols strings.Builder
	for rva := 0x1000; rva < 0x5000; rva += 0x1000 {
		fmt.Fprintf(&symbols, "FUNC %x 100 %x f%x\n", rva, params, rva)
		last, has := programs[rng.IntN(len(programs))], 1
		if len(last) == 1 {
			has = 0
		}
		fmt.Fprintf(&symbols, "STACK WIN %d %x 100 0 0 %x %x %x 0 %d %s\n",
			4*rng.IntN(2), rva, params, 4*rng.IntN(6), 4*rng.IntN(6), has, last)
	}
	a.Module("app.exe", 0x400000, 0x5000, symbols.String())
	a.At(0x80000000)
	code := func() int { return 0x401001 + 0x1000*rng.IntN(4) + rng.IntN(0xff) }
	for range 20 + rng.IntN(200) {
		switch rng.IntN(8) {
		case 0, 1:
			a.Words(code())
		case 2, 3:
			a.Words(0x80000000 + 4*rng.IntN(220))
		case 4:
			a.Words(0x400000 + rng.IntN(0x5000))
		case 5:
			a.Words(0)
		default:
			a.Words(int64(rng.Uint32()))
		}
	}
	a.Regs("$eip", code(), "$esp", 0x80000000+4*rng.IntN(10), "$ebp", 0x80000000+4*rng.IntN(100), "$ebx", 0x80000000+4*rng.IntN(30), "$esi", 1, "$edi", 2)
	return allKnown(a)
}

// winFrames cuts the frames of the first thread out of a text, up to the first
// that has no record, or that was found by a frame pointer.
func winFrames(text string) string {
	_, text, _ = strings.Cut(text, "\nThread 0\n")
	text, _, _ = strings.Cut(text, "\n\n")
	frames := regexp.MustCompile(`(?m)^ ?\d+  `).FindAllStringIndex(text, -1)
	for i, at := range frames {
		end := len(text)
		if i+1 < len(frames) {
			end = frames[i+1][0]
		}
		switch frame := text[at[0]:end]; {
		case strings.Contains(frame, "frame pointer"):
			return strings.TrimSpace(text[:at[0]])
		case !strings.Contains(frame, "!f"):
			return strings.TrimSpace(text[:end]) // the next frame was not found by a record
		}
	}
	return strings.TrimSpace(text)
}
