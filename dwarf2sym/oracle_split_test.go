package dwarf2sym_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// splitBuild is a way of splitting the debug information of a build of the
// matrix.
type splitBuild struct {
	name string
	like func(name, tool string, flags ...string) matrixBuild
	tool string
	full bool     // used only in the full run
	args []string // flags for both builds
	more []string // flags for the split build
	then [][]string
	dir  string // folder for --dwo-dir, in the build's folder

	objects bool // compiled and linked separately
	rows    bool // debug/dwarf cannot read it
}

// splitMatrix lists compilers, versions and forms of split DWARF. GNU dwp 2.40 fails on
// DWARF 5; llvm-dwp 22 does not terminate on GCC 12's.
var splitMatrix = []splitBuild{
	{name: "gcc4-dwo", like: cBuild, tool: gcc, args: []string{"-O2", "-gdwarf-4", partition}},
	{name: "gcc5-dwo", like: cBuild, tool: gcc, args: []string{"-O2", "-gdwarf-5", partition}},
	{name: "clang4-dwo", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-4", sections}},
	{name: "clang5-dwo", like: cBuild, tool: clang, args: []string{"-O2", "-gdwarf-5", sections}},
	{name: "gcc4-dwp", like: cBuild, tool: gcc, args: []string{"-O2", "-gdwarf-4", partition}, then: packed("dwp")},
	{name: "gcc4-llvm-dwp", like: cBuild, tool: gcc, full: true, args: []string{"-O2", "-gdwarf-4", partition}, then: packed("llvm-dwp-22")},
	{name: "clang4-dwp", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-4"}, then: packed("dwp")},
	{name: "clang5-dwp", like: cBuild, tool: clang, args: []string{"-O2", "-gdwarf-5"}, then: packed("llvm-dwp-22")},
	{name: "clang5-single", like: cBuild, tool: clang, args: []string{"-O2", "-gdwarf-5"}, more: []string{"-gsplit-dwarf=single"}, objects: true},
	{name: "clang5-inlining", like: cBuild, tool: clang, args: []string{"-O2", "-gdwarf-5"}, more: []string{"-fsplit-dwarf-inlining"}},
	{name: "clang4-inlining", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-4"}, more: []string{"-fsplit-dwarf-inlining"}},
	{name: "clang5-zstd", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-5", "-gz=zstd"}},
	{name: "gcc5-zlib", like: cBuild, tool: gcc, args: []string{"-O2", "-gdwarf-5", "-gz=zlib"}},
	{name: "clang5-dwarf64", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-5", "-gdwarf64"}, rows: true},
	{name: "gcc5-dwarf64", like: cBuild, tool: gcc, full: true, args: []string{"-O2", "-gdwarf-5", "-gdwarf64"}},
	{name: "clang5-away", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-5"}, dir: "away",
		then: [][]string{{"sh", "-c", "mkdir away && mv *.dwo away"}}},
	{name: "clang5-pair", like: cBuild, tool: clang, args: []string{"-O2", "-gdwarf-5"}, then: append(packed("llvm-dwp-22"), separate...)},
	{name: "clang5-thinlto", like: cBuild, tool: clang, args: []string{"-O2", "-gdwarf-5", "-flto=thin"}, more: []string{"-Wl,--plugin-opt=dwo_dir=halves"}},
	{name: "clang5-flto", like: cBuild, tool: clang, full: true, args: []string{"-O2", "-gdwarf-5", "-flto"}, more: []string{"-Wl,--plugin-opt=dwo_dir=halves"}},
	{name: "cxx-clang5-O0", like: cxxBuild, tool: clxx, args: []string{"-O0", "-gdwarf-5"}, full: true},
	{name: "cxx-gcc5-dwo", like: cxxBuild, tool: gxx, args: []string{"-O2", "-gdwarf-5"}, full: true},
	{name: "cxx-clang5-dwp", like: cxxBuild, tool: clxx, args: []string{"-O2", "-gdwarf-5"}, then: packed("llvm-dwp-22"), full: true},
	{name: "cxx-gcc4-dwp", like: cxxBuild, tool: gxx, args: []string{"-O2", "-gdwarf-4"}, then: packed("dwp"), full: true},
	{name: "cxx-gcc4-types", like: cxxBuild, tool: gxx, args: []string{"-O2", "-gdwarf-4", types}, full: true},
	{name: "cxx-gcc5-types", like: cxxBuild, tool: gxx, args: []string{"-O2", "-gdwarf-5", types}, full: true},
	{name: "cxx-clang4-types", like: cxxBuild, tool: clxx, args: []string{"-O2", "-gdwarf-4", types}, full: true},
	{name: "cxx-clang5-types-dwp", like: cxxBuild, tool: clxx, args: []string{"-O2", "-gdwarf-5", types}, then: packed("llvm-dwp-22"), full: true},
	{name: "cxx-gcc4-types-dwp", like: cxxBuild, tool: gxx, args: []string{"-O2", "-gdwarf-4", types}, then: packed("dwp"), full: true},
	{name: "cxx-gcc4-types-llvm-dwp", like: cxxBuild, tool: gxx, args: []string{"-O0", "-gdwarf-4", types}, then: packed("llvm-dwp-22"), full: true},
	{name: "cxx-gcc5-O3-icf", like: cxxBuild, tool: gxx, args: []string{"-O3", "-gdwarf-5", sections, gc}, full: true},
	{name: "cxx-clang5-icf", like: cxxBuild, tool: clxx, args: []string{"-O2", "-gdwarf-5", sections, "-Wl,--icf=all", gc}, full: true},
}

const types = "-fdebug-types-section"

// packed creates a package from the .dwo files and removes them.
func packed(tool string) [][]string {
	return [][]string{{tool, "-e", target, "-o", target + ".dwp"}, {"sh", "-c", "rm *.dwo"}}
}

// separate strips the binary and leaves its skeletons in a debug file.
var separate = [][]string{
	{"objcopy", "--only-keep-debug", target, "program.debug"},
	{"objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", target},
}

// A program whose debug information is split has the same functions, inlines and lines as
// one that is not, for any number of workers. llvm-symbolizer, which finds the other
// halves by itself, agrees with them.
func TestOracleSplit(t *testing.T) {
	testenv.Oracle(t)
	symtool := symtoolBinary(t)
	table := &agreement{}
	t.Run("of", func(t *testing.T) {
		for _, b := range splitMatrix {
			if b.full && !testenv.OracleFull() {
				continue
			}
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				table.add("split-"+b.name, compareSplit(t, symtool, b))
			})
		}
	})
	t.Logf("\n%s", table)
}

// compareSplit builds a program with and without splitting, in folders whose names are
// not in the binaries.
func compareSplit(t *testing.T, symtool string, b splitBuild) *comparison {
	whole := b.like(b.name, b.tool, b.args...)
	whole.then = slices.DeleteFunc(slices.Clone(b.then), func(c []string) bool { return c[0] != "objcopy" })
	one := whole.build(t)
	split := b.like(b.name, b.tool, slices.Concat(b.args, []string{"-gsplit-dwarf"}, b.more)...)
	split.then = b.then
	if b.objects {
		split = split.inObjects()
	}
	other := split.build(t)
	other.debug = debugOf(other.file)
	dir := filepath.Dir(other.file)
	args := []string{"dump", "--no-cfi"}
	if b.dir != "" {
		args = append(args, "--dwo-dir", filepath.Join(dir, b.dir))
	}
	dump := func(file, from string, more ...string) []byte {
		args := slices.Concat(args, []string{"--prefix-map", filepath.Dir(from) + "=" + dir}, more, []string{file})
		return run(t, symtool, args...)
	}
	want, got := records(dump(one.file, one.file)), dump(other.file, other.file)
	if diff := firstRecord(want, records(got)); diff != "" {
		t.Errorf("split, the program has other records:\n%s", diff)
	}
	for _, jobs := range []string{"1", "3"} {
		if again := dump(other.file, other.file, "--jobs", jobs); !bytes.Equal(got, again) {
			t.Errorf("--jobs %s changes the records", jobs)
		}
	}
	if len(want) < 500 {
		t.Errorf("%d records", len(want))
	}
	accepted(t, got)
	if b.dir != "" {
		// llvm searches only at the path recorded in the file.
		if err := runIn(t, dir, []string{"sh", "-c", "mv " + b.dir + "/* ."}); err != nil {
			t.Fatal(err)
		}
	}
	other.twin, other.least, other.rowsOnly = one.file, 500, b.rows
	if one.debug = debugOf(one.file); one.debug != "" {
		other.twin = one.debug
	}
	c, err := compareText(t, got, other)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows, %d ends of ranges: %d addresses, %d frames; %d addresses agree; %d records are the same", c.rows, c.edges, c.addresses, c.frames, c.agree, len(want))
	c.report(t)
	compareResolved(t, symtool, got, c, other.files()...)
	return c
}

// Scopes of names that only type units have are found in a package, as in the same
// program without splitting: clang leaves out linkage names, objcopy the symbols.
// INLINE_ORIGIN is not compared: its names are those that clang leaves out in .dwo files
// only.
func TestOraclePackedTypes(t *testing.T) {
	testenv.Oracle(t)
	sources := []string{"scopes.cc"}
	if testenv.OracleFull() {
		sources = append(sources, "templates.cc")
	}
	for _, b := range []struct{ version, tool string }{{"4", "dwp"}, {"4", "llvm-dwp-22"}, {"5", "llvm-dwp-22"}} {
		for _, source := range sources {
			t.Run(source+" "+b.version+" "+b.tool, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				command := func(args ...string) {
					t.Helper()
					if err := runIn(t, dir, args); err != nil {
						t.Fatal(err)
					}
				}
				build := func(out string, more ...string) {
					t.Helper()
					command(slices.Concat([]string{clxx, "-std=c++20", "-O0", "-gdwarf-" + b.version, "-fvisibility=hidden", "-mllvm",
						"-dwarf-linkage-names=Abstract", types, "-shared", "-fPIC", "-I", testenv.Input(t, "src"), "-o", out, testenv.Input(t, "src", source)}, more)...)
					command("objcopy", "--wildcard", "--strip-symbol=*", out)
				}
				build("whole.so")
				build("split.so", "-gsplit-dwarf")
				command(b.tool, "-e", "split.so", "-o", "split.so.dwp")
				command("sh", "-c", "rm *.dwo")
				read := func(name string) []string {
					return slices.DeleteFunc(records(dumpOf(t, filepath.Join(dir, name))), func(r string) bool {
						return strings.HasPrefix(r, "INLINE_ORIGIN ")
					})
				}
				got := read("split.so")
				if diff := firstRecord(read("whole.so"), got); diff != "" {
					t.Errorf("in a package, the program has other records:\n%s", diff)
				}
				command("objcopy", "--remove-section=.debug_tu_index", "split.so.dwp")
				changed := 0
				for i, r := range read("split.so") {
					if i >= len(got) || r != got[i] {
						changed++
					}
				}
				if changed < 2 {
					t.Errorf("%d records need the types", changed)
				}
				t.Logf("%d records are the same, %d of them differ without the types", len(got), changed)
			})
		}
	}
}

// inObjects makes the build compile the sources first, and then link them.
func (b matrixBuild) inObjects() matrixBuild {
	link := []string{"--ld-path=ld.lld-22", "-o", target}
	flags := slices.DeleteFunc(slices.Clone(b.args), func(arg string) bool {
		return slices.Contains(link, arg) || strings.HasSuffix(arg, ".c")
	})
	for _, arg := range b.args {
		if source, ok := strings.CutSuffix(arg, ".c"); ok {
			b.before = append(b.before, slices.Concat([]string{b.tool}, flags, []string{"-c", arg, "-o", source + ".o"}))
			link = append(link, source+".o")
		}
	}
	b.args = link
	return b
}

// debugOf returns the separate debug file of a build, or "".
func debugOf(file string) string {
	debug := filepath.Join(filepath.Dir(file), "program.debug")
	if _, err := os.Stat(debug); err != nil {
		return ""
	}
	return debug
}

// records returns the lines of a symbol file after MODULE and INFO.
func records(text []byte) (all []string) {
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "MODULE ") && !strings.HasPrefix(line, "INFO ") {
			all = append(all, strings.TrimSuffix(line, "\n"))
		}
	}
	return all
}

// firstRecord returns the first difference of two lists.
func firstRecord(want, got []string) string {
	for i := range max(len(want), len(got)) {
		a, b := "(end)", "(end)"
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if a != b {
			return "without: " + a + "\nsplit:   " + b
		}
	}
	return ""
}
