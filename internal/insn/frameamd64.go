package insn

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// DWARF numbers of x86-64 registers, by their numbers in instructions.
var dwarfAMD64 = [16]uint8{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

const (
	fpAMD64    = 6
	wordAMD64  = 8
	axAMD64    = 0
	numberSP   = 4
	numberFP   = 5
	maskPrefix = 0xf0
)

// FrameAMD64 is the Effect of x86-64. It knows the instructions that compilers use for frames; any other
// instruction that changes the stack pointer makes it unknown (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2).
func FrameAMD64(code []byte, addr uint64, f *Frame) (size int, flow Flow, target uint64) {
	size, kind, called := AMD64(code, addr)
	if size == 0 {
		return 0, Bad, 0
	}
	if kind != None {
		f.push(0)
		return size, Call, called
	}
	x := frameAMD64{code: code[:size], addr: addr, f: f}
	x.prefixes()
	sums, constant := f.Sums, f.Size
	f.Sums, f.Size = 0, 0
	flow, target = x.control(sums)
	if flow == Next {
		x.effect(constant)
		for ; sums != 0; sums &= sums - 1 {
			if reg := byte(bits.TrailingZeros32(sums)); x.keeps(reg) {
				f.Sums |= 1 << reg
			}
		}
	}
	return size, flow, target
}

// frameAMD64 is an instruction being decoded.
type frameAMD64 struct {
	code []byte
	addr uint64
	f    *Frame
	i    int // index of the opcode
	rex  byte
	wide bool // 64-bit operands
	word bool // 16-bit operands
}

var prefixAMD64 = [256]bool{0x66: true, 0x67: true, 0xf2: true, 0xf3: true, 0x2e: true, 0x36: true, 0x3e: true, 0x26: true, 0x64: true, 0x65: true, 0xf0: true}

func (x *frameAMD64) prefixes() {
	last := len(x.code) - 1
	for x.i < last && prefixAMD64[x.code[x.i]] {
		x.word = x.word || x.code[x.i] == 0x66
		x.i++
	}
	if x.i < last && x.code[x.i]&maskPrefix == 0x40 {
		x.rex = x.code[x.i]
		x.wide = x.rex&8 != 0
		x.i++
	}
}

// at returns the byte at offset n from the opcode, or 0.
func (x *frameAMD64) at(n int) byte {
	if x.i+n >= len(x.code) {
		return 0
	}
	return x.code[x.i+n]
}

// number returns the signed immediate or displacement in the last n bytes of the instruction.
func (x *frameAMD64) number(n int) int64 {
	b := x.code[len(x.code)-n:]
	if n == 1 {
		return int64(int8(b[0]))
	}
	return int64(int32(binary.LittleEndian.Uint32(b)))
}

func (x *frameAMD64) relative(n int) uint64 {
	return x.addr + uint64(len(x.code)) + uint64(x.number(n))
}

// control returns where control goes. sums are the registers to which earlier instructions added.
func (x *frameAMD64) control(sums uint32) (Flow, uint64) {
	op, next := x.code[x.i], x.at(1)
	switch {
	case op == 0xc3, op == 0xc2:
		return Return, 0
	case op == 0xe9:
		return Jump, x.relative(4)
	case op == 0xeb:
		return Jump, x.relative(1)
	case op>>4 == 7, op >= 0xe0 && op <= 0xe3:
		return Branch, x.relative(1)
	case op == 0x0f && next>>4 == 8:
		return Branch, x.relative(4)
	case op == 0xff && next>>3&7 == 4:
		reg := next&7 | x.rex&1<<3
		if next>>6 == 3 && sums>>reg&1 != 0 || next>>6 == 0 && next&7 == 4 && x.at(2)>>6 == 3 {
			return Switch, 0
		}
		return Leave, 0
	case op == 0x0f && (next == 0x0b || next == 0xb9), op == 0xcc, op == 0xf4, op == 0xcd, op == 0xcf:
		return Stop, 0
	}
	return Next, 0
}

// effect updates the frame. constant is the size that the previous instructions put into rax.
func (x *frameAMD64) effect(constant int64) {
	op, f := x.code[x.i], x.f
	reg := op&7 | x.rex&1<<3
	switch {
	case op>>3 == 0x50>>3 && !x.word:
		f.push(wordAMD64)
		if f.SPKnown {
			f.save(dwarfAMD64[reg], -f.SP)
		}
	case op>>3 == 0x58>>3 && !x.word:
		x.pop(reg)
	case op == 0x68 || op == 0x6a, op == 0x9c:
		f.push(wordAMD64)
	case op == 0x9d:
		f.grow(-wordAMD64)
	case op == 0xc9:
		f.SP, f.SPKnown = f.FP, f.FPKnown
		x.pop(numberFP)
	case op == 0xb8 && x.rex&1 == 0:
		f.Size, f.Sizer = int64(binary.LittleEndian.Uint32(x.code[len(x.code)-4:])), axAMD64
	default:
		x.operands(constant)
	}
}

// keeps reports whether the instruction is one that compilers put between the addition for a switch and its jump,
// and does not write register number: a move, a comparison or a vector instruction.
func (x *frameAMD64) keeps(number uint8) bool {
	op, m := x.code[x.i], x.at(1)
	reg, rm := m>>3&7|x.rex&4<<1, m&7|x.rex&1<<3
	toMemory := m>>6 != 3
	switch op {
	case 0x38, 0x39, 0x3a, 0x3b, 0x84, 0x85: // cmp, test
		return true
	case 0x01, 0x31, 0x88, 0x89, 0xc6, 0xc7: // add, xor, mov
		return toMemory || rm != number
	case 0x03, 0x33, 0x63, 0x8a, 0x8b, 0x8d: // add, xor, movsxd, mov, lea
		return reg != number
	case 0x0f:
		switch m { // the opcode
		case 0x10, 0x11, 0x28, 0x29, 0x57, 0x6f, 0x7f, 0xd6, 0xef:
			return true
		case 0xb6, 0xb7, 0xbe, 0xbf: // movzx, movsx
			return x.at(2)>>3&7|x.rex&4<<1 != number
		}
	}
	return op>>3 == 0xb8>>3 && op&7|x.rex&1<<3 != number // mov
}

func (x *frameAMD64) pop(reg byte) {
	f := x.f
	if reg == numberFP {
		f.found(fpAMD64, 0)
	}
	f.restore(dwarfAMD64[reg], -f.SP, f.SPKnown)
	f.grow(-wordAMD64)
	switch reg {
	case numberFP:
		f.FP, f.FPKnown = 0, false
	case numberSP:
		f.lose()
	}
}

// operands handles instructions with a ModRM byte.
func (x *frameAMD64) operands(constant int64) {
	op, m, f := x.code[x.i], x.at(1), x.f
	isReg := m>>6 == 3
	reg, rm := m>>3&7|x.rex&4<<1, m&7|x.rex&1<<3
	switch {
	case (op == 0x89 || op == 0x8b) && !isReg && reg != numberSP:
		x.memory(op == 0x8b, reg, m)
	case (op == 0x01 || op == 0x03) && isReg && x.wide:
		to := rm
		if op == 0x03 {
			to = reg
		}
		if f.Sums |= 1 << to; to == numberSP {
			f.lose()
		}
	case (op == 0x81 || op == 0x83) && isReg && x.wide && rm == numberSP:
		x.immediate(reg & 7)
	case op == 0x29 && isReg && x.wide && rm == numberSP, op == 0x2b && isReg && x.wide && reg == numberSP:
		if from := reg + rm - numberSP; from == axAMD64 && constant != 0 && f.Sizer == axAMD64 {
			f.grow(constant)
		} else {
			f.lose()
		}
	case (op == 0x89 || op == 0x8b) && isReg && x.wide:
		from, to := reg, rm
		if op == 0x8b {
			from, to = rm, reg
		}
		x.move(to, from)
	case op == 0x8d && x.wide && !isReg && (reg == numberSP || reg == numberFP):
		x.lea(reg, m)
	default:
		x.other(op, reg, rm, isReg)
	}
}

// immediate handles arithmetic on the stack pointer with an immediate.
func (x *frameAMD64) immediate(what byte) {
	n := 4
	if x.code[x.i] == 0x83 {
		n = 1
	}
	switch what {
	case 0:
		x.f.grow(-x.number(n))
	case 5:
		x.f.grow(x.number(n))
	case 7: // cmp
	default:
		x.f.lose()
	}
}

func (x *frameAMD64) move(to, from byte) {
	f := x.f
	switch {
	case to == numberFP && from == numberSP:
		f.FP, f.FPKnown = f.SP, f.SPKnown
	case to == numberSP && from == numberFP:
		f.SP, f.SPKnown = f.FP, f.FPKnown
	case to == numberSP:
		f.lose()
	case to == numberFP:
		f.FP, f.FPKnown = 0, false
	}
}

// memory handles "mov reg, disp(base)" and its inverse. Old compilers use it to save registers below the stack
// pointer, before they move it, and to read them back. A load of the frame pointer makes it unknown.
func (x *frameAMD64) memory(load bool, reg, m byte) {
	f := x.f
	if m>>6 != 0 && m&7 == 5 && x.rex&1 == 0 {
		f.at(fpAMD64)
	}
	base, known := x.address(m)
	if x.wide && !x.word {
		if load {
			f.restore(dwarfAMD64[reg], -base, known)
		} else if known && f.Listed {
			f.save(dwarfAMD64[reg], -base)
		}
	}
	if load && reg == numberFP {
		f.FP, f.FPKnown = 0, false
	}
}

// address returns how far below the CFA the address of a memory operand is. known is false unless its base is the
// stack or frame pointer, and that is known.
func (x *frameAMD64) address(m byte) (base int64, known bool) {
	f := x.f
	switch {
	case m&7 == 4 && x.at(2) == 0x24 && x.rex&3 == 0:
		base, known = f.SP, f.SPKnown
	case m&7 == 5 && m>>6 != 0 && x.rex&1 == 0:
		base, known = f.FP, f.FPKnown
	}
	if !known {
		return 0, false
	}
	switch m >> 6 {
	case 1:
		base -= x.number(1)
	case 2:
		base -= x.number(4)
	}
	return base, true
}

// lea handles "lea disp(%rsp or %rbp), reg".
func (x *frameAMD64) lea(reg, m byte) {
	f := x.f
	base, known := x.address(m)
	if reg == numberSP {
		f.SP, f.SPKnown = base, known
	} else {
		f.FP, f.FPKnown = base, known
	}
}

// other marks the stack pointer as unknown if another kind of instruction may change it.
func (x *frameAMD64) other(op, reg, rm byte, isReg bool) {
	if op == 0x8f && reg&7 != 0 {
		return // the prefix of AMD's XOP instructions
	}
	toReg := reg == numberSP && x.wide && bytes.IndexByte([]byte{0x0b, 0x13, 0x1b, 0x23, 0x33}, op) >= 0
	toRM := rm == numberSP && isReg && x.wide && bytes.IndexByte([]byte{0x09, 0x11, 0x19, 0x21, 0x31, 0x87}, op) >= 0
	switch {
	case op == 0x8b && reg == numberSP && x.wide, op == 0x8f && rm == numberSP, op == 0xc8, toReg, toRM:
		x.f.lose()
	case op == 0x8f:
		x.f.grow(-wordAMD64)
	case op == 0xff && reg&7 == 6:
		x.f.push(wordAMD64)
	}
}
