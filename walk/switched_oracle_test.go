package walk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// jumpARM64 are functions of Boost.Context for arm64, which Debian has no cross library of: they push the same
// registers to the same places.
const jumpARM64 = `
__asm__(
	".text\n.global jump_fcontext\n.type jump_fcontext, %function\n"
	"jump_fcontext:\n"
	"sub sp, sp, #0xb0\n"
	"stp d8, d9, [sp, #0x00]\n stp d10, d11, [sp, #0x10]\n stp d12, d13, [sp, #0x20]\n stp d14, d15, [sp, #0x30]\n"
	"stp x19, x20, [sp, #0x40]\n stp x21, x22, [sp, #0x50]\n stp x23, x24, [sp, #0x60]\n stp x25, x26, [sp, #0x70]\n"
	"stp x27, x28, [sp, #0x80]\n stp x29, x30, [sp, #0x90]\n str x30, [sp, #0xa0]\n"
	"mov x4, sp\n mov sp, x0\n"
	"ldp d8, d9, [sp, #0x00]\n ldp d10, d11, [sp, #0x10]\n ldp d12, d13, [sp, #0x20]\n ldp d14, d15, [sp, #0x30]\n"
	"ldp x19, x20, [sp, #0x40]\n ldp x21, x22, [sp, #0x50]\n ldp x23, x24, [sp, #0x60]\n ldp x25, x26, [sp, #0x70]\n"
	"ldp x27, x28, [sp, #0x80]\n ldp x29, x30, [sp, #0x90]\n"
	"mov x0, x4\n ldr x4, [sp, #0xa0]\n add sp, sp, #0xb0\n ret x4\n"
	".size jump_fcontext, .-jump_fcontext\n"
	".global make_fcontext\n.type make_fcontext, %function\n"
	"make_fcontext:\n"
	"and x0, x0, ~0xf\n sub x0, x0, #0xb0\n str x2, [x0, #0xa0]\n adr x1, 1f\n str x1, [x0, #0x98]\n str xzr, [x0, #0x90]\n ret x30\n"
	"1: mov x0, #0\n bl _exit\n"
	".size make_fcontext, .-make_fcontext\n");
`

// A program with 100 fibers prints the truth about them before it crashes; each is found in its core, by swapcontext and
// by Boost.Context, optimized or not, on x86-64 and arm64.
func TestOracleFibers(t *testing.T) {
	testenv.Oracle(t)
	boost, err := filepath.EvalSymlinks(testenv.File(t, "/usr/lib/x86_64-linux-gnu/libboost_context.so", "libboost-context-dev"))
	if err != nil {
		t.Fatal(err)
	}
	source := string(testenv.ReadInput(t, "crashes", "src", "fibers.c"))
	for _, c := range []struct{ name, compiler, flags, source, qemu string }{
		{"ucontext", "gcc", "", source, ""},
		{"boost", "gcc", "-DBOOST -Wl,--no-as-needed -lboost_context", source, ""},
		{"ucontext arm64", "aarch64-linux-gnu-gcc", "-static", source, "qemu-aarch64-static"},
		{"fcontext arm64", "aarch64-linux-gnu-gcc", "-static -DBOOST", source + jumpARM64, "qemu-aarch64-static"},
	} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(c.name+level, func(t *testing.T) {
				flags := append([]string{"-g", level, "-DCOUNT=100", "-Wl,--build-id"}, strings.Fields(c.flags)...)
				program := testenv.Compile(t, c.compiler, c.source, ".c", flags...)
				core, truth := coreOfFibers(t, program, c.qemu)
				want, _ := fiberFacts(t, truth)
				if len(want) < 100 {
					t.Fatalf("the program printed %d fibers", len(want))
				}
				res := walkFibers(t, walktest.Opened(t, core), walktest.Binaries(t, program, "/lib/x86_64-linux-gnu/libc.so.6", boost))
				compareFibers(t, res, want)
				for i := range res.Stacks {
					if s := &res.Stacks[i]; s.Coroutine != nil && !s.End.Clean() {
						t.Errorf("%#x ends by %v: %s", s.Coroutine.Addr, s.End, s.Why)
					}
				}
			})
		}
	}
}

// coreOfFibers lets a program crash, by QEMU if it has a name, and returns its core and what it printed.
func coreOfFibers(t *testing.T, program, qemu string) (core string, truth []byte) {
	t.Helper()
	dir := filepath.Dir(program)
	if qemu == "" {
		core = filepath.Join(dir, "own.core")
		printed := filepath.Join(dir, "printed.txt")
		cmd := exec.Command(testenv.Tool(t, "gdb"), "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run >"+printed, "-ex", "gcore "+core, program)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		truth, _ = os.ReadFile(printed)
		return core, truth
	}
	return coreByQEMU(t, program, qemu, "")
}

// coreByQEMU lets a program crash in QEMU, and returns its core and what it printed.
func coreByQEMU(t *testing.T, program, qemu, argument string) (core string, truth []byte) {
	t.Helper()
	dir := filepath.Dir(program)
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited && exec "+testenv.Tool(t, qemu)+" -s 65536 ./prog "+argument)
	cmd.Dir = dir
	truth, err := cmd.Output()
	cores, _ := filepath.Glob(filepath.Join(dir, "qemu_prog_*.core"))
	if err == nil || len(cores) != 1 {
		t.Fatalf("%v, cores %v", err, cores)
	}
	return cores[0], truth
}
