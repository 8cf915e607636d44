package dwarf2sym

import (
	"context"
	"testing"
)

func BenchmarkCFI(b *testing.B) {
	for _, c := range []struct{ name, path string }{
		{"libc", "/lib/x86_64-linux-gnu/libc.so.6"},
		{"libstdc++", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"},
	} {
		b.Run(c.name, func(b *testing.B) {
			in, _ := cfiOpen(b, c.path)
			benchmarkCFI(b, in)
		})
	}
}

func benchmarkCFI(b *testing.B, in *cfiInput) {
	size := 0
	for _, s := range in.sections {
		size += len(s.data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		_, stats, _ := readCFI(context.Background(), in)
		rows = stats.Rows + stats.Blocks
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
