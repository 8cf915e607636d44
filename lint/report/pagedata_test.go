package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// decodedChart is the data as the script reads it.
type decodedChart struct {
	runs  []run // by address
	funcs []coverage.Extent
	lines []uint32
	names []string
}

// decodeChart reads the data of a page as its script does, to the last byte.
func decodeChart(t testing.TB, d *chartData) (out decodedChart) {
	t.Helper()
	r := unpackChart(t, d.Runs)
	pieces := make([]coverage.Extent, r.number())
	for i := range pieces {
		pieces[i].RVA = symfmt.RVA(r.number())
	}
	for i := range pieces {
		pieces[i].End = pieces[i].RVA + symfmt.RVA(r.number())
	}
	out.runs = make([]run, r.number())
	piece := 0
	for i := range out.runs {
		at := pieces[piece].RVA
		if i > 0 && out.runs[i-1].End < pieces[piece].End {
			at = out.runs[i-1].End
		} else if i > 0 {
			piece++
			at = pieces[piece].RVA
		}
		out.runs[i].Extent = extent.Between(at, at+symfmt.RVA(r.number()))
	}
	for i := range out.runs {
		out.runs[i].has, _ = r.ReadByte()
	}
	r.end()
	a := &axis{pieces: pieces}
	var starts uint64
	for _, p := range pieces {
		a.starts = append(a.starts, starts)
		starts = extent.Sum(starts, p.Size())
	}
	r = unpackChart(t, d.Functions)
	places := make([]int64, r.number())
	for i := range places {
		places[i] = r.signed()
	}
	var end uint64
	for _, behind := range places {
		at, size := end+uint64(behind), r.number()
		end = at + size
		rva := a.address(at)
		out.funcs = append(out.funcs, extent.Between(rva, rva+symfmt.RVA(size)))
	}
	line := int64(0)
	for range places {
		line += r.signed()
		out.lines = append(out.lines, uint32(line))
	}
	r.end()
	names, _ := io.ReadAll(unpackChart(t, d.Names).Reader)
	out.names = strings.Split(string(names), "\n")
	if len(places) > 0 && len(out.names) != len(places) || !utf8.Valid(names) {
		t.Errorf("%d names of %d functions", len(out.names), len(places))
	}
	return out
}

type numbers struct {
	*bytes.Reader
	t testing.TB
}

func unpackChart(t testing.TB, text string) numbers {
	t.Helper()
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return numbers{bytes.NewReader(data), t}
}

func (n numbers) number() uint64 {
	v, err := binary.ReadUvarint(n)
	if err != nil {
		n.t.Fatal(err)
	}
	return v
}

func (n numbers) signed() int64 {
	v, err := binary.ReadVarint(n)
	if err != nil {
		n.t.Fatal(err)
	}
	return v
}

func (n numbers) end() {
	if n.Len() > 0 {
		n.t.Errorf("%d bytes after the last number", n.Len())
	}
}

// randomMap returns the map of a file in which everything that may overlap does.
func randomMap(t testing.TB, rnd *rand.Rand, functions int) *lint.Map {
	var b strings.Builder
	b.WriteString(mapModule)
	at := uint64(0x1000)
	for i := range functions {
		size := 1 + rnd.Uint64N(200)
		fmt.Fprintf(&b, "FUNC %x %x 0 name of function %d\n", at, size, i)
		for range rnd.IntN(4) {
			fmt.Fprintf(&b, "%x %x %d 0\n", at+rnd.Uint64N(size), 1+rnd.Uint64N(size), i)
		}
		switch rnd.IntN(12) {
		case 0:
			at += rnd.Uint64N(1 << 16) // a hole
		case 1: // the next overlaps
		default:
			at += size + rnd.Uint64N(2)*rnd.Uint64N(16)
		}
	}
	for range functions / 4 {
		fmt.Fprintf(&b, "PUBLIC %x 0 public\n", 0x1000+rnd.Uint64N(at))
	}
	for cfi := uint64(0x1000); cfi < at; {
		size := 1 + rnd.Uint64N(400)
		fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", cfi, size)
		cfi += size + rnd.Uint64N(3)*rnd.Uint64N(50)
	}
	m, _ := mapText(t, b.String())
	return m
}

func inside(list []coverage.Extent, rva symfmt.RVA) bool {
	for _, e := range list {
		if rva >= e.RVA && rva < e.End {
			return true
		}
	}
	return false
}

// The data that the script reads agrees with the map at each byte of the axis, and vice
// versa.
func TestChartData(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	bytes, functions := 0, 0
	for range 20 {
		m := randomMap(t, rnd, 40)
		var funcs []coverage.Extent
		for i := range m.Functions {
			funcs = append(funcs, m.Functions[i].Extent)
		}
		d := decodeChart(t, newChart(m, limitsFor(1)).Data)
		covered := map[symfmt.RVA]bool{}
		for _, r := range d.runs {
			for rva := r.RVA; rva < r.End; rva++ {
				want := uint8(0)
				for i, list := range [][]coverage.Extent{funcs, m.Lines, m.CFI} {
					if inside(list, rva) {
						want |= 1 << i
					}
				}
				if r.has != want {
					t.Fatalf("%x has %b, want %b", rva, r.has, want)
				}
				covered[rva] = true
				bytes++
			}
			if r.lacks() != "" && r.has&hasFunc != 0 && functionAt(m, r.RVA) == nil {
				t.Errorf("the gap at %x has no function", r.RVA)
			}
		}
		for _, list := range [][]coverage.Extent{funcs, m.Lines, m.CFI} {
			for _, e := range list {
				for rva := e.RVA; rva < e.End; rva++ {
					if !covered[rva] {
						t.Fatalf("%x is on no run", rva)
					}
				}
			}
		}
		for _, f := range m.Functions {
			found := false
			for i := range d.funcs {
				found = found || d.funcs[i] == f.Extent && d.lines[i] == f.Line && d.names[i] == m.Name(&f)
			}
			if !found {
				t.Errorf("%s [%x, %x) is not in the data", m.Name(&f), f.RVA, f.End)
			}
			functions++
		}
		for i, f := range d.funcs {
			if f.Size() == 0 && (d.names[i] != "public" || inside(funcs, f.RVA)) {
				t.Errorf("%s at %x", d.names[i], f.RVA)
			}
		}
	}
	t.Logf("%d bytes and %d functions compared", bytes, functions)
}

// The data stays within its limit by leaving out the smallest items and the ends of names,
// which it records.
func TestChartDataLimit(t *testing.T) {
	m := randomMap(t, rand.New(rand.NewPCG(5, 6)), 6000)
	whole := newChart(m, pageLimits{columns: 10, rows: 10, data: 1 << 30}).Data
	if whole.LeastRun != 0 || whole.LeastFunc != 0 || whole.LongName != 200 {
		t.Errorf("without need: %d %d %d", whole.LeastRun, whole.LeastFunc, whole.LongName)
	}
	all := decodeChart(t, whole)
	for _, limit := range []int{60000, 30000, 16000} {
		d := newChart(m, pageLimits{columns: 10, rows: 10, data: limit}).Data
		if n := len(d.Runs) + len(d.Functions) + len(d.Names); n > limit {
			t.Errorf("%d bytes, the limit is %d", n, limit)
		}
		if d.LeastRun == 0 && d.LeastFunc == 0 && d.LongName == 200 {
			t.Errorf("limit %d: nothing is left out in the end", limit)
		}
		part := decodeChart(t, d)
		for _, f := range part.funcs {
			if f.Size() < d.LeastFunc {
				t.Fatalf("limit %d: a function of %d bytes, the least is %d", limit, f.Size(), d.LeastFunc)
			}
		}
		if len(part.funcs) == 0 || len(part.runs) == 0 || totalSize(part.runs) != totalSize(all.runs) {
			t.Errorf("limit %d: %d functions, runs of %d bytes, want %d", limit, len(part.funcs), totalSize(part.runs), totalSize(all.runs))
		}
	}
}

func totalSize(runs []run) (n uint64) {
	for _, r := range runs {
		n += r.Size()
	}
	return n
}

func TestCutText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab\u2026"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö\u2026"}, {"", 1, ""}} {
		if got := cutText(c.text, c.most); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
