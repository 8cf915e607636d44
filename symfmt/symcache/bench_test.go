package symcache

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// benchModule reads the symbol file that SYMTOOL_SYMCACHE_FILE names, with the base
// SYMTOOL_SYMCACHE_BASE, or one of the tests'.
func benchModule(b *testing.B) (*symfmt.Module, symfmt.RVA) {
	b.Helper()
	path := os.Getenv("SYMTOOL_SYMCACHE_FILE")
	if path == "" {
		path = filepath.Join(testenv.Root(b), "golden", "dwarf2sym", "clang-dwarf5.sym")
	}
	base, _ := strconv.ParseUint(os.Getenv("SYMTOOL_SYMCACHE_BASE"), 0, 64)
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	result, err := symfmt.Read(context.Background(), f, symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		b.Fatal(err)
	}
	m := result.Module
	return m, symfmt.RVA(base)
}

func BenchmarkWrite(b *testing.B) {
	m, base := benchModule(b)
	b.ReportAllocs()
	for b.Loop() {
		var out counter
		if err := Write(&out, m, Options{Base: base}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out))
	}
}

func BenchmarkLosses(b *testing.B) {
	m, base := benchModule(b)
	b.ReportAllocs()
	for b.Loop() {
		Losses(m, Options{Base: base})
	}
}

func BenchmarkRead(b *testing.B) {
	m, base := benchModule(b)
	var data bytes.Buffer
	if err := Write(&data, m, Options{Base: base}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(data.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, problems, err := readAll(bytes.NewReader(data.Bytes()), int64(data.Len()), ReadOptions{Base: base}); err != nil || len(problems) > 0 {
			b.Fatal(err, problems)
		}
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
