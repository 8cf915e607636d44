package code

// changedByCalls are the registers that functions may change.
const changedByCalls = 1<<amdAX | 1<<amdCX | 1<<amdDX | 1<<amdSI | 1<<amdDI | 1<<8 | 1<<9 | 1<<10 | 1<<11

// savedAMD64 are the registers that functions must restore.
var savedAMD64 = [...]uint8{amdBX, amdBP, 12, 13, 14, 15}

// raAMD64 stands for the return address.
const raAMD64 = 16

// entryState is the state at the start of a function.
func entryState() (s state) {
	for i := range s.regs {
		s.regs[i] = value{base: initial, off: int64(i)}
	}
	s.regs[amdSP] = value{base: cfa, off: -8}
	s.slots = entrySlots
	return s
}

var entrySlots = []slot{{place{cfa, -8}, value{base: initial, off: raAMD64}}}

// leaves reports whether a function may return in this state, or go on in another.
func (s *state) leaves() bool {
	for _, r := range savedAMD64 {
		if s.regs[r] != (value{base: initial, off: int64(r)}) {
			return false
		}
	}
	return s.regs[amdSP] == value{base: cfa, off: -8} && s.hasReturn()
}

// hasReturn reports whether the return address is where the caller stored it.
func (s *state) hasReturn() bool { return s.load(place{cfa, -8}) == value{base: initial, off: raAMD64} }
