package dwarf2sym

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// BenchmarkStage measures what follows the units (BenchmarkScan and BenchmarkLines), each
// stage by itself and on one processor. The file is $SYMTOOL_BENCH_FILE or, if that is
// not set, symtool itself, which the go command builds: name a file to compare two
// commits. MB are of the section or text that the stage reads, or of the text that it
// writes.
func BenchmarkStage(b *testing.B) {
	f := stageFile(b)
	names := stageNames(b, f)
	b.Run("demangle", func(b *testing.B) { stageDemangle(b, names) })
	b.Run("merge", func(b *testing.B) { stageMerge(b, f) })
	result, err := Read(context.Background(), f, Options{Demangle: true})
	if err != nil {
		b.Fatal(err)
	}
	m := result.Module
	var text bytes.Buffer
	if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) { stageWrite(b, m, text.Len()) })
	b.Run("text", func(b *testing.B) { stageText(b, text.Bytes()) })
}

// stageFile opens the file to measure.
func stageFile(b *testing.B) *object.File {
	b.Helper()
	path := os.Getenv("SYMTOOL_BENCH_FILE")
	if path == "" {
		path = filepath.Join(b.TempDir(), "symtool")
		// The test's own program has no debug information, as go test omits it.
		build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/symtool")
		build.Dir = testenv.Root(b)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", build, err, out)
		}
	}
	f := symtest.Open(b, path)
	if !f.HasDWARF() {
		b.Fatalf("%s has no debug information", path)
	}
	return f
}

// stageUnits returns a reader that has read all units, up to join.
func stageUnits(b *testing.B, f *object.File) *reader {
	b.Helper()
	r, d := benchReader(b, f, Options{Jobs: 1})
	if err := r.readUnits(context.Background(), d); err != nil {
		b.Fatal(err)
	}
	return r
}

// stageNames returns the mangled names of the file. If it has none, as in C or Go, it
// returns those of fixtures.
func stageNames(b *testing.B, f *object.File) []string {
	names := mangledNames(b, f)
	for _, fixture := range []string{"scopes-gcc5.elf", "scopes-clang5.elf", "lto-gcc.elf", "rust-legacy.elf", "rust-v0.elf"} {
		if len(names) >= 100 {
			break
		}
		small, err := objfile.Open(testenv.Input(b, fixture), object.DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		defer small.Close()
		names = append(names, mangledNames(b, small)...)
	}
	return names
}

// stageDemangle demangles each name once, as a dump does.
func stageDemangle(b *testing.B, names []string) {
	size, changed := 0, 0
	for _, name := range names {
		size += len(name)
		if sourceName(name, true) != name {
			changed++
		}
	}
	if changed < len(names)/2 {
		b.Fatalf("%d of %d names were demangled", changed, len(names))
	}
	stageLoop(b, size, func() error {
		for _, name := range names {
			sourceName(name, true)
		}
		return nil
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(names)), "ns/name")
}

// stageLoop measures run, which processes size bytes, in processor time, too: the clock
// says little on a busy machine.
func stageLoop(b *testing.B, size int, run func() error) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := testenv.ProcessTime()
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	cpu := (testenv.ProcessTime() - before).Seconds()
	b.ReportMetric(float64(size)*float64(b.N)/1e6/cpu, "MB/cpu-s")
}

func mangledNames(b *testing.B, f *object.File) (mangled []string) {
	r := stageUnits(b, f)
	r.names.Freeze()
	for id := range r.names.Len() {
		name := r.names.At(uint32(id))
		if strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") {
			mangled = append(mangled, name)
		}
	}
	return mangled
}

// stageMerge sorts the workers' records, resolves their conflicts and numbers them; names
// are unchanged. MB are of .debug_info.
func stageMerge(b *testing.B, f *object.File) {
	b.SetBytes(f.Section(".debug_info").Size())
	b.ReportAllocs()
	funcs := 0
	for b.Loop() {
		b.StopTimer()
		r := stageUnits(b, f)
		b.StartTimer()
		if err := r.join(context.Background()); err != nil {
			b.Fatal(err)
		}
		funcs = len(r.module.Funcs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*cmp.Or(funcs, 1)), "ns/func")
}

func stageWrite(b *testing.B, m *symfmt.Module, size int) {
	stageLoop(b, size, func() error {
		return symfmt.Write(io.Discard, m, symfmt.WriteOptions{Jobs: 1})
	})
}

func stageText(b *testing.B, text []byte) {
	stageLoop(b, len(text), func() error {
		_, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{})
		return err
	})
}
