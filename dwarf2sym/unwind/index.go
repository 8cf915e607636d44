package unwind

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/symtool/symtool/symfmt"
)

// Index answers questions about single addresses with the blocks that Read would make. Every entry
// is read when the Index is made: only then is it known which FDE applies to an address. The
// instructions of an FDE are executed when one of its addresses is first looked up, and its blocks
// are kept, so that an Index never holds more than the table of Read.
//
// A block of .debug_frame depends on the rules of .eh_frame for the same code. So all FDEs of
// .eh_frame in that code are executed before one of .debug_frame. ARM's index tables apply wherever
// both leave code without rules: if a file has them, everything is executed at once.
//
// Its methods may be called concurrently.
type Index struct {
	mu    sync.Mutex
	r     *reader          // nil if everything is in table
	table *symfmt.CFITable // its blocks are in the order in which FDEs were executed
	from  [2][]codePiece   // from .eh_frame and .debug_frame, by address
	runs  []fdeRun         // by FDE
	full  bool             // everything was executed: the blocks are in order of address
}

// fdeRun locates the blocks of an FDE.
type fdeRun struct {
	first, count uint32
	done         bool
}

// NewIndex returns the Index of the sections of in, which must not be changed afterwards.
func NewIndex(in *Input) *Index {
	r := newReader(context.Background(), in)
	r.w.table.Rows = nil // the capacity is for all rows
	r.entries()
	x := &Index{r: r, table: &r.w.table, full: len(in.Index) > 0 || in.Compact}
	if x.full {
		r.all()
		return x
	}
	eh := r.sortFDEs()
	x.from = [2][]codePiece{r.pieces(0, eh), r.pieces(eh, len(r.fdes))}
	for _, pieces := range x.from {
		slices.SortFunc(pieces, func(a, b codePiece) int { return cmp.Compare(a.lo, b.lo) })
	}
	x.runs = make([]fdeRun, len(r.fdes))
	return x
}

// NewTableIndex returns an Index of a table whose blocks do not overlap.
func NewTableIndex(table *symfmt.CFITable) *Index {
	t := *table
	t.Blocks = slices.Clone(t.Blocks)
	slices.SortFunc(t.Blocks, func(a, b symfmt.CFIBlock) int { return cmp.Compare(a.RVA, b.RVA) })
	return &Index{table: &t, full: true}
}

// Block returns a table whose only block is the one that contains rva. It reports false if there is
// none. The table must not be changed.
func (x *Index) Block(rva symfmt.RVA) (table symfmt.CFITable, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	found := x.blocks(len(x.from), rva, rva)
	if len(found) == 0 {
		return table, false
	}
	table = *x.table // later additions come after the ends of its slices
	table.Blocks = slices.Clone(found[:1])
	return table, true
}

// Begins reports whether a block begins after first, and at or before last.
func (x *Index) Begins(first, last symfmt.RVA) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	found := x.blocks(len(x.from), first, last)
	return len(found) > 0 && found[len(found)-1].RVA > first
}

// HasBlocks reports whether there is any block.
func (x *Index) HasBlocks() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.full {
		return len(x.table.Blocks) > 0
	}
	for from, pieces := range x.from {
		for i := range pieces {
			if len(x.blocksOf(from, pieces[i].fde)) > 0 {
				return true
			}
		}
	}
	return false
}

// Covers reports whether blocks cover all of [first, last].
func (x *Index) Covers(first, last symfmt.RVA) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, b := range x.blocks(len(x.from), first, last) {
		if b.RVA > first {
			return false
		}
		if first = b.RVA + symfmt.RVA(b.Size); first > last {
			return true
		}
	}
	return false
}

// Last returns the last address of all blocks. It reports false if there are no blocks.
func (x *Index) Last() (last symfmt.RVA, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	end := func(blocks []symfmt.CFIBlock) {
		for _, b := range blocks {
			last, ok = max(last, b.RVA+symfmt.RVA(b.Size)-1), true
		}
	}
	if x.full {
		end(x.table.Blocks)
	}
	for from, pieces := range x.from {
		found := false
		for i := len(pieces) - 1; i >= 0 && !found; i-- {
			blocks := x.blocksOf(from, pieces[i].fde)
			found = len(blocks) > 0
			end(blocks)
		}
	}
	return last, ok
}

// Problems returns the damage found since the last call, in order of sections and offsets.
func (x *Index) Problems() []symfmt.Problem {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.r == nil || len(x.r.problems.list) == 0 {
		return nil
	}
	found := x.r.problems.sorted(slices.Concat(x.r.in.Sections, x.r.in.Index))
	x.r.problems = problemList{}
	return found
}

// blocks returns the blocks with code in [first, last], in order of address, from the first kinds
// of sections.
func (x *Index) blocks(kinds int, first, last symfmt.RVA) (found []symfmt.CFIBlock) {
	if x.full {
		all := x.table.Blocks
		i := sort.Search(len(all), func(i int) bool { return reaches(&all[i], first) })
		n := sort.Search(len(all), func(i int) bool { return all[i].RVA > last })
		return all[i:max(i, n)]
	}
	base := x.r.in.Base
	lo, hi := uint64(first)+base, uint64(last)+base
	for from, pieces := range x.from[:kinds] {
		i := sort.Search(len(pieces), func(i int) bool { return pieces[i].hi > lo })
		for ; i < len(pieces) && pieces[i].lo <= hi; i++ {
			for _, b := range x.blocksOf(from, pieces[i].fde) {
				if start := uint64(b.RVA) + base; pieces[i].lo <= start && start < pieces[i].hi && b.RVA <= last && reaches(&b, first) {
					found = append(found, b)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b symfmt.CFIBlock) int { return cmp.Compare(a.RVA, b.RVA) })
	return found
}

// reaches reports whether b has code at or after rva.
func reaches(b *symfmt.CFIBlock, rva symfmt.RVA) bool { return uint64(b.RVA)+b.Size > uint64(rva) }

// blocksOf returns the blocks of an FDE, executing it the first time.
func (x *Index) blocksOf(from int, fde int32) []symfmt.CFIBlock {
	run, t := &x.runs[fde], x.table
	if !run.done {
		pieces := x.piecesOf(from, fde)
		if n := len(pieces); from > 0 && n > 0 {
			base := x.r.in.Base
			pieces = x.r.uncovered(pieces, x.blocks(from, symfmt.RVA(pieces[0].lo-base), symfmt.RVA(pieces[n-1].hi-1-base)))
		}
		first := len(t.Blocks)
		x.r.write(pieces)
		*run = fdeRun{uint32(first), uint32(len(t.Blocks) - first), true}
	}
	return t.Blocks[run.first:][:run.count]
}

// piecesOf returns the code that an FDE applies to.
func (x *Index) piecesOf(from int, fde int32) (own []codePiece) {
	all, f := x.from[from], &x.r.fdes[fde]
	i := sort.Search(len(all), func(i int) bool { return all[i].lo >= f.lo })
	for ; i < len(all) && all[i].lo < f.hi; i++ {
		if all[i].fde == fde {
			own = append(own, all[i])
		}
	}
	return own
}
