package symfmt

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const generated = 3000

// TestRoundTripGenerated checks that read(write(m)) is m for canonical m, that write(read(b))
// is b for canonical b, and that the number of jobs does not matter.
func TestRoundTripGenerated(t *testing.T) {
	seeds := uint64(generated)
	if testing.Short() {
		seeds = generated / 10
	}
	for seed := range seeds {
		m := newGenerator(seed).module()
		m.Canonicalize()
		text := mustWrite(t, m, 1)
		again := mustRead(t, text)
		if !again.Equal(m) {
			t.Fatalf("seed %d: read(write(m)) is\n%swant\n%s", seed, show(again), show(m))
		}
		if w := mustWrite(t, again, 3); !bytes.Equal(w, text) {
			t.Fatalf("seed %d: write(read(b)) is\n%swant\n%s", seed, w, text)
		}
		again.Canonicalize()
		if !again.Equal(m) {
			t.Fatalf("seed %d: Canonicalize changes a canonical module to\n%swant\n%s", seed, show(again), show(m))
		}
	}
}

// TestWriteLeavesModule checks that Write orders what it writes but not the
// module, and that any module's text can be read.
func TestWriteLeavesModule(t *testing.T) {
	for seed := range uint64(generated / 3) {
		m, copied := newGenerator(seed).module(), newGenerator(seed).module()
		text := mustWrite(t, m, 2)
		if !reflect.DeepEqual(m, copied) {
			t.Fatalf("seed %d: Write changed the module", seed)
		}
		read, report, err := read(bytes.NewReader(text), ReadOptions{Tolerant: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range report.Problems {
			if msg := p.Err.Error(); !strings.Contains(msg, "is not declared") && !strings.Contains(msg, "is not above the previous") {
				t.Fatalf("seed %d: %v in\n%s", seed, p, text)
			}
		}
		if len(read.Funcs) != len(m.Funcs) || len(read.Publics) != len(m.Publics) || len(read.CFI.Blocks) != len(m.CFI.Blocks) {
			t.Fatalf("seed %d: records are lost", seed)
		}
	}
}

// meaning lists the contents of each FUNC in a module, with names instead of numbers.
func meaning(m *Module) []string {
	files, origins := m.FileNames(), m.OriginNames()
	file := func(id FileID) string {
		name, ok := files.Name(id)
		if !ok {
			return NoFile
		}
		return CleanName(name, NoFile)
	}
	var all []string
	for i := range m.Funcs {
		f := &m.Funcs[i]
		var b strings.Builder
		fmt.Fprintf(&b, "%x %x %x %q %v\n", f.RVA, f.Size, f.ParamSize, CleanName(f.Name, NoName), f.Multiple)
		for in := range f.Inlines() {
			call, origin := NoFile, NoName
			if !in.NoFile {
				call = file(in.CallFile)
			}
			if name, ok := origins.Name(in.Origin); ok {
				origin = CleanName(name, NoName)
			}
			fmt.Fprintf(&b, "  %d %d %q %q %v\n", in.Depth, in.CallLine, call, origin, in.Ranges)
		}
		for l := range f.Lines() {
			fmt.Fprintf(&b, "  %x %x %d %q\n", l.RVA, l.Size, l.Num, file(l.File))
		}
		all = append(all, b.String())
	}
	slices.Sort(all)
	return all
}

func TestCanonicalizeKeepsMeaning(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for seed := range uint64(generated / 3) {
		m := newGenerator(seed).module()
		want := meaning(m)
		m.Canonicalize()
		if got := meaning(m); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q\nwant %q", seed, got, want)
		}
	}
}

// TestRealFiles checks that, for real files, write(read(b)) differs from b only
// in the order of records, blanks around names and the end of the last line.
func TestRealFiles(t *testing.T) {
	for name, text := range symbolFiles(t) {
		t.Run(name, func(t *testing.T) {
			m := mustRead(t, text)
			once := mustWrite(t, m, 2)
			if again := mustWrite(t, mustRead(t, once), 1); !bytes.Equal(again, once) {
				t.Error("write(read(write(read(b)))) differs from write(read(b))")
			}
			if got, want := sortedLines(once), sortedLines(text); !slices.Equal(got, want) {
				t.Errorf("%d lines, want %d: more than the order changed", len(got), len(want))
			}
			want := meaning(m)
			m.Canonicalize()
			if got := meaning(m); !slices.Equal(got, want) {
				t.Error("Canonicalize changes the meaning")
			}
			canonical := mustWrite(t, m, 2)
			if !mustRead(t, canonical).Equal(m) {
				t.Error("read(write(m)) differs from canonical m")
			}
		})
	}
}

// sortedLines returns the lines of text, without blanks at their ends, sorted.
func sortedLines(text []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	slices.Sort(lines)
	return lines
}

// TestCanonicalRealFiles checks that the output of symtool dump is canonical, and so are two
// files from others.
func TestCanonicalRealFiles(t *testing.T) {
	golden := filepath.Join("golden", "dwarf2sym")
	others := []string{"linux_inline.old.sym", "ld-2.13.so.sym"}
	for name, text := range symbolFiles(t) {
		if !strings.Contains(name, golden) && !slices.Contains(others, filepath.Base(name)) {
			continue
		}
		if got := mustWrite(t, mustRead(t, text), 1); !bytes.Equal(got, text) {
			t.Errorf("%s: write(read(b)) differs from b, which is in order", name)
		}
	}
}
