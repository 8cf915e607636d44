package walk

import (
	"math/bits"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// cleaners are the CPUs whose return addresses have bits that do not belong to the address. x86 and
// x86-64, PowerPC and s390x have none.
var cleaners = map[*arch.Arch]func(*unwinder, uint64) uint64{
	arch.ARM:     withoutISABit, // Thumb
	arch.ARM64:   stripPAC,
	arch.MIPS:    withoutISABit, // MIPS16 and microMIPS
	arch.MIPS64:  withoutISABit,
	arch.RISCV:   withoutISABit, // jalr ignores it
	arch.RISCV64: withoutISABit,
}

func withoutISABit(_ *unwinder, pc uint64) uint64 { return pc &^ 1 }

// stripPAC removes the pointer authentication code from an address of arm64. It is in bits 54 and
// below, down to the size of the address space, and in 63 to 56 where the top byte is not ignored.
// Bit 55 separates the user's half of the address space, in which all others are 0, from the
// kernel's (Arm Architecture Reference Manual, D8.10).
func stripPAC(u *unwinder, pc uint64) uint64 {
	if u.pac == 0 {
		u.pac = addressMask(u.d)
	}
	if pc>>55&1 != 0 {
		return pc
	}
	return pc & u.pac
}

// The least bits of an address of a program: Apple's is fixed, Linux has 39, 42,
// 47, 48 or 52 by its configuration, and Android 39.
const (
	appleBits   = 47
	leastBits   = 39
	unknownBits = 47
)

// addressMask has the bits that addresses of the process use, as far as the highest address in the
// dump shows. Breakpad takes that of the highest module, rust-minidump 47 bits or more. Stacks and
// mappings show more, as Linux has stacks on top.
func addressMask(d *dump.Dump) uint64 {
	least := leastBits
	switch d.System.OS {
	case dump.MacOS, dump.IOS:
		least = appleBits
	case dump.UnknownOS, dump.Windows:
		least = unknownBits
	}
	top := uint64(1)<<least - 1
	raise := func(last uint64) {
		if last>>55 == 0 {
			top |= last
		}
	}
	// All three are in the order of addresses.
	if n := len(d.Modules); n > 0 {
		raise(d.Modules[n-1].Addr + d.Modules[n-1].Size - 1)
	}
	if n := len(d.Maps); n > 0 {
		raise(d.Maps[n-1].Addr + d.Maps[n-1].Size - 1)
	}
	if n := len(d.Memory.Regions); n > 0 {
		raise(d.Memory.Regions[n-1].End() - 1)
	}
	return uint64(1)<<bits.Len64(top) - 1
}

// alignments are those of instructions, in bytes.
var alignments = map[*arch.Arch]uint64{
	arch.X86: 1, arch.X86_64: 1, arch.ARM: 2, arch.ARM64: 4, arch.MIPS: 2, arch.MIPS64: 2,
	arch.PPC: 4, arch.PPC64: 4, arch.RISCV: 2, arch.RISCV64: 2, arch.S390X: 2,
}
