package resolve

import (
	"bytes"
	"math"

	"github.com/symtool/symtool/symfmt"
)

// LineStart tells where the line record around an address begins, as Find has its
// line; false if there is none. It reads the function's text each time: look-ups
// have no use for it, and keep no place for it.
func (r *Resolver) LineStart(rva symfmt.RVA) (start symfmt.RVA, ok bool, err error) {
	i := r.x.funcs.find(rva)
	if i < 0 || uint64(rva-r.x.funcs.span(i).rva) > math.MaxUint32 {
		return 0, false, nil
	}
	s := r.x.funcs.span(i)
	text, err := r.spanText(s)
	if err != nil {
		return 0, false, err
	}
	f := symfmt.Func{RVA: s.rva}
	var p symfmt.LineParser
	var last symfmt.Line // of those that start at the address or before it, the one that starts last
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		if line = trim(line); len(line) > symfmt.MaxLine || len(bytes.TrimLeft(line, " \t")) == 0 {
			continue
		}
		rec, err := p.Parse(line, "", 1)
		if err != nil || rec.Kind != symfmt.KindLine || rec.Line.RVA > rva || ok && rec.Line.RVA < last.RVA {
			continue
		}
		if f.Fits(rec.Line.RVA, rec.Line.Size) {
			last, ok = rec.Line, true
		}
	}
	return last.RVA, ok && uint64(rva-last.RVA) < last.Size, nil
}
