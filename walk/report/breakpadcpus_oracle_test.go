package report

import (
	"maps"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// Breakpad's walker walks from the crash of a program on ARM to _start, and no further,
// with our symbols and a minidump made from the core. Where _start signs its return
// address, 0, Breakpad takes the signed address for a caller.
func TestOracleBreakpadARM(t *testing.T) {
	if !testenv.OracleFull() {
		t.Skip("make oracle-full compiles and runs a program for five layouts")
	}
	clang := func(target string, flags ...string) []string {
		return append([]string{"clang-22", "-fuse-ld=lld", "--target=" + target}, flags...)
	}
	for _, c := range []struct {
		name, qemu string
		compiler   []string
	}{
		{"arm by GCC", "arm", []string{"arm-linux-gnueabihf-gcc", "-marm"}},
		{"arm by Clang, Thumb", "arm", clang("thumbv7-linux-gnueabihf")},
		{"arm64 by GCC", "aarch64", []string{"aarch64-linux-gnu-gcc"}},
		{"arm64", "aarch64", clang("aarch64-linux-gnu")},
		{"arm64, signed", "aarch64", clang("aarch64-linux-gnu", "-march=armv8.3-a", "-mbranch-protection=pac-ret+leaf")},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, core := walktest.ChainCore(t, c.qemu, c.compiler)
			symbols := t.TempDir()
			if err := walktest.WriteSymbols(program, symbols); err != nil {
				t.Fatal(err)
			}
			stacks := breakpadFramesOf(t, convertedCore(t, core, program), symbols)
			var got []string
			for _, f := range stacks["0"] {
				got = append(got, f.function)
			}
			want := []string{"crash", "deep", "deep", "deep", "deep", "deep", "deep", "_start"}
			if c.name == "arm64, signed" {
				want = append(want, "")
			}
			if len(stacks) != 1 || !slices.Equal(got, want) {
				t.Errorf("threads %q: %q, want %q", slices.Sorted(maps.Keys(stacks)), got, want)
			}
		})
	}
}
