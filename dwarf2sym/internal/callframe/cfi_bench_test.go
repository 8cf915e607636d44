package callframe_test

import (
	"os"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/testenv"
)

// BenchmarkCFI reads the sections of $SYMTOOL_BENCH_FILE, if that is set, and of libraries.
func BenchmarkCFI(b *testing.B) {
	files := map[string]func(testing.TB) string{"libc": cfitest.Libc, "libstdc++": cfitest.Libstdcxx}
	if path := os.Getenv("SYMTOOL_BENCH_FILE"); path != "" {
		files["file"] = func(testing.TB) string { return path }
	}
	for name, path := range files {
		b.Run(name, func(b *testing.B) {
			in, _ := cfitest.Open(b, path(b))
			if len(in.Sections) == 0 {
				b.Skip("no .eh_frame and no .debug_frame")
			}
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
	start := testenv.ProcessTime()
	for b.Loop() {
		_, stats, _ := cfitest.Read(in)
		rows = stats.Rows + stats.Blocks
	}
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(testenv.ProcessTime()-start)/float64(b.N*rows), "cpu-ns/row")
}
