package gsym

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// Options control how a module is written.
type Options struct {
	Version int // 1 or 2; 0 is 1, which every reader knows

	// ByteOrder is the file's byte order. If nil, the module's CPU determines it:
	// the order that INFO CODE_ID and MODULE's id show together, or else the CPU's
	// usual one.
	ByteOrder binary.ByteOrder

	// Base is the absolute address of RVA 0, in bytes: in ELF, the address of the
	// lowest PT_LOAD. Readers look up absolute addresses.
	Base uint64

	Jobs int // number of workers; 0 means one for each processor
}

func (o Options) version() (int, error) {
	switch o.Version {
	case 0, 1:
		return 1, nil
	case 2:
		return 2, nil
	}
	return 0, fmt.Errorf("GSYM version %d, want 1 or 2", o.Version)
}

func (o Options) order(m *symfmt.Module) binary.ByteOrder {
	if o.ByteOrder != nil {
		return o.ByteOrder
	}
	if order := identify(m).order; order != nil {
		return order
	}
	return arch.OrderByName(m.Arch)
}

// ReadOptions provide what the file does not record.
type ReadOptions struct {
	File string // path for messages, and for the module's name if Name is empty

	// OS, Arch and Name go into MODULE, because GSYM does not record them. If
	// empty, OS and Arch become "unknown", and Name the base name of File without
	// ".gsym".
	OS, Arch, Name string

	// Base is the absolute address of RVA 0, in bytes. nil means the base address
	// in the file's header, which llvm-gsymutil sets to the image's base.
	Base *uint64

	// Dropped, if non-nil, is called with each kind of information that a module cannot hold.
	Dropped func(symfmt.Loss)
}

// Numbers of the format (Header.h, HeaderV2.h, GlobalData.h, FunctionInfo.cpp,
// LineTable.cpp).
const (
	magic = 0x4753594d // "GSYM"

	headerSize1 = 48
	headerSize2 = 20
	directory   = 20 // bytes of an entry of version 2's directory
	maxUUID1    = 20 // bytes of a UUID in version 1
)

// Kinds of sections in version 2's directory (GlobalInfoType).
const (
	sectionEnd = iota
	sectionAddrs
	sectionOffsets
	sectionStrings
	sectionFiles
	sectionFuncs
	sectionUUID
	sectionKinds
)

// Kinds of information in a FunctionInfo (InfoType).
const (
	infoEnd = iota
	infoLines
	infoInlines
	infoMerged
	infoCallSites
)

// Opcodes of a line table (LineTableOpCode).
const (
	opEnd = iota
	opSetFile
	opAdvancePC
	opAdvanceLine
	opFirstSpecial
)

// Match reports whether a file with these first bytes is GSYM, of any version and byte
// order.
func Match(head []byte) bool {
	if len(head) < 6 {
		return false
	}
	order := orderOf(head)
	return order != nil && order.Uint16(head[4:]) != 0 && order.Uint16(head[4:]) < 1<<8
}

// orderOf returns the byte order of a file with these first bytes, or nil.
func orderOf(head []byte) binary.ByteOrder {
	switch {
	case len(head) < 4:
	case binary.LittleEndian.Uint32(head) == magic:
		return binary.LittleEndian
	case binary.BigEndian.Uint32(head) == magic:
		return binary.BigEndian
	}
	return nil
}
