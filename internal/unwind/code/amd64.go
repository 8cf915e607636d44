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
	w16  bool
	rep  byte

	mod, reg, rm byte
	base, index  int // DWARF numbers, or -1
	scale        uint
	disp         int64
	rip          bool
	end          int // of the operand

	flags compare // before it
	wrote uint32  // registers that it writes
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
		x.end = i
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
			x.end = i + 4
			return
		}
		x.base = int(dwarfAMD64[low|x.rex&1<<3])
	} else if low == 5 && x.mod == 0 {
		x.rip = true
		x.disp = x.disp32(i)
		x.end = i + 4
		return
	} else {
		x.base = int(dwarfAMD64[x.rm])
	}
	switch x.mod {
	case 1:
		if i < len(x.code) {
			x.disp = int64(int8(x.code[i]))
		}
		i++
	case 2:
		x.disp = x.disp32(i)
		i += 4
	}
	x.end = i
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

func (x *amd64) push(v value) {
	sp := x.s.regs[amdSP].plus(-8)
	x.s.regs[amdSP] = sp
	if sp.onStack() {
		x.s.store(place{sp.base, sp.off}, v, 8)
	}
}

func (x *amd64) pop() value {
	sp := x.s.regs[amdSP]
	v := value{}
	if sp.onStack() {
		v = x.s.load(place{sp.base, sp.off})
	}
	x.s.regs[amdSP] = sp.plus(8)
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
		in.flow, in.to = call, called
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
		case 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0:
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
	if c := x.flags; c.size != 0 && s.flags.size == 0 && x.keepsFlags() && (c.reg < 0 || x.wrote>>c.reg&1 == 0) {
		s.flags = c
	}
	return x.in
}

// keepsFlags reports whether an instruction leaves the flags as they are.
func (x *amd64) keepsFlags() bool {
	op := x.code[x.i]
	switch op >> 4 {
	case 5, 7, 0xb:
		return true
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
	return op == 0x63 || op == 0x90 || op == 0x98 || op == 0xc6 || op == 0xc7 || op == 0xc5
}

// labelAMD64 returns the address that the first instruction of code has as an operand, or 0.
func labelAMD64(code []byte, addr uint64) (size int, label uint64) {
	n, kind, _ := insn.AMD64(code, addr)
	if n < 5 || kind != insn.None {
		return n, 0
	}
	i := 0
	for i < n-4 && (code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3) {
		i++
	}
	rex := code[i]>>4 == 4
	if rex {
		i++
	}
	switch op := code[i]; {
	case op>>3 == 0xb8>>3 && n == i+5: // mov
		return n, uint64(binary.LittleEndian.Uint32(code[i+1:]))
	case op>>4 == 7, op>>4 == 0xe, op == 0x68, op>>4 == 0xb:
		return n, 0
	case op == 0x0f:
		i++
	}
	if i+6 > n {
		return n, 0
	}
	switch m := code[i+1]; {
	case code[i] == 0xc7 && m >= 0xc0:
		return n, uint64(binary.LittleEndian.Uint32(code[n-4:]))
	case m&0xc7 == 5:
		return n, addr + uint64(n) + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+2:]))))
	case m&0xc7 == 4 && code[i+2]&7 == 5 && i+7 <= n:
		return n, uint64(binary.LittleEndian.Uint32(code[i+3:]))
	}
	return n, 0
}

func (x *amd64) relative(n int) uint64 { return x.addr + uint64(len(x.code)) + uint64(x.imm(n)) }

func (x *amd64) one() (flow, uint64) {
	op := x.code[x.i]
	switch {
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
	case 4:
		switch {
		case x.mod == 3:
			x.in.table = x.s.regs[x.rmDW()]
		case x.index >= 0 && x.scale == 3:
			x.in.table = table(x.address(), x.s.regs[x.index], pointer)
		case x.rip:
			x.in.slot = x.address().uint()
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
	case op == 0xc8:
		x.kill(amdSP, amdBP)
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
		x.kill(amdSI, amdDI, amdCX)
		return
	case op >= 0x91 && op <= 0x97, op == 0x90 && x.rex&1 != 0:
		s.regs[amdAX], s.regs[low] = s.regs[low], s.regs[amdAX]
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
	case op >= 0xd8 && op <= 0xdf, op == 0xa8, op == 0xa9, op == 0x90, op == 0x9b, op == 0x9e, op == 0x9f, op >= 0xa2 && op <= 0xa3:
		if op == 0x9f {
			x.kill(amdAX)
		}
		return
	}
	x.modrm(x.i + 1)
	x.operand(op)
}

// operand handles the instructions of one opcode byte that have a ModRM byte.
func (x *amd64) operand(op byte) {
	s := x.s
	switch op {
	case 0x63:
		x.set(x.regDW(), x.extended(x.small(4)))
	case 0x69, 0x6b:
		x.kill(x.regDW())
	case 0x80, 0x81, 0x83:
		x.immediate(op)
	case 0x84, 0x85, 0x8e:
	case 0x86, 0x87:
		x.kill(x.regDW())
		x.writeRM(value{}, x.size())
	case 0x88:
		if x.mod == 3 {
			x.kill(x.byteReg(x.rm))
		} else {
			x.writeRM(value{}, 1)
		}
	case 0x89:
		x.writeRM(x.moved(s.regs[x.regDW()]), x.size())
	case 0x8a:
		x.kill(x.byteReg(x.reg))
	case 0x8b:
		v := x.small(x.size())
		if x.wide() {
			v = x.read()
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
		} else if x.base < 0 && !x.rip && x.disp == 0 && s.regs[x.index].base == below {
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
		if x.mod == 3 {
			x.kill(x.byteReg(x.rm))
			return
		}
		x.writeRM(value{}, 1)
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
			x.writeRM(value{}, x.size())
		default:
			x.kill(amdAX, amdDX)
		}
	case 0xfe:
		if x.mod == 3 {
			x.kill(x.byteReg(x.rm))
			return
		}
		x.writeRM(value{}, 1)
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

// read returns the value of the operand of 8 bytes.
func (x *amd64) read() value {
	if x.mod == 3 {
		return x.s.regs[x.rmDW()]
	}
	a := x.address()
	switch {
	case x.index < 0 && a.onStack():
		return x.s.load(place{a.base, a.off})
	case x.index >= 0 && x.scale == 3:
		return table(a, x.s.regs[x.index], pointer)
	case x.index >= 0 && x.scale == 0:
		return x.element(8, pointer)
	}
	return value{}
}

// small returns the value of an operand of 4 bytes or less, which is extended with zeros.
func (x *amd64) small(size int64) value {
	switch {
	case x.mod == 3:
		return x.cut(x.s.regs[x.rmDW()], size)
	case x.index < 0:
		if a := x.address(); a.onStack() {
			return x.cut(x.s.load(place{a.base, a.off}), size)
		}
	case x.scale == 2 && size == 4:
		return table(x.address(), x.s.regs[x.index], word)
	case x.scale == 0 && size == 4:
		return x.element(4, word)
	}
	return x.cut(value{}, size)
}

// cut returns the low bytes of v, extended with zeros.
func (x *amd64) cut(v value, size int64) value {
	if v.base == below && (size >= 4 || v.n>>(8*size) == 0) || v.base == word && size >= 4 {
		return v
	}
	return value{}
}

// moved returns the value that a move of v has.
func (x *amd64) moved(v value) value {
	if x.wide() {
		return v
	}
	if x.w16 {
		return value{}
	}
	return x.cut(v, 4)
}

// extended returns a word of 4 bytes, extended with its sign.
func (x *amd64) extended(v value) value {
	switch {
	case v.base == word && x.wide():
		v.base = entry
		return v
	case v.base == below && v.n < 1<<31:
		return v
	}
	return value{}
}

// element returns the word at the sum of two registers: a table's address, and an index that is multiplied already.
func (x *amd64) element(size int64, of base) value {
	a, b := x.s.regs[x.index], value{}
	if x.base >= 0 {
		b = x.s.regs[x.base]
	}
	if a.base != scaled {
		a, b = b, a
	}
	if a.base != scaled || a.off != size || b.base != constant {
		return value{}
	}
	return value{base: of, off: b.off + x.disp, n: a.n}
}

// table returns the word at an index in a table.
func table(at, index value, of base) value {
	if at.base != constant {
		return value{}
	}
	n := uint32(openEnd)
	if index.base == below {
		n = index.n
	}
	return value{base: of, off: at.off, n: n}
}

func (v value) uint() uint64 { return uint64(v.off) }

// add returns the sum of two values.
func add(a, b value) value {
	if a.base == constant {
		a, b = b, a
	}
	if b.base != constant {
		return value{}
	}
	if a.base == entry {
		if a.off != b.off {
			return value{}
		}
		a.base = target
		return a
	}
	return a.plus(b.off)
}

func (x *amd64) arithmetic(op byte) {
	what, form := op>>3, op&7
	if form >= 6 {
		return
	}
	if form >= 4 {
		if what == 7 {
			x.compared(amdAX, x.imm(map[bool]int{false: 1, true: x.immSize()}[form == 5]), map[bool]int64{false: 1, true: x.size()}[form == 5])
		}
		if what == 4 && form == 5 {
			x.set(amdAX, x.masked(x.imm(x.immSize())))
			return
		}
		if what != 7 {
			v := value{}
			if what == 0 && form == 5 && x.wide() {
				v = x.s.regs[amdAX].plus(x.imm(4))
			}
			x.set(amdAX, v)
		}
		return
	}
	x.modrm(x.i + 1)
	if what == 7 {
		return
	}
	if form&1 == 0 { // bytes
		switch {
		case form == 2:
			x.kill(x.byteReg(x.reg))
		case x.mod == 3:
			x.kill(x.byteReg(x.rm))
		default:
			x.writeRM(value{}, 1)
		}
		return
	}
	v := value{}
	if x.wide() && x.mod == 3 {
		a, b := x.s.regs[x.rmDW()], x.s.regs[x.regDW()] // a: destination of form 1
		if form == 3 {
			a, b = b, a
		}
		switch what {
		case 0:
			v = add(a, b)
		case 5:
			if b.base == constant {
				v = a.plus(-b.off)
			}
		}
	} else if x.mod == 3 && what == 6 && x.rmDW() == x.regDW() {
		v = value{base: constant}
	}
	if form == 3 {
		x.set(x.regDW(), v)
		return
	}
	x.writeRM(v, x.size())
}

func (x *amd64) immediate(op byte) {
	what := x.reg & 7
	n, size := 1, int64(1)
	if op == 0x81 {
		n = x.immSize()
	}
	if op != 0x80 {
		size = x.size()
	}
	if what == 7 {
		x.comparedRM(x.imm(n), size)
		return
	}
	if op == 0x80 {
		if x.mod == 3 {
			x.kill(x.byteReg(x.rm))
		} else {
			x.writeRM(value{}, 1)
		}
		return
	}
	v := value{}
	if x.mod == 3 && x.wide() {
		was := x.s.regs[x.rmDW()]
		switch what {
		case 0:
			v = was.plus(x.imm(n))
		case 5:
			v = was.plus(-x.imm(n))
		case 4:
			if k := x.imm(n); x.rmDW() == amdSP && k < 0 && k&(-k) == -k && k >= -4096 && was.base != unknown {
				x.s.realign()
				v = value{base: aligned}
			}
		case 1:
			if was.base != unknown && x.imm(n) == 0 {
				v = was
			}
		}
	}
	if what == 4 && v == (value{}) && x.mod == 3 {
		v = x.masked(x.imm(n))
	}
	x.writeRM(v, x.size())
}

// immSize returns the size of an immediate.
func (x *amd64) immSize() int {
	if x.w16 && !x.wide() {
		return 2
	}
	return 4
}

// masked returns the result of an "and" with a constant.
func (x *amd64) masked(n int64) value {
	if n < 0 || x.w16 {
		return value{}
	}
	return value{base: below, n: uint32(n)}
}

// compared notes a comparison of a register with a constant.
func (x *amd64) compared(reg uint8, n, size int64) {
	if n >= 0 {
		x.s.flags = compare{reg: int8(reg), n: uint32(n), size: uint8(size)}
	}
}

// comparedRM notes a comparison of the operand with a constant.
func (x *amd64) comparedRM(n, size int64) {
	switch {
	case x.mod == 3 && size > 1:
		x.compared(x.rmDW(), n, size)
	case x.mod == 3:
		x.compared(x.byteReg(x.rm), n, size)
	case x.index < 0 && size >= 4 && n >= 0:
		if a := x.address(); a.onStack() {
			x.s.flags = compare{at: place{a.base, a.off}, reg: -1, n: uint32(n), size: uint8(size)}
		}
	}
}

// limitX86 returns what a branch by a condition says about the operand of a comparison.
func limitX86(condition byte, c compare) limit {
	if c.size == 0 {
		return limit{}
	}
	switch condition {
	case 2: // below
		return limit{compare: c, less: 1, taken: true}
	case 3: // not below
		return limit{compare: c, less: 1}
	case 6: // below or equal
		return limit{compare: c, taken: true}
	case 7: // above
		return limit{compare: c}
	}
	return limit{}
}

func (x *amd64) two() (flow, uint64) {
	op := x.code[x.i+1]
	switch {
	case op>>4 == 8:
		x.in.limit = limitX86(op&15, x.flags)
		return branch, x.relative(4)
	case op == 0x0b, op == 0xb9:
		return stop, 0
	case op == 0x05:
		if n := x.s.regs[amdAX]; n.base == constant && (n.off == sysClone || n.off == sysClone3 || n.off == sysSigreturn) {
			return stop, 0 // the child has another stack; what a signal interrupted has its own rules
		}
		x.kill(amdCX, 11, amdAX)
		return next, 0
	case op == 0xa2:
		x.kill(amdAX, amdBX, amdCX, amdDX)
		return next, 0
	case op == 0x31, op == 0x32, op == 0x33:
		x.kill(amdAX, amdDX, amdCX)
		return next, 0
	case op>>3 == 0xc8>>3:
		x.kill(dwarfAMD64[op&7|x.rex&1<<3])
		return next, 0
	case op == 0xa0, op == 0xa8:
		x.push(value{})
		return next, 0
	case op == 0xa1, op == 0xa9:
		x.pop()
		return next, 0
	case op == 0x38, op == 0x3a:
		x.modrm(x.i + 3)
		third := x.code[x.i+2]
		switch {
		case op == 0x38 && (third == 0xf0 || third == 0xf1):
			x.kill(x.regDW())
			if third == 0xf1 && x.rep == 0 && x.mod != 3 {
				x.writeRM(value{}, 8)
			}
		case op == 0x38 && third == 0xf6:
			x.kill(x.regDW())
		case op == 0x3a && third >= 0x14 && third <= 0x17:
			x.writeRM(value{}, 8)
		case op == 0x3a && (third == 0x60 || third == 0x61 || third == 0x62 || third == 0x63):
			x.kill(amdCX)
		}
		return next, 0
	}
	x.modrm(x.i + 2)
	switch {
	case op == 0xb6:
		x.set(x.regDW(), x.zeroExtended(1))
	case op == 0xb7:
		x.set(x.regDW(), x.zeroExtended(2))
	case op == 0x01:
		x.kill(amdAX, amdDX, amdCX)
	case op>>4 == 4, op == 0xaf, op == 0xbe, op == 0xbf, op == 0xb8, op == 0xbc, op == 0xbd, op == 0x02, op == 0x03,
		op == 0x2c, op == 0x2d, op == 0x50, op == 0xd7, op == 0xc5:
		if op == 0x50 || op == 0xd7 || op == 0xc5 || op != 0x2c && op != 0x2d || x.rep != 0 {
			x.kill(x.regDW())
		}
	case op>>4 == 9:
		if x.mod == 3 {
			x.kill(x.byteReg(x.rm))
		} else {
			x.writeRM(value{}, 1)
		}
	case op == 0xab, op == 0xb3, op == 0xbb, op == 0xa4, op == 0xa5, op == 0xac, op == 0xad, op == 0xba && x.reg&7 != 4, op == 0xc3:
		x.writeRM(value{}, 8)
	case op == 0xb0, op == 0xb1:
		x.kill(amdAX)
		x.writeRM(value{}, 8)
	case op == 0xc0, op == 0xc1:
		x.kill(x.regDW())
		x.writeRM(value{}, 8)
	case op == 0xc7:
		if x.mod == 3 {
			x.writeRM(value{}, 8)
		} else if x.reg&7 == 1 {
			x.kill(amdAX, amdDX)
		}
	case op == 0x7e && x.rep == 0, op == 0x20, op == 0x21, op == 0x00:
		x.writeRM(value{}, x.size())
	case op == 0x11, op == 0x13, op == 0x17, op == 0x29, op == 0x2b, op == 0x7f, op == 0xd6, op == 0xe7:
		if x.mod != 3 {
			x.writeRM(value{}, x.vectorSize(op, 16))
		}
	}
	return next, 0
}

// zeroExtended returns the value of an operand of one or two bytes.
func (x *amd64) zeroExtended(size int64) value {
	if x.mod == 3 && size == 1 {
		return x.cut(x.s.regs[x.byteReg(x.rm)], 1)
	}
	return x.small(size)
}

// vectorSize returns the number of bytes that an instruction of vectors stores.
func (x *amd64) vectorSize(op byte, length int64) int64 {
	switch {
	case op == 0x11 && x.rep == 0xf3:
		return 4
	case op == 0x11 && x.rep == 0xf2, op == 0x13, op == 0x17, op == 0xd6:
		return 8
	case (op == 0x7f || op == 0xe7) && !x.w16 && x.rep == 0: // MMX
		return 8
	}
	return length
}

// vector handles VEX and EVEX instructions, few of which write general registers.
func (x *amd64) vector() {
	c := x.code[x.i:]
	var mapped, opcode, vvvv byte
	at, length := 0, int64(16)
	x.rex = 0
	switch c[0] {
	case 0xc5:
		mapped, opcode, vvvv, at = 1, c[2], ^c[1]>>3&15, 3
		x.rex = ^c[1] >> 7 & 1 << 2
		x.setPP(c[1] & 3)
		length <<= c[1] >> 2 & 1
	case 0xc4:
		mapped, opcode, vvvv, at = c[1]&31, c[3], ^c[2]>>3&15, 4
		x.rex = ^c[1]>>5&7 | c[2]>>7<<3
		x.setPP(c[2] & 3)
		length <<= c[2] >> 2 & 1
	default:
		mapped, opcode, vvvv, at = c[1]&7, c[4], ^c[2]>>3&15, 5
		x.rex = ^c[1]>>5&7 | c[2]>>7<<3
		x.setPP(c[2] & 3)
		length <<= c[3] >> 5 & 3
	}
	x.modrm(x.i + at)
	switch mapped {
	case 1:
		switch opcode {
		case 0x2c, 0x2d, 0x50, 0xd7, 0xc5, 0x93, 0x78, 0x79:
			x.kill(x.regDW())
		case 0x7e:
			if x.rep == 0 {
				n := max(x.size(), 4)
				if c[0] == 0x62 && x.mod == 1 {
					x.disp *= n
				}
				x.writeRM(value{}, n)
			}
		case 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7:
			if x.mod != 3 {
				n := x.vectorSize(opcode, length)
				if c[0] == 0x62 && x.mod == 1 {
					x.disp *= n // SDM, volume 2, 2.7.5: compressed
				}
				x.writeRM(value{}, n)
			}
		}
	case 2:
		switch opcode {
		case 0xf2, 0xf5, 0xf7:
			x.kill(x.regDW())
		case 0xf3:
			x.kill(dwarfAMD64[vvvv])
		case 0xf6:
			x.kill(x.regDW(), dwarfAMD64[vvvv])
		}
	case 3:
		switch {
		case opcode == 0xf0:
			x.kill(x.regDW())
		case opcode >= 0x14 && opcode <= 0x17:
			x.writeRM(value{}, 8)
		case opcode >= 0x60 && opcode <= 0x63:
			x.kill(amdCX)
		}
	}
}

func (x *amd64) setPP(pp byte) {
	x.w16 = pp == 1
	x.rep = [4]byte{2: 0xf3, 3: 0xf2}[pp]
}

// changedByCalls are the registers that functions may change.
const changedByCalls = 1<<amdAX | 1<<amdCX | 1<<amdDX | 1<<amdSI | 1<<amdDI | 1<<8 | 1<<9 | 1<<10 | 1<<11

// savedAMD64 are the registers that functions must restore.
var savedAMD64 = [...]uint8{amdBX, amdBP, 12, 13, 14, 15}

// raAMD64 stands for the return address.
const raAMD64 = 16

// entryState is the state at the start of a function.
func entryState() (s state) {
	for i := range s.regs {
		s.regs[i] = value{base: initial, off: int64(i)}
	}
	s.regs[amdSP] = value{base: cfa, off: -8}
	s.slots = entrySlots
	return s
}

var entrySlots = []slot{{place{cfa, -8}, value{base: initial, off: raAMD64}}}

// leaves reports whether a function may return in this state, or go on in another.
func (s *state) leaves() bool {
	for _, r := range savedAMD64 {
		if s.regs[r] != (value{base: initial, off: int64(r)}) {
			return false
		}
	}
	return s.regs[amdSP] == value{base: cfa, off: -8} && s.hasReturn()
}

// hasReturn reports whether the return address is where the caller stored it.
func (s *state) hasReturn() bool { return s.load(place{cfa, -8}) == value{base: initial, off: raAMD64} }

// stubsAMD64 returns the offsets of the stubs in a procedure linkage table, which jump through a word that the linker fills.
func stubsAMD64(code []byte) (all []int) {
	const size, half = 16, 8
	for off := 0; off+half <= len(code); off += half {
		b := code[off:]
		if b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa { // endbr64
			b = b[4:]
		}
		if b[0] == 0xf2 { // bnd
			b = b[1:]
		}
		if b[0] == 0xff && b[1] == 0x25 || b[0] == 0x68 && off%size == 0 {
			all = append(all, off)
		}
	}
	return all
}
