package code

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleRemovalCompiled does the same with programs that compilers make for each CPU at each level of optimization.
func TestOracleRemovalCompiled(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join(testenv.Root(t), "walk/testdata/derived/*.c"))
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, c := range []struct{ tool, flags string }{
		{"gcc", ""},
		{"gcc", "-fcf-protection=full"},
		{"clang-22", ""},
		{"aarch64-linux-gnu-gcc", ""},
		{"aarch64-linux-gnu-gcc", "-mbranch-protection=standard"},
		{"aarch64-linux-gnu-gcc", "-mbranch-protection=pac-ret+leaf+b-key"},
		{"riscv64-linux-gnu-gcc", ""},
		{"riscv64-linux-gnu-gcc", "-mno-relax"},
		{"riscv64-linux-gnu-gcc", "-msave-restore"},
		{"riscv64-linux-gnu-gcc", "-march=rv64gc_zba_zbb"},
		{"arm-linux-gnueabihf-gcc", "-g -marm"},
		{"arm-linux-gnueabihf-gcc", "-g -mthumb"},
		{"clang-22", "-g -marm --target=arm-linux-gnueabihf --sysroot=/usr/arm-linux-gnueabihf -isystem /usr/arm-linux-gnueabihf/include -fuse-ld=lld -nostdlib"},
		{"clang-22", "-g -mthumb --target=arm-linux-gnueabihf --sysroot=/usr/arm-linux-gnueabihf -isystem /usr/arm-linux-gnueabihf/include -fuse-ld=lld -nostdlib"},
		{"clang-22", "--target=riscv64-linux-gnu --sysroot=/usr/riscv64-linux-gnu -isystem /usr/riscv64-linux-gnu/include -fuse-ld=lld -nostdlib"},
		{"clang-22", "--target=aarch64-linux-gnu --sysroot=/usr/aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include -fuse-ld=lld -nostdlib"},
	} {
		t.Run(c.tool+c.flags, func(t *testing.T) {
			tool := testenv.Tool(t, c.tool)
			var all removed
			for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer"} {
				for _, source := range sources {
					out := filepath.Join(t.TempDir(), "lib.so")
					args := append(strings.Fields(c.flags+" "+level), "-fasynchronous-unwind-tables", "-w", "-shared", "-fPIC", "-o", out, source)
					if msg, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
						t.Fatalf("%q: %v: %s", args, err, msg)
					}
					r := remove(t, out, 5)
					all.add(&r)
				}
			}
			t.Logf("%v", &all)
			if all.verdicts[wrong] > 0 || all.verdicts[right] < all.total()/3 { // calls of routines that save registers are not followed
				t.Errorf("%d bytes wrong, %d right", all.verdicts[wrong], all.verdicts[right])
			}
		})
	}
}
