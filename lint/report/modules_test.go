package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
)

// moduleReport returns the report of a file with a verdict and shares of 1000 bytes; -1 means a
// share of nothing.
func moduleReport(file string, verdict coverage.Verdict, cfi, lines int) *finding.Report {
	share := func(n int) coverage.Share {
		if n < 0 {
			return coverage.Share{}
		}
		return coverage.Share{Covered: uint64(n), Total: 1000}
	}
	return &finding.Report{File: file, Coverage: &coverage.Coverage{Verdict: verdict, All: coverage.CodeShare{Share: share(cfi)}, Lines: share(lines)}}
}

// The table has the worst file first, whatever the order of the files, and no row for a file of
// variables.
func TestWriteModules(t *testing.T) {
	reports := []*finding.Report{
		moduleReport("good.sym", coverage.GoodForUnwinding, 1000, 1000),
		moduleReport("b.sym", coverage.GoodForUnwinding, 980, 500),
		moduleReport("a.sym", coverage.GoodForUnwinding, 980, 500),
		moduleReport("few\x1blines.sym", coverage.GoodForUnwinding, 980, 100),
		moduleReport("app.vars", coverage.VariablesOnly, -1, -1),
		moduleReport("none.sym", coverage.SymbolicationOnly, 0, 900),
		moduleReport("some.sym", coverage.SymbolicationOnly, 300, -1),
		moduleReport("new.sym", coverage.NotMeasured, -1, 900),
		moduleReport("empty.sym", coverage.Unusable, -1, -1),
		{File: "lost.sym", Err: errors.New("lost")},
	}
	want := `      CFI      lines  verdict                 file
        -          -  not read                lost.sym
        -          -  unusable                empty.sym
   0.00 %    90.00 %  symbolication only      none.sym
  30.00 %          -  symbolication only      some.sym
        -    90.00 %  unwinding not measured  new.sym
  98.00 %    10.00 %  good for unwinding      few\x1blines.sym
  98.00 %    50.00 %  good for unwinding      a.sym
  98.00 %    50.00 %  good for unwinding      b.sym
    100 %      100 %  good for unwinding      good.sym
  70.67 %    65.00 %  4 of 9 good             total
`
	for range 2 {
		var b strings.Builder
		if err := WriteModules(&b, &Results{Reports: reports}); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("the table is\n%swant\n%s", b.String(), want)
		}
		for i, j := 0, len(reports)-1; i < j; i, j = i+1, j-1 {
			reports[i], reports[j] = reports[j], reports[i]
		}
	}
}

// A single file has its verdict, and no table.
func TestWriteModulesOne(t *testing.T) {
	var b strings.Builder
	reports := []*finding.Report{moduleReport("a.sym", coverage.GoodForUnwinding, 1, 1), moduleReport("a.vars", coverage.VariablesOnly, -1, -1)}
	if err := WriteModules(&b, &Results{Reports: reports}); err != nil || b.Len() > 0 {
		t.Errorf("the table of one file is %q, %v; want none", b.String(), err)
	}
}
