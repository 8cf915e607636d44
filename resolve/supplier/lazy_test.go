package supplier

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// openPair opens a binary and its debug file, and finds the supplementary file that belongs to them.
func openPair(t *testing.T, path, debugPath string) (*debugset.Set, dwarf2sym.Options) {
	t.Helper()
	open := func(path string) *object.File {
		f, err := objfile.Open(path, object.DefaultLimits())
		if err != nil {
			t.Skip(err)
		}
		return f
	}
	set := &debugset.Set{Binary: open(path)}
	if debugPath != "" {
		set.Debug = open(debugPath)
	}
	finder := debugset.Finder{Limits: object.DefaultLimits()}
	if err := finder.Complete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	o := dwarf2sym.Options{Demangle: true}
	o.Debug, o.Supplement, o.PDB = set.Files()
	return set, o
}

// comparison compares the symbols of a binary that is read part by part with those of the whole file.
type comparison struct {
	path        string
	lazy, whole resolve.Symbols
	names       *cfi.Names
	funcs       []symfmt.Func // of the whole
	found       map[resolve.Source]int
}

func newComparison(t *testing.T, path, debugPath string) *comparison {
	t.Helper()
	set, o := openPair(t, path, debugPath)
	read, err := dwarf2sym.Read(t.Context(), set.Binary, o)
	if err != nil {
		t.Skip(err)
	}
	c := &comparison{path: path, names: cfi.NewNames(set.Binary.Arch), funcs: read.Module.Funcs, found: make(map[resolve.Source]int)}
	c.whole = resolve.FromModule(read.Module, resolve.ModuleOptions{Path: path, DebugPath: debugPath, Extents: &read.Extents, Problems: read.Problems})
	set, o = openPair(t, path, debugPath)
	if c.lazy, err = openLazy(t.Context(), set, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.lazy.Close() })
	return c
}

// at compares all answers for an address.
func (c *comparison) at(t *testing.T, rva symfmt.RVA) {
	t.Helper()
	if lazy, whole := c.answers(t, c.lazy, rva), c.answers(t, c.whole, rva); lazy != whole {
		t.Fatalf("%s at %#x: part by part\n%s\nfrom the whole file\n%s", c.path, uint64(rva), lazy, whole)
	}
}

func (c *comparison) answers(t *testing.T, s resolve.Symbols, rva symfmt.RVA) string {
	var text strings.Builder
	var at resolve.Location
	found, err := resolve.Find(t.Context(), s, rva, &at)
	fmt.Fprintf(&text, "Find: %v %+v %v\n", found, at, err)
	if s == c.lazy && found {
		c.found[at.Source]++
	}
	found, err = s.Nearest(t.Context(), rva, &at)
	fmt.Fprintf(&text, "Nearest: %v %+v %v\n", found, at, err)
	start, ok, err := s.LineStart(t.Context(), rva)
	fmt.Fprintf(&text, "LineStart: %v %v %v\n", start, ok, err)
	rules, err := s.Rules(t.Context(), rva, c.names)
	if rules != nil {
		fmt.Fprintf(&text, "Rules: %x %x %d %s\n", rules.Start, rules.Size, rules.Records, rules.Row.String())
	}
	fmt.Fprintf(&text, "%v %v", err, s.InCode(rva))
	return text.String()
}

// The answers for every address of every fixture equal those of the whole file, whatever was asked
// before.
func TestPartsOfFixtures(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	all := map[resolve.Source]int{}
	for _, path := range append(files, testenv.SharedGlob(t, "crashes", "*", "prog")...) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".elf"), func(t *testing.T) {
			debug := strings.TrimSuffix(path, ".elf") + ".debug"
			if regular(debug) != nil {
				debug = ""
			}
			c := newComparison(t, path, debug)
			compareAddresses(t, c, 3000)
			compareRest(t, c)
			for source, n := range c.found {
				all[source] += n
			}
		})
	}
	if all[resolve.Func] < 10_000 || all[resolve.Public] < 1000 {
		t.Errorf("found %v", all)
	}
}

// compareAddresses looks up to about n addresses in and around the code, in random order. Addresses in
// functions come first: units are trusted until one outside is asked for.
func compareAddresses(t *testing.T, c *comparison, n uint64) {
	random := rand.New(rand.NewPCG(uint64(len(c.path)), 1))
	var asked []symfmt.RVA
	ask := func() {
		random.Shuffle(len(asked), func(i, k int) { asked[i], asked[k] = asked[k], asked[i] })
		for _, rva := range asked {
			c.at(t, rva)
		}
		asked = asked[:0]
	}
	step := 1 + len(c.funcs)/int(n)
	for i := random.IntN(step); i < len(c.funcs); i += 1 + random.IntN(step) {
		f := &c.funcs[i]
		asked = append(asked, f.RVA, f.RVA+symfmt.RVA(random.Uint64N(f.Size)))
	}
	ask()
	inOrder(t, c)
	for i := random.IntN(step); i < len(c.funcs); i += 1 + random.IntN(step) {
		f := &c.funcs[i]
		end := f.RVA + symfmt.RVA(f.Size)
		asked = append(asked, f.RVA-min(f.RVA, 1), end-1, end, end+1)
	}
	f, err := objfile.Open(c.path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	total := uint64(0)
	for _, r := range f.CodeRanges() {
		total += r.End - r.Start
	}
	for _, r := range f.CodeRanges() {
		from := r.Start - min(r.Start-min(f.Base, r.Start), 4)
		for at := from; at < r.End+4; at += 1 + random.Uint64N(max(1, 2*total/n)) {
			asked = append(asked, symfmt.RVA(at-f.Base))
		}
	}
	ask()
}

// inOrder looks up the starts of functions in the order that costs least.
func inOrder(t *testing.T, c *comparison) {
	var at []symfmt.RVA
	for i := range c.funcs[:min(len(c.funcs), 2000)] {
		at = append(at, c.funcs[len(c.funcs)-1-i].RVA)
	}
	seen := make([]bool, len(at))
	for _, i := range slices.Concat(resolve.Order(t.Context(), c.lazy, at)...) {
		if seen[i] {
			t.Fatalf("%s: address %d comes twice in Order", c.path, i)
		}
		seen[i] = true
		c.at(t, at[i])
	}
	if slices.Contains(seen, false) {
		t.Errorf("%s: Order leaves an address out", c.path)
	}
}

// compareRest compares what does not depend on an address.
func compareRest(t *testing.T, c *comparison) {
	if lazy, whole := c.lazy.Identity(), c.whole.Identity(); lazy != whole {
		t.Errorf("identity %v, want %v", lazy, whole)
	}
	if lazy, whole := c.lazy.Detail(t.Context()), c.whole.Detail(t.Context()); lazy != whole {
		t.Errorf("detail %v, want %v", lazy, whole)
	}
	if lazy, whole := c.lazy.Last(t.Context()), c.whole.Last(t.Context()); lazy != whole {
		t.Errorf("last address %x, want %x", uint64(lazy), uint64(whole))
	}
	lazy, whole := problemTexts(c.lazy), problemTexts(c.whole)
	for p := range lazy {
		if !whole[p] {
			t.Errorf("problem that the whole file does not have: %s", p)
		}
	}
	for p := range whole {
		if !lazy[p] {
			t.Logf("not met: %s", p)
		}
	}
}

func problemTexts(s resolve.Symbols) map[string]bool {
	all := map[string]bool{}
	for _, p := range s.Damage() {
		all[p.String()] = true
	}
	return all
}

// Code of a binary is found by the name in its symbol table, and bytes of the file where they are loaded.
func TestPartsByNameAndOffset(t *testing.T) {
	b := newBinaries(t, testenv.Input(t, "crashes/stacks"))
	s, _, err := b.Symbols(t.Context(), resolve.Module{})
	if err != nil || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	want := []resolve.Code{{Start: 0x1070, Size: 0x3e}}
	if got := s.(resolve.NamedSymbols).Named("crash.constprop.0"); !slices.Equal(got, want) {
		t.Errorf("crash.constprop.0 is at %v, want %v", got, want)
	}
	m := s.(resolve.MappedSymbols)
	if code, ok := m.CodeOffset(); code != 0x1000 || !ok {
		t.Errorf("code begins at %#x (%v), want 0x1000", code, ok)
	}
	for offset, want := range map[uint64]symfmt.RVA{0: 0, 0x10a4: 0x10a4, 0x2eb8: 0x3eb8} {
		if at, ok := m.AtOffset(offset); at != want || !ok {
			t.Errorf("byte %#x is at %#x (%v), want %#x", offset, at, ok, want)
		}
	}
	if at, ok := m.AtOffset(1 << 40); ok {
		t.Errorf("a byte after the end of the file is at %#x", at)
	}
}
