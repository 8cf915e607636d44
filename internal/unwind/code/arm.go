package code

import (
	"encoding/binary"
	"math/bits"
)

// arm is an instruction of 32-bit ARM, of either instruction set. Encodings are those of the Arm Architecture Reference Manual for
// A-profile, F3 (T32) and F4 (A32).
type arm struct {
	w    uint32
	addr uint64 // with bit 0 set in Thumb
	s    *state
	step
	within bool // an IT block
}

// always is the condition that always holds.
const always = 14

// pc returns the value that an instruction reads from PC.
func (x *arm) pc() uint64 {
	if x.thumb() {
		return x.addr&^1 + 4
	}
	return x.addr + 8
}

func (x *arm) thumb() bool { return x.addr&1 != 0 }

// field returns n bits of an instruction.
func (x *arm) field(at, n uint) uint32 { return x.w >> at & (1<<n - 1) }
func (x *arm) reg(at uint) uint8       { return uint8(x.w >> at & 15) }

// number returns a known number.
func number(n uint32) value { return value{base: constant, off: int64(n)} }

// get returns the value of a register.
func (x *arm) get(r uint8) value {
	if r == arm32PC {
		return number(uint32(x.pc()))
	}
	return x.s.regs[r]
}

// set sets a register. Whoever sets PC calls through.
func (x *arm) set(r uint8, v value) {
	if r == arm32PC {
		x.flow = bad
		return
	}
	x.s.flags.written(1 << r)
	x.s.regs[r] = v
}

// plusARM returns the sum of a value and a constant.
func plusARM(v value, n int64) value {
	if v.base == constant {
		return number(uint32(v.off + n))
	}
	if n == 0 {
		return v
	}
	return v.plus(n)
}

// sumARM returns the sum of two values: also an address in a table, or in code.
func sumARM(a, b value) value {
	if a.base == constant {
		a, b = b, a
	}
	switch {
	case b.base != constant:
		return value{}
	case a.base == scaled && a.off <= 4:
		return value{base: cell, off: b.off, n: a.n, size: uint8(a.off)}
	case (a.base == word || a.base == entry) && a.size == 4:
		a.base = entry
		return a.from(b.off)
	}
	return plusARM(a, b.off)
}

// through goes on where a value leads. Without exchange, the instruction set stays.
func (x *arm) through(v value, exchange bool) {
	isa := x.addr & 1
	if exchange {
		isa = 0 // it is part of the address
	}
	switch {
	case v == initially(arm32LR):
		x.flow = ret
		x.s.regs[arm32LR] = v
		return
	case v.base == constant:
		x.flow, x.to = jump, uint64(uint32(v.off))
		if !exchange {
			x.to = x.to&^1 | isa
		}
	case v.base == linked:
		x.flow, x.slot = indirect, uint64(v.off)
	case v.base == word && v.size == 4 && exchange:
		x.flow, x.table = indirect, table{at: uint64(v.off), n: v.n, size: 4}
	case v.base == target:
		x.flow, x.table = indirect, table{at: uint64(v.off), n: v.n, size: 4, signed: true, from: uint64(v.off) | isa}
	case v.base == displaced:
		x.flow, x.table = indirect, table{at: uint64(v.off + int64(int32(v.n))), n: openEnd, size: 4, signed: true, from: uint64(v.off) | isa}
	default:
		x.flow = indirect
	}
	if lr := x.s.regs[arm32LR]; lr.base == constant && uint64(lr.off)&^1 == x.addr&^1+uint64(x.size) && !x.thumb() { // mov lr, pc
		if x.flow != jump && x.table.size == 0 {
			x.flow = call
		} else {
			x.flow = bad
		}
	}
}

// condition notes what a condition says about the registers that were compared: the limits where it holds, and where it does not.
func (s *state) condition(cond uint8) (l limit) {
	if s.flags.size == 0 || s.flags.reg < 0 || s.flags.other != 0 {
		return limit{}
	}
	switch l.compare = s.flags; cond {
	case 2: // cs
		l.less = 1
	case 3: // cc
		l.less, l.taken = 1, true
	case 8: // hi
	case 9: // ls
		l.taken = true
	default:
		return limit{}
	}
	return l
}

// join forgets what another state does not know.
func (s *state) join(o *state) {
	for i := range s.regs {
		if s.regs[i] != o.regs[i] {
			s.regs[i] = value{}
		}
	}
	if !sameSlots(s.slots, o.slots) {
		both := make([]slot, 0, len(s.slots))
		for _, k := range s.slots {
			if o.slotAt(k.place) == k {
				both = append(both, k)
			}
		}
		s.slots = both
	}
	if s.flags != o.flags {
		s.flags = compare{}
	}
}

// stepARM decodes the first instruction of code, and changes the state.
func stepARM(code []byte, addr uint64, s *state) step {
	x := arm{addr: addr, s: s}
	if x.thumb() {
		return x.stepThumb(code)
	}
	if len(code) < 4 {
		return step{flow: bad}
	}
	x.w, x.size = binary.LittleEndian.Uint32(code), 4
	if cond := uint8(x.w >> 28); cond != 15 {
		x.under(cond, x.one)
	} else {
		x.unconditional()
	}
	return x.step
}

// under executes an instruction under a condition.
func (x *arm) under(cond uint8, one func()) {
	if cond == always {
		one()
		return
	}
	before, l := *x.s, x.s.condition(cond)
	if l.size != 0 && l.n >= l.less {
		if l.taken {
			x.s.limit(l, changedARM)
		} else {
			before.limit(l, changedARM)
		}
	}
	one()
	switch x.flow {
	case next:
		x.s.join(&before)
	case jump:
		if x.flow = branch; x.to == 0 {
			x.flow = bad
			return
		}
		x.s.join(&before)
		x.limit = l
	case bad, branch, astray:
		x.flow = bad
	default:
		x.otherwise = &before
	}
}

// one executes an instruction of A32.
func (x *arm) one() {
	switch x.field(25, 3) {
	case 0:
		switch {
		case x.w&0x90 == 0x90:
			x.multiplyOrExtra()
		case x.w>>23&3 == 2 && x.w>>20&1 == 0:
			x.miscellaneous()
		default:
			v, known := x.shifted()
			x.data(v, known)
		}
	case 1:
		imm := bits.RotateLeft32(x.w&0xff, -int(x.w>>8&15*2))
		switch {
		case x.w>>23&3 == 2 && x.w>>20&1 == 0:
			switch x.field(20, 5) {
			case 0x10: // movw
				x.set(x.reg(12), number(x.w>>4&0xf000|x.w&0xfff))
			case 0x14: // movt
				x.movt(x.reg(12), x.w>>4&0xf000|x.w&0xfff)
			default: // msr, hints
				x.s.flags = compare{}
			}
		default:
			x.data(number(imm), true)
		}
	case 2:
		off := int64(x.w & 0xfff)
		if x.w>>23&1 == 0 {
			off = -off
		}
		x.single(number(uint32(off)), off, true)
	case 3:
		if x.w>>4&1 != 0 {
			x.media()
			return
		}
		v, _ := x.shifted()
		if x.w>>23&1 == 0 {
			v = value{}
		}
		x.single(v, 0, false)
	case 4:
		if x.w>>22&1 != 0 {
			x.flow = bad // of other modes
			return
		}
		x.multiple(x.reg(16), uint16(x.w), x.w>>20&1 != 0, x.w>>23&1 != 0, x.w>>24&1 != 0, x.w>>21&1 != 0)
	case 5:
		x.to = uint64(uint32(int64(x.addr) + 8 + int64(int32(x.w<<8)>>6)))
		if x.flow = jump; x.w>>24&1 != 0 {
			x.flow = call
		}
	case 6:
		x.coprocessor()
	case 7:
		if x.w>>24&1 != 0 {
			x.supervisor()
			return
		}
		x.coprocessor()
	}
}

// unconditional executes an instruction of A32 that cannot have a condition.
func (x *arm) unconditional() {
	switch {
	case x.w>>25 == 0x7d: // blx
		x.flow, x.to = call, uint64(uint32(int64(x.addr)+8+int64(int32(x.w<<8)>>6)+int64(x.w>>23&2)))|1
	case x.w>>25 == 0x79: // Advanced SIMD
		x.vector()
	case x.w>>24 == 0xf4 && x.w>>20&1 == 0: // its loads and stores
		x.vectorMemory()
	case x.w>>24&0xfe == 0xfe:
		x.vector()
	case x.w&0xfd70f000 == 0xf550f000, x.w&0xff70f000 == 0xf510f000, x.w&0xfffffd0f == 0xf1010000: // pld, pli, setend
	case x.w&0xffffff00 == 0xf57ff000: // barriers
	default:
		x.flow = bad
	}
}

// shifted returns the second operand of an instruction of A32: a register that may be shifted, and whether it is known.
func (x *arm) shifted() (v value, known bool) {
	v = x.get(x.reg(0))
	if x.w>>4&1 != 0 {
		return value{}, false // by a register
	}
	v = shiftARM(v, x.field(5, 2), x.field(7, 5))
	return v, v.base != unknown
}

// shiftARM returns a value shifted by an instruction: 0 lsl, 1 lsr, 2 asr, 3 ror.
func shiftARM(v value, kind, by uint32) value {
	switch {
	case by == 0 && kind == 0:
		return v
	case kind == 0 && v.base == constant:
		return number(uint32(v.off) << by)
	case kind == 0 && v.base == below && by <= 2:
		return value{base: scaled, off: 1 << by, n: v.n}
	case kind == 0 && by <= 2:
		return value{base: scaled, off: 1 << by, n: openEnd}
	case kind == 1 && by > 0 && v.base == constant:
		return number(uint32(v.off) >> by)
	}
	return value{}
}

// data handles instructions of A32 that process data.
func (x *arm) data(b value, known bool) {
	op, sets, rd, rn := x.field(21, 4), x.w>>20&1 != 0, x.reg(12), x.reg(16)
	a, v := x.get(rn), value{}
	if op>>2 == 2 { // tst, teq, cmp, cmn
		x.compare(op == 10, rn, b)
		return
	}
	switch op {
	case 0: // and
		v = x.mask(rd, a, b, false)
	case 2: // sub
		if b.base == constant {
			v = plusARM(a, -int64(int32(b.off)))
		}
	case 4: // add
		v = sumARM(a, b)
		if rd == arm32PC && rn == arm32PC && b.base == scaled && b.off == 4 && !sets {
			x.flow, x.table = indirect, table{at: x.pc(), n: b.n, size: 4, code: true, from: x.pc()}
			return
		}
	case 13: // mov
		v = b
		if !known {
			v = value{}
		}
	case 14: // bic
		v = x.mask(rd, a, b, true)
	case 15: // mvn
		if b.base == constant {
			v = number(^uint32(b.off))
		}
	}
	if sets {
		x.s.flags = compare{}
	}
	if rd == arm32PC {
		if sets {
			x.flow = bad // returns from exceptions
			return
		}
		x.through(v, true)
		return
	}
	x.set(rd, v)
}

// mask returns a value and a constant, or the value without its bits. The stack pointer may be aligned so.
func (x *arm) mask(rd uint8, a, b value, not bool) value {
	if b.base != constant {
		return value{}
	}
	m := uint32(b.off)
	if not {
		m = ^m
	}
	switch k := -m; {
	case a.base == constant:
		return number(uint32(a.off) & m)
	case rd == arm32SP && int32(m) < 0 && k&(k-1) == 0 && a.onStack():
		x.s.realign()
		return value{base: aligned}
	case int32(m) >= 0:
		return value{base: below, n: m}
	}
	return value{}
}

// compare notes a comparison of a register and a constant.
func (x *arm) compare(is bool, rn uint8, b value) {
	if x.s.flags = (compare{}); is && b.base == constant && rn != arm32PC {
		x.s.flags = compare{reg: int8(rn), n: uint32(b.off), size: 4}
	}
}

// movt sets the upper half of a register.
func (x *arm) movt(rd uint8, high uint32) {
	if v := x.get(rd); v.base == constant {
		x.set(rd, number(uint32(v.off)&0xffff|high<<16))
		return
	}
	x.set(rd, value{})
}

// multiplyOrExtra handles multiplications, and loads and stores of halves, pairs and exclusive words, of A32.
func (x *arm) multiplyOrExtra() {
	if x.w>>5&3 == 0 {
		switch {
		case x.w>>24&1 == 0: // multiplications
			if x.w>>20&1 != 0 {
				x.s.flags = compare{}
			}
			x.set(x.reg(16), value{})
			if x.w>>23&1 != 0 || x.w>>21&7 == 2 {
				x.set(x.reg(12), value{})
			}
		case x.w>>23&1 == 0: // swp
			x.put(x.get(x.reg(16)), value{}, 4)
			x.set(x.reg(12), value{})
		case x.w>>20&1 != 0: // ldrex and others
			x.set(x.reg(12), value{})
			if x.field(21, 2) == 1 {
				x.set(x.reg(12)|1, value{})
			}
		default: // strex and others
			x.put(x.get(x.reg(16)), value{}, 8)
			if r := x.reg(12); r != arm32PC {
				x.set(r, value{})
			}
		}
		return
	}
	off := int64(x.w>>4&0xf0 | x.w&0xf)
	if x.w>>23&1 == 0 {
		off = -off
	}
	imm := x.w>>22&1 != 0
	base := x.get(x.reg(16))
	after := value{}
	if imm {
		after = plusARM(base, off)
	}
	at := base
	if x.w>>24&1 != 0 {
		at = after
	}
	write := x.w>>24&1 == 0 || x.w>>21&1 != 0
	rt := x.reg(12)
	switch op, load := x.w>>5&3, x.w>>20&1 != 0; {
	case load: // ldrh, ldrsb, ldrsh
		x.writeBack(write, x.reg(16), after)
		x.set(rt, value{})
	case op == 1: // strh
		x.put(at, value{}, 2)
		x.writeBack(write, x.reg(16), after)
	case rt&1 != 0 || rt == arm32LR:
		x.flow = bad
	case op == 2: // ldrd
		x.pair(at, rt, rt+1, true, write, x.reg(16), after)
	default:
		x.pair(at, rt, rt+1, false, write, x.reg(16), after)
	}
}

func (x *arm) writeBack(write bool, r uint8, v value) {
	if write {
		x.set(r, v)
	}
}

// pair loads or stores two registers.
func (x *arm) pair(at value, a, b uint8, load, write bool, rn uint8, after value) {
	if !load {
		va, vb := x.get(a), x.get(b)
		x.put(at, va, 4)
		x.put(plusARM(at, 4), vb, 4)
		x.writeBack(write, rn, after)
		return
	}
	va, vb := x.load(at, 4), x.load(plusARM(at, 4), 4)
	x.writeBack(write, rn, after)
	x.set(a, va)
	x.set(b, vb)
}

// miscellaneous handles bx, blx, clz, and status registers of A32.
func (x *arm) miscellaneous() {
	switch op := x.field(21, 2); x.field(4, 4) {
	case 0: // mrs, msr
		if op&1 == 0 {
			x.set(x.reg(12), value{})
		} else {
			x.s.flags = compare{}
		}
	case 1:
		switch op {
		case 1:
			x.exchange(x.reg(0))
		case 3: // clz
			x.set(x.reg(12), value{})
		default:
			x.flow = bad
		}
	case 3:
		if x.flow = bad; op == 1 {
			x.callThrough(x.get(x.reg(0)))
		}
	case 5: // saturating additions
		x.set(x.reg(12), value{})
	case 7: // bkpt and others
		x.flow = stop
	case 8, 10, 12, 14: // multiplications of halves
		x.set(x.reg(16), value{})
		if op == 2 {
			x.set(x.reg(12), value{})
		}
	default:
		x.flow = bad
	}
}

// exchange handles bx.
func (x *arm) exchange(r uint8) {
	if v := x.get(r); r != arm32LR || v.base == constant {
		x.through(v, true)
		return
	}
	x.flow = ret
}

// callThrough handles blx of a register.
func (x *arm) callThrough(v value) {
	x.flow = call
	switch v.base {
	case constant:
		x.to = uint64(uint32(v.off))
	case linked:
		x.slot = uint64(v.off)
	}
}

// media handles what A32 has of parallel additions, packing, divisions and bit fields.
func (x *arm) media() {
	switch op := x.field(20, 5); {
	case x.w&0x0ff000f0 == 0x07f000f0: // udf
		x.flow = stop
	case op>>3 == 2: // multiplications, divisions
		x.set(x.reg(16), value{})
		if op&7 == 4 {
			x.set(x.reg(12), value{})
		}
	case op == 0x18: // usad8
		x.set(x.reg(16), value{})
	case op == 0x0e && x.w&0xf03f0 == 0xf0070: // uxtb
		v := value{base: below, n: 0xff}
		if a := x.get(x.reg(0)); a.base == below && x.w>>10&3 == 0 {
			v.n = min(v.n, a.n)
		}
		x.set(x.reg(12), v)
	default:
		x.set(x.reg(12), value{})
	}
}

// single handles loads and stores of a word or byte of A32.
func (x *arm) single(off value, n int64, imm bool) {
	rn, rt := x.reg(16), x.reg(12)
	base := x.get(rn)
	pre, write := x.w>>24&1 != 0, x.w>>24&1 == 0 || x.w>>21&1 != 0
	after := value{}
	if imm {
		after = plusARM(base, n)
	} else {
		after = sumARM(base, off)
	}
	at := base
	if pre {
		at = after
	}
	size := int64(4)
	if x.w>>22&1 != 0 {
		size = 1
	}
	if write && after.base == cell {
		after = value{}
	}
	x.access(at, rt, size, x.w>>20&1 != 0, write, rn, after)
}

// access loads or stores a register.
func (x *arm) access(at value, rt uint8, size int64, load, write bool, rn uint8, after value) {
	if !load {
		v := x.get(rt)
		if rt == arm32PC {
			v = value{}
		}
		x.put(at, v, size)
		x.writeBack(write, rn, after)
		return
	}
	v := x.load(at, size)
	x.writeBack(write, rn, after)
	if rt != arm32PC {
		x.set(rt, v)
		return
	}
	if size != 4 {
		x.flow = bad
		return
	}
	x.through(v, true)
}

// load returns a word that is loaded.
func (x *arm) load(at value, size int64) value {
	switch {
	case at.onStack():
		k := x.s.slotAt(place{at.base, at.off})
		if int64(k.width) == size || k.value.base == below && size == 4 {
			return k.value
		}
	case at.base == constant && size == 4:
		return value{base: linked, off: at.off}
	case at.base == cell && int64(at.size) == size && size == 4:
		return value{base: word, off: at.off, n: at.n, size: at.size}
	}
	return value{}
}

// put stores a register.
func (x *arm) put(at, v value, size int64) {
	if at.onStack() {
		keep := (v.onStack() || v.base == initial || v.base == constant || v.base == below) && size == 4
		x.s.put(place{at.base, at.off}, v, size, keep)
	}
}

// multiple loads or stores several registers.
func (x *arm) multiple(rn uint8, list uint16, load, up, before, write bool) {
	base, n := x.get(rn), int64(bits.OnesCount16(list))
	lo, after := base, plusARM(base, 4*n)
	if !up {
		after = plusARM(base, -4*n)
		lo = after
	}
	if before == up {
		lo = plusARM(lo, 4)
	}
	if rn == arm32PC || n == 0 {
		x.flow = bad
		return
	}
	if !load {
		for i, l := int64(0), list; l != 0; i++ {
			r := uint8(bits.TrailingZeros16(l))
			l &= l - 1
			v := x.get(r)
			if r == arm32PC || r == rn && write {
				v = value{}
			}
			x.put(plusARM(lo, 4*i), v, 4)
		}
		x.writeBack(write, rn, after)
		return
	}
	var to value
	var all [16]value
	for i, l := int64(0), list; l != 0; i++ {
		r := bits.TrailingZeros16(l)
		l &= l - 1
		all[r] = x.load(plusARM(lo, 4*i), 4)
	}
	x.writeBack(write && list>>rn&1 == 0, rn, after)
	for r, v := range all {
		if list>>r&1 != 0 && r != arm32PC {
			x.set(uint8(r), v)
		}
	}
	if to = all[arm32PC]; list>>arm32PC != 0 {
		x.through(to, true)
	}
}

// supervisor handles svc.
func (x *arm) supervisor() {
	switch n := x.s.regs[7]; {
	case n.base == constant && (n.off == arm32Sigreturn || n.off == arm32RTSigreturn || n.off == arm32Clone || n.off == arm32Clone3):
		x.flow = stop // the child has another stack; what a signal interrupted has its own rules
	default:
		x.set(0, value{})
	}
}

// coprocessor handles floating-point instructions, and those of other coprocessors. w is the same in both instruction sets.
func (x *arm) coprocessor() {
	cp := x.field(8, 4)
	switch op := x.field(24, 4); {
	case cp != 10 && cp != 11:
		switch {
		case op == 14 && x.w>>4&1 != 0 && x.w>>20&1 != 0: // mrc
			if rt := x.reg(12); rt != arm32PC {
				x.set(rt, value{})
			} else {
				x.s.flags = compare{}
			}
		case op == 14: // mcr, cdp
		case x.w&0x0fe00000 == 0x0c400000: // mrrc, mcrr
			if x.w>>20&1 != 0 {
				x.set(x.reg(12), value{})
				x.set(x.reg(16), value{})
			}
		default:
			x.flow = bad
		}
	case x.w&0x0fe00000 == 0x0c400000: // vmov of two registers
		if x.w>>20&1 != 0 {
			x.set(x.reg(12), value{})
			x.set(x.reg(16), value{})
		} else {
			x.forgetVector(x.w&15, 1+x.w>>5&1)
		}
	case op == 12 || op == 13:
		x.floatMemory()
	case x.w>>4&1 != 0: // vmov of a register, vmrs
		switch rt := x.reg(12); {
		case x.w>>20&1 != 0 && rt == arm32PC:
			x.s.flags = compare{}
		case x.w>>20&1 != 0:
			x.set(rt, value{})
		default:
			x.forgetVector(x.w>>16&15, 1+x.w>>23&1) // two by vdup
		}
	default:
		x.forgetVector(x.w>>12&15, 1)
	}
}

// floatMemory handles loads and stores of floating-point registers.
func (x *arm) floatMemory() {
	rn, n, up, write := x.reg(16), int64(x.w&0xff), x.w>>23&1 != 0, x.w>>21&1 != 0
	base, load := x.get(rn), x.w>>20&1 != 0
	if rn == arm32PC {
		base = value{}
	}
	double, first := x.w>>8&1 != 0, x.w>>12&15
	at, after := base, value{}
	single := x.w>>24&1 != 0 && !write
	switch off := 4 * n; {
	case single && up:
		at = plusARM(base, off)
		n = 1
		if double {
			n = 2
		}
	case single:
		at = plusARM(base, -off)
		n = 1
		if double {
			n = 2
		}
	case up:
		after = plusARM(base, off)
	default:
		after = plusARM(base, -off)
		at = after
	}
	defer func() { x.writeBack(write && !single, rn, after) }()
	if !double {
		if load {
			odd := x.w >> 22 & 1
			x.forgetVector(first, (odd+uint32(n)+1)/2)
		} else if at.onStack() {
			x.s.put(place{at.base, at.off}, value{}, 4*n, false)
		}
		return
	}
	first |= x.w >> 18 & 16
	for i := range uint32(n / 2) {
		r := first + i
		p := place{at.base, at.off + 8*int64(i)}
		switch tracked := r >= 8 && r < 16; {
		case load && tracked:
			v := value{}
			if k := x.s.slotAt(p); at.onStack() && k.width == 8 {
				v = k.value
			}
			x.s.regs[arm32D8+r-8] = v
		case !load && at.onStack():
			v := value{}
			if tracked {
				v = x.s.regs[arm32D8+r-8]
			}
			x.s.put(p, v, 8, v.base == initial)
		}
	}
}

// forgetVector forgets registers from one on.
func (x *arm) forgetVector(r, n uint32) {
	for ; n > 0; r, n = r+1, n-1 {
		if r >= 8 && r < 16 {
			x.s.regs[arm32D8+r-8] = value{}
		}
	}
}

// vector handles an instruction of Advanced SIMD, which may write a pair of registers, or two: vswp, vtrn, vuzp and vzip.
func (x *arm) vector() {
	x.forgetVector(x.w>>12&15&^1, 2)
	if x.w>>20&0xb == 0xb && x.w>>16&3 == 2 && x.w>>9&7 == 0 {
		x.forgetVector(x.w&15&^1, 2)
	}
}

// vectorMemory handles loads and stores of the elements of vectors.
func (x *arm) vectorMemory() {
	rn, rm := x.reg(16), x.reg(0)
	if at := x.get(rn); x.w>>21&1 != 0 {
		x.forgetVector(x.w>>12&15, 8)
	} else if at.onStack() {
		x.s.put(place{at.base, at.off}, value{}, 32, false)
	}
	if rm == arm32PC {
		return
	}
	v := value{}
	if n := x.vectorSize(); rm == arm32SP && n > 0 {
		v = plusARM(x.get(rn), n)
	}
	x.set(rn, v)
}

// vectorSize returns the number of bytes that a load or store of whole vectors transfers, or 0.
func (x *arm) vectorSize() int64 {
	if x.w>>23&1 != 0 {
		return 0
	}
	switch x.field(8, 4) {
	case 7:
		return 8
	case 8, 9, 10:
		return 16
	case 4, 5, 6:
		return 24
	case 0, 1, 2, 3:
		return 32
	}
	return 0
}
