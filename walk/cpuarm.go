package walk

import "github.com/symtool/symtool/symfmt/arch"

var cpuARM = newCPU(cpu{
	arch:       arch.ARM,
	call:       2,
	align:      2,
	clean:      withoutISABit, // Thumb
	result:     "r0",
	techniques: []technique{bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan},
	calls:      callCode.arm,
	layouts: []layout{
		{reg: "r11", fp: -1, ra: 0, sp: 1, leaf: 0, leafSP: 1, hasLeaf: true, often: true}, // GCC: push {fp, lr}; add fp, sp, #4
		{reg: "r11", fp: 0, ra: 1, sp: 2, often: true},                                     // Clang: push {r11, lr}; mov r11, sp
		{reg: "r11", fp: -3, ra: -1, sp: -2, spSaved: true, often: true},                   // APCS: push {fp, ip, lr, pc}; sub fp, ip, #4
		{reg: "r7", fp: 0, ra: 1, sp: 2, often: true},                                      // Clang, Thumb
	},
	apple:    []layout{{reg: "r7", fp: 0, ra: 1, sp: 2}},
	loadsPC:  true,
	bothSets: true,
	order:    eitherEndian,
	frames: []signalFrame{
		{name: "rt", info: 0, uc: 128, via: -1,
			code: armTrampolines("ad"),
			// After flags, link and stack: trap number, error code, mask.
			slots: slots(128+20+12, 4, armSigcontext)},
		{name: "old", info: -1, uc: 0, via: -1,
			code:  armTrampolines("77"),
			slots: slots(20+12, 4, armSigcontext)},
	},
})

// armSigcontext are the registers in struct sigcontext, in order.
const armSigcontext = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr pc cpsr"

// armTrampolines are those for a number of a system call, in two hexadecimal
// digits: the kernel's and the C libraries', of both instruction sets, and the
// old ABI's, whose number is in the instruction.
func armTrampolines(nr string) []trampoline {
	return []trampoline{
		{code: "e3a070" + nr + " ef000000", steps: starts0(0, 4)}, // mov r7,#nr; svc 0
		{code: "e3a070" + nr + " ef9000" + nr, steps: starts0(0, 4)},
		{code: "27" + nr + " df00", steps: starts0(0, 2)}, // movs r7,#nr; svc 0
		{code: "f04f 07" + nr + " df00", steps: starts0(0, 4)},
		{code: "ef9000" + nr, steps: starts0(0)},
	}
}

// arm accepts either instruction set, since a return address does not imply one: BL, BLX, and what
// was used before BLX (Arm ARM, F5.1).
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
		return CallNo // no place for instructions of 4 bytes
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
