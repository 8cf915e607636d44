package resolve

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// dumpOf returns the symbol file of a binary and its debug file.
func dumpOf(t testing.TB, path string, demangle bool) (*symfmt.Module, []byte) {
	t.Helper()
	result, err := dwarf2sym.ReadFile(context.Background(), path, dwarf2sym.Options{Demangle: demangle})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	m := result.Module
	var text bytes.Buffer
	if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return m, text.Bytes()
}

// compareModule asks for every address where something begins, and the one before it; in
// functions with thousands of these, for some of them. Addresses in a function are compared
// with a search through the function's records, others with one through all records.
func compareModule(t *testing.T, r *Resolver, m *symfmt.Module) (asked int) {
	t.Helper()
	n := newNaive(m)
	var at Location
	same := func(rva symfmt.RVA, want Location, ok bool) {
		t.Helper()
		asked++
		found, err := r.Nearest(t.Context(), rva, &at)
		if err != nil {
			t.Fatal(err)
		}
		if found != ok || !sameLocation(&at, &want) {
			t.Fatalf("%#x: %v %+v, want %v %+v", uint64(rva), found, at, ok, want)
		}
	}
	for i := range m.Funcs {
		f := &m.Funcs[i]
		edges := functionEdges(f)
		for k := 0; k < len(edges); k += 1 + len(edges)/500 { // each searches the function
			if rva := edges[k]; holds(f.RVA, f.Size, rva) {
				same(rva, n.inFunc(f, rva), true)
			}
		}
	}
	outside := []symfmt.RVA{0, ^symfmt.RVA(0)}
	for i := range m.Funcs {
		outside = append(outside, m.Funcs[i].RVA-1, m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size))
	}
	for _, p := range m.Publics {
		outside = append(outside, p.RVA-1, p.RVA)
	}
	for i := 0; i < len(outside); i += 1 + len(outside)/5000 { // each searches all records
		want, ok := n.find(outside[i])
		same(outside[i], want, ok)
	}
	return asked
}

func functionEdges(f *symfmt.Func) (all []symfmt.RVA) {
	all = append(all, f.RVA, f.RVA+symfmt.RVA(f.Size)-1)
	for l := range f.Lines() {
		all = append(all, l.RVA-1, l.RVA, l.RVA+symfmt.RVA(l.Size))
	}
	for in := range f.Inlines() {
		for _, r := range in.Ranges {
			all = append(all, r.RVA-1, r.RVA, r.RVA+symfmt.RVA(r.Size))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkBinary compares the Resolver of a binary's symbol file, with and without an index
// file, with the module.
func checkBinary(t *testing.T, path string) (asked int) {
	t.Helper()
	m, text := dumpOf(t, path, true)
	file := writeFile(t, "x.sym", text)
	asked = compareModule(t, openFile(t, file), m)
	openIndexed(t, file, "")
	indexed, used := openIndexed(t, file, "")
	if !used {
		t.Error("the index was not used")
	}
	var at, again Location
	r := openFile(t, file)
	for i := range m.Funcs {
		rva := m.Funcs[i].RVA
		r.Nearest(t.Context(), rva, &at)
		if _, err := indexed.Nearest(t.Context(), rva, &again); err != nil || !sameLocation(&at, &again) {
			t.Fatalf("%#x through the index: %+v, %v; want %+v", uint64(rva), again, err, at)
		}
	}
	return asked
}

// The answers for each of our binaries agree with its module.
func TestBinaries(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d binaries, %v", len(files), err)
	}
	asked, modules := 0, 0
	for _, path := range files {
		f, err := objfile.Open(path, object.DefaultLimits())
		if err != nil {
			continue // made to be damaged
		}
		f.Close()
		modules++
		asked += checkBinary(t, path)
	}
	if asked < 5000 {
		t.Errorf("asked for %d addresses of %d binaries", asked, modules)
	}
	t.Logf("%d addresses of %d binaries", asked, modules)
}

// The answers for every symbol file of the shared data agree with a search through all of
// it: Breakpad's and Mozilla's own files, with STACK WIN and both forms of INLINE.
func TestSharedSymbolFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	files := 0
	err := filepath.WalkDir(testenv.Shared(t, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sym" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 1<<20 {
			return err
		}
		result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			return err
		}
		m := result.Module
		files++
		asked := compareModuleOrAll(t, openFile(t, path), m)
		t.Logf("%s: %d addresses", filepath.Base(path), asked)
		return nil
	})
	if err != nil || files < 8 {
		t.Errorf("%d files, %v", files, err)
	}
}

// compareModuleOrAll compares everything in a module; in a small one, at every address.
func compareModuleOrAll(t *testing.T, r *Resolver, m *symfmt.Module) int {
	if len(m.Funcs)+len(m.Publics)+len(m.CFI.Blocks)+len(m.Wins) < 2000 {
		return compareNaive(t, r, newNaive(m))
	}
	return compareModule(t, r, m)
}

// The two forms of INLINE of one program have the same functions and lines. The old form
// lacks some files of calls.
func TestOldAndNewForm(t *testing.T) {
	dir := testenv.Shared(t, "data", "minidumps", "breakpad", "symbols", "linux_inline", "BBA6FA10B8AAB33D00000000000000000")
	old := openFile(t, filepath.Join(dir, "linux_inline.old.sym"))
	for rva, want := range map[symfmt.RVA]string{
		0x15b30: "main linux_inline.cpp:41",
		0x15b83: "func() linux_inline.cpp:9 < bar() linux_inline.cpp:32 < foo() linux_inline.cpp:39 < main linux_inline.cpp:42",
	} {
		if got := show(t, old, rva); got != want {
			t.Errorf("%#x: %s, want %s", uint64(rva), got, want)
		}
	}
	renamed := openFile(t, filepath.Join(dir, "linux_inline.new.sym"))
	want := "func() linux_inline.cpp:9 < bar() c.cpp:32 < foo() b.cpp:39 < main a.cpp:42"
	if got := show(t, renamed, 0x15b83); got != want {
		t.Errorf("new form: %s, want %s", got, want)
	}
}

// TestOracleBinaries compares large binaries with their modules, which
// dwarf2sym's tests compare with LLVM's answers: libc, a C++ program and, if there is time, symtool itself.
func TestOracleBinaries(t *testing.T) {
	testenv.Oracle(t)
	files, err := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	if files = append(files, testenv.Templates(t)); testenv.OracleFull() {
		files = append(files, testenv.Symtool(t))
	}
	for _, path := range files {
		asked := checkBinary(t, path)
		t.Logf("%s: %d addresses", filepath.Base(path), asked)
		if asked < 20000 {
			t.Errorf("%s: %d addresses only", path, asked)
		}
	}
}
