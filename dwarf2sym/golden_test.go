package dwarf2sym_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// fixture is a binary in golden/input, with its separate debug file if it has
// one; README.md there says what each is for.
type fixture struct{ name, file, debug string }

func fixtures(t *testing.T) (all []fixture) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("golden/input: %d fixtures: %v", len(files), err)
	}
	for _, file := range files {
		f := fixture{name: strings.TrimSuffix(filepath.Base(file), ".elf"), file: file}
		debug := strings.TrimSuffix(file, ".elf") + ".debug"
		if _, err := os.Stat(debug); err == nil {
			f.debug = debug
		}
		all = append(all, f)
	}
	return all
}

// The symbol file of each fixture, and the problems found, are as in golden/dwarf2sym,
// with one worker and with several.
func TestGolden(t *testing.T) {
	for _, c := range fixtures(t) {
		t.Run(c.name, func(t *testing.T) {
			text := dumpText(t, c, 1)
			testenv.Golden(t).Assert(t, c.name+".sym", text)
			if again := dumpText(t, c, 4); !bytes.Equal(again, text) {
				t.Error("4 workers write something else than one")
			}
		})
	}
}

// Every fixture is described, and every golden file belongs to one.
func TestFixturesAreListed(t *testing.T) {
	readme := testenv.ReadInput(t, "README.md")
	known := map[string]bool{}
	for _, c := range fixtures(t) {
		known[c.name] = true
		if !bytes.Contains(readme, []byte("`"+c.name+"`")) {
			t.Errorf("golden/input/README.md does not say what %s is for", c.name)
		}
	}
	goldens, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range goldens {
		if name := strings.TrimSuffix(filepath.Base(path), ".sym"); !known[name] {
			t.Errorf("%s: golden/input has no %s.elf", path, name)
		}
	}
}

// dumpText returns the symbol file of a fixture, followed by the problems as comment
// lines. With several workers, names are converted while it is written.
func dumpText(t *testing.T, c fixture, jobs int) []byte {
	t.Helper()
	file := symtest.Open(t, c.file)
	o := dwarf2sym.Options{Jobs: jobs, Demangle: true, LateNames: jobs > 1, Supplement: openSupplement(t, file)}
	if c.debug != "" {
		o.Debug = symtest.Open(t, c.debug)
	}
	report, err := dwarf2sym.Read(context.Background(), file, o)
	if err != nil {
		t.Fatal(err)
	}
	m := report.Module
	var out bytes.Buffer
	if err := symfmt.Write(&out, m, symfmt.WriteOptions{Jobs: jobs, Names: report.Names()}); err != nil {
		t.Fatal(err)
	}
	report.Settle()
	if n := bytes.Count(out.Bytes(), []byte("\nINLINE_ORIGIN ")); n != report.Stats.Origins {
		t.Errorf("%d INLINE_ORIGIN records, counted as %d", n, report.Stats.Origins)
	}
	for _, p := range report.Problems {
		fmt.Fprintf(&out, "# %s\n", strings.ReplaceAll(fmt.Sprint(p), filepath.Dir(c.file)+"/", ""))
	}
	return out.Bytes()
}

// openSupplement opens the supplementary file that file links to, or returns nil.
func openSupplement(t *testing.T, file *object.File) *object.File {
	t.Helper()
	set := debugset.Set{Binary: file}
	t.Cleanup(func() { set.Close() })
	finder := debugset.Finder{Limits: object.DefaultLimits()}
	if err := finder.Complete(t.Context(), &set); err != nil {
		t.Fatal(err)
	}
	if set.Supplement == nil && set.Link() != nil {
		t.Fatalf("no supplementary file: %v", set.Tried)
	}
	return set.Supplement
}
