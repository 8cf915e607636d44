package code

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/insn"
)

// DWARF numbers of x86-64 registers, by their numbers in instructions.
var dwarfAMD64 = [16]uint8{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

const (
	amdAX, amdDX, amdCX, amdBX, amdSI, amdDI, amdBP, amdSP = 0, 1, 2, 3, 4, 5, 6, 7
)

// Numbers of Linux's system calls.
const (
	sysSigreturn = 15
	sysClone     = 56
	sysClone3    = 435
)

// amd64 is an instruction.
type amd64 struct {
	code []byte
	addr uint64
	s    *state
	i    int // of the opcode
	rex  byte
	w16  bool // prefix 66
	a32  bool // prefix 67
	rep  byte

	mod, reg, rm byte
	base, index  int // DWARF numbers, or -1
	scale        uint
	disp         int64
	rip          bool

	flags compare // before it
	wrote regSet  // registers that it writes
	in    step
}

func (x *amd64) wide() bool { return x.rex&8 != 0 }

func (x *amd64) imm(n int) int64 {
	b := x.code[len(x.code)-n:]
	if n == 1 {
		return int64(int8(b[0]))
	}
	if n == 2 {
		return int64(int16(binary.LittleEndian.Uint16(b)))
	}
	return int64(int32(binary.LittleEndian.Uint32(b)))
}

// modrm decodes the ModRM byte at index i.
func (x *amd64) modrm(i int) {
	if i >= len(x.code) {
		return
	}
	m := x.code[i]
	x.mod, x.reg, x.rm = m>>6, m>>3&7|x.rex&4<<1, m&7|x.rex&1<<3
	x.base, x.index, x.disp, x.rip = -1, -1, 0, false
	i++
	if x.mod == 3 {
		return
	}
	low := m & 7
	if low == 4 && i < len(x.code) {
		sib := x.code[i]
		i++
		if idx := sib>>3&7 | x.rex&2<<2; idx != 4 {
			x.index, x.scale = int(dwarfAMD64[idx]), uint(sib>>6)
		}
		low = sib & 7
		if low == 5 && x.mod == 0 {
			x.disp = x.disp32(i)
			return
		}
		x.base = int(dwarfAMD64[low|x.rex&1<<3])
	} else if low == 5 && x.mod == 0 {
		x.rip = true
		x.disp = x.disp32(i)
		return
	} else {
		x.base = int(dwarfAMD64[x.rm])
	}
	switch x.mod {
	case 1:
		if i < len(x.code) {
			x.disp = int64(int8(x.code[i]))
		}
	case 2:
		x.disp = x.disp32(i)
	}
}

func (x *amd64) disp32(i int) int64 {
	if i+4 > len(x.code) {
		return 0
	}
	return int64(int32(binary.LittleEndian.Uint32(x.code[i:])))
}

// address returns the value of the memory operand's address, without an index.
func (x *amd64) address() value {
	switch {
	case x.a32:
		return value{}
	case x.rip:
		return value{base: constant, off: int64(x.addr) + int64(len(x.code)) + x.disp}
	case x.base < 0:
		return value{base: constant, off: x.disp}
	}
	return x.s.regs[x.base].plus(x.disp)
}

func (x *amd64) regDW() uint8 { return dwarfAMD64[x.reg&15] }
func (x *amd64) rmDW() uint8  { return dwarfAMD64[x.rm&15] }

// set sets a register.
func (x *amd64) set(reg uint8, v value) {
	x.s.regs[reg] = v
	x.wrote |= 1 << reg
}

func (x *amd64) kill(regs ...uint8) {
	for _, r := range regs {
		x.set(r, value{})
	}
}

// writeRM makes the operand unknown; memory of at most size bytes.
func (x *amd64) writeRM(v value, size int64) {
	if x.mod == 3 {
		x.set(x.rmDW(), v)
		return
	}
	if x.flags.reg < 0 {
		x.flags = compare{}
	}
	if a := x.address(); x.index < 0 && a.onStack() {
		x.s.store(place{a.base, a.off}, v, size)
	}
}

// writeByte makes an operand of one byte unknown.
func (x *amd64) writeByte() {
	if x.mod == 3 {
		x.kill(x.byteReg(x.rm))
		return
	}
	x.writeRM(value{}, 1)
}

func (x *amd64) push(v value) {
	sp := x.s.regs[amdSP].plus(-8)
	x.set(amdSP, sp)
	if x.w16 && !x.wide() { // two bytes: compilers push words
		x.kill(amdSP)
		v = value{}
	}
	if sp.onStack() {
		x.s.store(place{sp.base, sp.off}, v, 8)
	}
}

func (x *amd64) pop() (v value) {
	if x.w16 && !x.wide() {
		x.kill(amdSP)
		return v
	}
	sp := x.s.regs[amdSP]
	if sp.onStack() {
		v = x.s.load(place{sp.base, sp.off})
	}
	x.set(amdSP, sp.plus(8))
	return v
}

// stepAMD64 decodes the first instruction of code, and changes the state.
func stepAMD64(code []byte, addr uint64, s *state) (in step) {
	n, kind, called := insn.AMD64(code, addr)
	if n == 0 {
		return step{flow: bad}
	}
	in.size = n
	if kind != insn.None {
		if shortCall(code[:n]) {
			return step{size: n, flow: bad}
		}
		in.flow, in.to = call, called
		if kind == insn.Direct && called == addr+uint64(n) { // to get the address
			s.regs[amdSP] = value{}
		}
		if kind == insn.Indirect && n >= 6 && code[n-6] == 0xff && code[n-5] == 0x15 {
			in.slot = addr + uint64(n) + uint64(int64(int32(binary.LittleEndian.Uint32(code[n-4:]))))
		}
		return in
	}
	x := amd64{code: code[:n], addr: addr, s: s, flags: s.flags}
	for x.i < n-1 {
		switch c := x.code[x.i]; c {
		case 0x66:
			x.w16 = true
		case 0xf2, 0xf3:
			x.rep = c
		case 0x67:
			x.a32 = true
		case 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0:
		default:
			goto done
		}
		x.i++
	}
done:
	if x.code[x.i]>>4 == 4 && x.i < n-1 {
		x.rex = x.code[x.i]
		x.i++
	}
	x.in = in
	s.flags = compare{}
	x.in.flow, x.in.to = x.one()
	if c := x.flags; c.size != 0 && s.flags.size == 0 && x.keepsFlags() && !c.changed(x.wrote) {
		s.flags = c
	}
	return x.in
}

// shortCall reports whether a call pushes two bytes only. The calls of TLS have the same prefix, and another that undoes it.
func shortCall(code []byte) bool {
	short := false
	for _, c := range code {
		switch {
		case c == 0x66:
			short = true
		case c>>4 == 4:
			return short && c&8 == 0
		case c == 0xe8 || c == 0xff:
			return short
		}
	}
	return short
}

// keepsFlags reports whether an instruction leaves the flags as they are.
func (x *amd64) keepsFlags() bool {
	op := x.code[x.i]
	switch op >> 4 {
	case 5, 7, 0xb:
		return true
	case 0xc:
		if op == 0xc5 { // but for vcomiss and vucomiss, ktest and kortest
			op := x.code[x.i+2]
			return op>>1 != 0x2e>>1 && op>>1 != 0x98>>1
		}
	case 8:
		return op >= 0x88
	}
	if op == 0x0f {
		switch op := x.code[x.i+1]; op {
		case 0x10, 0x11, 0x1e, 0x1f, 0x28, 0x29, 0x6f, 0x7e, 0x7f, 0xb6, 0xb7, 0xbe, 0xbf, 0xd6, 0xef:
			return true
		default:
			return op>>4 == 8 || op>>4 == 9 || op>>4 == 4
		}
	}
	return op == 0x63 || op == 0x90 || op == 0x98 || op == 0xc6 || op == 0xc7
}

func (x *amd64) relative(n int) uint64 { return x.addr + uint64(len(x.code)) + uint64(x.imm(n)) }

func (x *amd64) one() (flow, uint64) {
	op := x.code[x.i]
	switch {
	case x.w16 && !x.wide() && x.jumps():
		return bad, 0 // processors differ in how many bytes of the address they keep
	case op == 0xc8:
		return x.enter(), 0
	case op == 0xc3, op == 0xc2:
		return ret, 0
	case op == 0xe9:
		return jump, x.relative(4)
	case op == 0xeb:
		return jump, x.relative(1)
	case op>>4 == 7:
		x.in.limit = limitX86(op&15, x.flags)
		return branch, x.relative(1)
	case op >= 0xe0 && op <= 0xe3:
		if op != 0xe3 {
			x.kill(amdCX)
		}
		return branch, x.relative(1)
	case op == 0x0f:
		return x.two()
	case op == 0xc4, op == 0xc5, op == 0x62:
		x.vector()
		return next, 0
	case op == 0xcc, op == 0xf4, op == 0xcf, op == 0xcd:
		return stop, 0
	case op == 0xff:
		x.modrm(x.i + 1)
		return x.ff()
	}
	if op == 0x8f && x.code[x.i+1]>>3&7 != 0 { // XOP
		x.kill(x.regDW())
		return next, 0
	}
	x.simple(op)
	return next, 0
}

// jumps reports whether an instruction jumps or returns.
func (x *amd64) jumps() bool {
	switch op := x.code[x.i]; op {
	case 0xc2, 0xc3, 0xe0, 0xe1, 0xe2, 0xe3, 0xe9, 0xeb:
		return true
	case 0x0f:
		return x.code[x.i+1]>>4 == 8
	case 0xff:
		return x.code[x.i+1]>>3&7 == 4
	default:
		return op>>4 == 7
	}
}

// enter makes a frame. Compilers do not make nested ones, which have copies of others.
func (x *amd64) enter() flow {
	c := x.code[x.i:]
	if x.w16 || c[3] != 0 {
		return bad
	}
	x.push(x.s.regs[amdBP])
	x.set(amdBP, x.s.regs[amdSP])
	x.set(amdSP, x.s.regs[amdSP].plus(-int64(binary.LittleEndian.Uint16(c[1:]))))
	return next
}

func (x *amd64) ff() (flow, uint64) {
	switch x.reg & 7 {
	case 0, 1:
		n := int64(1)
		if x.reg&7 == 1 {
			n = -1
		}
		v := value{}
		if x.mod == 3 && x.wide() {
			v = x.s.regs[x.rmDW()].plus(n)
		}
		x.writeRM(v, x.size())
	case 5: // to another segment
		return bad, 0
	case 4:
		switch {
		case x.mod == 3:
			x.in.table = x.s.regs[x.rmDW()].table()
		case x.index >= 0 && x.scale == 3:
			x.in.table = element(x.address(), x.s.regs[x.index], 8).table()
		case x.rip:
			x.in.slot = uint64(x.address().off)
		}
		return indirect, 0
	case 6:
		v := value{}
		if x.mod == 3 {
			v = x.s.regs[x.rmDW()]
		} else if a := x.address(); x.index < 0 && a.onStack() {
			v = x.s.load(place{a.base, a.off})
		}
		x.push(v)
	}
	return next, 0
}

func (x *amd64) size() int64 {
	switch {
	case x.wide():
		return 8
	case x.w16:
		return 2
	}
	return 4
}

func (x *amd64) simple(op byte) {
	s := x.s
	low := dwarfAMD64[op&7|x.rex&1<<3]
	switch {
	case op < 0x40:
		x.arithmetic(op)
		return
	case op>>3 == 0x50>>3:
		x.push(s.regs[low])
		return
	case op>>3 == 0x58>>3:
		v := x.pop()
		x.set(low, v)
		return
	case op == 0x68, op == 0x6a:
		x.push(value{})
		return
	case op == 0x9c:
		x.push(value{})
		return
	case op == 0x9d:
		x.pop()
		return
	case op>>3 == 0xb8>>3:
		v := value{}
		if !x.w16 && !x.wide() {
			v = value{base: constant, off: x.imm(4) & 0xffffffff}
		}
		x.set(low, v)
		return
	case op>>3 == 0xb0>>3:
		r := op&7 | x.rex&1<<3
		if r == 0 && s.regs[amdAX].base == constant && s.regs[amdAX].off>>8 == 0 {
			x.set(amdAX, value{base: constant, off: x.imm(1) & 0xff})
			return
		}
		x.kill(x.byteReg(r))
		return
	case op == 0xc9:
		s.regs[amdSP] = s.regs[amdBP]
		x.set(amdBP, x.pop())
		return
	case op == 0xf5, op >= 0xf8 && op <= 0xfd: // flags
		return
	case op == 0x98 && x.wide():
		x.set(amdAX, x.extended(s.regs[amdAX]))
		return
	case op == 0x98, op >= 0xe4 && op <= 0xe5, op == 0xec, op == 0xed, op >= 0xa0 && op <= 0xa1:
		x.kill(amdAX)
		return
	case op == 0x99:
		x.kill(amdDX)
		return
	case op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf, op >= 0x6c && op <= 0x6f:
		if op >= 0xac && op <= 0xad {
			x.kill(amdAX)
		}
		if to := s.regs[amdDI]; to.onStack() && (op < 0x6e || op >= 0xa4 && op <= 0xa5 || op >= 0xaa && op <= 0xab) {
			s.store(place{to.base, to.off}, value{}, 8)
		}
		x.kill(amdSI, amdDI, amdCX)
		return
	case op >= 0x91 && op <= 0x97, op == 0x90 && x.rex&1 != 0:
		a, b := s.regs[amdAX], s.regs[low]
		x.set(amdAX, b)
		x.set(low, a)
		if !x.wide() {
			x.kill(amdAX, low)
		}
		return
	case op == 0xd7:
		x.kill(amdAX)
		return
	case op == 0xdf && x.i+1 < len(x.code) && x.code[x.i+1] == 0xe0:
		x.kill(amdAX)
		return
	case op >= 0xd8 && op <= 0xdf:
		x.float(op)
		return
	case op == 0xa8, op == 0xa9, op == 0x90, op == 0x9b, op == 0x9e, op == 0x9f, op >= 0xa2 && op <= 0xa3:
		if op == 0x9f {
			x.kill(amdAX)
		}
		return
	}
	x.modrm(x.i + 1)
	x.operand(op)
}

// float handles the instructions of the x87 unit.
func (x *amd64) float(op byte) {
	x.modrm(x.i + 1)
	what := x.reg & 7
	if x.mod == 3 || op&1 == 0 && what == 0 || what == 4 || what == 5 {
		return // no store
	}
	size := int64(10)
	switch {
	case op == 0xdd && what == 6: // fnsave
		size = 108
	case op == 0xd9 && what == 6: // fnstenv
		size = 28
	case op == 0xd9 && what == 1:
		return
	}
	x.writeRM(value{}, size)
}

// operand handles the instructions of one opcode byte that have a ModRM byte.
func (x *amd64) operand(op byte) {
	s := x.s
	switch op {
	case 0x63:
		v := value{}
		if !x.w16 || x.wide() {
			v = x.extended(x.small(4))
		}
		x.set(x.regDW(), v)
	case 0x69, 0x6b:
		x.kill(x.regDW())
	case 0x80, 0x81, 0x83:
		x.immediate(op)
	case 0x84, 0x85, 0x8e:
	case 0x86:
		x.writeByte()
		x.kill(x.byteReg(x.reg))
	case 0x87:
		x.writeRM(value{}, x.size())
		x.kill(x.regDW())
	case 0x88:
		x.writeByte()
	case 0x89:
		x.writeRM(x.moved(s.regs[x.regDW()]), x.size())
	case 0x8a:
		x.kill(x.byteReg(x.reg))
	case 0x8b:
		v := value{}
		switch {
		case x.wide():
			v = x.read()
		case !x.w16:
			v = x.small(4)
		}
		x.set(x.regDW(), v)
	case 0x8c:
		x.writeRM(value{}, 2)
	case 0x8d:
		v := value{}
		if x.wide() && x.index < 0 {
			v = x.address()
		} else if x.wide() && x.scale == 0 && x.disp == 0 && x.base >= 0 {
			v = add(s.regs[x.base], s.regs[x.index])
		} else if x.index >= 0 && x.base < 0 && x.disp == 0 && s.regs[x.index].base == below {
			v = value{base: scaled, off: 1 << x.scale, n: s.regs[x.index].n}
		}
		x.set(x.regDW(), v)
	case 0x8f:
		v := x.pop()
		x.writeRM(v, 8)
	case 0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3:
		if x.mod == 3 && op&1 == 0 {
			x.kill(x.byteReg(x.rm))
			return
		}
		v := value{}
		if was := s.regs[x.rmDW()]; x.mod == 3 && op == 0xc1 && x.reg&7 == 4 && was.base == below && uint8(x.imm(1)) < 4 {
			v = value{base: scaled, off: 1 << uint8(x.imm(1)), n: was.n}
		}
		x.writeRM(v, x.size())
	case 0xc6:
		x.writeByte()
	case 0xc7:
		v := value{}
		if x.mod == 3 && x.wide() {
			v = value{base: constant, off: x.imm(4)}
		}
		x.writeRM(v, x.size())
	case 0xf6, 0xf7:
		switch x.reg & 7 {
		case 0, 1:
		case 2, 3:
			if op == 0xf6 {
				x.writeByte()
			} else {
				x.writeRM(value{}, x.size())
			}
		default:
			x.kill(amdAX, amdDX)
		}
	case 0xfe:
		x.writeByte()
	default:
		x.kill(amdSP) // unknown
	}
}

// byteReg returns the register of which a byte register is a part.
func (x *amd64) byteReg(r byte) uint8 {
	if x.rex == 0 && r >= 4 && r < 8 {
		r -= 4
	}
	return dwarfAMD64[r&15]
}
