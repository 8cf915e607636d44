package elfobj

import (
	"debug/elf"

	"github.com/symtool/symtool/symfmt/arch"
)

// relocTypes holds the relocation types of one file's machine.
type relocTypes struct {
	kinds  []arch.Reloc // by number
	mips64 bool         // r_info holds three types
}

// newRelocTypes returns nil for a machine whose types are unknown.
func newRelocTypes(f *File) *relocTypes {
	known := arch.RelocsOf(f.Machine)
	if known == nil {
		return nil
	}
	t := &relocTypes{mips64: f.Machine == elf.EM_MIPS && f.Class == elf.ELFCLASS64}
	for n, k := range known {
		for uint32(len(t.kinds)) <= n {
			t.kinds = append(t.kinds, arch.Reloc{})
		}
		t.kinds[n] = k
	}
	return t
}

// kind returns the effect of relocations of a type.
func (t *relocTypes) kind(typ uint32) arch.Reloc {
	if typ < uint32(len(t.kinds)) {
		return t.kinds[typ]
	}
	if t.mips64 {
		return t.three(typ)
	}
	return arch.Reloc{}
}

// three is like kind, for the three types in one relocation on 64-bit MIPS (64-bit
// ELF Object File Specification 2.5, 2.9): the result of the first is the addend of
// the second, whose symbol is 0, and the last gives the width of the field.
func (t *relocTypes) three(typ uint32) arch.Reloc {
	if typ>>24 != 0 || typ&0xff >= uint32(len(t.kinds)) {
		return arch.Reloc{}
	}
	k := t.kinds[typ&0xff]
	for _, next := range []uint32{typ >> 8 & 0xff, typ >> 16 & 0xff} {
		switch elf.R_MIPS(next) {
		case elf.R_MIPS_NONE:
			return k
		case elf.R_MIPS_32, elf.R_MIPS_64:
			k.Size = t.kinds[next].Size
		default:
			return arch.Reloc{}
		}
	}
	return k
}
