package lint

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// mapText makes the map of a symbol file.
func mapText(t testing.TB, text string) (*Map, *Report) {
	t.Helper()
	m := &Map{}
	r, err := Run(context.Background(), strings.NewReader(text), Options{File: "a.sym", Rules: append(Rules(), m.Rule())})
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
		"STACK CFI INIT 1000 80 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"+
		"STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n")
	c := newChart(m)
	var got []string
	for _, g := range c.Gaps {
		got = append(got, strings.Join([]string{g.RVA, g.End, g.What, g.Function}, " "))
	}
	want := []string{"1080 1100 no CFI first", "1080 10c0 no lines first", "2010 2020 no FUNC "}
	if !slices.Equal(got, want) {
		t.Errorf("gaps %q, want %q", got, want)
	}
	if len(c.Worst) != 2 || c.Worst[0].Name != "first" || c.Worst[0].NoCFI != 0x80 || c.Worst[0].NoLines != 0x40 || c.Worst[0].Line != 5 {
		t.Errorf("worst functions %+v", c.Worst)
	}
	if len(c.Pieces) != 2 || c.Pieces[0] != (chartPiece{"1000", "1100", 0x100}) || c.Pieces[1].RVA != "2000" {
		t.Errorf("pieces %+v", c.Pieces)
	}
	if c.Step != 1 || c.NoCFI[0x7f] != 0 || c.NoCFI[0x80] != 1000 || c.NoLines[0xbf] != 1000 || c.NoLines[0xc0] != 0 || c.Func[0x110] != 0 || c.NoFunc[0x110] != 1000 {
		t.Errorf("columns are wrong: step %d", c.Step)
	}
}

// A gap of which both are missing is told once.
func TestChartBothMissing(t *testing.T) {
	m, _ := mapText(t, mapModule+"FUNC 1000 10 0 f\n")
	if c := newChart(m); len(c.Gaps) != 1 || c.Gaps[0].What != "no CFI, no lines" {
		t.Errorf("gaps %+v", c.Gaps)
	}
}

// Columns hold as many bytes as the list has, whatever the pieces of the axis; each
// byte is looked at.
func TestAxisColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var list []Extent
		at := symfmt.RVA(rnd.Uint64N(1 << 40))
		for range 1 + rnd.IntN(400) {
			at += symfmt.RVA(rnd.Uint64N(1 << rnd.IntN(30)))
			size := 1 + rnd.Uint64N(1<<rnd.IntN(10))
			list = append(list, extent(at, size))
			at += symfmt.RVA(size)
		}
		list = joined(list)
		a := newAxis(list)
		if len(a.pieces) > maxPieces {
			t.Fatalf("%d pieces", len(a.pieces))
		}
		want := make([]uint64, chartColumns)
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

// Addresses at the end of the address space, and sizes beyond it, end the drawing
// like others.
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
		newChart(m)
	}
}

// The list of gaps is bounded, and holds the largest.
func TestGapsAreBounded(t *testing.T) {
	m := &Map{}
	const n = 5 * chartGaps
	for i := range symfmt.RVA(n) {
		m.Functions = append(m.Functions, MappedFunc{Extent: extent(i*0x1000, uint64(1+i%0x800))})
	}
	c := newChart(m)
	if len(c.Gaps) != chartGaps || c.More != n-chartGaps {
		t.Errorf("%d gaps and %d more, want %d and %d", len(c.Gaps), c.More, chartGaps, n-chartGaps)
	}
	for _, g := range c.Gaps {
		if g.Size < 0x800*3/5 {
			t.Fatalf("a gap of %d bytes is listed, and larger ones are not", g.Size)
		}
	}
}
