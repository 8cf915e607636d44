package symdiff

import (
	"fmt"
	"io"
	"strings"
)

// statWriter writes a few lines, for a release note.
type statWriter struct {
	*lineWriter
	folders *Folders
	totals  totals
}

func newStatWriter(w io.Writer, folders *Folders, o OutputOptions) Writer {
	return &statWriter{newLineWriter(w, o), folders, totals{}}
}

func (t *statWriter) Add(m *Module) error {
	status := m.Status()
	t.totals[status]++
	if t.folders != nil {
		switch {
		case status == StatusSame:
			return nil
		case m.Result == nil:
			text := fmt.Sprintf("%s: %s", m.name(), status)
			if m.Failed != "" {
				text += ": " + m.Failed
			}
			t.line(statusColors[status], text)
			return t.err
		}
	}
	t.module(m)
	return t.err
}

func (t *statWriter) End() error {
	if t.folders != nil {
		t.linef(bold, "%s -> %s: %s", t.folders.Old, t.folders.New, t.totals)
	}
	return t.flush()
}

// module writes the lines of one module.
func (t *statWriter) module(m *Module) {
	r := m.Result
	if t.folders != nil {
		t.linef(bold, "%s (%s)", m.name(), orNone(m.cpu()))
	} else {
		t.linef(bold, "%s -> %s (%s)", m.Old.File, m.New.File, orNone(m.cpu()))
	}
	for _, s := range r.damage() {
		t.line(redBold, "  "+s)
	}
	if r.Same() {
		t.line(green, "  no difference")
		return
	}
	for _, k := range r.Options.kinds() {
		if n := r.Counts[k]; n.Before > 0 || n.After > 0 {
			t.line(noColor, "  "+r.statLine(k, n))
		}
	}
	if r.Options.on(OnLines) {
		t.line(noColor, "  lines: "+share(percent(r.Before.Lines, r.Before.Bytes), percent(r.After.Lines, r.After.Bytes)))
	}
	if r.Options.on(OnCFI) {
		t.line(noColor, "  call frame information: "+share(r.Before.cfiShare(), r.After.cfiShare()))
	}
	var fields []string
	for _, f := range r.Module {
		fields = append(fields, f.Name)
	}
	if len(fields) > 0 {
		t.line(noColor, "  other "+strings.Join(fields, ", "))
	}
	if len(r.Paths) > 0 {
		t.linef(noColor, "  source files in other folders: %d", r.movedFiles())
	}
	for _, s := range r.reasons() {
		t.line(red, "  worse: "+s)
	}
}

func (r *Result) movedFiles() (n int) {
	for _, p := range r.Paths {
		n += p.Files
	}
	return n
}

// statLine returns what happened to a kind: "functions: 120 (+3): 4 added, 1 removed".
func (r *Result) statLine(k Kind, n *Count) string {
	text := fmt.Sprintf("%s: %d", kindTitles[k], n.After)
	if n.After != n.Before {
		text += fmt.Sprintf(" (%+d)", n.After-n.Before)
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(n.By[Added], "added")
	add(n.By[Removed], "removed")
	add(n.By[Renamed], "renamed")
	add(n.By[Resized], "resized")
	add(n.By[LinesChanged], "with other lines")
	add(n.By[LinesShifted], "with shifted line numbers")
	add(n.By[InlinesChanged], "with other inlined calls")
	add(n.By[CFIChanged]+n.By[WinChanged], "with other call frame information")
	add(n.By[Moved], "moved")
	if parts == nil {
		return text + ", as before"
	}
	return text + ": " + strings.Join(parts, ", ")
}

// share returns how much is covered, and was before.
func share(was, now string) string {
	if strings.HasSuffix(now, "%") {
		now += " of the code"
	}
	if strings.TrimSuffix(now, " of the code") == was {
		return now + ", as before"
	}
	return now + ", was " + was
}
