package dwarf2sym_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// agreement holds the results of the comparisons, a row for each binary. Tests that run
// at the same time add to it.
type agreement struct {
	mu   sync.Mutex
	rows []agreementRow
}

type agreementRow struct {
	name string
	c    *comparison
}

func (a *agreement) add(name string, c *comparison) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows = append(a.rows, agreementRow{name, c})
}

// String returns the table, starting with the binary that has the most addresses, and the
// sums of its columns.
func (a *agreement) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortFunc(a.rows, func(x, y agreementRow) int {
		return cmp.Or(cmp.Compare(y.c.addresses, x.c.addresses), cmp.Compare(x.name, y.name))
	})
	total := &comparison{counts: map[string]int{}}
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %9s %9s %9s %9s %11s %9s %9s %7s  frames by rule\n", "binary", "addresses", "agree", "by rules", "frames", "unexplained", "CFI rows", "resolved", "PUBLIC")
	for _, r := range a.rows {
		b.WriteString(r.c.row(r.name))
		total.addresses += r.c.addresses
		total.agree += r.c.agree
		total.frames += r.c.frames
		total.unexplained += r.c.unexplained
		total.cfiRows += r.c.cfiRows
		total.resolved += r.c.resolved
		total.publics += r.c.publics
		for rule, n := range r.c.counts {
			total.counts[rule] += n
		}
	}
	b.WriteString(total.row(fmt.Sprintf("sum of %d", len(a.rows))))
	return b.String()
}

func (c *comparison) row(name string) string {
	var rules []string
	for _, rule := range slices.Sorted(maps.Keys(c.counts)) {
		rules = append(rules, fmt.Sprintf("%s %d", rule, c.counts[rule]))
	}
	byRule := c.addresses - c.agree - c.unexplained
	return fmt.Sprintf("%-28s %9d %9d %9d %9d %11d %9d %9d %7d  %s\n", name, c.addresses, c.agree, byRule, c.frames, c.unexplained, c.cfiRows, c.resolved, c.publics, strings.Join(rules, ", "))
}
