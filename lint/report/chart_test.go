package report

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// mapText returns the map of a symbol file.
func mapText(t testing.TB, text string) (*lint.Map, *finding.Report) {
	t.Helper()
	m := &lint.Map{}
	r, err := lint.Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), lint.Options{File: "a.sym", Map: m})
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

const mapModule = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFILE 0 a.c\n"

func TestChart(t *testing.T) {
	m, _ := mapText(t, mapModule+
		"FUNC 2000 10 0 second\n2000 10 1 0\n"+
		"FUNC 1000 100 0 first\n1000 40 1 0\n1040 40 2 0\n10c0 40 3 0\n"+
		"FUNC 1000 100 0 same code\n"+
		"FUNC 3000 0 0 empty\n"+
		"PUBLIC 2018 0 p\nPUBLIC 1004 0 inside\nPUBLIC 9000 0 far\n"+
		"STACK CFI INIT 1000 80 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"+
		"STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n")
	c := newChart(m, limitsFor(1))
	var got []string
	for _, g := range c.Gaps {
		got = append(got, strings.Join([]string{g.From(), g.To(), g.What, g.Function}, " "))
	}
	want := []string{"1080 10c0 no CFI, no lines same code", "10c0 1100 no CFI same code", "2018 2020 no FUNC PUBLIC p", "2010 2018 no FUNC "}
	slices.Sort(want[2:])
	slices.Sort(got[2:])
	if !slices.Equal(got, want) || c.AllGaps != len(want) {
		t.Errorf("gaps %q, want %q", got, want)
	}
	got = nil
	for _, f := range c.Worst {
		got = append(got, fmt.Sprintf("%s %s %x %x of %x, line %d", f.Name, f.From(), f.NoCFI.Covered, f.NoLines.Covered, f.NoCFI.Total, f.Line))
	}
	// The code of two functions at the same address belongs to the last, and counts once.
	want = []string{"same code 1000 80 100 of 100, line 9", "first 1000 0 40 of 100, line 5"}
	if !slices.Equal(got, want) || c.AllLack != 2 {
		t.Errorf("worst functions %q, want %q", got, want)
	}
	p := c.Picture
	if p.Width != 0x120 || p.Cuts != "M256.0 0V132" || p.Ticks[0] != (pictureTick{"0.00", "1000"}) || p.Ticks[3] != (pictureTick{"50.00", "1090"}) {
		t.Errorf("picture %d wide, cuts %q, ticks %v", p.Width, p.Cuts, p.Ticks)
	}
	bands := []string{
		"M0 40V0H272V40z", "M272 40V0H288V40z",
		"M0 84V44H128V84zM192 84V44H272V84z", "M128 84V44H192V84z",
		"M0 128V88H128V128zM256 128V88H288V128z", "M128 128V88H256V128z",
	}
	for i, want := range bands {
		if p.Bands[i].Path != want {
			t.Errorf("band %d is %q, want %q", i, p.Bands[i].Path, want)
		}
	}
}

// A gap in both lines and call frame information is reported once.
func TestChartBothMissing(t *testing.T) {
	m, _ := mapText(t, mapModule+"FUNC 1000 10 0 f\n")
	if c := newChart(m, limitsFor(1)); len(c.Gaps) != 1 || c.Gaps[0].What != "no CFI, no lines" {
		t.Errorf("gaps %+v", c.Gaps)
	}
}

// The columns contain as many bytes as the list, whatever the pieces of the axis are. Each byte is
// examined.
func TestAxisColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var list []coverage.Extent
		at := symfmt.RVA(rnd.Uint64N(1 << 40))
		for range 1 + rnd.IntN(400) {
			at += symfmt.RVA(rnd.Uint64N(1 << rnd.IntN(30)))
			size := 1 + rnd.Uint64N(1<<rnd.IntN(10))
			list = append(list, extent.Of(at, size))
			at += symfmt.RVA(size)
		}
		list = extent.Join(list)
		a := newAxis(list, 1+rnd.IntN(2000))
		if len(a.pieces) > maxPieces {
			t.Fatalf("%d pieces", len(a.pieces))
		}
		want := make([]uint64, a.width)
		for _, e := range list {
			for rva := e.RVA; rva < e.End; rva++ {
				want[a.at(uint64(rva))/a.step]++
			}
		}
		for i, n := range a.columns(list) {
			share := float64(want[i]) * 1000 / float64(a.step)
			if diff := float64(n) - share; diff > 1 || diff < -1 {
				t.Fatalf("column %d: %d, want %f", i, n, share)
			}
		}
	}
}

// Addresses at the end of the address space, and sizes beyond it, are drawn like others.
func TestChartExtremes(t *testing.T) {
	for _, text := range []string{
		"",
		"MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n",
		mapModule + "FUNC 0 ffffffffffffffff 0 f\n",
		mapModule + "FUNC ffffffffffffffff 1 0 f\nFUNC 0 1 0 g\n",
		mapModule + "FUNC ffffffffffffff00 ffffffffffffffff 0 f\nFUNC 0 ffffffffffffffff 0 g\nSTACK CFI INIT 8000000000000000 8000000000000000 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n",
		mapModule + "FUNC 1000 10 0 f\n1000 ffffffff 1 0\n0 10 1 0\n",
	} {
		m, _ := mapText(t, text)
		decodeChart(t, newChart(m, limitsFor(1)).Data)
	}
}

// The tables are bounded, and have the largest entries.
func TestTablesAreBounded(t *testing.T) {
	m := &lint.Map{}
	limits := pageLimits{columns: 100, rows: 50, data: 1 << 20}
	n := 20 * limits.rows
	for i := range symfmt.RVA(n) {
		size := uint64(1 + i*7%1000)
		m.Functions = append(m.Functions, lint.MappedFunc{Extent: extent.Of(i*0x1000, size), Bytes: size, NoCFI: size, NoLines: size})
	}
	c := newChart(m, limits)
	if len(c.Gaps) != limits.rows || c.AllGaps != n || len(c.Worst) != limits.rows || c.AllLack != n {
		t.Errorf("%d gaps of %d, %d functions of %d", len(c.Gaps), c.AllGaps, len(c.Worst), c.AllLack)
	}
	for i := range c.Gaps {
		if c.Gaps[i].Size() != uint64(1000-i) || c.Worst[i].NoCFI.Covered != uint64(1000-i) {
			t.Fatalf("place %d of the tables has %d and %d bytes", i, c.Gaps[i].Size(), c.Worst[i].NoCFI.Covered)
		}
	}
}
