package code

import (
	"encoding/binary"
	"math/bits"

	"github.com/symtool/symtool/internal/insn"
)

// Numbers of Linux's system calls on arm64.
const (
	armSigreturn = 139
	armClone     = 220
	armClone3    = 435
)

// arm64 is an instruction. Sections are those of the Arm Architecture Reference Manual, DDI 0487.
type arm64 struct {
	w    uint32
	addr uint64
	s    *state
	step
}

// field returns n bits from a bit on.
func (x *arm64) field(at, n uint) uint32 { return x.w >> at & (1<<n - 1) }

func (x *arm64) bit(at uint) bool { return x.w>>at&1 != 0 }

// signed returns n bits from a bit on, extended with their sign.
func (x *arm64) signed(at, n uint) int64 { return int64(int32(x.w<<(32-at-n)) >> (32 - n)) }

func (x *arm64) d() uint8 { return uint8(x.w & 31) }
func (x *arm64) n() uint8 { return uint8(x.w >> 5 & 31) }
func (x *arm64) m() uint8 { return uint8(x.w >> 16 & 31) }

// wide reports whether a data processing instruction is one of 64 bits.
func (x *arm64) wide() bool { return x.bit(31) }

// reg returns the value of a register, of which 31 is zero.
func (x *arm64) reg(r uint8) value {
	if r == 31 {
		return value{base: constant}
	}
	return x.s.regs[r]
}

// set sets a register, unless it is 31.
func (x *arm64) set(r uint8, v value) {
	if r != 31 {
		x.put(r, v)
	}
}

// put sets a register, of which 31 is the stack pointer.
func (x *arm64) put(r uint8, v value) {
	s := x.s
	s.regs[r] = v
	s.flags.written(1 << r)
	if s.near.sumReg == r {
		s.near.sum = table{}
	}
	if s.near.reg == r {
		s.near.load = place{}
	}
}

// killVector makes vector registers unknown.
func (x *arm64) killVector(first uint8, n int) {
	for i := range n {
		if r := (int(first) + i) % 32; r >= 8 && r < 16 {
			x.s.regs[armD8+r-8] = value{}
		}
	}
}

// stepARM64 decodes the first instruction of code, and changes the state (C4.1).
func stepARM64(code []byte, addr uint64, s *state) step {
	if len(code) < 4 {
		return step{flow: bad}
	}
	x := arm64{w: binary.LittleEndian.Uint32(code), addr: addr, s: s, step: step{size: 4}}
	switch x.w >> 25 & 15 {
	case 0b0000:
		x.reserved()
	case 0b0010:
		x.scalable()
	case 0b1000, 0b1001:
		x.immediate()
	case 0b1010, 0b1011:
		x.control()
	case 0b0100, 0b0110, 0b1100, 0b1110:
		x.memory()
	case 0b0101, 0b1101:
		x.register()
	case 0b0111, 0b1111:
		x.vector()
	default:
		x.flow = bad
	}
	return x.step
}

// reserved handles udf, and the instructions of SME.
func (x *arm64) reserved() {
	switch {
	case x.w>>16 == 0:
		x.flow = stop
	case !x.bit(31):
		x.flow = bad
	default:
		x.killVector(x.d(), 4)
		if x.w>>24 == 0xc0 && x.field(16, 8) == 0x4c { // movt
			x.set(x.d(), value{})
		}
	}
}

// scalable handles the instructions of SVE, few of which write general registers (C4.1.2).
func (x *arm64) scalable() {
	class, above := x.w>>24, x.field(12, 4)
	x.s.flags = compare{} // comparisons, and what ends loops
	switch {
	case class == 0x04 && x.bit(21) && above == 5: // addvl, addpl
		x.put(x.d(), value{})
		return
	case class == 0x04 && x.bit(21) && above >= 0xe, // cntb, incb, ...
		class == 0x05 && x.bit(21) && x.field(13, 3) == 5,        // lasta, clasta
		class == 0x25 && x.field(20, 2) == 2 && above>>2 == 0b10: // cntp, incp, ...
		x.set(x.d(), value{})
	}
	x.killVector(x.d(), 4)
}

// control handles branches, exceptions and system instructions (C4.1.4).
func (x *arm64) control() {
	switch top := x.w >> 24; {
	case top&0x7c == 0x14:
		x.flow, x.to = jump, x.addr+insn.OffsetARM64(x.w, 0, 26)
		if x.bit(31) {
			x.flow = call
		}
	case top == 0x54:
		x.flow, x.to = branch, x.addr+insn.OffsetARM64(x.w, 5, 19)
		x.limit = limitARM64(x.w&15, x.s.flags)
	case top == 0x55 && x.field(22, 2) == 0 && x.d() == 31: // retaasppc, retabsppc
		x.authenticate()
		x.flow = ret
	case top&0x7e == 0x34:
		x.flow, x.to = branch, x.addr+insn.OffsetARM64(x.w, 5, 19)
	case top&0x7e == 0x36:
		x.flow, x.to = branch, x.addr+insn.OffsetARM64(x.w, 5, 14)
	case top&0xfe == 0xd6:
		x.branchRegister()
	case top == 0xd4:
		x.exception()
	case top == 0xd5:
		x.system()
	default:
		x.flow = bad
	}
}

func (x *arm64) branchRegister() {
	signed := x.field(11, 1) == 1
	switch op := x.field(21, 4) & 7; {
	case x.field(16, 5) != 31:
		x.flow = bad
	case op == 0:
		x.flow = indirect
		x.through(x.s.regs[x.n()%31])
	case op == 1:
		x.flow = call
		x.through(x.s.regs[x.n()%31])
	case op == 2:
		x.flow = ret
		if signed {
			x.authenticate()
		} else if n := x.n(); n < 31 {
			x.s.regs[armLR] = x.s.regs[n]
		}
		if x.s.regs[armLR].base == constant {
			x.flow = astray
		}
	default:
		x.flow = stop // eret, drps
	}
}

// through notes where a call or jump through a register leads.
func (x *arm64) through(v value) {
	switch near := &x.s.near; {
	case v.base == linked:
		x.slot = uint64(v.off)
	case v.base == constant && x.flow == call:
		x.to = uint64(v.off)
	case v.base == constant:
		x.flow, x.to = jump, uint64(v.off)
	case near.sum.size != 0 && near.sumReg == x.n():
		x.table = near.sum
	default:
		x.table = v.table()
	}
}

func (x *arm64) exception() {
	if x.field(21, 3) != 0 || x.w&3 != 1 { // all but svc
		x.flow = stop
		return
	}
	if x.leavesStack() {
		x.flow = stop
		return
	}
	x.set(0, value{})
}

// leavesStack reports whether a system call may go on with another stack: that of a child, or of what a signal interrupted.
func (x *arm64) leavesStack() bool {
	switch x.s.regs[8] {
	case value{base: constant, off: armClone}:
		return x.s.regs[1] != value{base: constant} // as in fork
	case value{base: constant, off: armClone3}, value{base: constant, off: armSigreturn}:
		return true
	}
	return false
}

func (x *arm64) system() {
	switch {
	case x.w&0xfffff01f == 0xd503201f:
		x.hint()
	case x.bit(21): // mrs, sysl
		x.set(x.d(), value{})
	case x.w&0xfffff0ff == 0xd503407f: // msr of an immediate: smstart, smstop
		x.killVector(8, 8)
	case x.w&0xffffffe0 == 0xd51b4200: // msr nzcv
		x.s.flags = compare{}
	}
}

// hint handles hints, of which those for pointer authentication change the return address.
func (x *arm64) hint() {
	switch x.field(5, 7) {
	case 25, 24: // paciasp, paciaz
		x.sign(keyA)
	case 27, 26: // pacibsp, pacibz
		x.sign(keyB)
	case 7, 28, 29, 30, 31: // xpaclri, autiaz, autiasp, autibz, autibsp
		x.authenticate()
	case 8, 10, 12, 14: // of x17, which leads to where it led before
	case 40: // chkfeat
		x.set(16, value{})
	}
}

// sign signs the return address.
func (x *arm64) sign(key uint32) {
	v := value{}
	if x.s.regs[armLR].base == constant {
		x.flow = astray
	}
	if x.s.regs[armLR] == initially(armLR) {
		v = value{base: initial, off: armLR, n: key}
	}
	x.put(armLR, v)
}

// authenticate removes the signature of the return address.
func (x *arm64) authenticate() {
	if v := x.s.regs[armLR]; v.base == initial && v.off == armLR {
		x.put(armLR, initially(armLR))
		return
	}
	x.put(armLR, value{})
}

// immediate handles data processing with an immediate (C4.1.3).
func (x *arm64) immediate() {
	switch x.field(23, 3) {
	case 0, 1:
		x.relative()
	case 2:
		x.addImmediate()
	case 3: // with tags; min and max
		x.put(x.d(), value{})
	case 4:
		x.logicalImmediate()
	case 5:
		x.move()
	case 6:
		x.bitfield()
	case 7:
		if x.d() == 31 && x.w>>24 == 0xf3 { // autiasppc, autibsppc
			x.authenticate()
			return
		}
		x.set(x.d(), value{})
	}
}

// relative handles adr and adrp.
func (x *arm64) relative() {
	off := x.signed(5, 19)<<2 | int64(x.field(29, 2))
	at := int64(x.addr)
	if x.bit(31) {
		off, at = off<<12, at&^0xfff
	}
	x.set(x.d(), value{base: constant, off: at + off})
}

func (x *arm64) addImmediate() {
	by := int64(x.field(10, 12))
	if x.bit(22) {
		by <<= 12
	}
	if x.bit(29) { // sets flags
		x.compared(x.n(), by)
		x.set(x.d(), value{})
		return
	}
	if x.bit(30) {
		by = -by
	}
	v := value{}
	if x.wide() {
		v = x.s.regs[x.n()].plus(by)
	}
	if by == 0 && x.wide() {
		v = x.s.regs[x.n()]
	}
	x.put(x.d(), v)
}

// compared notes a comparison of a register with a constant, if it is one.
func (x *arm64) compared(reg uint8, n int64) {
	x.s.flags = compare{}
	if !x.bit(30) || x.d() != 31 || reg == 31 || n < 0 || n >= 1<<32 {
		return
	}
	size := uint8(4)
	if x.wide() {
		size = 8
	}
	x.s.flags = compare{reg: int8(reg), n: uint32(n), size: size}
	if near := &x.s.near; near.load.base != unknown && near.reg == reg {
		x.s.flags.at = near.load
	}
}

// limitARM64 returns what a branch by a condition says about the operand of a comparison.
func limitARM64(condition uint32, c compare) limit {
	switch {
	case c.size == 0:
		return limit{}
	case c.other != 0:
		if condition <= 1 { // equal, not equal
			return limit{compare: c, taken: condition == 0}
		}
		return limit{}
	}
	switch condition {
	case 2: // higher or same
		return limit{compare: c, less: 1}
	case 3: // lower
		return limit{compare: c, less: 1, taken: true}
	case 8: // higher
		return limit{compare: c}
	case 9: // lower or same
		return limit{compare: c, taken: true}
	}
	return limit{}
}

func (x *arm64) logicalImmediate() {
	mask, ok := x.mask()
	op, v, a := x.field(29, 2), value{}, x.reg(x.n())
	switch {
	case !ok:
		x.flow = bad
	case op == 3: // ands
		x.s.flags = compare{}
		x.set(x.d(), x.masked(a, mask))
		return
	case op == 0 && x.d() == armSP: // and
		if k := -mask; x.wide() && a.base != unknown && k&(k-1) == 0 && k <= 1<<16 && (a.onStack()) {
			x.s.realign()
			v = value{base: aligned}
		}
	case op == 0:
		v = x.masked(a, mask)
	case op == 1 && x.n() == 31:
		v = value{base: constant, off: int64(mask)}
	}
	x.put(x.d(), v)
}

// mask decodes the immediate of a logical instruction (DecodeBitMasks).
func (x *arm64) mask() (mask uint64, ok bool) {
	n, imms, immr := x.field(22, 1), x.field(10, 6), x.field(16, 6)
	length := bits.Len32(n<<6|^imms&63) - 1
	if length < 1 || n == 1 && !x.wide() {
		return 0, false
	}
	size := uint32(1) << length
	ones, turn := imms&(size-1)+1, immr&(size-1)
	if ones == size {
		return 0, false
	}
	e := uint64(1)<<ones - 1
	e = e>>turn | e<<(size-turn)
	if size < 64 {
		e &= 1<<size - 1
	}
	for ; size < 64; size *= 2 {
		e |= e << size
	}
	if !x.wide() {
		e &= 1<<32 - 1
	}
	return e, true
}

// masked returns v with a mask.
func (x *arm64) masked(v value, mask uint64) value {
	switch {
	case v.base == constant:
		return value{base: constant, off: v.off & int64(mask)}
	case mask < 1<<31:
		return value{base: below, n: uint32(mask)}
	}
	return value{}
}

// move handles movn, movz and movk.
func (x *arm64) move() {
	shift := 16 * x.field(21, 2)
	v := int64(x.field(5, 16)) << shift
	switch was := x.reg(x.d()); x.field(29, 2) {
	case 0:
		v = ^v
	case 3:
		if was.base != constant {
			x.set(x.d(), value{})
			return
		}
		v |= was.off &^ (0xffff << shift)
	}
	if !x.wide() {
		v &= 1<<32 - 1
	}
	x.set(x.d(), value{base: constant, off: v})
}

// bitfield handles sbfm, bfm and ubfm. Those with a lower bit 0 extend a value, as does ubfx.
func (x *arm64) bitfield() {
	immr, imms, v := x.field(16, 6), x.field(10, 6), value{}
	if x.field(29, 2) == 2 && imms >= immr && imms-immr < 31 {
		v = value{base: below, n: 1<<(imms-immr+1) - 1}
		if a := x.reg(x.n()); immr == 0 && a.base == below && a.n <= v.n {
			v = a
		}
	}
	if x.field(29, 2) == 0 && immr == 0 && imms == 31 && x.wide() { // sxtw
		if a := x.reg(x.n()); a.base == below && a.n < 1<<31 {
			v = a
		}
	}
	x.set(x.d(), v)
}

// register handles data processing with registers (C4.1.6).
func (x *arm64) register() {
	switch {
	case x.bit(28):
		x.registerMore()
	case !x.bit(24):
		x.logical()
	case x.bit(21):
		x.addExtended()
	default:
		x.addShifted()
	}
}

// registerMore handles what is not a logical instruction or an addition.
func (x *arm64) registerMore() {
	switch x.field(21, 4) {
	case 0b0010: // ccmp, ccmn
		x.s.flags = compare{}
	case 0b0000:
		x.s.flags = compare{}
		switch {
		case x.field(10, 6) == 0: // adc, sbc
			x.set(x.d(), value{})
		case x.field(13, 3) == 1: // addpt, subpt
			x.put(x.d(), value{})
		}
	case 0b0110:
		x.twoOperands()
	default:
		x.set(x.d(), value{})
	}
}

// twoOperands handles instructions of one or two operands: divisions, shifts, and for pointer authentication and tags.
func (x *arm64) twoOperands() {
	switch {
	case x.w>>16 == 0xdac1 && x.d() == armLR && x.bit(15): // paciasppc, ...
		switch x.field(10, 6) {
		case 0x20, 0x28:
			x.sign(keyA)
		case 0x21, 0x29:
			x.sign(keyB)
		case 0x24, 0x25:
			x.authenticate()
		}
	case x.w>>16 == 0xdac1 && x.d() == armLR:
		switch x.field(10, 6) {
		case 0, 8:
			x.sign(keyA)
		case 1, 9:
			x.sign(keyB)
		case 4, 5, 12, 13, 16:
			x.authenticate()
		default:
			x.set(armLR, value{})
		}
	case x.w>>21 == 0x4d6 && x.field(10, 6) == 4: // irg
		x.put(x.d(), value{})
	default:
		if x.w>>29&1 != 0 { // subps
			x.s.flags = compare{}
		}
		x.set(x.d(), value{})
	}
}

func (x *arm64) logical() {
	v, plain := value{}, x.field(10, 6) == 0 && !x.bit(21)
	if op := x.field(29, 2); op == 1 && plain && x.n() == 31 { // mov
		if v = x.reg(x.m()); !x.wide() {
			v = v.low()
		}
	} else if op == 3 {
		x.s.flags = compare{}
	}
	x.set(x.d(), v)
}

// low returns the lower 4 bytes of v.
func (v value) low() value {
	switch {
	case v.base == constant:
		return value{base: constant, off: v.off & (1<<32 - 1)}
	case v.base == below, v.base == word && v.size <= 4:
		return v
	}
	return value{}
}

func (x *arm64) addShifted() {
	v, a, b := value{}, x.reg(x.n()), x.reg(x.m())
	shift := x.field(10, 6)
	if x.bit(29) {
		if x.s.flags = (compare{}); shift == 0 && b.base == constant {
			x.compared(x.n(), b.off)
		}
		x.set(x.d(), v)
		return
	}
	var sum table
	if x.wide() && x.field(22, 2) == 0 {
		v, sum = x.sum(a, b, shift)
	}
	x.set(x.d(), v)
	x.summed(sum)
}

// addExtended handles additions of a register that is extended, also to the stack pointer.
func (x *arm64) addExtended() {
	v, a, b := value{}, x.s.regs[x.n()], x.reg(x.m())
	shift, extend := x.field(10, 3), x.field(13, 3)
	if x.bit(29) {
		x.s.flags = compare{}
		if x.wide() && x.bit(30) && x.d() == 31 && extend == 3 && shift == 0 && x.m() != 31 {
			x.s.flags = compare{reg: int8(x.n()), other: x.m() + 1, size: 8}
		}
		x.set(x.d(), v)
		return
	}
	var sum table
	if x.wide() && shift <= 4 {
		v, sum = x.sum(a, b.extended(extend), shift)
	}
	x.put(x.d(), v)
	x.summed(sum)
}

// extended returns v as an operand that is extended: from 1, 2, 4 or 8 bytes, without a sign or, from 4 on, with it.
func (v value) extended(by uint32) value {
	size, signed := uint8(1)<<(by&3), by >= 4
	switch {
	case size == 8:
		return v
	case v.base == word && v.size == size:
		if signed {
			v.base = entry
		}
		return v
	case v.base == word && v.size < size:
		return v
	case v.base == constant && size == 4 && v.off >= 0 && v.off < 1<<31:
		return v
	case v.base == below && size == 4 && v.n < 1<<31:
		return v
	}
	return value{}
}

// sum returns a plus or minus b, which is shifted, or the table that is added to a.
func (x *arm64) sum(a, b value, shift uint32) (value, table) {
	switch minus := x.bit(30); {
	case a.base == constant && (b.base == word || b.base == entry) && b.size < 8 && !minus:
		return value{}, table{at: uint64(b.off), n: b.n, size: b.size, shift: uint8(shift), signed: b.base == entry, from: uint64(a.off)}
	case b.base == constant && (a.base == word || a.base == entry) && a.size < 8 && !minus && shift == 0:
		return value{}, table{at: uint64(a.off), n: a.n, size: a.size, signed: a.base == entry, from: uint64(b.off)}
	case b.base == constant && minus:
		return a.plus(-(b.off << shift)), table{}
	case b.base == constant:
		return a.plus(b.off << shift), table{}
	case a.base == constant && shift == 0 && !minus:
		return b.plus(a.off), table{}
	}
	return value{}, table{}
}

// summed notes that the destination is an address from a table.
func (x *arm64) summed(t table) {
	if t.size != 0 && x.d() != 31 {
		x.s.near.sum, x.s.near.sumReg = t, x.d()
	}
}

// vector handles floating point and vectors (C4.1.7).
func (x *arm64) vector() {
	top := x.w >> 24 & 0x5f
	switch op := x.field(16, 3); {
	case top == 0x1e && x.bit(21) && x.field(10, 6) == 0: // conversions, and moves between registers
		if op <= 1 || op >= 4 && op <= 6 {
			x.set(x.d(), value{})
			return
		}
	case top == 0x1e && !x.bit(21) && op <= 1: // conversions to fixed-point numbers
		x.set(x.d(), value{})
		return
	case top == 0x1e && x.bit(21) && (x.field(10, 6) == 8 || x.field(10, 2) == 1): // fcmp, fccmp
		x.s.flags = compare{}
		return
	case x.w&0xbfe08400 == 0x0e000400 && (x.field(11, 4) == 5 || x.field(11, 4) == 7): // smov, umov
		x.set(x.d(), value{})
		return
	}
	x.killVector(x.d(), 1)
}
