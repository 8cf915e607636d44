package report

import (
	"cmp"
	"io"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// maxShown is the number of regressions, folders and modules that the summary names.
const maxShown = 10

// textWriter writes a summary of the differences and, with Detail, every change.
type textWriter struct {
	*lineWriter
	o       Options
	folders *Folders
	table   *moduleTable // for folders

	r *symdiff.Result // module being written
	d *symdiff.Detailer
}

func newTextWriter(w io.Writer, folders *Folders, o Options) Writer {
	t := &textWriter{lineWriter: newLineWriter(w, o), o: o, folders: folders}
	if folders != nil {
		t.table = newModuleTable(o.Compared)
	}
	return t
}

func (t *textWriter) Add(m *Module) error {
	if t.folders != nil {
		t.table.add(m)
		if !t.o.Detail || m.Result == nil || m.Result.Same() {
			return nil
		}
	}
	t.r, t.d = m.Result, m.Result.Details()
	t.sides(m)
	t.tables()
	t.module()
	t.regressions()
	if t.o.Detail {
		t.changes()
	}
	if t.folders != nil {
		t.line(noColor, "")
	}
	t.r, t.d = nil, nil
	return t.err
}

func (t *textWriter) End() error {
	if t.folders != nil {
		t.table.write(t.lineWriter, t.folders)
	}
	return t.flush()
}

// sides writes the names of the two files.
func (t *textWriter) sides(m *Module) {
	for i, h := range []*Head{m.Old, m.New} {
		t.linef(bold, "%s %s  (%s %s %s %s)", [...]string{"---", "+++"}[i], h.File, orNone(h.OS), orNone(h.CPU), orNone(h.ID), orNone(h.Name))
	}
	for _, s := range damage(t.r) {
		t.line(redBold, s)
	}
	if t.r.Same() {
		t.line(green, "no difference")
	}
}

// tables writes the tables of record counts and of functions.
func (t *textWriter) tables() {
	for _, table := range []columns{{rows: countRows(t.r), left: 1}, {rows: coverageRows(t.r), left: 1, tail: true}} {
		if len(table.rows) > 1 {
			t.columns(&table)
		}
	}
}

// columns writes a table with its titles in bold.
func (t *lineWriter) columns(table *columns) {
	for i, line := range table.lines() {
		color := noColor
		if i == 0 {
			color = bold
		}
		t.line(color, line)
	}
}

// module writes the differences in MODULE, INFO and folders.
func (t *textWriter) module() {
	for _, f := range t.r.Module {
		color := yellow
		if f.Regression {
			color = redBold
		}
		t.linef(color, "%s: %s -> %s", f.Name, orNone(f.Old), orNone(f.New))
	}
	for i, p := range t.r.Paths {
		if i == maxShown && !t.o.Detail {
			t.linef(dim, "and %s; --detail lists them", countOf(len(t.r.Paths)-i, "more folder"))
			break
		}
		t.linef(yellow, "%s: %q -> %q", countOf(p.Files, "source file"), p.Old, p.New)
	}
}

// regressions writes what is worse, with the first changes that cause it.
func (t *textWriter) regressions() {
	if t.r.Regressions() == 0 {
		return
	}
	t.line(redBold, "worse than before:")
	for _, s := range reasons(t.r) {
		t.line(red, "  "+s)
	}
	if t.o.Detail {
		return
	}
	shown, left := columns{left: 1, tail: true}, 0
	for i := range t.r.Changes {
		switch c := t.r.Changes[i]; {
		case !c.What.Regression():
		case len(shown.rows) == maxShown:
			left++
		default:
			row, _, err := t.row(c)
			if t.fail(err) {
				return
			}
			shown.add(row...)
		}
	}
	for _, line := range shown.lines() {
		t.line(red, "    "+line)
	}
	if left > 0 {
		t.linef(dim, "    and %d more; --detail lists them", left)
	}
}

// row returns the cells of a change: sign, address, size, name and description.
func (t *textWriter) row(c symdiff.Change) (cells []string, color string, err error) {
	d, err := t.d.Names(c)
	if err != nil {
		return nil, "", err
	}
	sign, color, s := signOf(c, d)
	size := ""
	if s.Size > 0 {
		size = hex(s.Size)
	}
	text := nameOf(s)
	if more := sentence(t.r, c, d); more != "" {
		text += ": " + more
	}
	if c.What.Regression() {
		color = redBold
	}
	at := ""
	if c.Kind != symdiff.Types {
		at = hex(uint64(s.RVA))
	}
	return []string{sign, at, size, text}, color, nil
}

// signOf returns the sign of a change, its colour, and the side to describe.
func signOf(c symdiff.Change, d *symdiff.Detail) (sign, color string, s *symdiff.Subject) {
	switch {
	case c.New == symdiff.None:
		return "-", red, d.Old
	case c.Old == symdiff.None:
		return "+", green, d.New
	}
	return "~", yellow, d.New
}

// changes writes every change.
func (t *textWriter) changes() {
	kind := symdiff.Kind(255)
	for i := 0; i < len(t.r.Changes) && t.err == nil; i++ {
		c := t.r.Changes[i]
		if c.Kind != kind {
			kind = c.Kind
			t.linef(bold, "%s:", kindTitles[kind])
		}
		if n := t.r.Together(i); n > 1 {
			t.movedRun(i, n)
			i += n - 1
			continue
		}
		row, color, err := t.row(c)
		if t.fail(err) {
			return
		}
		t.linef(color, "%s %10s %8s  %s", row[0], row[1], row[2], row[3])
		t.sections(c)
	}
}

// movedRun writes a run of functions that moved together as one line.
func (t *textWriter) movedRun(i, n int) {
	first, err := t.d.Names(t.r.Changes[i])
	last, err2 := t.d.Names(t.r.Changes[i+n-1])
	if t.fail(cmp.Or(err, err2)) {
		return
	}
	t.linef(dim, "~ %10s %8s  %d moved %s: %s ... %s", hex(uint64(first.New.RVA)), "", n,
		distance(first.Old.RVA, first.New.RVA), nameOf(first.New), nameOf(last.New))
}

// sections writes the differing sections of a function.
func (t *textWriter) sections(c symdiff.Change) {
	if c.Old == symdiff.None || c.New == symdiff.None || c.What&^(symdiff.Moved|symdiff.Renamed|symdiff.Resized|symdiff.ParamsChanged|symdiff.MultipleChanged) == 0 {
		return
	}
	d, err := t.d.Detail(c)
	if t.fail(err) {
		return
	}
	for _, s := range d.Sections {
		t.linef(noColor, "    %s:", s.Name)
		skipped := false
		for i, op := range s.Ops {
			if op.Sign == ' ' && !near(s.Ops, i, 1) {
				skipped = true
				continue
			}
			if skipped && i > 0 {
				t.line(dim, "        ...")
			}
			skipped = false
			t.linef(signColor(op.Sign), "      %c %s", op.Sign, op.Text)
		}
		if s.Cut > 0 {
			t.linef(dim, "        and %s", countOf(s.Cut, "more line"))
		}
	}
}

// near reports whether one of the n lines before or after line i is changed.
func near(ops []symdiff.Op, i, n int) bool {
	for j := max(0, i-n); j <= min(len(ops)-1, i+n); j++ {
		if ops[j].Sign != ' ' {
			return true
		}
	}
	return false
}
