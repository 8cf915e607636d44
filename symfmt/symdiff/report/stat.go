package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// statWriter writes a few lines, for a release note.
type statWriter struct {
	*lineWriter
	folders *Folders
	totals  totals
}

func newStatWriter(w io.Writer, folders *Folders, o Options) Writer {
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
	for _, s := range damage(r) {
		t.line(redBold, "  "+s)
	}
	if r.Same() {
		t.line(green, "  no difference")
		return
	}
	for _, k := range r.Options.Kinds() {
		if n := r.Counts[k]; n.Before > 0 || n.After > 0 {
			t.line(noColor, "  "+statLine(k, n))
		}
	}
	if r.Options.On(symdiff.OnLines) {
		t.line(noColor, "  lines: "+share(r.Before.LineShare(), r.After.LineShare()))
	}
	if r.Options.On(symdiff.OnCFI) {
		t.line(noColor, "  call frame information: "+share(r.Before.CFIShare(), r.After.CFIShare()))
	}
	var fields []string
	for _, f := range r.Module {
		fields = append(fields, f.Name)
	}
	if len(fields) > 0 {
		t.line(noColor, "  other "+strings.Join(fields, ", "))
	}
	if len(r.Paths) > 0 {
		t.linef(noColor, "  source files in other folders: %d", movedFiles(r))
	}
	for _, s := range reasons(r) {
		t.line(red, "  worse: "+s)
	}
}

func movedFiles(r *symdiff.Result) (n int) {
	for _, p := range r.Paths {
		n += p.Files
	}
	return n
}

// statLine returns a line for a kind: "functions: 120 (+3): 4 added, 1
// removed".
func statLine(k symdiff.Kind, n *symdiff.Count) string {
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
	add(n.By[symdiff.Added], "added")
	add(n.By[symdiff.Removed], "removed")
	add(n.By[symdiff.Renamed], "renamed")
	add(n.By[symdiff.Resized], "resized")
	add(n.By[symdiff.LinesChanged], "with different lines")
	add(n.By[symdiff.LinesShifted], "with shifted line numbers")
	add(n.By[symdiff.InlinesChanged], "with different inlined calls")
	add(n.By[symdiff.CFIChanged]+n.By[symdiff.WinChanged], "with different call frame information")
	add(n.By[symdiff.VariablesChanged]+n.By[symdiff.LostVariables], "with different variables")
	add(n.By[symdiff.MembersChanged], "with different members")
	add(n.By[symdiff.Moved], "moved")
	if parts == nil {
		return text + ", unchanged"
	}
	return text + ": " + strings.Join(parts, ", ")
}

// share returns how much is covered now and how much was before.
func share(was, now string) string {
	if strings.HasSuffix(now, "%") {
		now += " of the code"
	}
	if strings.TrimSuffix(now, " of the code") == was {
		return now + ", unchanged"
	}
	return now + ", was " + was
}
