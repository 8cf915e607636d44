// Package arch describes CPUs as values: their names in MODULE records, their
// registers as Breakpad's STACK CFI rules name them, DWARF register numbers,
// and calling conventions. Each file describes one family of CPUs. Code
// consults the value; it never switches on the ELF machine.
//
// Register and MODULE names are Breakpad's where it has them:
// src/common/dwarf_cfi_to_module.cc (RegisterNames), src/common/linux/
// dump_symbols.cc (ElfArchitecture) and src/processor/stackwalker_*.cc. DWARF
// numbers are those of each processor supplement (psABI, cited in the CPU's
// file), which GNU as, readelf and LLVM share. On ELF, .eh_frame and
// .debug_frame use the same numbers on all these CPUs except PowerPC, which has
// a second numbering (Arch.Alt). Only Darwin, not ELF, exchanges esp and ebp in
// .eh_frame.
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
//     pc, vg and SVE registers, RISC-V's vlenb, x86-64's registers from AVX-512 and
//     APX (TestKnownNumbers).
package arch

import (
	"debug/elf"
	"encoding/binary"
	"strconv"
	"strings"
)

// Arch is a CPU. The values are listed in All and must not be modified.
type Arch struct {
	Name    string   // name in MODULE records
	Aliases []string // other names in MODULE records
	PtrSize int      // size in bytes of an address and of a stack word

	Machine elf.Machine
	Class   elf.Class

	Order      binary.ByteOrder // the usual byte order
	BothOrders bool             // the other byte order is also in use
	ELFFlags   uint32           // e_flags of the usual calling convention in the usual order

	// Narrow reports whether ELFCLASS32 files can hold code of this CPU, with 4-byte
	// addresses in data and debug information: x32, and AArch64's ILP32. Registers,
	// stack words and return addresses still have 8 bytes.
	Narrow bool

	PC string // program counter
	SP string // stack pointer
	FP string // frame pointer by convention
	RA string // holds the return address at a function's entry; "" if that is on the stack

	// ReturnAddress is the return address column of the usual CIE: the DWARF
	// number of RA or, where the return address is on the stack, of PC.
	ReturnAddress uint64

	// CalleeSaved are the general registers, other than SP, that a function
	// restores before it returns: in a frame without a rule for one, it holds
	// the caller's value.
	CalleeSaved []string

	// Constant are the registers with the size of vectors: a frame has the value of its callee, unless a rule
	// says otherwise.
	Constant []string

	// CalleeSavedFloat are the floating-point, vector and condition registers that a
	// function restores, on some CPUs only in part. Rules may name them; walkers do
	// not need their values.
	CalleeSavedFloat []string

	// ISABit is the bit of a function symbol's value that selects the
	// instruction set and is not part of the address; 0 if none.
	ISABit uint64

	// Nops are the instructions that do nothing, as numbers in the byte order of code. The list is
	// empty where a table does not suffice: x86 and x86-64 have too many, and arm64 also pads with
	// trapping instructions.
	Nops []Nop

	// Relocs are, by number, the types of relocations that assemblers use for data: debug information,
	// call frame information, tables of addresses. Relocations of instructions are left out, since no
	// code is read. So are offsets in thread-local storage, which are not addresses, and entries of the
	// GOT and the PLT, which the linker makes: fields that refer to those (personality routines) stay
	// unchanged. Numbers are those of each processor's ELF supplement.
	Relocs map[uint32]Reloc

	// Regs are the registers in order of DWARF number; those without a number come last.
	Regs []Reg

	// OtherNames are additional register names used in symbol files. The text of a
	// rule keeps such a name; its value is the register's.
	OtherNames []OtherName

	// General are the registers that a walk keeps for each frame and that reports show: the
	// general-purpose ones and PC.
	General []string

	// Shown describes how reports for people show registers.
	Shown Shown

	// CanonicalBits is the number of significant bits of an address: all higher bits must equal the
	// highest of them, or an access faults. It is 0 if the CPU has no such rule.
	CanonicalBits int

	// AddressTag is the mask of address bits that a data access ignores.
	AddressTag uint64

	// Signals are the numbers of signals on Linux.
	Signals Signals

	// Mapping describes the symbols by which assemblers mark code and data; most CPUs have none.
	Mapping Mapping

	// Alt is a second numbering that some CIEs use; nil on most CPUs.
	Alt *Numbering

	// Tables for look-ups in Regs and OtherNames.
	names  []string       // indexed by DWARF number
	index  map[string]int // indices in Regs
	others map[string]int // indices in OtherNames
	labels map[string]string
}

// Reg is a register. Its name is unique within an Arch.
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

// Bytes returns the instruction as it is laid out in memory, in the given byte order.
func (n Nop) Bytes(order binary.ByteOrder) []byte {
	var b [8]byte
	order.PutUint64(b[:], n.Code)
	if order == binary.ByteOrder(binary.BigEndian) {
		return b[8-n.Size:]
	}
	return b[:n.Size]
}

// Shown describes how Breakpad prints the registers of a frame.
type Shown struct {
	Regs   []ShownReg // shown, in this order, if known
	Whole  []ShownReg // shown after Regs, if all of these are known
	Digits int        // digits in a value
}

// ShownReg is a register and its label.
type ShownReg struct{ Label, Reg string }

// Numbering is a set of register numbers for CIEs whose return address column
// is ReturnAddress.
type Numbering struct {
	ReturnAddress uint64
	names         []string // indexed by number
}

// Signals is a numbering of Linux's signals, and of the senders in si_code.
type Signals uint8

// The numberings of signals.
const (
	GenericSignals Signals = iota // asm-generic/signal.h
	MIPSSignals                   // arch/mips/include/uapi/asm/signal.h
)

// Mapping describes a CPU's mapping symbols (each processor's ELF supplement). Their names are a dollar
// sign and a letter, optionally followed by a dot and a word.
type Mapping struct {
	Letters string
	Open    string // letters that other text may follow: RISC-V's $xrv64gc names the ISA
}

// AnyMapping has the mapping symbols of all CPUs, for files of an unknown CPU.
var AnyMapping = Mapping{Letters: "adtx"}

// Has reports whether a symbol of this name is a mapping symbol.
func (m Mapping) Has(name []byte) bool {
	if len(name) < 2 || name[0] != '$' {
		return false
	}
	return strings.IndexByte(m.Open, name[1]) >= 0 ||
		strings.IndexByte(m.Letters, name[1]) >= 0 && (len(name) == 2 || name[2] == '.')
}

// All lists the CPUs in order of name.
var All = []*Arch{ARM, ARM64, MIPS, MIPS64, PPC, PPC64, RISCV, RISCV64, S390X, X86, X86_64}

// ByName returns the CPU with the given MODULE name, or nil. For a 64-bit MIPS or
// RISC-V module from an old Breakpad, it returns the 32-bit CPU: the name is all
// that the file says.
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

// others holds the names that dumpers write in MODULE records for CPUs that are not in All, or for
// none, with their byte orders.
var others = map[string]binary.ByteOrder{
	"alpha": binary.LittleEndian, "arm64_32": binary.LittleEndian, "arm64eb": binary.BigEndian, "armv7f": binary.LittleEndian,
	"ia64": binary.LittleEndian, "loongarch64": binary.LittleEndian, "sparc": binary.BigEndian, "sparcv9": binary.BigEndian,
	"unknown": binary.LittleEndian, "wasm32": binary.LittleEndian,
}

// Known reports whether dumpers write the name in MODULE records, for a CPU in All or another.
func Known(name string) bool { return ByName(name) != nil || others[name] != nil }

// OrderByName returns the usual byte order of the CPU with the given MODULE name, or little-endian if
// the name is unknown.
func OrderByName(name string) binary.ByteOrder {
	if a := ByName(name); a != nil {
		return a.Order
	}
	if order := others[name]; order != nil {
		return order
	}
	return binary.LittleEndian
}

// ByELF returns the CPU of an ELF file with the given header fields, or nil. The
// result's Class differs from class if the file's ABI has narrow addresses.
func ByELF(machine elf.Machine, class elf.Class) *Arch {
	for _, a := range All {
		if a.Machine == machine && (a.Class == class || a.Narrow && class == elf.ELFCLASS32) {
			return a
		}
	}
	return nil
}

// ByAudit returns the CPU of a calling convention of Linux, an AUDIT_ARCH (include/uapi/linux/audit.h), or nil: an ELF
// machine with flags for its class and byte order.
func ByAudit(convention uint32) *Arch {
	const is64Bit = 1 << 31
	class := elf.ELFCLASS32
	if convention&is64Bit != 0 {
		class = elf.ELFCLASS64
	}
	return ByELF(elf.Machine(uint16(convention)), class)
}

// Label returns the name that reports show for a register.
func (a *Arch) Label(reg string) string {
	if label, ok := a.labels[reg]; ok {
		return label
	}
	return strings.TrimPrefix(reg, "$")
}

// IsCanonical reports whether the unused bits of an address have the value that the CPU requires.
func (a *Arch) IsCanonical(addr uint64) bool {
	if a.CanonicalBits == 0 {
		return true
	}
	unused := 64 - a.CanonicalBits
	return uint64(int64(addr<<unused)>>unused) == addr
}

// RegName returns the name of the register with the given DWARF number.
func (a *Arch) RegName(dwarf uint64) (string, bool) { return lookup(a.names, dwarf) }

// CIERegName is like RegName, for a CIE whose return address column is ra,
// which selects between Alt and the usual numbering.
func (a *Arch) CIERegName(ra, dwarf uint64) (string, bool) {
	if a.Alt != nil && ra == a.Alt.ReturnAddress {
		return lookup(a.Alt.names, dwarf)
	}
	return lookup(a.names, dwarf)
}

// Numbers returns the end of the DWARF numbers of registers, for a CIE whose return address column is ra.
func (a *Arch) Numbers(ra uint64) uint64 {
	if a.Alt != nil && ra == a.Alt.ReturnAddress {
		return uint64(len(a.Alt.names))
	}
	return uint64(len(a.names))
}

func lookup(names []string, n uint64) (string, bool) {
	if n >= uint64(len(names)) || names[n] == "" {
		return "", false
	}
	return names[n], true
}

// RegNumber returns the DWARF number of a register, and whether it has one.
func (a *Arch) RegNumber(name string) (uint64, bool) {
	i, ok := a.index[name]
	if !ok || a.Regs[i].DWARF == NoDWARF {
		return 0, false
	}
	return a.Regs[i].DWARF, true
}

// RegIndex returns a register's index in Regs.
func (a *Arch) RegIndex(name string) (int, bool) {
	i, ok := a.index[name]
	return i, ok
}

// OtherIndex returns the index of name in OtherNames.
func (a *Arch) OtherIndex(name string) (int, bool) {
	i, ok := a.others[name]
	return i, ok
}

// finish builds the look-up tables.
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

// alsoCalled pairs additional names with their registers.
func alsoCalled(names, regs []string) []OtherName {
	out := make([]OtherName, len(names))
	for i := range names {
		out[i] = OtherName{names[i], regs[i]}
	}
	return out
}

// run numbers names consecutively from first.
func run(first uint64, names ...string) []Reg {
	regs := make([]Reg, len(names))
	for i, name := range names {
		regs[i] = Reg{name, first + uint64(i)}
	}
	return regs
}

// series numbers prefix0, prefix1, ... consecutively from first.
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

// shown labels each register with its name, without the dollar sign that some CPUs' names have.
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

// RVA is an address in bytes, relative to the module's load base, which is the
// page of its lowest PT_LOAD segment. Breakpad calls it "relative to the
// module's load address". symfmt and symfmt/cfi alias it.
type RVA uint64

// RelocOp is what a relocation computes from the field at its place P, the
// symbol's value S and the addend A. All numbers are as wide as the field.
type RelocOp uint8

// The operations of relocations.
const (
	RelocUnknown RelocOp = iota
	RelocIgnored         // an instruction to the linker, or a relocation of something that is not read here
	RelocAbs             // S + A
	RelocPC              // S + A - P
	RelocPC31            // S + A - P in bits 0 to 30; bit 31 is unchanged
	RelocAdd             // field + S + A
	RelocSub             // field - (S + A)
	RelocSet6            // S + A in bits 0 to 5
	RelocSub6            // field - (S + A) in bits 0 to 5
	RelocSetULEB         // S + A as ULEB128, of the same length as before
	RelocSubULEB         // field - (S + A), likewise
)

// Reloc is a relocation type.
type Reloc struct {
	Op   RelocOp
	Size uint8 // of the field in bytes; 0 for ULEB128 and where nothing is written
}
