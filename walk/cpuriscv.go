package walk

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt/arch"
)

// riscvLayouts are those of the RISC-V ELF psABI, "frame pointer convention". Breakpad and
// rust-minidump read it like arm64's.
var riscvLayouts = []layout{{reg: "s0", fp: -2, ra: -1, sp: 0, leaf: -1, leafSP: 0, hasLeaf: true, often: true}}

var cpuRISCV = newCPU(cpu{
	arch:       arch.RISCV,
	call:       2,
	align:      2,
	clean:      withoutISABit, // jalr ignores it
	result:     "a0",
	techniques: []technique{bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan},
	calls:      func(c callCode) CallAnswer { return c.riscv(true) },
	layouts:    riscvLayouts,
	order:      littleEndian,
	// The mask has room for 1024 signals, and what follows is aligned to 16.
	frames: []signalFrame{{name: "rt", info: 0, uc: 128, via: -1,
		code:  twoWords(4, "08b00893 00000073"), // li a7,139; ecall
		slots: slots(128+160, 4, riscvSigcontext)}},
})

var cpuRISCV64 = newCPU(cpu{
	arch:       arch.RISCV64,
	call:       2,
	align:      2,
	clean:      withoutISABit,
	result:     "a0",
	techniques: []technique{bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan},
	calls:      func(c callCode) CallAnswer { return c.riscv(false) },
	layouts:    riscvLayouts,
	order:      littleEndian,
	// The mask has room for 1024 signals, and what follows is aligned to 16.
	frames: []signalFrame{{name: "rt", info: 0, uc: 128, via: -1,
		code:  twoWords(4, "08b00893 00000073"),
		slots: slots(128+176, 8, riscvSigcontext)}},
})

// riscvSigcontext are the registers in struct sigcontext, in order.
const riscvSigcontext = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

// riscv: JAL and JALR that link to ra or t0, and their short forms (unprivileged
// ISA, 2.5 and "C" extension); C.JAL is for 32 bits only.
func (c callCode) riscv(short bool) CallAnswer {
	if h, ok := c.half(binary.LittleEndian, 2); ok {
		if h&0xf07f == 0x9002 && h&0x0f80 != 0 || short && h&0xe003 == 0x2001 {
			return CallYes
		}
	}
	w, ok := c.word(binary.LittleEndian, 4)
	if !ok {
		return CallUnknown
	}
	link := w>>7&31 == 1 || w>>7&31 == 5
	return callIf(link && (w&0x7f == 0x6f || w&0x707f == 0x67))
}
