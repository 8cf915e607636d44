package report

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// Limits of what a page shows of one module besides its changes.
const (
	maxPagePaths    = 100
	maxPageProblems = 20
)

// newHTMLModule builds a module's part of the page, with about room bytes of changes, and up to names
// bytes of the names of the changes left out.
func newHTMLModule(m *Module, index, room, names int) (x *htmlModule, used int, err error) {
	x = &htmlModule{ID: fmt.Sprintf("module%d", index), Tally: newTally(m), Old: m.Old, New: m.New}
	r := m.Result
	if r == nil {
		return x, 0, nil
	}
	x.Compared, x.Same, x.Fields, x.Reasons = true, r.Same(), r.Module, reasons(r)
	x.Counts, x.Coverage = countRows(r), coverageRows(r)
	x.Paths = r.Paths[:min(len(r.Paths), maxPagePaths)]
	x.More = len(r.Paths) - len(x.Paths)
	for _, o := range []*symdiff.Outline{r.Old, r.New} {
		for i, p := range o.Problems {
			if i == maxPageProblems {
				x.Problems = append(x.Problems, htmlProblem{o.Source.Name, fmt.Sprintf("and %d more", len(o.Problems)-i+o.Dropped)})
				break
			}
			x.Problems = append(x.Problems, htmlProblem{o.Source.Name, p.String()})
		}
	}
	f := &htmlFiller{r: r, d: r.Details(), x: x, room: room, names: names}
	f.fill()
	return x, room - f.room, f.err
}

// Approximate sizes in bytes of markup, without the texts.
const (
	changeCost = 300
	rowCost    = 110
)

// Limits of one change.
const (
	maxPageName = 600 // in bytes
	maxPageRows = 200
)

// htmlFiller chooses the changes for a page: first those that make something
// worse, which may take at most half of the room.
type htmlFiller struct {
	r       *symdiff.Result
	d       *symdiff.Detailer
	x       *htmlModule
	room    int
	reserve int // room kept for changes without their lines
	names   int // bytes of room for names of changes that are left out
	err     error
}

func (f *htmlFiller) fill() {
	all := f.room
	f.room, f.reserve = all/2, all/4
	for i := range f.r.Changes {
		if f.r.Changes[i].What.Regression() {
			f.worse(i)
		}
	}
	f.room += all - all/2
	changes := f.r.Changes
	for i := 0; i < len(changes) && f.err == nil; {
		n := f.r.Together(i)
		if !changes[i].What.Regression() {
			f.other(i, n)
		}
		i += n
	}
}

func (f *htmlFiller) worse(i int) {
	if f.err != nil {
		return
	}
	if c, ok := f.change(i, 1); ok {
		f.list("Worse than before", c)
		return
	}
	f.x.Left.Worse++
}

// other adds changes i to i+n-1, which moved together if n is more than one.
func (f *htmlFiller) other(i, n int) {
	if c, ok := f.change(i, n); ok {
		f.list(kindTitles[f.r.Changes[i].Kind], c)
	}
}

// list adds a change to the last list, or starts another.
func (f *htmlFiller) list(title string, c htmlChange) {
	lists := f.x.Lists
	if len(lists) == 0 || lists[len(lists)-1].Title != title {
		f.x.Lists = append(f.x.Lists, htmlList{Title: title})
	}
	list := &f.x.Lists[len(f.x.Lists)-1]
	list.Changes = append(list.Changes, c)
}

// change returns the entry of a change, or of n that moved together, if there is
// room for it. If there is no room for its lines, the entry has none.
func (f *htmlFiller) change(i, n int) (x htmlChange, ok bool) {
	c := f.r.Changes[i]
	if f.room < changeCost {
		f.leave(i, n)
		return x, false
	}
	d, err := f.d.Names(c)
	if err != nil {
		f.err = err
		return x, false
	}
	x = newHTMLChange(f.r, c, d)
	if n > 1 {
		last, err := f.d.Names(f.r.Changes[i+n-1])
		if err != nil {
			f.err = err
			return x, false
		}
		x.Name = oneLine(nameOf(d.New), maxPageName/2) + " ... " + oneLine(nameOf(last.New), maxPageName/2)
		x.Text, x.Size, x.Together = distance(d.Old.RVA, d.New.RVA), "", n
	}
	f.room -= x.cost()
	if !hasLines(c) {
		return x, true
	}
	if d, err = f.d.Detail(c); err != nil {
		f.err = err
		return x, false
	}
	sections, cost := sideBySide(d.Sections)
	if cost > f.room-f.reserve {
		f.x.Left.Details++
		x.Unlisted = true
		return x, true
	}
	x.Sections = sections
	f.room -= cost
	return x, true
}

// leave counts changes i to i+n-1 as left out, and keeps their names so that
// they can be found.
func (f *htmlFiller) leave(i, n int) {
	f.x.Left.Changes += n
	for _, c := range f.r.Changes[i : i+n] {
		if f.names <= 0 || f.err != nil {
			return
		}
		d, err := f.d.Names(c)
		if err != nil {
			f.err = err
			return
		}
		side := d.New
		if c.New == symdiff.None {
			side = d.Old
		}
		name := oneLine(nameOf(side), maxUnlistedName)
		f.names -= len(name)
		f.x.Unlisted = append(f.x.Unlisted, name)
	}
}

// hasLines reports whether a change has lines to show.
func hasLines(c symdiff.Change) bool {
	return c.Old != symdiff.None && c.New != symdiff.None && c.Kind != symdiff.Publics &&
		c.What&(symdiff.LinesChanged|symdiff.LinesShifted|symdiff.PathsChanged|symdiff.InlinesChanged|symdiff.InlinesShifted|symdiff.CFIChanged|symdiff.WinChanged|symdiff.LostCFI|symdiff.LostLines|symdiff.LostInlines|symdiff.VariablesChanged|symdiff.LostVariables|symdiff.MembersChanged) != 0
}
