package resolve

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// extentSource has functions with and without a size, padding between them, and calls
// that go through a PLT.
const extentSource = `
#include <stdlib.h>
int g;
__attribute__((noinline, aligned(64))) int f(int x) { return x * 3 + g; }
__asm__(".text\n.globl sized\n.type sized,@function\nsized: nop\nnop\n.size sized,.-sized\n.skip 61\n"
        ".globl unsized\nunsized: nop\nnop\nret\n.skip 32\n");
int main(int c, char **v) { return f(c) + atoi(v[0]); }
`

// TestOracleExtents asks for every address of small programs, and for some outside them: the
// Resolver has the same function as LLVM, or none if LLVM has none.
func TestOracleExtents(t *testing.T) {
	testenv.Oracle(t)
	dir := t.TempDir()
	source := writeFile(t, "f.c", []byte(extentSource))
	files := map[string][]string{
		"no-pie": {"-no-pie"}, "pie": {"-pie"}, "shared": {"-shared", "-fPIC"}, "static": {"-static"},
		"stripped": {"-no-pie", "-s"}, "high": {"-no-pie", "-Wl,-Ttext-segment=0x40000000"},
	}
	for name, flags := range files {
		path := filepath.Join(dir, name)
		ask(t, nil, testenv.Tool(t, "gcc"), append([]string{"-O1", "-g", "-o", path, source}, flags...)...)
		t.Run(name, func(t *testing.T) { compareExtents(t, path) })
	}
	for _, name := range []string{"walk-sources", "exec-high", "kernel-high", "emit-relocs", "symbols", "symver"} {
		t.Run(name, func(t *testing.T) { compareExtents(t, testenv.Input(t, name+".elf")) })
	}
}

// extentRules lists where LLVM's answers differ.
var extentRules = []struct {
	name, why string
	is        func(a *extentAnswer) bool
}{
	{"data", "LLVM takes the symbols of data, too", func(a *extentAnswer) bool {
		return a.got == "??" && !a.f.Executable(a.addr)
	}},
	{"section", "LLVM lets a symbol without a size go on into the next section", func(a *extentAnswer) bool {
		return a.got == "??" && a.f.Executable(a.addr) && sectionOf(a.f, a.addr) != sectionOf(a.f, a.places[a.want])
	}},
	{"rules", "call frame information begins or ends between a symbol without a size and the address", func(a *extentAnswer) bool {
		var at Location
		base, _ := a.r.Base()
		found, _ := a.r.Nearest(context.Background(), symfmt.RVA(a.addr-base), &at)
		return a.got == "??" && found && at.Guess && at.Frames[0].Function == a.want
	}},
	{"clone", "LLVM prints the suffix that the compiler gave a clone", func(a *extentAnswer) bool {
		return strings.HasPrefix(a.want, a.got+".")
	}},
	{"alias", "of several names at an address LLVM takes another", func(a *extentAnswer) bool {
		got, ok := a.places[a.got]
		want, known := a.places[a.want]
		return ok && known && got == want
	}},
}

func sectionOf(f *object.File, addr uint64) string {
	for _, s := range f.Sections {
		if s.Alloc && s.Holds(addr) {
			return s.Name
		}
	}
	return ""
}

// symbolPlaces returns the addresses of the symbols in a file, by their names with and
// without versions.
func symbolPlaces(f *object.File) map[string]uint64 {
	places := map[string]uint64{}
	for _, table := range []object.Table{object.Dynamic, object.Symtab} {
		f.Symbols(table, func(s *object.Symbol) {
			places[withoutVersion(string(s.Name))] = s.Addr
			places[string(s.Name)] = s.Addr
		})
	}
	return places
}

func withoutVersion(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}

// extentAnswer is an answer that differs from LLVM's.
type extentAnswer struct {
	f         *object.File
	r         Symbols
	places    map[string]uint64
	addr      uint64
	got, want string
}

func compareExtents(t *testing.T, path string) {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{Demangle: true})
	if err != nil {
		t.Fatal(err)
	}
	r := FromModule(read.Module, ModuleOptions{Path: path, Extents: &read.Extents})
	var addrs []uint64
	for _, s := range f.Segments {
		if s.Exec {
			for a := s.Addr - min(s.Addr, 64); a < s.Addr+s.MemSize+64; a++ {
				addrs = append(addrs, a)
			}
		}
	}
	addrs = append(addrs, 0x7fffff000000, 1<<63, f.Base+1<<20, f.Base+1<<32)
	answers := framesOf(oracle.LLVM(t, path, addrs, "--no-demangle", "--functions=linkage", "--no-inlines"))
	bad, counts := 0, map[string]int{}
	var at Location
	places := symbolPlaces(f)
	for i, addr := range addrs {
		got, want := "??", "??"
		if found, err := r.Find(t.Context(), symfmt.RVA(addr-f.Base), &at); err != nil {
			t.Fatal(err)
		} else if found {
			got = at.Frames[len(at.Frames)-1].Function
		}
		if len(answers[i]) > 0 && answers[i][0].Function != "" {
			want = answers[i][0].Function
		}
		if got == want {
			continue
		}
		explained := false
		for _, rule := range extentRules {
			if rule.is(&extentAnswer{f, r, places, addr, got, want}) {
				counts[rule.name]++
				explained = true
				break
			}
		}
		if !explained {
			if bad++; bad <= 10 {
				t.Errorf("%#x (%s): %s, want %s", addr, sectionOf(f, addr), got, want)
			}
		}
	}
	t.Logf("%d addresses, %d differ without a rule; by rule: %v", len(addrs), bad, counts)
	compareAddr2line(t, r, path, addrs)
	if len(addrs) < 200 {
		t.Errorf("%d addresses only", len(addrs))
	}
}

// compareAddr2line compares the Resolver with GNU's addr2line: if that finds nothing, or a
// symbol that ends before the address, the Resolver finds nothing; otherwise both find the
// same function.
func compareAddr2line(t *testing.T, r Symbols, path string, addrs []uint64) {
	if len(addrs) > 10_000 {
		return // it takes seconds for each ten thousand
	}
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	places := symbolPlaces(f)
	answers := oracle.Addr2line(t, path, addrs)
	both, bad := 0, 0
	var at Location
	for i, addr := range addrs {
		found, err := Find(t.Context(), r, symfmt.RVA(addr-f.Base), &at)
		if err != nil {
			t.Fatal(err)
		}
		want := answers[i][0].Function
		if !found {
			continue
		}
		// GNU's addr2line names the innermost function, and may choose another of nested symbols.
		named := slices.ContainsFunc(at.Frames, func(f Frame) bool { return want == f.Function || strings.HasPrefix(want, f.Function+".") })
		if start, known := places[want]; named || known && start <= addr {
			both++
		} else if bad++; bad <= 5 {
			t.Errorf("%#x: %+v, addr2line has %s", addr, at.Frames, want)
		}
	}
	t.Logf("addr2line: %d of %d addresses have a function, the same", both, len(addrs))
}
