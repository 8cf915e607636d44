package report

import (
	"fmt"
	"strconv"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// kindTitles are the titles of the kinds in text. STACK CFI and STACK WIN are
// those outside functions.
var kindTitles = [...]string{"functions", "PUBLIC", "other STACK CFI", "other STACK WIN", "types"}

// countColumns are the columns of the table of record counts.
var countColumns = []struct {
	title string
	of    func(*symdiff.Count) int
}{
	{"before", func(c *symdiff.Count) int { return c.Before }},
	{"now", func(c *symdiff.Count) int { return c.After }},
	{"same", func(c *symdiff.Count) int { return c.Same }},
	{"added", func(c *symdiff.Count) int { return c.By[symdiff.Added] }},
	{"removed", func(c *symdiff.Count) int { return c.By[symdiff.Removed] }},
	{"renamed", func(c *symdiff.Count) int { return c.By[symdiff.Renamed] }},
	{"moved", func(c *symdiff.Count) int { return c.By[symdiff.Moved] }},
	{"resized", func(c *symdiff.Count) int { return c.By[symdiff.Resized] }},
	{"worse", func(c *symdiff.Count) int { return c.Regressions }},
}

// countRows returns the rows of the table of record counts, with titles first.
func countRows(r *symdiff.Result) [][]string {
	title := []string{""}
	for _, c := range countColumns {
		title = append(title, c.title)
	}
	rows := [][]string{title}
	for _, k := range r.Options.Kinds() {
		n := r.Counts[k]
		if n.Before == 0 && n.After == 0 {
			continue
		}
		row := []string{kindTitles[k]}
		for _, c := range countColumns {
			row = append(row, strconv.Itoa(c.of(n)))
		}
		rows = append(rows, row)
	}
	return rows
}

// coverageRows returns the rows of the table about functions.
func coverageRows(r *symdiff.Result) [][]string {
	n, o := r.Counts[symdiff.Functions].By, r.Options
	b, a := r.Before, r.After
	rows := [][]string{{"in functions", "before", "now", "functions that differ"}}
	if o.On(symdiff.OnLines) {
		rows = append(rows, []string{"bytes with lines", b.LineShare(), a.LineShare(), shiftedToo(n[symdiff.LinesChanged], n[symdiff.LinesShifted])})
		if n[symdiff.PathsChanged] > 0 {
			rows = append(rows, []string{"folders of source files", "", "", strconv.Itoa(n[symdiff.PathsChanged])})
		}
	}
	if o.On(symdiff.OnInlines) {
		rows = append(rows, []string{"inlined calls", strconv.Itoa(r.Old.Records[symfmt.KindInline]), strconv.Itoa(r.New.Records[symfmt.KindInline]), shiftedToo(n[symdiff.InlinesChanged], n[symdiff.InlinesShifted])})
	}
	if o.On(symdiff.OnCFI) {
		rows = append(rows, []string{"bytes with call frame information", b.CFIShare(), a.CFIShare(), strconv.Itoa(n[symdiff.CFIChanged] + n[symdiff.WinChanged])})
	}
	if o.On(symdiff.OnVariables) {
		rows = append(rows, []string{"functions with variables", strconv.Itoa(b.Variables), strconv.Itoa(a.Variables), strconv.Itoa(n[symdiff.VariablesChanged] + n[symdiff.LostVariables])})
	}
	return rows
}

// shiftedToo returns the number of functions that differ, and of those with only shifted line
// numbers.
func shiftedToo(changed, shifted int) string {
	if shifted == 0 {
		return strconv.Itoa(changed)
	}
	return fmt.Sprintf("%d, and %d with shifted line numbers", changed, shifted)
}

// reasons describes why the new file is worse, without naming functions.
func reasons(r *symdiff.Result) (out []string) {
	for _, f := range r.Module {
		if f.Regression {
			out = append(out, f.Name+" differs")
		}
	}
	out = append(out, r.WorseCoverage()...)
	for _, k := range r.Options.Kinds() {
		for _, w := range aspectWords {
			n := r.Counts[k].By[w.what]
			if w.lost == "" || n == 0 {
				continue
			}
			text := fmt.Sprintf("%d of %d %s %s", n, r.Counts[k].Before, kindTitles[k], w.lost)
			if w.what == symdiff.Lost && k == symdiff.Functions {
				text += ", although their code seems to be there"
			}
			out = append(out, text)
		}
	}
	return out
}

// damage describes the damaged files.
func damage(r *symdiff.Result) (out []string) {
	for _, o := range [...]*symdiff.Outline{r.Old, r.New} {
		if n := len(o.Problems) + o.Dropped; n > 0 {
			out = append(out, fmt.Sprintf("%s is damaged: %s; what is lost counts as absent", o.Source.Name, countOf(n, "problem")))
		}
	}
	return out
}
