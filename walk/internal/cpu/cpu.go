// Package cpu describes each CPU as a value, with what the walker needs beyond arch.Arch.
package cpu

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/dump"
)

// CPU is what the walker needs to know about a CPU. Each family of CPUs has a file with its values.
type CPU struct {
	Arch *arch.Arch

	// Call is the distance, in bytes, from a return address back to an address inside the call. Symbols
	// and rules are looked up there.
	Call  uint64
	Align uint64 // alignment of instructions, in bytes

	// Clean clears the bits of a program counter that are not part of the address, given the result
	// of Mask; nil if a CPU has no such bits.
	Clean func(pc, mask uint64) uint64
	// Mask returns the process's mask for Clean; nil if Clean needs none.
	Mask func(*dump.Dump) uint64

	TLS         TLS
	Result      string // the register for the result of a system call, which is 0 in a new thread
	Descriptors bool   // big-endian code has function descriptors instead of addresses

	Techniques []Technique               // in the order in which they are tried
	calls      func(callCode) CallAnswer // whether code ends with a call
	BothSets   bool                      // calls handles both instruction sets that ISABit distinguishes

	// Layouts describe frames with a frame pointer, in order of likelihood. It is empty if frame pointers
	// cannot be followed. Apple replaces it on Apple's systems.
	Layouts, Apple []Layout
	NoWindowsFP    bool                  // frame pointers cannot be followed on Windows
	MakesFrame     func(code []byte) int // returns the length of the instructions at the start of a function that set up a frame
	FreeRecord     bool                  // the frame record may be anywhere in the frame
	LoadsPC        bool                  // functions return by loading pc, so the link register may lead anywhere

	// BackChain is the distance in words from the end of a link to the return address, if the word at the
	// stack pointer is the caller's stack pointer; otherwise 0. AppleChain replaces it on macOS.
	BackChain, AppleChain int

	ScanFP    ScanFP // how a scan finds the frame pointer
	ScanBytes int    // number of bytes of the stack to scan; 0 for the usual number of words
	ArgWords  uint64 // words of a frame that are reserved for arguments, which a scan skips

	// Order returns the byte orders that instructions may have.
	Order  func(data binary.ByteOrder) (big, little bool)
	Frames []SignalFrame // Linux's; the first that fits is used

	Go *GoStack // nil if Go does not support the CPU, or its stacks are unknown

	PC, SP cfi.Reg
	RA     cfi.Reg   // the link register, or NoReg
	Saved  []cfi.Reg // callee-saved or constant
	Kept   []cfi.Reg // general or constant registers, whose values Frame.Registers records
}

// Technique is a way to find the caller of a frame.
type Technique uint8

// The techniques.
const (
	BySignalFrame Technique = iota // the layout of the system's signal frame
	ByGoStack                      // what Go's runtime records about stacks that it leaves
	BySymbols                      // STACK CFI
	ByEHFrame                      // .eh_frame and .debug_frame of binaries
	BySFrame                       // .sframe of binaries
	ByCode                         // rules derived from instructions
	ByWin                          // STACK WIN
	ByLeaf                         // a function of Windows without unwind information
	ByReturn                       // the return address where the call left it
	ByFramePointer
	ByScan
)

// All are the CPUs whose stacks are walked.
var All = table(cpuARM, cpuARM64, cpuMIPS, cpuMIPS64, cpuPPC, cpuPPC64, cpuRISCV, cpuRISCV64, cpuS390X, cpuX86, cpuX86_64)

func table(list ...*CPU) map[*arch.Arch]*CPU {
	m := map[*arch.Arch]*CPU{}
	for _, c := range list {
		m[c.Arch] = c
	}
	return m
}

// Layout says where a function with a frame pointer keeps what its caller needs. Offsets are in words,
// relative to the address in the frame pointer's register.
type Layout struct {
	Reg     string // the frame pointer
	FP, RA  int    // offsets of the caller's frame pointer and the return address
	SP      int    // offset of the caller's stack pointer, or of the word where it is saved
	SPSaved bool
	// Leaf is the offset at which a leaf function keeps the caller's frame pointer while its return
	// address is still in the link register. LeafSP replaces SP. Both apply only if HasLeaf is set.
	Leaf, LeafSP int
	HasLeaf      bool
	// Often means that compilers use the register for other values unless an option keeps the frame
	// pointer. In that case a record must show both signs.
	Often bool

	Base cfi.Reg // of Reg
}

// GoStack says where Go's runtime keeps what it needs to return to another stack. Offsets are in words
// from the stack pointer after the call.
type GoStack struct {
	G, Depth int  // in asmcgocall: the goroutine, and the distance to the end of its stack
	FP       int  // the caller's frame pointer, as Go's assembler saves it
	FromCFA  bool // FP is relative to the frame's end instead of the stack pointer
	Callback int  // in cgocallback: the stack pointer of the previous callback
	// CrossFrame is the distance in crosscall2 to its caller's frame, and SavedAt the distance to the
	// values of Saved.
	CrossFrame, SavedAt int
	SavedNames          string // "-" for a word without a register

	PushedNames string // what crosscall1 has pushed, if it has no rules
	Restores    string // its instructions after the call
	SPName      string // the register that holds the stack pointer during calls of the vDSO
	CurrentName string // the register that holds the goroutine, or the thread's g0

	Saved, Pushed []cfi.Reg // SavedNames, PushedNames
	SP, Current   cfi.Reg   // SPName, CurrentName
}

// withRegisters resolves the names of registers in layouts.
func (c *CPU) withRegisters(list []Layout) []Layout {
	out := make([]Layout, len(list))
	for i, l := range list {
		l.Base = c.Reg(l.Reg)
		out[i] = l
	}
	return out
}

// ScanFP says how a scan finds the caller's frame pointer.
type ScanFP uint8

const (
	NoFP         ScanFP = iota
	FPBelow             // in the word below the return address
	FPBelowKnown        // there, if the frame pointer leads there
)

// newCPU resolves the names of a CPU's registers, and encodes its trampolines.
func newCPU(c CPU) *CPU {
	a := c.Arch
	if c.Clean == nil {
		c.Clean = func(pc, _ uint64) uint64 { return pc }
	}
	c.PC, c.SP, c.RA = c.Reg(a.PC), c.Reg(a.SP), cfi.NoReg
	if a.RA != "" {
		c.RA = c.Reg(a.RA)
	}
	for _, name := range slices.Concat(a.CalleeSaved, a.Constant) {
		c.Saved = append(c.Saved, c.Reg(name))
	}
	for _, name := range slices.Concat(a.General, a.Constant) {
		c.Kept = append(c.Kept, c.Reg(name))
	}
	c.Layouts, c.Apple = c.withRegisters(c.Layouts), c.withRegisters(c.Apple)
	if c.Go != nil {
		c.Go.Saved, c.Go.Pushed = c.regsNamed(c.Go.SavedNames), c.regsNamed(c.Go.PushedNames)
		c.Go.SP, c.Go.Current = c.Reg(c.Go.SPName), c.Reg(c.Go.CurrentName)
	}
	for _, l := range c.Frames {
		for i := range l.Code {
			l.Code[i].parse()
		}
	}
	return &c
}

// Reg returns the CPU's register of a name, which must exist.
func (c *CPU) Reg(name string) cfi.Reg {
	i, ok := c.Arch.RegIndex(name)
	if !ok {
		panic("cpu: no register " + name + " of " + c.Arch.Name)
	}
	return cfi.Reg(i)
}

// regsNamed returns the registers of names separated by spaces, and NoReg for "-".
func (c *CPU) regsNamed(names string) (regs []cfi.Reg) {
	for _, name := range strings.Fields(names) {
		r := cfi.NoReg
		if name != "-" {
			r = c.Reg(name)
		}
		regs = append(regs, r)
	}
	return regs
}

func withoutISABit(pc, _ uint64) uint64 { return pc &^ 1 }

// The byte orders of instructions, given the byte order of data. With asWritten, trampolines are written
// as bytes in memory order.
func asWritten(binary.ByteOrder) (big, little bool)    { return true, false }
func littleEndian(binary.ByteOrder) (big, little bool) { return false, true }
func dataEndian(data binary.ByteOrder) (big, little bool) {
	return data == binary.BigEndian, data != binary.BigEndian
}
func eitherEndian(data binary.ByteOrder) (big, little bool) { return data == binary.BigEndian, true }

// names returns prefix0 to prefix(n-1), followed by more.
func names(prefix string, n int, more ...string) (all []string) {
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return append(all, more...)
}

// TLS says where the thread-local variables of the program itself are. Their block has a fixed distance
// from the thread's pointer ("ELF Handling For Thread-Local Storage", section 3, and each processor's ELF
// supplement).
type TLS struct {
	Pointer string // the register with a thread's pointer, which dumps may lack
	Low     string // the register with its lower 32 bits, if Pointer has the upper ones
	After   bool   // the block is after the pointer (variant I); otherwise it ends there (variant II)
	TCB     uint64 // minimum number of bytes between the pointer and the block
	Bias    uint64 // how many bytes the pointer is after the place from which TCB counts
}

// Block returns the address of the program's block in a thread with the pointer tp. addr, size and align
// are from the program's PT_TLS, in memory; align is a power of 2. The block's address equals addr modulo
// align.
func (t *TLS) Block(tp, addr, size, align uint64) uint64 {
	if t.After {
		return tp - t.Bias + t.TCB + (addr-t.TCB)&(align-1)
	}
	return tp - size - (-addr-size)&(align-1)
}

// Variant I, as used by several CPUs.
func afterTCB(pointer string, tcb uint64) TLS { return TLS{Pointer: pointer, After: true, TCB: tcb} }
func biased(pointer string) TLS               { return TLS{Pointer: pointer, After: true, Bias: 0x7000} }
