package symdiff

import "fmt"

// Records are the records affected by a change, in Breakpad's format but with names in
// place of numbers and addresses relative to the function's first byte.
type Records struct {
	Old, New               *Subject // nil if absent
	OldRecords, NewRecords []string
}

// Records reads those records of a change that are compared.
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
