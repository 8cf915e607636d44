package code

import (
	"math/bits"
	"slices"
)

// kept is a state that is kept: most registers are unknown, or have the caller's values.
type kept struct {
	same, known regSet  // registers with the caller's values, and others that are known
	values      []value // of those in known, in order
	slots       []slot
	flags       compare
}

// initially returns the value that a register has when a function begins.
func initially(reg uint8) value { return value{base: initial, off: int64(reg)} }

// next removes the first register from a set, and returns it.
func (r *regSet) next() (reg uint8) {
	reg = uint8(bits.TrailingZeros64(uint64(*r)))
	*r &= *r - 1
	return reg
}

// keep returns what is kept of a state.
func (s *state) keep() kept {
	k := kept{slots: s.slots, flags: s.flags}
	for i := range s.regs {
		switch v := &s.regs[i]; {
		case v.base == unknown:
		case *v == initially(uint8(i)):
			k.same |= 1 << i
		default:
			k.known |= 1 << i
		}
	}
	if k.known == 0 {
		return k
	}
	k.values = make([]value, 0, bits.OnesCount64(uint64(k.known)))
	for r := k.known; r != 0; {
		k.values = append(k.values, s.regs[r.next()])
	}
	return k
}

// restore sets a state to what is kept.
func (k *kept) restore(s *state) {
	s.regs, s.slots, s.flags, s.near = [maxRegs]value{}, k.slots, k.flags, near{}
	for r := k.same; r != 0; {
		reg := r.next()
		s.regs[reg] = initially(reg)
	}
	for i, r := 0, k.known; r != 0; i++ {
		s.regs[r.next()] = k.values[i]
	}
}

// reg returns the value of a register.
func (k *kept) reg(reg uint8) value {
	switch {
	case k.same.has(reg):
		return initially(reg)
	case k.known.has(reg):
		return k.values[bits.OnesCount64(uint64(k.known&(1<<reg-1)))]
	}
	return value{}
}

// merge forgets what a state does not know, and reports whether that was anything.
func (k *kept) merge(s *state) (changed bool) {
	same, known := k.same, k.known
	for r := k.same; r != 0; {
		if reg := r.next(); s.regs[reg] != initially(reg) {
			k.same &^= 1 << reg
		}
	}
	n := 0
	for i, r := 0, k.known; r != 0; i++ {
		reg := r.next()
		if v := k.values[i]; s.regs[reg] != v {
			k.known &^= 1 << reg
		} else {
			k.values[n] = v
			n++
		}
	}
	k.values = k.values[:n]
	changed = k.same != same || k.known != known
	if s.flags != k.flags && k.flags.size != 0 {
		k.flags, changed = compare{}, true
	}
	if sameSlots(k.slots, s.slots) {
		return changed
	}
	both := slices.DeleteFunc(slices.Clone(k.slots), func(x slot) bool { return s.load(x.place) != x.value })
	if len(both) != len(k.slots) {
		k.slots, changed = both, true
	}
	return changed
}

func sameSlots(a, b []slot) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}
