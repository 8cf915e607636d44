package walk

import (
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

var cpuS390X = newCPU(cpu{
	arch:       arch.S390X,
	call:       2,
	align:      2,
	result:     "r2",
	techniques: []technique{bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan},
	calls:      callCode.s390x,
	backChain:  14, // in programs that are compiled with -mbackchain
	order:      asWritten,
	frames: []signalFrame{
		{name: "rt", info: 168, uc: 296, via: -1,
			code:  []trampoline{{code: "0aad", steps: starts0(0)}}, // svc 173
			slots: slots(296+40, 8, s390xSigcontext)},
		{name: "old", info: -1, uc: -1, via: 168,
			code:  []trampoline{{code: "0a77", steps: starts0(0)}}, // svc 119
			slots: slots(0, 8, s390xSigcontext)},
	},
})

// s390xSigcontext are the registers in struct sigcontext, in order.
var s390xSigcontext = "pswm pswa " + strings.Join(names("r", 16), " ")

// s390x: branch and save, and relative (z/Architecture, chapter 7).
func (c callCode) s390x() CallAnswer {
	if w, ok := c.word(c.order, 6); ok && w>>24 == 0xc0 && w>>16&15 == 5 { // brasl
		return CallYes
	}
	if w, ok := c.word(c.order, 4); ok && (w>>24 == 0xa7 && w>>16&15 == 5 || w>>24 == 0x4d) { // bras, bas
		return CallYes
	}
	h, ok := c.half(c.order, 2)
	if !ok {
		return CallUnknown
	}
	return callIf(h>>8 == 0x0d && h&15 != 0) // basr
}
