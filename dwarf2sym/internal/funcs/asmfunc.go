package funcs

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/symfmt"
)

// funcsFromSymbols makes functions from the ELF symbols for code that has lines in the unit but no functions: assembly,
// units with line tables only (clang's -g1 describes only functions with inlines), a missing .dwo, or damage.
func (w *Worker) funcsFromSymbols() {
	if w.Only != nil {
		w.symbolFuncs(w.Only.Synthesized)
		return
	}
	_, named := w.Symbols.UpTo(math.MaxUint64)
	// Partial units share the line table of another unit.
	if w.namesOnly || !named || w.u.StmtList.Kind == dwarf.None || w.u.Partial {
		return
	}
	own := w.Funcs[w.unitFuncs:]
	if len(own) == 0 && w.unitDead > 0 {
		return
	}
	w.needLines()
	labels := len(own) == 0 || w.u.Assembly()
	covered := w.spans[:0]
	for i := range own {
		covered = append(covered, dwarf.Span{Lo: own[i].Addr, Hi: own[i].Addr + own[i].Size})
	}
	w.spans = covered
	covered = dwarf.Tidy(covered)
	for i := range w.lines.Seqs {
		// The sequences of dropped functions are at 0, too.
		if s := &w.lines.Seqs[i]; s.Lo > 0 || w.unitDead == 0 {
			w.fillSequence(s, covered, labels)
		}
	}
}

// fillSequence creates functions for the code of a sequence that covered does not include.
func (w *Worker) fillSequence(s *dwarf.Sequence, covered []dwarf.Span, labels bool) {
	code, ok := w.code.At(s.Lo)
	if !ok || w.Exhausted {
		return
	}
	lo, hi := s.Lo, min(s.Hi, code.End)
	if labels {
		w.tailFunc(lo, hi)
	}
	first := sort.Search(len(covered), func(i int) bool { return covered[i].Hi > lo })
	for _, c := range covered[first:] {
		if c.Lo >= hi {
			break
		}
		w.fillGap(lo, c.Lo, labels)
		lo = c.Hi
	}
	w.fillGap(lo, hi, labels)
}

// fillGap creates functions for the code in [lo, hi), which no function of the unit covers.
func (w *Worker) fillGap(lo, hi uint64, labels bool) {
	if lo < hi {
		w.restFunc(lo, hi, labels)
		w.symbolFuncs(w.symbolSpans(lo, hi, labels))
	}
}

// symbolFuncs makes functions from code that symbols name. A function of a compiled language gets only the lines of
// rows that begin in it: what a compiler adds without a line, as for Ada's types, is not on the line of the preceding
// function. In assembly, and after a label, a row may continue, as the assembler does not repeat a row for the same
// line.
func (w *Worker) symbolFuncs(spans []dwarf.Span) {
	for _, s := range spans {
		if w.Only != nil && !w.Wants(s) {
			continue
		}
		in := w.Symbols.In(w.code.RVA(s.Lo), w.code.RVA(s.Lo)+1)
		of := openFunc{die: w.u.Off, ownRows: !w.u.Assembly() && len(in) > 0 && in[0].Func}
		if of.ownRows {
			if w.needLines(); !w.lines.Begins(s.Lo, s.Hi) {
				continue
			}
		}
		if !w.Spend(uint64(unsafe.Sizeof(Func{}))) {
			return
		}
		w.Funcs = append(w.Funcs, w.record(&of, s, true))
		w.Stats.SymbolFuncs++
	}
}

// tailFunc makes a record for the code in [lo, hi) before its first symbol if another unit's function continues there:
// .init and .fini begin in crti.S and end in crtn.S.
func (w *Worker) tailFunc(lo, hi uint64) {
	if in := w.Symbols.In(w.code.RVA(lo), w.code.RVA(hi)); len(in) > 0 {
		hi = w.code.Addr(in[0].RVA)
	}
	if s, ok := w.Symbols.OpenBefore(w.code.RVA(lo)); ok {
		w.continued(&s, lo, hi)
	}
}

// restFunc makes a record for the code at the beginning of [lo, hi) that belongs to a symbol before it: GHC's functions
// are described only up to the end of their first block, and assembly may have DIEs that are shorter than its symbols.
func (w *Worker) restFunc(lo, hi uint64, labels bool) {
	rva := w.code.RVA(lo)
	s, ok := publics.Reaching(w.Symbols, rva)
	if !ok {
		return
	}
	hi = min(hi, lo+s.Size-uint64(rva-s.RVA))
	in := w.Symbols.In(rva, w.code.RVA(hi))
	if i := slices.IndexFunc(in, func(s publics.Symbol) bool { return s.HasCode(labels) }); i >= 0 {
		hi = w.code.Addr(in[i].RVA)
	}
	if w.Spend(uint64(len(in)) * dwarf.SpanCost) {
		w.continued(&s, lo, hi)
	}
}

// continued makes a record for [lo, hi), into which the function of an earlier symbol continues.
func (w *Worker) continued(s *publics.Symbol, lo, hi uint64) {
	if lo >= hi || !w.code.Together(w.code.Addr(s.RVA), lo) || !w.Spend(uint64(unsafe.Sizeof(Func{}))) {
		return
	}
	f := w.record(&openFunc{die: w.u.Off}, dwarf.Span{Lo: lo, Hi: hi}, true)
	f.Tail = true
	w.Funcs = append(w.Funcs, f)
}

// symbolSpans returns the code of the symbols in [lo, hi): functions, untyped symbols with a size (parts of functions
// that clang puts into sections of their own) and, with labels, all symbols. A symbol without a size extends to the
// next one; labels within code of known size have no code.
func (w *Worker) symbolSpans(lo, hi uint64, labels bool) (out []dwarf.Span) {
	to := w.code.RVA(hi)
	in := w.Symbols.In(w.code.RVA(lo), to)
	i := 0
	for i < len(in) {
		s := &in[i]
		i++
		if !s.HasCode(labels) {
			continue
		}
		end := to
		if s.Size > 0 {
			end = min(to, s.RVA+symfmt.RVA(s.Size))
		}
		for ; i < len(in) && in[i].RVA < end; i++ {
			if next := &in[i]; next.Func || s.Size == 0 && next.HasCode(labels) {
				end = next.RVA
				break
			}
		}
		if s.RVA < end {
			out = append(out, dwarf.Span{Lo: w.code.Addr(s.RVA), Hi: w.code.Addr(end)})
		}
	}
	w.Spend(uint64(len(in)) * dwarf.SpanCost)
	return out
}
