package unwind

import (
	"math/bits"

	"github.com/symtool/symtool/internal/insn"
)

// The fields of an encoding.
const (
	encodingNotStart = 0x80000000
	encodingMode     = 0x0f000000
)

// Modes of x86-64 and of arm64.
const (
	amd64Frame     = 1
	amd64Immediate = 2
	amd64Indirect  = 3
	amd64DWARF     = 4

	amd64FrameUnused = 0x8000

	arm64Frameless = 2
	arm64DWARF     = 3
	arm64Frame     = 4
)

// Registers by their DWARF numbers.
const (
	amd64RBP = 6
	arm64X29 = 29
	arm64X30 = 30
)

// compactBody is the frame in the body of a function.
type compactBody struct {
	pdataFrame
	none  bool   // the encoding has no information
	saves uint32 // registers whose saves count
}

// decode returns the frame of an encoding. It reports false if call frame information describes it instead.
func (c *compactReader) decode(e *pdataEntry) (b compactBody, ok bool, err error) {
	entry := c.leafFrame()
	b.pdataFrame = entry
	if entry.base == arm64SP {
		return c.bodyARM64(e, b)
	}
	return c.bodyAMD64(e, b)
}

// amd64Saved maps the register numbers of encodings to DWARF numbers.
var amd64Saved = [7]uint8{0, 3, 12, 13, 14, 15, amd64RBP}

const amd64CalleeSaved = 1<<3 | 1<<6 | 1<<12 | 1<<13 | 1<<14 | 1<<15

func (c *compactReader) bodyAMD64(e *pdataEntry, b compactBody) (compactBody, bool, error) {
	n := int64(e.info >> 16 & 0xff)
	switch e.info & encodingMode >> 24 {
	case 0:
		b.none, b.saves = true, amd64CalleeSaved
	case amd64Frame:
		if e.info&amd64FrameUnused != 0 {
			return b, true, c.problemOf(e, "encoding %#x: want no bits of %#x", e.info, amd64FrameUnused)
		}
		b.base, b.off, b.sp = amd64RBP, 16, 0
		b.save(amd64RBP, -16)
		for i := range int64(5) {
			if reg := e.info >> (3 * i) & 7; reg == 7 {
				return b, true, c.problemOf(e, "encoding %#x: register 7, want 0 to 6", e.info)
			} else if reg != 0 {
				b.save(amd64Saved[reg], -16-8*n+8*i)
			}
		}
		b.saves = b.saved
	case amd64Immediate:
		return c.frameless(e, b, n*8)
	case amd64Indirect:
		if int(n)+4 > len(c.code) {
			return b, true, c.problemOf(e, "encoding %#x: the size of the frame is %d bytes into the code, which has %d", e.info, n, len(c.code))
		}
		if !subtracts(c.code, int(n)) {
			b.none, b.saves = true, amd64CalleeSaved
			return b, true, nil
		}
		code := c.code[n:]
		size := int64(uint32(code[0]) | uint32(code[1])<<8 | uint32(code[2])<<16 | uint32(code[3])<<24)
		return c.frameless(e, b, size+8*int64(e.info>>13&7))
	case amd64DWARF:
		return b, false, nil
	default:
		return b, true, c.problemOf(e, "encoding %#x: unknown mode", e.info)
	}
	return b, true, nil
}

// isIndirect reports whether the size of the frame is found in the function's code.
func (c *compactReader) isIndirect(e *pdataEntry) bool {
	return c.leafFrame().base != arm64SP && e.info&encodingMode>>24 == amd64Indirect
}

// bodyOfNext returns the frame for a function that is not the first of its entry. Older linkers join adjacent functions
// with one encoding even if it says where in the code the size is: then each has its own size.
func (c *compactReader) bodyOfNext(e *pdataEntry) compactBody {
	body, _, err := c.decode(e)
	if err != nil { // the function is too short for a frame
		body = compactBody{pdataFrame: c.leafFrame(), none: true, saves: amd64CalleeSaved}
	}
	return body
}

// subtracts reports whether the number at an offset of code is a frame size: the operand of sub $N, %rsp. Old compilers
// counted each push as one byte, but pushes of r12 to r15 have two.
func subtracts(code []byte, at int) bool {
	return at >= 3 && string(code[at-3:at]) == "\x48\x81\xec"
}

// frameless adds the registers that lie below the return address of a frame of size bytes.
func (c *compactReader) frameless(e *pdataEntry, b compactBody, size int64) (compactBody, bool, error) {
	b.off, b.sp = size, size
	count := int(e.info >> 10 & 7)
	regs, ok := permuted(e.info&0x3ff, count)
	if !ok {
		return b, true, c.problemOf(e, "encoding %#x: no permutation of %d of 6 registers", e.info, count)
	}
	for i, reg := range regs {
		b.save(amd64Saved[reg], -16-8*int64(count-1-i))
	}
	b.saves = b.saved
	return b, true, nil
}

// permuted decodes a permutation of count of six registers: a mixed-radix number, most significant digit first, whose
// digits select among the registers not yet used.
func permuted(code uint32, count int) (regs []uint8, ok bool) {
	if count > 6 {
		return nil, false
	}
	left := []uint8{1, 2, 3, 4, 5, 6}
	weight := uint32(1) // of the current digit
	digits := min(count, 5)
	for i := 1; i < digits; i++ {
		weight *= uint32(6 - i)
	}
	for i := range count {
		digit := uint32(0)
		if i < 5 {
			digit = code / weight
			code %= weight
			if next := uint32(6 - i - 1); i+1 < digits && next > 0 {
				weight /= next
			}
		}
		if int(digit) >= len(left) {
			return nil, false
		}
		regs = append(regs, left[digit])
		left = append(left[:digit:digit], left[digit+1:]...)
	}
	return regs, true
}

// arm64Pairs are the first registers of the pairs in an encoding, by its bits; vector registers only take up space.
var arm64Pairs = []struct {
	bit uint32
	reg uint8
}{{1, 19}, {2, 21}, {4, 23}, {8, 25}, {0x10, 27}, {0x100, 0}, {0x200, 0}, {0x400, 0}, {0x800, 0}}

const arm64CalleeSaved = 1<<30 | 1<<29 | 0x3ff<<19

func (c *compactReader) bodyARM64(e *pdataEntry, b compactBody) (compactBody, bool, error) {
	at, unused := int64(-8), uint32(0xe0)
	switch e.info & encodingMode >> 24 {
	case 0:
		b.none, b.saves = true, arm64CalleeSaved
		return b, true, nil
	case arm64Frameless:
		b.off = int64(e.info>>12&0xfff) * 16
		b.sp = b.off
	case arm64DWARF:
		return b, false, nil
	case arm64Frame:
		b.base, b.off, b.ra = arm64X29, 16, -8
		b.save(arm64X29, -16)
		at, unused = -24, 0xfff0e0
	default:
		return b, true, c.problemOf(e, "encoding %#x: unknown mode", e.info)
	}
	if e.info&unused != 0 {
		return b, true, c.problemOf(e, "encoding %#x: want no bits of %#x", e.info, unused)
	}
	for _, p := range arm64Pairs {
		if e.info&p.bit == 0 {
			continue
		}
		if p.reg != 0 {
			b.save(p.reg, at)
			b.save(p.reg+1, at-8)
		}
		at -= 16
	}
	b.saves = b.saved | 1<<arm64X30
	return b, true, nil
}

// keepsFP reports whether the frame pointer points to where the caller's is saved, or the stack pointer is unknown. In
// prologue pieces that LLVM's outliner turned into functions, the caller's may not be saved; in functions without a
// frame pointer, the register may hold the address of a variable.
func (c *compactReader) keepsFP(f *insn.Stack) bool {
	fp := c.framePointer()
	return f.FPKnown && !f.Popped && f.Saved>>fp&1 != 0 && (!f.SPKnown || f.FP == -int64(f.At[fp]))
}

// calleeSaved returns the mask of callee-saved registers.
func (c *compactReader) calleeSaved() uint32 {
	if c.leafFrame().base == arm64SP {
		return arm64CalleeSaved
	}
	return amd64CalleeSaved
}

// framePointer returns the DWARF number of the frame pointer.
func (c *compactReader) framePointer() uint8 {
	if c.leafFrame().base == arm64SP {
		return arm64X29
	}
	return amd64RBP
}

// frameOf returns the row for what the instructions have done. It reports false if the CFA or the place of the return
// address is unknown. byFP prefers the frame pointer.
func (c *compactReader) frameOf(f *insn.Stack, byFP bool) (p pdataFrame, ok bool) {
	p = c.leafFrame()
	isARM := p.base == arm64SP
	switch {
	case f.Popped:
		return p, false
	case byFP && f.FPKnown:
		p.base, p.off = c.framePointer(), f.FP
	case f.SPKnown:
		p.off = f.SP
	default:
		return p, false
	}
	p.sp, p.signed = 0, f.Signed
	for left := f.Saved; left != 0; left &= left - 1 {
		reg := uint8(bits.TrailingZeros32(left))
		if isARM && reg == arm64X30 {
			p.ra = int64(f.At[reg])
		} else {
			p.save(reg, int64(f.At[reg]))
		}
	}
	return p, true
}
