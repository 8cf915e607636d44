package walk

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt/arch"
)

// DocBitFlip is an address that differs by one bit from that of the crash, or from a register's
// that took part in it, and that the process could access: an error of the machine's memory may
// have changed it. It is looked for on 64-bit CPUs, and where the dump has the process's mappings.
type DocBitFlip struct {
	Address        string     `json:"address"`
	Confidence     float32    `json:"confidence"` // 0 to 1
	Details        DocFlipped `json:"details"`
	SourceRegister *string    `json:"source_register"` // null for the address of the crash
}

// DocFlipped is the evidence for the confidence.
type DocFlipped struct {
	IsNull          bool `json:"is_null"`          // the address is 0
	NearbyRegisters int  `json:"nearby_registers"` // how many are within a page of the address
	PoisonRegisters bool `json:"poison_registers"` // one has a pattern of freed memory
	WasLow          bool `json:"was_low"`          // the address is 0, and was small
	WasNonCanonical bool `json:"was_non_canonical"`
}

const (
	flipNear = 4096         // how near registers are to the address
	flipLow  = 2 * flipNear // up to where addresses are low
)

// poison are bytes that allocators fill freed or fresh memory with.
var poison = []byte{
	0x2b, 0x2d, 0x2f, 0x49, 0x4b, 0x4d, 0x4f, 0x6b, 0x8b, 0x9b, 0x9f, 0xa5, 0xbb, 0xcc, 0xcd, 0xce, 0xdb, 0xe5,
}

// bitFlips lists the addresses that may have been intended, the likeliest first.
func (m *documentMaker) bitFlips(a *crashAnalysis) []DocBitFlip {
	if m.d.Arch == nil || m.d.Arch.PtrSize != 8 || len(m.d.Maps) == 0 || a.context == nil {
		return nil
	}
	addr, wild := a.nonCanonical()
	_, null := a.nullOffset()
	switch {
	case null, !wild && !a.isAccessFault():
		return nil
	case !wild:
		addr = m.d.Crash.Address
	}
	f := flipper{m: m, a: a, wild: wild, from: 0, to: 64}
	if m.d.Arch == arch.X86_64 {
		f.from, f.to = 0, 48
		if wild {
			f.from, f.to = 48, 64
		}
	}
	f.try(addr, nil)
	if a.in != nil {
		used := slices.Clone(a.in.registers)
		slices.Sort(used)
		for _, r := range slices.Compact(used) {
			if v, ok := a.context.At(r); ok {
				name := peerRegister(m.d.Arch, m.d.Arch.Regs[r].Name)
				f.try(v, &name)
			}
		}
	}
	slices.SortStableFunc(f.found, func(a, b DocBitFlip) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return f.found
}

// flipper tries bits.
type flipper struct {
	m        *documentMaker
	a        *crashAnalysis
	wild     bool // the address is not canonical
	from, to uint // bits
	found    []DocBitFlip
}

// try flips each bit of an address that cannot be accessed.
func (f *flipper) try(addr uint64, register *string) {
	if f.reachable(addr) {
		return
	}
	for bit := f.from; bit < f.to; bit++ {
		meant := addr ^ 1<<bit
		if meant != 0 && !f.reachable(meant) {
			continue
		}
		details := f.details(meant, addr)
		f.found = append(f.found, DocBitFlip{
			Address: f.m.hex(meant), Confidence: details.confidence(), Details: details, SourceRegister: register,
		})
	}
}

// reachable reports whether the process may access an address as it tried to.
func (f *flipper) reachable(addr uint64) bool {
	i := f.a.mapping(addr)
	if i < 0 {
		return false
	}
	m, c := &f.m.d.Maps[i], f.m.d.Crash
	if f.a.windows() && len(c.Params) > 0 {
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

func (f *flipper) details(meant, was uint64) DocFlipped {
	d := DocFlipped{IsNull: meant == 0, WasLow: meant == 0 && was <= flipLow, WasNonCanonical: f.wild}
	for _, r := range cpus[f.m.d.Arch].kept {
		v, ok := f.a.context.At(int(r))
		if !ok {
			continue
		}
		if meant > flipLow && max(v, meant)-min(v, meant) <= flipNear {
			d.NearbyRegisters++
		}
		if low := v & 0xff; v == low*0x0101010101010101 && slices.Contains(poison, byte(low)) {
			d.PoisonRegisters = true
		}
	}
	return d
}

// confidence combines the evidence for a flipped bit as if it were independent; the weights are
// rust-minidump's.
func (d *DocFlipped) confidence() float32 {
	against := float32(0.75) // of a flipped bit, for the address alone
	if d.WasNonCanonical {
		against *= 1 - 0.9
	}
	if d.IsNull {
		null := float32(0.5)
		if d.WasLow {
			null *= 0.5
		}
		against *= 1 - null
	}
	if n := min(d.NearbyRegisters, 4); n > 0 {
		against *= 1 - (0.5 + 0.05*float32(n-1))
	}
	if d.PoisonRegisters {
		return (1 - against) * 0.5
	}
	return 1 - against
}
