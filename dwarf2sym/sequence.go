package dwarf2sym

import (
	"cmp"
	"slices"
	"sort"
)

// lineRows is the line table of a unit, in which the rows of a piece of code are found.
//
// Sequences overlap in damaged files, and where functions that the linker dropped
// got the address 0 in a program that has code there.
type lineRows struct {
	lineTable

	// Where sequences overlap:
	reach []uint64 // the highest end of the sequences up to each
	byFit []*sequence
	sweep sweep
}

// read decodes the line program of u.
func (t *lineRows) read(u *unit, w *window) error {
	err := t.lineTable.read(u, w)
	t.findOverlaps()
	return err
}

// clear makes the table empty.
func (t *lineRows) clear() {
	t.lineTable.clear()
	t.reach = t.reach[:0]
}

// findOverlaps fills in reach if sequences overlap.
func (t *lineRows) findOverlaps() {
	t.reach = t.reach[:0]
	for i := 1; i < len(t.seqs); i++ {
		if t.seqs[i].lo < t.seqs[i-1].hi {
			t.findReach()
			return
		}
	}
}

func (t *lineRows) findReach() {
	most := uint64(0)
	for i := range t.seqs {
		most = max(most, t.seqs[i].hi)
		t.reach = append(t.reach, most)
	}
}

// from returns the index of the first sequence that may reach behind lo.
func (t *lineRows) from(lo uint64) int {
	if len(t.reach) > 0 {
		return sort.Search(len(t.reach), func(i int) bool { return t.reach[i] > lo })
	}
	return sort.Search(len(t.seqs), func(i int) bool { return t.seqs[i].hi > lo })
}

// rowsIn calls emit for each piece of [lo, hi) that one row covers, in order of
// address. Code between sequences is not covered. Where sequences overlap, the
// one that fits [lo, hi) best counts (betterFit). It returns how many sequences
// it looked at.
func (t *lineRows) rowsIn(lo, hi uint64, emit func(lo, hi uint64, r *row)) (looked int) {
	first := t.from(lo)
	last := first
	for last < len(t.seqs) && t.seqs[last].lo < hi {
		last++
	}
	if len(t.reach) > 0 && last-first > 1 {
		t.paintRows(t.seqs[first:last], lo, hi, emit)
		return last - first
	}
	for i := first; i < last; i++ {
		t.rowsOf(&t.seqs[i], lo, hi, emit)
	}
	return last - first
}

// rowsOf is like rowsIn, for one sequence.
func (t *lineRows) rowsOf(s *sequence, lo, hi uint64, emit func(lo, hi uint64, r *row)) {
	end := min(hi, s.hi)
	rows := t.rows[s.first:s.last]
	k, exact := slices.BinarySearchFunc(rows, lo, func(r row, lo uint64) int { return cmp.Compare(r.addr, lo) })
	if !exact && k > 0 {
		k--
	}
	for ; k < len(rows) && rows[k].addr < end; k++ {
		to := end
		if k+1 < len(rows) {
			to = min(end, rows[k+1].addr)
		}
		if from := max(lo, rows[k].addr); from < to {
			emit(from, to, &rows[k])
		}
	}
}

// betterFit orders sequences by how well they fit the function [lo, hi): first
// what is exactly as long, then what holds it all, then what starts last, is
// shorter, comes first in the program, as with the names of folded functions. A function that was dropped has a
// sequence of its own, which fits another one hardly ever.
func betterFit(a, b *sequence, lo, hi uint64) int {
	return cmp.Or(
		cmp.Compare(misfit(a, lo, hi), misfit(b, lo, hi)),
		cmp.Compare(b.lo, a.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.first, b.first))
}

func misfit(s *sequence, lo, hi uint64) int {
	switch {
	case s.lo == lo && s.hi == hi:
		return 0
	case s.lo <= lo && s.hi >= hi:
		return 1
	}
	return 2
}

// paintRows is like rowsIn, for sequences that overlap: each piece of code goes to
// the best one that covers it.
func (t *lineRows) paintRows(seqs []sequence, lo, hi uint64, emit func(lo, hi uint64, r *row)) {
	byFit := t.byFit[:0]
	for i := range seqs {
		if s := &seqs[i]; s.hi > lo {
			byFit = append(byFit, s)
		}
	}
	t.byFit = byFit
	slices.SortFunc(byFit, func(a, b *sequence) int { return -betterFit(a, b, lo, hi) })
	t.sweep.reset(len(byFit))
	for i, s := range byFit {
		t.sweep.claim(i, max(s.lo, lo), min(s.hi, hi))
	}
	t.sweep.each(func(owner int32, lo, hi uint64) bool {
		t.rowsOf(byFit[owner], lo, hi, emit)
		return true
	})
}
