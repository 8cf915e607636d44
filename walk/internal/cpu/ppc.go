package cpu

import (
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

var cpuPPC = newCPU(CPU{
	Arch:       arch.PPC,
	Call:       4,
	Align:      4,
	Result:     "r3",
	TLS:        biased("r2"),
	Techniques: []Technique{BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByFramePointer, ByScan},
	calls:      callCode.ppc,
	BackChain:  1,
	AppleChain: 2,
	Order:      dataEndian,
	Frames: []SignalFrame{
		{Name: "rt", Info: ppcLinkage + 16, UC: ppcLinkage + 16 + siginfoSize, Via: ppcLinkage + 16 + siginfoSize + 48,
			Code:  twoWords(4, "380000ac 44000002"), // li r0,172; sc
			Slots: slots(0, 4, ppcSigcontext)},
		{Name: "old", Info: -1, UC: -1, Via: ppcLinkage + 28,
			Code:  twoWords(4, "38000077 44000002"), // li r0,119; sc
			Slots: slots(0, 4, ppcSigcontext)},
	},
})

var cpuPPC64 = newCPU(CPU{
	Arch:        arch.PPC64,
	Call:        4,
	Align:       4,
	Result:      "r3",
	TLS:         biased("r13"),
	Techniques:  []Technique{BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByFramePointer, ByScan},
	calls:       callCode.ppc,
	BackChain:   2,
	Descriptors: true,
	Order:       dataEndian,
	Frames: []SignalFrame{
		{Name: "rt", Info: -1, UC: ppc64Linkage, Via: -1,
			Code: []Trampoline{ // addi r1,r1,128; li r0,172; sc
				{code: "38210080 380000ac 44000002", Steps: []step{{0, 0}, {4, ppc64Linkage}, {8, ppc64Linkage}}},
			},
			Slots: slots(ppc64Linkage+ppc64Regs, 8, ppcSigcontext)},
		{Name: "qemu", Info: -1, UC: ppc64Linkage + 16, Via: -1,
			Code:  twoWords(4, "380000ac 44000002"), // li r0,172; sc: QEMU's, which has 16 more bytes there
			Slots: slots(ppc64Linkage+16+ppc64Regs, 8, ppcSigcontext)},
	},
})

// What precedes a signal frame, for the handler's callees.
const (
	ppcLinkage   = 64
	ppc64Linkage = 128
)

// ppc64Regs is the offset of the general registers in struct ucontext of
// 64-bit PowerPC: after flags, link, stack, mask, and 64 bytes of sigcontext.
const ppc64Regs = 40 + 128 + 64

// ppcSigcontext are the registers in struct sigcontext, in order. The word
// after msr is the argument of a system call.
var ppcSigcontext = strings.Join(names("r", 32, "srr0", "-", "-", "ctr", "lr", "xer"), " ")

// ppc recognises the instructions that set the link register (Power ISA, book
// I, 2.4).
func (c callCode) ppc() CallAnswer {
	w, ok := c.word(c.order, 4)
	if !ok {
		return CallUnknown
	}
	branch := w>>26 == 18 || w>>26 == 16 || // b, bc
		w>>26 == 19 && (w>>1&0x3ff == 16 || w>>1&0x3ff == 528 || w>>1&0x3ff == 560) // bclr, bcctr, bctar
	return callIf(branch && w&1 == 1)
}
