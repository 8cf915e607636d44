package resolve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/symfmt"
)

func benchFile(b *testing.B) string {
	path := os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" {
		b.Skip("SYMTOOL_BENCH_SYM names no symbol file")
	}
	return path
}

func BenchmarkOpen(b *testing.B) {
	path := benchFile(b)
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	b.ReportAllocs()
	for range b.N {
		r, err := openPath(context.Background(), path)
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// BenchmarkOpenLarge opens a symbol file of 1 GB at the path in SYMTOOL_BENCH_LARGE,
// and writes the file first if it is missing.
func BenchmarkOpenLarge(b *testing.B) {
	path := os.Getenv("SYMTOOL_BENCH_LARGE")
	if path == "" {
		b.Skip("SYMTOOL_BENCH_LARGE names no symbol file")
	}
	if _, err := os.Stat(path); err != nil {
		if err := writeLarge(path, 1e9); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("SYMTOOL_BENCH_SYM", path)
	BenchmarkOpen(b)
}

// writeLarge writes a symbol file with the proportions of a kernel's: a function
// has about 24 lines, 6 ranges of inlined functions and 6 rows of CFI. The size in
// bytes is a little more than size.
func writeLarge(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(3, 4))
	const files, origins = 40000, 400000
	fmt.Fprintln(w, "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 large")
	for i := range files {
		fmt.Fprintf(w, "FILE %d /usr/src/large/component%d/part/file%d.c\n", i, i/100, i)
	}
	for i := range origins {
		fmt.Fprintf(w, "INLINE_ORIGIN %d inlined_function_number_%d\n", i, i)
	}
	// The blocks, which come after the functions, are a sixth of the file.
	var functions []int // sizes
	for rva := 0x1000; ; {
		n := 1 + rng.IntN(47)
		length := 0
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = 1 + rng.IntN(24)
			length += sizes[i]
		}
		fmt.Fprintf(w, "FUNC %x %x 0 function_of_the_large_module_%d\n", rva, length, len(functions))
		for i := range n / 4 {
			fmt.Fprintf(w, "INLINE %d %d %d %d %x %x\n", i%3, rng.IntN(3000), rng.IntN(files), rng.IntN(origins), rva+i/3, max(1, length/2-i))
		}
		at, file := rva, rng.IntN(files)
		for i, size := range sizes {
			fmt.Fprintf(w, "%x %x %d %d\n", at, size, 100+rng.IntN(2000), (file+i%3)%files)
			at += size
		}
		functions = append(functions, length)
		rva += (length + 15) &^ 15
		if at, err := f.Seek(0, io.SeekCurrent); err != nil || at > size/6*5 {
			break
		}
	}
	rva := 0x1000
	for _, length := range functions {
		fmt.Fprintf(w, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", rva, length)
		for i := range min(6, length) {
			fmt.Fprintf(w, "STACK CFI %x .cfa: $rsp %d +\n", rva+i, 8*i)
		}
		rva += (length + 15) &^ 15
	}
	return w.Flush()
}

// BenchmarkFind looks up addresses in functions that were already read, on one
// processor. Mlookups/s are millions of look-ups in a second of the fastest round, which
// other programs disturbed least; user-ns/lookup is the mean of all rounds.
//
//	random   100,000 addresses in functions drawn from all
//	sorted   the same, ascending
//	hot      1,000 of them, repeatedly
func BenchmarkFind(b *testing.B) {
	r, err := openPath(context.Background(), benchFile(b))
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	random := make([]symfmt.RVA, 100000)
	for i := range random {
		s := r.x.funcs.span(rng.IntN(r.x.funcs.len()))
		random[i] = s.rva + symfmt.RVA(rng.Uint64N(max(s.size, 1)))
	}
	sorted := slices.Sorted(slices.Values(random))
	hot := slices.Repeat(random[:1000], 100)
	for _, c := range []struct {
		name  string
		addrs []symfmt.RVA
	}{{"random", random}, {"sorted", sorted}, {"hot", hot}} {
		var at Location
		b.Run(c.name, func(b *testing.B) {
			benchLookups(b, len(c.addrs), func() {
				for _, rva := range c.addrs {
					if _, err := r.Find(b.Context(), rva, &at); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// benchLookups measures rounds of n look-ups; one round is an operation.
func benchLookups(b *testing.B, n int, round func()) {
	round()
	b.ReportAllocs()
	least := time.Duration(math.MaxInt64)
	var before, after syscall.Rusage
	b.ResetTimer()
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for range b.N {
		start := time.Now()
		round()
		least = min(least, time.Since(start))
	}
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	b.ReportMetric(float64(n)/1e6/least.Seconds(), "Mlookups/s")
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/float64(b.N)/float64(n), "user-ns/lookup")
}

// BenchmarkOpenIndexed opens a symbol file through its index file.
func BenchmarkOpenIndexed(b *testing.B) {
	path, folder := benchFile(b), b.TempDir()
	r, unwritten, err := openIndexedPath(context.Background(), path, folder)
	if err != nil || unwritten != nil {
		b.Fatal(err, unwritten)
	}
	r.Close()
	b.ResetTimer()
	for range b.N {
		r, _, err := openIndexedPath(context.Background(), path, folder)
		if err != nil || r.unmap == nil {
			b.Fatal("the index was not used", err)
		}
		r.Close()
	}
}

// BenchmarkFirst looks up each function of a symbol file for the first time, which
// reads it.
func BenchmarkFirst(b *testing.B) {
	path := benchFile(b)
	var at Location
	for range b.N {
		b.StopTimer()
		r, err := openPath(context.Background(), path)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for i := range r.x.funcs.len() {
			if _, err := r.Find(b.Context(), r.x.funcs.start(i), &at); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(r.x.funcs.len())/1e6/(b.Elapsed().Seconds()/float64(b.N)), "Mfunctions/s")
		b.ReportMetric(float64(r.cache.Load().held)/1e6, "held-MB")
		r.Close()
	}
}
