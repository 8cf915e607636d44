package crash

import "golang.org/x/arch/x86/x86asm"

// x86First gives the kind of access for instructions whose first operand may be memory.
// Instructions whose first operand is always a register are not listed.
var x86First = kinds(map[AccessKind][]x86asm.Op{
	ReadAccess: {
		x86asm.BT, x86asm.CALL, x86asm.CMP, x86asm.CMPSB, x86asm.CMPSD, x86asm.CMPSQ, x86asm.CMPSW, x86asm.DIV, x86asm.FADD,
		x86asm.FBLD, x86asm.FCOM, x86asm.FCOMP, x86asm.FDIV, x86asm.FDIVR, x86asm.FIADD, x86asm.FICOM, x86asm.FICOMP, x86asm.FIDIV,
		x86asm.FIDIVR, x86asm.FILD, x86asm.FIMUL, x86asm.FISUB, x86asm.FISUBR, x86asm.FLD, x86asm.FLDCW, x86asm.FLDENV, x86asm.FMUL,
		x86asm.FRSTOR, x86asm.FSUB, x86asm.FSUBR, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.IDIV, x86asm.IMUL, x86asm.JMP,
		x86asm.LDMXCSR, x86asm.LGDT, x86asm.LIDT, x86asm.LLDT, x86asm.LMSW, x86asm.LODSB, x86asm.LODSD, x86asm.LODSQ, x86asm.LODSW,
		x86asm.LTR, x86asm.MUL, x86asm.OUTSB, x86asm.OUTSD, x86asm.OUTSW, x86asm.PUSH, x86asm.SCASB, x86asm.SCASD, x86asm.SCASQ,
		x86asm.SCASW, x86asm.TEST, x86asm.VERR, x86asm.VERW, x86asm.XRSTOR, x86asm.XRSTOR64, x86asm.XRSTORS, x86asm.XRSTORS64,
		x86asm.CLFLUSH, x86asm.VLDMXCSR,
	},
	WriteAccess: {
		x86asm.EXTRACTPS, x86asm.FBSTP, x86asm.FIST, x86asm.FISTP, x86asm.FISTTP, x86asm.FNSAVE, x86asm.FNSTCW, x86asm.FNSTENV,
		x86asm.FNSTSW, x86asm.FST, x86asm.FSTP, x86asm.FXSAVE, x86asm.FXSAVE64, x86asm.INSB, x86asm.INSD, x86asm.INSW, x86asm.MOV,
		x86asm.MOVAPD, x86asm.MOVAPS, x86asm.MOVBE, x86asm.MOVD, x86asm.MOVDQA, x86asm.MOVDQU, x86asm.MOVHPD, x86asm.MOVHPS,
		x86asm.MOVLPD, x86asm.MOVLPS, x86asm.MOVNTDQ, x86asm.MOVNTI, x86asm.MOVNTPD, x86asm.MOVNTPS, x86asm.MOVNTQ, x86asm.MOVNTSD,
		x86asm.MOVNTSS, x86asm.MOVQ, x86asm.MOVSB, x86asm.MOVSD, x86asm.MOVSD_XMM, x86asm.MOVSQ, x86asm.MOVSS, x86asm.MOVSW,
		x86asm.MOVUPD, x86asm.MOVUPS, x86asm.PEXTRB, x86asm.PEXTRD, x86asm.PEXTRQ, x86asm.PEXTRW, x86asm.POP, x86asm.SETA,
		x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETG, x86asm.SETGE, x86asm.SETL, x86asm.SETLE, x86asm.SETNE,
		x86asm.SETNO, x86asm.SETNP, x86asm.SETNS, x86asm.SETO, x86asm.SETP, x86asm.SETS, x86asm.SGDT, x86asm.SIDT, x86asm.SLDT,
		x86asm.SMSW, x86asm.STMXCSR, x86asm.STOSB, x86asm.STOSD, x86asm.STOSQ, x86asm.STOSW, x86asm.STR, x86asm.XSAVE,
		x86asm.XSAVE64, x86asm.XSAVEC, x86asm.XSAVEC64, x86asm.XSAVEOPT, x86asm.XSAVEOPT64, x86asm.XSAVES, x86asm.XSAVES64,
	},
	UpdateAccess: {
		x86asm.ADC, x86asm.ADD, x86asm.AND, x86asm.ARPL, x86asm.BTC, x86asm.BTR, x86asm.BTS, x86asm.CMPXCHG, x86asm.CMPXCHG16B,
		x86asm.CMPXCHG8B, x86asm.DEC, x86asm.INC, x86asm.NEG, x86asm.NOT, x86asm.OR, x86asm.RCL, x86asm.RCR, x86asm.ROL, x86asm.ROR,
		x86asm.SAR, x86asm.SBB, x86asm.SHL, x86asm.SHLD, x86asm.SHR, x86asm.SHRD, x86asm.SUB, x86asm.XOR,
	},
})

func kinds(lists map[AccessKind][]x86asm.Op) map[x86asm.Op]AccessKind {
	all := map[x86asm.Op]AccessKind{}
	for kind, ops := range lists {
		for _, op := range ops {
			all[op] = kind
		}
	}
	return all
}

func set(ops ...x86asm.Op) map[x86asm.Op]bool {
	all := map[x86asm.Op]bool{}
	for _, op := range ops {
		all[op] = true
	}
	return all
}

// x86NoAccess have a memory operand that they do not access, or only in a way that cannot fault.
var x86NoAccess = set(x86asm.LEA, x86asm.NOP, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2,
	x86asm.PREFETCHW, x86asm.INVLPG, x86asm.UD0, x86asm.UD1, x86asm.UD2)

// x86Unlisted access memory other than their operands, or system structures.
var x86Unlisted = set(x86asm.BOUND, x86asm.ENTER, x86asm.INVPCID, x86asm.IRET, x86asm.IRETD,
	x86asm.IRETQ, x86asm.LCALL, x86asm.LDS, x86asm.LES, x86asm.LFS, x86asm.LGS, x86asm.LJMP, x86asm.LRET, x86asm.LSS,
	x86asm.MASKMOVDQU, x86asm.MASKMOVQ, x86asm.MONITOR, x86asm.POPA, x86asm.POPAD, x86asm.PUSHA, x86asm.PUSHAD, x86asm.RSM,
	x86asm.XLATB)

// stackSized instructions move a word on the stack that has the size of their operand; for wordSized instructions it
// always has the size of an address.
const (
	wordSized  = 1
	stackSized = 2
)

var (
	x86Pushes = map[x86asm.Op]int{x86asm.CALL: wordSized, x86asm.PUSH: stackSized, x86asm.PUSHF: stackSized, x86asm.PUSHFD: stackSized, x86asm.PUSHFQ: stackSized}
	x86Pops   = map[x86asm.Op]int{x86asm.RET: wordSized, x86asm.LEAVE: wordSized, x86asm.POP: stackSized, x86asm.POPF: stackSized, x86asm.POPFD: stackSized, x86asm.POPFQ: stackSized}
)

// x86StringSize has the instructions that REP repeats, with the number of
// bytes per step.
var x86StringSize = map[x86asm.Op]uint64{
	x86asm.CMPSB: 1, x86asm.CMPSW: 2, x86asm.CMPSD: 4, x86asm.CMPSQ: 8, x86asm.INSB: 1, x86asm.INSW: 2, x86asm.INSD: 4,
	x86asm.LODSB: 1, x86asm.LODSW: 2, x86asm.LODSD: 4, x86asm.LODSQ: 8, x86asm.MOVSB: 1, x86asm.MOVSW: 2, x86asm.MOVSD: 4,
	x86asm.MOVSQ: 8, x86asm.OUTSB: 1, x86asm.OUTSW: 2, x86asm.OUTSD: 4, x86asm.SCASB: 1, x86asm.SCASW: 2, x86asm.SCASD: 4,
	x86asm.SCASQ: 8, x86asm.STOSB: 1, x86asm.STOSW: 2, x86asm.STOSD: 4, x86asm.STOSQ: 8,
}

// x86TenBytes have an operand of 10 bytes, for which the decoder gives no size.
var x86TenBytes = set(x86asm.FLD, x86asm.FSTP, x86asm.FBLD, x86asm.FBSTP)

// x86Privileged may fault outside the kernel: always, or depending on their
// operands or on the system's configuration.
var x86Privileged = set(x86asm.CLI, x86asm.CLTS, x86asm.HLT, x86asm.IN, x86asm.INSB, x86asm.INSD, x86asm.INSW, x86asm.INT,
	x86asm.INTO, x86asm.INVD, x86asm.INVLPG, x86asm.INVPCID, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LGDT, x86asm.LIDT,
	x86asm.LLDT, x86asm.LMSW, x86asm.LRET, x86asm.LTR, x86asm.MONITOR, x86asm.MWAIT, x86asm.OUT, x86asm.OUTSB,
	x86asm.OUTSD, x86asm.OUTSW, x86asm.RDMSR, x86asm.RDPMC, x86asm.RDTSC, x86asm.RDTSCP, x86asm.RSM, x86asm.SGDT, x86asm.SIDT,
	x86asm.SLDT, x86asm.SMSW, x86asm.STI, x86asm.STR, x86asm.SWAPGS, x86asm.SYSEXIT, x86asm.SYSRET, x86asm.WBINVD, x86asm.WRMSR,
	x86asm.XRSTORS, x86asm.XRSTORS64, x86asm.XSAVES, x86asm.XSAVES64, x86asm.XSETBV)

// x86Interrupts raise an exception when they are executed. For most of them, the program counter is then at the next
// instruction.
var x86Interrupts = set(x86asm.INT, x86asm.INTO)
