package cfi

// Regs holds the values of registers or variables, each known or unknown. Any of
// a register's names refers to it.
type Regs struct {
	names    *Names
	values   []uint64
	known    []uint64 // bit set indexed by Reg
	assigned []uint64 // bit set indexed by Reg: assigned by a Program since Reset
}

// NewRegs returns a set of registers that are all unknown.
func (n *Names) NewRegs() *Regs {
	r := &Regs{names: n}
	r.fit()
	return r
}

// fit makes room for all names added so far.
func (r *Regs) fit() {
	if n := r.names.Len(); n > len(r.values) {
		r.values = append(r.values, make([]uint64, n-len(r.values))...)
		sets := (n + 63) / 64
		r.known = append(r.known, make([]uint64, sets-len(r.known))...)
		r.assigned = append(r.assigned, make([]uint64, sets-len(r.assigned))...)
	}
}

// Names returns the names of the registers.
func (r *Regs) Names() *Names { return r.names }

// Get returns the value of a register, and whether it is known.
func (r *Regs) Get(reg Reg) (uint64, bool) {
	reg = r.names.Home(reg)
	if uint(reg) >= uint(len(r.values)) || r.known[reg>>6]>>(reg&63)&1 == 0 {
		return 0, false
	}
	return r.values[reg], true
}

// Set sets a register to value, truncated to the CPU's word size.
func (r *Regs) Set(reg Reg, value uint64) {
	if reg = r.names.Home(reg); reg < 0 || int(reg) >= r.names.Len() {
		return
	}
	if int(reg) >= len(r.values) {
		r.fit()
	}
	r.values[reg] = value & r.names.mask
	r.known[reg>>6] |= 1 << (reg & 63)
}

// forget makes a register unknown.
func (r *Regs) forget(reg Reg) {
	if reg = r.names.Home(reg); uint(reg) < uint(len(r.values)) {
		r.known[reg>>6] &^= 1 << (reg & 63)
	}
}

// Assigned reports whether a Program assigned a variable.
func (r *Regs) Assigned(reg Reg) bool {
	reg = r.names.Home(reg)
	return uint(reg) < uint(len(r.values)) && r.assigned[reg>>6]>>(reg&63)&1 != 0
}

func (r *Regs) assign(reg Reg, value uint64) {
	r.Set(reg, value)
	reg = r.names.Home(reg)
	r.assigned[reg>>6] |= 1 << (reg & 63)
}

// Reset makes all registers unknown and unassigned.
func (r *Regs) Reset() {
	clear(r.known)
	clear(r.assigned)
}
