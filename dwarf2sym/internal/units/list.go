package units

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// Header is the header of a unit.
type Header struct {
	dwarf.Header
	Split bool // a skeleton whose other half is read instead
}

// unitList lists the units of .debug_info in order of their offsets. Each is found from the header before
// it. A header that cannot be read costs its unit; a length that leaves the section ends the list.
type unitList struct {
	Units    []Header
	off, end uint64 // where the next header is, and where the units end
	buf      []byte
	Problems Problems

	batched int    // number of units already in batches
	Batch   uint64 // bytes of .debug_info that a worker reads at once; 0 means BatchSize

	// If Gradual is set, workers read units before all have been found, and mu guards the fields above.
	Gradual bool
	mu      sync.Mutex
}

// ReadUnitHeaders finds all units.
func (d *Data) ReadUnitHeaders() Problems { return d.walkUnits(0, uint64(d.Info.Size())) }

// walkUnits is like ReadUnitHeaders, for the bytes in [off, end).
func (d *Data) walkUnits(off, end uint64) Problems {
	d.StartWalk(off, end)
	for d.nextUnit() {
	}
	return d.unitList.Problems
}

// StartWalk begins a new walk over the headers in [off, end).
func (d *Data) StartWalk(off, end uint64) {
	l := &d.unitList
	l.Units, l.off, l.end, l.Problems = l.Units[:0], off, end, Problems{}
}

// nextUnit finds the next unit. It returns false if there is none.
func (d *Data) nextUnit() bool {
	l := &d.unitList
	for l.off < l.end {
		at := l.off
		b, err := d.Info.Bytes(int64(at), int64(min(dwarf.MaxHeader, l.end-at)), l.buf)
		if err != nil {
			l.Problems.Add(at, fmt.Sprintf("units from %#x on", at), err)
			l.off = l.end
			return false
		}
		l.buf = b
		l.Problems.Next()
		h, _, err := d.ParseHeader(b, at, l.end, l.Problems.full)
		switch {
		case err == dwarf.ErrBadHeader:
			l.Problems.Add(at, "", nil) // counts it
		case err != nil:
			l.Problems.Add(at, fmt.Sprintf("unit at %#x", at), err)
		}
		if l.off += h.Size; h.Size == 0 {
			l.off = l.end
		}
		if err == nil && h.Size > uint64(h.HeadSize) { // Apple's dsymutil leaves bare headers of units that it dropped
			l.Units = append(l.Units, Header{Header: h})
			return true
		}
	}
	return false
}

// has reports whether there is a unit with this index.
func (d *Data) has(index int) bool {
	for len(d.Units) <= index {
		if !d.nextUnit() {
			return false
		}
	}
	return true
}

// AllUnits returns the units.
func (d *Data) AllUnits() []Header {
	if d.Gradual {
		d.mu.Lock()
		defer d.mu.Unlock()
		for d.nextUnit() {
		}
	}
	return d.Units
}

// FoundFrom returns the units found so far, starting at index.
func (d *Data) FoundFrom(index int) []Header {
	if d.Gradual {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	return d.Units[index:len(d.Units):len(d.Units)] // capped: the list may be moved when it grows
}

// UnitAt returns the index and the header of the unit that holds offset off of .debug_info.
func (d *Data) UnitAt(off uint64) (int, *dwarf.Header, bool) {
	i, only := d.find(off)
	if len(only) == 0 {
		return 0, nil, false
	}
	return i, &only[0].Header, true
}

// Only returns the unit that begins at offset off of .debug_info, or nil if there is none.
func (d *Data) Only(off uint64) []Header {
	_, only := d.find(off)
	if len(only) > 0 && only[0].Off != off {
		return nil
	}
	return only
}

// find returns the unit that holds offset off of .debug_info, and its index. The list is empty if there is
// none.
func (d *Data) find(off uint64) (int, []Header) {
	if d.Gradual {
		d.mu.Lock()
		defer d.mu.Unlock()
		for d.off <= off && d.nextUnit() {
		}
	}
	i := sort.Search(len(d.Units), func(i int) bool { return d.Units[i].Off > off }) - 1
	if i < 0 || off >= d.Units[i].Off+d.Units[i].Size {
		return 0, nil
	}
	return i, d.Units[i : i+1 : i+1]
}

// BatchSize is how much of .debug_info a worker reads at once, in bytes: what fits into a
// processor's own cache (1 MB took a tenth longer on a kernel). Units are not divided, so
// a larger unit makes a larger batch.
const BatchSize = 512 << 10

// Batch is Units[First:Last] of a Data.
type Batch struct{ First, Last int }

// nextBatch returns the units after the last batch.
func (d *Data) nextBatch() (b Batch, ok bool) {
	most, first := cmp.Or(d.Batch, BatchSize), d.batched
	if !d.has(first) {
		return b, false
	}
	last, start := first+1, d.Units[first].Off
	for d.has(last) && d.Units[last].Off+d.Units[last].Size-start <= most {
		last++
	}
	d.batched = last
	return Batch{first, last}, true
}

// Batches returns the batches of all units.
func (d *Data) Batches() (out []Batch) {
	d.batched = 0
	for b, ok := d.nextBatch(); ok; b, ok = d.nextBatch() {
		out = append(out, b)
	}
	// Large units come first, so that no worker is left with one at the end. The others are small,
	// and stay in the order in which the system reads ahead.
	size := func(b Batch) uint64 {
		last := d.Units[b.Last-1]
		return max(last.Off+last.Size-d.Units[b.First].Off, cmp.Or(d.Batch, BatchSize))
	}
	slices.SortStableFunc(out, func(a, b Batch) int { return cmp.Compare(size(b), size(a)) })
	return out
}

// Queue hands batches to workers.
type Queue struct {
	d     *Data
	known []Batch // nil if units are found while others are read
	Most  int     // upper limit of the number of batches
}

// NewBatchQueue returns a queue of all batches, whose units may not all have been found.
func (d *Data) NewBatchQueue() *Queue {
	q := &Queue{d: d}
	if !d.Gradual {
		q.known = d.Batches()
		q.Most = len(q.known)
		return q
	}
	// Two adjacent batches together exceed the size of a batch: otherwise they would be one.
	q.Most = 2 + 2*int(uint64(d.Info.Size())/cmp.Or(d.Batch, BatchSize))
	return q
}

// Item returns the units of the next batch, or nil if there are no more.
func (q *Queue) Item(i int) []Header {
	if !q.d.Gradual {
		return q.d.Units[q.known[i].First:q.known[i].Last]
	}
	q.d.mu.Lock()
	defer q.d.mu.Unlock()
	b, ok := q.d.nextBatch()
	if !ok {
		return nil
	}
	return q.d.Units[b.First:b.Last:b.Last] // capped: the list may be moved when it grows
}

// HasSkeletons reports whether a unit may be a skeleton. In version 4 only an attribute in the
// abbreviations shows it, DW_AT_GNU_dwo_name.
func (d *Data) HasSkeletons() bool {
	all, _ := d.AllAbbrevs() // without abbreviations, no unit can be read
	old := bytes.Contains(all, []byte{0xb0, 0x42})
	for i := range d.Units {
		if h := &d.Units[i]; h.IsSkeleton() || h.Version < 5 && old {
			return true
		}
	}
	return false
}
