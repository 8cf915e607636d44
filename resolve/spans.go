package resolve

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/symtool/symtool/symfmt"
)

// span is a function, a block or a STACK WIN, as stored in a table.
type span struct {
	rva    symfmt.RVA
	size   uint64 // never 0: empty ranges are dropped
	offset uint64
	length uint32
}

func (s *span) holds(rva symfmt.RVA) bool { return uint64(rva-s.rva) < s.size }

// last returns the last address.
func (s *span) last() uint64 { return uint64(s.rva) + (s.size - 1) }

// spans is a table of pieces of code by address, and at the same address in reverse order
// of the file. So a search begins with the last one that starts at or before an address.
type spans struct {
	table // the fields of a span after its address

	// starts holds the addresses; most of a search touches nothing else.
	starts table

	// buckets divides the addresses from the first span to the last into equal
	// parts of about one span each. For each part, and for what follows the last,
	// it has the number of spans that start in the parts before, so that a search
	// looks at one part only.
	buckets table

	// outer has, by index, the index + 1 of the nearest span before this one that
	// ends after its end, or 0: of the spans that start before an address, the
	// next one that may contain it. It is empty if no spans overlap.
	outer table

	first uint64 // address; set by measure
	shift int    // log2 of the width of a bucket
}

func (s *spans) span(i int) span {
	r := s.data[i*spanSize:][:spanSize]
	le := binary.LittleEndian
	return span{s.start(i), le.Uint64(r), le.Uint64(r[8:]), le.Uint32(r[16:])}
}

// start returns the address of span i.
func (s *spans) start(i int) symfmt.RVA {
	return symfmt.RVA(binary.LittleEndian.Uint64(s.starts.data[8*i:]))
}

// finish sorts the spans and builds the tables for searches.
func (s *spans) finish() {
	s.starts.sort(true, &s.table)
	s.measure()
	s.makeBuckets()
	s.makeOuter()
}

// measure sets first and shift.
func (s *spans) measure() {
	if n := s.len(); n > 0 {
		s.first = uint64(s.start(0))
		s.shift = max(0, bits.Len64(uint64(s.start(n-1))-s.first)-bits.Len(uint(n)))
	}
}

// bucketCount returns the number of entries in the table of buckets.
func (s *spans) bucketCount() int {
	n := s.len()
	if n == 0 {
		return 0
	}
	return int((uint64(s.start(n-1))-s.first)>>s.shift) + 2
}

func (s *spans) makeBuckets() {
	count := s.bucketCount()
	s.buckets.data = make([]byte, 0, 4*count)
	for i := range s.len() {
		for b := (uint64(s.start(i)) - s.first) >> s.shift; uint64(s.buckets.len()) <= b; {
			s.buckets.add32(uint32(i))
		}
	}
	if count > 0 {
		s.buckets.add32(uint32(s.len()))
	}
}

func (s *spans) makeOuter() {
	n := s.len()
	if !s.overlaps() {
		return
	}
	s.outer.data = make([]byte, 0, 4*n)
	for i := range n {
		this := s.span(i)
		k := i // an index + 1
		for k > 0 {
			if before := s.span(k - 1); before.last() > this.last() {
				break
			}
			k = int(s.outer.u32(k - 1))
		}
		s.outer.add32(uint32(k))
	}
}

func (s *spans) overlaps() bool {
	for i := 1; i < s.len(); i++ {
		if before := s.span(i - 1); before.holds(s.start(i)) {
			return true
		}
	}
	return false
}

// last returns the last address of all spans; there must be at least one. Of the spans around the
// last one, the outermost ends last.
func (s *spans) last() uint64 {
	place := s.len() - 1
	for next := s.next(place); next >= 0; next = s.next(place) {
		place = next
	}
	v := s.span(place)
	return v.last()
}

// find returns the index of the span that contains an address, or -1. Of several, it is
// the one that starts last and, among equal starts, the first in the file.
func (s *spans) find(rva symfmt.RVA) int { return s.around(rva, s.below(rva)-1) }

// around returns the result of find, given the index of the last span that
// starts at or before the address, or -1.
func (s *spans) around(rva symfmt.RVA, base int) int {
	place := base
	for place >= 0 {
		if v := s.span(place); v.holds(rva) {
			break
		}
		place = s.next(place)
	}
	return place
}

// next returns the index of the span to examine after span i, or -1.
func (s *spans) next(i int) int {
	if len(s.outer.data) == 0 {
		return -1
	}
	return int(s.outer.u32(i)) - 1
}

// below returns the index after the last span that starts at or before rva.
func (s *spans) below(rva symfmt.RVA) int {
	d := uint64(rva) - s.first
	if len(s.data) == 0 || uint64(rva) < s.first {
		return 0
	}
	b := d >> s.shift
	if b >= uint64(s.buckets.len()-1) {
		return s.len()
	}
	// A table from a file may have any numbers, which are checked here: checking
	// all of a large table when it is opened would take longer.
	n := s.len()
	lo, hi := min(int(s.buckets.u32(int(b))), n), min(int(s.buckets.u32(int(b)+1)), n)
	return s.starts.belowIn(lo, hi, uint64(rva))
}

// check returns an error unless searches in tables that come from a file stay within them and
// terminate.
func (s *spans) check() error {
	n := s.len()
	if s.starts.len() != n {
		return fmt.Errorf("%d addresses of %d spans", s.starts.len(), n)
	}
	s.measure()
	if s.buckets.len() != s.bucketCount() || s.outer.len() != 0 && s.outer.len() != n {
		return fmt.Errorf("tables of %d, %d and %d records", n, s.buckets.len(), s.outer.len())
	}
	for i := range s.outer.len() {
		if int(s.outer.u32(i)) > i {
			return fmt.Errorf("span %d contains itself", i)
		}
	}
	return nil
}
