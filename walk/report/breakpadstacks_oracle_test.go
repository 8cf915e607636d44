package report

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// Breakpad's walker finds the same frames as ours in a minidump that symtool made from the kernel's
// core. It finds none in LLDB's minidump, in which modules have the size of their first segment.
func TestStacksBreakpad(t *testing.T) {
	folder, store := testenv.Input(t, "crashes"), t.TempDir()
	for _, name := range []string{"stacks", "libnet.so.1"} {
		if err := walktest.WriteSymbols(filepath.Join(folder, name), store); err != nil {
			t.Fatal(err)
		}
	}
	path := walktest.AsMinidump(t, filepath.Join(folder, "stacks.core.gz"))
	r := walks.Dump(t, path, walks.SymbolSources(t, store), walk.Config{})
	want := frameLines(breakpadSays(t, "stacks.machine", func(tool string) string { return runBreakpad(t, tool, "-m", path, store) }))
	got := frameLines(machineOf(t, r))
	// Where a rule says that there is no caller (.ra: 0), Breakpad goes on to scan.
	place := func(frame string) string { return strings.Join(strings.SplitN(frame, "|", 3)[:2], "|") }
	want = slices.DeleteFunc(want, func(w string) bool {
		return !slices.ContainsFunc(got, func(g string) bool { return place(g) == place(w) })
	})
	if !slices.Equal(got, want) || len(got) != 18 {
		t.Errorf("%d frames\n%s\nBreakpad has\n%s", len(got), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// frameLines returns the lines of the pipe format that are frames.
func frameLines(machine string) (frames []string) {
	for line := range strings.Lines(machine) {
		if isFrame(line) {
			frames = append(frames, strings.TrimSpace(line))
		}
	}
	return frames
}
