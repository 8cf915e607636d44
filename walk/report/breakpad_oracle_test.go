package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// breakpadVar names Breakpad's minidump_stackwalk. As no distribution has it, its outputs
// are recorded in golden/walk/report/breakpad. If the variable is set, they are recorded
// again.
const breakpadVar = "SYMTOOL_MINIDUMP_STACKWALK"

// breakpadSays returns Breakpad's output for a dump, recorded as the golden file name.
func breakpadSays(t *testing.T, name string, run func(tool string) string) string {
	t.Helper()
	path := filepath.Join(testenv.Root(t), "golden", "walk", "report", "breakpad", name)
	if tool := os.Getenv(breakpadVar); tool != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(run(tool)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func runBreakpad(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	return strings.ReplaceAll(string(out), "\r", "")
}

// Breakpad walks minidumps of the assembled stacks of STACK WIN records to the same
// callers: address, registers and how it found them.
func TestOracleBreakpadWin(t *testing.T) {
	tests := append(walktest.WinRecords[:len(walktest.WinRecords):len(walktest.WinRecords)], walktest.WinSearches...)
	want := breakpadSays(t, "stack-win.txt", func(tool string) string {
		var all bytes.Buffer
		for _, c := range tests {
			fmt.Fprintf(&all, "== %s\n%s", c.Name, breakpadFrames(t, tool, allKnown(c.Assemble(t))))
		}
		return all.String()
	})
	var got bytes.Buffer
	for _, c := range tests {
		r := walks.Assembled(allKnown(c.Assemble(t)), walk.Config{MaxFrames: 2})
		fmt.Fprintf(&got, "== %s\n%s", c.Name, twoFrames(textOf(t, r, TextOptions{Registers: true})))
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// allKnown sets the unknown registers of a thread to 0: for Breakpad all registers are
// known.
func allKnown(a *walktest.Assembler) *walktest.Assembler {
	var zeros []any
	for _, r := range a.Arch.Regs {
		zeros = append(zeros, r.Name, 0)
	}
	a.Threads[0] = append(zeros, a.Threads[0]...)
	return a
}

// breakpadFrames returns the first two frames of Breakpad's walk of an
// assembled process.
func breakpadFrames(t *testing.T, tool string, a *walktest.Assembler) string {
	t.Helper()
	return twoFrames(breakpadText(t, tool, a))
}

// breakpadText returns what Breakpad prints of an assembled process.
func breakpadText(t *testing.T, tool string, a *walktest.Assembler) string {
	t.Helper()
	dir := t.TempDir()
	d := a.Build()
	d.System.CPU = "x86"
	var dmp bytes.Buffer
	if _, err := dumpfile.Write(&dmp, "minidump", d); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.dmp")
	if err := os.WriteFile(path, dmp.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Modules {
		sym := filepath.Join(dir, "symbols", m.DebugFile, m.DebugID, strings.TrimSuffix(m.DebugFile, ".pdb")+".sym")
		if err := os.MkdirAll(filepath.Dir(sym), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(sym, []byte(a.Files[m.DebugFile]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return runBreakpad(t, tool, path, filepath.Join(dir, "symbols"))
}

// twoFrames cuts the first two frames of the first thread out of a text.
func twoFrames(text string) string {
	_, text, _ = strings.Cut(text, "\nThread 0\n")
	text, _, _ = strings.Cut(text, "\n 2  ")
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.TrimRight(text, "\n") + "\n"
}

// breakpadDumps lists the shared dumps that Breakpad can read, with the number of frames
// of its walk that equal ours, for all threads in its order; -1 for all. Where they are
// fewer, the reason is given.
var breakpadDumps = []struct {
	path   string
	frames int
}{
	// Where the saved $rbp is 0, the chain of frame pointers ends with that frame. Breakpad drops
	// the frame and instead takes the first word of the stack that looks like a return address.
	{"breakpad/linux_divide_by_zero", 2},
	{"breakpad/linux_inline", 1},
	{"breakpad/linux_null_read_av", -1},
	{"breakpad/linux_overflow", -1},
	{"breakpad/minidump2", -1},
	{"breakpad/read_av_conditional", -1},
	{"breakpad/thread_name_list", -1},
	{"breakpad/tiny-exe-with-cet-xsave", -1},
	{"rust-minidump/pipeline-inlines-macos-segv", -1},
	{"rust-minidump/simple-crashpad", -1},
	{"rust-minidump/test", -1},
}

// Breakpad's output for all available dumps equals ours, except for the differences in
// breakpadRules.
func TestOracleBreakpadDumps(t *testing.T) {
	folder := testenv.Shared(t, "data", "minidumps")
	stores := []string{filepath.Join(folder, "breakpad", "symbols"), filepath.Join(folder, "rust-minidump", "symbols")}
	lines := 0
	for _, c := range breakpadDumps {
		t.Run(c.path, func(t *testing.T) {
			path := filepath.Join(folder, c.path+".dmp")
			r := walks.Dump(t, path, walks.SymbolSources(t, stores...), walk.Config{})
			name := strings.ReplaceAll(c.path, "/", "-")
			human := breakpadSays(t, name+".txt", func(tool string) string {
				return runBreakpad(t, tool, append([]string{path}, stores...)...)
			})
			machine := breakpadSays(t, name+".machine", func(tool string) string {
				return runBreakpad(t, tool, append([]string{"-m", path}, stores...)...)
			})
			lines += compareBreakpad(t, r, human, textOf(t, r, TextOptions{Registers: true}), c.frames)
			lines += compareBreakpad(t, r, machine, machineOf(t, r), c.frames)
			if c.frames >= 0 || !strings.HasPrefix(c.path, "breakpad/") {
				return // Breakpad prints the stack of a macOS dump endlessly
			}
			stack := breakpadSays(t, name+".stack", func(tool string) string {
				return runBreakpad(t, tool, append([]string{"-s", path}, stores...)...)
			})
			lines += compareBreakpad(t, r, stack, textOf(t, r, TextOptions{Registers: true, Stack: true}), c.frames)
		})
	}
	t.Logf("%d lines are equal", lines)
}

// If Breakpad is available, its output for the crashes equals ours, too. Their symbols are our
// own.
func TestOracleBreakpadCrashes(t *testing.T) {
	tool := os.Getenv(breakpadVar)
	if tool == "" {
		t.Skip(breakpadVar + " names no minidump_stackwalk")
	}
	dir := walktest.CrashStore(t)
	for _, name := range walktest.CrashCases {
		t.Run(name, func(t *testing.T) {
			path := testenv.Shared(t, "data", "crashes", name, "dump.dmp")
			r := walks.Dump(t, path, walks.SymbolSources(t, dir), walk.Config{})
			theirs, ours := withoutSignals(runBreakpad(t, tool, "-m", path, dir), machineOf(t, r))
			compareBreakpad(t, r, theirs, ours, -1)
		})
	}
}

// withoutSignals drops the frames that signal handlers return to, and those that
// were interrupted: Breakpad looks up the address before theirs.
func withoutSignals(theirs, ours string) (string, string) {
	for _, m := range regexp.MustCompile(`(?m)^(\d+)\|(\d+)\|[^|]*\|__restore_rt\|`).FindAllStringSubmatch(ours, -1) {
		n, _ := strconv.Atoi(m[2])
		line := regexp.MustCompile(fmt.Sprintf(`(?m)^%s\|(%d|%d)\|.*\n`, m[1], n, n+1))
		theirs, ours = line.ReplaceAllString(theirs, ""), line.ReplaceAllString(ours, "")
	}
	return theirs, ours
}

// breakpadRules applies the differences that are allowed to Breakpad's output, or to ours.
func breakpadRules(theirs, ours string) (string, string) {
	// This Breakpad is older than the one that wrote minidump2's expected output,
	// and does not print the parameters of an exception.
	lines := strings.SplitAfter(ours, "\n")
	ours = ""
	for _, line := range lines {
		if line != "Crash parameters:\n" && !strings.HasPrefix(line, "    value: 0x") {
			ours += line
		}
	}
	// A version of zeros counts as missing.
	theirs = strings.ReplaceAll(strings.ReplaceAll(theirs, "  0.0.0.0", "  ???"), "|0.0.0.0|", "||")
	return theirs, ours
}

// compareBreakpad compares outputs. If frames is not negative, only that many frames must
// be equal. After the end of a stack Breakpad continues with frames that it finds by
// scanning: these are ignored, as are its complaints about modules without symbols that
// occur only there. It returns the number of equal lines.
func compareBreakpad(t *testing.T, r *walk.Result, theirs, ours string, frames int) (equal int) {
	t.Helper()
	theirs, ours = breakpadRules(theirs, ours)
	w, g := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	seen, over := 0, false
	for len(w) > 0 && len(g) > 0 {
		switch {
		case isFrame(w[0]) && (seen == frames || !sameStack(w[0], g[0]) && clean(r)):
			if seen == frames {
				g = afterFrames(g)
			}
			w, over, seen = afterFrames(w), true, seen+1
			continue
		case over && strings.HasPrefix(w[0], g[0]) && strings.HasPrefix(w[0][len(g[0]):], "  (WARNING: No symbols"):
		case w[0] != g[0]:
			t.Fatalf("got\n%q\nwant\n%q\nall\n%s\nBreakpad's\n%s", g[0], w[0], ours, theirs)
		}
		if isFrame(w[0]) {
			seen++
		}
		w, g, equal = w[1:], g[1:], equal+1
	}
	if len(w) != len(g) {
		t.Errorf("%d lines more than Breakpad's: %q, %q", len(g)-len(w), g, w)
	}
	return equal
}

var breakpadFrame = regexp.MustCompile(`^ ?\d+  |^\d+\|`)

func isFrame(line string) bool { return breakpadFrame.MatchString(line) }

// sameStack reports whether a line belongs to the same stack as a frame's line.
func sameStack(frame, line string) bool {
	if thread, _, ok := strings.Cut(frame, "|"); ok && frame[0] != ' ' {
		return strings.HasPrefix(line, thread+"|")
	}
	return line != ""
}

// afterFrames drops the lines up to the end of the stack of the first line.
func afterFrames(lines []string) []string {
	for first := lines[0]; len(lines) > 0 && sameStack(first, lines[0]); {
		lines = lines[1:]
	}
	return lines
}

// clean reports whether all walks reached the end of their stacks.
func clean(r *walk.Result) bool {
	for i := range r.Stacks {
		if !r.Stacks[i].End.Clean() {
			return false
		}
	}
	return true
}
