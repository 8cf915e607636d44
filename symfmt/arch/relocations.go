package arch

import (
	"debug/elf"
	"slices"
)

// otherRelocs are the relocations of machines that are not in All. The debug information of their object files
// is read, though nothing is known of their stacks.
var otherRelocs = map[elf.Machine]map[uint32]Reloc{
	elf.EM_BPF: relocsBPF,
}

// relocsBPF follows Linux's documentation, "BPF LLVM relocations". Relocations of instructions are in
// .BTF.ext and code, which are not read.
var relocsBPF = map[uint32]Reloc{
	0:  {Op: RelocIgnored},      // R_BPF_NONE
	1:  {Op: RelocIgnored},      // R_BPF_64_64: two immediates of instructions
	2:  {Op: RelocAbs, Size: 8}, // R_BPF_64_ABS64
	3:  {Op: RelocAbs, Size: 4}, // R_BPF_64_ABS32
	4:  {Op: RelocAbs, Size: 4}, // R_BPF_64_NODYLD32, in .BTF and .BTF.ext
	10: {Op: RelocIgnored},      // R_BPF_64_32: the immediate of a call
}

// RelocsOf returns the Relocs of a machine, which need not be in All, or nil if they are unknown.
func RelocsOf(m elf.Machine) map[uint32]Reloc {
	if i := slices.IndexFunc(All, func(a *Arch) bool { return a.Machine == m }); i >= 0 {
		return All[i].Relocs
	}
	return otherRelocs[m]
}
