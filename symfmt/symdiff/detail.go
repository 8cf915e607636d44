package symdiff

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Detail is a change in full, as read from the texts.
type Detail struct {
	Old, New *Subject // nil if absent
	Part     *Subject // for Change.Part: the function that it is a part of
	Sections []Section
}

// Subject is the code affected by a change, on one side.
type Subject struct {
	Name string
	RVA  symfmt.RVA
	Size uint64
	Line uint32 // in the symbol file
	At   string // file:line of the first line, or ""
}

// Section is a part of a function that differs.
type Section struct {
	Name string // "lines", "inlines", "STACK CFI", "STACK WIN", "variables", "members"
	Ops  []Op
	// Cut is the number of operations left out.
	Cut int
}

// Op is a line of a listing that stays (' '), goes ('-') or comes ('+').
type Op struct {
	Sign byte
	Text string
}

// maxOps is the number of operations kept for a section.
const maxOps = 1000

// Detailer reads details. It is not safe for concurrent use.
type Detailer struct {
	r     *Result
	sides [2]*textCursor
}

// Details returns a reader of the details of the changes.
func (r *Result) Details() *Detailer {
	return &Detailer{r, [2]*textCursor{newTextCursor(r.Old), newTextCursor(r.New)}}
}

// Names reads only the names of a change.
func (d *Detailer) Names(c Change) (*Detail, error) {
	out, err := d.names(c)
	if err != nil {
		return nil, &ReadError{err}
	}
	return out, nil
}

func (d *Detailer) names(c Change) (*Detail, error) {
	out := &Detail{}
	var err error
	get := func(side int, kind Kind, i int32) *Subject {
		if i == None || err != nil {
			return nil
		}
		var s *Subject
		s, err = d.subject(d.sides[side], kind, i)
		return s
	}
	out.Old, out.New = get(0, c.Kind, c.Old), get(1, c.Kind, c.New)
	switch {
	case c.What&Split != 0:
		out.Part = get(0, Functions, c.Part)
	case c.What&Merged != 0:
		out.Part = get(1, Functions, c.Part)
	}
	return out, err
}

func (d *Detailer) subject(s *textCursor, kind Kind, i int32) (*Subject, error) {
	switch kind {
	case Functions:
		f := &s.o.Funcs[i]
		rec, err := s.first(f.At, f.end())
		if err != nil {
			return nil, err
		}
		return &Subject{Name: string(rec.Name), RVA: f.RVA, Size: f.Size, Line: f.Line}, nil
	case Publics:
		p := &s.o.Publics[i]
		rec, err := s.first(p.At, p.End)
		if err != nil {
			return nil, err
		}
		return &Subject{Name: string(rec.Name), RVA: p.RVA, Line: p.Line}, nil
	case Types:
		t := s.o.variables.at(s.o.variables.types[i])
		return &Subject{Name: t.Name, Size: t.Size}, nil
	case CFI:
		p := s.o.pieces[i]
		return &Subject{RVA: p.RVA, Size: p.Size}, nil
	}
	w := &s.o.Wins[i]
	return &Subject{RVA: w.RVA, Size: w.Size, Line: w.Line}, nil
}

// Detail reads a change in full.
func (d *Detailer) Detail(c Change) (*Detail, error) {
	out, err := d.Names(c)
	if err != nil || c.Kind == Publics || c.Old == None && c.New == None {
		return out, err
	}
	if c.Kind == Functions && c.What&(inSections|Added|Removed) == 0 {
		return out, d.sources(c, out)
	}
	var lists [2]*listing
	// If folders changed everywhere, they would hide what differs here.
	d.folders(c.What&PathsChanged != 0 || len(d.r.Paths) == 0 && !d.r.Options.IgnorePaths)
	places := out.Old != nil && out.New != nil && out.Old.Size == out.New.Size
	for i, sub := range [...]*Subject{out.Old, out.New} {
		if sub == nil {
			lists[i] = &listing{}
			continue
		}
		index := c.Old
		if i == 1 {
			index = c.New
		}
		if lists[i], err = d.sides[i].list(c.Kind, index, sub, places); err != nil {
			return nil, &ReadError{err}
		}
	}
	out.Sections = compareListings(c, lists[0], lists[1])
	return out, nil
}

// sources reads where a function is in the source. Most changes are moves, for
// which nothing else is needed.
func (d *Detailer) sources(c Change, out *Detail) error {
	for i, sub := range [...]*Subject{out.Old, out.New} {
		f := &d.sides[i].o.Funcs[[...]int32{c.Old, c.New}[i]]
		var err error
		if sub.At, err = d.sides[i].source(f); err != nil {
			return &ReadError{err}
		}
	}
	return nil
}

// folders sets whether listings show source files with their folders.
func (d *Detailer) folders(on bool) {
	for _, s := range d.sides {
		s.base = !on
	}
}

// listing is a function as text, without addresses of the module.
type listing struct {
	lines, inlines, cfi, wins []item
	variables, members        []item
}

// item is a line of a listing. Functions of different sizes are compared by the
// order of their contents: text then has no offsets, and size is the size of
// the piece.
type item struct {
	text string
	size uint64
}

// Listings repeat the names of files and the rules of rows, and overlapping
// functions repeat each other's rows. All listings of a side together may take
// listingBase bytes plus listingShare times the text. Real files need at most 5
// times, for long paths.
const (
	listingBase  = 8 << 20
	listingShare = 16
	itemCost     = 16 // for an item without its text
)

// ErrListings means that full listings of a file would be many times its size.
var ErrListings = errors.New("its functions overlap, or repeat long names, so often that listing their records in full would take too much memory")

// listingRoom returns how many bytes the listings of a side may take.
func listingRoom(o *Outline) int64 { return listingBase + listingShare*o.Source.most }

// keep appends an item to a listing, if there is room.
func (s *textCursor) keep(items []item, x item) []item {
	if s.room -= int64(len(x.text)) + itemCost; s.room < 0 {
		return items
	}
	return append(items, x)
}

// list makes the listing of a function or a piece of code.
func (s *textCursor) list(kind Kind, i int32, sub *Subject, places bool) (*listing, error) {
	l := &listing{}
	switch kind {
	case Functions:
		f := &s.o.Funcs[i]
		if err := s.body(f, sub, l, places); err != nil {
			return nil, err
		}
		l.variables = s.variables(f, places)
	case Types:
		l.members = s.members(i)
		return l, s.full()
	}
	l.cfi = s.rows(sub, places)
	for _, w := range s.o.winsIn(sub.RVA, max(sub.Size, 1)) {
		s.o.Source.reset(s.rd, w.At, w.End)
		rec, err := s.rd.Next()
		if err != nil {
			return nil, err
		}
		if l.wins = s.keep(l.wins, item{text: fmt.Sprintf("+%x %s", w.RVA-sub.RVA, winText(rec))}); s.room < 0 {
			break
		}
	}
	return l, s.full()
}

// full returns the error for listings that take too much room.
func (s *textCursor) full() error {
	if s.room < 0 {
		return fmt.Errorf("%s: %w: over %d bytes", s.o.Source.Name, ErrListings, listingRoom(s.o))
	}
	return nil
}

func winText(rec *symfmt.Record) string {
	w := &rec.Win
	text := fmt.Sprintf("type %d size %x prologue %x epilogue %x parameters %x saved %x locals %x stack %x",
		w.Type, w.CodeSize, w.PrologueSize, w.EpilogueSize, w.ParameterSize, w.SavedRegisterSize, w.LocalSize, w.MaxStackSize)
	if w.HasProgram {
		return text + " " + string(rec.Name)
	}
	if w.AllocatesBasePtr {
		text += " allocates the base pointer"
	}
	return text
}

// rows lists STACK CFI.
func (s *textCursor) rows(sub *Subject, places bool) (out []item) {
	spans := s.o.in(sub.RVA, sub.Size)
	if !places {
		spans = orders(spans)
	}
	at := sub.RVA
	for _, x := range spans {
		text := s.o.Rows.text(x.Row)
		if places {
			if x.RVA > at {
				out = s.keep(out, item{text: fmt.Sprintf("+%x none", at-sub.RVA)})
			}
			text = fmt.Sprintf("+%x %s", x.RVA-sub.RVA, text)
		}
		if out = s.keep(out, item{text: text}); s.room < 0 {
			return nil
		}
		at = x.stop()
	}
	if end := sub.RVA + symfmt.RVA(sub.Size); places && len(spans) > 0 && at < end {
		out = s.keep(out, item{text: fmt.Sprintf("+%x none", at-sub.RVA)})
	}
	return out
}

// body lists lines and inlined calls.
func (s *textCursor) body(f *funcEntry, sub *Subject, l *listing, places bool) error {
	s.o.Source.reset(s.rd, f.At, f.end())
	var b body
	b.begin(f.RVA, f.Size)
	names := map[hash]string{}
	var inlines []symfmt.Inline
	var old []bool
	for {
		rec, err := s.rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch rec.Kind {
		case symfmt.KindLine:
			h := hashNumber(uint64(rec.Line.File))
			if _, ok := names[h]; !ok {
				names[h] = s.file(rec.Line.File)
			}
			b.line(&rec.Line, fileHash{h, h})
		case symfmt.KindInline:
			in := rec.Inline
			in.Ranges = joinRanges(slices.Clone(in.Ranges))
			inlines, old = append(inlines, in), append(old, rec.OldForm)
		}
	}
	b.sortLines()
	for i := range b.lines {
		if s.room < 0 {
			return nil
		}
		x := &b.lines[i]
		text := fmt.Sprintf("%s:%d", s.shown(names[x.file]), x.num)
		if sub.At == "" && x.num != 0 {
			sub.At = fmt.Sprintf("%s:%d", names[x.file], x.num)
		}
		if places {
			l.lines = s.keep(l.lines, item{text: fmt.Sprintf("+%x..+%x %s", x.start, x.end, text)})
			continue
		}
		if n := len(l.lines); n > 0 && l.lines[n-1].text == text {
			l.lines[n-1].size += x.end - x.start
			continue
		}
		l.lines = s.keep(l.lines, item{text, x.end - x.start})
	}
	return s.calls(f, inlines, old, l, places)
}

// calls lists inlined calls by address, callers first.
func (s *textCursor) calls(f *funcEntry, inlines []symfmt.Inline, old []bool, l *listing, places bool) error {
	order := make([]int, len(inlines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareInlines(&inlines[i], &inlines[j]) })
	var text []byte // an INLINE may have as many ranges as fit the file
	for _, i := range order {
		in := &inlines[i]
		name, err := s.origin(in.Origin, old[i])
		if err != nil {
			return err
		}
		text = append(text[:0], strings.Repeat("  ", int(min(in.Depth, 32)))...)
		text = append(text, name...)
		if in.NoFile {
			text = fmt.Appendf(text, " called at line %d", in.CallLine)
		} else {
			text = fmt.Appendf(text, " called at %s:%d", s.shown(s.file(in.CallFile)), in.CallLine)
		}
		size := uint64(0)
		for _, r := range in.Ranges {
			if places {
				text = fmt.Appendf(text, " +%x..+%x", r.RVA-f.RVA, uint64(r.RVA-f.RVA)+r.Size)
			} else {
				size += r.Size
			}
		}
		if l.inlines = s.keep(l.inlines, item{string(text), size}); s.room < 0 {
			return nil
		}
	}
	return nil
}

func compareInlines(a, b *symfmt.Inline) int {
	return cmp.Or(cmp.Compare(a.Ranges[0].RVA, b.Ranges[0].RVA), cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.CallLine, b.CallLine))
}

// shown returns a source file's name as listings show it.
func (s *textCursor) shown(name string) string {
	if s.base {
		return text.Base(name)
	}
	return name
}
