package cpu

import (
	"encoding/hex"
	"slices"
	"strings"
)

// SignalFrame is Linux's layout of the stack when a signal handler runs: the registers of the
// interrupted code, and the handler's arguments. Offsets are from the stack pointer of the code to
// which the handler returns.
//
// The layouts are ABI: arch/*/kernel/signal*.c (struct sigframe, struct rt_sigframe) and
// arch/*/include/uapi/asm/{ucontext,sigcontext}.h of Linux.
type SignalFrame struct {
	Name string // suffix of the function to which handlers return: "rt", or "old" for the one from before 1998
	Code []Trampoline

	Info int // offset of siginfo_t, or -1
	UC   int // offset of struct ucontext, or -1

	// Via is the offset of a pointer to the registers, to which Slots are then
	// relative, or -1.
	Via   int
	Slots []slot
}

// slot is a register in memory.
type slot struct {
	Off, Size int
	Reg       string
}

// Trampoline is code that makes the system call with which a handler ends.
type Trampoline struct {
	// code is in hexadecimal digits. Each of its groups is a unit of memory in the byte order of
	// instructions.
	code string
	// Big and Little are the bytes of code for CPUs whose instructions have that byte order.
	Big, Little []byte
	// Steps are the offsets of the instructions, with how much higher the stack pointer is there
	// than at the first.
	Steps []step
}

type step struct{ Off, SP int }

// starts0 returns the steps of a trampoline that does not move the stack pointer.
func starts0(offs ...int) (s []step) {
	for _, off := range offs {
		s = append(s, step{off, 0})
	}
	return s
}

// twoWords returns trampolines of two instructions of size bytes each.
func twoWords(size int, codes ...string) (t []Trampoline) {
	for _, c := range codes {
		t = append(t, Trampoline{code: c, Steps: starts0(0, size)})
	}
	return t
}

// siginfoSize is the size of siginfo_t, on all CPUs.
const siginfoSize = 128

// slots lays out registers consecutively; "-" is a word without a register.
func slots(off, size int, regs string) (all []slot) {
	for _, reg := range strings.Fields(regs) {
		if reg != "-" {
			all = append(all, slot{off, size, reg})
		}
		off += size
	}
	return all
}

func (t *Trampoline) parse() {
	for _, unit := range strings.Fields(t.code) {
		b, err := hex.DecodeString(unit)
		if err != nil {
			panic("cpu: code " + t.code)
		}
		t.Big = append(t.Big, b...)
		slices.Reverse(b)
		t.Little = append(t.Little, b...)
	}
}
