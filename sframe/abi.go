package sframe

import (
	"encoding/binary"
	"fmt"
)

// ABI identifies the CPU and byte order of a section (sfh_abi_arch, 2.2.1).
type ABI uint8

// The ABIs.
const (
	AArch64BE ABI = 1
	AArch64LE ABI = 2
	AMD64     ABI = 3
	S390X     ABI = 4 // since the first errata of version 2
)

// Reg is a register's DWARF number, or CFA.
type Reg uint32

// CFA, as the base of a rule, is the canonical frame address.
const CFA = ^Reg(0)

// abi describes the meaning of rows for an ABI (chapter 3).
type abi struct {
	name  string // as in the specification
	order byteOrder
	big   bool // whether that is big-endian

	sp, fp, ra Reg

	fixedRA int8   // offset of the return address from the CFA; 0 if rows have their own
	v1Block uint32 // size of a PLT entry, which version 1 does not record; 0 if PLT entries have no FDE

	// A word w for the CFA means w*scale+bias; the caller's stack pointer is CFA-bias.
	scale, bias int64

	// slotRegs means that in version 2 a word for RA or FP with its lowest bit set names
	// the register that holds the value.
	slotRegs bool

	padRA bool // a word of 0 for RA, which precedes the word for FP, means that RA is not saved
	keys  bool // return addresses are signed, with one of two keys
}

// byteOrder reads and appends numbers.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var abis = [...]*abi{
	AArch64BE: {name: "SFRAME_ABI_AARCH64_ENDIAN_BIG", order: binary.BigEndian, big: true, sp: 31, fp: 29, ra: 30, scale: 1, keys: true},
	AArch64LE: {name: "SFRAME_ABI_AARCH64_ENDIAN_LITTLE", order: binary.LittleEndian, sp: 31, fp: 29, ra: 30, scale: 1, keys: true},
	AMD64:     {name: "SFRAME_ABI_AMD64_ENDIAN_LITTLE", order: binary.LittleEndian, sp: 7, fp: 6, ra: 16, scale: 1, fixedRA: -8, v1Block: 16},
	S390X:     {name: "SFRAME_ABI_S390X_ENDIAN_BIG", order: binary.BigEndian, big: true, sp: 15, fp: 11, ra: 14, scale: 8, bias: 160, slotRegs: true, padRA: true},
}

// info returns the description of an ABI, or nil if it is unknown.
func (a ABI) info() *abi {
	if int(a) < len(abis) {
		return abis[a]
	}
	return nil
}

// Known reports whether rows of the ABI can be decoded. Do not call the other methods
// except String on an unknown ABI.
func (a ABI) Known() bool { return a.info() != nil }

// String returns the specification's name of the ABI.
func (a ABI) String() string {
	if i := a.info(); i != nil {
		return i.name
	}
	return fmt.Sprintf("ABI %d", uint8(a))
}

// Order returns the byte order of the ABI's sections.
func (a ABI) Order() binary.ByteOrder { return a.info().order }

// SP returns the stack pointer's DWARF number.
func (a ABI) SP() Reg { return a.info().sp }

// FP returns the frame pointer's DWARF number.
func (a ABI) FP() Reg { return a.info().fp }

// RA returns the register that holds the return address at a function's entry or, if it
// is on the stack (AMD64), the column that stands for it.
func (a ABI) RA() Reg { return a.info().ra }

// FixedRA returns the offset in bytes of the return address from the CFA that producers
// write into the header, or 0 if rows have their own.
func (a ABI) FixedRA() int8 { return a.info().fixedRA }

// CallerSP returns the caller's stack pointer, given the CFA.
func (a ABI) CallerSP(cfa uint64) uint64 { return cfa - uint64(a.info().bias) }
