package supplier

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// copiesSource is a unit of a program whose units all have the inline functions of a header: the linker
// keeps one copy of each. clash is a different function with the same name in each unit; with -O2, GCC
// moves the code that throws to a cold part.
const copiesSource = `
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> struct Box { int v[N + 1]; int sum() { int s = 0; for (int x : v) s += x * N; return s; } };
inline int shared(const std::string &s) { std::map<std::string, int> m; m[s]++; return m.size(); }
namespace { int clash(std::vector<int> v) { std::sort(v.begin(), v.end()); return v.empty() ? UNIT : v[0] + UNIT; } }
static int folded(int x) { return x * 7 + 1; }
int NAME(int n) {
  Box<3> b{}; Box<UNIT % 5> c{};
  std::vector<int> v(n, UNIT);
  return b.sum() + c.sum() + shared("x") + clash(v) + folded(n) + (n > 1000 ? throw n : 0);
}
`

// copiesProgram builds a program of units that are compiled in turn with each of ways, which are flags.
func copiesProgram(t *testing.T, dir string, compiler string, ways, link []string) string {
	t.Helper()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(compiler, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "unit.cc"), []byte(copiesSource), 0o644); err != nil {
		t.Fatal(err)
	}
	var calls strings.Builder
	objects := []string{"main.o"}
	for i := range 6 {
		o := fmt.Sprintf("unit%d.o", i)
		objects = append(objects, o)
		fmt.Fprintf(&calls, "int unit%d(int); int c%d = unit%d(%d);\n", i, i, i, i)
		run(append(strings.Fields(ways[i%len(ways)]), "-std=c++17", "-c", fmt.Sprintf("-DUNIT=%d", i), fmt.Sprintf("-DNAME=unit%d", i), "-o", o, "unit.cc")...)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.cc"), []byte(calls.String()+"int main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("-g", "-c", "-o", "main.o", "main.cc")
	run(append(append(link, "-o", "program"), objects...)...)
	return filepath.Join(dir, "program")
}

// The answers of parts in random order equal those of the whole file for large files, and for units with
// copies of the same functions, folded functions and overlaps. TestOracleMatrix compares the whole with
// llvm-symbolizer.
func TestOracleParts(t *testing.T) {
	testenv.Oracle(t)
	const many = 40_000
	compare := func(name, path, debug string) {
		t.Run(name, func(t *testing.T) {
			c := newComparison(t, path, debug)
			compareAddresses(t, c, many)
			compareRest(t, c)
			t.Logf("%d functions; found %v", len(c.funcs), c.found)
		})
	}
	libc := testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
	f := symtest.Open(t, libc)
	id := fmt.Sprintf("%x", f.BuildID())
	compare("libc", libc, testenv.File(t, "/usr/lib/debug/.build-id/"+id[:2]+"/"+id[2:]+".debug", "libc6-dbg"))
	program := filepath.Join(t.TempDir(), "gofmt")
	if out, err := exec.Command("go", "build", "-o", program, "cmd/gofmt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compare("go", program, "")

	gcc, clang := testenv.Tool(t, "g++"), testenv.Tool(t, "clang++-22")
	mixed := []string{"-g -O2", "-g -O0", "-g -O2 -fno-inline", "-g1 -O1", "-O2"}
	for _, b := range []struct {
		name, compiler string
		ways, link     []string
	}{
		{"copies-bfd", gcc, []string{"-g -O2"}, []string{"-fuse-ld=bfd"}},
		{"copies-bfd-O0", gcc, []string{"-g -O0"}, []string{"-fuse-ld=bfd"}},
		{"mixed-bfd", gcc, mixed, []string{"-fuse-ld=bfd"}},
		{"mixed-bfd-dwarf4-types", gcc, []string{"-gdwarf-4 -O2 -fdebug-types-section", "-gdwarf-5 -O0"}, []string{"-fuse-ld=bfd"}},
		{"mixed-gold-icf", gcc, append([]string{"-g -O2 -ffunction-sections"}, mixed...), []string{"-fuse-ld=gold", "-Wl,--icf=all"}},
		{"split-bfd", gcc, []string{"-g -O2 -gsplit-dwarf", "-g -O2", "-g -O0 -gsplit-dwarf"}, []string{"-fuse-ld=bfd"}},
		{"lto-bfd", gcc, []string{"-g -O2 -flto"}, []string{"-g", "-O2", "-flto", "-fuse-ld=bfd"}},
		{"clang-bfd", clang, mixed, []string{"-fuse-ld=bfd"}},
		{"clang-split-bfd", clang, []string{"-g -O2 -gsplit-dwarf", "-g -O1"}, []string{"-fuse-ld=bfd"}},
	} {
		path := copiesProgram(t, t.TempDir(), b.compiler, b.ways, b.link)
		if b.compiler == gcc && !slices.Contains(b.ways, "-g -O0") && !hasColdParts(t, path) {
			t.Errorf("%s: no cold parts", b.name)
		}
		compare(b.name, path, "")
	}
	dir := t.TempDir()
	path := copiesProgram(t, dir, gcc, []string{"-g -O2", "-g -O0"}, []string{"-fuse-ld=bfd"})
	if out, err := exec.Command(testenv.Tool(t, "dwz"), path).CombinedOutput(); err != nil {
		t.Fatalf("dwz: %v\n%s", err, out)
	}
	compare("dwz-bfd", path, "")
}

// hasColdParts reports whether there are symbols of functions' cold parts, as GCC names them.
func hasColdParts(t *testing.T, path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		t.Fatal(err)
	}
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return strings.HasSuffix(s.Name, ".cold") })
}
