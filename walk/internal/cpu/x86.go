package cpu

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/symtool/symtool/symfmt/arch"
)

var cpuX86 = newCPU(CPU{
	Arch:       arch.X86,
	Call:       1,
	Align:      1,
	Result:     "$eax",
	TLS:        TLS{Pointer: "$gs.base"},
	Techniques: []Technique{ByWin, BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByFramePointer, ByScan},
	calls:      func(c callCode) CallAnswer { return c.x86(32) },
	Layouts:    []Layout{{Reg: "$ebp", FP: 0, RA: 1, SP: 2}},
	ScanFP:     FPBelow,
	MakesFrame: func(code []byte) int { return x86Frame(code, 32) },
	Order:      asWritten,
	Frames: []SignalFrame{
		{Name: "rt", Info: 12, UC: 140, Via: -1,
			Code:  []Trampoline{{code: "b8ad000000cd80", Steps: starts0(0, 5)}}, // mov $173,%eax; int $0x80
			Slots: slots(140+20, 4, x86Sigcontext)},
		{Name: "old", Info: -1, UC: -1, Via: -1,
			Code:  []Trampoline{{code: "58b877000000cd80", Steps: []step{{0, 0}, {1, 4}, {6, 4}}}}, // pop %eax; mov $119,%eax; int $0x80
			Slots: slots(4, 4, x86Sigcontext)},
	},
})

var cpuX86_64 = newCPU(CPU{
	Arch:        arch.X86_64,
	Call:        1,
	Align:       1,
	Result:      "$rax",
	TLS:         TLS{Pointer: "$fs.base"},
	Techniques:  []Technique{ByGoStack, BySymbols, ByEHFrame, BySFrame, ByCode, BySignalFrame, ByLeaf, ByReturn, ByFramePointer, ByScan},
	calls:       func(c callCode) CallAnswer { return c.x86(64) },
	Layouts:     []Layout{{Reg: "$rbp", FP: 0, RA: 1, SP: 2}},
	NoWindowsFP: true, // there, the frame register may point anywhere into the frame
	ScanFP:      FPBelowKnown,
	MakesFrame:  func(code []byte) int { return x86Frame(code, 64) },
	Go: &GoStack{G: 1, Depth: 0, FP: -2, FromCFA: true, Callback: 0, CrossFrame: 10, SavedAt: 3, SavedNames: "$rbx $r12 $r13 $r14 $r15 $rbp",
		PushedNames: "$r15 $r14 $r13 $r12 $rbp $rbx", Restores: "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3", SPName: "$r12", CurrentName: "$r14"},
	Order: asWritten,
	Frames: []SignalFrame{{Name: "rt", Info: 304, UC: 0, Via: -1,
		Code: []Trampoline{
			{code: "48c7c00f0000000f05", Steps: starts0(0, 7)}, // mov $15,%rax; syscall
			{code: "b80f0000000f05", Steps: starts0(0, 5)},     // mov $15,%eax; syscall
		},
		Slots: slots(40, 8, "$r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15 $rdi $rsi $rbp $rbx $rdx $rax $rcx $rsp $rip $rflags"),
	}},
})

// x86Sigcontext are the registers in struct sigcontext, in order.
const x86Sigcontext = "$gs $fs $es $ds $edi $esi $ebp $esp $ebx $edx $ecx $eax - - $eip $cs $eflags"

// x86 tries each length of a call (Intel's manual, volume 2, CALL). Far calls are not recognised,
// because compilers do not generate them.
func (c callCode) x86(mode int) CallAnswer {
	answer := CallNo
	for n := 2; n <= min(MaxCall, len(c.code)); n++ {
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

// x86Frame returns the length of the instructions at the start of a function up to "mov %rsp, %rbp"
// after "push %rbp", or 0 if they are missing. Compilers put other instructions between the two,
// but none that jumps or changes one of the registers.
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

// x86Pointer returns RSP or RBP if arg is that register in any size, otherwise 0.
func x86Pointer(arg x86asm.Arg) x86asm.Reg {
	switch arg {
	case x86asm.RSP, x86asm.ESP:
		return x86asm.RSP
	case x86asm.RBP, x86asm.EBP:
		return x86asm.RBP
	}
	return 0
}

// x86Straight reports whether an instruction may come before the one that sets up a function's
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
