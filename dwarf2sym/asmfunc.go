package dwarf2sym

import (
	"sort"
	"unsafe"

	"github.com/symtool/symtool/symfmt"
)

// funcsFromSymbols makes functions for a unit that describes none, from the
// ELF symbols in its line table: assembly, and units whose .dwo is missing.
func (w *worker) funcsFromSymbols() {
	if w.namesOnly || len(w.symbols) == 0 || w.u.stmtList.kind == vNone {
		return
	}
	w.needLines()
	empty := openFunc{die: w.u.off}
	for _, seq := range w.lines.seqs {
		code, ok := w.code.at(seq.lo)
		if !ok || seq.lo < w.code.base || w.tired {
			continue
		}
		for _, s := range w.symbolSpans(seq.lo, min(seq.hi, code.End)) {
			if !w.spend(uint64(unsafe.Sizeof(funcRecord{}))) {
				return
			}
			w.funcs = append(w.funcs, funcRecord{
				addr: s.lo, size: s.hi - s.lo, key: w.u.off, label: true, body: w.body(&empty, s),
			})
			w.stats.SymbolFuncs++
		}
	}
}

// symbolSpans returns the code of the function symbols in [lo, hi). A symbol
// without a size reaches up to the next one; labels within a function of known
// size are none of their own.
func (w *worker) symbolSpans(lo, hi uint64) (out []span) {
	to := w.code.rva(hi)
	i := searchSymbols(w.symbols, w.code.rva(lo))
	first := i
	defer func() { w.spend(uint64(i-first) * spanCost) }()
	for i < len(w.symbols) && w.symbols[i].RVA < to {
		s := &w.symbols[i]
		end := to
		if s.Size > 0 {
			end = min(to, s.RVA+symfmt.RVA(s.Size))
		}
		for i++; i < len(w.symbols) && w.symbols[i].RVA < end; i++ {
			if s.Size == 0 || w.symbols[i].Func {
				end = w.symbols[i].RVA
				break
			}
		}
		if s.RVA < end {
			out = append(out, span{w.code.addr(s.RVA), w.code.addr(end)})
		}
	}
	return out
}

// searchSymbols returns the index of the first symbol at or after rva.
func searchSymbols(symbols []elfPub, rva symfmt.RVA) int {
	return sort.Search(len(symbols), func(i int) bool { return symbols[i].RVA >= rva })
}

// findSymbol returns the symbol at rva, or nil.
func findSymbol(symbols []elfPub, rva symfmt.RVA) *elfPub {
	i := searchSymbols(symbols, rva)
	if i == len(symbols) || symbols[i].RVA != rva {
		return nil
	}
	return &symbols[i]
}
