package code

import (
	"fmt"
	"math/rand/v2"
)

// concrete is a state of a processor that a state describes.
type concrete struct {
	cfa, aligned uint64
	initial      [maxRegs]uint64
	word         func(at uint64) uint64 // 8 bytes of memory
}

// holds reports whether a value describes what a register has.
func (c *concrete) holds(v value, have uint64) bool {
	switch v.base {
	case cfa:
		return have == c.cfa+uint64(v.off)
	case aligned:
		return have == c.aligned+uint64(v.off)
	case initial:
		if v.n != 0 { // signed in the bits that no address has
			const address = 1<<39 - 1
			return (have^c.initial[v.off])&address == 0
		}
		return have == c.initial[v.off]
	case constant:
		return have == uint64(v.off)
	case below:
		return have <= uint64(v.n)
	case scaled:
		return have%uint64(v.off) == 0 && (have/uint64(v.off) <= uint64(v.n) || v.n == openEnd)
	case cell:
		have -= uint64(v.off)
		return have%uint64(v.size) == 0 && (have/uint64(v.size) <= uint64(v.n) || v.n == openEnd)
	case linked:
		return have == c.word(uint64(v.off))
	case word, entry:
		return c.inTable(v, have)
	}
	return true
}

// inTable reports whether a value is a word of a table.
func (c *concrete) inTable(v value, have uint64) bool {
	const tried = 64
	shift := 64 - 8*uint(v.size)
	for i := range min(uint64(v.n), tried) + 1 {
		w := c.word(uint64(v.off)+i*uint64(v.size)) << shift
		if v.base == word && have == w>>shift || v.base == entry && have == uint64(int64(w)>>shift) {
			return true
		}
	}
	return v.n > tried
}

// pick returns a value for one of n registers, and what it describes.
func (c *concrete) pick(r *rand.Rand, reg, n int) (value, uint64) {
	scratch := c.initial[r.IntN(n)]
	switch r.IntN(20) {
	case 0, 1:
		n := uint32(r.IntN(300))
		return value{base: below, n: n}, uint64(r.IntN(int(n) + 1))
	case 2, 3:
		off := int64(r.IntN(64)-40) * 8
		return value{base: cfa, off: off}, c.cfa + uint64(off)
	case 4:
		off := int64(r.IntN(32)) * 8
		return value{base: aligned, off: off}, c.aligned + uint64(off)
	case 5:
		n := int64(r.IntN(40))
		return value{base: constant, off: n}, uint64(n)
	case 6:
		return value{base: constant, off: int64(scratch)}, scratch
	case 7:
		other := r.IntN(n)
		return initially(uint8(other)), c.initial[other]
	case 8:
		return value{}, scratch
	}
	return initially(uint8(reg)), c.initial[reg]
}

// stack returns what is below the CFA, and stores what a state knows of it.
func (c *concrete) stack(r *rand.Rand, s *state, n int) []byte {
	b := make([]byte, 512)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for range 8 {
		off := -8 * int64(1+r.IntN(len(b)/8-1))
		v, have := c.pick(r, r.IntN(n), n)
		if v.base == unknown {
			continue
		}
		s.store(place{cfa, off}, v, 8)
		for i := range 8 {
			b[len(b)+int(off)+i] = byte(have >> (8 * i))
		}
	}
	return b
}

// unsound returns what a state says of registers and memory that does not hold.
func (c *concrete) unsound(s *state, have []uint64) string {
	for i, v := range s.regs[:len(have)] {
		if !c.holds(v, have[i]) {
			return fmt.Sprintf("register %d is %#x, not %+v", i, have[i], v)
		}
	}
	for _, k := range s.slots {
		at := c.cfa
		if k.place.base == aligned {
			at = c.aligned
		}
		w := c.word(at + uint64(k.place.off))
		if k.value.base == below {
			w = uint64(uint32(w)) // at least these are known
		}
		if !c.holds(k.value, w) {
			return fmt.Sprintf("the word at %+v is %#x, not %+v", k.place, w, k.value)
		}
	}
	return ""
}
