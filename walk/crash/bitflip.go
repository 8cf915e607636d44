package crash

import (
	"cmp"
	"slices"
)

// BitFlip is an accessible address that differs by one bit from the crash's address, or from the
// value of a register that is part of that address: a memory error in the machine may have changed
// it.
type BitFlip struct {
	Address    uint64
	Register   int     // index in arch.Arch.Regs; -1 for the crash's address
	Confidence float32 // 0 to 1
	Evidence   Evidence
}

// Evidence is what the confidence in a BitFlip is based on.
type Evidence struct {
	IsNull          bool `json:"is_null"`          // the address is 0
	NearbyRegisters int  `json:"nearby_registers"` // number of registers within a page of the address
	PoisonRegisters bool `json:"poison_registers"` // a register has a pattern that marks freed memory
	WasLow          bool `json:"was_low"`          // the address is 0, and the original one was small
	WasNonCanonical bool `json:"was_non_canonical"`
}

const (
	flipNear = 4096         // distance in bytes within which a register counts as nearby
	flipLow  = 2 * flipNear // limit of low addresses
)

// poison are the bytes that allocators fill freed or fresh memory with.
var poison = []byte{
	0x2b, 0x2d, 0x2f, 0x49, 0x4b, 0x4d, 0x4f, 0x6b, 0x8b, 0x9b, 0x9f, 0xa5, 0xbb, 0xcc, 0xcd, 0xce, 0xdb, 0xe5,
}

// BitFlips lists the addresses that may have been intended, the likeliest first. It needs a 64-bit
// CPU and a dump with the process's mappings.
func (a *Analysis) BitFlips() []BitFlip {
	if a.d.Arch == nil || a.d.Arch.PtrSize != 8 || len(a.d.Maps) == 0 || a.context == nil {
		return nil
	}
	addr, wild := a.NonCanonical()
	_, null := a.NullOffset()
	switch {
	case null, !wild && !a.isAccessFault():
		return nil
	case !wild:
		addr = a.d.Crash.Address
	}
	f := flipper{Analysis: a, wild: wild, from: 0, to: 64}
	if bits := a.d.Arch.CanonicalBits; bits > 0 {
		f.from, f.to = 0, bits
		if wild {
			f.from, f.to = bits, 64
		}
	}
	f.try(addr, -1)
	if a.Instruction != nil {
		used := slices.Clone(a.Instruction.registers)
		slices.Sort(used)
		for _, r := range slices.Compact(used) {
			if v, ok := a.context.At(r); ok {
				f.try(v, r)
			}
		}
	}
	slices.SortStableFunc(f.found, func(a, b BitFlip) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return f.found
}

// flipper flips bits.
type flipper struct {
	*Analysis
	wild     bool // the address is not canonical
	from, to int  // bits
	found    []BitFlip
}

// try flips each bit of an inaccessible address.
func (f *flipper) try(addr uint64, register int) {
	if f.reachable(addr) {
		return
	}
	for bit := f.from; bit < f.to; bit++ {
		meant := addr ^ 1<<bit
		if meant != 0 && !f.reachable(meant) {
			continue
		}
		e := f.evidence(meant, addr)
		f.found = append(f.found, BitFlip{Address: meant, Register: register, Confidence: e.confidence(), Evidence: e})
	}
}

// reachable reports whether the process may access an address in the way that it tried.
func (f *flipper) reachable(addr uint64) bool {
	i := f.mapping(addr)
	if i < 0 {
		return false
	}
	m, c := &f.d.Maps[i], f.d.Crash
	if f.windows() && len(c.Params) > 0 {
		switch c.Params[0] {
		case 0:
			return m.Read
		case 1:
			return m.Write
		case 8:
			return m.Exec
		}
	}
	return accessible(m)
}

func (f *flipper) evidence(meant, was uint64) Evidence {
	e := Evidence{IsNull: meant == 0, WasLow: meant == 0 && was <= flipLow, WasNonCanonical: f.wild}
	for _, name := range f.d.Arch.General {
		v, ok := f.context.Get(name)
		if !ok {
			continue
		}
		if meant > flipLow && max(v, meant)-min(v, meant) <= flipNear {
			e.NearbyRegisters++
		}
		if low := v & 0xff; v == low*0x0101010101010101 && slices.Contains(poison, byte(low)) {
			e.PoisonRegisters = true
		}
	}
	return e
}

// confidence combines the evidence for a flipped bit as if its parts were independent; the
// weights are rust-minidump's.
func (e *Evidence) confidence() float32 {
	against := float32(0.75) // odds against a flipped bit, from the address alone
	if e.WasNonCanonical {
		against *= 1 - 0.9
	}
	if e.IsNull {
		null := float32(0.5)
		if e.WasLow {
			null *= 0.5
		}
		against *= 1 - null
	}
	if n := min(e.NearbyRegisters, 4); n > 0 {
		against *= 1 - (0.5 + 0.05*float32(n-1))
	}
	if e.PoisonRegisters {
		return (1 - against) * 0.5
	}
	return 1 - against
}
