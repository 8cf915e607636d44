package code

import (
	"encoding/binary"
	"slices"
)

// Numbers of Linux's system calls on RISC-V, as on arm64.
const (
	riscvSigreturn = armSigreturn
	riscvClone     = armClone
	riscvClone3    = armClone3
)

// riscv64 is an instruction of 4 bytes, or what one of 2 bytes stands for. Opcodes are those of The RISC-V Instruction Set
// Manual, volume I, "RV32/64G Instruction Set Listings".
type riscv64 struct {
	w    uint32
	addr uint64
	s    *state
	step
}

func (x *riscv64) d() uint8      { return uint8(x.w >> 7 & 31) }
func (x *riscv64) n() uint8      { return uint8(x.w >> 15 & 31) }
func (x *riscv64) m() uint8      { return uint8(x.w >> 20 & 31) }
func (x *riscv64) funct3() uint8 { return uint8(x.w >> 12 & 7) }
func (x *riscv64) funct7() uint8 { return uint8(x.w >> 25) }

// The immediates, by the formats of instructions.
func (x *riscv64) immI() int64 { return int64(int32(x.w)) >> 20 }
func (x *riscv64) immS() int64 { return x.immI()&^31 | int64(x.d()) }
func (x *riscv64) immU() int64 { return int64(int32(x.w & 0xfffff000)) }
func (x *riscv64) immB() int64 {
	return x.immI()&^0xfff | int64(x.w<<4&0x800|x.w>>20&0x7e0|x.w>>7&0x1e)
}
func (x *riscv64) immJ() int64 {
	return int64(int32(x.w))>>31<<20 | int64(x.w&0xff000|x.w>>9&0x800|x.w>>20&0x7fe)
}

// set sets a register, of which 0 stays zero.
func (x *riscv64) set(r uint8, v value) {
	if r != 0 {
		x.s.regs[r] = v
	}
}

// float returns where the value of a floating-point register is kept, or nil.
func (x *riscv64) float(r uint8) *value {
	if i, ok := slices.BinarySearch(floatsRISCV[:], r); ok {
		return &x.s.regs[riscvFS+i]
	}
	return nil
}

// setFloat sets a floating-point register.
func (x *riscv64) setFloat(r uint8, v value) {
	if to := x.float(r); to != nil {
		*to = v
	}
}

// stepRISCV64 decodes the first instruction of code, and changes the state.
func stepRISCV64(code []byte, addr uint64, s *state) step {
	if len(code) < 2 {
		return step{flow: bad}
	}
	x := riscv64{addr: addr, s: s, step: step{size: 2}}
	if c := binary.LittleEndian.Uint16(code); c&3 != 3 {
		if c == 0 {
			x.flow = stop
			return x.step
		}
		if x.w = expandRISCV64(c); x.w == 0 {
			x.flow = bad
			return x.step
		}
	} else {
		if len(code) < 4 || c&0x1c == 0x1c {
			return step{flow: bad}
		}
		x.w, x.size = binary.LittleEndian.Uint32(code), 4
	}
	x.one()
	return x.step
}

func (x *riscv64) one() {
	switch x.w & 0x7f {
	case 0x37: // lui
		x.set(x.d(), value{base: constant, off: x.immU()})
	case 0x17: // auipc
		x.set(x.d(), value{base: constant, off: int64(x.addr) + x.immU()})
	case 0x6f:
		x.jumpTo(x.addr + uint64(x.immJ()))
	case 0x67:
		x.jumpThrough()
	case 0x63:
		x.branchBy()
	case 0x03:
		x.load()
	case 0x23:
		x.store(x.s.regs[x.m()], int64(1)<<(x.funct3()&3))
	case 0x07:
		x.loadFloat()
	case 0x27:
		x.storeFloat()
	case 0x13:
		x.immediate()
	case 0x1b:
		x.immediate32()
	case 0x33:
		x.register()
	case 0x3b:
		x.register32()
	case 0x2f: // atomic
		x.store(value{}, 8)
		x.set(x.d(), value{})
	case 0x0f: // fences
	case 0x73:
		x.system()
	case 0x43, 0x47, 0x4b, 0x4f:
		x.setFloat(x.d(), value{})
	case 0x53:
		x.floating()
	case 0x57:
		x.vector()
	default:
		x.flow = bad
	}
}

// jumpTo handles jumps and calls. Those that keep the return address in t0 call the routines that save registers, which have
// a convention of their own.
func (x *riscv64) jumpTo(to uint64) {
	switch x.d() {
	case 0:
		x.flow, x.to = jump, to
	case riscvRA:
		x.flow, x.to = call, to
	default:
		x.flow = bad
	}
}

// jumpThrough handles jumps, calls and returns through a register. Stubs of the procedure linkage table keep their own
// address in t1.
func (x *riscv64) jumpThrough() {
	v := x.s.regs[x.n()]
	if v.base == constant {
		x.jumpTo(uint64(v.off+x.immI()) &^ 1)
		return
	}
	switch x.d() {
	case 0, riscvT1:
		if x.d() == 0 && x.n() == riscvRA {
			x.flow = ret
			return
		}
		x.flow = indirect
		if v == initially(riscvRA) {
			x.flow = ret
			x.s.regs[riscvRA] = v
		} else if x.immI() == 0 {
			x.through(v)
		}
		if x.d() == riscvT1 {
			x.set(riscvT1, value{})
		}
	case riscvRA:
		x.flow = call
		if v.base == linked && x.immI() == 0 {
			x.slot = uint64(v.off)
		}
	default:
		x.flow = bad
	}
}

// through notes where a jump leads.
func (x *riscv64) through(v value) {
	if v.base == linked {
		x.slot = uint64(v.off)
		return
	}
	x.table = v.table()
}

// branchBy handles branches. An unsigned comparison with a constant limits a register.
func (x *riscv64) branchBy() {
	x.flow, x.to = branch, x.addr+uint64(x.immB())
	a, b := x.s.regs[x.n()], x.s.regs[x.m()]
	small := func(v value) bool { return v.base == constant && v.off >= 0 && v.off < 1<<32 }
	greater := x.funct3() == 7 // bgeu; bltu is 6
	switch {
	case x.funct3() < 6:
	case small(b) && x.n() != 0: // the first is below the constant
		x.limit = limit{compare: compare{reg: int8(x.n()), n: uint32(b.off), size: 8}, less: 1, taken: !greater}
	case small(a) && x.m() != 0: // the second is at most the constant
		x.limit = limit{compare: compare{reg: int8(x.m()), n: uint32(a.off), size: 8}, taken: greater}
	}
}

// load handles loads, which extend what they load with zeros or with its sign.
func (x *riscv64) load() {
	size, signed := int64(1)<<(x.funct3()&3), x.funct3() < 4
	base := x.s.regs[x.n()]
	at, v := base.plus(x.immI()), value{}
	switch {
	case at.onStack() && size == 8:
		v = x.s.load(place{at.base, at.off})
	case at.onStack() && size == 4:
		if w := x.s.load(place{at.base, at.off}); w.base == below && (w.n < 1<<31 || !signed) {
			v = w
		}
	case at.base == constant && size == 8:
		v = value{base: linked, off: at.off}
	case base.base == cell && int64(base.size) == size:
		v = value{base: word, off: base.off + x.immI(), n: base.n, size: base.size}
		if signed && size < 8 {
			v.base = entry
		}
	}
	x.set(x.d(), v)
}

// store stores a value of at most 8 bytes.
func (x *riscv64) store(v value, size int64) {
	off := x.immS()
	if x.w&0x7f == 0x2f { // atomic
		off = 0
	}
	if at := x.s.regs[x.n()].plus(off); at.onStack() {
		x.s.store(place{at.base, at.off}, v, size)
	}
}

// loadFloat handles loads of floating-point registers, and of vectors.
func (x *riscv64) loadFloat() {
	v := value{}
	if width := x.funct3(); width == 0 || width >= 5 {
		return // vectors
	} else if at := x.s.regs[x.n()].plus(x.immI()); width == 3 && at.onStack() {
		v = x.s.load(place{at.base, at.off})
	}
	x.setFloat(x.d(), v)
}

func (x *riscv64) storeFloat() {
	if width := x.funct3(); width == 0 || width >= 5 { // vectors: the buffers of functions are apart from what they save
		return
	}
	v := value{}
	if from := x.float(x.m()); from != nil {
		v = *from
	}
	x.store(v, int64(1)<<x.funct3())
}

func (x *riscv64) immediate() {
	a, by, v := x.s.regs[x.n()], x.immI(), value{}
	switch x.funct3() {
	case 0: // addi
		if v = a.plus(by); by == 0 {
			v = a
		}
	case 1:
		if k := x.w >> 26; k == 0 {
			v = a.shifted(uint8(x.w >> 20 & 63))
		}
	case 5:
		if k := x.w >> 26; k == 0 {
			v = a.shiftedBack(uint8(x.w >> 20 & 63))
		}
	case 7: // andi
		switch k := -by; {
		case x.d() == riscvSP && by < 0 && k&(k-1) == 0 && a.onStack():
			x.s.realign()
			v = value{base: aligned}
		case by >= 0:
			v = value{base: below, n: uint32(by)}
		}
	}
	x.set(x.d(), v)
}

// shifted returns v shifted left: the index of a table. Of an unknown index, only the lower bytes may count.
func (v value) shifted(by uint8) value {
	switch {
	case v.base == constant:
		return value{base: constant, off: v.off << by}
	case v.base == below && by <= 32:
		return value{base: scaled, off: 1 << by, n: v.n}
	case by == 32 || by <= 3:
		return value{base: scaled, off: 1 << by, n: openEnd}
	}
	return value{}
}

// shiftedBack returns v shifted right.
func (v value) shiftedBack(by uint8) value {
	switch {
	case v.base == constant:
		return value{base: constant, off: int64(uint64(v.off) >> by)}
	case v.base == scaled && v.off == 1<<by && (v.n != openEnd || by == 32):
		return value{base: below, n: v.n}
	case v.base == scaled && v.off == 1<<32 && by < 32:
		return value{base: scaled, off: v.off >> by, n: v.n}
	}
	return value{}
}

func (x *riscv64) immediate32() {
	a, by, v := x.s.regs[x.n()], x.immI(), value{}
	switch {
	case x.funct3() == 0 && a.base == constant: // addiw
		v = value{base: constant, off: int64(int32(a.off + by))}
	case x.funct3() == 0 && by == 0 && a.base == below && a.n < 1<<31:
		v = a
	case x.funct3() == 1 && x.w>>26 == 2: // slli.uw
		if a.base != below {
			a = value{}
		}
		if v = a.shifted(uint8(x.w >> 20 & 63)); v.base != scaled || v.off > 8 {
			v = value{}
		}
	}
	x.set(x.d(), v)
}

func (x *riscv64) register() {
	a, b, v := x.s.regs[x.n()], x.s.regs[x.m()], value{}
	switch f, k := x.funct7(), x.funct3(); {
	case f == 0 && k == 0: // add
		v = sumRISCV64(a, b)
	case f == 0x20 && k == 0 && b.base == constant: // sub
		v = a.plus(-b.off)
	case f == 0 && k == 6 && x.m() == 0: // or, as a move
		v = a
	case f == 0 && k == 7 && b.base == constant && b.off >= 0 && b.off < 1<<32: // and
		v = value{base: below, n: uint32(b.off)}
	case f == 0 && k == 7 && b.base == constant && b.off < 0 && -b.off&(-b.off-1) == 0 && x.d() == riscvSP && a.onStack():
		x.s.realign()
		v = value{base: aligned}
	case f == 0x10 && k > 0 && k&1 == 0: // sh1add, sh2add, sh3add
		v = sumRISCV64(a.shifted(k/2), b)
	}
	x.set(x.d(), v)
}

// sumRISCV64 returns the sum of two values: an address in a table, or in code.
func sumRISCV64(a, b value) value {
	if a.base == constant {
		a, b = b, a
	}
	switch {
	case b.base != constant:
		return value{}
	case a.base == scaled && a.off <= 8:
		return value{base: cell, off: b.off, n: a.n, size: uint8(a.off)}
	case a.base == entry && a.size == 4:
		return a.from(b.off)
	}
	return a.plus(b.off)
}

func (x *riscv64) register32() {
	a, b, v := x.s.regs[x.n()], x.s.regs[x.m()], value{}
	switch f, k := x.funct7(), x.funct3(); {
	case f == 4 && k == 0 && x.m() == 0 && a.base == below: // zext.w
		v = a
	case f == 4 && k == 0 && x.m() == 0:
		v = value{base: below, n: 1<<32 - 1}
	case f == 0x10 && k > 0 && k&1 == 0 && a.base == below: // sh1add.uw, sh2add.uw, sh3add.uw
		v = sumRISCV64(a.shifted(k/2), b)
	}
	x.set(x.d(), v)
}

func (x *riscv64) system() {
	switch {
	case x.funct3() != 0: // control and status registers
		x.set(x.d(), value{})
	case x.w == 0x73: // ecall
		if n := x.s.regs[riscvA7]; n.base == constant && (n.off == riscvClone || n.off == riscvClone3 || n.off == riscvSigreturn) {
			x.flow = stop // the child has another stack; what a signal interrupted has its own rules
			return
		}
		x.set(riscvA0, value{})
	default: // ebreak, and what only kernels do
		x.flow = stop
	}
}

// floating handles floating-point instructions, some of which write general registers.
func (x *riscv64) floating() {
	switch f := x.funct7(); f >> 2 {
	case 0x14, 0x18, 0x1c: // comparisons, conversions, moves
		x.set(x.d(), value{})
		return
	case 0x04: // fsgnj, as a move
		if from := x.float(x.n()); f&3 == 1 && x.funct3() == 0 && x.n() == x.m() && from != nil {
			x.setFloat(x.d(), *from)
			return
		}
	}
	x.setFloat(x.d(), value{})
}

// vector handles instructions of vectors, some of which write other registers.
func (x *riscv64) vector() {
	switch moved := x.w>>26 == 0x10; {
	case x.funct3() == 7, moved && x.funct3() == 2: // vsetvli; vmv.x.s, vcpop, vfirst
		x.set(x.d(), value{})
	case moved && x.funct3() == 1: // vfmv.f.s
		x.setFloat(x.d(), value{})
	}
}
