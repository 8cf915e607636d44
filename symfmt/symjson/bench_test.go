package symjson

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// benchModule returns the symbol file that SYMTOOL_BENCH_SYM names, or a small one.
func benchModule(b *testing.B) (*symfmt.Module, int64) {
	path := os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" {
		path = filepath.Join(testenv.Root(b), "golden", "dwarf2sym", "clang-dwarf5.sym")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return symtest.Module(b, data), int64(len(data))
}

// Throughput counts the bytes of the symbol file.
func BenchmarkWrite(b *testing.B) {
	m, size := benchModule(b)
	for _, f := range forms {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for range b.N {
				if err := Write(io.Discard, m, f.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	m, size := benchModule(b)
	for _, f := range forms {
		data := write(b, m, f.o)
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			b.ReportMetric(float64(len(data))/float64(size), "x")
			for range b.N {
				if _, _, err := read(bytes.NewReader(data), int64(len(data)), ReadOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
