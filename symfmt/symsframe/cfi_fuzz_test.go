package symsframe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
)

// FuzzTable makes STACK CFI of any bytes that decode as SFrame: blocks do not
// overlap, rows ascend within them, each address has a row only where Find has
// one, and what goes to SFrame and back is the same.
func FuzzTable(f *testing.F) {
	own, err := filepath.Glob(testenv.Input(f) + "/*.sframe")
	if err != nil || len(own) == 0 {
		f.Fatal("no sections", err)
	}
	for _, path := range append(own, testenv.SharedGlob(f, "data", "sframe", "synth", "*.bin")...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sframe.Decode(data, sframe.Options{Addr: 0x10000})
		if err != nil || len(s.Headers) == 0 {
			return
		}
		for i := range s.Headers {
			if s.Headers[i].ABI != s.Headers[0].ABI {
				return // a table has one CPU
			}
		}
		for i := range s.FDEs {
			if f := &s.FDEs[i]; f.Mask && f.Size > 1<<10 {
				return // blocks that repeat: nothing new, slowly
			} else if f.Start+uint64(f.Size) < f.Start {
				return // Find takes it for what it covers, the table for damage
			}
		}
		abi := s.Headers[0].ABI
		var table symfmt.CFITable
		AppendCFI(&table, s, ToOptions{})
		checkTable(t, s, &table)
		funcs, lost := FromCFI(&table, abi, 0)
		again, more, err := sframe.Encode(funcs, sframe.Target{Version: 3, ABI: abi, Addr: 0x10000})
		if err != nil {
			t.Fatal(err)
		}
		own, err := sframe.Decode(again, sframe.Options{Addr: 0x10000})
		if err != nil {
			t.Fatal(err)
		}
		c := Compare(own, &table, CPU(abi), ToOptions{})
		if len(c.Differences) > 0 || c.OnlySFrame > 0 || len(c.FuncsOnlyCFI) > len(lost)+len(more) {
			t.Errorf("%+v, lost %v %v", c, lost, more)
		}
	})
}

// checkTable checks the form of a table, and rows at the edges of its records.
func checkTable(t *testing.T, s *sframe.Section, table *symfmt.CFITable) {
	end := symfmt.RVA(0)
	for _, b := range table.Blocks {
		if b.RVA < end || b.Size == 0 {
			t.Fatalf("block at %#x of %d bytes, the one before ends at %#x", b.RVA, b.Size, end)
		}
		end = b.RVA + symfmt.RVA(b.Size)
		last := b.RVA
		found := func(at symfmt.RVA) {
			if _, _, err := s.Find(uint64(at)); err != nil {
				t.Errorf("%#x: %v", at, err)
			}
		}
		found(b.RVA)
		found(end - 1)
		for _, r := range table.Rows[b.First : b.First+b.Count] {
			if r.RVA <= last || r.RVA >= end {
				t.Fatalf("row at %#x behind %#x, in a block up to %#x", r.RVA, last, end)
			}
			last = r.RVA
			found(r.RVA)
		}
	}
}
