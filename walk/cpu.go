package walk

import (
	"encoding/binary"
	"strconv"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// cpu is what the walker needs about a CPU beside arch.Arch. Each family of CPUs has a file with its
// values.
type cpu struct {
	arch *arch.Arch

	// call is how far before a return address the call is, at least in part: symbols and rules are
	// looked up at that address.
	call  uint64
	align uint64 // of instructions, in bytes

	// clean removes the bits of a program counter that do not belong to the address; nil for a CPU
	// without such.
	clean func(u *unwinder, pc uint64) uint64

	result      string // the register with the result of a system call, which is 0 in a new thread
	descriptors bool   // big-endian code has function descriptors in place of addresses: see codeOf

	techniques []technique
	calls      func(callCode) CallAnswer // whether code ends with a call
	bothSets   bool                      // calls knows both instruction sets that ISABit chooses from

	// layouts are those of frames with a frame pointer, the likeliest of the systems' compilers first;
	// none if a reader could not follow it. apple replaces them on Apple's systems.
	layouts, apple []layout
	noWindowsFP    bool                  // there are none on Windows
	makesFrame     func(code []byte) int // the length of the instructions that make a frame: see setsFrame
	freeRecord     bool                  // the record of a frame may be anywhere in it
	loadsPC        bool                  // functions return by loading pc, so that the link register leads anywhere

	// backChain is where return addresses are, in words from the end of a link, if the word at the stack
	// pointer is the caller's stack pointer; 0 without. appleChain replaces it on macOS.
	backChain, appleChain int

	scanFP    scanFP // what a scan finds of the frame pointer
	scanBytes int    // of the stack that are scanned; 0 for the usual number of words
	argWords  uint64 // of a frame that are for arguments, which a scan leaves out

	// order returns the byte orders that instructions may have.
	order  func(data binary.ByteOrder) (big, little bool)
	frames []signalFrame // of Linux; the first that fits counts

	pc, sp cfi.Reg
	ra     cfi.Reg   // the link register, NoReg without
	saved  []cfi.Reg // callee-saved
	kept   []cfi.Reg // the registers that frames keep: the general ones
}

// cpus are the CPUs whose stacks are walked. init makes the table, as techniques ask it.
var cpus = map[*arch.Arch]*cpu{}

func init() {
	for _, c := range []*cpu{cpuARM, cpuARM64, cpuMIPS, cpuMIPS64, cpuPPC, cpuPPC64, cpuRISCV, cpuRISCV64, cpuS390X, cpuX86, cpuX86_64} {
		cpus[c.arch] = c
	}
}

// newCPU fills in the registers of a CPU, and the bytes of trampolines.
func newCPU(c cpu) *cpu {
	a := c.arch
	if c.clean == nil {
		c.clean = func(_ *unwinder, pc uint64) uint64 { return pc }
	}
	c.pc, c.sp, c.ra = c.reg(a.PC), c.reg(a.SP), cfi.NoReg
	if a.RA != "" {
		c.ra = c.reg(a.RA)
	}
	for _, name := range a.CalleeSaved {
		c.saved = append(c.saved, c.reg(name))
	}
	for _, name := range a.General {
		c.kept = append(c.kept, c.reg(name))
	}
	c.layouts, c.apple = c.withRegisters(c.layouts), c.withRegisters(c.apple)
	for _, l := range c.frames {
		for i := range l.code {
			l.code[i].parse()
		}
	}
	return &c
}

// reg returns the register with a name, which must be one of the CPU's.
func (c *cpu) reg(name string) cfi.Reg {
	i, ok := c.arch.RegIndex(name)
	if !ok {
		panic("walk: no register " + name + " of " + c.arch.Name)
	}
	return cfi.Reg(i)
}

func withoutISABit(_ *unwinder, pc uint64) uint64 { return pc &^ 1 }

// The byte orders of instructions beside that of data. Trampolines of CPUs with asWritten are in
// bytes as they are in memory.
func asWritten(binary.ByteOrder) (big, little bool)    { return true, false }
func littleEndian(binary.ByteOrder) (big, little bool) { return false, true }
func dataEndian(data binary.ByteOrder) (big, little bool) {
	return data == binary.BigEndian, data != binary.BigEndian
}
func eitherEndian(data binary.ByteOrder) (big, little bool) { return data == binary.BigEndian, true }

// names are prefix0 to prefix(n-1), and more.
func names(prefix string, n int, more ...string) (all []string) {
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return append(all, more...)
}
