package coverage

import (
	"slices"
	"testing"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// The limit also applies to return addresses.
func TestMinCFICalls(t *testing.T) {
	for _, c := range []struct {
		limit   float64
		verdict coverage.Verdict
		found   int
		reason  string
	}{
		{0, coverage.GoodForUnwinding, 0, "97.37 % of return addresses have call frame information"},
		{97, coverage.GoodForUnwinding, 0, "97.37 % of return addresses have call frame information"},
		{98, coverage.SymbolicationOnly, 1, "97.37 % of return addresses have call frame information, less than 98 %"},
	} {
		cov := &coverage.Coverage{Functions: 1, All: coverage.CodeShare{Share: coverage.Share{Covered: 99, Total: 100}}, Entries: coverage.Share{Covered: 1, Total: 1}, Calls: &coverage.Share{Covered: 74, Total: 76}, Known: []symfmt.Range{{RVA: 0, Size: 99}}}
		judge(cov, &facts.Facts{HasModule: true}, c.limit, 0)
		p := check.New(check.Options{Rules: Rules, MinCFI: c.limit, MaxPerRule: 1})
		p.As("SYM702", func() { checkMinCFI(p, cov) })
		if n := p.Result.Counts["SYM702"]; cov.Verdict != c.verdict || n != c.found || !slices.Contains(cov.Reasons, c.reason) {
			t.Errorf("%v: %s, %d findings, want %s, %d: %q", c.limit, cov.Verdict, n, c.verdict, c.found, cov.Reasons)
		}
	}
}
