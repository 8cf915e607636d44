package follow

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
)

// frameARM64 lists arm64's registers by their index in a frameState: the stack pointer, the frame
// pointer, and the temporary registers in which code may keep an earlier stack pointer.
var frameARM64 = &CPU{
	regs:    [frameRegs]string{"x9", "x10", "x11", "x12", "sp", "x29", "x13", "x14", "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x28"},
	step:    stepARM64,
	saves:   []string{".ra", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29"},
	link:    true,
	nop:     execcode.ARM64,
	clobber: 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10,
}

// placeARM64 maps register numbers to indices in a frameState plus 1; 31 is the
// stack pointer.
var placeARM64 = [32]int8{31: frameSP + 1, 29: frameFP + 1, 9: 1, 10: 2, 11: 3, 12: 4, 13: 7, 14: 8, 15: 9, 16: 10, 17: 11, 19: 12, 20: 13, 21: 14, 22: 15, 28: 16}

// generalARM64 returns the index of register n, where 31 means the zero register.
func generalARM64(n uint32) int {
	if n &= 31; n == 31 {
		return -1
	}
	return int(placeARM64[n]) - 1
}

// orSPARM64 is like generalARM64, but 31 means the stack pointer.
func orSPARM64(n uint32) int { return int(placeARM64[n&31]) - 1 }

// stepARM64 decodes one instruction according to the classes in the Arm
// Architecture Reference Manual, C4.1.
func stepARM64(code []byte, addr uint64, s *frameState) step {
	if len(code) < 4 {
		return step{kind: stepBad}
	}
	in := binary.LittleEndian.Uint32(code)
	savesARM64(in, s)
	st := step{size: 4}
	switch in >> 25 & 15 {
	case 0b1000, 0b1001:
		immediateARM64(in, s)
	case 0b1010, 0b1011:
		return branchARM64(in, addr)
	case 0b0100, 0b0110, 0b1100, 0b1110:
		memoryARM64(in, s)
	case 0b0101, 0b1101:
		registerARM64(in, s)
	case 0b0111, 0b1111:
		floatARM64(in, s)
	case 0b0010:
		scalableARM64(in, s)
	default:
		st.kind = stepStop // udf and reserved
		if in&0xffff0000 != 0 {
			st.kind = stepBad
		}
	}
	return st
}

// immediateARM64 handles data processing with immediates.
func immediateARM64(in uint32, s *frameState) {
	if in>>23&7 != 0b010 {
		if in>>23&7 == 0b011 { // with tags (addg, subg)
			s.forget(orSPARM64(in))
			return
		}
		if in>>23&7 == 0b100 && in>>29&3 != 3 { // and, orr, eor: the destination may be sp
			s.forget(orSPARM64(in))
			return
		}
		s.forget(generalARM64(in))
		return
	}
	by := int64(in >> 10 & 0xfff)
	if in>>22&1 != 0 {
		by <<= 12
	}
	if in>>30&1 != 0 {
		by = -by
	}
	dst := orSPARM64(in)
	if in>>29&1 != 0 {
		dst = generalARM64(in) // adds, subs
	}
	if dst < 0 {
		return
	}
	src := orSPARM64(in >> 5)
	if in>>31 == 0 || src < 0 {
		s.forget(dst)
		return
	}
	s.copy(dst, src, by)
}

// branchARM64 handles branches, exceptions and system instructions.
func branchARM64(in uint32, addr uint64) step {
	st := step{size: 4}
	switch {
	case in>>26 == 0b000101:
		st.kind, st.target = stepJump, addr+insn.OffsetARM64(in, 0, 26)
	case in>>26 == 0b100101:
		st.kind, st.target = stepCall, addr+insn.OffsetARM64(in, 0, 26)
	case in>>24 == 0x54, in>>25&0x3f == 0b011010:
		st.kind, st.target = stepBranch, addr+insn.OffsetARM64(in, 5, 19)
	case in>>25&0x3f == 0b011011:
		st.kind, st.target = stepBranch, addr+insn.OffsetARM64(in, 5, 14)
	case in>>25 == 0b1101011:
		switch in >> 21 & 7 { // the bit above selects pointer authentication
		case 0:
			st.kind = stepIndirect
		case 1:
			st.kind = stepCall
		default:
			st.kind = stepReturn
		}
	case in>>24 == 0xd4 && in&0x1f == 0 && (in>>21&7 == 1 || in>>21&7 == 2): // brk, hlt
		st.kind = stepStop
	}
	return st
}

// memoryARM64 handles loads and stores. Only writeback moves the stack pointer.
func memoryARM64(in uint32, s *frameState) {
	base := orSPARM64(in >> 5)
	vector := in>>26&1 != 0
	switch in >> 27 & 7 {
	case 0b101: // pairs
		if !vector {
			framePairARM64(in, s)
		}
		if kind := in >> 23 & 3; kind == 1 || kind == 3 {
			s.move(base, pairARM64(in, vector))
		}
	case 0b111: // single registers
		if !vector && in>>22&3 != 0 && !(in>>30 == 3 && in>>22&3 == 2) {
			s.forget(generalARM64(in))
		}
		if in>>24&1 != 0 || in>>21&1 != 0 {
			if in>>24&1 == 0 && in>>10&3 == 0 { // atomic operations
				s.forget(generalARM64(in))
			}
			if in>>24&1 == 0 && in>>10&3&1 != 0 && in>>11&1 != 0 { // ldraa with writeback
				s.forget(base)
			}
			return
		}
		if in>>10&1 != 0 {
			s.move(base, int64(int32(in<<11)>>23))
		}
	case 0b011: // literals; memory copies and tags forget everything
		if !vector && in>>24&1 == 0 {
			s.forget(generalARM64(in))
			return
		}
		if in>>24&1 != 0 {
			tagARM64(in, s)
		}
	default: // exclusive, compare and swap, vector structures
		if vector {
			if in>>23&1 != 0 {
				s.forget(base)
			}
			return
		}
		s.forget(generalARM64(in))
		s.forget(generalARM64(in >> 10))
		s.forget(generalARM64(in >> 16))
	}
}

// framePairARM64 handles a pair of general registers, one of which may be the frame pointer.
func framePairARM64(in uint32, s *frameState) {
	base, by := orSPARM64(in>>5), pairARM64(in, false)
	if in>>23&3 == 1 {
		by = 0 // post-indexed
	}
	for i, reg := range [...]int{generalARM64(in), generalARM64(in >> 10)} {
		known := s.knows(base)
		at := int32(0)
		if known {
			at = s.off[base] - int32(by) - int32(i)*8
		}
		switch {
		case in>>22&1 == 0 && reg == frameFP && known && in>>30 == 2:
			s.save(at)
		case in>>22&1 != 0 && reg == frameFP && in>>30 == 2:
			s.restore(known, at)
		case in>>22&1 != 0:
			s.forget(reg)
		}
	}
}

// tagARM64 handles stores of memory tags (stg, st2g, ldg) and memory copies.
func tagARM64(in uint32, s *frameState) {
	base := orSPARM64(in >> 5)
	if in>>24 == 0xd9 && in>>21&1 != 0 {
		switch in >> 10 & 3 {
		case 1, 3: // post- and pre-indexed
			s.move(base, int64(int32(in<<11)>>23)*16)
		case 0:
			s.forget(generalARM64(in))
		}
		return
	}
	s.forget(generalARM64(in))
	s.forget(generalARM64(in >> 5))
	s.forget(generalARM64(in >> 16))
}

// pairARM64 returns how far a pair's writeback moves its base.
func pairARM64(in uint32, vector bool) int64 {
	scale := 2 + in>>31 // 4 or 8 bytes
	if vector {
		scale = 2 + in>>30
	} else if in>>30 == 1 && in>>22&1 == 0 {
		scale = 4 // stgp
	}
	return int64(int32(in<<10)>>25) << scale
}

// registerARM64 handles data processing with registers.
func registerARM64(in uint32, s *frameState) {
	switch {
	case in>>24&0x1f == 0b01011 && in>>21&1 != 0: // add and sub with an extended register
		if in>>29&1 != 0 {
			s.forget(generalARM64(in))
		} else {
			s.forget(orSPARM64(in))
		}
	case in>>21 == 0b10101010000 && in>>10&0x3f == 0 && in>>5&31 == 31: // mov
		if dst, src := generalARM64(in), generalARM64(in>>16); dst >= 0 && src >= 0 {
			s.copy(dst, src, 0)
			return
		}
		s.forget(generalARM64(in))
	case in>>21&0xff == 0b11010010: // conditional compares
	default:
		s.forget(generalARM64(in))
	}
}

// floatARM64 handles floating point and vectors: only conversions and moves write a general
// register.
func floatARM64(in uint32, s *frameState) {
	if in&0x5f20fc00 == 0x1e200000 || in&0xbfe0fc00&^0xa000 == 0x0e001c00&^0xa000 {
		s.forget(generalARM64(in))
	}
}

// scalableARM64 handles SVE: addvl and addpl move by a length known only at run time; others write
// the registers in their lower bits.
func scalableARM64(in uint32, s *frameState) {
	if in&0xffa0f000 == 0x04205000 {
		s.forget(orSPARM64(in))
		return
	}
	s.forget(generalARM64(in))
}
