package cfitest

import (
	"context"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Open reads the call frame information of an ELF file.
func Open(t testing.TB, path string) (*unwind.Input, *object.File) {
	t.Helper()
	f := symtest.Open(t, path)
	a := f.Arch
	if a == nil {
		t.Fatalf("%s: unknown CPU %v", path, f.CPU)
	}
	in, problems := Input(a, f, nil)
	for _, p := range problems {
		t.Fatal(p)
	}
	return in, f
}

// Libc returns the path of this machine's C library.
func Libc(t testing.TB) string {
	return testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
}

// Loader returns the path of its dynamic linker.
func Loader(t testing.TB) string { return testenv.File(t, "/lib64/ld-linux-x86-64.so.2", "libc6") }

// Libstdcxx returns the path of its C++ library.
func Libstdcxx(t testing.TB) string {
	return testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")
}

// Read reads the input as STACK CFI.
func Read(in *unwind.Input) (symfmt.CFITable, unwind.Stats, []bin.Problem) {
	r, err := unwind.Read(context.Background(), in)
	if err != nil {
		panic(err)
	}
	return r.CFI, r.Stats, r.Problems
}

// Input is like callframe.Input, for a file and a debug file, which may be nil.
func Input(a *arch.Arch, f, debug *object.File) (*unwind.Input, []bin.Problem) {
	files := []object.Companion{{File: f}}
	if debug != nil {
		files = append(files, object.Companion{File: debug})
	}
	return callframe.Input(a, files)
}
