package coroutine

import "encoding/binary"

// storesARM64 implements Stores (Arm Architecture Reference Manual, C4.1).
func (w *Follower) storesARM64(start, size uint64, l *Layout, each func(addr uint64)) (all []Store) {
	const zero = 31 // register 31 is 0 where it is stored
	constants := map[uint32]uint64{zero: 0}
	for pc := start; pc-start < size; pc += 4 {
		code := w.code(pc, 4)
		if len(code) < 4 {
			break
		}
		each(pc)
		in := binary.LittleEndian.Uint32(code)
		reg := in & 31
		if at, size, ok := storeARM64(in); ok {
			if v, known := constants[reg]; known && at == l.Index.Addr && size == l.Index.Size {
				all = append(all, Store{pc, cut(v, int(size))})
			}
			continue
		}
		switch {
		case isControlARM64(in), in&0x3f000000 == 0x08000000: // another path may join; exclusive ones may write any register
			clear(constants)
			constants[zero] = 0
		case reg == zero:
		case in&0x7fe00000 == 0x52800000: // mov reg, constant
			constants[reg] = uint64(in >> 5 & 0xffff)
		default:
			delete(constants, reg)
			if in&0x3a000000 == 0x28000000 { // a pair: it may load a second register
				if second := in >> 10 & 31; second != zero {
					delete(constants, second)
				}
			}
		}
	}
	return all
}

// storeARM64 returns the offset and the size of a store of a general register, other than one that changes its base or
// is relative to the stack pointer.
func storeARM64(in uint32) (at, size uint64, ok bool) {
	const sp = 31
	size = 1 << (in >> 30)
	switch {
	case in>>5&31 == sp:
	case in&0x3fc00000 == 0x39000000: // str, scaled offset
		return uint64(in>>10&0xfff) * size, size, true
	case in&0x3fe00c00 == 0x38000000 && in>>20&1 == 0: // stur, which has an offset of its own where it is not negative
		return uint64(in >> 12 & 0x1ff), size, true
	}
	return 0, 0, false
}

// isControlARM64 reports whether an instruction is a branch, a call, a return or one for the system.
func isControlARM64(in uint32) bool { return in>>26&7 == 0b101 }
