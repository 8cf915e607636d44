package dwarf2sym_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// matrixBuild is a way to make a binary out of golden/input/src.
type matrixBuild struct {
	name     string
	fast     bool       // also in the short run
	tool     string     // the compiler
	args     []string   // its flags and the sources, which are in the working folder
	before   [][]string // commands before the compiler
	then     [][]string // commands after it
	uses     string     // the text of profile.txt, for a flag
	optional bool       // older compilers may lack the flags
	rowsOnly bool
	cold     bool // functions have separate cold parts
	ready    bool // testenv has already built it
	least    int
	plain    []string // arguments for the same build in a form that others can read: see subject.twin
	unread   bool     // llvm-symbolizer cannot read it either
	noCFI    bool     // readelf and llvm-dwarfdump cannot read its .debug_frame
}

// target is the file in which every command of a build leaves its binary.
const target = "program.elf"

// cxxBuild compiles the program of templates.
func cxxBuild(name, tool string, flags ...string) matrixBuild {
	args := slices.Concat([]string{"-std=c++20", "-g", "-pthread"}, linker(tool), flags, []string{"templates.cc", "-o", target})
	return matrixBuild{name: "cxx-" + name, tool: tool, args: args, least: large}
}

// cBuild compiles the program with hot and cold parts: two units.
func cBuild(name, tool string, flags ...string) matrixBuild {
	args := slices.Concat([]string{"-std=gnu11", "-g"}, linker(tool), flags, []string{"program_main.c", "program_json.c", "-o", target})
	return matrixBuild{name: "c-" + name, tool: tool, args: args, least: 500}
}

// rustBuild compiles the Rust program. RUSTC_BOOTSTRAP lets a stable compiler
// choose the mangling.
func rustBuild(name string, flags ...string) matrixBuild {
	args := slices.Concat([]string{"--edition", "2021", "-g", "-Zunstable-options"}, flags, []string{"program.rs", "-o", target})
	return matrixBuild{name: "rust-" + name, tool: "rustc", args: args, least: large}
}

// linker returns the flag that makes clang use lld.
func linker(tool string) []string {
	if strings.HasPrefix(tool, "clang") {
		return []string{"--ld-path=ld.lld-22"}
	}
	return nil
}

const (
	gcc, gxx     = "gcc", "g++"
	clang, clxx  = "clang-22", "clang++-22"
	legacy, v0   = "-Csymbol-mangling-version=legacy", "-Csymbol-mangling-version=v0"
	partition    = "-freorder-blocks-and-partition"
	sections, gc = "-ffunction-sections", "-Wl,--gc-sections"
)

// matrix lists the builds that are compared, besides libc, symtool itself and the fixtures.
var matrix = slices.Concat(cxxMatrix(), languages(), layouts, optionBuilds(), []matrixBuild{
	// Forms of DWARF: sections, units, formats.
	cxxBuild("gcc5-O2-gz-zlib", gxx, "-O2", "-gdwarf-5", "-gz=zlib"),
	cxxBuild("clang5-O2-gz-zstd", clxx, "-O2", "-gdwarf-5", "-gz=zstd"),
	cxxBuild("gcc4-O2-types", gxx, "-O2", "-gdwarf-4", "-fdebug-types-section"),
	cxxBuild("gcc5-O2-types", gxx, "-O2", "-gdwarf-5", "-fdebug-types-section"),
	cxxBuild("clang4-O2-types", clxx, "-O2", "-gdwarf-4", "-fdebug-types-section"),
	cxxBuild("clang5-O2-types", clxx, "-O2", "-gdwarf-5", "-fdebug-types-section"),
	cxxBuild("gcc5-O2-dwarf64", gxx, "-O2", "-gdwarf-5", "-gdwarf64"),
	cxxBuild("gcc4-O2-dwarf64", gxx, "-O2", "-gdwarf-4", "-gdwarf64"),
	cxxBuild("clang5-O2-dwarf64", clxx, "-O2", "-gdwarf-5", "-gdwarf64").rows(),
	cxxBuild("gcc4-O2-dwz", gxx, "-O2", "-gdwarf-4").after("dwz", target),
	cxxBuild("gcc5-O2-objcopy-zstd", gxx, "-O2", "-gdwarf-5").after("objcopy", "--compress-debug-sections=zstd", target),
	// Less debug information.
	cxxBuild("gcc5-O2-g1", gxx, "-O2", "-gdwarf-5", "-g1"),
	cxxBuild("clang5-O2-g1", clxx, "-O2", "-gdwarf-5", "-gmlt"),
	cxxBuild("clang5-O2-profiling", clxx, "-O2", "-gdwarf-5", "-gmlt", "-fdebug-info-for-profiling"),
	// Code that the linker drops and folds.
	cxxBuild("gcc5-O2-gc", gxx, "-O2", "-gdwarf-5", sections, gc),
	cxxBuild("clang4-O2-gc", clxx, "-O2", "-gdwarf-4", sections, gc),
	cxxBuild("clang5-O2-icf", clxx, "-O2", "-gdwarf-5", sections, "-Wl,--icf=all", gc),
	cxxBuild("clang5-O2-pie-pack", clxx, "-O2", "-gdwarf-5", "-fPIE", "-pie", "-Wl,--pack-dyn-relocs=relr"),
	cxxBuild("gcc5-O2-exec", gxx, "-O2", "-gdwarf-5", "-no-pie", "-fno-pie"),

	cBuild("gcc5-O2-cold", gcc, "-O2", "-gdwarf-5", partition).quick().split(),
	cBuild("gcc4-O2-cold", gcc, "-O2", "-gdwarf-4", partition).split(),
	cBuild("gcc5-O3-cold", gcc, "-O3", "-gdwarf-5", partition).split(),
	cBuild("gcc4-O3-cold", gcc, "-O3", "-gdwarf-4", partition).split(),
	cBuild("gcc5-O2-profile", gcc, "-O2", "-gdwarf-5", "-fprofile-use").trained().split(),
	cBuild("gcc5-O2-flto", gcc, "-O2", "-gdwarf-5", "-flto", partition).split(),
	cBuild("gcc5-O2-sections", gcc, "-O2", "-gdwarf-5", sections, gc, partition).split(),
	cBuild("gcc3-O2", gcc, "-O2", "-gdwarf-3"),
	cBuild("gcc2-O2", gcc, "-O2", "-gdwarf-2", "-gstrict-dwarf", "-fno-reorder-blocks-and-partition"), // DWARF 2 cannot describe cold parts
	cBuild("gcc5-O0", gcc, "-O0", "-gdwarf-5"),
	cBuild("gcc5-Og", gcc, "-Og", "-gdwarf-5"),
	cBuild("gcc5-Os", gcc, "-Os", "-gdwarf-5"),
	cBuild("gcc5-O2-statement", gcc, "-O2", "-gdwarf-5", "-gstatement-frontiers", "-ginline-points", "-gno-as-locview-support"),
	cBuild("gcc5-O2-dwz", gcc, "-O2", "-gdwarf-5").after("dwz", target),
	cBuild("clang5-O2-split", clang, "-O2", "-gdwarf-5", "-mllvm", "-hot-cold-split", sections).quick().split(),
	cBuild("clang4-O2-split", clang, "-O2", "-gdwarf-4", "-mllvm", "-hot-cold-split").split(),
	cBuild("clang5-O2-machine-split", clang, "-O2", "-gdwarf-5", "-fsplit-machine-functions", "-fprofile-sample-use=profile.txt").with(samples).split(),
	cBuild("clang5-O2-bbsections", clang, "-O2", "-gdwarf-5", "-fbasic-block-sections=all"),
	cBuild("clang5-O2-flto", clang, "-O2", "-gdwarf-5", "-flto"),
	cBuild("clang5-O2-thinlto", clang, "-O2", "-gdwarf-5", "-flto=thin"),
	cBuild("clang5-Oz", clang, "-Oz", "-gdwarf-5"),
	cBuild("clang3-O1", clang, "-O1", "-gdwarf-3"),

	rustBuild("v0-O", "-O", v0).quick(),
	rustBuild("v0-O0", v0),
	rustBuild("legacy-O", "-O", legacy),
	rustBuild("legacy-O0", legacy),
	rustBuild("v0-O-dwarf5", "-O", v0, "-Cdwarf-version=5").newer(),
	rustBuild("legacy-O-fatlto", "-O", legacy, "-Clto=fat", "-Ccodegen-units=1", "-Cpanic=abort"),
})

// cxxMatrix returns both compilers with both versions at all levels.
func cxxMatrix() (all []matrixBuild) {
	for _, c := range []struct{ name, tool string }{{"gcc", gxx}, {"clang", clxx}} {
		for _, version := range []string{"4", "5"} {
			for _, level := range []string{"-O0", "-O2", "-O3", "-O2 -flto"} {
				flags := append(strings.Fields(level), "-gdwarf-"+version)
				b := cxxBuild(c.name+version+strings.ReplaceAll(level, " ", ""), c.tool, flags...)
				if b.name == "cxx-gcc5-O2" {
					b = b.quick().made()
				}
				all = append(all, b)
			}
		}
	}
	return all
}

// samples is a profile for clang: code without a count is cold.
const samples = `main:90000:1
 4: 2000
 8: 2000
any:90000:9000
 1: 9000
 11: 3000
text_of:90000:9000
 1: 9000
 4: 9000
 5: 9000
put:9000:9000
 1: 9000
step:9000:9000
 1: 9000
 2: 9000
find:9000:9000
 4: 9000
`

func (b matrixBuild) quick() matrixBuild { b.fast = true; return b }
func (b matrixBuild) made() matrixBuild  { b.ready = true; return b }
func (b matrixBuild) rows() matrixBuild  { b.rowsOnly = true; return b }
func (b matrixBuild) newer() matrixBuild { b.optional = true; return b }
func (b matrixBuild) split() matrixBuild { b.cold = true; return b }

// with gives a build the file profile.txt.
func (b matrixBuild) with(text string) matrixBuild { b.uses = text; return b }

// after adds a command that changes the binary.
func (b matrixBuild) after(command ...string) matrixBuild {
	b.then = append(b.then, command)
	return b
}

// trained runs the program to make a profile, which the compiler then uses.
func (b matrixBuild) trained() matrixBuild {
	first := slices.Clone(b.args)
	first[slices.Index(first, "-fprofile-use")] = "-fprofile-generate"
	b.before = [][]string{append([]string{b.tool}, first...), training(target, "*.gcda")}
	return b
}

// training runs a program, which leaves a profile. The exit status of the C++ program is a result.
func training(program, profile string) []string {
	return []string{"sh", "-c", "./" + program + " >run.log; ls " + profile}
}

// build makes the binary in a folder of its own.
func (b matrixBuild) build(t *testing.T) subject {
	if b.ready {
		return subject{file: testenv.Templates(t), cfi: true, least: b.least}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(testenv.Input(t, "src"))); err != nil {
		t.Fatal(err)
	}
	if b.uses != "" {
		if err := os.WriteFile(filepath.Join(dir, "profile.txt"), []byte(b.uses), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if b.plain != nil {
		b.before = append(b.before, b.makeTwin()) // first, as objects and .dwo files have the same names
	}
	compile := append([]string{b.tool}, b.args...)
	for _, command := range slices.Concat(b.before, [][]string{compile}, b.then) {
		if err := runIn(t, dir, command); err != nil {
			if b.optional {
				t.Skipf("this %s cannot: %v", b.tool, err)
			}
			t.Fatal(err)
		}
	}
	out := subject{file: filepath.Join(dir, target), rowsOnly: b.rowsOnly, cfi: !b.noCFI, least: b.least}
	if b.plain != nil {
		out.twin, out.unread = filepath.Join(dir, twin), b.unread
		if !maps.EqualFunc(codeBytes(t, out.file), codeBytes(t, out.twin), bytes.Equal) {
			t.Fatalf("%v and %v make different code", b.args, b.plain)
		}
	}
	if n := coldParts(t, out.file); b.cold && n == 0 {
		t.Error("no function has a cold part")
	}
	return out
}

// twin is the file of a build's plain form.
const twin = "twin.elf"

// makeTwin returns the command that makes the plain form of a build, which has the same code at the same
// addresses.
func (b matrixBuild) makeTwin() []string {
	args := append([]string{b.tool}, b.plain...)
	args[slices.Index(args, target)] = twin
	return args
}

// codeBytes returns the contents of the executable sections by address.
func codeBytes(t *testing.T, path string) map[uint64][]byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[uint64][]byte{}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if all[s.Addr], err = s.Data(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// coldParts counts the parts of functions that the compiler put elsewhere.
func coldParts(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if strings.HasSuffix(s.Name, ".cold") || strings.Contains(s.Name, ".cold.") {
			n++
		}
	}
	return n
}

// runIn runs a command in a folder. The test is skipped if there is no such program.
func runIn(t *testing.T, dir string, command []string) error {
	t.Helper()
	tool := command[0]
	if !strings.HasPrefix(tool, "./") {
		tool = testenv.Tool(t, tool)
	}
	args := slices.Clone(command[1:])
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--ld-path="); ok {
			args[i] = "--ld-path=" + testenv.Tool(t, name)
		}
	}
	if i := slices.Index(args, "*.o"); i >= 0 {
		objects, err := filepath.Glob(filepath.Join(dir, "*.o"))
		if err != nil || len(objects) == 0 {
			return fmt.Errorf("%d objects in %s: %v", len(objects), dir, err)
		}
		args = slices.Replace(args, i, i+1, objects...)
	}
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RUSTC_BOOTSTRAP=1", "LC_ALL=C", "CGO_ENABLED=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, text)
	}
	return nil
}
