package funcs

import (
	"os"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/symtest"
)

// benchUnits opens the debug information of $SYMTOOL_BENCH_FILE, or else of the test's own program.
func benchUnits(b *testing.B) *units.Data {
	b.Helper()
	path := os.Getenv("SYMTOOL_BENCH_FILE")
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		path = self
	}
	d := openUnits(b, path)
	if d == nil {
		b.Skip(path + " has no debug information")
	}
	return d
}

// openUnits opens the debug information of a file, and returns nil if there is none.
func openUnits(t testing.TB, path string) *units.Data {
	t.Helper()
	d, _ := units.Open(symtest.Open(t, path), units.Options{Jobs: 1})
	if d != nil {
		d.ReadUnitHeaders()
		d.Allow(units.EffortBase)
	}
	return d
}

// BenchmarkScan scans all DIEs, and ignores functions.
func BenchmarkScan(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		d := benchUnits(b)
		b.SetBytes(d.Info.Size())
		w := New(d, &codemap.Map{}, &Options{})
		b.StartTimer()
		w.namesOnly = true
		for _, part := range d.Batches() {
			w.Batch(d.Units[part.First:part.Last])
		}
	}
}

// BenchmarkLines runs the line programs of all units.
func BenchmarkLines(b *testing.B) {
	d := benchUnits(b)
	b.SetBytes(d.Line.Size())
	b.ReportAllocs()
	for b.Loop() {
		w := New(d, &codemap.Map{}, &Options{})
		for i := range d.Units {
			h := &d.Units[i]
			data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), w.info)
			if err != nil {
				b.Fatal(err)
			}
			w.info = data[:0]
			t, _, err := w.tables.Get(&d.Sections, &h.Header)
			if err != nil || w.u.Open(d, &h.Header, data, t, w.Meter) != nil {
				continue
			}
			w.haveLines = false
			w.needLines()
		}
	}
}
