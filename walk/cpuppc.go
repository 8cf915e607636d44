package walk

import (
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

var cpuPPC = newCPU(cpu{
	arch:       arch.PPC,
	call:       4,
	align:      4,
	result:     "r3",
	techniques: []technique{bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan},
	calls:      callCode.ppc,
	backChain:  1,
	appleChain: 2,
	order:      dataEndian,
	frames: []signalFrame{
		{name: "rt", info: ppcLinkage + 16, uc: ppcLinkage + 16 + siginfoSize, via: ppcLinkage + 16 + siginfoSize + 48,
			code:  twoWords(4, "380000ac 44000002"), // li r0,172; sc
			slots: slots(0, 4, ppcSigcontext)},
		{name: "old", info: -1, uc: -1, via: ppcLinkage + 28,
			code:  twoWords(4, "38000077 44000002"), // li r0,119; sc
			slots: slots(0, 4, ppcSigcontext)},
	},
})

var cpuPPC64 = newCPU(cpu{
	arch:        arch.PPC64,
	call:        4,
	align:       4,
	result:      "r3",
	techniques:  []technique{bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan},
	calls:       callCode.ppc,
	backChain:   2,
	descriptors: true,
	order:       dataEndian,
	frames: []signalFrame{
		{name: "rt", info: -1, uc: ppc64Linkage, via: -1,
			code: []trampoline{ // addi r1,r1,128; li r0,172; sc
				{code: "38210080 380000ac 44000002", steps: []step{{0, 0}, {4, ppc64Linkage}, {8, ppc64Linkage}}},
			},
			slots: slots(ppc64Linkage+ppc64Regs, 8, ppcSigcontext)},
		{name: "qemu", info: -1, uc: ppc64Linkage + 16, via: -1,
			code:  twoWords(4, "380000ac 44000002"), // li r0,172; sc: of QEMU, which has 16 bytes more there
			slots: slots(ppc64Linkage+16+ppc64Regs, 8, ppcSigcontext)},
	},
})

// What is in front of a signal frame, for the callees of the handler.
const (
	ppcLinkage   = 64
	ppc64Linkage = 128
)

// ppc64Regs is where struct ucontext of 64-bit PowerPC has general registers:
// behind flags, link, stack, mask, and 64 bytes of sigcontext.
const ppc64Regs = 40 + 128 + 64

// ppcSigcontext are the registers in struct sigcontext, in order.
// The word behind msr is the argument of a system call.
var ppcSigcontext = strings.Join(names("r", 32, "srr0", "-", "-", "ctr", "lr", "xer"), " ")

// ppc: what sets the link register (Power ISA, book I, 2.4).
func (c callCode) ppc() CallAnswer {
	w, ok := c.word(c.order, 4)
	if !ok {
		return CallUnknown
	}
	branch := w>>26 == 18 || w>>26 == 16 || // b, bc
		w>>26 == 19 && (w>>1&0x3ff == 16 || w>>1&0x3ff == 528 || w>>1&0x3ff == 560) // bclr, bcctr, bctar
	return callIf(branch && w&1 == 1)
}
