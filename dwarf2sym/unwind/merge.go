package unwind

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Which FDE applies to an address:
//
//   - one of .eh_frame before one of .debug_frame: the former is what the
//     process itself unwinds with. If an FDE of .eh_frame is damaged, or its
//     CFA has no postfix form, .debug_frame fills the gap.
//   - within a section kind, the one that starts last at or before the address:
//     it is the one that a look-up in .eh_frame_hdr finds. After its end, the
//     enclosing one continues.
//   - among FDEs with the same start, the first in the section; a longer one
//     applies to the rest;
//   - an entry of .ARM.exidx where none of these has a rule;
//   - in a Windows binary, .pdata before all of them, or after them (Input.PdataLast);
//   - __unwind_info of macOS where none of these has a rule. There, the rows of an FDE are checked against the
//     instructions (compactfde.go).

// all writes all blocks.
func (r *reader) all() {
	var p *pdataReader
	if !r.in.PdataLast {
		p = r.readPdata()
	}
	r.compact = r.newCompact()
	r.dropMisplaced()
	r.merge()
	r.readIndex()
	r.readCompact()
	if r.in.PdataLast {
		p = r.readPdata()
	}
	p.writeLeaves()
}

// merge writes the blocks of all FDEs.
func (r *reader) merge() {
	first := r.sortFDEs()
	r.write(r.uncovered(r.pieces(0, first), r.sortBlocks()))
	r.write(r.uncovered(r.pieces(first, len(r.fdes)), r.sortBlocks()))
	r.sortBlocks()
}

// sortFDEs orders FDEs by kind of section, start, and place in the input. It returns the number of FDEs from
// .eh_frame, which come first.
func (r *reader) sortFDEs() (eh int) {
	type key struct { // much smaller than an FDE
		lo    uint64
		index int32
		debug bool
	}
	keys := make([]key, len(r.fdes))
	for i := range r.fdes {
		f := &r.fdes[i]
		keys[i] = key{f.lo, int32(i), !f.eh}
		if f.eh {
			eh++
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.debug != b.debug:
			if b.debug {
				return -1
			}
			return 1
		case a.lo != b.lo:
			return cmp.Compare(a.lo, b.lo)
		}
		x, y := &r.fdes[a.index].entryPos, &r.fdes[b.index].entryPos
		return cmp.Or(cmp.Compare(x.section, y.section), cmp.Compare(x.offset, y.offset))
	})
	sorted := make([]fdeInfo, len(keys))
	for i, k := range keys {
		sorted[i] = r.fdes[k.index]
	}
	r.fdes = sorted
	return eh
}

// sortBlocks sorts the blocks and returns them.
func (r *reader) sortBlocks() []symfmt.CFIBlock {
	blocks := r.w.table.Blocks
	byRVA := func(a, b symfmt.CFIBlock) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(blocks, byRVA) {
		slices.SortFunc(blocks, byRVA)
	}
	return blocks
}

// pieces cuts overlaps of r.fdes[from:to], which must be sorted by start. The result is ordered by FDE, then
// by address.
func (r *reader) pieces(from, to int) []codePiece {
	pieces := make([]codePiece, 0, to-from)
	add := func(lo, hi uint64, i int) {
		if lo < hi {
			pieces = append(pieces, codePiece{lo, hi, int32(i)})
		}
	}
	var open []int // FDEs that contain the current address; the last one wins
	var at uint64
	// advance assigns the code up to limit.
	advance := func(limit uint64) {
		for len(open) > 0 && at < limit {
			i := open[len(open)-1]
			end := min(limit, r.fdes[i].hi)
			add(at, end, i)
			at = max(at, end)
			if r.fdes[i].hi <= at {
				open = open[:len(open)-1]
			}
		}
		at = limit
	}
	for i := from; i < to; {
		advance(r.fdes[i].lo)
		next := i + 1
		for next < to && r.fdes[next].lo == r.fdes[i].lo {
			next++
		}
		for j := next - 1; j >= i; j-- { // of those with equal start, the first ends up on top
			open = append(open, j)
		}
		i = next
	}
	advance(^uint64(0))
	slices.SortFunc(pieces, func(a, b codePiece) int {
		if a.fde != b.fde {
			return cmp.Compare(a.fde, b.fde)
		}
		return cmp.Compare(a.lo, b.lo)
	})
	r.countCuts(pieces, from, to)
	return pieces
}

// countCuts counts FDEs that other FDEs cover, wholly or in part.
func (r *reader) countCuts(pieces []codePiece, from, to int) {
	k := 0
	for i := from; i < to; i++ {
		var left uint64
		for ; k < len(pieces) && int(pieces[k].fde) == i; k++ {
			left += pieces[k].hi - pieces[k].lo
		}
		switch {
		case left == 0:
			r.stats.Duplicates++
		case left < r.fdes[i].hi-r.fdes[i].lo:
			r.stats.Cut++
		}
	}
}

// uncovered removes the code of blocks from pieces. blocks must be sorted.
func (r *reader) uncovered(pieces []codePiece, blocks []symfmt.CFIBlock) []codePiece {
	if len(blocks) == 0 {
		return pieces
	}
	var out []codePiece
	for k := 0; k < len(pieces); {
		fde := pieces[k].fde
		var had, left uint64
		for ; k < len(pieces) && pieces[k].fde == fde; k++ {
			n := len(out)
			out = r.subtract(out, pieces[k], blocks)
			had += pieces[k].hi - pieces[k].lo
			for _, p := range out[n:] {
				left += p.hi - p.lo
			}
		}
		switch {
		case left == 0:
			r.stats.Duplicates++
		case left < had:
			r.stats.Cut++
		}
	}
	return out
}

// subtract appends what remains of a piece.
func (r *reader) subtract(out []codePiece, p codePiece, blocks []symfmt.CFIBlock) []codePiece {
	base := r.in.Base
	i, found := slices.BinarySearchFunc(blocks, symfmt.RVA(p.lo-base), func(b symfmt.CFIBlock, rva symfmt.RVA) int {
		return cmp.Compare(b.RVA, rva)
	})
	if !found && i > 0 {
		i-- // it may extend into p
	}
	for ; i < len(blocks) && p.lo < p.hi; i++ {
		lo := uint64(blocks[i].RVA) + base
		hi := lo + blocks[i].Size
		if lo >= p.hi {
			break
		}
		if hi <= p.lo {
			continue
		}
		if p.lo < lo {
			out = append(out, codePiece{p.lo, lo, p.fde})
		}
		p.lo = hi
	}
	if p.lo < p.hi {
		out = append(out, p)
	}
	return out
}

// write executes the FDEs that have pieces. The pieces of one FDE follow each other.
func (r *reader) write(pieces []codePiece) {
	r.w.table.Blocks = slices.Grow(r.w.table.Blocks, len(pieces))
	for k := 0; k < len(pieces); {
		end := k + 1
		for end < len(pieces) && pieces[end].fde == pieces[k].fde {
			end++
		}
		if k&1023 == 0 && r.ctx.Err() != nil {
			return
		}
		f := &r.fdes[pieces[k].fde]
		r.runFDE(f, pieces[k:end])
		if r.cies[f.cie].signal {
			r.stats.Signal += end - k
		}
		k = end
	}
}
