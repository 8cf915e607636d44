package insn

import "encoding/binary"

const (
	fpARM64 = 29
	spARM64 = 31 // where an instruction takes register 31 as the stack pointer
)

// FrameARM64 is the Effect of arm64. It knows the instructions that compilers use for frames; any other
// instruction that changes the stack pointer makes it unknown (Arm Architecture Reference Manual, C4.1).
func FrameARM64(code []byte, addr uint64, f *Frame) (size int, flow Flow, target uint64) {
	if len(code) < 4 {
		return 0, Bad, 0
	}
	in := binary.LittleEndian.Uint32(code)
	if flow, target = controlARM64(in, addr, f.Sums); flow != Next {
		return 4, flow, target
	}
	f.Sums &^= writtenARM64(in)
	keep := f.Size
	f.Size = 0
	switch {
	case in&0x1f800000 == 0x11000000:
		addARM64(in, f)
	case in&0x7fe00000 == 0x4b200000 || in&0x7fe00000 == 0x0b200000:
		extendedARM64(in, f, keep)
	case in&0x3a000000 == 0x28000000:
		pairARM64(in, f)
	case in&0x3b000000 == 0x38000000 && in&0x00200000 == 0:
		singleARM64(in, f)
	case in&0x3f000000 == 0x39000000:
		unsignedARM64(in, f)
	case in&0x1f800000 == 0x12000000 && in>>29&3 != 3 && in&31 == spARM64: // and, orr, eor of a mask
		f.lose()
	case in&0x7f800000 == 0x52800000, in&0x7f800000 == 0x72800000:
		constantARM64(in, f, keep)
	case in&0x7fe00000 == 0x0b000000, in&0x7fe00000 == 0x4b000000:
		f.Sums |= 1 << (in & 31)
	case in == 0xd503237f, in == 0xd503233f: // pacibsp, paciasp
		f.Signed = true
	case in == 0xd50323ff, in == 0xd50323bf: // autibsp, autiasp
		f.Signed = false
	case in&0xffffffe0 == 0xd503201f&0xffffffe0: // hints
		f.Size = keep
	}
	return 4, Next, 0
}

// writtenARM64 returns the registers that an instruction may write. It is called only for instructions that
// continue with the next.
func writtenARM64(in uint32) uint32 {
	first, base := uint32(1)<<(in&31), uint32(1)<<(in>>5&31)
	load := in>>22&3 != 0
	switch {
	case in&0x0a000000 != 0x08000000: // not a load or store
		return first
	case in>>26&1 != 0: // vector instructions
		return base
	case in&0x3f000000 == 0x08000000: // exclusive, compare and swap
		return first | base | 1<<(in>>10&31) | 1<<(in>>16&31)
	case in&0x3a000000 == 0x28000000 && in>>22&1 != 0: // ldp
		return first | base | 1<<(in>>10&31)
	case in&0x3a000000 == 0x38000000 && load, in&0x3b000000 == 0x18000000: // ldr
		return first | base
	}
	return base // a store, perhaps with writeback
}

// controlARM64 returns where control goes. sums are the registers to which earlier instructions added.
func controlARM64(in uint32, addr uint64, sums uint32) (Flow, uint64) {
	switch {
	case in>>26 == 0b000101:
		return Jump, addr + OffsetARM64(in, 0, 26)
	case in>>26 == 0b100101:
		return Call, addr + OffsetARM64(in, 0, 26)
	case in>>24 == 0x54, in>>25&0x3f == 0b011010:
		return Branch, addr + OffsetARM64(in, 5, 19)
	case in>>25&0x3f == 0b011011:
		return Branch, addr + OffsetARM64(in, 5, 14)
	case in>>25 == 0b1101011:
		switch in >> 21 & 7 { // pointer authentication is selected by a higher bit
		case 0:
			if sums>>(in>>5&31)&1 != 0 {
				return Switch, 0
			}
			return Leave, 0
		case 1:
			return Call, 0
		}
		return Return, 0
	case in&0xffe0001f == 0xd4200000, in>>16 == 0: // brk, udf
		return Stop, 0
	}
	return Next, 0
}

// addARM64 handles add and sub with an immediate.
func addARM64(in uint32, f *Frame) {
	dst, src := uint8(in&31), uint8(in>>5&31)
	if in>>29&1 != 0 { // adds, subs: register 31 is not the stack pointer
		if dst == fpARM64 {
			f.FP, f.FPKnown = 0, false
		}
		return
	}
	by := int64(in >> 10 & 0xfff)
	if in>>22&1 != 0 {
		by <<= 12
	}
	if in>>30&1 != 0 {
		by = -by
	}
	from, known := int64(0), false
	switch {
	case in>>31 == 0:
	case src == spARM64:
		from, known = f.SP, f.SPKnown
	case src == fpARM64:
		from, known = f.FP, f.FPKnown
	}
	if known {
		from -= by
	}
	switch dst {
	case spARM64:
		f.SP, f.SPKnown = from, known
	case fpARM64:
		f.FP, f.FPKnown = from, known
	default:
		f.Sums |= 1 << dst
	}
}

// extendedARM64 handles add and sub of a register, which holds the size of a large frame. size is the constant
// that earlier instructions put there.
func extendedARM64(in uint32, f *Frame, size int64) {
	dst, src, by := uint8(in&31), uint8(in>>5&31), uint8(in>>16&31)
	switch {
	case dst == spARM64 && src == spARM64 && in>>30&1 != 0 && size != 0 && by == f.Sizer && in>>10&7 == 0:
		f.grow(size)
	case dst == spARM64:
		f.lose()
	default:
		f.Sums |= 1 << dst
	}
}

// constantARM64 handles movz and movk.
func constantARM64(in uint32, f *Frame, size int64) {
	shift := in >> 21 & 3 * 16
	value := int64(in>>5&0xffff) << shift
	reg := uint8(in & 31)
	switch {
	case shift > 16:
	case in>>29&3 == 2:
		f.Size, f.Sizer = value, reg
	case reg == f.Sizer && size != 0:
		f.Size = size&^(0xffff<<shift) | value
	}
}

// accessARM64 is a load or store of a register.
type accessARM64 struct {
	load bool
	reg  uint8
	off  int64 // offset from the base
}

// pairARM64 handles stp and ldp.
func pairARM64(in uint32, f *Frame) {
	mode := in >> 23 & 3 // 0 no-allocate (stnp, ldnp), 1 post-indexed, 2 offset, 3 pre-indexed
	vector := in>>26&1 != 0
	size := int64(8)
	if vector {
		size = 4 << (in >> 30)
	} else if in>>30 == 0 {
		size = 4
	}
	by := int64(int32(in<<10)>>25) * size
	off := by
	if mode == 1 {
		off = 0
	}
	var regs []accessARM64
	if !vector && in>>30 == 2 {
		load := in>>22&1 != 0
		regs = []accessARM64{{load, uint8(in & 31), off}, {load, uint8(in >> 10 & 31), off + 8}}
	}
	touchARM64(f, uint8(in>>5&31), regs, mode == 1 || mode == 3, by)
}

// singleARM64 handles str and ldr with an unscaled offset, or with writeback.
func singleARM64(in uint32, f *Frame) {
	by := int64(int32(in<<11) >> 23)
	mode := in >> 10 & 3 // 0 and 2 offset, 1 post-indexed, 3 pre-indexed
	off := by
	if mode == 1 {
		off = 0
	}
	touchARM64(f, uint8(in>>5&31), wholeARM64(in, off), mode&1 != 0, by)
}

// unsignedARM64 handles str and ldr with a scaled offset.
func unsignedARM64(in uint32, f *Frame) {
	touchARM64(f, uint8(in>>5&31), wholeARM64(in, int64(in>>10&0xfff)*8), false, 0)
}

// wholeARM64 returns the access of a 64-bit load or store of a general register.
func wholeARM64(in uint32, off int64) []accessARM64 {
	if in>>30 != 3 || in>>26&1 != 0 || in>>22&3 > 1 {
		return nil
	}
	return []accessARM64{{in>>22&3 == 1, uint8(in & 31), off}}
}

// touchARM64 handles loads and stores relative to a base. With writeback, the base moves by by.
func touchARM64(f *Frame, base uint8, regs []accessARM64, writeback bool, by int64) {
	from, known := int64(0), false
	switch base {
	case spARM64:
		from, known = f.SP, f.SPKnown
	case fpARM64:
		from, known = f.FP, f.FPKnown
		f.at(fpARM64)
	}
	for _, r := range regs {
		if r.load && r.reg == fpARM64 && base == spARM64 && !known {
			f.found(fpARM64, r.off)
			from, known = f.SP, f.SPKnown
		}
	}
	for _, r := range regs {
		switch at := r.off - from; {
		case r.load:
			f.restore(r.reg, at, known)
			if r.reg == fpARM64 {
				f.FP, f.FPKnown = 0, false
			}
		case known && r.reg != spARM64:
			f.save(r.reg, at)
		}
	}
	if !writeback {
		return
	}
	switch base {
	case spARM64:
		f.SP -= by
	case fpARM64:
		f.FP -= by
	}
}
