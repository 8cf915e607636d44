package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// rawContext is the number of unchanged lines around changed ones.
const rawContext = 3

// rawWriter writes a unified diff in which each file is a function, with names
// instead of numbers and addresses relative to its first byte. It holds one
// function at a time in memory.
type rawWriter struct {
	*lineWriter
	folders *Folders
	prefix  string // prefix of names: the module
}

func newRawWriter(w io.Writer, folders *Folders, o Options) Writer {
	return &rawWriter{lineWriter: newLineWriter(w, o), folders: folders}
}

func (t *rawWriter) Add(m *Module) error {
	if t.folders != nil {
		t.prefix = m.name() + "/"
	}
	r := m.Result
	if r == nil {
		t.alone(m)
		return t.err
	}
	t.file("MODULE", "MODULE", r.Old.Header(r.Options), r.New.Header(r.Options), "", "")
	d := r.Details()
	for i := 0; i < len(r.Changes) && t.err == nil; i++ {
		if c := r.Changes[i]; c.What != symdiff.Moved {
			t.change(c, d)
		}
	}
	return t.err
}

func (t *rawWriter) End() error { return t.flush() }

// alone writes a module that only one folder has, as its MODULE record.
func (t *rawWriter) alone(m *Module) {
	lines := func(h *Head) []string {
		if h == nil {
			return nil
		}
		return []string{fmt.Sprintf("MODULE %s %s %s %s", h.OS, h.CPU, h.ID, h.Name)}
	}
	if m.Failed == "" {
		t.file("MODULE", "MODULE", lines(m.Old), lines(m.New), "", "")
	}
}

// change writes the differences of a change.
func (t *rawWriter) change(c symdiff.Change, d *symdiff.Detailer) {
	x, err := d.Records(c)
	if t.fail(err) {
		return
	}
	var names, notes [2]string
	for i, s := range [...]*symdiff.Subject{x.Old, x.New} {
		if s == nil {
			continue
		}
		names[i], notes[i] = s.Name, hex(uint64(s.RVA))
		if s.Name == "" {
			names[i] = c.Kind.String() + " at " + notes[i]
		}
		switch c.Kind {
		case symdiff.Publics:
			names[i] = "PUBLIC " + names[i]
		case symdiff.Types:
			names[i], notes[i] = "type "+names[i], ""
		}
	}
	t.file(names[0], names[1], x.OldRecords, x.NewRecords, notes[0], notes[1])
}

// file writes one file of the diff, if it differs. The notes stand where
// other diffs have dates.
func (t *rawWriter) file(oldName, newName string, old, new []string, oldNote, newNote string) {
	ops := symdiff.DiffLines(printables(old), printables(new))
	hunks := hunksOf(ops)
	if len(hunks) == 0 {
		return
	}
	t.label("--- ", "a/", oldName, oldNote, len(old))
	t.label("+++ ", "b/", newName, newNote, len(new))
	for _, h := range hunks {
		t.line(cyan, h.String())
		for _, op := range ops[h.from:h.to] {
			t.line(signColor(op.Sign), string(op.Sign)+op.Text)
		}
	}
}

// label writes a line with a name. A tab marks the name's end for readers.
func (t *rawWriter) label(sign, folder, name, note string, lines int) {
	label := sign + "/dev/null"
	if lines > 0 {
		label = sign + folder + text.Printable(t.prefix+name)
		if note != "" {
			label += "\t" + note
		}
	}
	if t.color {
		label = bold + label + "\x1b[m"
	}
	t.w.WriteString(label)
	t.w.WriteByte('\n')
}

// hunk is a piece of a listing with differences.
type hunk struct {
	from, to         int // indices of operations
	old, new         int // number of the first line, from 1
	oldLines, nLines int
}

// String returns the header of the hunk.
func (h *hunk) String() string {
	return "@@ -" + span(h.old, h.oldLines) + " +" + span(h.new, h.nLines) + " @@"
}

// span returns a range of lines in the form of unified diffs, in which an empty range
// is named by the line before it.
func span(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// hunksOf returns the pieces with differences, including the lines around them.
func hunksOf(ops []symdiff.Op) (out []hunk) {
	old, new := 1, 1
	lastChange := -2*rawContext - 2
	for i, op := range ops {
		if op.Sign != ' ' {
			if i-lastChange > 2*rawContext+1 {
				from := max(0, i-rawContext)
				out = append(out, hunk{from: from, old: old - (i - from), new: new - (i - from)})
			}
			lastChange = i
			out[len(out)-1].to = min(len(ops), i+1+rawContext)
		}
		if op.Sign != '+' {
			old++
		}
		if op.Sign != '-' {
			new++
		}
	}
	for i := range out {
		h := &out[i]
		for _, op := range ops[h.from:h.to] {
			if op.Sign != '+' {
				h.oldLines++
			}
			if op.Sign != '-' {
				h.nLines++
			}
		}
	}
	return out
}

// oneLine shortens a text to one line of at most most characters.
func oneLine(line string, most int) string {
	line = text.Printable(line)
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "..."
}
