package callframe_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/testenv"
)

// cfiOracleFiles are the inputs for comparisons with other tools.
func cfiOracleFiles(t *testing.T, run func(t *testing.T, path string)) {
	for _, path := range []func(testing.TB) string{cfitest.Libc, cfitest.Loader, cfitest.Libstdcxx} {
		t.Run(filepath.Base(path(t)), func(t *testing.T) { run(t, path(t)) })
	}
	t.Run("libc6-dbg", func(t *testing.T) {
		_, f := cfitest.Open(t, cfitest.Libc(t))
		id := fmt.Sprintf("%x", f.BuildID())
		path := "/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug"
		run(t, testenv.File(t, path, "libc6-dbg"))
	})
	t.Run("go", func(t *testing.T) { run(t, cfitest.GoProgram(t)) })
	fixtures, err := filepath.Glob(filepath.Join(testenv.Input(t), "cpu-*.elf"))
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("%d fixtures: %v", len(fixtures), err)
	}
	for _, path := range fixtures {
		if strings.Contains(path, "cpu-arm64-") {
			continue // return addresses with a code: TestCFILLVM covers them
		}
		t.Run(filepath.Base(path), func(t *testing.T) { run(t, path) })
	}
	for _, cpu := range []string{"arm", "arm64", "mips64", "riscv64", "x86"} {
		t.Run("static "+cpu, func(t *testing.T) { run(t, testenv.Shared(t, "data", "arch", cpu, "prog")) })
	}
	for _, c := range [][]string{
		{"aarch64-linux-gnu-gcc", "-mbranch-protection=standard"}, {"arm-linux-gnueabihf-gcc", "-fexceptions"},
		{"s390x-linux-gnu-gcc"}, {"powerpc64-linux-gnu-gcc"}, {"powerpc-linux-gnu-gcc"}, {"riscv64-linux-gnu-gcc"},
		{"mips64-linux-gnuabi64-gcc"}, {"mips-linux-gnu-gcc"}, {"i686-linux-gnu-gcc"}, {"gcc"},
		{"clang-22"}, {"clang-22", "-mstackrealign", "-fuse-ld=bfd"}, {"gcc", "-mavx512f", "-fno-omit-frame-pointer"},
	} {
		for _, o := range []string{"-O0", "-O2", "-Os"} {
			for _, tables := range []string{"-fasynchronous-unwind-tables", "-fno-asynchronous-unwind-tables"} {
				t.Run(strings.Join(append(c, o, tables), " "), func(t *testing.T) {
					run(t, cfitest.Compile(t, c[0], append(c[1:], o, tables)...))
				})
			}
		}
	}
}

// TestCFIReadelf compares with readelf at the start of each of its rows.
func TestCFIReadelf(t *testing.T) {
	testenv.Oracle(t)
	cfiOracleFiles(t, func(t *testing.T, path string) { cfiAll(t, path, "readelf", cfitest.Readelf) })
}

// TestCFILLVM compares with llvm-dwarfdump.
func TestCFILLVM(t *testing.T) {
	testenv.Oracle(t)
	for _, name := range []string{"cpu-arm64-pac.elf", "cpu-arm64-bkey.elf", "cpu-arm64-pac-pc.elf", "cpu-arm64-mte.elf"} {
		t.Run(name, func(t *testing.T) { cfitest.Against(t, testenv.Input(t, name), "llvm-dwarfdump", cfitest.LLVM) })
	}
	cfiOracleFiles(t, func(t *testing.T, path string) { cfiAll(t, path, "llvm-dwarfdump", cfitest.LLVM) })
}

func cfiAll(t *testing.T, path, tool string, read cfitest.Tool) {
	if cfitest.Against(t, path, tool, read) == 0 {
		t.Skip("no call frame information in " + path)
	}
}
