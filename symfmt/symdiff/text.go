package symdiff

import (
	"bufio"
	"fmt"
	"io"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// TextOptions say how a difference is printed.
type TextOptions struct {
	Detail bool // all changes, not the summary only
	Color  bool // for a terminal
}

// maxShown is how many regressions the summary lists by name.
const maxShown = 10

// WriteText writes a summary of what differs, and with Detail every change. The
// error is of writing, or of reading details.
func WriteText(w io.Writer, r *Result, o TextOptions) error {
	t := &textWriter{w: bufio.NewWriter(w), r: r, o: o, d: r.Details()}
	t.sides()
	t.table()
	t.coverage()
	t.module()
	t.regressions()
	if o.Detail {
		t.changes()
	}
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

type textWriter struct {
	w   *bufio.Writer
	r   *Result
	o   TextOptions
	d   *Detailer
	err error
}

// line writes a line; what would act on a terminal is escaped.
func (t *textWriter) line(color, format string, args ...any) {
	text := bin.Printable(fmt.Sprintf(format, args...))
	if color != "" && t.o.Color {
		text = color + text + "\x1b[m"
	}
	t.w.WriteString(text)
	t.w.WriteByte('\n')
}

// Colours.
const (
	noColor  = ""
	bold     = "\x1b[1m"
	red      = "\x1b[31m"
	green    = "\x1b[32m"
	yellow   = "\x1b[33m"
	redBold  = "\x1b[1;31m"
	dimColor = "\x1b[2m"
)

// sides writes what is compared.
func (t *textWriter) sides() {
	for _, s := range [...]struct {
		sign string
		o    *Outline
	}{{"---", t.r.Old}, {"+++", t.r.New}} {
		o := s.o
		t.line(bold, "%s %s  (%s %s %s %s)", s.sign, o.Source.Name, orNone(o.OS), orNone(o.CPU), orNone(o.ID), orNone(o.Name))
	}
	if t.r.Same() {
		t.line(noColor, "no difference")
	}
}

func orNone(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

// table writes counts by kind.
func (t *textWriter) table() {
	columns := []struct {
		title string
		of    func(*Count) int
	}{
		{"before", func(c *Count) int { return c.Before }},
		{"now", func(c *Count) int { return c.After }},
		{"same", func(c *Count) int { return c.Same }},
	}
	for _, a := range [...]Aspect{Added, Removed, Renamed, Moved, Resized} {
		columns = append(columns, struct {
			title string
			of    func(*Count) int
		}{a.Names()[0], func(c *Count) int { return c.By[a] }})
	}
	columns = append(columns, struct {
		title string
		of    func(*Count) int
	}{"worse", func(c *Count) int { return c.Regressions }})
	row := fmt.Sprintf("%-34s", "")
	for _, c := range columns {
		row += fmt.Sprintf(" %9s", c.title)
	}
	t.line(bold, "%s", row)
	for k := Functions; k <= Wins; k++ {
		n := t.r.Counts[k]
		if n.Before == 0 && n.After == 0 {
			continue
		}
		row := fmt.Sprintf("%-34s", kindTitles[k])
		for _, c := range columns {
			row += fmt.Sprintf(" %9d", c.of(n))
		}
		t.line(noColor, "%s", row)
	}
}

var kindTitles = [...]string{"functions", "PUBLIC symbols", "STACK CFI outside of functions", "STACK WIN outside of functions"}

// coverage writes shares before and now, and how many functions changed.
func (t *textWriter) coverage() {
	n := t.r.Counts[Functions].By
	b, a := t.r.Before, t.r.After
	t.line(bold, "%-34s %9s %9s   %s", "in functions", "before", "now", "functions that differ")
	t.line(noColor, "%-34s %9s %9s   %d, and %d with shifted numbers", "lines", percent(b.Lines, b.Bytes), percent(a.Lines, a.Bytes), n[LinesChanged], n[LinesShifted])
	t.line(noColor, "%-34s %9d %9d   %d, and %d with shifted numbers", "inlined calls", t.r.Old.Records[symfmt.KindInline], t.r.New.Records[symfmt.KindInline], n[InlinesChanged], n[InlinesShifted])
	t.line(noColor, "%-34s %9s %9s   %d", "call frame information", percent(b.CFI, b.Bytes), percent(a.CFI, a.Bytes), n[CFIChanged]+n[WinChanged])
	if n[PathsChanged] > 0 {
		t.line(noColor, "%-34s %9s %9s   %d", "folders of source files", "", "", n[PathsChanged])
	}
}

// module writes what differs in MODULE and INFO, and the folders.
func (t *textWriter) module() {
	for _, f := range t.r.Module {
		color := yellow
		if f.Regression {
			color = redBold
		}
		t.line(color, "%s: %s -> %s", f.Name, orNone(f.Old), orNone(f.New))
	}
	for i, p := range t.r.Paths {
		if i == maxShown && !t.o.Detail {
			t.line(noColor, "and %d more folders", len(t.r.Paths)-i)
			break
		}
		t.line(yellow, "%s: %q -> %q", countOf(p.Files, "source file"), p.Old, p.New)
	}
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// regressions writes what is worse, and the first functions by name.
func (t *textWriter) regressions() {
	if t.r.Regressions() == 0 {
		return
	}
	t.line(redBold, "worse than before:")
	for _, s := range t.r.worseCoverage() {
		t.line(red, "  %s", s)
	}
	for k := Functions; k <= Wins; k++ {
		for _, w := range aspectWords {
			if n := t.r.Counts[k].By[w.what]; w.lost != "" && n > 0 {
				t.line(red, "  %d of %d %s %s", n, t.r.Counts[k].Before, kindTitles[k], w.lost)
			}
		}
	}
	if t.o.Detail {
		return
	}
	shown := 0
	for _, c := range t.r.Changes {
		if !c.What.Regression() {
			continue
		}
		if shown == maxShown {
			t.line(dimColor, "  ... --detail lists all")
			break
		}
		shown++
		t.change("  ", c)
	}
}

// changes writes every change.
func (t *textWriter) changes() {
	kind := Kind(255)
	for i := 0; i < len(t.r.Changes) && t.err == nil; i++ {
		c := t.r.Changes[i]
		if c.Kind != kind {
			kind = c.Kind
			t.line(bold, "%s:", kindTitles[kind])
		}
		if n := t.movedTogether(i); n > 1 {
			t.movedRun(i, n)
			i += n - 1
			continue
		}
		t.change("", c)
		t.sections(c)
	}
}

// movedTogether is how many changes from i on are of functions that moved by one
// distance, and differ in nothing else.
func (t *textWriter) movedTogether(i int) int {
	n := 0
	for ; i+n < len(t.r.Changes); n++ {
		c := t.r.Changes[i+n]
		if c.What != Moved || c.Kind != t.r.Changes[i].Kind || t.r.moved(c) != t.r.moved(t.r.Changes[i]) {
			break
		}
	}
	return n
}

// movedRun writes a run of such changes.
func (t *textWriter) movedRun(i, n int) {
	first, err := t.d.Names(t.r.Changes[i])
	last, err2 := t.d.Names(t.r.Changes[i+n-1])
	if err != nil || err2 != nil {
		t.err = firstError(err, err2)
		return
	}
	t.line(dimColor, "~ %s to %s  %d moved %s: %s ... %s", hex(uint64(first.New.RVA)), hex(uint64(last.New.RVA)), n,
		distance(first.Old.RVA, first.New.RVA), first.New.name(), last.New.name())
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// change writes one change.
func (t *textWriter) change(indent string, c Change) {
	d, err := t.d.Names(c)
	if err != nil {
		t.err = firstError(t.err, err)
		return
	}
	sign, color, s := "~", yellow, d.New
	switch {
	case c.What&Added != 0:
		sign, color = "+", green
	case c.What&Removed != 0:
		sign, color, s = "-", red, d.Old
	}
	if c.What.Regression() {
		color = redBold
	}
	text := fmt.Sprintf("%s%s %s", indent, sign, hex(uint64(s.RVA)))
	if s.Size > 0 {
		text += fmt.Sprintf(" %#x bytes", s.Size)
	}
	text += "  " + s.name()
	if more := d.sentence(c); more != "" {
		text += ": " + more
	}
	t.line(color, "%s", text)
}

// sections writes what of a function differs.
func (t *textWriter) sections(c Change) {
	if c.Old == none || c.New == none {
		return
	}
	d, err := t.d.Detail(c)
	if err != nil {
		t.err = err
		return
	}
	for _, s := range d.Sections {
		t.line(noColor, "    %s:", s.Name)
		for i, op := range s.Ops {
			switch op.Sign {
			case '-':
				t.line(red, "      - %s", op.Text)
			case '+':
				t.line(green, "      + %s", op.Text)
			default:
				if near(s.Ops, i) {
					t.line(noColor, "        %s", op.Text)
				}
			}
		}
		if s.Cut > 0 {
			t.line(dimColor, "      and %d more lines", s.Cut)
		}
	}
}

// near tells whether a line that stays is beside one that does not.
func near(ops []Op, i int) bool {
	return i > 0 && ops[i-1].Sign != ' ' || i+1 < len(ops) && ops[i+1].Sign != ' '
}
