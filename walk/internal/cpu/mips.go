package cpu

import "github.com/symtool/symtool/symfmt/arch"

// MIPS has no frame pointers that can be followed: they point to the low end of a frame of unknown
// size.

// A scan covers 1024 bytes on MIPS, as in Breakpad, without the words that a caller reserves for
// its callee's arguments, 4 in the 32-bit ABI.
const (
	scanBytesMIPS = 1024
	argWordsMIPS  = 4
)

var cpuMIPS = newCPU(CPU{
	Arch:       arch.MIPS,
	Call:       8,
	Align:      2,
	Clean:      withoutISABit, // MIPS16 and microMIPS
	Result:     "$v0",
	TLS:        biased("UserLocal"),
	Techniques: []Technique{BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByScan},
	calls:      callCode.mips,
	ScanBytes:  scanBytesMIPS,
	ArgWords:   argWordsMIPS,
	Order:      dataEndian,
	Frames: []SignalFrame{
		{Name: "rt", Info: 24, UC: 152, Via: -1,
			Code:  twoWords(4, "24021061 0000000c"), // li v0,4193; syscall
			Slots: append(slots(152+24+8, 8, "$pc"), slots(152+24+16, 8, mipsSigcontext)...)},
		{Name: "old", Info: -1, UC: -1, Via: -1,
			Code:  twoWords(4, "24021017 0000000c"), // li v0,4119; syscall
			Slots: append(slots(24+8, 8, "$pc"), slots(24+16, 8, mipsSigcontext)...)},
		{Name: "n32", Info: 24, UC: 152, Via: -1,
			Code:  twoWords(4, "24021843 0000000c"), // li v0,6211; syscall
			Slots: append(slots(152+24, 8, mipsSigcontext), slots(152+24+mips64PC, 8, "$pc")...)},
	},
})

var cpuMIPS64 = newCPU(CPU{
	Arch:       arch.MIPS64,
	Call:       8,
	Align:      2,
	Clean:      withoutISABit,
	Result:     "$v0",
	TLS:        biased("UserLocal"),
	Techniques: []Technique{BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByScan},
	calls:      callCode.mips,
	ScanBytes:  scanBytesMIPS,
	Order:      dataEndian,
	Frames: []SignalFrame{{Name: "rt", Info: 24, UC: 152, Via: -1,
		Code:  twoWords(4, "2402145b 0000000c"), // li v0,5211; syscall
		Slots: append(slots(152+40, 8, mipsSigcontext), slots(152+40+mips64PC, 8, "$pc")...)}},
})

// mips64PC is the offset of the program counter in struct sigcontext of the
// 64-bit ABIs: after 32 registers of each kind, and 8 halves of products.
const mips64PC = 2*32*8 + 8*8

// mipsSigcontext are the registers in struct sigcontext, in order.
const mipsSigcontext = "- $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 " +
	"$s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 - - $gp $sp $fp $ra"

// mips recognises jumps and branches that link, with their delay slot, and release 6's, which
// have no delay slot (MIPS32 and MIPS64 Architecture, volume II).
func (c callCode) mips() CallAnswer {
	if w, ok := c.word(c.order, 4); ok && (w>>26 == 0x3a || w>>26 == 0x3e && w>>21&31 == 0) { // BALC, JIALC
		return CallYes
	}
	w, ok := c.word(c.order, 8)
	if !ok {
		return CallUnknown
	}
	return callIf(w>>26 == 3 || w>>26 == 0x1d || // JAL, JALX
		w&0xfc00_003f == 9 || // JALR
		w>>26 == 1 && w>>18&7 == 4) // BLTZAL, BGEZAL, and likely
}
