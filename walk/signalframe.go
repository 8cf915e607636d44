package walk

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

// signalFrame is Linux's layout of the stack when a signal handler runs: the registers of the
// interrupted code, and the handler's arguments. Offsets are from the stack pointer of the code to
// which the handler returns.
//
// The layouts are ABI: arch/*/kernel/signal*.c (struct sigframe, struct rt_sigframe) and
// arch/*/include/uapi/asm/{ucontext,sigcontext}.h of Linux.
type signalFrame struct {
	name string // suffix of the function that handlers return to: "rt", or "old" of before 1998
	code []trampoline

	info int // offset of siginfo_t; -1 without
	uc   int // offset of struct ucontext; -1 without

	// via is the offset of a pointer to the registers, and slots count from where
	// that points; -1 without.
	via   int
	slots []slot
}

// slot is a register in memory.
type slot struct {
	off, size int
	reg       string
}

// trampoline is code that makes the system call by which a handler ends.
type trampoline struct {
	// code is in hexadecimal digits. Groups are units of memory, of which the
	// CPU's byte order is that of instructions.
	code string
	// big and little are its bytes for CPUs whose instructions are in that order.
	big, little []byte
	// steps are the instructions, and how much higher the stack pointer is there
	// than at the first.
	steps []step
}

type step struct{ off, sp int }

// starts0 are the steps of a trampoline that leaves the stack alone.
func starts0(offs ...int) (s []step) {
	for _, off := range offs {
		s = append(s, step{off, 0})
	}
	return s
}

// twoWords are trampolines of two instructions of a size.
func twoWords(size int, codes ...string) (t []trampoline) {
	for _, c := range codes {
		t = append(t, trampoline{code: c, steps: starts0(0, size)})
	}
	return t
}

// siginfoSize is that of siginfo_t, on all CPUs.
const siginfoSize = 128

// signalFrames are the layouts, by CPU. The first that fits counts.
var signalFrames = withBytes(map[*arch.Arch][]signalFrame{
	arch.X86_64: {{name: "rt", info: 304, uc: 0, via: -1,
		code: []trampoline{
			{code: "48c7c00f0000000f05", steps: starts0(0, 7)}, // mov $15,%rax; syscall
			{code: "b80f0000000f05", steps: starts0(0, 5)},     // mov $15,%eax; syscall
		},
		slots: slots(40, 8, "$r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15 $rdi $rsi $rbp $rbx $rdx $rax $rcx $rsp $rip $rflags"),
	}},
	arch.X86: {
		{name: "rt", info: 12, uc: 140, via: -1,
			code:  []trampoline{{code: "b8ad000000cd80", steps: starts0(0, 5)}}, // mov $173,%eax; int $0x80
			slots: slots(140+20, 4, x86Sigcontext)},
		{name: "old", info: -1, uc: -1, via: -1,
			code:  []trampoline{{code: "58b877000000cd80", steps: []step{{0, 0}, {1, 4}, {6, 4}}}}, // pop %eax; mov $119,%eax; int $0x80
			slots: slots(4, 4, x86Sigcontext)},
	},
	arch.ARM: {
		{name: "rt", info: 0, uc: 128, via: -1,
			code: armTrampolines("ad"),
			// After flags, link and stack: trap number, error code, mask.
			slots: slots(128+20+12, 4, armSigcontext)},
		{name: "old", info: -1, uc: 0, via: -1,
			code:  armTrampolines("77"),
			slots: slots(20+12, 4, armSigcontext)},
	},
	arch.ARM64: {{name: "rt", info: 0, uc: 128, via: -1,
		code: twoWords(4, "d2801168 d4000001"), // mov x8,#139; svc #0
		// The mask has room for 1024 signals, and sigcontext, which begins with
		// the fault's address, is aligned to 16.
		slots: slots(128+176+8, 8, strings.Join(names("x", 31, "sp", "pc", "cpsr"), " ")),
	}},
	arch.MIPS: {
		{name: "rt", info: 24, uc: 152, via: -1,
			code:  twoWords(4, "24021061 0000000c"), // li v0,4193; syscall
			slots: append(slots(152+24+8, 8, "$pc"), slots(152+24+16, 8, mipsSigcontext)...)},
		{name: "old", info: -1, uc: -1, via: -1,
			code:  twoWords(4, "24021017 0000000c"), // li v0,4119; syscall
			slots: append(slots(24+8, 8, "$pc"), slots(24+16, 8, mipsSigcontext)...)},
		{name: "n32", info: 24, uc: 152, via: -1,
			code:  twoWords(4, "24021843 0000000c"), // li v0,6211; syscall
			slots: append(slots(152+24, 8, mipsSigcontext), slots(152+24+mips64PC, 8, "$pc")...)},
	},
	arch.MIPS64: {{name: "rt", info: 24, uc: 152, via: -1,
		code:  twoWords(4, "2402145b 0000000c"), // li v0,5211; syscall
		slots: append(slots(152+40, 8, mipsSigcontext), slots(152+40+mips64PC, 8, "$pc")...)}},
	arch.PPC: {
		{name: "rt", info: ppcLinkage + 16, uc: ppcLinkage + 16 + siginfoSize, via: ppcLinkage + 16 + siginfoSize + 48,
			code:  twoWords(4, "380000ac 44000002"), // li r0,172; sc
			slots: slots(0, 4, ppcSigcontext)},
		{name: "old", info: -1, uc: -1, via: ppcLinkage + 28,
			code:  twoWords(4, "38000077 44000002"), // li r0,119; sc
			slots: slots(0, 4, ppcSigcontext)},
	},
	arch.PPC64: {
		{name: "rt", info: -1, uc: ppc64Linkage, via: -1,
			code: []trampoline{ // addi r1,r1,128; li r0,172; sc
				{code: "38210080 380000ac 44000002", steps: []step{{0, 0}, {4, ppc64Linkage}, {8, ppc64Linkage}}},
			},
			slots: slots(ppc64Linkage+ppc64Regs, 8, ppcSigcontext)},
		{name: "qemu", info: -1, uc: ppc64Linkage + 16, via: -1,
			code:  twoWords(4, "380000ac 44000002"), // li r0,172; sc: of QEMU, which has 16 bytes more there
			slots: slots(ppc64Linkage+16+ppc64Regs, 8, ppcSigcontext)},
	},
	// The mask has room for 1024 signals, and what follows is aligned to 16.
	arch.RISCV: {{name: "rt", info: 0, uc: 128, via: -1,
		code:  twoWords(4, "08b00893 00000073"), // li a7,139; ecall
		slots: slots(128+160, 4, riscvSigcontext)}},
	arch.RISCV64: {{name: "rt", info: 0, uc: 128, via: -1,
		code:  twoWords(4, "08b00893 00000073"),
		slots: slots(128+176, 8, riscvSigcontext)}},
	arch.S390X: {
		{name: "rt", info: 168, uc: 296, via: -1,
			code:  []trampoline{{code: "0aad", steps: starts0(0)}}, // svc 173
			slots: slots(296+40, 8, s390xSigcontext)},
		{name: "old", info: -1, uc: -1, via: 168,
			code:  []trampoline{{code: "0a77", steps: starts0(0)}}, // svc 119
			slots: slots(0, 8, s390xSigcontext)},
	},
})

// What is in front of the frame, for the callees of the handler.
const (
	ppcLinkage   = 64
	ppc64Linkage = 128
)

// ppc64Regs is where struct ucontext of 64-bit PowerPC has general registers:
// behind flags, link, stack, mask, and 64 bytes of sigcontext.
const ppc64Regs = 40 + 128 + 64

// mips64PC is where struct sigcontext of the 64-bit ABIs has the program
// counter: behind 32 registers of each kind, and 8 halves of products.
const mips64PC = 2*32*8 + 8*8

// The registers in struct sigcontext, in order.
const (
	x86Sigcontext   = "$gs $fs $es $ds $edi $esi $ebp $esp $ebx $edx $ecx $eax - - $eip $cs $eflags"
	armSigcontext   = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr pc cpsr"
	riscvSigcontext = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
	mipsSigcontext  = "- $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 " +
		"$s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 - - $gp $sp $fp $ra"
)

var (
	// The word behind msr is the argument of a system call.
	ppcSigcontext   = strings.Join(names("r", 32, "srr0", "-", "-", "ctr", "lr", "xer"), " ")
	s390xSigcontext = "pswm pswa " + strings.Join(names("r", 16), " ")
)

// armTrampolines are those for a number of a system call, in two hexadecimal
// digits: the kernel's and the C libraries', of both instruction sets, and the
// old ABI's, whose number is in the instruction.
func armTrampolines(nr string) []trampoline {
	return []trampoline{
		{code: "e3a070" + nr + " ef000000", steps: starts0(0, 4)}, // mov r7,#nr; svc 0
		{code: "e3a070" + nr + " ef9000" + nr, steps: starts0(0, 4)},
		{code: "27" + nr + " df00", steps: starts0(0, 2)}, // movs r7,#nr; svc 0
		{code: "f04f 07" + nr + " df00", steps: starts0(0, 4)},
		{code: "ef9000" + nr, steps: starts0(0)},
	}
}

// slots lays out registers one after the other; "-" is a word without one.
func slots(off, size int, regs string) (all []slot) {
	for _, reg := range strings.Fields(regs) {
		if reg != "-" {
			all = append(all, slot{off, size, reg})
		}
		off += size
	}
	return all
}

// withBytes fills in the bytes of trampolines.
func withBytes(all map[*arch.Arch][]signalFrame) map[*arch.Arch][]signalFrame {
	for _, frames := range all {
		for _, l := range frames {
			for i := range l.code {
				l.code[i].parse()
			}
		}
	}
	return all
}

func (t *trampoline) parse() {
	for _, unit := range strings.Fields(t.code) {
		b, err := hex.DecodeString(unit)
		if err != nil {
			panic("walk: code " + t.code)
		}
		t.big = append(t.big, b...)
		slices.Reverse(b)
		t.little = append(t.little, b...)
	}
}
