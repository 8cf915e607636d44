package verify

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// noID removes from the dump what identifies its symbols.
func noID(d *dump.Dump) {
	for i := range d.Modules {
		m := &d.Modules[i]
		m.DebugID, m.CodeID, m.BuildID = "", "", nil
	}
}

// The conclusion names what is to blame, and what was lost first.
func TestVerifyBlame(t *testing.T) {
	x := walktest.NewProgram(t)
	// These are symbols of another build under this build's id: where they have _start, and where
	// the stack must end according to them, there is another function.
	foreign := x.EditedStore("foreign", "PUBLIC 190 0 _start\n", "")
	foreignName := filepath.Join(x.Dir, "foreign", "walk-sources.elf", "17F473446FAE06D27ECE5A270227EC290", "walk-sources.elf.sym")
	edit(t, foreignName, "FUNC 200 3a 0 variable", "FUNC 200 3a 0 _start")
	// A rule by which the stack ends where threads begin according to the symbols, but continues
	// according to the binary.
	cloned := x.EditedStore("cloned", "FUNC 200 3a 0 variable", "FUNC 200 3a 0 clone")
	clonedName := strings.Replace(foreignName, "foreign", "cloned", 1)
	editRules(t, clonedName, "200")
	goes := x.EditedStore("goes", "FUNC 280 14 0 many", "FUNC 280 14 0 runtime.asmcgocall_no_g")

	for _, c := range []struct {
		name    string
		sources *walk.SymbolSet
		change  func(*dump.Dump)
		blame   Blame
		says    string // in the conclusion
	}{
		{"foreign start", walks.SymbolSources(t, foreign), nil, BlameSymbols, "the process began at 0x400190, the symbols have _start at 0x400200: they are another build's"},
		{"foreign start, binary", walks.BothSources(t, foreign, x.Binary), nil, BlameSymbols, "they are another build's"},
		{"false start", walks.BothSources(t, cloned, x.Binary), nil, BlameSymbols, "rule for walk-sources.elf+0x225 (clone): whether there is a caller: by the symbol file no caller"},
		{"other stack", walks.BothSources(t, goes, x.Binary), func(d *dump.Dump) { put(t, d, 0x4002f5, 0x1234567) }, BlameBinary, "switches to another stack"},
		{"overwritten, no binary", walks.SymbolSources(t, x.Store), func(d *dump.Dump) { put(t, d, 0x4002f5, 0x1234567) }, NoBlame,
			"walk-sources.elf+0x28d (many): the caller 0x1234567, by symbols, does not follow a call: the rule is wrong, or the stack was overwritten"},
		{"cleared", walks.BothSources(t, x.Store, x.Binary), func(d *dump.Dump) { put(t, d, 0x4002f5, 0) }, BlameDump,
			"walk-sources.elf+0x28d (many): the return address is 0x0, but a return address 0x4002e4 is 72 bytes above sp, and all rules agree"},
		{"cleared, no binary", walks.SymbolSources(t, x.Store), func(d *dump.Dump) { put(t, d, 0x4002f5, 0) }, NoBlame, "is wrong, or the stack was overwritten"},
		{"no rules", walks.SymbolSources(t, x.ChangedStore("bare", walktest.NoRules)), nil, BlameSymbols, "12 after walk-sources.elf, whose symbol file has no rules for crash, variable and others"},
		{"no rules anywhere", walks.BothSources(t, x.ChangedStore("bare", walktest.NoRules), x.BareBinary()), nil, BlameBinary,
			"12 after walk-sources.elf, for which neither the symbol file nor the binary has rules for crash, variable and others"},
		{"no id", walks.SymbolSources(t, t.TempDir()), noID, BlameDump, "walk-sources.elf has no symbols, as the dump does not hold its id"},
		{"no id, no stack", walks.SymbolSources(t, t.TempDir()), func(d *dump.Dump) {
			noID(d)
			d.Memory.Regions = nil
		}, BlameDump, "the dump does not hold the stack"},
		{"missing, no stack", walks.SymbolSources(t, t.TempDir()), func(d *dump.Dump) { d.Memory.Regions = nil }, BlameDump, "the dump does not hold the stack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := walktest.Opened(t, x.Core)
			if c.change != nil {
				writable(d)
				c.change(d)
			}
			w := walk.NewWalker(c.sources, walk.Config{})
			r, err := w.Walk(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Judge(context.Background(), w, r, Default())
			if err != nil {
				t.Fatal(err)
			}
			said := v.Findings[0].sentence()
			if v.Holds || v.Blame != c.blame || !strings.Contains(said, c.says) {
				t.Errorf("blame %q, %s; want %q, %q", v.Blame, said, c.blame, c.says)
			}
			checkConclusion(t, v)
		})
	}
}

// checkConclusion checks that the conclusion is one line, short enough for a log.
func checkConclusion(t *testing.T, v *Verdict) {
	t.Helper()
	who := string(v.Blame) + " to blame: "
	if v.Blame == NoBlame {
		who = "not decided: "
	}
	if n := utf8.RuneCountInString(v.Conclusion); n >= 120 || strings.Contains(v.Conclusion, "\n") || !v.Holds && !strings.HasPrefix(v.Conclusion, who) {
		t.Errorf("conclusion of %d runes: %s", n, v.Conclusion)
	}
}

func edit(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(text, []byte(old)) != 1 {
		t.Fatalf("want %q once", old)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(with), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

// editRules changes a symbol file so that the function at an address has no caller.
func editRules(t *testing.T, path, rva string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	skip := false
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 4 && f[2] == "INIT" {
			if skip = f[3] == rva; skip {
				lines = append(lines, "STACK CFI INIT "+rva+" "+f[4]+" .cfa: $rsp 8 + .ra: 1")
			}
		}
		if !skip {
			lines = append(lines, line)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A binary without call frame information has rules from its instructions, with which all stacks end where threads begin.
func TestVerifyInstructions(t *testing.T) {
	x := walktest.NewProgram(t)
	w := walk.NewWalker(walks.BinarySources(t, x.BareBinary()), walk.Config{})
	r, err := w.Walk(context.Background(), walktest.Opened(t, x.Core))
	if err != nil {
		t.Fatal(err)
	}
	v, err := Judge(context.Background(), w, r, Default())
	if err != nil {
		t.Fatal(err)
	}
	if want := "the symbols hold: 12 of 12 caller frames by CFI"; !v.Holds || v.Conclusion != want {
		t.Errorf("%s, want %s", v.Conclusion, want)
	}
}
