package follow

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/symtool/symtool/internal/execcode"
)

// frameAMD64 lists x86-64's registers in the order of their numbers in instructions.
var frameAMD64 = &CPU{
	entry: 8,
	regs: [frameRegs]string{"$rax", "$rcx", "$rdx", "$rbx", "$rsp", "$rbp", "$rsi", "$rdi",
		"$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15"},
	step:    stepAMD64,
	nop:     execcode.X86,
	saves:   []string{".ra", "$rbx", "$rbp", "$r12", "$r13", "$r14", "$r15"},
	clobber: 1<<0 | 1<<1 | 1<<2 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11,
}

const (
	rsp = frameSP
	rbp = frameFP
)

// stepAMD64 decodes one instruction (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2).
func stepAMD64(code []byte, addr uint64, s *frameState) step {
	if len(code) >= 3 && code[0] == 0xc5 && code[2] == 0x77 {
		return step{size: 3} // vzeroupper, vzeroall: x86asm v0.32 expects a ModRM byte
	}
	in, err := x86asm.Decode(code[:min(len(code), 15)], 64)
	if err != nil || in.Op == 0 {
		return otherAMD64(code, s)
	}
	st := step{size: in.Len}
	switch in.Op {
	case x86asm.CALL:
		st.kind = stepCall
		st.target = targetAMD64(&in, addr)
	case x86asm.JMP:
		if st.kind, st.target = stepJump, targetAMD64(&in, addr); st.target == 0 {
			st.kind = stepIndirect
		}
	case x86asm.RET:
		st.kind = stepReturn
	case x86asm.HLT:
		st.kind = stepTrap
	case x86asm.UD1, x86asm.UD2, x86asm.INT, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LJMP, x86asm.SYSRET, x86asm.SYSEXIT:
		st.kind = stepStop
		if in.Op == x86asm.INT && in.Args[0] != x86asm.Imm(3) {
			st.kind = stepNext
		}
	default:
		if branchesAMD64(in.Op) {
			st.kind, st.target = stepBranch, targetAMD64(&in, addr)
			break
		}
		effectAMD64(&in, s)
	}
	return st
}

// targetAMD64 returns the target of a direct jump or call, or 0.
func targetAMD64(in *x86asm.Inst, addr uint64) uint64 {
	if rel, ok := in.Args[0].(x86asm.Rel); ok {
		return addr + uint64(in.Len) + uint64(int64(rel))
	}
	return 0
}

func branchesAMD64(op x86asm.Op) bool {
	switch op {
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JCXZ, x86asm.JE, x86asm.JECXZ, x86asm.JG, x86asm.JGE,
		x86asm.JL, x86asm.JLE, x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JRCXZ,
		x86asm.JS, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.XBEGIN:
		return true
	}
	return false
}

// wordAMD64 returns the number of bytes that a push moves.
func wordAMD64(in *x86asm.Inst) int64 {
	if in.DataSize == 16 {
		return 2
	}
	return 8
}

// effectAMD64 updates the state with the effect of an instruction that continues.
func effectAMD64(in *x86asm.Inst, s *frameState) {
	dst := regAMD64(in.Args[0])
	savesAMD64(in, dst, s)
	switch in.Op {
	case x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFQ, x86asm.PUSHFD:
		s.move(rsp, -wordAMD64(in))
		if dst.num == rbp && dst.wide && s.knows(rsp) {
			s.save(s.off[rsp])
		}
		return
	case x86asm.POP:
		if dst.num == rbp {
			s.restore(s.knows(rsp), s.off[rsp])
		}
		s.move(rsp, wordAMD64(in))
		if dst.num >= 0 && dst.num != rbp {
			s.forget(dst.num)
		}
		return
	case x86asm.POPF, x86asm.POPFQ, x86asm.POPFD:
		s.move(rsp, wordAMD64(in))
		return
	case x86asm.LEAVE:
		s.copy(rsp, rbp, 8)
		s.restore(s.knows(rbp), s.off[rbp])
		return
	case x86asm.ENTER:
		enterAMD64(in, s)
		return
	case x86asm.ADD, x86asm.SUB:
		if imm, ok := in.Args[1].(x86asm.Imm); ok && dst.wide {
			if in.Op == x86asm.SUB {
				imm = -imm
			}
			s.move(dst.num, int64(imm))
			return
		}
	case x86asm.INC, x86asm.DEC:
		if dst.wide {
			by := int64(1)
			if in.Op == x86asm.DEC {
				by = -1
			}
			s.move(dst.num, by)
			return
		}
	case x86asm.MOV:
		if src := regAMD64(in.Args[1]); dst.wide && src.wide {
			s.copy(dst.num, src.num, 0)
			return
		}
	case x86asm.LEA:
		if m, ok := in.Args[1].(x86asm.Mem); ok && dst.wide && m.Index == 0 && m.Segment == 0 {
			if base := regAMD64(m.Base); base.wide {
				s.copy(dst.num, base.num, m.Disp)
				return
			}
		}
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP, x86asm.UCOMISD, x86asm.UCOMISS:
		return
	}
	forgetAMD64(in, s, dst.num)
}

// enterAMD64 handles enter with level 0: push rbp, rbp = rsp, rsp -= size.
func enterAMD64(in *x86asm.Inst, s *frameState) {
	size, _ := in.Args[0].(x86asm.Imm)
	level, _ := in.Args[1].(x86asm.Imm)
	if level != 0 {
		s.forget(rsp)
		s.forget(rbp)
		return
	}
	s.move(rsp, -8)
	s.copy(rbp, rsp, 0)
	s.move(rsp, -int64(uint16(size)))
}

// forgetAMD64 forgets the registers that an instruction changes in ways that are not tracked.
func forgetAMD64(in *x86asm.Inst, s *frameState, dst int) {
	s.forget(dst)
	switch in.Op {
	case x86asm.XCHG, x86asm.XADD, x86asm.CMPXCHG:
		s.forget(regAMD64(in.Args[1]).num)
		s.forget(0)
	case x86asm.CPUID, x86asm.CMPXCHG16B, x86asm.CMPXCHG8B:
		s.known &^= 1<<0 | 1<<1 | 1<<2 | 1<<3
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.IMUL, x86asm.CQO, x86asm.CDQ, x86asm.CWD, x86asm.RDTSC, x86asm.RDTSCP,
		x86asm.SYSCALL, x86asm.INT, x86asm.RDMSR, x86asm.XGETBV, x86asm.RDPMC:
		s.known &^= 1<<0 | 1<<1 | 1<<2 | 1<<11
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ,
		x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ, x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ:
		s.known &^= 1<<0 | 1<<1 | 1<<6 | 1<<7
	}
}

// gprAMD64 is a general register as an operand: its number or -1, and whether the operand is the
// whole register.
type gprAMD64 struct {
	num  int
	wide bool
}

func regAMD64(a x86asm.Arg) gprAMD64 {
	r, ok := a.(x86asm.Reg)
	switch {
	case !ok:
	case r >= x86asm.RAX && r <= x86asm.R15:
		return gprAMD64{int(r - x86asm.RAX), true}
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return gprAMD64{int(r - x86asm.EAX), false}
	case r >= x86asm.AX && r <= x86asm.R15W:
		return gprAMD64{int(r - x86asm.AX), false}
	case r >= x86asm.AL && r <= x86asm.BH:
		return gprAMD64{int(r-x86asm.AL) & 3, false}
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return gprAMD64{int(r-x86asm.SPB) + 4, false}
	}
	return gprAMD64{-1, false}
}
