package cpu

import (
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

var cpuS390X = newCPU(CPU{
	Arch:       arch.S390X,
	Call:       2,
	Align:      2,
	Result:     "r2",
	TLS:        TLS{Pointer: "a0", Low: "a1"},
	Techniques: []Technique{BySymbols, ByEHFrame, BySFrame, BySignalFrame, ByReturn, ByFramePointer, ByScan},
	calls:      callCode.s390x,
	BackChain:  14, // in programs that are compiled with -mbackchain
	Order:      asWritten,
	Frames: []SignalFrame{
		{Name: "rt", Info: 168, UC: 296, Via: -1,
			Code:  []Trampoline{{code: "0aad", Steps: starts0(0)}}, // svc 173
			Slots: slots(296+40, 8, s390xSigcontext)},
		{Name: "old", Info: -1, UC: -1, Via: 168,
			Code:  []Trampoline{{code: "0a77", Steps: starts0(0)}}, // svc 119
			Slots: slots(0, 8, s390xSigcontext)},
	},
})

// s390xSigcontext are the registers in struct sigcontext, in order.
var s390xSigcontext = "pswm pswa " + strings.Join(names("r", 16), " ")

// s390x recognises branch and save, and its relative forms (z/Architecture,
// chapter 7).
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
