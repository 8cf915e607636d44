package funcs

import "github.com/symtool/symtool/dwarf2sym/internal/dwarf"

// ComdatKey holds what copies of a function have in common besides their code.
type ComdatKey struct {
	Name    uint64 // offset in .debug_str, with the tag of its Data
	Known   bool   // the other fields are known: the function may be a copy
	Inlined bool   // something is inlined into it
	Label   bool   // Func.Label
}

// identified is the number of pieces of a function that have a ComdatKey: the number of bits in
// openFunc.inlined.
const identified = 64

// identify records the ComdatKeys of the pieces of fn, which are Funcs[first:].
func (w *Worker) identify(fn *openFunc, first int) {
	for len(w.comdatKeys) < first {
		w.comdatKeys = append(w.comdatKeys, ComdatKey{}) // placeholders for functions made from symbols
	}
	if w.job != nil {
		return // the offsets are in another file
	}
	d, off, known := w.namePlace(&w.u, &fn.attrs)
	known = known && off < uint64(len(d.Str)) && d.Str[off] != 0
	for i := range min(len(w.Funcs)-first, identified) {
		id := ComdatKey{Known: known, Inlined: fn.inlined>>i&1 != 0, Label: w.Funcs[first+i].Label}
		if known {
			id.Name = d.Tag | off
		}
		w.comdatKeys = append(w.comdatKeys, id)
	}
}

// ComdatKey returns the ComdatKey of Funcs[i].
func (w *Worker) ComdatKey(i int) (id ComdatKey) {
	if i < len(w.comdatKeys) {
		id = w.comdatKeys[i]
	}
	return id
}

// identified returns the pieces of the function that have a ComdatKey.
func (fn *openFunc) identified() []dwarf.Span { return fn.spans[:min(len(fn.spans), identified)] }

// allInlined reports whether something is inlined into every identified piece.
func (fn *openFunc) allInlined() bool { return fn.inlined == 1<<len(fn.identified())-1 }

// noteInlined records which pieces of fn contain code of the inlined function at die, whose
// attributes are a.
func (w *Worker) noteInlined(a *dwarf.Attrs, die uint64, fn *openFunc) {
	pieces := fn.identified()
	spans := w.spansOf(a, "inlined function", die)
	if !w.Spend(uint64(len(spans)*len(pieces)) * dwarf.SpanCost) {
		return
	}
	for _, in := range spans {
		for i, s := range pieces {
			if max(in.Lo, s.Lo) < min(in.Hi, s.Hi) {
				fn.inlined |= 1 << i
			}
		}
	}
}
