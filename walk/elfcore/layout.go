package elfcore

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

// layout is the layout of registers in a CPU's NT_PRSTATUS: Linux's elf_gregset_t, from
// arch/*/include/uapi/asm/ptrace.h (struct user_regs_struct, struct pt_regs) and, for MIPS,
// arch/mips/include/uapi/asm/reg.h.
type layout struct {
	arch  *arch.Arch
	size  int // size of struct elf_prstatus
	regs  int // offset of pr_reg in it
	slots []slot

	// syscall is the offset of the number of the thread's current system call, which is not a
	// register; 0 if there is none.
	syscall int

	// narrow registers hold sign-extended 32-bit addresses (MIPS, n32 ABI).
	narrow bool
}

// slot is a register in a note.
type slot struct {
	off, size int
	reg       int // index in Arch.Regs
}

// Offset of pr_reg in struct elf_prstatus (include/linux/elfcore.h): after
// pr_info, pr_cursig, two words for signals, four ids and four times.
const (
	regs32 = 72
	regs64 = 112
)

// layouts has one or more rows for each CPU. The first row of a CPU is used for writing.
var layouts = []layout{
	{arch: arch.X86_64, size: 336, regs: regs64, syscall: regs64 + 15*8, slots: slots(arch.X86_64, regs64, 8,
		"$r15 $r14 $r13 $r12 $rbp $rbx $r11 $r10 $r9 $r8 $rax $rcx $rdx $rsi $rdi - $rip $cs $rflags $rsp $ss $fs.base $gs.base $ds $es $fs $gs")},
	{arch: arch.X86, size: 144, regs: regs32, syscall: regs32 + 11*4, slots: slots(arch.X86, regs32, 4,
		"$ebx $ecx $edx $esi $edi $ebp $eax $ds $es $fs $gs - $eip $cs $eflags $esp $ss")},
	{arch: arch.ARM, size: 148, regs: regs32, slots: slots(arch.ARM, regs32, 4,
		numbered("r", 0, 13)+"sp lr pc cpsr")},
	{arch: arch.ARM64, size: 392, regs: regs64, slots: slots(arch.ARM64, regs64, 8,
		numbered("x", 0, 31)+"sp pc cpsr")},
	{arch: arch.MIPS, size: 256, regs: regs32, slots: slots(arch.MIPS, regs32, 4,
		"- - - - - - "+mipsGregs+" $lo $hi $pc")},
	{arch: arch.MIPS, size: 440, regs: regs32, narrow: true, slots: slots(arch.MIPS, regs32, 8, mipsGregs+" $lo $hi $pc")},
	{arch: arch.MIPS64, size: 480, regs: regs64, slots: slots(arch.MIPS64, regs64, 8, mipsGregs+" $lo $hi $pc")},
	{arch: arch.PPC, size: 268, regs: regs32, slots: slots(arch.PPC, regs32, 4, ppcGregs)},
	{arch: arch.PPC64, size: 504, regs: regs64, slots: slots(arch.PPC64, regs64, 8, ppcGregs)},
	{arch: arch.RISCV, size: 204, regs: regs32, slots: slots(arch.RISCV, regs32, 4, riscvGregs)},
	{arch: arch.RISCV64, size: 376, regs: regs64, slots: slots(arch.RISCV64, regs64, 8, riscvGregs)},
	{arch: arch.S390X, size: 336, regs: regs64, slots: slots(arch.S390X, regs64, 8,
		"pswm pswa "+numbered("r", 0, 16)+":4 "+numbered("a", 0, 16))},
}

const (
	mipsGregs = "$zero $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 " +
		"$s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 $k0 $k1 $gp $sp $fp $ra"
	riscvGregs = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
)

// nip, msr, orig_gpr3, ctr, link, xer and ccr follow the general registers.
var ppcGregs = numbered("r", 0, 32) + "srr0 - - ctr lr xer cr"

// numbered returns prefix0, prefix1, ..., each followed by a space.
func numbered(prefix string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(prefix + strconv.Itoa(i) + " ")
	}
	return b.String()
}

// slots lays out registers consecutively, starting at off, in words of size bytes; ":4" sets the
// size of the following words, and "-" is a word without a register.
func slots(a *arch.Arch, off, size int, names string) (out []slot) {
	for _, name := range strings.Fields(names) {
		if name[0] == ':' {
			size = int(name[1] - '0')
			continue
		}
		if name != "-" {
			i, ok := a.RegIndex(name)
			if !ok {
				panic("elfcore: " + a.Name + " has no register " + name)
			}
			out = append(out, slot{off, size, i})
		}
		off += size
	}
	return out
}

// layoutOf returns the layout of a note of size bytes, or the CPU's usual one for an unknown size:
// if BFD runs on a different machine from the process's, it writes cores with its own machine's
// structure, filled with as many registers as fit.
func layoutOf(a *arch.Arch, size int) *layout {
	var usual *layout
	for i := range layouts {
		if l := &layouts[i]; l.arch == a {
			if l.size == size {
				return l
			}
			if usual == nil {
				usual = l
			}
		}
	}
	return usual
}

// floatNote describes a note with floating-point registers: either a block
// that becomes dump.Context.Vector unchanged, or 64-bit registers.
type floatNote struct {
	arch  *arch.Arch
	owner string
	kind  uint32
	size  int    // of the note
	block int    // number of bytes from its start that become Context.Vector; 0 with slots
	slots []slot // nil with block
}

// floatNotes are Linux's elf_fpregset_t and the notes in include/uapi/linux/elf.h that supersede
// it.
var floatNotes = []floatNote{
	{arch: arch.X86_64, owner: ownerCore, kind: ntPRFPReg, size: 512, block: 512},
	{arch: arch.X86, owner: ownerLinux, kind: ntPRXFPReg, size: 512, block: 512},
	{arch: arch.ARM64, owner: ownerCore, kind: ntPRFPReg, size: 528, block: 520},
	{arch: arch.ARM, owner: ownerLinux, kind: ntARMVFP, size: 260, slots: slots(arch.ARM, 0, 8, numbered("d", 0, 32))},
	{arch: arch.MIPS, owner: ownerCore, kind: ntPRFPReg, size: 264, slots: slots(arch.MIPS, 0, 8, mipsFregs)},
	{arch: arch.MIPS64, owner: ownerCore, kind: ntPRFPReg, size: 264, slots: slots(arch.MIPS64, 0, 8, mipsFregs)},
	{arch: arch.PPC, owner: ownerCore, kind: ntPRFPReg, size: 264, slots: slots(arch.PPC, 0, 8, numbered("f", 0, 32))},
	{arch: arch.PPC64, owner: ownerCore, kind: ntPRFPReg, size: 264, slots: slots(arch.PPC64, 0, 8, numbered("f", 0, 32))},
	{arch: arch.RISCV64, owner: ownerCore, kind: ntPRFPReg, size: 264, slots: slots(arch.RISCV64, 0, 8, numbered("f", 0, 32))},
	{arch: arch.S390X, owner: ownerCore, kind: ntPRFPReg, size: 136, slots: slots(arch.S390X, 8, 8, numbered("f", 0, 16))},
}

var mipsFregs = numbered("$f", 0, 32) + ":4 $fcsr $fir"

// fxsaveSlots are the named registers in an FXSAVE block.
var fxsaveSlots = map[*arch.Arch][]slot{
	arch.X86_64: slots(arch.X86_64, 0, 2, fxsaveRegs), arch.X86: slots(arch.X86, 0, 2, fxsaveRegs),
}

const fxsaveRegs = "$fcw $fsw - - - - - - - - - - :4 $mxcsr"
