package cpu

import "github.com/symtool/symtool/symfmt/arch"

var cpuARM = newCPU(CPU{
	Arch:       arch.ARM,
	Call:       2,
	Align:      2,
	Clean:      withoutISABit, // Thumb
	Result:     "r0",
	TLS:        afterTCB("tpidruro", 8),
	Techniques: []Technique{BySignalFrame, BySymbols, ByEHFrame, BySFrame, ByReturn, ByFramePointer, ByScan},
	calls:      callCode.arm,
	Layouts: []Layout{
		{Reg: "r11", FP: -1, RA: 0, SP: 1, Leaf: 0, LeafSP: 1, HasLeaf: true, Often: true}, // GCC: push {fp, lr}; add fp, sp, #4
		{Reg: "r11", FP: 0, RA: 1, SP: 2, Often: true},                                     // Clang: push {r11, lr}; mov r11, sp
		{Reg: "r11", FP: -3, RA: -1, SP: -2, SPSaved: true, Often: true},                   // APCS: push {fp, ip, lr, pc}; sub fp, ip, #4
		{Reg: "r7", FP: 0, RA: 1, SP: 2, Often: true},                                      // Clang, Thumb
	},
	Apple:    []Layout{{Reg: "r7", FP: 0, RA: 1, SP: 2}},
	LoadsPC:  true,
	BothSets: true,
	Order:    eitherEndian,
	Frames: []SignalFrame{
		{Name: "rt", Info: 0, UC: 128, Via: -1,
			Code: armTrampolines("ad"),
			// After flags, link and stack: trap number, error code, mask.
			Slots: slots(128+20+12, 4, armSigcontext)},
		{Name: "old", Info: -1, UC: 0, Via: -1,
			Code:  armTrampolines("77"),
			Slots: slots(20+12, 4, armSigcontext)},
	},
})

// armSigcontext are the registers in struct sigcontext, in order.
const armSigcontext = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr pc cpsr"

// armTrampolines returns the trampolines for a system call number, given as two hexadecimal digits:
// the kernel's and the C libraries', in both instruction sets, and the old ABI's, which have the
// number in the instruction.
func armTrampolines(nr string) []Trampoline {
	return []Trampoline{
		{code: "e3a070" + nr + " ef000000", Steps: starts0(0, 4)}, // mov r7,#nr; svc 0
		{code: "e3a070" + nr + " ef9000" + nr, Steps: starts0(0, 4)},
		{code: "27" + nr + " df00", Steps: starts0(0, 2)}, // movs r7,#nr; svc 0
		{code: "f04f 07" + nr + " df00", Steps: starts0(0, 4)},
		{code: "ef9000" + nr, Steps: starts0(0)},
	}
}

// arm accepts either instruction set, because a return address does not imply one: BL, BLX, and the
// sequence used before BLX existed (Arm ARM, F5.1).
func (c callCode) arm() CallAnswer {
	if h, ok := c.half(c.order, 2); ok && h&0xff83 == 0x4780 { // BLX Rm, BLXNS
		return CallYes
	}
	if h, ok := c.half(c.order, 4); ok && h&0xf800 == 0xf000 {
		if low, _ := c.half(c.order, 2); low&0xc000 == 0xc000 { // BL, BLX
			return CallYes
		}
	}
	w, ok := c.word(c.order, 4)
	if !ok {
		return CallUnknown
	}
	if c.ret&3 != 0 {
		return CallNo // too close to the start for instructions of 4 bytes
	}
	if w>>28 != 15 && w&0x0f00_0000 == 0x0b00_0000 || w&0xfe00_0000 == 0xfa00_0000 { // BL, BLX
		return callIf(c.goesToCode(c.ret+4+uint64(int64(int32(w<<8)>>6)), 32))
	}
	if w>>28 != 15 && w&0x0fff_fff0 == 0x012f_ff30 { // BLX Rm
		return CallYes
	}
	before, ok := c.word(c.order, 8)
	return callIf(ok && before&0x0fff_ffff == 0x01a0_e00f) // mov lr, pc; any jump
}
