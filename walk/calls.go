package walk

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/symtool/symtool/symfmt/arch"
)

// maxCall is the length in bytes of the longest call that is recognised, with the delay slot of
// MIPS: on x86 that of an indirect call with a displacement of 4 bytes. Prefixes make it longer,
// but the bytes after them are a call, too.
const maxCall = 8

// CallAnswer says whether the instruction in front of an address is a call.
type CallAnswer uint8

const (
	CallUnknown CallAnswer = iota // the code is not there, or of a CPU or form that is not known
	CallNo
	CallYes
)

// callBefore reports whether code, whose last byte is the one in front of the address ret, ends
// with a call.
//
// It reads backwards. On CPUs whose instructions differ in length, the bytes of another instruction
// may look like a call: those of x86 about once in 1,000 instructions (TestCallsOracle). It never
// misses a call. inCode reports whether a direct call may go to an address; nil allows all.
func callBefore(a *arch.Arch, order binary.ByteOrder, code []byte, ret uint64, inCode func(uint64) bool) CallAnswer {
	form := callForms[a]
	if form == nil || len(code) < 2 {
		return CallUnknown
	}
	return form(callCode{code, order, ret, inCode})
}

// callForms recognise calls on each CPU.
var callForms = map[*arch.Arch]func(callCode) CallAnswer{
	arch.X86:     func(c callCode) CallAnswer { return c.x86(32) },
	arch.X86_64:  func(c callCode) CallAnswer { return c.x86(64) },
	arch.ARM:     callCode.arm,
	arch.ARM64:   callCode.arm64,
	arch.MIPS:    callCode.mips,
	arch.MIPS64:  callCode.mips,
	arch.PPC:     callCode.ppc,
	arch.PPC64:   callCode.ppc,
	arch.RISCV:   func(c callCode) CallAnswer { return c.riscv(true) },
	arch.RISCV64: func(c callCode) CallAnswer { return c.riscv(false) },
	arch.S390X:   callCode.s390x,
}

// callCode is the code in front of a return address.
type callCode struct {
	code   []byte
	order  binary.ByteOrder
	ret    uint64
	inCode func(uint64) bool
}

// word is the word of 4 bytes that begins n bytes in front of the address.
func (c callCode) word(order binary.ByteOrder, before int) (uint32, bool) {
	if before > len(c.code) {
		return 0, false
	}
	return order.Uint32(c.code[len(c.code)-before:]), true
}

// half is likewise the word of 2 bytes.
func (c callCode) half(order binary.ByteOrder, before int) (uint16, bool) {
	if before > len(c.code) {
		return 0, false
	}
	return order.Uint16(c.code[len(c.code)-before:]), true
}

func callIf(call bool) CallAnswer {
	if call {
		return CallYes
	}
	return CallNo
}

// x86 tries each length: Intel's manual, volume 2, CALL. Far calls are not recognised: compilers
// make none in a frame.
func (c callCode) x86(mode int) CallAnswer {
	answer := CallNo
	for n := 2; n <= min(maxCall, len(c.code)); n++ {
		code := c.code[len(c.code)-n:]
		if code[0] != 0xe8 && code[0] != 0xff && code[0] != 0x9a {
			continue
		}
		inst, err := x86asm.Decode(code, mode)
		if err != nil || inst.Len != n {
			continue
		}
		switch inst.Op {
		case x86asm.CALL:
			if rel, direct := inst.Args[0].(x86asm.Rel); !direct || c.goesToCode(c.ret+uint64(int64(rel)), mode) {
				return CallYes
			}
		case x86asm.LCALL:
			answer = CallUnknown
		}
	}
	return answer
}

func (c callCode) goesToCode(target uint64, mode int) bool {
	if mode == 32 {
		target &= 1<<32 - 1
	}
	return c.inCode == nil || c.inCode(target)
}

// arm64: BL, BLR, and BLR with authentication (Arm ARM, C4.1). Instructions are
// little-endian whatever data are.
func (c callCode) arm64() CallAnswer {
	w, ok := c.word(binary.LittleEndian, 4)
	if !ok {
		return CallUnknown
	}
	return callIf(w&0xfc00_0000 == 0x9400_0000 || // BL
		w&0xffff_fc1f == 0xd63f_0000 || // BLR
		w&0xffff_f81f == 0xd63f_081f || // BLRAAZ, BLRABZ
		w&0xffff_f800 == 0xd73f_0800) // BLRAA, BLRAB
}

// arm accepts either instruction set, since a return address does not imply one: BL, BLX, and what
// was used before BLX (Arm ARM, F5.1).
func (c callCode) arm() CallAnswer {
	if h, ok := c.half(c.order, 2); ok && h&0xff83 == 0x4780 { // BLX Rm, BLXNS
		return CallYes
	}
	if h, ok := c.half(c.order, 4); ok && h&0xf800 == 0xf000 {
		if low, _ := c.half(c.order, 2); low&0xc000 == 0xc000 { // BL, BLX
			return CallYes
		}
	}
	w, ok := c.word(c.order, 4)
	if !ok {
		return CallUnknown
	}
	if c.ret&3 != 0 {
		return CallNo // no place for instructions of 4 bytes
	}
	if w>>28 != 15 && w&0x0f00_0000 == 0x0b00_0000 || w&0xfe00_0000 == 0xfa00_0000 { // BL, BLX
		return callIf(c.goesToCode(c.ret+4+uint64(int64(int32(w<<8)>>6)), 32))
	}
	if w>>28 != 15 && w&0x0fff_fff0 == 0x012f_ff30 { // BLX Rm
		return CallYes
	}
	before, ok := c.word(c.order, 8)
	return callIf(ok && before&0x0fff_ffff == 0x01a0_e00f) // mov lr, pc; any jump
}

// riscv: JAL and JALR that link to ra or t0, and their short forms (unprivileged
// ISA, 2.5 and "C" extension); C.JAL is for 32 bits only.
func (c callCode) riscv(short bool) CallAnswer {
	if h, ok := c.half(binary.LittleEndian, 2); ok {
		if h&0xf07f == 0x9002 && h&0x0f80 != 0 || short && h&0xe003 == 0x2001 {
			return CallYes
		}
	}
	w, ok := c.word(binary.LittleEndian, 4)
	if !ok {
		return CallUnknown
	}
	link := w>>7&31 == 1 || w>>7&31 == 5
	return callIf(link && (w&0x7f == 0x6f || w&0x707f == 0x67))
}

// mips: jumps and branches that link, with their delay slot, and those of
// release 6 without one (MIPS32 and MIPS64 Architecture, volume II).
func (c callCode) mips() CallAnswer {
	if w, ok := c.word(c.order, 4); ok && (w>>26 == 0x3a || w>>26 == 0x3e && w>>21&31 == 0) { // BALC, JIALC
		return CallYes
	}
	w, ok := c.word(c.order, 8)
	if !ok {
		return CallUnknown
	}
	return callIf(w>>26 == 3 || w>>26 == 0x1d || // JAL, JALX
		w&0xfc00_003f == 9 || // JALR
		w>>26 == 1 && w>>18&7 == 4) // BLTZAL, BGEZAL, and likely
}

// ppc: what sets the link register (Power ISA, book I, 2.4).
func (c callCode) ppc() CallAnswer {
	w, ok := c.word(c.order, 4)
	if !ok {
		return CallUnknown
	}
	branch := w>>26 == 18 || w>>26 == 16 || // b, bc
		w>>26 == 19 && (w>>1&0x3ff == 16 || w>>1&0x3ff == 528 || w>>1&0x3ff == 560) // bclr, bcctr, bctar
	return callIf(branch && w&1 == 1)
}

// s390x: branch and save, and relative (z/Architecture, chapter 7).
func (c callCode) s390x() CallAnswer {
	if w, ok := c.word(c.order, 6); ok && w>>24 == 0xc0 && w>>16&15 == 5 { // brasl
		return CallYes
	}
	if w, ok := c.word(c.order, 4); ok && (w>>24 == 0xa7 && w>>16&15 == 5 || w>>24 == 0x4d) { // bras, bas
		return CallYes
	}
	h, ok := c.half(c.order, 2)
	if !ok {
		return CallUnknown
	}
	return callIf(h>>8 == 0x0d && h&15 != 0) // basr
}
