package symdiff

import (
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
)

// rawContext is how many lines that stay are around those that do not.
const rawContext = 3

// rawWriter writes a unified diff: a file in it is a function, with names in place
// of numbers, and addresses relative to its first byte. One function at a time is
// held in memory.
type rawWriter struct {
	*lineWriter
	folders *Folders
	prefix  string // of names: the module
}

func newRawWriter(w io.Writer, folders *Folders, o OutputOptions) Writer {
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
	t.file("MODULE", "MODULE", r.Old.headLines(r.Options), r.New.headLines(r.Options), "", "")
	d := r.Details()
	d.folders(!r.Options.IgnorePaths)
	for i := 0; i < len(r.Changes) && t.err == nil; i++ {
		if c := r.Changes[i]; c.What != Moved {
			t.change(r, c, d)
		}
	}
	return t.err
}

func (t *rawWriter) End() error { return t.flush() }

// alone writes a module that one folder has alone: its MODULE record.
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

// headLines are MODULE and INFO, as far as they are compared.
func (o *Outline) headLines(opts Options) []string {
	if !opts.on(OnModule) {
		return nil
	}
	out := []string{fmt.Sprintf("MODULE %s %s %s %s", o.OS, o.CPU, o.ID, o.Name)}
	for _, in := range o.Infos {
		if in.Key != "GENERATOR" || !opts.IgnoreGenerator {
			out = append(out, "INFO "+in.Key+" "+in.Value)
		}
	}
	return out
}

// change writes what differs in a change.
func (t *rawWriter) change(r *Result, c Change, d *Detailer) {
	var lists [2][]string
	var names, notes [2]string
	detail, err := d.Names(c)
	if t.fail(err) {
		return
	}
	for i, s := range [...]*Subject{detail.Old, detail.New} {
		if s == nil {
			continue
		}
		index := [...]int32{c.Old, c.New}[i]
		if lists[i], err = d.sides[i].records(r.Options, c.Kind, index, s); err != nil {
			t.fail(&ReadError{err})
			return
		}
		names[i], notes[i] = s.Name, hex(uint64(s.RVA))
		if s.Name == "" {
			names[i] = c.Kind.String() + " at " + notes[i]
		}
		if c.Kind == Publics {
			names[i] = "PUBLIC " + names[i]
		}
	}
	t.file(names[0], names[1], lists[0], lists[1], notes[0], notes[1])
}

// records returns the records of something: its first one and those that belong to it,
// as far as they are compared.
func (s *side) records(o Options, kind Kind, i int32, sub *Subject) ([]string, error) {
	if kind == Publics {
		p := &s.o.Publics[i]
		return []string{fmt.Sprintf("PUBLIC %s%x %s", mark(p.Multiple), p.ParamSize, sub.Name)}, nil
	}
	l, err := s.list(kind, i, sub, true)
	if err != nil {
		return nil, err
	}
	var out []string
	if kind == Functions {
		f := &s.o.Funcs[i]
		out = append(out, fmt.Sprintf("FUNC %s%x %x %s", mark(f.Multiple), f.Size, f.ParamSize, sub.Name))
	}
	for _, part := range [...]struct {
		on    Topic
		word  string
		lines []item
	}{{OnInlines, "INLINE ", l.inlines}, {OnLines, "line ", l.lines}, {OnCFI, "STACK CFI ", l.cfi}, {OnCFI, "STACK WIN ", l.wins}} {
		if !o.on(part.on) {
			continue
		}
		for _, line := range part.lines {
			out = append(out, part.word+line.text)
		}
	}
	return out, nil
}

func mark(multiple bool) string {
	if multiple {
		return "m "
	}
	return ""
}

// file writes the difference of one file of the diff, if there is one. The notes
// stand where dates do in others.
func (t *rawWriter) file(oldName, newName string, old, new []string, oldNote, newNote string) {
	ops := differTexts(printables(old), printables(new))
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

// label writes a line with a name. Readers end the name at a tab.
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
	from, to         int // operations
	old, new         int // first line, from 1
	oldLines, nLines int
}

// String returns the hunk's head.
func (h *hunk) String() string {
	return "@@ -" + span(h.old, h.oldLines) + " +" + span(h.new, h.nLines) + " @@"
}

// span returns a range of lines in the form of unified diffs: an empty one is named by
// the line in front of it.
func span(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// hunksOf finds the pieces with differences, with the lines around them.
func hunksOf(ops []Op) (out []hunk) {
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

// oneLine keeps a text in one line of a few characters.
func oneLine(line string, most int) string {
	line = text.Printable(line)
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "..."
}
