package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/span"
)

// Sequences overlap in damaged files, and if functions that the linker dropped got address 0 in a program
// with code there.

// overlaps helps to find rows in a table whose sequences overlap.
type overlaps struct {
	reach []uint64 // by sequence: the highest end of it and all before it; empty if none overlap
	byFit []*Sequence
	sweep span.Sweep
}

// findOverlaps fills in reach if sequences overlap.
func (t *LineTable) findOverlaps() {
	t.reach = t.reach[:0]
	for i := 1; i < len(t.Seqs); i++ {
		if t.Seqs[i].Lo < t.Seqs[i-1].Hi {
			t.findReach()
			return
		}
	}
}

func (t *LineTable) findReach() {
	most := uint64(0)
	for i := range t.Seqs {
		most = max(most, t.Seqs[i].Hi)
		t.reach = append(t.reach, most)
	}
}

// from returns the index of the first sequence that may extend past lo.
func (t *LineTable) from(lo uint64) int {
	if len(t.reach) > 0 {
		return sort.Search(len(t.reach), func(i int) bool { return t.reach[i] > lo })
	}
	return sort.Search(len(t.Seqs), func(i int) bool { return t.Seqs[i].Hi > lo })
}

// RowsIn calls emit for each piece of [lo, hi) that one row covers, in order of address. Code between
// sequences is not covered. Where sequences overlap, it uses the one that fits [lo, hi) best (betterFit). It
// returns the number of sequences examined.
func (t *LineTable) RowsIn(lo, hi uint64, emit func(lo, hi uint64, r *Row)) (looked int) {
	first := t.from(lo)
	last := first
	for last < len(t.Seqs) && t.Seqs[last].Lo < hi {
		last++
	}
	if len(t.reach) > 0 && last-first > 1 {
		t.paintRows(t.Seqs[first:last], lo, hi, emit)
		return last - first
	}
	for i := first; i < last; i++ {
		t.rowsOf(&t.Seqs[i], lo, hi, emit)
	}
	return last - first
}

// Begins reports whether a row begins in [lo, hi), including rows that repeat the line of the row before.
func (t *LineTable) Begins(lo, hi uint64) bool {
	for i := t.from(lo); i < len(t.Seqs) && t.Seqs[i].Lo < hi; i++ {
		rows := t.Rows[t.Seqs[i].First:t.Seqs[i].Last]
		k := sort.Search(len(rows), func(k int) bool { return rows[k].Addr >= lo })
		if k < len(rows) && rows[k].Addr < hi {
			return true
		}
	}
	_, repeated := t.Repeat(lo, hi)
	return repeated
}

// Repeat returns the first address in [lo, hi) where a row repeats the line of the row before it.
func (t *LineTable) Repeat(lo, hi uint64) (addr uint64, ok bool) {
	k, _ := slices.BinarySearch(t.repeats, lo)
	if k == len(t.repeats) || t.repeats[k] >= hi {
		return 0, false
	}
	return t.repeats[k], true
}

// rowsOf is like RowsIn, for one sequence.
func (t *LineTable) rowsOf(s *Sequence, lo, hi uint64, emit func(lo, hi uint64, r *Row)) {
	end := min(hi, s.Hi)
	rows := t.Rows[s.First:s.Last]
	k, exact := slices.BinarySearchFunc(rows, lo, func(r Row, lo uint64) int { return cmp.Compare(r.Addr, lo) })
	if !exact && k > 0 {
		k--
	}
	for ; k < len(rows) && rows[k].Addr < end; k++ {
		to := end
		if k+1 < len(rows) {
			to = min(end, rows[k+1].Addr)
		}
		if from := max(lo, rows[k].Addr); from < to {
			emit(from, to, &rows[k])
		}
	}
}

// betterFit orders sequences by how well they fit the function [lo, hi): first those of exactly its length,
// then those that contain it, then by later start, shorter length, and order in the program, as for the names
// of folded functions. A dropped function has a sequence of its own, which hardly ever fits another function.
func betterFit(a, b *Sequence, lo, hi uint64) int {
	return cmp.Or(
		cmp.Compare(misfit(a, lo, hi), misfit(b, lo, hi)),
		cmp.Compare(b.Lo, a.Lo), cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.First, b.First))
}

func misfit(s *Sequence, lo, hi uint64) int {
	switch {
	case s.Lo == lo && s.Hi == hi:
		return 0
	case s.Lo <= lo && s.Hi >= hi:
		return 1
	}
	return 2
}

// paintRows is like RowsIn, but for overlapping sequences: each piece of code gets the best sequence that
// covers it.
func (t *LineTable) paintRows(seqs []Sequence, lo, hi uint64, emit func(lo, hi uint64, r *Row)) {
	byFit := t.byFit[:0]
	for i := range seqs {
		if s := &seqs[i]; s.Hi > lo {
			byFit = append(byFit, s)
		}
	}
	t.byFit = byFit
	slices.SortFunc(byFit, func(a, b *Sequence) int { return -betterFit(a, b, lo, hi) })
	t.sweep.Reset(len(byFit))
	for i, s := range byFit {
		t.sweep.Claim(i, max(s.Lo, lo), min(s.Hi, hi))
	}
	t.sweep.Each(func(owner int32, lo, hi uint64) bool {
		t.rowsOf(byFit[owner], lo, hi, emit)
		return true
	})
}
