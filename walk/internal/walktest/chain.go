package walktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// chainSource crashes in a leaf function, called by others that keep frame
// pointers. It needs no library.
const chainSource = `
__attribute__((noinline)) int crash(volatile int *p) { volatile int y[4]; y[0] = *p; *(volatile int *)16 = y[0]; return y[0]; }
__attribute__((noinline)) int deep(int n) { volatile int x[10]; x[n] = n; return (n ? deep(n - 1) : crash(x)) + x[n]; }
void _start(void) { deep(5); for (;;) ; }
#ifdef __arm__
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
#endif
`

// ChainCore compiles the program and runs it to its crash.
func ChainCore(t *testing.T, qemu string, compiler []string) (program, core string) {
	t.Helper()
	folder := t.TempDir()
	program = filepath.Join(folder, "prog")
	if err := os.WriteFile(program+".c", []byte(chainSource), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append(compiler[1:], strings.Fields("-g -O1 -nostdlib -static -ffreestanding -funwind-tables -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id -o")...)
	if out, err := exec.Command(testenv.Tool(t, compiler[0]), append(args, program, program+".c")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := exec.Command("sh", "-c", "ulimit -c unlimited && exec "+testenv.Tool(t, "qemu-"+qemu+"-static")+" ./prog")
	run.Dir = folder
	if err := run.Run(); err == nil {
		t.Fatal("no crash")
	}
	cores, err := filepath.Glob(filepath.Join(folder, "qemu_prog_*.core"))
	if err != nil || len(cores) != 1 {
		t.Fatalf("cores %q, %v", cores, err)
	}
	return program, cores[0]
}
