package follow

import "golang.org/x/arch/x86/x86asm"

// saveOfAMD64 maps register numbers to indices in frameAMD64.saves.
var saveOfAMD64 = [16]int{noSave, noSave, noSave, 1, noSave, 2, noSave, noSave, noSave, noSave, noSave, noSave, 3, 4, 5, 6}

func saveNumAMD64(r gprAMD64) int {
	if r.num < 0 {
		return noSave
	}
	return saveOfAMD64[r.num]
}

// savesAMD64 updates the facts about the caller's registers with the effect of an instruction that
// continues. s is the state before the instruction.
func savesAMD64(in *x86asm.Inst, dst gprAMD64, s *frameState) {
	k := saveNumAMD64(dst)
	switch in.Op {
	case x86asm.MOV:
		moveAMD64(in, dst, s)
	case x86asm.PUSH:
		if dst.wide {
			s.store(k, s.knows(rsp), int64(s.off[rsp])+saveWord)
		}
	case x86asm.POP:
		s.saves.load(k, s.knows(rsp) && dst.wide, int64(s.off[rsp]))
	case x86asm.LEAVE:
		s.saves.load(saveOfAMD64[rbp], s.knows(rbp), int64(s.off[rbp]))
	case x86asm.ENTER:
		s.store(saveOfAMD64[rbp], s.knows(rsp), int64(s.off[rsp])+saveWord)
		s.saves.write(saveOfAMD64[rbp])
	case x86asm.LEA, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.XOR, x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.INC, x86asm.DEC,
		x86asm.NEG, x86asm.NOT, x86asm.SBB, x86asm.ADC:
		s.saves.write(k)
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP:
	default:
		s.saves.forget(k)
		if other := saveNumAMD64(regAMD64(in.Args[1])); other >= 0 {
			s.saves.elsewhere(other)
			if in.Op == x86asm.XCHG || in.Op == x86asm.XADD {
				s.saves.forget(other)
			}
		}
		if in.Op == x86asm.CPUID || in.Op == x86asm.CMPXCHG8B || in.Op == x86asm.CMPXCHG16B {
			s.saves.forget(saveOfAMD64[3])
		}
	}
}

// moveAMD64 handles mov.
func moveAMD64(in *x86asm.Inst, dst gprAMD64, s *frameState) {
	src := regAMD64(in.Args[1])
	to, from := saveNumAMD64(dst), saveNumAMD64(src)
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		if src.wide && from >= 0 {
			known, at := memAMD64(m, s)
			s.store(from, known, at)
		}
		return
	}
	if m, ok := in.Args[1].(x86asm.Mem); ok && to >= 0 {
		known, at := memAMD64(m, s)
		s.saves.load(to, known && dst.wide, at)
		return
	}
	if from >= 0 {
		s.saves.elsewhere(from)
	}
	s.saves.write(to)
}

// memAMD64 returns how many bytes below the CFA a memory operand is, if that is known.
func memAMD64(m x86asm.Mem, s *frameState) (known bool, at int64) {
	base := regAMD64(m.Base)
	if m.Index != 0 || m.Segment != 0 || !base.wide || !s.knows(base.num) {
		return false, 0
	}
	return true, int64(s.off[base.num]) - m.Disp
}
