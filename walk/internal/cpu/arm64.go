package cpu

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

var cpuARM64 = newCPU(CPU{
	Arch:       arch.ARM64,
	Call:       4,
	Align:      4,
	Clean:      stripPAC,
	Mask:       addressMask,
	Result:     "x0",
	TLS:        afterTCB("tpidr_el0", 16),
	Techniques: []Technique{BySignalFrame, ByGoStack, BySymbols, ByEHFrame, BySFrame, ByCode, ByReturn, ByFramePointer, ByScan},
	calls:      callCode.arm64,
	Layouts:    []Layout{{Reg: "x29", FP: 0, RA: 1, SP: 2}},
	MakesFrame: arm64Frame,
	Go: &GoStack{G: 0, Depth: 1, FP: -1, Callback: 2, CrossFrame: 24, SavedAt: 4,
		SavedNames: "x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 - - - - - - - - x29", SPName: "x20", CurrentName: "x28"},
	FreeRecord: true,
	Order:      littleEndian,
	Frames: []SignalFrame{{Name: "rt", Info: 0, UC: 128, Via: -1,
		Code: twoWords(4, "d2801168 d4000001"), // mov x8,#139; svc #0
		// The signal mask has 1024 bits, and sigcontext, which begins with the
		// fault's address, is aligned to 16.
		Slots: slots(128+176+8, 8, strings.Join(names("x", 31, "sp", "pc", "cpsr"), " ")),
	}},
})

// arm64 recognises BL, BLR, and BLR with authentication (Arm ARM, C4.1). Instructions are always
// little-endian.
func (c callCode) arm64() CallAnswer {
	w, ok := c.word(binary.LittleEndian, 4)
	if !ok {
		return CallUnknown
	}
	return callIf(w&0xfc00_0000 == 0x9400_0000 || // BL
		w&0xffff_fc1f == 0xd63f_0000 || // BLR
		w&0xffff_f81f == 0xd63f_081f || // BLRAAZ, BLRABZ
		w&0xffff_f800 == 0xd73f_0800) // BLRAA, BLRAB
}

// arm64Frame returns the length of the instructions up to the one that makes x29 point to the saved
// x29 and x30, or 0 if they are missing.
func arm64Frame(code []byte) int {
	stored := -1
	for i := 0; i+4 <= len(code); i += 4 {
		w := binary.LittleEndian.Uint32(code[i:])
		switch {
		case w&0xffc0_7fff == 0xa980_7bfd: // stp x29, x30, [sp, #n]!
			stored = 0
		case w&0xffc0_7fff == 0xa900_7bfd: // stp x29, x30, [sp, #n]
			stored = int(int32(w<<10)>>25) * 8
		case w&0xffc0_03ff == 0x9100_03fd: // add x29, sp, #n
			if stored >= 0 && int(w>>10&0xfff) == stored {
				return i + 4
			}
			return 0
		}
	}
	return 0
}

// stripPAC removes the pointer authentication code from an address on arm64. It is in bits 54 and
// below, down to the size of the address space, and in bits 63 to 56 unless the top byte is
// ignored. Bit 55 separates the user's half of the address space, in which all of these bits are
// 0, from the kernel's (Arm Architecture Reference Manual, D8.10).
func stripPAC(pc, mask uint64) uint64 {
	if pc>>55&1 != 0 {
		return pc
	}
	return pc & mask
}

// The smallest number of bits in a program's addresses: Apple's is fixed; Linux has 39, 42, 47, 48
// or 52 depending on its configuration, and Android 39.
const (
	appleBits   = 47
	leastBits   = 39
	unknownBits = 47
)

// addressMask returns the bits that addresses of the process use, by the dump's mask of pointer authentication codes or,
// if it has none, judging by the highest address in
// the dump. Breakpad uses the highest module's address, and rust-minidump 47 bits or more. Stacks
// and mappings reveal more, because Linux puts stacks at the top.
func addressMask(d *dump.Dump) uint64 {
	if d.Tags != 0 {
		return (1<<55 - 1) &^ d.Tags
	}
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
	// All three are in order of address.
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
