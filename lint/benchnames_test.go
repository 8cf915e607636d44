package lint

import (
	"context"
	"os"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// BenchmarkNames measures the rules of names, and a run without rules, on SYMTOOL_BENCH_SYM.
func BenchmarkNames(b *testing.B) {
	path := os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" {
		b.Skip("SYMTOOL_BENCH_SYM names no symbol file")
	}
	for _, c := range []struct {
		name     string
		selected string
	}{{"none", "lint"}, {"names", "names"}} {
		b.Run(c.name, func(b *testing.B) {
			rules, err := SelectRules([]string{c.selected}, nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				r, err := Run(context.Background(), symfmt.TextRecords(f), Options{File: path, Rules: rules})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(r.Bytes)
				f.Close()
			}
		})
	}
}
