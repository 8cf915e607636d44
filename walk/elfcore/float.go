package elfcore

import "github.com/symtool/symtool/symfmt/arch"

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

// readFloat adds the floating-point registers to those of the last thread. A note of another size
// has an unknown layout, and is only listed.
func (r *reader) readFloat(n note) {
	if len(r.d.Threads) == 0 {
		return
	}
	ctx := r.d.Threads[len(r.d.Threads)-1].Context
	if ctx == nil {
		return
	}
	for i := range floatNotes {
		f := &floatNotes[i]
		if f.arch != r.d.Arch || f.owner != n.owner || f.kind != n.kind || f.size != len(n.desc) {
			continue
		}
		if f.block > 0 {
			ctx.Vector = n.desc[:f.block:f.block]
			fill(ctx, fxsaveSlots[f.arch], n.desc, r)
		}
		fill(ctx, f.slots, n.desc, r)
	}
}
