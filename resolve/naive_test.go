package resolve

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// naive answers addresses from a module that was read whole, looking at
// everything for each: the rules of Find without its tables.
type naive struct {
	line    *symfmt.Line // around the address that was asked for last, or nil
	m       *symfmt.Module
	files   *symfmt.FileNames
	origins *symfmt.OriginNames
	damaged bool // records were lost
}

func newNaive(m *symfmt.Module) *naive {
	return &naive{m: m, files: m.FileNames(), origins: m.OriginNames()}
}

func readNaive(t testing.TB, text string) *naive {
	t.Helper()
	result, err := symfmt.Read(context.Background(), strings.NewReader(text), symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	m, report := result.Module, result.Report
	n := newNaive(m)
	n.damaged = len(report.Problems) > 0
	return n
}

func holds(start symfmt.RVA, size uint64, rva symfmt.RVA) bool {
	return rva >= start && uint64(rva-start) < size
}

func (n *naive) find(rva symfmt.RVA) (at Location, ok bool) {
	n.line = nil
	var in *symfmt.Func
	var base *symfmt.RVA // of the nearest FUNC below
	for i := range n.m.Funcs {
		f := &n.m.Funcs[i]
		if f.Size == 0 || f.RVA > rva {
			continue
		}
		if base == nil || f.RVA > *base {
			base = &f.RVA
		}
		if holds(f.RVA, f.Size, rva) && (in == nil || f.RVA > in.RVA) {
			in = f
		}
	}
	if in != nil {
		return n.inFunc(in, rva), true
	}
	var public *symfmt.Public
	for i := range n.m.Publics {
		p := &n.m.Publics[i]
		if p.RVA != 0 && p.RVA <= rva && (public == nil || p.RVA > public.RVA) {
			public = p
		}
	}
	if public == nil || base != nil && public.RVA <= *base {
		return at, false
	}
	return Location{
		Guess:  !n.reaches(public.RVA, rva),
		Source: Public, Start: public.RVA, Offset: uint64(rva - public.RVA), ParamSize: public.ParamSize, Multiple: public.Multiple,
		Frames: []Frame{{Function: public.Name}},
	}, true
}

// reaches applies the rules of package extent to a PUBLIC of a symbol file: it looks at all
// records for each address.
func (n *naive) reaches(public, rva symfmt.RVA) bool {
	var ends []uint64
	end := func(rva symfmt.RVA, size uint64) {
		if size > 0 {
			last := uint64(rva) + size - 1
			ends = append(ends, last, last+min(1, math.MaxUint64-last))
		}
	}
	for i := range n.m.Funcs {
		end(n.m.Funcs[i].RVA, n.m.Funcs[i].Size)
	}
	for i := range n.m.Publics {
		if rva := n.m.Publics[i].RVA; rva != 0 {
			end(rva, min(64<<10, -uint64(rva)-1))
		}
	}
	for i := range n.m.Wins {
		if w := &n.m.Wins[i]; w.Type == winFPO || w.Type == winFrameData {
			end(w.RVA, w.CodeSize)
		}
	}
	for i := range n.m.CFI.Blocks {
		end(n.m.CFI.Blocks[i].RVA, n.m.CFI.Blocks[i].Size)
	}
	if uint64(rva) >= slices.Max(ends) {
		return false
	}
	for i := range n.m.Funcs {
		if f := &n.m.Funcs[i]; holds(f.RVA, f.Size, public) {
			return false
		}
	}
	var around *symfmt.CFIBlock // the PUBLIC; of several the one that starts last
	for i := range n.m.CFI.Blocks {
		b := &n.m.CFI.Blocks[i]
		if b.Size > 0 && b.RVA > public && b.RVA <= rva {
			return false
		}
		if holds(b.RVA, b.Size, public) && (around == nil || b.RVA > around.RVA) {
			around = b
		}
	}
	if around != nil {
		return holds(around.RVA, around.Size, rva)
	}
	return rva-public < 64<<10
}

func (n *naive) inFunc(f *symfmt.Func, rva symfmt.RVA) Location {
	at := Location{Source: Func, Start: f.RVA, Offset: uint64(rva - f.RVA), Size: f.Size, ParamSize: f.ParamSize, Multiple: f.Multiple}
	frame := Frame{Function: f.Name}
	if uint64(rva-f.RVA) > math.MaxUint32 {
		at.Frames = []Frame{frame}
		return at
	}
	var line *symfmt.Line
	for l := range f.Lines() {
		if !counts(f, l.RVA, l.Size) {
			continue
		}
		if l.RVA <= rva && (line == nil || l.RVA >= line.RVA) {
			line = &l
		}
	}
	if line != nil && holds(line.RVA, line.Size, rva) {
		n.line = line
		frame.Line = line.Num
		frame.File, _ = n.files.Name(line.File)
	}
	outer := ""
	// From the FUNC inwards: each call takes the place of the frame before it.
	for depth := uint32(0); ; depth++ {
		in := n.inline(f, depth, rva)
		if in == nil {
			break
		}
		inner := Frame{File: frame.File, Line: frame.Line, Inlined: true}
		inner.Function, _ = n.origins.Name(in.Origin)
		frame.Line = in.CallLine
		switch {
		case !in.NoFile:
			frame.File, _ = n.files.Name(in.CallFile)
		case depth == 0:
			frame.File = n.ownFile(f)
		default:
			frame.File = outer
		}
		at.Frames = append(at.Frames, frame)
		frame, outer = inner, n.originFile(in.Origin)
	}
	at.Frames = append(at.Frames, frame)
	slices.Reverse(at.Frames)
	return at
}

// ownFile returns the file of the first line that is not in an inlined function.
func (n *naive) ownFile(f *symfmt.Func) (name string) {
	var own *symfmt.Line
	for l := range f.Lines() {
		if counts(f, l.RVA, l.Size) && (own == nil || l.RVA < own.RVA) && n.inline(f, 0, l.RVA) == nil {
			own = &l
		}
	}
	if own != nil {
		name, _ = n.files.Name(own.File)
	}
	return name
}

// originFile returns the file that an INLINE_ORIGIN of the old form has.
func (n *naive) originFile(id symfmt.OriginID) (name string) {
	i := slices.IndexFunc(n.m.Origins, func(o symfmt.InlineOrigin) bool { return o.ID == id })
	if i >= 0 && n.m.Origins[i].HasFile && n.m.Origins[i].File >= 0 {
		name, _ = n.files.Name(symfmt.FileID(n.m.Origins[i].File))
	}
	return name
}

// inline returns the INLINE of a depth around an address.
func (n *naive) inline(f *symfmt.Func, depth uint32, rva symfmt.RVA) *symfmt.Inline {
	var found symfmt.Inline
	var at symfmt.Range
	for in := range f.Inlines() {
		for _, r := range in.Ranges {
			if in.Depth == depth && counts(f, r.RVA, r.Size) && r.RVA <= rva && (at.Size == 0 || r.RVA >= at.RVA) {
				found, at = *in, r
			}
		}
	}
	if !holds(at.RVA, at.Size, rva) {
		return nil
	}
	return &found
}

// counts reports whether a piece of code of a function is not empty, and in the 4 GB after the
// function's start.
func counts(f *symfmt.Func, rva symfmt.RVA, size uint64) bool {
	d := uint64(rva - f.RVA)
	return rva >= f.RVA && size > 0 && d <= math.MaxUint32 && size <= math.MaxUint32-d
}

// edges returns the addresses where something begins or ends, and their neighbours.
func (n *naive) edges() (all []symfmt.RVA) {
	add := func(rva symfmt.RVA, size uint64) {
		end := rva + symfmt.RVA(size)
		all = append(all, rva-1, rva, rva+1, end-1, end)
	}
	for i := range n.m.Funcs {
		f := &n.m.Funcs[i]
		add(f.RVA, f.Size)
		for l := range f.Lines() {
			add(l.RVA, l.Size)
		}
		for in := range f.Inlines() {
			for _, r := range in.Ranges {
				add(r.RVA, r.Size)
			}
		}
	}
	for _, p := range n.m.Publics {
		add(p.RVA, 1)
	}
	for _, b := range n.m.CFI.Blocks {
		add(b.RVA, b.Size)
	}
	for _, w := range n.m.Wins {
		add(w.RVA, w.CodeSize)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sameRules compares rules. The resolver refuses a block with a record that cannot be
// read, as those after it may hold from another address on; a module has lost that
// record, and no more.
func (n *naive) sameRules(got *Rules, err error, rva symfmt.RVA) bool {
	want, wantErr := n.rules(rva)
	switch {
	case err != nil:
		return n.damaged || wantErr != nil
	case got == nil || want == nil || wantErr != nil:
		return got == nil && want == nil && wantErr == nil
	}
	return sameRules(got, want)
}

func sameRules(a, b *Rules) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Start == b.Start && a.Size == b.Size && a.Records == b.Records && a.Row.String() == b.Row.String()
}

func (n *naive) names() *cfi.Names { return n.m.CFI.Rules.Names() }

func (n *naive) rules(rva symfmt.RVA) (*Rules, error) {
	var in *symfmt.CFIBlock
	for i := range n.m.CFI.Blocks {
		if b := &n.m.CFI.Blocks[i]; holds(b.RVA, b.Size, rva) && (in == nil || b.RVA > in.RVA) {
			in = b
		}
	}
	if in == nil {
		return nil, nil
	}
	found := &Rules{Start: in.RVA, Size: in.Size, Records: 1 + int(in.Count)}
	rules, err := n.m.CFI.Rules.Rules(in.Init)
	found.Row.Apply(rules)
	for _, row := range n.m.CFI.Rows[in.First:][:in.Count] {
		if row.RVA > rva || err != nil {
			continue
		}
		rules, err = n.m.CFI.Rules.Rules(row.Rules)
		found.Row.Apply(rules)
	}
	return found, err
}

func (n *naive) win(rva symfmt.RVA) (found *symfmt.StackWin) {
	for _, kind := range []uint32{4, 0} {
		for i := range n.m.Wins {
			w := &n.m.Wins[i]
			if w.Type == kind && holds(w.RVA, w.CodeSize, rva) && (found == nil || w.RVA > found.RVA) {
				found = w
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
