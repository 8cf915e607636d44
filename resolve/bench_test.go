package resolve

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

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

// BenchmarkFind looks 100,000 addresses of functions up, which were read before.
func BenchmarkFind(b *testing.B) {
	r, err := Open(benchFile(b))
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	var at Location
	addrs := make([]symfmt.RVA, 100000)
	for i := range addrs {
		s := r.x.funcs.span(rng.IntN(r.x.funcs.len()))
		addrs[i] = s.rva + symfmt.RVA(rng.Uint64N(max(s.size, 1)))
		if _, err := r.Find(addrs[i], &at); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for i := range b.N {
		r.Find(addrs[i%len(addrs)], &at)
	}
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/float64(b.N), "user-ns/op")
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
