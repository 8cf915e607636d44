package dwarf2sym

import (
	"context"
	"os/exec"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// cfiOpen reads the call frame information of an ELF file.
func cfiOpen(t testing.TB, path string) (*unwind.Input, *object.File) {
	t.Helper()
	f := symtest.Open(t, path)
	a := f.Arch
	if a == nil {
		t.Fatalf("%s: unknown CPU %v", path, f.CPU)
	}
	in, problems := newCFIInput(a, f, nil)
	for _, p := range problems {
		t.Fatal(p)
	}
	return in, f
}

func cfiLibc(t testing.TB) string {
	return testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
}

func cfiLoader(t testing.TB) string { return testenv.File(t, "/lib64/ld-linux-x86-64.so.2", "libc6") }

func cfiLibstdcxx(t testing.TB) string {
	return testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")
}

// TestCFISeparateDebugFile joins a stripped binary and its debug file, in which
// .eh_frame is empty.
func TestCFISeparateDebugFile(t *testing.T) {
	for _, tables := range []string{"-fasynchronous-unwind-tables", "-fno-asynchronous-unwind-tables"} {
		whole := cfiCompile(t, "gcc", "-O2", tables)
		debug, stripped := whole+".debug", whole+".stripped"
		for _, args := range [][]string{
			{"--only-keep-debug", whole, debug},
			{"--strip-debug", whole, stripped},
		} {
			if out, err := exec.Command(testenv.Tool(t, "objcopy"), args...).CombinedOutput(); err != nil {
				t.Fatalf("objcopy: %v\n%s", err, out)
			}
		}
		in, f := cfiOpen(t, whole)
		want, _, _ := cfiRead(in)
		_, b := cfiOpen(t, stripped)
		_, d := cfiOpen(t, debug)
		joined, problems := newCFIInput(in.Arch, b, d)
		got, _, _ := cfiRead(joined)
		if len(problems) > 0 || len(got.Blocks) < 15 || symtest.CFI(&got) != symtest.CFI(&want) {
			t.Errorf("%s: %d blocks, want %d; %v", f.Path, len(got.Blocks), len(want.Blocks), problems)
		}
	}
}

func cfiRead(in *unwind.Input) (symfmt.CFITable, unwind.Stats, []bin.Problem) {
	r, err := unwind.Read(context.Background(), in)
	if err != nil {
		panic(err)
	}
	return r.CFI, r.Stats, r.Problems
}
