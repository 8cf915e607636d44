package resolve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// Approximate size in bytes of a function's lines in the cache.
const (
	lineCodeSize  = 8  // for each line
	lineCodesSize = 64 // in addition, for each function
)

// LineStart returns the start of the line record that contains an address, if Find returns a line
// for it. A function's line records are read when one of its addresses is first looked up here,
// as Find does not need their starts.
func (r *Resolver) LineStart(_ context.Context, rva symfmt.RVA) (start symfmt.RVA, ok bool, err error) {
	i := r.x.funcs.find(rva)
	if i < 0 || uint64(rva-r.x.funcs.span(i).rva) > math.MaxUint32 {
		return 0, false, nil
	}
	v := r.x.funcs.span(i)
	lines, err := r.lineCodes(i, v)
	if err != nil {
		return 0, false, err
	}
	off := uint32(rva - v.rva)
	k := sort.Search(len(lines), func(k int) bool { return lines[k].off > off })
	if k == 0 {
		return 0, false, nil
	}
	last := lines[k-1]
	return v.rva + symfmt.RVA(last.off), off < last.end, nil
}

// lineCodes returns the code of the line records of function i, reading it into the cache
// if necessary. The result is ascending; of several lines that start at the same address,
// it has only the last.
func (r *Resolver) lineCodes(i int, v span) (lines []lineCode, err error) {
	r.mu.Lock()
	lines, ok := r.cache.Load().lines[i]
	r.mu.Unlock()
	if ok {
		return lines, nil
	}
	if lines, err = readLineCodes(r.source, v); err != nil {
		return nil, r.errorf(v.offset, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if lines, ok := r.cache.Load().lines[i]; ok {
		return lines, nil
	}
	size := lineCodesSize + lineCodeSize*int64(len(lines))
	c := r.makeRoom(size)
	c.held += size
	c.lines[i] = lines
	return lines, nil
}

// readLineCodes reads the line records of a function.
func readLineCodes(from recordSource, v span) (lines []lineCode, err error) {
	err = from.lines(v, func(l *symfmt.Line) {
		if flatten.Fits(v.rva, l.RVA, l.Size) {
			off := uint32(l.RVA - v.rva)
			lines = append(lines, lineCode{off, off + uint32(l.Size)})
		}
	})
	if err != nil {
		return nil, err
	}
	byOffset := func(a, b lineCode) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(lines, byOffset) {
		slices.SortStableFunc(lines, byOffset)
	}
	kept := lines[:0]
	for _, l := range lines {
		if n := len(kept); n > 0 && kept[n-1].off == l.off {
			kept = kept[:n-1]
		}
		kept = append(kept, l)
	}
	return slices.Clone(kept), nil
}
