package code

import "slices"

// base is what a value is relative to.
type base uint8

const (
	unknown   base = iota
	cfa            // the CFA, plus off
	initial        // register off as it was when the function began
	aligned        // the stack pointer after it was aligned down, plus off
	constant       // off
	below          // at most n, without a sign
	scaled         // a value of at most n, times off
	cell           // the address of a word in the table at off, by an index of at most n
	word           // a word from the table at off, by an index of at most n
	entry          // the same, with its sign extended
	target         // the same, plus the table's address
	displaced      // the same, plus off; the table is at off plus n, which has a sign, and its length is not known
	linked         // the word at off, which the linker fills
)

// value is what is known about a register, or a word of the stack.
type value struct {
	off  int64
	n    uint32
	base base
	size uint8 // of a word, in bytes
}

// onStack reports whether v is an address in the stack.
func (v value) onStack() bool { return v.base == cfa || v.base == aligned }

// plus returns the sum of v and a constant.
func (v value) plus(n int64) value {
	if v.onStack() || v.base == constant {
		v.off += n
		return v
	}
	return value{}
}

// place is an address in the stack.
type place struct {
	base base // cfa or aligned
	off  int64
}

// slot is a word of the stack.
type slot struct {
	place
	value
	width uint8 // in bytes
}

// compare is the comparison that the flags come from: of a register, or a word of the stack, with a constant, or of two
// registers.
type compare struct {
	at    place // if it has a base
	n     uint32
	reg   int8  // or -1
	other uint8 // the second register, plus 1; 0 for a constant
	size  uint8 // in bytes; 0 if the flags come from elsewhere
}

// changed reports whether a register that was compared is in a set.
func (c *compare) changed(set regSet) bool {
	return c.reg >= 0 && set.has(uint8(c.reg)) || c.other > 0 && set.has(c.other-1)
}

// written notes that registers are written. A word of the stack may have been compared, too.
func (c *compare) written(set regSet) {
	if !c.changed(set) {
		return
	}
	if c.reg = -1; c.at.base == unknown {
		*c = compare{}
	}
}

// state is what is known before an instruction.
type state struct {
	regs  [maxRegs]value
	slots []slot // in order; replaced as a whole, never changed, since states share them
	flags compare
	near  near
}

// near is what is known only up to the end of a block.
type near struct {
	sum    table // what was added to get the value of a register, if its words have a size
	sumReg uint8
	load   place // where the value of a register was loaded from, if it has a base
	reg    uint8
	it     uint8 // the conditions of the next instructions of Thumb (ITSTATE)
}

func (s slot) compare(p place) int {
	switch {
	case s.place == p:
		return 0
	case s.place.base < p.base || s.place.base == p.base && s.place.off < p.off:
		return -1
	}
	return 1
}

// maxSlots is how many words of the stack are remembered: those of a prologue, and some that switches need.
const maxSlots = 128

// load returns the word at a place of the stack.
func (s *state) load(p place) value { return s.slotAt(p).value }

// slotAt returns what is known about a place of the stack.
func (s *state) slotAt(p place) slot {
	if i, ok := slices.BinarySearchFunc(s.slots, p, slot.compare); ok {
		return s.slots[i]
	}
	return slot{}
}

// store stores size bytes.
func (s *state) store(p place, v value, size int64) {
	keep := (v.onStack() || v.base == initial || v.base == constant) && size == 8 || v.base == below && size >= 4
	s.put(p, v, size, keep)
}

// put stores size bytes, which are remembered or not.
func (s *state) put(p place, v value, size int64, keep bool) {
	i, _ := slices.BinarySearchFunc(s.slots, place{p.base, p.off - 7}, slot.compare)
	for i < len(s.slots) && s.slots[i].place.base == p.base && s.slots[i].place.off+int64(s.slots[i].width) <= p.off {
		i++
	}
	j := i
	for j < len(s.slots) && s.slots[j].place.base == p.base && s.slots[j].place.off < p.off+size {
		j++
	}
	if keep = keep && len(s.slots) < maxSlots; i == j && !keep {
		return
	}
	next := make([]slot, 0, len(s.slots)-(j-i)+1)
	next = append(next, s.slots[:i]...)
	if keep {
		next = append(next, slot{p, v, uint8(size)})
	}
	s.slots = append(next, s.slots[j:]...)
}

// called forgets what a called function may change: the registers in changed, and the stack below the stack pointer.
func (s *state) called(changed regSet, sp uint8) {
	for r := changed; r != 0; {
		s.regs[r.next()] = value{}
	}
	s.flags = compare{}
	if v := s.regs[sp]; v.onStack() {
		s.dropBelow(place{v.base, v.off})
	}
}

// dropBelow forgets the part of the stack below a place.
func (s *state) dropBelow(p place) {
	dead := func(x slot) bool { return x.place.base == p.base && x.place.off < p.off }
	if slices.ContainsFunc(s.slots, dead) {
		s.slots = slices.DeleteFunc(slices.Clone(s.slots), dead)
	}
}

// realign forgets what is relative to an earlier alignment.
func (s *state) realign() {
	old := func(x slot) bool { return x.place.base == aligned || x.value.base == aligned }
	if slices.ContainsFunc(s.slots, old) {
		s.slots = slices.DeleteFunc(slices.Clone(s.slots), old)
	}
	for i := range s.regs {
		if s.regs[i].base == aligned {
			s.regs[i] = value{}
		}
	}
}
