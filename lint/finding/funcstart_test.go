package finding

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/symfmt"
)

const sourceText = "MODULE Linux x86_64 000000000000000000000000000000010 a\n" + // 1
	"FILE 0 /src/a.c\nFILE 1 b.h\n" + // 2
	"FUNC 1000 20 0 f\n" + // 4
	"INLINE 0 3 0 0 1010 4\n" + // 5
	"1000 10 7 0\n1010 10 90 1\n" + // 6
	"FUNC 2000 10 0 noLines\n" + // 8
	"FUNC 3000 10 0 noFile\n3000 10 5 9\n" + // 9
	"PUBLIC 4000 0 g\n" + // 11
	"STACK CFI INIT 1010 10 .cfa: $rsp 8 +\n" // 12

// A finding belongs to the function whose records it is in, or that contains its address. Its source is the beginning
// of that function.
func TestReadFuncStarts(t *testing.T) {
	start := FuncStart{"/src/a.c", 7}
	for _, c := range []struct {
		about string
		f     Finding
		want  FuncStart
	}{
		{"the FUNC", Finding{Line: 4}, start},
		{"an INLINE", Finding{Line: 5}, start},
		{"a line of another file", Finding{Line: 7}, start},
		{"an address in a function", Finding{Line: 12, RVA: 0x101f, HasRVA: true}, start},
		{"the end of the file about a FUNC", Finding{Line: 12, Owner: Owner{Line: 4}}, start},
		{"an address after it", Finding{Line: 12, RVA: 0x1020, HasRVA: true}, FuncStart{}},
		{"a FUNC without lines", Finding{Line: 8, RVA: 0x2000, HasRVA: true}, FuncStart{}},
		{"a line of no FILE", Finding{Line: 10}, FuncStart{}},
		{"a PUBLIC", Finding{Line: 11}, FuncStart{}},
		{"the file", Finding{}, FuncStart{}},
	} {
		r := Report{Findings: []Finding{c.f}}
		if err := r.ReadFuncStarts(strings.NewReader(sourceText)); err != nil {
			t.Fatal(err)
		}
		if got := r.Findings[0].FuncStart; got != c.want {
			t.Errorf("%s: got %v, want %v", c.about, got, c.want)
		}
	}
}

// If functions overlap, the first at an address counts, unless the finding is about a record of another.
func TestReadFuncStartsOverlap(t *testing.T) {
	text := strings.Replace(sourceText, "FUNC 2000 10", "FUNC 1000 10 0 second\n1000 10 8 0\nFUNC 2000 10", 1)
	var r Report
	for rva := range symfmt.RVA(0x20) {
		r.Findings = append(r.Findings, Finding{Line: 12, RVA: 0x101f - rva, HasRVA: true})
	}
	r.Findings = append(r.Findings, Finding{Line: 8, RVA: 0x1000, HasRVA: true})
	if err := r.ReadFuncStarts(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if f := r.Findings[0x20]; f.FuncStart.Line != 8 {
		t.Errorf("the second FUNC: got %v, want line 8", f.FuncStart)
	}
	for _, f := range r.Findings[:0x20] {
		if f.FuncStart.Line != 7 {
			t.Errorf("%x: got %v, want line 7", f.RVA, f.FuncStart)
		}
	}
}

// The time to assign findings does not depend on where the many functions begin.
func TestReadFuncStartsMany(t *testing.T) {
	const many = 1 << 18
	var r Report
	text := []byte("MODULE Linux x86_64 000000000000000000000000000000000 a\nFILE 0 a.c\n")
	for i := range symfmt.RVA(many) {
		text = fmt.Appendf(text, "FUNC %x 8 0 f\n%x 8 %d 0\n", 8*i, 8*i, i+1)
		r.Findings = append(r.Findings, Finding{RVA: 8 * i, HasRVA: true})
	}
	began := time.Now()
	if err := r.ReadFuncStarts(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	for i, f := range r.Findings {
		if f.FuncStart.Line != i+1 {
			t.Fatalf("finding %d: got %v", i, f.FuncStart)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d findings took %v; 2 seconds are a lot", many, took)
	}
}
