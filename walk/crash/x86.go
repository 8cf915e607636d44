package crash

import (
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// x86Names are the general registers in the order of their numbers.
var x86Names = [...]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "8", "9", "10", "11", "12", "13", "14", "15"}

// x86Texts changes the decoder's text into rust-minidump's: without ptr, and with an address of
// 0, which the decoder omits.
var x86Texts = strings.NewReplacer(" ptr ", " ", "[]", "[0x0]")

// x86Inst decodes the accesses of an instruction of x86 or x86-64.
type x86Inst struct {
	*state
	x86asm.Inst
	mode int
	in   *Instruction
}

// decodeX86 decodes an instruction in a mode, 32 or 64 bits.
func decodeX86(s *state, code []byte, mode int) (in *Instruction) {
	if name := endBranch(code); name != "" {
		return &Instruction{Code: code[:4], Text: name, Known: true}
	}
	// A third-party decoder may panic on arbitrary bytes.
	defer func() {
		if recover() != nil {
			in = nil
		}
	}()
	inst, err := x86asm.Decode(code, mode)
	if err != nil || inst.Len == 0 || inst.Len > len(code) || inst.Op == 0 {
		return nil
	}
	x := x86Inst{state: s, Inst: inst, mode: mode, in: &Instruction{Code: code[:inst.Len], Known: true}}
	x.repair()
	x.in.Text = x.text()
	x.in.aligned = x.alignment()
	x.in.divides = inst.Op == x86asm.DIV || inst.Op == x86asm.IDIV
	x.in.interrupts = x86Interrupts[inst.Op]
	x.in.privileged = x86Privileged[inst.Op] || x.movesSystem()
	x.accesses()
	x.target()
	return x.in
}

// text returns the instruction in Intel syntax. An absolute address is printed in full: the decoder prints an address
// in the upper half of memory as a negative number.
func (x *x86Inst) text() string {
	text := x86asm.IntelSyntax(x.Inst, x.pc, nil)
	for _, arg := range x.Args {
		if m, ok := arg.(x86asm.Mem); ok && m.Base == 0 && m.Index == 0 && m.Disp < 0 {
			text = strings.Replace(text, fmt.Sprintf("[%+#x]", m.Disp), fmt.Sprintf("[%#x]", uint64(m.Disp)), 1)
		}
	}
	return x86Texts.Replace(text)
}

// movesSystem reports whether the instruction is a MOV of a segment register or a system register.
func (x *x86Inst) movesSystem() bool {
	for _, arg := range x.Args {
		if r, ok := arg.(x86asm.Reg); ok && x.Op == x86asm.MOV && r >= x86asm.ES {
			return true
		}
	}
	return false
}

// endBranch returns the name of an instruction that marks the target of an indirect branch, or "". The decoder does
// not know these instructions.
func endBranch(code []byte) string {
	if len(code) < 4 || code[0] != 0xf3 || code[1] != 0x0f || code[2] != 0x1e {
		return ""
	}
	return map[byte]string{0xfa: "endbr64", 0xfb: "endbr32"}[code[3]]
}

// accesses sets the memory that the instruction accesses.
func (x *x86Inst) accesses() {
	if x86Unlisted[x.Op] {
		x.in.Known = false
		return
	}
	if x86NoAccess[x.Op] || x.repeatsNever() {
		return
	}
	for i, arg := range x.Args {
		if m, ok := arg.(x86asm.Mem); ok {
			x.add(m, x.kind(i))
		}
	}
	x.stack()
	if !x.in.Known {
		x.in.Accesses = nil
	}
}

func (x *x86Inst) add(m x86asm.Mem, kind AccessKind) {
	addr, null, ok := x.address(m)
	if !ok {
		x.in.Known = false
		return
	}
	x.in.Accesses = append(x.in.Accesses, Access{Addr: addr, Size: x.size(), Kind: kind, NullBase: null})
}

// size returns the size of the memory operand in bytes, or 0 if it is unknown.
func (x *x86Inst) size() uint64 {
	if n := x86StringSize[x.Op]; n != 0 {
		return n
	}
	if x.MemBytes == 0 && x86TenBytes[x.Op] {
		return 10
	}
	return uint64(x.MemBytes)
}

// kind returns what the instruction does with operand i, which is memory.
func (x *x86Inst) kind(i int) AccessKind {
	switch {
	case x.Op == x86asm.XCHG || x.Op == x86asm.XADD:
		return UpdateAccess
	case i > 0:
		return ReadAccess
	}
	if kind, ok := x86First[x.Op]; ok {
		return kind
	}
	if x.isVEX() {
		return WriteAccess // other AVX instructions do not modify memory in place
	}
	return UnknownAccess
}

// isVEX reports whether the instruction has an AVX prefix.
func (x *x86Inst) isVEX() bool { return x.vexPlace() >= 0 }

// vexPlace returns the offset of the AVX prefix in the code, or -1.
func (x *x86Inst) vexPlace() int {
	for i, p := range x.Prefix {
		if p != 0 && (p.IsVEX() || p.IsEVEX()) {
			return i
		}
	}
	return -1
}

// isRelative reports whether an AVX instruction's address is relative to the next instruction, which the decoder does
// not report. In that case ModRM, the byte after prefix and opcode, has mode 0 and register 5.
func (x *x86Inst) isRelative() bool {
	i := x.vexPlace()
	if i < 0 || x.mode != 64 {
		return false
	}
	modrm := i + 3 // after the rest of the prefix, two bytes, and the opcode
	switch {
	case x.Prefix[i].IsEVEX():
		modrm = i + 5
	case x.Prefix[i]&0xff == x86asm.PrefixVEX3Bytes:
		modrm = i + 4
	}
	return modrm < len(x.in.Code) && x.in.Code[modrm]&0xc7 == 5
}

// address computes the address of an operand. null means that its base is 0.
func (x *x86Inst) address(m x86asm.Mem) (addr uint64, null, ok bool) {
	addr = x.displacement(m)
	if m.Base != 0 {
		base, ok := x.value(m.Base)
		if !ok {
			return 0, false, false
		}
		null = base == 0
		addr += base
	}
	if m.Index != 0 && m.Scale != 0 {
		index, ok := x.value(m.Index)
		if !ok {
			return 0, false, false
		}
		addr += index * uint64(m.Scale)
	}
	if bits := x.addressBits(); bits < 64 {
		addr &= 1<<bits - 1
	}
	base, ok := x.segment()
	return addr + base, null, ok
}

// addressBits returns the width of addresses.
func (x *x86Inst) addressBits() int {
	bits := x.AddrSize
	if bits == 0 {
		bits = x.mode // the decoder does not report it for AVX
		if x.hasPrefix(x86asm.PrefixAddrSize) {
			bits /= 2
		}
	}
	return bits
}

// repair corrects what the decoder gets wrong in memory operands: with AVX, the base of an address relative to the
// next instruction, and the sign of a displacement.
func (x *x86Inst) repair() {
	for i, arg := range x.Args {
		m, ok := arg.(x86asm.Mem)
		if !ok {
			continue
		}
		if m.Base == 0 && m.Index == 0 && x.isRelative() {
			m.Base = x86asm.RIP
		}
		if m.Base != 0 || m.Index != 0 || x.addressBits() == 64 {
			m.Disp = int64(x.displacement(m))
		}
		x.Args[i] = m
	}
}

// displacement returns the displacement of an address. The processor sign-extends 32-bit displacements, but the
// decoder does not; only a MOV to or from an absolute address has a 64-bit one.
func (x *x86Inst) displacement(m x86asm.Mem) uint64 {
	const movOffset = 0xa0 // to 0xa3: MOV of the accumulator from and to an absolute address
	if m.Base == 0 && m.Index == 0 && x.Opcode>>26 == movOffset>>2 {
		return uint64(m.Disp)
	}
	return uint64(int64(int32(m.Disp)))
}

// segment returns the base of the segment, which is 0 except for FS and GS. Few dumps contain it.
func (x *x86Inst) segment() (uint64, bool) {
	for _, seg := range []struct {
		prefix x86asm.Prefix
		base   string
	}{{x86asm.PrefixFS, "$fs.base"}, {x86asm.PrefixGS, "$gs.base"}} {
		if x.hasPrefix(seg.prefix) {
			return x.reg(seg.base)
		}
	}
	return 0, true
}

// hasPrefix looks for a prefix before the AVX prefix; later bytes are part of the AVX prefix.
func (x *x86Inst) hasPrefix(want x86asm.Prefix) bool {
	for _, p := range x.Prefix {
		if p == 0 || p.IsVEX() || p.IsEVEX() {
			return false
		}
		if p&0xff == want&0xff && p&x86asm.PrefixIgnored == 0 && !p.IsREX() {
			return true
		}
	}
	return false
}

// value returns the value of a register in an address.
func (x *x86Inst) value(r x86asm.Reg) (uint64, bool) {
	switch {
	case r == x86asm.RIP || r == x86asm.EIP:
		return x.pc + uint64(x.Len), true
	case r >= x86asm.RAX && r <= x86asm.R15:
		return x.general(int(r - x86asm.RAX))
	case r >= x86asm.EAX && r <= x86asm.R15L:
		v, ok := x.general(int(r - x86asm.EAX))
		return uint64(uint32(v)), ok
	case r >= x86asm.AX && r <= x86asm.R15W:
		v, ok := x.general(int(r - x86asm.AX))
		return uint64(uint16(v)), ok
	}
	return 0, false // a vector register: a gather
}

// general returns the value of a general register by its number.
func (x *x86Inst) general(n int) (uint64, bool) {
	switch {
	case x.mode == 32:
		return x.reg("$e" + x86Names[n])
	}
	return x.reg("$r" + x86Names[n])
}

// repeatsNever reports whether this is a repeated instruction whose count is 0.
func (x *x86Inst) repeatsNever() bool {
	if x86StringSize[x.Op] == 0 || !x.hasPrefix(x86asm.PrefixREP) && !x.hasPrefix(x86asm.PrefixREPN) {
		return false
	}
	count, ok := x.general(1)
	return ok && count == 0
}

// stack sets the accesses to the stack that instructions make implicitly.
func (x *x86Inst) stack() {
	word := uint64(x.mode / 8)
	if x.DataSize == 16 && x.hasPrefix(x86asm.PrefixDataSize) && x86Pushes[x.Op]+x86Pops[x.Op] == stackSized {
		word = 2
	}
	n, kind, off := 4, ReadAccess, uint64(0) // off is relative to the stack pointer
	switch {
	case x.Op == x86asm.LEAVE:
		n = 5
	case x86Pushes[x.Op] != 0:
		kind, off = WriteAccess, -word
	case x86Pops[x.Op] == 0:
		return
	}
	sp, ok := x.general(n)
	if !ok {
		x.in.Known = false
		return
	}
	addr := sp + off
	if x.mode == 32 {
		addr = uint64(uint32(addr))
	}
	x.in.Accesses = append(x.in.Accesses, Access{Addr: addr, Size: word, Kind: kind, NullBase: sp == 0})
}

// target sets the target of an indirect branch.
func (x *x86Inst) target() {
	switch {
	case x.Op == x86asm.RET:
		if sp, ok := x.general(4); ok {
			x.in.Target, x.in.HasTarget = x.word(sp)
		}
	case x.Op != x86asm.CALL && x.Op != x86asm.JMP:
	default:
		switch to := x.Args[0].(type) {
		case x86asm.Reg:
			x.in.Target, x.in.HasTarget = x.value(to)
		case x86asm.Mem:
			if addr, _, ok := x.address(to); ok {
				x.in.Target, x.in.HasTarget = x.word(addr)
			}
		}
	}
}
