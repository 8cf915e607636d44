package symdiff

import (
	"fmt"
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Records are the records affected by a change, in Breakpad's format but with names
// instead of numbers and addresses relative to the function's first byte.
type Records struct {
	Old, New               *Subject // nil if absent
	OldRecords, NewRecords []string
}

// Records reads the records of a change that are compared.
func (d *Detailer) Records(c Change) (*Records, error) {
	d.folders(!d.r.Options.IgnorePaths)
	names, err := d.Names(c)
	if err != nil {
		return nil, err
	}
	out := &Records{Old: names.Old, New: names.New}
	for i, x := range [...]struct {
		subject *Subject
		index   int32
		records *[]string
	}{{out.Old, c.Old, &out.OldRecords}, {out.New, c.New, &out.NewRecords}} {
		if x.subject == nil {
			continue
		}
		if *x.records, err = d.sides[i].records(d.r.Options, c.Kind, x.index, x.subject); err != nil {
			return nil, &ReadError{err}
		}
	}
	return out, nil
}

// Header returns MODULE and INFO records, as far as they are compared.
func (o *Outline) Header(opts Options) []string {
	if !opts.On(OnModule) {
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

// records returns a record and those that belong to it, as far as they are compared.
func (s *textCursor) records(o Options, kind Kind, i int32, sub *Subject) ([]string, error) {
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
	}{{OnInlines, "INLINE ", l.inlines}, {OnLines, "line ", l.lines}, {OnCFI, "STACK CFI ", l.cfi}, {OnCFI, "STACK WIN ", l.wins}, {OnVariables, "variable ", l.variables}, {OnVariables, "member ", l.members}} {
		if !o.On(part.on) {
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

// The aspects that each section of a listing shows.
const (
	inLines     = LinesChanged | LinesShifted | PathsChanged
	inInlines   = InlinesChanged | InlinesShifted | PathsChanged
	inCFI       = CFIChanged | LostCFI
	inVariables = VariablesChanged | LostVariables
	inSections  = inLines | inInlines | inCFI | WinChanged | inVariables
)

// compareListings compares the parts of two listings that differ according to a change.
func compareListings(c Change, a, b *listing) (out []Section) {
	for _, s := range [...]struct {
		name     string
		what     Aspect
		old, new []item
	}{
		{"lines", inLines, a.lines, b.lines},
		{"inlines", inInlines, a.inlines, b.inlines},
		{"STACK CFI", inCFI, a.cfi, b.cfi},
		{"STACK WIN", WinChanged, a.wins, b.wins},
		{"variables", inVariables, a.variables, b.variables},
		{"members", MembersChanged, a.members, b.members},
	} {
		if c.What&(s.what|Added|Removed) == 0 || slices.Equal(s.old, s.new) {
			continue
		}
		section := Section{Name: s.name, Ops: differ(s.old, s.new)}
		if n := len(section.Ops); n > maxOps {
			section.Ops, section.Cut = section.Ops[:maxOps], n-maxOps
		}
		out = append(out, section)
	}
	return out
}

// differ returns the operations that turn a into b. The library searches for the
// shortest edit as long as that is cheap. If a and b differ only in sizes, sizes
// are compared too.
func differ(a, b []item) (ops []Op) {
	x, y := texts(a, false), texts(b, false)
	if slices.Equal(x, y) {
		x, y = texts(a, true), texts(b, true)
	}
	return DiffLines(x, y)
}

// DiffLines returns the operations that turn the lines x into y.
func DiffLines(x, y []string) (ops []Op) {
	emit := func(sign byte, lines []string) {
		for _, l := range lines {
			ops = append(ops, Op{sign, l})
		}
	}
	at := 0
	for _, d := range lcs.DiffLines(x, y) {
		emit(' ', x[at:d.Start])
		emit('-', x[d.Start:d.End])
		emit('+', y[d.ReplStart:d.ReplEnd])
		at = d.End
	}
	emit(' ', x[at:])
	return ops
}

// texts returns the lines of a listing, with or without sizes.
func texts(items []item, sizes bool) []string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = x.text
		if sizes && x.size > 0 {
			out[i] = fmt.Sprintf("%s (%#x bytes)", x.text, x.size)
		}
	}
	return out
}
