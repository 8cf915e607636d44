package walk_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// schedulerSource returns coroutines.cpp, and the flags with which compilers make it.
func schedulerSource(t *testing.T) (source string, flags []string) {
	t.Helper()
	source = string(testenv.ReadInput(t, "crashes", "src", "coroutines.cpp"))
	flags = []string{"-std=c++20", "-g"}
	for i, line := range strings.Split(source, "\n") {
		for _, function := range []string{"leaf", "middle", "top"} {
			if strings.HasPrefix(line, "Task<") && strings.Contains(line, "> "+function+"(") {
				flags = append(flags, fmt.Sprintf("-D%s=%d", strings.ToUpper(function), i+1))
			}
		}
	}
	return source, flags
}

// A scheduler with 1,000 tasks prints the truth about its 3,000 coroutines before it crashes; every row is found in its
// core, and in a minidump made of it, by GCC and clang at each level of optimization.
func TestOracleCoroutines(t *testing.T) {
	testenv.Oracle(t)
	source, flags := schedulerSource(t)
	for _, compiler := range []string{"g++", "clang++-22"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			t.Run(compiler+level, func(t *testing.T) {
				program := testenv.Compile(t, compiler, source, ".cpp", append(flags, level)...)
				core, truth := coreOfTasks(t, program)
				for _, path := range []string{core, walktest.AsMinidump(t, core)} {
					res := compareCoroutines(t, program, path, truth)
					if n := len(coroutinesOf(t, res)); n < 2000 {
						t.Errorf("%d coroutines", n)
					}
				}
			})
		}
	}
}

// allocation is the part of C++'s library that coroutines.cpp needs, which Debian's cross compiler of C lacks.
const allocation = `
extern "C" { void *malloc(unsigned long); void free(void *); }
void *operator new(unsigned long n) { return malloc(n); }
void operator delete(void *p) noexcept { free(p); }
void operator delete(void *p, unsigned long) noexcept { free(p); }
`

// The same program on arm64, by clang: the lines are those at which the number of the suspension point is set.
func TestOracleCoroutinesARM64(t *testing.T) {
	testenv.Oracle(t)
	source, flags := schedulerSource(t)
	lld := testenv.Tool(t, "ld.lld-22")
	flags = append(flags, strings.Fields("--target=aarch64-linux-gnu -fno-exceptions -fno-rtti -static -nostdlib++ -Wl,--build-id -isystem /usr/include/c++/12 "+
		"-isystem /usr/include/x86_64-linux-gnu/c++/12 -isystem /usr/aarch64-linux-gnu/include --ld-path="+lld)...)
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
		t.Run(level, func(t *testing.T) {
			program := testenv.Compile(t, "clang++-22", source+allocation, ".cpp", append(flags, level)...)
			core, truth := coreByQEMU(t, program, "qemu-aarch64-static", "1000")
			res := compareCoroutines(t, program, core, truth)
			if n := len(coroutinesOf(t, res)); n < 2000 {
				t.Errorf("%d coroutines", n)
			}
		})
	}
}

// coreOfTasks runs a program with 1,000 tasks in gdb, and returns a core of its crash and what it printed.
func coreOfTasks(t *testing.T, program string) (core string, truth []byte) {
	t.Helper()
	core = filepath.Join(t.TempDir(), "core")
	printed := core + ".txt"
	cmd := exec.Command(testenv.Tool(t, "gdb"), "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run 1000 >"+printed, "-ex", "gcore "+core, program)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &messages)
	}
	truth, err := os.ReadFile(printed)
	if err != nil || len(truth) == 0 {
		t.Fatalf("the program printed nothing: %v %s", err, &messages)
	}
	return core, truth
}
