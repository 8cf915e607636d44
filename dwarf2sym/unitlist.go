package dwarf2sym

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// unitHeader is the header of a unit.
type unitHeader struct {
	dwarf.Header
	split bool // a skeleton whose other half is read in its place
}

// unitList is the units of .debug_info in order of their offsets. Each is found from the header before
// it. A header that cannot be read costs its unit; a length that leaves the section ends the list.
type unitList struct {
	units    []unitHeader
	off, end uint64 // where the next header is, and where the units end
	buf      []byte
	problems problemList

	batched int    // units that are in batches
	batch   uint64 // bytes of .debug_info that a worker reads at once; 0: batchSize

	// If gradual is set, workers read units before all are found, and mu guards the fields above.
	gradual bool
	mu      sync.Mutex
}

// readUnitHeaders finds all units.
func (d *debugData) readUnitHeaders() problemList { return d.walkUnits(0, uint64(d.Info.Size())) }

// walkUnits is like readUnitHeaders, for the bytes from off up to end.
func (d *debugData) walkUnits(off, end uint64) problemList {
	d.startWalk(off, end)
	for d.nextUnit() {
	}
	return d.unitList.problems
}

func (d *debugData) startWalk(off, end uint64) {
	l := &d.unitList
	l.units, l.off, l.end, l.problems = l.units[:0], off, end, problemList{}
}

// nextUnit finds another unit. It returns false if there is none.
func (d *debugData) nextUnit() bool {
	l := &d.unitList
	for l.off < l.end {
		at := l.off
		b, err := d.Info.Bytes(int64(at), int64(min(dwarf.MaxHeader, l.end-at)), l.buf)
		if err != nil {
			l.problems.add(at, fmt.Sprintf("units from %#x on", at), err)
			l.off = l.end
			return false
		}
		l.buf = b
		l.problems.next()
		h, _, err := d.ParseHeader(b, at, l.end, l.problems.full)
		switch {
		case err == dwarf.ErrBadHeader:
			l.problems.add(at, "", nil) // counts it
		case err != nil:
			l.problems.add(at, fmt.Sprintf("unit at %#x", at), err)
		}
		if l.off += h.Size; h.Size == 0 {
			l.off = l.end
		}
		if err == nil {
			l.units = append(l.units, unitHeader{Header: h})
			return true
		}
	}
	return false
}

// has reports whether there is a unit with the index.
func (d *debugData) has(index int) bool {
	for len(d.units) <= index {
		if !d.nextUnit() {
			return false
		}
	}
	return true
}

// allUnits returns the units.
func (d *debugData) allUnits() []unitHeader {
	if d.gradual {
		d.mu.Lock()
		defer d.mu.Unlock()
		for d.nextUnit() {
		}
	}
	return d.units
}

// unitAt returns the index and the header of the unit that holds offset off of .debug_info.
func (d *debugData) unitAt(off uint64) (int, *dwarf.Header, bool) {
	if d.gradual {
		d.mu.Lock()
		defer d.mu.Unlock()
		for d.off <= off && d.nextUnit() {
		}
	}
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].Off > off }) - 1
	if i < 0 || off >= d.units[i].Off+d.units[i].Size {
		return 0, nil, false
	}
	return i, &d.units[i].Header, true
}

// batchSize is how much of .debug_info a worker reads at once, in bytes: what fits into a
// processor's own cache (1 MB took a tenth longer on a kernel). Units are not divided, so
// a larger unit makes a larger batch.
const batchSize = 512 << 10

// batch is units[first:last] of debugData.
type batch struct{ first, last int }

// nextBatch returns the units that follow those of the last batch.
func (d *debugData) nextBatch() (b batch, ok bool) {
	most, first := cmp.Or(d.batch, batchSize), d.batched
	if !d.has(first) {
		return b, false
	}
	last, start := first+1, d.units[first].Off
	for d.has(last) && d.units[last].Off+d.units[last].Size-start <= most {
		last++
	}
	d.batched = last
	return batch{first, last}, true
}

// batches returns the batches of all units.
func (d *debugData) batches() (out []batch) {
	d.batched = 0
	for b, ok := d.nextBatch(); ok; b, ok = d.nextBatch() {
		out = append(out, b)
	}
	// Large units come first, so that no worker is left with one at the end. The others are small,
	// and stay in the order in which the system reads ahead.
	size := func(b batch) uint64 {
		last := d.units[b.last-1]
		return max(last.Off+last.Size-d.units[b.first].Off, cmp.Or(d.batch, batchSize))
	}
	slices.SortStableFunc(out, func(a, b batch) int { return cmp.Compare(size(b), size(a)) })
	return out
}

// batchQueue hands batches to workers.
type batchQueue struct {
	d     *debugData
	known []batch // nil if units are found while others are read
	most  int     // upper limit of the number of batches
}

func (d *debugData) newBatchQueue() *batchQueue {
	q := &batchQueue{d: d}
	if !d.gradual {
		q.known = d.batches()
		q.most = len(q.known)
		return q
	}
	// Two adjacent batches are together larger than a batch may be, as they would be one otherwise.
	q.most = 2 + 2*int(uint64(d.Info.Size())/cmp.Or(d.batch, batchSize))
	return q
}

// item returns the units of the next batch; none if there are no more.
func (q *batchQueue) item(i int) []unitHeader {
	if !q.d.gradual {
		return q.d.units[q.known[i].first:q.known[i].last]
	}
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	b, ok := q.d.nextBatch()
	if !ok {
		return nil
	}
	return q.d.units[b.first:b.last:b.last] // capped: the list may be moved when it grows
}

// hasSkeletons reports whether a unit may be a skeleton. In version 4 only an
// attribute in the abbreviations shows it, DW_AT_GNU_dwo_name.
func (d *debugData) hasSkeletons() bool {
	old := bytes.Contains(d.Abbrev, []byte{0xb0, 0x42})
	for i := range d.units {
		if h := &d.units[i]; h.IsSkeleton() || h.Version < 5 && old {
			return true
		}
	}
	return false
}
