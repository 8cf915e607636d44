package code

import (
	"encoding/binary"
	"math/bits"
)

// stepThumb executes an instruction of Thumb. Up to four behind an IT have conditions.
func (x *arm) stepThumb(code []byte) step {
	if len(code) < 2 {
		return step{flow: bad}
	}
	x.w, x.size = uint32(binary.LittleEndian.Uint16(code)), 2
	one := x.short
	if x.w>>11 >= 0x1d {
		if len(code) < 4 {
			return step{flow: bad}
		}
		x.w, x.size = x.w<<16|uint32(binary.LittleEndian.Uint16(code[2:])), 4
		one = x.long
	}
	it := x.s.near.it
	cond := uint8(always)
	if it != 0 {
		if x.s.near.it = 0; it&7 != 0 {
			x.s.near.it = it&0xe0 | it<<1&0x1f
		}
		cond = it >> 4
	}
	x.within = it != 0
	x.under(cond, one)
	return x.step
}

// setFlags notes that a short instruction sets flags, as it does if it has no condition.
func (x *arm) setFlags() {
	if !x.within {
		x.s.flags = compare{}
	}
}

// short executes an instruction of 2 bytes.
func (x *arm) short() {
	lo, mid := uint8(x.w&7), uint8(x.w>>3&7)
	switch op := x.w >> 11; {
	case op < 3: // shifts by a constant
		by := x.w >> 6 & 31
		x.setFlags()
		x.set(lo, shiftARM(x.get(mid), op, by))
	case op == 3: // add, sub
		b := number(x.w >> 6 & 7)
		if x.w>>10&1 == 0 {
			b = x.get(uint8(x.w >> 6 & 7))
		}
		v := value{}
		if x.w>>9&1 == 0 {
			v = sumARM(x.get(mid), b)
		} else if b.base == constant {
			v = plusARM(x.get(mid), -b.off)
		}
		x.setFlags()
		x.set(lo, v)
	case op == 4: // mov
		x.setFlags()
		x.set(uint8(x.w>>8&7), number(x.w&0xff))
	case op == 5:
		x.compare(true, uint8(x.w>>8&7), number(x.w&0xff))
	case op == 6, op == 7: // add, sub
		n := int64(x.w & 0xff)
		if op == 7 {
			n = -n
		}
		r := uint8(x.w >> 8 & 7)
		x.setFlags()
		x.set(r, plusARM(x.get(r), n))
	case op == 8:
		x.shortData(lo, mid)
	case op == 9: // ldr of a literal
		x.access(number(uint32(x.pc()&^3+uint64(x.w&0xff*4))), uint8(x.w>>8&7), 4, true, false, 0, value{})
	case op < 12: // loads and stores by registers
		sizes := [8]int64{4, 2, 1, 1, 4, 2, 1, 2}
		k := x.w >> 9 & 7
		size, load := sizes[k], k >= 3
		v := sumARM(x.get(mid), x.get(uint8(x.w>>6&7)))
		if load && size != 4 {
			v = value{}
		}
		x.access(v, lo, size, load, false, 0, value{})
	case op < 18: // by constants
		size := [3]int64{4, 1, 2}[(op-12)/2]
		x.access(plusARM(x.get(mid), int64(x.w>>6&31)*size), lo, size, op&1 != 0, false, 0, value{})
	case op < 20:
		x.access(plusARM(x.get(arm32SP), int64(x.w&0xff)*4), uint8(x.w>>8&7), 4, op&1 != 0, false, 0, value{})
	case op == 20: // adr
		x.set(uint8(x.w>>8&7), number(uint32(x.pc()&^3+uint64(x.w&0xff*4))))
	case op == 21:
		x.set(uint8(x.w>>8&7), plusARM(x.get(arm32SP), int64(x.w&0xff)*4))
	case op < 24:
		x.shortOther()
	case op < 26:
		list := uint16(x.w & 0xff)
		rn := uint8(x.w >> 8 & 7)
		x.multiple(rn, list, op == 25, true, false, op == 24 || list>>rn&1 == 0)
	case op < 28:
		switch cond := uint8(x.w >> 8 & 15); cond {
		case 14: // udf
			x.flow = stop
		case 15:
			x.supervisor()
		default:
			x.flow, x.to = branch, x.target(int64(int32(x.w<<24)>>23))
			x.limit = x.s.condition(cond)
		}
	default:
		x.flow, x.to = jump, x.target(int64(int32(x.w<<21)>>20))
	}
}

// target returns where a branch of Thumb leads.
func (x *arm) target(off int64) uint64 { return uint64(uint32(int64(x.pc())+off)) | 1 }

// shortData handles instructions of 2 bytes that process registers.
func (x *arm) shortData(lo, mid uint8) {
	if x.w>>10&1 == 0 {
		switch x.w >> 6 & 15 {
		case 8, 10, 11: // tst, cmp, cmn
			x.compare(x.w>>6&15 == 10, lo, x.get(mid))
		case 15: // mvn
			v := value{}
			if b := x.get(mid); b.base == constant {
				v = number(^uint32(b.off))
			}
			x.setFlags()
			x.set(lo, v)
		default:
			x.setFlags()
			x.set(lo, value{})
		}
		return
	}
	rd, rm := uint8(x.w&7|x.w>>4&8), uint8(x.w>>3&15)
	switch x.w >> 8 & 3 {
	case 0: // add
		a, b := x.get(rd), x.get(rm)
		if v := sumARM(a, b); rd == arm32PC {
			x.through(v, false)
		} else {
			x.set(rd, v)
		}
	case 1:
		x.compare(true, rd, x.get(rm))
	case 2: // mov
		if v := x.get(rm); rd == arm32PC && rm == arm32LR {
			x.flow = ret
		} else if rd == arm32PC {
			x.through(v, false)
		} else {
			x.set(rd, v)
		}
	default:
		if x.w>>7&1 != 0 {
			x.callThrough(x.get(rm))
		} else if rm == arm32PC {
			x.flow, x.to = jump, x.pc()&^3
		} else {
			x.exchange(rm)
		}
	}
}

// shortOther handles push, pop, cbz, it and others.
func (x *arm) shortOther() {
	switch op := x.w >> 8 & 15; op {
	case 0:
		n := int64(x.w&0x7f) * 4
		if x.w>>7&1 != 0 {
			n = -n
		}
		x.set(arm32SP, plusARM(x.get(arm32SP), n))
	case 2: // sxth, sxtb, uxth, uxtb
		v := value{}
		if k := x.w >> 6 & 3; k >= 2 {
			v = value{base: below, n: [2]uint32{0xffff, 0xff}[k-2]}
			if a := x.get(uint8(x.w >> 3 & 7)); a.base == below {
				v.n = min(v.n, a.n)
			}
		}
		x.set(uint8(x.w&7), v)
	case 1, 3, 9, 11: // cbz, cbnz
		x.flow, x.to = branch, x.target(int64(x.w>>2&0x3e|x.w>>3&0x40))
	case 4, 5: // push
		x.multiple(arm32SP, uint16(x.w&0xff|x.w<<6&0x4000), false, false, true, true)
	case 6: // setend, cps
	case 10: // rev
		if x.w>>6&3 == 2 { // hlt
			x.flow = stop
			return
		}
		x.set(uint8(x.w&7), value{})
	case 12, 13: // pop
		x.multiple(arm32SP, uint16(x.w&0xff|x.w<<7&0x8000), true, true, false, true)
	case 14: // bkpt
		x.flow = stop
	case 15:
		if x.w&15 != 0 {
			x.s.near.it = uint8(x.w)
			if x.within || x.w>>4&15 == 15 {
				x.flow = bad
			}
		}
	default:
		x.flow = bad
	}
}

// long executes an instruction of 4 bytes.
func (x *arm) long() {
	switch op := x.w >> 25 & 15; {
	case x.w>>27 == 0x1e: // 11110
		if x.w>>15&1 != 0 {
			x.longBranch()
		} else {
			x.longImmediate()
		}
	case x.w>>26&1 != 0 && x.w>>27 == 0x1d, x.w>>26&1 != 0 && x.w>>27 == 0x1f: // coprocessors
		if x.w>>24&15 == 15 || x.w>>28 == 15 && x.w>>24&15 == 14 { // Advanced SIMD, and instructions without conditions
			x.vector()
			return
		}
		x.coprocessor()
	case op == 4:
		if x.w>>22&1 == 0 {
			x.longMultiple()
		} else {
			x.longPair()
		}
	case op == 5:
		x.longShifted()
	case op == 12:
		if x.w>>24&1 != 0 && x.w>>20&1 == 0 { // of elements of vectors
			x.vectorMemory()
			return
		}
		x.longSingle()
	case op == 13:
		x.longRegister()
	default:
		x.flow = bad
	}
}

// longMultiple handles loads and stores of several registers.
func (x *arm) longMultiple() {
	switch mode := x.w >> 23 & 3; mode {
	case 1, 2:
		if x.w>>13&1 != 0 {
			x.flow = bad
			return
		}
		x.multiple(x.reg(16), uint16(x.w), x.w>>20&1 != 0, mode == 1, mode == 2, x.w>>21&1 != 0)
	default:
		x.flow = bad
	}
}

// longPair handles ldrd, strd, exclusive loads and stores, and jumps through tables.
func (x *arm) longPair() {
	pre, up, write, load := x.w>>24&1 != 0, x.w>>23&1 != 0, x.w>>21&1 != 0, x.w>>20&1 != 0
	rn, rt, rt2 := x.reg(16), x.reg(12), x.reg(8)
	if pre || write { // ldrd, strd
		n := int64(x.w&0xff) * 4
		if !up {
			n = -n
		}
		base := x.get(rn)
		if rn == arm32PC {
			base = number(uint32(x.pc() &^ 3))
		}
		if rt == arm32PC || rt2 == arm32PC {
			x.flow = bad
			return
		}
		at, after := base, plusARM(base, n)
		if pre {
			at = after
		}
		x.pair(at, rt, rt2, load, write, rn, after)
		return
	}
	switch op := x.w >> 4 & 15; {
	case !up: // strex, ldrex
		if load {
			x.set(rt, value{})
		} else {
			x.put(plusARM(x.get(rn), int64(x.w&0xff)*4), value{}, 4)
			x.set(rt2, value{})
		}
	case load && op < 2: // tbb, tbh
		size := uint8(1 + op)
		base := x.get(rn)
		index := x.get(x.reg(0))
		x.flow = indirect
		if base.base != constant {
			return
		}
		n := uint32(openEnd)
		if index.base == below {
			n = index.n
		}
		x.table = table{at: uint64(base.off), n: n, size: size, shift: 1, from: x.pc() | 1}
	case load: // ldrexb and others, lda
		x.set(rt, value{})
		if rt2 != arm32PC {
			x.set(rt2, value{})
		}
	default: // strexb and others, stl
		x.put(x.get(rn), value{}, 8)
		if op < 8 || op >= 12 {
			x.set(x.reg(0), value{})
		}
	}
}

// longShifted handles instructions that process registers, the second of which may be shifted.
func (x *arm) longShifted() {
	v := shiftARM(x.get(x.reg(0)), x.w>>4&3, x.w>>10&0x1c|x.w>>6&3)
	x.longData(v)
}

// longData handles instructions that process a register and a value.
func (x *arm) longData(b value) {
	op, sets, rn, rd := x.w>>21&15, x.w>>20&1 != 0, x.reg(16), x.reg(8)
	a, v := x.get(rn), value{}
	if rd == arm32PC {
		if !sets {
			x.flow = bad
			return
		}
		x.compare(op == 13, rn, b) // or tst, teq, cmn
		return
	}
	switch {
	case op == 0:
		v = x.mask(rd, a, b, false)
	case op == 1:
		v = x.mask(rd, a, b, true)
	case op == 2 && rn == arm32PC: // mov
		v = b
	case op == 3 && rn == arm32PC: // mvn
		if b.base == constant {
			v = number(^uint32(b.off))
		}
	case op == 8:
		v = sumARM(a, b)
	case op == 13:
		if b.base == constant {
			v = plusARM(a, -int64(int32(b.off)))
		}
	}
	if sets {
		x.s.flags = compare{}
	}
	x.set(rd, v)
}

// longImmediate handles instructions that process a register and a constant.
func (x *arm) longImmediate() {
	n := x.w>>15&0x800 | x.w>>4&0x700 | x.w&0xff
	if x.w>>25&1 == 0 {
		x.longData(number(expandThumb(n)))
		return
	}
	rd, rn := x.reg(8), x.reg(16)
	a := x.get(rn)
	if rn == arm32PC {
		a = number(uint32(x.pc() &^ 3))
	}
	switch x.w >> 20 & 31 {
	case 0: // addw
		x.set(rd, plusARM(a, int64(n)))
	case 10: // subw
		x.set(rd, plusARM(a, -int64(n)))
	case 4: // movw
		x.set(rd, number(n|x.w>>4&0xf000))
	case 12: // movt
		x.movt(rd, n|x.w>>4&0xf000)
	case 28: // ubfx
		v := value{}
		if width := x.w&31 + 1; width < 32 {
			v = value{base: below, n: 1<<width - 1}
		}
		x.set(rd, v)
	default: // saturations, bit fields
		x.set(rd, value{})
	}
}

// expandThumb returns a constant of Thumb (ThumbExpandImm).
func expandThumb(n uint32) uint32 {
	b := n & 0xff
	if n>>10 != 0 {
		return bits.RotateLeft32(b&0x7f|0x80, -int(n>>7))
	}
	return b * [4]uint32{1, 0x00010001, 0x01000100, 0x01010101}[n>>8]
}

// longBranch handles branches, calls, barriers and status registers.
func (x *arm) longBranch() {
	sign := x.w >> 26 & 1
	j1, j2 := x.w>>13&1, x.w>>11&1
	i1, i2 := ^(j1^sign)&1, ^(j2^sign)&1
	far := int64(int32(sign<<31|i1<<30|i2<<29|x.w>>16&0x3ff<<19|x.w&0x7ff<<8) >> 7)
	switch x.w >> 12 & 7 {
	case 5, 7: // bl
		x.flow, x.to = call, x.target(far)
	case 4, 6: // blx
		x.flow, x.to = call, uint64(uint32(int64(x.pc()&^3)+far))
	case 1, 3:
		x.flow, x.to = jump, x.target(far)
	default:
		cond := uint8(x.w >> 22 & 15)
		if cond < always {
			near := int64(int32(sign<<31|j2<<30|j1<<29|x.w>>16&0x3f<<23|x.w&0x7ff<<12) >> 11)
			x.flow, x.to = branch, x.target(near)
			x.limit = x.s.condition(cond)
			return
		}
		switch k := x.w >> 20 & 0x7f; {
		case k>>1 == 0x1c: // msr
			x.s.flags = compare{}
		case k == 0x3a, k == 0x3b: // hints, barriers
		case k == 0x3e, k == 0x3f: // mrs
			x.set(x.reg(8), value{})
		case k == 0x7f, k == 0x7e: // udf, smc
			x.flow = stop
		default:
			x.flow = bad
		}
	}
}

// longSingle handles loads and stores of a word, half or byte.
func (x *arm) longSingle() {
	rn, rt := x.reg(16), x.reg(12)
	size, load := int64(1)<<(x.w>>21&3), x.w>>20&1 != 0
	if size == 8 {
		x.flow = bad
		return
	}
	if rt == arm32PC && size != 4 && load { // pld
		return
	}
	base, n := x.get(rn), int64(x.w&0xfff)
	switch {
	case rn == arm32PC && load:
		if x.w>>23&1 == 0 {
			n = -n
		}
		x.access(number(uint32(int64(x.pc()&^3)+n)), rt, size, true, false, 0, value{})
	case rn == arm32PC:
		x.flow = bad
	case x.w>>23&1 != 0:
		x.access(plusARM(base, n), rt, size, load, false, 0, value{})
	case x.w>>11&1 != 0:
		if n &= 0xff; x.w>>9&1 == 0 {
			n = -n
		}
		at, after := base, plusARM(base, n)
		if x.w>>10&1 != 0 {
			at = after
		}
		x.access(at, rt, size, load, x.w>>8&1 != 0, rn, after)
	case x.w>>6&63 == 0:
		v := value{}
		if shift := x.w >> 4 & 3; shift == 2 || shift == 0 {
			v = sumARM(base, shiftARM(x.get(x.reg(0)), 0, shift))
		}
		x.access(v, rt, size, load, false, 0, value{})
	default:
		x.flow = bad
	}
}

// longRegister handles shifts by registers, extensions, multiplications and divisions.
func (x *arm) longRegister() {
	rd := x.reg(8)
	switch {
	case x.w>>24&1 == 0:
		v := value{}
		if k := x.w >> 20 & 15; x.w>>7&1 != 0 && x.reg(16) == arm32PC && (k == 1 || k == 5) && x.w>>4&3 == 0 { // uxth, uxtb
			v = value{base: below, n: map[uint32]uint32{1: 0xffff, 5: 0xff}[k]}
		}
		if x.w>>7&1 == 0 && x.w>>20&1 != 0 {
			x.s.flags = compare{}
		}
		x.set(rd, v)
	case x.w>>23&1 == 0:
		x.set(rd, value{})
	default:
		x.set(rd, value{})
		if k := x.w >> 20 & 7; k != 1 && k != 3 {
			if rt := x.reg(12); rt != arm32PC {
				x.set(rt, value{})
			}
		}
	}
}
