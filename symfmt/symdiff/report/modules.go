package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// tally is a module's row in the table.
type tally struct {
	Status                 Status
	Module, CPU            string
	Failed                 string
	Functions              [2]int // before, now
	Added, Removed, Differ int
	Regressions            int
	Lines, CFI             [2]string // shares of the code, before and now
}

func newTally(m *Module) tally {
	t := tally{Status: m.Status(), Module: m.name(), CPU: m.cpu(), Failed: m.Failed}
	r := m.Result
	if r == nil {
		return t
	}
	n := r.Counts[symdiff.Functions]
	t.Functions = [2]int{n.Before, n.After}
	t.Added, t.Removed, t.Differ, t.Regressions = n.By[symdiff.Added], n.By[symdiff.Removed], differing(r), r.Regressions()
	t.Lines = [2]string{r.Before.LineShare(), r.After.LineShare()}
	t.CFI = [2]string{r.Before.CFIShare(), r.After.CFIShare()}
	return t
}

// totals counts the modules of two folders by status.
type totals map[Status]int

// String returns a text such as "12 modules: 10 same, 2 changed".
func (t totals) String() string {
	all := 0
	var parts []string
	for _, s := range statuses {
		if n := t[s]; n > 0 {
			all += n
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	text := countOf(all, "module")
	if all == 0 {
		return text
	}
	return text + ": " + strings.Join(parts, ", ")
}

// moduleTable is the table of modules in text.
type moduleTable struct {
	rows     []tally
	totals   totals
	compared symdiff.Options
}

func newModuleTable(compared symdiff.Options) *moduleTable {
	return &moduleTable{totals: totals{}, compared: compared}
}

func (x *moduleTable) add(m *Module) {
	x.totals[m.Status()]++
	x.rows = append(x.rows, newTally(m))
}

var statusColors = map[Status]string{
	StatusChanged: yellow, StatusWorse: redBold, StatusAdded: green, StatusRemoved: redBold, StatusFailed: redBold,
}

// write writes the table: a row for each module.
func (x *moduleTable) write(t *lineWriter, f *Folders) {
	t.line(bold, "--- "+f.Old)
	t.line(bold, "+++ "+f.New)
	table := columns{left: 1, tail: true}
	table.add("", "functions", "now", "added", "removed", "differ", "worse", "lines", "now", "CFI", "now", "module")
	for i := range x.rows {
		table.add(x.rows[i].cells()...)
	}
	if len(x.rows) > 0 {
		for i, line := range table.lines() {
			color := bold
			if i > 0 {
				color = statusColors[x.rows[i-1].Status]
			}
			t.line(color, line)
		}
	}
	t.line(bold, x.totals.String())
}

func (t *tally) cells() []string {
	name := t.Module
	if t.CPU != "" {
		name += " (" + t.CPU + ")"
	}
	if t.Failed != "" {
		name += ": " + t.Failed
	}
	cells := []string{string(t.Status)}
	if t.Lines[0] == "" { // nothing was compared
		return append(cells, "", "", "", "", "", "", "", "", "", "", name)
	}
	for _, n := range []int{t.Functions[0], t.Functions[1], t.Added, t.Removed, t.Differ, t.Regressions} {
		cells = append(cells, strconv.Itoa(n))
	}
	return append(cells, t.Lines[0], t.Lines[1], t.CFI[0], t.CFI[1], name)
}

// differing returns the number of matched functions that differ in more than their address.
func differing(r *symdiff.Result) (n int) {
	for _, c := range r.Changes {
		if c.Kind == symdiff.Functions && c.Old != symdiff.None && c.New != symdiff.None && c.What != symdiff.Moved {
			n++
		}
	}
	return n
}
