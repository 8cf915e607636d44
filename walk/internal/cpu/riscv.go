package cpu

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt/arch"
)

// riscvLayouts follow the RISC-V ELF psABI, "frame pointer convention". Breakpad and
// rust-minidump read frames as on arm64.
var riscvLayouts = []Layout{{Reg: "s0", FP: -2, RA: -1, SP: 0, Leaf: -1, LeafSP: 0, HasLeaf: true, Often: true}}

var cpuRISCV = newCPU(CPU{
	Arch:       arch.RISCV,
	Call:       2,
	Align:      2,
	Clean:      withoutISABit, // jalr ignores it
	Result:     "a0",
	TLS:        afterTCB("tp", 0),
	Techniques: []Technique{BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByFramePointer, ByScan},
	calls:      func(c callCode) CallAnswer { return c.riscv(true) },
	Layouts:    riscvLayouts,
	Order:      littleEndian,
	// The signal mask has 1024 bits, and what follows is aligned to 16.
	Frames: []SignalFrame{{Name: "rt", Info: 0, UC: 128, Via: -1,
		Code:  twoWords(4, "08b00893 00000073"), // li a7,139; ecall
		Slots: slots(128+160, 4, riscvSigcontext)}},
})

var cpuRISCV64 = newCPU(CPU{
	Arch:       arch.RISCV64,
	Call:       2,
	Align:      2,
	Clean:      withoutISABit,
	Result:     "a0",
	TLS:        afterTCB("tp", 0),
	Techniques: []Technique{BySymbols, ByEHFrame, BySFrame, ByCode, BySignalFrame, ByReturn, ByFramePointer, ByScan},
	calls:      func(c callCode) CallAnswer { return c.riscv(false) },
	Layouts:    riscvLayouts,
	Order:      littleEndian,
	// The signal mask has 1024 bits, and what follows is aligned to 16.
	Frames: []SignalFrame{{Name: "rt", Info: 0, UC: 128, Via: -1,
		Code:  twoWords(4, "08b00893 00000073"),
		Slots: slots(128+176, 8, riscvSigcontext)}},
})

// riscvSigcontext are the registers in struct sigcontext, in order.
const riscvSigcontext = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

// riscv recognises JAL and JALR that link to ra or t0, and their compressed
// forms (unprivileged ISA, 2.5 and "C" extension); C.JAL exists on 32 bits
// only.
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
