// Package arch describes CPUs as values: the name that a MODULE record has, the
// registers as Breakpad's STACK CFI rules name them, their DWARF numbers, and
// what the calling convention says. One file holds one family of CPUs. Code
// asks the value; it never switches over the ELF machine.
//
// Names of registers and MODULE names are Breakpad's where it has them:
// src/common/dwarf_cfi_to_module.cc (RegisterNames), src/common/linux/
// dump_symbols.cc (ElfArchitecture) and src/processor/stackwalker_*.cc.
// DWARF numbers are those of each processor supplement (psABI), named in the
// CPU's file, which GNU as, readelf and LLVM share. On ELF, .eh_frame and
// .debug_frame use the same numbers on all these CPUs but PowerPC, where a
// second numbering is in use (Arch.Alt). The exchange of esp and ebp in
// .eh_frame is Darwin's, not ELF's.
//
// # Where we differ
//
//   - Breakpad writes "mips" and "riscv" for the 64-bit CPUs too, and "s390";
//     we write mips64, riscv64, s390x, so that a reader knows the word size
//     (TestByName).
//   - MIPS: Breakpad numbers $lo 32, $hi 33, $pc 34, $f0 35 and leaves $f1 out;
//     GCC has $f0 to $f31 from 32 on, $hi 64, $lo 65 (TestKnownNumbers).
//   - RISC-V: Breakpad calls number 0 "pc"; it is the register that is always
//     zero. pc has no number (TestReadelfNames).
//   - ARM: Breakpad has no name for d0 to d31 (256 to 287), which compilers
//     save; the obsolete numbers 16 to 25 (f0, fps, cpsr) have none with us
//     (TestLLVMNames).
//   - Names without a precedent in Breakpad: all of PowerPC and s390x, AArch64's
//     pc and vg, x86-64's registers from AVX-512 and APX (TestKnownNumbers).
package arch

import (
	"debug/elf"
	"encoding/binary"
	"strconv"
	"strings"
)

// Arch is a CPU. The values are in All, and must not be changed.
type Arch struct {
	Name    string   // MODULE record's name
	Aliases []string // other names of MODULE records for this CPU
	PtrSize int      // bytes of an address and of a stack word

	Machine elf.Machine
	Class   elf.Class

	Order      binary.ByteOrder // the usual one
	BothOrders bool             // the other one is in use, too
	ELFFlags   uint32           // e_flags of the usual calling convention in the usual order

	// Narrow says that files of ELFCLASS32 hold code of this CPU too, with addresses of
	// 4 bytes in data and debug information: x32, and AArch64's ILP32. Registers, stack
	// words and return addresses have 8 bytes in them.
	Narrow bool

	PC string // program counter
	SP string // stack pointer
	FP string // frame pointer by convention
	RA string // register that holds the return address at a function's entry; "" if it is on the stack

	// ReturnAddress is the return address column of the usual CIE: RA's DWARF
	// number, or that of PC where the return address is on the stack.
	ReturnAddress uint64

	// CalleeSaved are the general registers that a function restores before it
	// returns, without SP: a frame without a rule for one has the caller's
	// value in it.
	CalleeSaved []string

	// CalleeSavedFloat are the floating-point, vector and condition registers that
	// a function restores, in part on some CPUs. Rules name them; walkers do not need
	// their values.
	CalleeSavedFloat []string

	// ISABit is the bit of a function symbol's value that selects the
	// instruction set and is not part of the address; 0 if there is none.
	ISABit uint64

	// Nops are the instructions that do nothing, as numbers in the byte order of code. They are
	// none where a table does not do: x86 and x86-64 have too many, arm64's padding traps as well.
	Nops []Nop

	// Regs are the registers, ordered by DWARF number, those without one last.
	Regs []Reg

	// OtherNames are further names of registers that symbol files have. The text of a
	// rule keeps them; its value is that of the register.
	OtherNames []OtherName

	// General are the registers that a walk keeps of each frame, and reports name: the general ones,
	// with PC.
	General []string

	// Shown says how reports for people show registers.
	Shown Shown

	// CanonicalBits is how many bits of an address are used: all above have the value of the highest
	// of them, and other addresses fault. 0 if no address does for that reason.
	CanonicalBits int

	// AddressTag has the bits of an address that an access of data ignores.
	AddressTag uint64

	// Alt is a second numbering that some CIEs use; nil on most CPUs.
	Alt *Numbering

	// For look-ups in Regs and OtherNames.
	names  []string       // by DWARF number
	index  map[string]int // places in Regs
	others map[string]int // places in OtherNames
	labels map[string]string
}

// Reg is a register. Names are unique within an Arch.
type Reg struct {
	Name  string
	DWARF uint64 // NoDWARF if it has no number
}

// OtherName is another name of the register Reg.
type OtherName struct{ Name, Reg string }

// NoDWARF is the DWARF number of a register that has none.
const NoDWARF = ^uint64(0)

// Nop is an instruction of Size bytes.
type Nop struct {
	Code uint64
	Size int
}

// Bytes returns the instruction as it is in memory.
func (n Nop) Bytes(order binary.ByteOrder) []byte {
	var b [8]byte
	order.PutUint64(b[:], n.Code)
	if order == binary.ByteOrder(binary.BigEndian) {
		return b[8-n.Size:]
	}
	return b[:n.Size]
}

// Shown is how Breakpad prints the registers of a frame.
type Shown struct {
	Regs   []ShownReg // the known ones of these, in order
	Whole  []ShownReg // further ones, if all of these are known
	Digits int        // of a value
}

// ShownReg is the register Reg, shown as Label.
type ShownReg struct{ Label, Reg string }

// Numbering is a set of register numbers for CIEs whose return address column
// is ReturnAddress.
type Numbering struct {
	ReturnAddress uint64
	names         []string // by number
}

// All are the CPUs, ordered by name.
var All = []*Arch{ARM, ARM64, MIPS, MIPS64, PPC, PPC64, RISCV, RISCV64, S390X, X86, X86_64}

// ByName returns the CPU with MODULE name name, or nil. A module of an old
// Breakpad for a 64-bit MIPS or RISC-V gives the 32-bit CPU: the file has nothing
// but the name.
func ByName(name string) *Arch {
	for _, a := range All {
		if a.Name == name {
			return a
		}
	}
	for _, a := range All {
		for _, s := range a.Aliases {
			if s == name {
				return a
			}
		}
	}
	return nil
}

// ByELF returns the CPU of an ELF file with this header, or nil. Its Class is another
// one where the file is of an ABI with narrow addresses.
func ByELF(machine elf.Machine, class elf.Class) *Arch {
	for _, a := range All {
		if a.Machine == machine && (a.Class == class || a.Narrow && class == elf.ELFCLASS32) {
			return a
		}
	}
	return nil
}

// Label returns the name by which reports show a register.
func (a *Arch) Label(reg string) string {
	if label, ok := a.labels[reg]; ok {
		return label
	}
	return strings.TrimPrefix(reg, "$")
}

// IsCanonical reports whether the unused bits of an address are as the CPU demands.
func (a *Arch) IsCanonical(addr uint64) bool {
	if a.CanonicalBits == 0 {
		return true
	}
	unused := 64 - a.CanonicalBits
	return uint64(int64(addr<<unused)>>unused) == addr
}

// RegName returns the name of the register with a DWARF number.
func (a *Arch) RegName(dwarf uint64) (string, bool) { return lookup(a.names, dwarf) }

// CIERegName is RegName within a CIE whose return address column is ra: that
// decides between Alt and the usual numbers.
func (a *Arch) CIERegName(ra, dwarf uint64) (string, bool) {
	if a.Alt != nil && ra == a.Alt.ReturnAddress {
		return lookup(a.Alt.names, dwarf)
	}
	return lookup(a.names, dwarf)
}

func lookup(names []string, n uint64) (string, bool) {
	if n >= uint64(len(names)) || names[n] == "" {
		return "", false
	}
	return names[n], true
}

// RegNumber returns the DWARF number of a register, if it has one.
func (a *Arch) RegNumber(name string) (uint64, bool) {
	i, ok := a.index[name]
	if !ok || a.Regs[i].DWARF == NoDWARF {
		return 0, false
	}
	return a.Regs[i].DWARF, true
}

// RegIndex returns a register's place in Regs.
func (a *Arch) RegIndex(name string) (int, bool) {
	i, ok := a.index[name]
	return i, ok
}

// OtherIndex returns the place in OtherNames of a register's other name.
func (a *Arch) OtherIndex(name string) (int, bool) {
	i, ok := a.others[name]
	return i, ok
}

// finish makes the look-up tables.
func finish(a *Arch) *Arch {
	a.names = byNumber(a.Regs)
	a.index = make(map[string]int, len(a.Regs))
	for i, r := range a.Regs {
		a.index[r.Name] = i
	}
	if a.Shown.Digits == 0 {
		a.Shown.Digits = 2 * a.PtrSize
	}
	a.labels = make(map[string]string, len(a.Shown.Regs))
	for _, r := range a.Shown.Regs {
		a.labels[r.Reg] = r.Label
	}
	a.others = make(map[string]int, len(a.OtherNames))
	for i, o := range a.OtherNames {
		a.others[o.Name] = i
	}
	return a
}

func byNumber(regs []Reg) []string {
	last := uint64(0)
	for _, r := range regs {
		if r.DWARF != NoDWARF {
			last = max(last, r.DWARF)
		}
	}
	names := make([]string, last+1)
	for _, r := range regs {
		if r.DWARF != NoDWARF {
			names[r.DWARF] = r.Name
		}
	}
	return names
}

// alsoCalled pairs other names with registers.
func alsoCalled(names, regs []string) []OtherName {
	out := make([]OtherName, len(names))
	for i := range names {
		out[i] = OtherName{names[i], regs[i]}
	}
	return out
}

// run numbers names from first on.
func run(first uint64, names ...string) []Reg {
	regs := make([]Reg, len(names))
	for i, name := range names {
		regs[i] = Reg{name, first + uint64(i)}
	}
	return regs
}

// series numbers prefix0, prefix1, ... from first on.
func series(first uint64, prefix string, n int) []Reg {
	return run(first, indexed(prefix, 0, n)...)
}

// indexed returns prefix followed by from, from+1, ..., to-1.
func indexed(prefix string, from, to int) []string {
	var names []string
	for i := from; i < to; i++ {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// shown labels registers with their names, without the dollar that some CPUs have there.
func shown(names ...string) []ShownReg {
	out := make([]ShownReg, len(names))
	for i, name := range names {
		out[i] = ShownReg{strings.TrimPrefix(name, "$"), name}
	}
	return out
}

// unnumbered returns registers without a DWARF number.
func unnumbered(names ...string) []Reg {
	regs := make([]Reg, len(names))
	for i, name := range names {
		regs[i] = Reg{name, NoDWARF}
	}
	return regs
}

func join(parts ...[]Reg) []Reg {
	var regs []Reg
	for _, p := range parts {
		regs = append(regs, p...)
	}
	return regs
}

// RVA is an address in bytes, relative to the module's load base: the page of
// its lowest PT_LOAD segment. Breakpad calls it "relative to the module's load
// address". symfmt and symfmt/cfi alias it.
type RVA uint64
