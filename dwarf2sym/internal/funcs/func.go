package funcs

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// openFunc is a function whose DIE has been entered but not left.
type openFunc struct {
	die   uint64 // offset of the DIE
	attrs dwarf.NameAttrs
	spans []dwarf.Span
	all   []dwarf.Span // including what the linker dropped
	extra bool         // only its code is wanted

	ownRows bool // rows that begin before it do not continue into it

	inlined uint64 // for an extra function: bit i is set if something is inlined into spans[i], for i < 64

	inlines     []inlineDIE
	inlineSpans []dwarf.Span
}

// inlineDIE is an inlined subroutine of an openFunc.
type inlineDIE struct {
	parent   int32 // index of the enclosing inlineDIE, or -1
	callLine uint32
	callFile uint64
	die      uint64 // its offset in .debug_info
	origin   uint32 // worker's OriginID, or lateOrigin
	first    int32  // index of the first of its spans in inlineSpans
	last     int32
}

// lateOrigin marks an inlined subroutine whose origin is looked up only when its INLINE is written: one without code
// and, with Filter.OnlyAddrs, every one. Few of these are written.
const lateOrigin = math.MaxUint32

// pendingName is a name of an inline origin, or of functions, that can only be found once the unit's scopes are known.
type pendingName struct {
	die   uint64
	attrs dwarf.NameAttrs
	fn    int32 // first Func that needs it, or -1
	count int32
	id    uint32 // OriginID, when fn < 0
}

// enterFunc opens a function if it has code.
func (w *Worker) enterFunc(a *dwarf.Attrs, start int, f *scanFrame) {
	f.fn, f.inl = -1, -1
	if start <= math.MaxInt32 {
		f.outer = int32(start)
	}
	if w.namesOnly || a.Low.Kind == dwarf.None && a.Ranges.Kind == dwarf.None {
		return
	}
	die := w.u.Off + uint64(start)
	spans := w.spansOf(a, "function", die)
	if w.blocks != nil {
		spans = append(spans, w.blocks.of[die]...)
	}
	n, fn := len(spans), w.newOpenFunc()
	fn.all = append(fn.all[:0], spans...)
	spans = w.code.Keep(spans)
	w.checkEnds(fn.all, spans, die)
	w.unitDead += btoi(n > 0 && len(spans) == 0)
	if len(spans) == 0 {
		w.spare = append(w.spare, fn)
		return
	}
	fn.die, fn.attrs = die, a.NameAttrs
	fn.spans, fn.all = append(fn.spans[:0], dwarf.Tidy(spans)...), dwarf.Tidy(fn.all)
	fn.extra = w.Wants != nil && !slices.ContainsFunc(fn.spans, w.Wants)
	fn.inlined = 0
	w.open = append(w.open, fn)
	f.fn, f.opens = int32(len(w.open)-1), f.opens|opensFunc
}

// checkEnds reports a range of the function at die that begins in code and ends behind it: kept has what is code of
// all, in the same order.
func (w *Worker) checkEnds(all, kept []dwarf.Span, die uint64) {
	i := 0
	for _, k := range kept {
		for all[i].Lo != k.Lo {
			i++
		}
		if all[i].Hi != k.Hi {
			w.problem(die, fmt.Sprintf("the end of the function at %#x", die), w.u.Errorf(int(die-w.u.Off),
				"its code would be [%#x, %#x), and the code of the file ends at %#x", k.Lo, all[i].Hi, k.Hi))
			return
		}
		i++
	}
}

// spansOf returns the code of the DIE at offset die, valid until the next call. Problems call it what.
func (w *Worker) spansOf(a *dwarf.Attrs, what string, die uint64) []dwarf.Span {
	u := &w.u
	spans, err := u.Spans(a.Low, a.High, a.Ranges, w.spans[:0])
	w.spans = spans
	if err != nil {
		if e, ok := err.(*bin.Error); ok && e.Section == ".debug_info" {
			e.Offset = die
		}
		w.problem(die, fmt.Sprintf("code of the %s at %#x", what, die), err)
	}
	return spans
}

// checkCall reports attributes of an inlined function that are of the wrong class.
func (w *Worker) checkCall(a *dwarf.Attrs, die uint64) {
	for _, v := range []dwarf.Value{a.CallFile, a.CallLine} {
		if v.Kind == dwarf.Unfit {
			m := v.Misfit()
			w.problem(die, fmt.Sprintf("%s of the inlined function at %#x", m.Name(), die), w.u.MisfitError(int(die-w.u.Off), m))
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *Worker) newOpenFunc() *openFunc {
	if n := len(w.spare); n > 0 {
		fn := w.spare[n-1]
		w.spare = w.spare[:n-1]
		fn.inlines, fn.inlineSpans = fn.inlines[:0], fn.inlineSpans[:0]
		return fn
	}
	return &openFunc{}
}

// wantsInlines reports whether the inlined subroutines of open function fn, an index or -1, are needed.
func (w *Worker) wantsInlines(fn int32) bool {
	if fn < 0 || w.opts.NoInlines {
		return false
	}
	f := w.open[fn]
	return !f.extra || w.Indexing && !f.allInlined()
}

// enterInline records an inlined subroutine of the open function.
func (w *Worker) enterInline(a *dwarf.Attrs, start int, f *scanFrame) {
	fn, die := w.open[f.fn], w.u.Off+uint64(start)
	w.checkCall(a, die)
	if fn.extra {
		w.noteInlined(a, die, fn)
		return
	}
	spans := w.spansOf(a, "inlined function", die)
	in := inlineDIE{parent: f.inl, die: die, callFile: a.CallFile.U, origin: lateOrigin, first: int32(len(fn.inlineSpans))}
	if a.CallLine.Kind == dwarf.Const && a.CallLine.U <= 1<<32-1 {
		in.callLine = uint32(a.CallLine.U)
	}
	if a.CallFile.Kind != dwarf.Const {
		in.callFile = noCallFile
	}
	if spans = dwarf.Tidy(spans); !inside(spans, fn.all) {
		spans = w.withoutOutside(spans, fn, die)
	}
	if w.OnlyAddrs == nil && len(spans) > 0 {
		in.origin = w.originOf(&a.NameAttrs, die)
	}
	fn.inlineSpans = append(doubled(fn.inlineSpans, len(spans)), spans...)
	in.last = int32(len(fn.inlineSpans))
	fn.inlines = append(doubled(fn.inlines, 1), in)
	f.inl = int32(len(fn.inlines) - 1)
}

// withoutOutside keeps, in place, the code of an inlined function that begins in the function around it, cut at that
// function's end. It reports the code outside, unless it does not begin in code: then a linker dropped it, and BOLT
// leaves only the end.
func (w *Worker) withoutOutside(spans []dwarf.Span, fn *openFunc, die uint64) []dwarf.Span {
	n := 0
	for _, s := range spans {
		if !w.code.Touches(s.Lo, s.Lo) {
			continue
		}
		in, out := s.Cut(fn.all)
		if in.Lo < in.Hi {
			spans[n] = in
			n++
		}
		if out.Lo == out.Hi {
			continue
		}
		if w.code.Touches(out.Lo, out.Hi) {
			w.problem(die, fmt.Sprintf("code of the inlined function at %#x", die), w.u.Errorf(int(die-w.u.Off),
				"code from %#x to %#x is not in the function at %#x, which it is inlined into", out.Lo, out.Hi, fn.die))
		}
	}
	return spans[:n]
}

// doubled returns s with room for n more elements. If s must grow, its capacity at least doubles: append's smaller
// steps would leave more garbage.
func doubled[S ~[]E, E any](s S, n int) S {
	if len(s)+n > cap(s) {
		s = slices.Grow(s, max(len(s), n))
	}
	return s
}

// originOf returns the number of the inlined function. If its name needs the unit's scopes, it is looked up at the end
// of the unit.
func (w *Worker) originOf(a *dwarf.NameAttrs, die uint64) uint32 {
	key := die
	switch ref, _ := a.Next(); ref.Kind {
	case dwarf.Ref:
		key = ref.U
	case dwarf.RefSup:
		key = units.SupTag | ref.U
	}
	if id, ok := w.seen.Get(key); ok {
		return id
	}
	id := uint32(len(w.Origins))
	n := len(w.followed)
	name, ok := w.placedName(&w.u, a)
	w.followedFor(n, ok, &pendingName{die: die, fn: -1, id: id})
	w.Origins = append(w.Origins, name)
	w.seen.Put(key, id)
	if !ok {
		w.pending.add(pendingName{die: die, attrs: *a, fn: -1, id: id})
	}
	return id
}

// closeFunc makes the records of the function opened last: one for each contiguous piece of its code.
func (w *Worker) closeFunc() {
	n := len(w.open) - 1
	fn := w.open[n]
	w.open = w.open[:n]
	var name names.ID
	ok, n0 := fn.extra, len(w.followed) // an extra function has no name to wait for
	if !ok {
		name, ok = w.placedName(&w.u, &fn.attrs)
	}
	first := len(w.Funcs)
	for _, s := range fn.spans {
		if !w.Spend(uint64(unsafe.Sizeof(Func{}))) {
			break
		}
		f := w.record(fn, s, w.u.Assembly())
		if ok {
			f.Name, f.Named = name, Named
		}
		w.Funcs = append(w.Funcs, f)
	}
	if w.Indexing {
		w.identify(fn, first)
	}
	p := pendingName{die: fn.die, attrs: fn.attrs, fn: int32(first), count: int32(len(w.Funcs) - first)}
	w.followedFor(n0, ok, &p)
	if !ok {
		w.pending.add(p)
	}
	w.spare = append(w.spare, fn)
}

// record returns the FUNC of one piece of a function.
func (w *Worker) record(fn *openFunc, s dwarf.Span, label bool) Func {
	f := Func{Addr: s.Lo, Size: s.Hi - s.Lo, Key: fn.die, Label: label}
	if w.Wants == nil || w.Wants(s) {
		f.Body, f.Inlined = w.body(fn, s)
	}
	if w.skeleton != nil {
		f.Key, f.Sub = w.skeleton.Off, fn.die
	}
	return f
}

// Body packs the inlines and lines of one piece of a function. inlined reports whether something is inlined into it.
func (w *Worker) body(fn *openFunc, s dwarf.Span) (body symfmt.Body, inlined bool) {
	b := &w.builder
	b.Reset(w.code.RVA(s.Lo))
	w.needLines()
	if len(fn.inlines) > 0 {
		inlined = w.addInlines(fn, s)
	}
	if w.OnlyAddrs == nil || anyIn(w.OnlyAddrs, s) {
		w.addLines(s, fn.ownRows)
	}
	return b.Finish(&w.Arena), inlined
}

// addLines adds the line records of s; with own, only those of rows that begin in it. Adjacent records of the same line
// are joined. Line 0 is kept: it means that the compiler gave no line.
func (w *Worker) addLines(s dwarf.Span, own bool) {
	var open symfmt.Line
	rows := 0
	looked := w.lines.RowsIn(s.Lo, s.Hi, func(lo, hi uint64, r *dwarf.Row) {
		if rows++; own && r.Addr < s.Lo {
			at, ok := w.lines.Repeat(lo, hi)
			if !ok {
				return
			}
			lo = at
		}
		id, ok := w.fileID(uint64(r.File))
		if !ok {
			w.loseFile(uint64(r.File), func(l *lostFiles) *error { return &l.rows })
			return
		}
		rva, file := w.code.RVA(lo), symfmt.FileID(id)
		if open.Size > 0 {
			if open.RVA+symfmt.RVA(open.Size) == rva && open.Num == r.Line && open.File == file {
				open.Size += hi - lo
				return
			}
			w.addLine(open)
		}
		open = symfmt.Line{RVA: rva, Size: hi - lo, Num: r.Line, File: file}
	})
	if open.Size > 0 {
		w.addLine(open)
	}
	w.Spend(uint64(rows)*lineCost + uint64(looked)*dwarf.SpanCost)
}

// lineCost is the work charged for a line record: roughly its size in memory.
const lineCost = 4

// resolveNames looks up the names that had to wait for the end of the unit.
func (w *Worker) resolveNames() {
	for p := range w.pending.all() {
		if w.Exhausted {
			break
		}
		name, how := w.nameOf(&w.u, p.die, &p.attrs)
		if how != Nameless && !w.Spend(uint64(w.Names.Size(name))) {
			break
		}
		if p.fn < 0 {
			if how == Nameless {
				name = w.Names.Intern([]byte(NoName))
			}
			w.Origins[p.id] = name
			continue
		}
		for k := p.fn; k < p.fn+p.count; k++ {
			w.Funcs[k].Name, w.Funcs[k].Named = name, how
		}
	}
	w.pending.reset()
	w.seen.Clear()
}
