package vars

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// boundaries numbers offsets in a function by their order. The zero value has only offset 0, number 0.
type boundaries struct {
	near  []uint64 // a bit for each offset below nearOffsets
	ranks []uint32 // by word of near: the number of its first offset
	far   []int64  // the others; sorted by pack
}

// nearOffsets is larger than the offsets of all but a few functions. Memory and time are proportional to the
// largest offset below it.
const nearOffsets = 1 << 20

func (s *boundaries) reset() {
	*s = boundaries{near: s.near[:0], ranks: s.ranks[:0], far: s.far[:0]}
}

func (s *boundaries) add(off int64) {
	if uint64(off) >= nearOffsets {
		s.far = append(s.far, off)
		return
	}
	word := int(off >> 6)
	for word >= len(s.near) {
		s.near = append(s.near, 0)
	}
	s.near[word] |= 1 << (off & 63)
}

// pack numbers the offsets, and appends them: a uvarint of their count without offset 0, and for each the distance
// from the one before.
func (s *boundaries) pack(p []byte) []byte {
	s.add(0)
	slices.Sort(s.far)
	s.far = slices.Compact(s.far)
	n := 0
	for _, word := range s.near {
		s.ranks = append(s.ranks, uint32(n))
		n += bits.OnesCount64(word)
	}
	p = binary.AppendUvarint(p, uint64(n-1+len(s.far)))
	last := 0
	for i, word := range s.near {
		for ; word != 0; word &= word - 1 {
			off := i<<6 + bits.TrailingZeros64(word)
			if off > 0 {
				p = binary.AppendUvarint(p, uint64(off-last))
			}
			last = off
		}
	}
	before := int64(last)
	for _, off := range s.far {
		p = binary.AppendUvarint(p, uint64(off-before))
		before = off
	}
	return p
}

// number returns the number of an offset that was added, after pack.
func (s *boundaries) number(off int64) int {
	if uint64(off) >= nearOffsets {
		i, _ := slices.BinarySearch(s.far, off)
		last := len(s.near) - 1
		return int(s.ranks[last]) + bits.OnesCount64(s.near[last]) + i
	}
	word, bit := off>>6, off&63
	return int(s.ranks[word]) + bits.OnesCount64(s.near[word]&(1<<bit-1))
}
