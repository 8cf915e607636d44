package callframe_test

import (
	"os/exec"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// TestCFISeparateDebugFile joins a stripped binary and its debug file, in which
// .eh_frame is empty.
func TestCFISeparateDebugFile(t *testing.T) {
	for _, tables := range []string{"-fasynchronous-unwind-tables", "-fno-asynchronous-unwind-tables"} {
		whole := cfitest.Compile(t, "gcc", "-O2", tables)
		debug, stripped := whole+".debug", whole+".stripped"
		for _, args := range [][]string{
			{"--only-keep-debug", whole, debug},
			{"--strip-debug", whole, stripped},
		} {
			if out, err := exec.Command(testenv.Tool(t, "objcopy"), args...).CombinedOutput(); err != nil {
				t.Fatalf("objcopy: %v\n%s", err, out)
			}
		}
		in, f := cfitest.Open(t, whole)
		want, _, _ := cfitest.Read(in)
		_, b := cfitest.Open(t, stripped)
		_, d := cfitest.Open(t, debug)
		joined, problems := cfitest.Input(in.Arch, b, d)
		got, _, _ := cfitest.Read(joined)
		if len(problems) > 0 || len(got.Blocks) < 15 || symtest.CFI(&got) != symtest.CFI(&want) {
			t.Errorf("%s: %d blocks, want %d; %v", f.Path, len(got.Blocks), len(want.Blocks), problems)
		}
	}
}
