package report

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

const verdictFile = moduleLine + "FUNC 1000 40 0 f\n1000 40 1 0\nFUNC 2000 100 0 g\x1b[31m\n2000 80 1 0\nFUNC 3000 10 0 h\nPUBLIC 1004 0 p\n" +
	"STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"

func TestWriteVerdict(t *testing.T) {
	long := strings.Repeat("long/", 20)
	r, err := lint.Run(t.Context(), symfmt.TextRecords(strings.NewReader(verdictFile)), lint.Options{File: long + "a\n.sym"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Coverage.ReadNames(strings.NewReader(verdictFile)); err != nil {
		t.Fatal(err)
	}
	n := uint64(3)
	r.Coverage.Calls = &coverage.Share{Covered: n, Total: 4}
	var b strings.Builder
	if err := WriteVerdict(&b, r); err != nil {
		t.Fatal(err)
	}
	want := long + `a\n.sym: symbolication only
  28.57 % of the code of FUNCs and PUBLICs has call frame information, less than 95 %
  66.67 % of functions have call frame information at their first byte, less than 95 %

    28.57 %          96 of 336         bytes of the code of FUNCs and PUBLICs have call frame information
    66.67 %           2 of 3           functions have it at their first byte
    50.00 %           1 of 2           ends of lines are in functions that have it throughout
    75.00 %           3 of 4           return addresses have it
      100 %           1 of 1           public symbols have it
    57.14 %         192 of 336         bytes of functions have lines
    66.67 %           2 of 3           functions have lines

  most bytes without call frame information:
        224 of 256 at 2000, line 4 g\x1b[31m
         16 of 16 at 3000, line 6 h

  most bytes without lines:
        128 of 256 at 2000, line 4 g\x1b[31m
         16 of 16 at 3000, line 6 h
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
