package intern

import "unsafe"

// Offsets maps offsets in a section to numbers, in a quarter of a map's time: nothing is ever
// deleted, and Clear, which is called after each unit, costs nothing. The zero value is empty.
type Offsets struct {
	slots []offsetSlot // the length is a power of two
	used  int
	round uint32 // number of calls of Clear: slots of other rounds are free
}

type offsetSlot struct {
	off   uint64
	n     uint32
	round uint32 // the round plus 1
}

const (
	minOffsets = 64
	// golden spreads neighbouring offsets over all slots: 2^64 divided by the golden ratio.
	golden = 0x9e3779b97f4a7c15
)

// slot returns the slot of an offset, or the free slot where it belongs.
func (o *Offsets) slot(off uint64) *offsetSlot {
	mask := uint64(len(o.slots) - 1)
	for i := off * golden >> 32; ; i++ {
		if s := &o.slots[i&mask]; s.off == off || s.round != o.round+1 {
			return s
		}
	}
}

// Get returns the number of an offset.
func (o *Offsets) Get(off uint64) (n uint32, ok bool) {
	if len(o.slots) == 0 {
		return 0, false
	}
	s := o.slot(off)
	return s.n, s.round == o.round+1
}

// Put sets the number of an offset.
func (o *Offsets) Put(off uint64, n uint32) {
	if 4*o.used >= 3*len(o.slots) {
		o.grow()
	}
	s := o.slot(off)
	if s.round != o.round+1 {
		o.used++
	}
	*s = offsetSlot{off, n, o.round + 1}
}

func (o *Offsets) grow() {
	old := o.slots
	o.slots = make([]offsetSlot, max(2*len(old), minOffsets))
	for i := 0; i < len(o.slots); i += pageSize / int(unsafe.Sizeof(offsetSlot{})) {
		o.slots[i] = offsetSlot{} // see pageSize
	}
	for i := range old {
		if s := &old[i]; s.round == o.round+1 {
			*o.slot(s.off) = *s
		}
	}
}

// Clear removes all offsets.
func (o *Offsets) Clear() {
	o.used = 0
	if o.round++; o.round == ^uint32(0) {
		*o = Offsets{}
	}
}
