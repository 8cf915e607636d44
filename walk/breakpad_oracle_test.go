package walk

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/store"
	"github.com/symtool/symtool/walk/dump"
)

// breakpadVar names a minidump_stackwalk of Breakpad. No distribution has it, so
// that its outputs are recorded in golden/walk/breakpad; with the variable they are
// recorded anew.
const breakpadVar = "SYMTOOL_MINIDUMP_STACKWALK"

// breakpadSays is what Breakpad prints of a dump, recorded as golden file name.
func breakpadSays(t *testing.T, name string, run func(tool string) string) string {
	t.Helper()
	path := filepath.Join(testenv.Root(t), "golden", "walk", "breakpad", name)
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

// Breakpad walks the assembled stacks of STACK WIN records to the same callers:
// address, registers and how it found them. It gets them as minidumps.
func TestOracleBreakpadWin(t *testing.T) {
	tests := append(winRecords[:len(winRecords):len(winRecords)], winSearches...)
	want := breakpadSays(t, "stack-win.txt", func(tool string) string {
		var all bytes.Buffer
		for _, c := range tests {
			fmt.Fprintf(&all, "== %s\n%s", c.name, breakpadFrames(t, tool, c.assemble(t)))
		}
		return all.String()
	})
	var got bytes.Buffer
	for _, c := range tests {
		r := c.assemble(t).walkAll(Config{MaxFrames: 2})
		fmt.Fprintf(&got, "== %s\n%s", c.name, twoFrames(textOf(t, r, TextOptions{Registers: true})))
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// breakpadFrames has Breakpad walk an assembled process.
func breakpadFrames(t *testing.T, tool string, a *assembler) string {
	t.Helper()
	dir := t.TempDir()
	d := a.build()
	d.System.CPU = "x86"
	var dmp bytes.Buffer
	if _, err := Write(&dmp, "minidump", d); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.dmp")
	if err := os.WriteFile(path, dmp.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Modules {
		place, err := store.NewPlace(m.DebugFile, m.DebugID)
		if err != nil {
			t.Fatal(err)
		}
		_ = place
		sym := filepath.Join(dir, "symbols", m.DebugFile, m.DebugID, strings.TrimSuffix(m.DebugFile, ".pdb")+".sym")
		if err := os.MkdirAll(filepath.Dir(sym), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(sym, []byte(a.files[m.DebugFile]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return twoFrames(runBreakpad(t, tool, path, filepath.Join(dir, "symbols")))
}

// twoFrames cuts the first two frames of the first thread out of a text.
func twoFrames(text string) string {
	_, text, _ = strings.Cut(text, "\nThread 0\n")
	text, _, _ = strings.Cut(text, "\n 2  ")
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.TrimRight(text, "\n") + "\n"
}

var _ dump.Dump
