package elfcore

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// layout is the layout of registers in a CPU's NT_PRSTATUS: Linux's elf_gregset_t, from
// arch/*/include/uapi/asm/ptrace.h (struct user_regs_struct, struct pt_regs) and, for MIPS,
// arch/mips/include/uapi/asm/reg.h.
type layout struct {
	arch  *arch.Arch
	size  int // of struct elf_prstatus
	regs  int // offset of pr_reg in it
	slots []slot

	// syscall is the offset of the number of the system call that a thread is in, which is not a
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

// layouts has a row for each CPU. The first row of a CPU is the one that is written.
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

// slots lays out registers consecutively from off on, in words of size bytes; ":4" sets the size
// of the following words, and "-" is a word without a register.
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

// layoutOf returns the layout of a note of size bytes, or the CPU's usual one for an unknown
// size: on another machine than the process's, BFD writes cores with its own machine's structure,
// filled with as many registers as fit.
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

const statusCurSig = 12 // offset of pr_cursig in struct elf_prstatus, a short

// statusOffsets returns the offsets of pr_pid and pr_utime in struct elf_prstatus.
func statusOffsets(word int) (pid, utime int) {
	if word == 4 {
		return 24, 40
	}
	return 32, 48
}

// readStatus reads an NT_PRSTATUS, which is the first of a thread's notes.
func (r *reader) readStatus(n note) {
	pidAt, utime := statusOffsets(r.word)
	pid, ok := uintAt(n.desc, pidAt, 4, r.order())
	if !ok {
		r.problem("a thread", n.offset, "NT_PRSTATUS of %d bytes", len(n.desc))
		return
	}
	sig, _ := uintAt(n.desc, statusCurSig, 2, r.order())
	t := dump.Thread{ID: uint32(pid), Signal: int(sig)}
	if r.d.Arch != nil {
		t.Context = r.readRegs(n)
	}
	r.d.Threads = append(r.d.Threads, t)
	r.signals = append(r.signals, signal{})
	if utime+4*r.word <= len(n.desc) {
		r.times = append(r.times, cpuTime{t.ID, r.timeval(n.desc[utime:]), r.timeval(n.desc[utime+2*r.word:])})
	}
}

// readRegs returns the registers that the note has, or nil if it lacks PC or
// SP.
func (r *reader) readRegs(n note) *dump.Context {
	l, regs := layoutOf(r.d.Arch, len(n.desc)), n.desc
	if l.size != len(regs) {
		regs = regs[:max(0, len(regs)-r.word)] // pr_fpvalid, padded, ends every layout
	}
	ctx := dump.NewContext(r.d.Arch)
	fill(ctx, l.slots, regs, r)
	if l.narrow {
		for _, s := range l.slots {
			if v, ok := ctx.At(s.reg); ok {
				ctx.SetAt(s.reg, uint64(uint32(v)))
			}
		}
	}
	_, pc := ctx.Get(ctx.Arch.PC)
	_, sp := ctx.Get(ctx.Arch.SP)
	missing := 0
	for _, s := range l.slots {
		if s.off+s.size > len(regs) {
			missing++
		}
	}
	switch {
	case !pc || !sp:
		r.problem("registers of a thread", n.offset, "NT_PRSTATUS of %d bytes, want %d", len(n.desc), l.size)
		return nil
	case missing > 0:
		r.problem("registers", n.offset, "NT_PRSTATUS of %d bytes, want %d: it lacks the last %d registers", len(n.desc), l.size, missing)
	}
	return ctx
}

// fill sets the registers of the slots that are within b.
func fill(ctx *dump.Context, slots []slot, b []byte, r *reader) {
	for _, s := range slots {
		if v, ok := uintAt(b, s.off, s.size, r.order()); ok {
			ctx.SetAt(s.reg, v)
		}
	}
}
