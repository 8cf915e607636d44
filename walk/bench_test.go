package walk

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// BenchmarkWalk walks all threads of a crash repeatedly, like a service that has
// already read the symbols: 400 frames of recursion by STACK CFI, and waiting
// threads.
func BenchmarkWalk(b *testing.B) {
	for _, name := range []string{"deeprec", "threads", "inlines"} {
		b.Run(name, func(b *testing.B) {
			file, err := dumpfile.Open(b.Context(), filepath.Join(testenv.Shared(b, "data", "crashes", name), "dump.dmp"), dumpfile.Options{})
			if err != nil {
				b.Fatal(err)
			}
			d := file.Dump
			defer file.Close()
			w := NewWalker(symbolSources(b, walktest.CrashStore(b)), Config{})
			frames := 0
			walk := func() {
				res, err := w.Walk(context.Background(), d)
				if err != nil {
					b.Fatal(err)
				}
				for i := range res.Stacks {
					frames += len(res.Stacks[i].Frames)
				}
			}
			walk()
			frames = 0
			b.ReportAllocs()
			allocations := testing.AllocsPerRun(10, walk)
			perWalk := frames / 11
			frames = 0
			b.ResetTimer()
			for range b.N {
				walk()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
			b.ReportMetric(allocations/float64(perWalk), "allocs/frame")
		})
	}
}

// A warm walk allocates nothing for most frames.
func TestWalkAllocates(t *testing.T) {
	d := walktest.Opened(t, filepath.Join(testenv.Shared(t, "data", "crashes", "deeprec"), "dump.dmp"))
	w := NewWalker(symbolSources(t, walktest.CrashStore(t)), Config{})
	frames := 0
	n := testenv.Allocations(5, func() {
		res, err := w.Walk(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		frames = len(res.Stacks[0].Frames)
	})
	if frames < 400 || n > float64(frames)/4 {
		t.Errorf("%v allocations for %d frames", n, frames)
	}
}

// Frames know where their line records begin.
func TestLineStart(t *testing.T) {
	a := walktest.Assemble(t, arch.X86_64, dump.Linux)
	a.Module("app", 0x400000, 0x1000, "FILE 0 a.c\nFUNC 100 100 0 f\n100 20 1 0\n140 8 2 0\n").At(stackAt).Mark("sp").Word(walktest.Junk)
	for pc, want := range map[uint64]uint64{0x400100: 0x400100, 0x400107: 0x400100, 0x400120: 0, 0x400147: 0x400140} {
		a.Threads = nil
		if f := walkFirst(a.Regs("$rip", pc, "$rsp", "sp"), Config{}).Frames[0]; f.LineStart != want || f.Start != 0x400100 {
			t.Errorf("%#x: line at %#x, function at %#x, want %#x", pc, f.LineStart, f.Start, want)
		}
	}
}

// BenchmarkCodeInMemory walks frames whose rules are derived from the code in the dump: two functions, and a recursion.
func BenchmarkCodeInMemory(b *testing.B) {
	for _, depth := range []int{1, 10_000} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			d := recursion(b, depth, "").Build()
			frames := 0
			for b.Loop() {
				res, err := NewWalker(NewSymbolSet(nil, nil), Config{}).Walk(b.Context(), d)
				if err != nil {
					b.Fatal(err)
				}
				frames += len(res.Stacks[0].Frames)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
		})
	}
}
