package dwarf2sym

import (
	"context"
	"os"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/symtest"
)

// benchFile returns a large binary with debug information: $SYMTOOL_BENCH_FILE, or else
// libc's debug file, or else the test's own program.
func benchFile(b *testing.B) *object.File {
	b.Helper()
	path := os.Getenv("SYMTOOL_BENCH_FILE")
	if path == "" {
		path = libcDebug()
	}
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		path = self
	}
	f := symtest.Open(b, path)
	if !f.HasDWARF() {
		b.Skip(path + " has no debug information")
	}
	b.SetBytes(f.Section(".debug_info").Size())
	return f
}

// libcDebug returns the path of libc's debug file, or "".
func libcDebug() string {
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"} {
		f, err := objfile.Open(path, object.DefaultLimits())
		if err != nil {
			continue
		}
		defer f.Close()
		set := debugset.Set{Binary: f}
		defer set.Close()
		finder := debugset.Finder{Dirs: []string{DefaultDebugDir}, Limits: object.DefaultLimits()}
		if err := finder.Complete(context.Background(), &set); err == nil && set.Debug != nil {
			return set.Debug.Path
		}
	}
	return ""
}

// benchReader returns a reader in the state in which Read begins to read units. It can be
// used only once, as reading uses up the queue of units and the effort.
func benchReader(b *testing.B, f *object.File, o Options) (*reader, *units.Data) {
	b.Helper()
	r := &reader{opts: &o, file: f, jobs: max(o.Jobs, 1), code: codemap.Of(f), files: filesOf(f)}
	r.readSymbols()
	d := r.openDebugData()
	if d == nil {
		b.Fatal(r.problems)
	}
	return r, d
}

// BenchmarkUnits measures everything that workers do: scan, lines, names.
func BenchmarkUnits(b *testing.B) {
	f := benchFile(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		r, d := benchReader(b, f, Options{})
		b.StartTimer()
		if err := r.readUnits(context.Background(), d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMerge joins the workers' results: names, files, order.
func BenchmarkMerge(b *testing.B) {
	f := benchFile(b)
	for b.Loop() {
		b.StopTimer()
		r, d := benchReader(b, f, Options{Demangle: true, Jobs: 2})
		if err := r.readUnits(context.Background(), d); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := r.join(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead measures Read as a whole, with call frame information.
func BenchmarkRead(b *testing.B) {
	f := benchFile(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), f, Options{Demangle: true}); err != nil {
			b.Fatal(err)
		}
	}
}
