package symdiff

import (
	"fmt"
	"strconv"

	"github.com/symtool/symtool/symfmt"
)

// kindTitles are the kinds in text. STACK CFI and STACK WIN are those outside of
// functions.
var kindTitles = [...]string{"functions", "PUBLIC", "other STACK CFI", "other STACK WIN"}

// countColumns are the columns of the table of kinds.
var countColumns = []struct {
	title string
	of    func(*Count) int
}{
	{"before", func(c *Count) int { return c.Before }},
	{"now", func(c *Count) int { return c.After }},
	{"same", func(c *Count) int { return c.Same }},
	{"added", func(c *Count) int { return c.By[Added] }},
	{"removed", func(c *Count) int { return c.By[Removed] }},
	{"renamed", func(c *Count) int { return c.By[Renamed] }},
	{"moved", func(c *Count) int { return c.By[Moved] }},
	{"resized", func(c *Count) int { return c.By[Resized] }},
	{"worse", func(c *Count) int { return c.Regressions }},
}

// countRows returns the rows of the table of kinds; the first are the titles.
func (r *Result) countRows() [][]string {
	title := []string{""}
	for _, c := range countColumns {
		title = append(title, c.title)
	}
	rows := [][]string{title}
	for _, k := range r.Options.kinds() {
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

// coverageRows returns the rows of the table of what functions have.
func (r *Result) coverageRows() [][]string {
	n, o := r.Counts[Functions].By, r.Options
	b, a := r.Before, r.After
	rows := [][]string{{"in functions", "before", "now", "functions that differ"}}
	if o.on(OnLines) {
		rows = append(rows, []string{"bytes with lines", percent(b.Lines, b.Bytes), percent(a.Lines, a.Bytes), shiftedToo(n[LinesChanged], n[LinesShifted])})
		if n[PathsChanged] > 0 {
			rows = append(rows, []string{"folders of source files", "", "", strconv.Itoa(n[PathsChanged])})
		}
	}
	if o.on(OnInlines) {
		rows = append(rows, []string{"inlined calls", strconv.Itoa(r.Old.Records[symfmt.KindInline]), strconv.Itoa(r.New.Records[symfmt.KindInline]), shiftedToo(n[InlinesChanged], n[InlinesShifted])})
	}
	if o.on(OnCFI) {
		rows = append(rows, []string{"bytes with call frame information", b.cfiShare(), a.cfiShare(), strconv.Itoa(n[CFIChanged] + n[WinChanged])})
	}
	return rows
}

// shiftedToo returns the functions that differ, and those whose line numbers only do.
func shiftedToo(changed, shifted int) string {
	if shifted == 0 {
		return strconv.Itoa(changed)
	}
	return fmt.Sprintf("%d, and %d with shifted line numbers", changed, shifted)
}

// reasons say in what respect the new file is worse, without naming functions.
func (r *Result) reasons() (out []string) {
	for _, f := range r.Module {
		if f.Regression {
			out = append(out, f.Name+" is another")
		}
	}
	out = append(out, r.worseCoverage()...)
	for _, k := range r.Options.kinds() {
		for _, w := range aspectWords {
			n := r.Counts[k].By[w.what]
			if w.lost == "" || n == 0 {
				continue
			}
			text := fmt.Sprintf("%d of %d %s %s", n, r.Counts[k].Before, kindTitles[k], w.lost)
			if w.what == Lost && k == Functions {
				text += ", and their code seems to be there"
			}
			out = append(out, text)
		}
	}
	return out
}

// damage says of files that are damaged that they are.
func (r *Result) damage() (out []string) {
	for _, o := range [...]*Outline{r.Old, r.New} {
		if n := len(o.Problems) + o.Dropped; n > 0 {
			out = append(out, fmt.Sprintf("%s is damaged: %s; what is lost counts as absent", o.Source.Name, countOf(n, "problem")))
		}
	}
	return out
}
