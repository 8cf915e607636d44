package dwarf2sym_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/testenv"
)

// The same as TestOracleLines and TestCFIReadelf for this machine's CPU, but for all
// others: Debian's C library for each, with its separate debug files, and programs built
// by cross compilers and by clang. ORACLE_FULL_PACKAGES in the Makefile lists the
// compilers; .ci/cpus downloads the libraries.
func TestOracleCPUs(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("half an hour of compilers and downloads: make oracle-full")
	}
	symtool := symtoolBinary(t)
	table := &agreement{}
	t.Run("of", func(t *testing.T) {
		compare := func(name string, of func(t *testing.T) subject) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := of(t)
				c := compareLines(t, symtool, s)
				c.cfiRows = cfitest.Compare(t, s.file)
				if s.debug != "" {
					c.cfiRows += cfitest.Compare(t, s.debug)
				}
				if c.cfiRows < s.least/100 {
					t.Errorf("%d rows of CFI", c.cfiRows)
				}
				table.add(name, c)
			})
		}
		for _, cpu := range debianCPUs {
			for _, pattern := range debianLibraries {
				name, _, _ := strings.Cut(strings.ReplaceAll(pattern, "*", ""), ".")
				compare(name+"-"+cpu, func(t *testing.T) subject {
					file, debug := debianLibrary(t, cpu, pattern)
					return subject{file: file, debug: debug, least: large}
				})
			}
		}
		for _, b := range crossBuilds() {
			compare(b.name, b.build)
		}
	})
	t.Logf("\n%s", table)
}

// crossCompilers are GCC's, each with the flags for the kinds of code that it generates.
var crossCompilers = []struct {
	name, tool string
	flags      []string
}{
	{"x86", "i686-linux-gnu-gcc", nil},
	{"arm", "arm-linux-gnueabihf-gcc", []string{"-marm"}},
	{"thumb", "arm-linux-gnueabihf-gcc", []string{"-mthumb"}},
	{"arm64", "aarch64-linux-gnu-gcc", []string{"-mbranch-protection=standard"}},
	{"mips", "mips-linux-gnu-gcc", nil},
	{"mips64", "mips64-linux-gnuabi64-gcc", nil},
	{"mips64el", "mips64el-linux-gnuabi64-gcc", nil},
	{"ppc", "powerpc-linux-gnu-gcc", nil},
	{"ppc64", "powerpc64-linux-gnu-gcc", nil},
	{"ppc64el", "powerpc64le-linux-gnu-gcc", nil},
	{"riscv64", "riscv64-linux-gnu-gcc", nil},
	{"s390x", "s390x-linux-gnu-gcc", nil},
}

// clangTargets are linked without a C library; only the headers of the cross compiler's
// library are used. riscv32 uses the headers of riscv64.
var clangTargets = []struct {
	name, target, headers string
	flags                 []string
	rowsOnly              bool // big-endian: debug/dwarf stops at a string of theirs
}{
	{"x86", "i686-linux-gnu", "i686-linux-gnu", nil, false},
	{"arm", "armv7-linux-gnueabihf", "arm-linux-gnueabihf", nil, false},
	{"arm64", "aarch64-linux-gnu", "aarch64-linux-gnu", nil, false},
	{"mips", "mips-linux-gnu", "mips-linux-gnu", nil, true},
	{"mips64", "mips64-linux-gnuabi64", "mips64-linux-gnuabi64", nil, true},
	{"ppc", "powerpc-linux-gnu", "powerpc-linux-gnu", nil, true},
	{"ppc64", "powerpc64-linux-gnu", "powerpc64-linux-gnu", nil, true},
	{"ppc64el", "powerpc64le-linux-gnu", "powerpc64le-linux-gnu", nil, false},
	{"riscv", "riscv32-linux-gnu", "riscv64-linux-gnu", []string{"-march=rv32gc", "-mabi=ilp32d"}, false},
	{"riscv64", "riscv64-linux-gnu", "riscv64-linux-gnu", nil, false},
	{"s390x", "s390x-linux-gnu", "s390x-linux-gnu", nil, true},
}

// The program with hot and cold parts, and ten thousand lines from Debian.
var crossSources = []string{"-w", "-idirafter", "/usr/include", "program_main.c", "program_json.c", "program_stb.c"}

func crossBuilds() (all []matrixBuild) {
	add := func(name, tool string, flags ...string) {
		all = append(all, matrixBuild{name: name, tool: tool, args: slices.Concat([]string{"-g"}, flags, crossSources, []string{"-o", target}), least: large})
		if slices.Contains(flags, "-static") {
			all[len(all)-1].args = append(all[len(all)-1].args, "-lm")
		}
	}
	for _, c := range crossCompilers {
		for _, level := range []string{"-O0", "-O2"} {
			add("gcc-"+c.name+level, c.tool, slices.Concat([]string{"-static", level}, c.flags)...)
		}
	}
	for _, c := range clangTargets {
		flags := []string{"--target=" + c.target, "-isystem", filepath.Join("/usr", c.headers, "include"), "-I", ".", "-shared", "-fPIC", "-nostdlib", "-O2"}
		add("clang-"+c.name+"-O2", clang, slices.Concat(linker(clang), flags, c.flags)...)
		b := &all[len(all)-1]
		b.rowsOnly = c.rowsOnly
		if c.name == "riscv" {
			// Which C libraries there are: a header of glibc's asks for one that Debian
			// does not have.
			b.before = [][]string{{"mkdir", "gnu"}, {"touch", "gnu/stubs-ilp32d.h"}}
		}
	}
	return all
}
