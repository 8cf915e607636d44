package publics

import (
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Table finds the symbols that [Publics] returns by their addresses. It sorts and builds only those near the
// requested addresses. It may be used concurrently.
type Table struct {
	from            *pubTable
	lowest, highest symfmt.RVA
	open            []symfmt.RVA // where functions without a size may be, in order

	// Each bucket has the symbols of 1<<shift addresses.
	shift  int
	first  []uint32                   // where the candidates of a bucket begin in order, followed by the end of the last bucket
	order  []uint32                   // indices in from.all, by bucket
	picked []atomic.Pointer[[]Symbol] // by bucket: nil until requested
}

// bucketSize is the number of candidates in a bucket, if addresses are distributed evenly. Sixteen are sorted in
// about a microsecond.
const bucketSize = 16

// OpenTable returns the Table of a binary's symbols, with the same symbols as [Publics], and the entries they
// are chosen from.
func OpenTable(base uint64, files []object.Companion) (*Table, *Entries, []bin.Problem) {
	from, problems := collect(base, files)
	return newTable(from), entriesOf(base, files, from.from), problems
}

func newTable(from *pubTable) *Table {
	t := &Table{from: from}
	if len(from.all) == 0 {
		return t
	}
	t.lowest = from.all[0].rva
	for i := range from.all {
		p := &from.all[i]
		t.lowest, t.highest = min(t.lowest, p.rva), max(t.highest, p.rva)
		if p.typed && p.size == 0 {
			t.open = append(t.open, p.rva)
		}
	}
	slices.Sort(t.open)
	t.distribute()
	return t
}

// distribute fills the buckets.
func (t *Table) distribute() {
	all := t.from.all
	each := uint64(t.highest-t.lowest) / uint64(len(all)/bucketSize+1)
	t.shift = bits.Len64(each)
	buckets := int((t.highest-t.lowest)>>t.shift) + 1
	t.first, t.order = make([]uint32, buckets+1), make([]uint32, len(all))
	t.picked = make([]atomic.Pointer[[]Symbol], buckets)
	for i := range all {
		t.first[t.bucket(all[i].rva)]++
	}
	end := uint32(0)
	for b := range t.first {
		end += t.first[b]
		t.first[b] = end
	}
	for i := range all { // moves the ends of the buckets to their beginnings
		b := t.bucket(all[i].rva)
		t.first[b]--
		t.order[t.first[b]] = uint32(i)
	}
}

// bucket returns the index of the bucket for rva, which must not be below lowest or above highest.
func (t *Table) bucket(rva symfmt.RVA) int { return int((rva - t.lowest) >> t.shift) }

// All returns all symbols. The Table remains usable.
func (t *Table) All() Sorted { return t.from.pick(slices.Clone(t.from.all)) }

// symbols returns the symbols of a bucket, in order.
func (t *Table) symbols(bucket int) []Symbol {
	if known := t.picked[bucket].Load(); known != nil {
		return *known
	}
	members := t.order[t.first[bucket]:t.first[bucket+1]]
	all := make([]pubCandidate, len(members))
	for i, m := range members {
		all[i] = t.from.all[m]
	}
	found := t.from.pick(all)
	t.picked[bucket].Store(&found)
	return found
}

// In implements [Finder].
func (t *Table) In(lo, hi symfmt.RVA) (out []Symbol) {
	if len(t.order) == 0 || lo >= hi || lo > t.highest || hi <= t.lowest {
		return nil
	}
	b, last := t.bucket(max(lo, t.lowest)), t.bucket(min(hi-1, t.highest))
	if b == last {
		return Sorted(t.symbols(b)).In(lo, hi)
	}
	for ; b <= last; b++ {
		if t.first[b] < t.first[b+1] {
			out = append(out, Sorted(t.symbols(b)).In(lo, hi)...)
		}
	}
	return out
}

// UpTo implements [Finder].
func (t *Table) UpTo(rva symfmt.RVA) (s Symbol, ok bool) {
	if len(t.order) == 0 || rva < t.lowest {
		return s, false
	}
	b := t.bucket(min(rva, t.highest))
	found := t.symbols(b)
	if s, ok := Sorted(found).UpTo(rva); ok {
		return s, true
	}
	before := t.order[t.first[b]-1] // in the last non-empty bucket before
	return Sorted(t.symbols(t.bucket(t.from.all[before].rva))).UpTo(rva)
}

// OpenBefore implements [Finder].
func (t *Table) OpenBefore(rva symfmt.RVA) (s Symbol, ok bool) {
	i := sort.Search(len(t.open), func(i int) bool { return t.open[i] >= rva })
	if i == 0 || t.apart(t.open[i-1], rva) {
		return s, false
	}
	s, ok = t.UpTo(rva - 1)
	return s, ok && OpenSymbol([]Symbol{s}) != nil
}

// apart reports whether there are symbols in the buckets between those of lo and hi.
func (t *Table) apart(lo, hi symfmt.RVA) bool {
	return t.first[t.bucket(min(hi, t.highest))] > t.first[t.bucket(lo)+1]
}
