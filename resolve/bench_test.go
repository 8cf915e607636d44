package resolve

import (
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
		r, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// BenchmarkFind looks addresses of functions up, which were read before, on one
// processor. Mlookups/s are
// millions in a second of the fastest round, which other programs disturbed least,
// user-ns/lookup is of all rounds.
//
//	random   100,000 addresses in functions drawn from all
//	sorted   the same, ascending
//	hot      1,000 of them, again and again
func BenchmarkFind(b *testing.B) {
	r, err := Open(benchFile(b))
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
					if _, err := r.Find(rva, &at); err != nil {
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
	r, unwritten, err := OpenIndexed(path, folder)
	if err != nil || unwritten != nil {
		b.Fatal(err, unwritten)
	}
	r.Close()
	b.ResetTimer()
	for range b.N {
		r, _, err := OpenIndexed(path, folder)
		if err != nil || r.unmap == nil {
			b.Fatal("the index was not used", err)
		}
		r.Close()
	}
}

// BenchmarkFirst looks each function of a symbol file up for the first time,
// which reads it.
func BenchmarkFirst(b *testing.B) {
	path := benchFile(b)
	var at Location
	for range b.N {
		b.StopTimer()
		r, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for i := range r.x.funcs.len() {
			if _, err := r.Find(r.x.funcs.start(i), &at); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(r.x.funcs.len())/1e6/(b.Elapsed().Seconds()/float64(b.N)), "Mfunctions/s")
		b.ReportMetric(float64(r.cache.Load().held)/1e6, "held-MB")
		r.Close()
	}
}
