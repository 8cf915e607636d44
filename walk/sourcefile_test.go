package walk

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// sourcesFrames lists the functions of the walk-sources fixture, with the return
// addresses that gdb 13 prints.
var sourcesFrames = []string{
	"crash", "variable 0x400226", "aligned 0x400273", "many 0x40028e",
	"recurse 0x4002f5", "recurse 0x4002e4", "recurse 0x4002e4", "recurse 0x4002e4", "recurse 0x4002e4", "recurse 0x4002e4",
	"each+called 0x40032e", "main 0x400189", "_start 0x40019b",
}

// binarySources returns a SymbolSet of binaries only.
func binarySources(t testing.TB, paths ...string) *SymbolSet {
	t.Helper()
	s := &SymbolSet{Binaries: walktest.Binaries(t, paths...)}
	t.Cleanup(func() { s.Close() })
	return s
}

// writeWithoutRules puts the symbols of a binary without STACK CFI into a store.
func writeWithoutRules(path, to string) error {
	m, err := walktest.SymbolsOf(path)
	if err != nil {
		return err
	}
	m.CFI = symfmt.CFITable{}
	return walktest.WriteModule(m, to)
}

// stackText returns the parts of a stack that do not depend on the technique.
func stackText(r *Result) string {
	var b strings.Builder
	for _, s := range r.Stacks {
		fmt.Fprintf(&b, "thread %d\n", r.Dump.Threads[s.Thread].ID)
		for _, f := range s.Frames {
			fmt.Fprintf(&b, "%#x %#x", f.PC, f.SP)
			for _, n := range f.Names {
				fmt.Fprintf(&b, " %s %s:%d", n.Function, filepath.Base(n.File), n.Line)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// A program without a C library that keeps frame pointers and has .eh_frame and .sframe has the
// same stack with each of these, with rules from its instructions if it has neither, with its symbol file, and after its core was converted to a
// minidump.
func TestSources(t *testing.T) {
	binary, core := testenv.Input(t, "walk-sources.elf"), testenv.Input(t, "walk-sources.core.gz")
	dir := t.TempDir()
	if err := walktest.WriteSymbols(binary, dir); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "bare") // names and lines, no rules
	if err := writeWithoutRules(binary, bare); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, c := range []struct {
		by      Technique
		sources *SymbolSet
	}{
		{BySymbols, symbolSources(t, dir)},
		{ByEHFrame, binarySources(t, binary)},
		{ByEHFrame, &SymbolSet{Symbols: symbolSources(t, bare).Symbols, Binaries: binarySources(t, binary).Binaries}},
		{BySFrame, binarySources(t, binary)},
		{ByCode, binarySources(t, walktest.NewProgram(t).BareBinary())},
		{ByFramePointer, symbolSources(t, bare)},
	} {
		for _, path := range []string{core, walktest.AsMinidump(t, core)} {
			title := fmt.Sprintf("%v, %s", c.by, filepath.Ext(path))
			r := walkFile(t, path, c.sources, Config{Techniques: []Technique{c.by}})
			s := &r.Stacks[0]
			for i, f := range s.Frames {
				if i > 0 && f.By != c.by {
					t.Errorf("%s: frame %d is by %v", title, i, f.By)
				}
			}
			if !s.End.Clean() {
				t.Errorf("%s: ends by %v: %s", title, s.End, s.Why)
			}
			got := stackText(r)
			if want == "" {
				want = got
				checkSourcesFrames(t, s)
			}
			if got != want {
				t.Errorf("%s:\n%swant\n%s", title, got, want)
			}
		}
	}
}

func checkSourcesFrames(t *testing.T, s *Stack) {
	t.Helper()
	var got []string
	for _, f := range s.Frames {
		var names []string
		for _, n := range f.Names {
			names = append(names, n.Function)
		}
		slices.Reverse(names)
		text := strings.Join(names, "+")
		if !f.Interrupted {
			text += fmt.Sprintf(" %#x", f.PC)
		}
		got = append(got, text)
	}
	if !slices.Equal(got, sourcesFrames) {
		t.Errorf("frames are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(sourcesFrames, "\n"))
	}
}

// TestConvertedStacks walks every crash case again after its dump was converted
// into the other format and back.
func TestConvertedStacks(t *testing.T) {
	sources := symbolSources(t, walktest.CrashStore(t))
	for _, name := range walktest.CrashCases {
		for _, kind := range []string{"dump.dmp", "core"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				d := walktest.Opened(t, testenv.Shared(t, "data", "crashes", name, kind))
				want := ""
				for _, format := range []string{"", "minidump", "core", "core", "minidump"} {
					if format != "" {
						data, _ := walktest.Written(t, format, d)
						d = walktest.Parsed(t, data)
					}
					r, err := NewWalker(sources, Config{}).Walk(context.Background(), d)
					if err != nil {
						t.Fatal(err)
					}
					got := stackText(r)
					if want == "" {
						want = got
					}
					if got != want {
						t.Fatalf("as %s:\n%swant\n%s", format, got, want)
					}
				}
			})
		}
	}
}
