package symelf

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// machine is what an ELF header says of a CPU besides its number and class.
type machine struct {
	order  byteOrder // the usual one
	either bool      // the other one is in use, too
	flags  uint32    // e_flags of the usual calling convention
}

// e_flags, from each processor supplement (psABI).
const (
	armEABI5    = 0x05000000
	mipsO32R2   = 0x70001000 // EF_MIPS_ARCH_32R2, EF_MIPS_ABI_O32
	mipsN64R2   = 0x80000000 // EF_MIPS_ARCH_64R2; n64 has no flag
	riscvFloatC = 0x5        // EF_RISCV_RVC, double-precision floating point
	ppc64ELFv2  = 2          // little-endian only: big-endian systems use ELFv1
)

func machineOf(a *arch.Arch) machine {
	switch a {
	case arch.ARM:
		return machine{binary.LittleEndian, true, armEABI5}
	case arch.ARM64:
		return machine{binary.LittleEndian, true, 0}
	case arch.MIPS:
		return machine{binary.LittleEndian, true, mipsO32R2}
	case arch.MIPS64:
		return machine{binary.LittleEndian, true, mipsN64R2}
	case arch.PPC:
		return machine{binary.BigEndian, true, 0}
	case arch.PPC64:
		return machine{binary.LittleEndian, true, ppc64ELFv2}
	case arch.RISCV, arch.RISCV64:
		return machine{binary.LittleEndian, false, riscvFloatC}
	case arch.S390X:
		return machine{binary.BigEndian, false, 0}
	}
	return machine{binary.LittleEndian, false, 0}
}

// orderOf decides the byte order: the option's, else the one in which the build
// id of INFO CODE_ID gives MODULE's id, else the CPU's usual one.
func orderOf(m *symfmt.Module, mach machine, o Options) byteOrder {
	switch {
	case o.Order == Little:
		return binary.LittleEndian
	case o.Order == Big:
		return binary.BigEndian
	}
	if id := codeID(m); mach.either && len(id) >= guidSize {
		little, big := bin.SwapGUID(id, binary.LittleEndian), bin.SwapGUID(id, binary.BigEndian)
		switch own := guidBytes(m.ID); {
		case own == nil || little == big:
		case [guidSize]byte(own) == little:
			return binary.LittleEndian
		case [guidSize]byte(own) == big:
			return binary.BigEndian
		}
	}
	return mach.order
}

const guidSize = bin.GUIDSize

// codeID returns the build id of INFO CODE_ID, or nil. That of a Windows module is not a
// build id but a time and a size.
func codeID(m *symfmt.Module) []byte {
	if m.OS == "windows" {
		return nil
	}
	for _, in := range m.Infos {
		if id, err := hex.DecodeString(in.CodeID()); err == nil && len(id) > 0 && len(id) <= 64 {
			return id
		}
	}
	return nil
}

// guidBytes returns the 16 bytes of the GUID in a MODULE's id as they are written, or
// nil where there are fewer digits.
func guidBytes(id string) []byte {
	if len(id) < 2*guidSize {
		return nil
	}
	b, err := hex.DecodeString(id[:2*guidSize])
	if err != nil {
		return nil
	}
	return b
}

// buildID returns what goes into the note: the CODE_ID, else the bytes of MODULE's
// GUID; nil without either.
func buildID(m *symfmt.Module, order byteOrder) []byte {
	if id := codeID(m); id != nil {
		return id
	}
	own := guidBytes(m.ID)
	if own == nil || [guidSize]byte(own) == [guidSize]byte{} {
		return nil
	}
	g := bin.SwapGUID(own, order)
	return g[:]
}
