package walk

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/arch"
)

// frameChain is the step by the frame pointer, if the function keeps one for certain at the frame's
// address. In code without frame pointers the register holds anything, so that this must be sure:
//
//   - the function's first instructions, by the address of its FUNC record, save
//     the old frame pointer and set the new one, and the frame's address is
//     behind them. Where compilers set it later, or not at all, there is no step;
//   - the frame made a call: in front of a call the frame stands, whereas a
//     function that was interrupted may just be taking it down;
//   - the register points to a frame: aligned, not below the stack pointer, in
//     the dump's memory, with an address behind a call in it.
func (u *unwinder) frameChain(f *Frame) (Step, bool) {
	if f.Interrupted || f.Handler || f.Source != resolve.Func || !u.setsFrame(f) {
		return Step{}, false
	}
	reg, word := u.cpu.reg(u.cpu.arch.FP), uint64(u.cpu.arch.PtrSize)
	fp, ok := u.in.Get(reg)
	if !ok || fp%word != 0 || fp < f.SP {
		return Step{}, false
	}
	pc, ok1 := u.ReadWord(fp + word)
	saved, ok2 := u.ReadWord(fp)
	if pc = u.cpu.clean(u, pc); !ok1 || !ok2 || u.call(pc) != CallYes {
		return Step{}, false
	}
	s := Step{By: ByFramePointer, PC: pc, SP: fp + 2*word, Regs: u.stepRegs(ByFramePointer), FPOnly: true}
	s.CFA, s.HasCFA = s.SP, true
	s.NoSP = u.cpu.arch == arch.ARM64 // whose record may be anywhere in the frame
	s.Regs.Reset()
	s.Regs.Set(reg, saved)
	return s, true
}

// prologue is how many bytes of a function are decoded.
const prologue = 48

// setsFrame reports whether the function begins by making a frame, and the frame's address is
// behind that.
func (u *unwinder) setsFrame(f *Frame) bool {
	code := u.code(f.Start, prologue)
	n := 0
	switch u.cpu.arch {
	case arch.X86, arch.X86_64:
		n = x86Frame(code, 8*u.cpu.arch.PtrSize)
	case arch.ARM64:
		n = arm64Frame(code)
	}
	return n > 0 && f.Inst >= f.Start+uint64(n)
}

// x86Frame is the length of the instructions at the start of a function up to
// "mov %rsp, %rbp" behind "push %rbp"; 0 if they are not there. Compilers put
// others in between, but none that jumps, or changes one of the two registers.
func x86Frame(code []byte, mode int) int {
	pushed := false
	n := 0
	if len(code) > 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3]|1 == 0xfb { // endbr64, endbr32
		n = 4
	}
	for n < len(code) {
		inst, err := x86asm.Decode(code[n:], mode)
		if err != nil {
			return 0
		}
		n += inst.Len
		to := x86Pointer(inst.Args[0])
		switch {
		case !pushed && inst.Op == x86asm.PUSH && to == x86asm.RBP:
			pushed = true
		case pushed && inst.Op == x86asm.MOV && to == x86asm.RBP && x86Pointer(inst.Args[1]) == x86asm.RSP:
			return n
		case to != 0 && inst.Op != x86asm.TEST && inst.Op != x86asm.CMP || !x86Straight(inst.Op):
			return 0
		}
	}
	return 0
}

// x86Pointer is RSP or RBP for either of them of any size, else 0.
func x86Pointer(arg x86asm.Arg) x86asm.Reg {
	switch arg {
	case x86asm.RSP, x86asm.ESP:
		return x86asm.RSP
	case x86asm.RBP, x86asm.EBP:
		return x86asm.RBP
	}
	return 0
}

// x86Straight reports whether an instruction may stand in front of where a function makes its
// frame.
func x86Straight(op x86asm.Op) bool {
	switch op {
	case x86asm.MOV, x86asm.MOVSX, x86asm.MOVSXD, x86asm.MOVZX, x86asm.LEA, x86asm.XOR, x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.OR,
		x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.IMUL, x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT,
		x86asm.PXOR, x86asm.XORPS, x86asm.MOVAPS, x86asm.MOVUPS, x86asm.MOVDQA, x86asm.MOVDQU, x86asm.MOVD, x86asm.MOVQ, x86asm.CDQE, x86asm.CDQ:
		return true
	}
	return false
}

// arm64Frame is the length of the instructions up to the one that sets x29 to where x29 and x30
// were stored; 0 if they are missing.
func arm64Frame(code []byte) int {
	stored := -1
	for i := 0; i+4 <= len(code); i += 4 {
		w := binary.LittleEndian.Uint32(code[i:])
		switch {
		case w&0xffc0_7fff == 0xa980_7bfd: // stp x29, x30, [sp, #n]!
			stored = 0
		case w&0xffc0_7fff == 0xa900_7bfd: // stp x29, x30, [sp, #n]
			stored = int(int32(w<<10)>>25) * 8
		case w&0xffc0_03ff == 0x9100_03fd: // add x29, sp, #n
			if stored >= 0 && int(w>>10&0xfff) == stored {
				return i + 4
			}
			return 0
		}
	}
	return 0
}
