package symfmt

import (
	"cmp"
	"slices"
)

// OldInlines converts the INLINE and INLINE_ORIGIN records to the form that
// Breakpad's dump_syms wrote in 2021: an INLINE has no call file, and an
// INLINE_ORIGIN has the file of the inlined code. Readers of that form take an
// inlined frame's file from its origin, and have none for calls. An origin whose
// code is in several files, such as a template's, becomes one for each.
//
// It returns how many INLINEs had a call file other than the one that the origin
// of the enclosing INLINE implies.
func (m *Module) OldInlines() (lost int) {
	o := oldInlines{m: m, ids: make(map[InlineOrigin]OriginID), names: make(map[OriginID]*InlineOrigin, len(m.Origins))}
	for i := range m.Origins {
		if x := &m.Origins[i]; o.names[x.ID] == nil {
			o.names[x.ID] = x
		}
	}
	for i := range m.Funcs {
		if f := &m.Funcs[i]; f.Body.inlineForms() != 0 {
			o.function(f)
		}
	}
	m.Origins = o.out
	return o.lost
}

// oldInlines is the state of one call of OldInlines.
type oldInlines struct {
	m     *Module
	names map[OriginID]*InlineOrigin // the module's
	ids   map[InlineOrigin]OriginID  // origins in out by content; the key's ID is 0
	out   []InlineOrigin
	lost  int

	inlines []Inline
	ranges  []Range
	lines   []Line
	files   []int64 // file of each inline's code, -1 if unknown
	callers []int   // index of the enclosing INLINE, -1 for the FUNC
	open    []int   // last INLINE of each depth
	body    BodyBuilder
	arena   Arena
}

func (o *oldInlines) function(f *Func) {
	o.load(f)
	o.place()
	o.body.Reset(f.RVA)
	for i := range o.inlines {
		in := o.inlines[i]
		if !in.NoFile && (o.callers[i] < 0 || o.files[o.callers[i]] != int64(in.CallFile)) {
			o.lost++
		}
		in.Origin = o.origin(&in, o.files[i])
		in.NoFile, in.CallFile = true, 0
		o.body.AddInline(&in)
	}
	for l := range f.Lines() {
		o.body.AddLine(l)
	}
	f.Body = o.body.Finish(&o.arena)
}

// load reads the records of a FUNC and sorts its lines.
func (o *oldInlines) load(f *Func) {
	o.inlines, o.ranges, o.lines = o.inlines[:0], o.ranges[:0], o.lines[:0]
	for in := range f.Inlines() {
		c := *in
		o.ranges = append(o.ranges, in.Ranges...)
		c.Ranges = o.ranges[len(o.ranges)-len(in.Ranges):]
		o.inlines = append(o.inlines, c)
	}
	for l := range f.Lines() {
		o.lines = append(o.lines, l)
	}
	byAddress := func(a, b Line) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(o.lines, byAddress) {
		slices.SortStableFunc(o.lines, byAddress)
	}
}

// place finds the caller of each INLINE and the file of its code: the file of the
// first call in it or, without one, of its first line.
func (o *oldInlines) place() {
	o.files, o.callers, o.open = o.files[:0], o.callers[:0], o.open[:0]
	for i := range o.inlines {
		in := &o.inlines[i]
		o.files, o.callers = append(o.files, -1), append(o.callers, -1)
		depth := int(min(uint64(in.Depth), uint64(len(o.open))))
		o.open = append(o.open[:depth], i)
		if depth == 0 {
			continue
		}
		caller := o.open[depth-1]
		o.callers[i] = caller
		if o.files[caller] < 0 && !in.NoFile {
			o.files[caller] = int64(in.CallFile)
		}
	}
	for i := range o.inlines {
		if o.files[i] < 0 {
			o.files[i] = o.lineFile(o.inlines[i].Ranges[0].RVA)
		}
	}
}

// lineFile returns the file of the line at an address, -1 if there is none.
func (o *oldInlines) lineFile(rva RVA) int64 {
	i, ok := slices.BinarySearchFunc(o.lines, rva, func(l Line, rva RVA) int { return cmp.Compare(l.RVA, rva) })
	if !ok {
		i--
	}
	if i < 0 || uint64(rva-o.lines[i].RVA) >= o.lines[i].Size {
		return -1
	}
	return int64(o.lines[i].File)
}

// origin returns the number of the origin of an INLINE whose code is in file.
// Undeclared origins stay undeclared: they all get the name NoName.
func (o *oldInlines) origin(in *Inline, file int64) OriginID {
	x := InlineOrigin{HasFile: true, Name: NoName, File: file}
	if known := o.names[in.Origin]; known != nil {
		x.Name = known.Name
		if in.NoFile {
			x.File = originFile(known)
		}
	}
	id, ok := o.ids[x]
	if !ok {
		id = OriginID(len(o.out))
		o.ids[x] = id
		x.ID = id
		o.out = append(o.out, x)
	}
	return id
}
