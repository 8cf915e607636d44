package dwarf

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// Sections are the debug sections of one file. .debug_info is read piece by
// piece; sections with random access are held whole.
type Sections struct {
	File     string
	Order    Order
	ISA      uint64 // the address bit of a function that selects its instruction set (arch.ISABit)
	OldTypes bool   // the units are those of .debug_types (DWARF 4)

	Info       Source
	Abbrev     []byte
	Str        []byte
	SupStr     []byte // .debug_str of the supplementary file
	LineStr    []byte
	StrOffsets []byte
	Addr       []byte
	Rnglists   []byte
	Ranges     []byte

	// Location lists, if variables are read: of DWARF 5, and of earlier versions. OldSplit means that Loc is in the
	// format of GNU's split DWARF 4.
	Loclists, Loc []byte
	OldSplit      bool

	// LateAbbrev replaces Abbrev if the section is inflated only as far as units need it: tables are in the order of
	// the units. Otherwise it is nil.
	LateAbbrev Source

	// Decoded, if non-nil, is called with the offset and tag of each DIE whose attributes are decoded, except unit
	// DIEs. Tests use it to count.
	Decoded func(off uint64, tag uint16)
}

// lateStep is the number of bytes after the start of a table that are inflated first.
const lateStep = 4 << 10

// ReadAbbrevs calls read with .debug_abbrev. If the section is inflated on demand, it calls read with more and more of
// it until read returns no error, because the table at off is no longer cut off.
func (s *Sections) ReadAbbrevs(off uint64, read func(section []byte) error) error {
	if s.LateAbbrev == nil {
		return read(s.Abbrev)
	}
	size := uint64(s.LateAbbrev.Size())
	for step := uint64(lateStep); ; step *= 4 {
		n := min(off, size)
		n += min(step, size-n)
		section, err := s.LateAbbrev.Bytes(0, int64(n), nil)
		if err != nil {
			return err
		}
		if err := read(section); err == nil || n == size {
			return err
		}
	}
}

// DeclaresSplit reports whether a table of abbreviations has the attribute with which a skeleton names the file of its
// other half, or cannot be read.
func (s *Sections) DeclaresSplit() bool {
	all, err := s.AllAbbrevs()
	return err != nil || declaresSplit(all)
}

// AllAbbrevs returns .debug_abbrev.
func (s *Sections) AllAbbrevs() ([]byte, error) {
	if s.LateAbbrev == nil {
		return s.Abbrev, nil
	}
	return s.LateAbbrev.Bytes(0, s.LateAbbrev.Size(), nil)
}

// Source is a section that is read piece by piece.
type Source interface {
	Size() int64

	// Bytes returns n bytes at off. The result may use buf, if its capacity suffices, and is valid until the next call
	// with that buf.
	Bytes(off, n int64, buf []byte) ([]byte, error)
}

// Header is a unit's header (DWARF 5, 7.5.1).
type Header struct {
	Off      uint64 // of the header in .debug_info
	Size     uint64 // of the whole unit, including the header and its length field
	Abbrev   uint64 // offset of its table in .debug_abbrev
	ID       uint64 // shared by a skeleton and its other half (DWARF 5)
	HeadSize uint8
	Version  uint8
	Type     uint8
	AddrSize uint8
	DWARF64  bool
}

// TypeHeader is the rest of the header of a type unit.
type TypeHeader struct {
	Signature uint64
	Offset    uint64 // of the type's DIE in the unit
}

// IsType reports whether the unit describes a type and has no code.
func (h *Header) IsType() bool { return h.Type == dw.UTType || h.Type == dw.UTSplitType }

// IsSkeleton reports whether the unit's header says that its other half is elsewhere. In version 4 an attribute says so
// instead.
func (h *Header) IsSkeleton() bool { return h.Type == dw.UTSkeleton }

func (h *Header) offsetSize() uint64 {
	if h.DWARF64 {
		return 8
	}
	return 4
}

// Sizes returns the sizes of attribute values in the unit.
func (h *Header) Sizes() FormSizes {
	s := FormSizes{addr: h.AddrSize, offset: uint8(h.offsetSize())}
	s.refAddr = s.offset
	if h.Version <= 2 {
		s.refAddr = s.addr
	}
	return s
}

// ErrBadHeader represents damage in headers that are only counted.
var ErrBadHeader = errors.New("bad unit header")

// MaxHeader is the size in bytes of the longest header, which a DWARF 5 type unit in 64-bit DWARF has.
const MaxHeader = 40

// ParseHeader decodes the header at off, whose first bytes are b. If it returns an error, h.Size is set if the next
// header can still be found. If quiet is set, the error is always ErrBadHeader: megabytes of zeros are millions of bad
// headers.
func (d *Sections) ParseHeader(b []byte, off, total uint64, quiet bool) (h Header, t TypeHeader, err error) {
	c := bin.NewAt(d.Section(), b, off, d.Order.byteOrder())
	h = Header{Off: off, Type: dw.UTCompile}
	length := uint64(c.U32())
	if length == 0xffffffff {
		h.DWARF64 = true
		length = c.U64()
	}
	fail := func(format string, numbers ...uint64) (Header, TypeHeader, error) {
		if quiet {
			return h, t, ErrBadHeader
		}
		args := make([]any, len(numbers))
		for i, n := range numbers {
			args[i] = n
		}
		return h, t, &bin.Error{File: d.File, Section: d.Section(), Offset: off, Msg: fmt.Sprintf(format, args...)}
	}
	if c.Err() != nil || !h.DWARF64 && length >= 0xfffffff0 {
		return fail("reserved unit length %#x", length)
	}
	if rest := total - off - uint64(c.Pos()); length > rest {
		return fail("unit of %d bytes, %d left in the section", length, rest)
	}
	h.Size = length + uint64(c.Pos())
	version := c.U16()
	if version < 2 || version > 5 {
		return fail("DWARF version %d, want 2 to 5", uint64(version))
	}
	h.Version = uint8(version)
	if version >= 5 {
		h.Type, h.AddrSize = c.U8(), c.U8()
		h.Abbrev = c.Uint(int(h.offsetSize()))
	} else {
		h.Abbrev = c.Uint(int(h.offsetSize()))
		h.AddrSize = c.U8()
		if d.OldTypes {
			h.Type = dw.UTType
		}
	}
	switch h.Type {
	case dw.UTSkeleton, dw.UTSplitCompile:
		h.ID = c.U64()
	case dw.UTType, dw.UTSplitType:
		t = TypeHeader{c.U64(), c.Uint(int(h.offsetSize()))}
	}
	h.HeadSize = uint8(c.Pos())
	if c.Err() != nil || uint64(c.Pos()) > h.Size {
		return fail("unit of %d bytes ends within its header", h.Size)
	}
	switch h.AddrSize {
	case 2, 4, 8:
		return h, t, nil
	}
	return fail("addresses of %d bytes, want 2, 4 or 8", uint64(h.AddrSize))
}

// Section returns the name of the section with the units.
func (d *Sections) Section() string {
	if d.OldTypes {
		return ".debug_types"
	}
	return ".debug_info"
}
