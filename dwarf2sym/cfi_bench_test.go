package dwarf2sym

import (
	"syscall"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/unwind"
)

// BenchmarkCFI reads real sections.
func BenchmarkCFI(b *testing.B) {
	for name, path := range map[string]func(testing.TB) string{"libc": cfiLibc, "libstdc++": cfiLibstdcxx} {
		b.Run(name, func(b *testing.B) {
			in, _ := cfiOpen(b, path(b))
			benchmarkCFI(b, in)
		})
	}
}

func benchmarkCFI(b *testing.B, in *unwind.Input) {
	size := 0
	for _, s := range in.Sections {
		size += len(s.Data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	rows := 0
	start := cfiUserTime()
	for b.Loop() {
		_, stats, _ := cfiRead(in)
		rows = stats.Rows + stats.Blocks
	}
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(cfiUserTime()-start)/float64(b.N*rows), "cpu-ns/row")
}

// cfiUserTime returns the processor time used so far, in nanoseconds: the clock means
// little on a busy machine.
func cfiUserTime() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano()
}
