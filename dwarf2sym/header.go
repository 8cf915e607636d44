package dwarf2sym

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
)

// sections are the debug sections of one file. .debug_info is read piece by piece;
// those that are read at random places are held whole.
type sections struct {
	file     string
	order    order
	isa      uint64 // the bit of a function's address that selects its instruction set (arch.ISABit)
	oldTypes bool   // the units are those of .debug_types (DWARF 4)

	info       source
	abbrev     []byte
	str        []byte
	supStr     []byte // .debug_str of the supplementary file
	lineStr    []byte
	strOffsets []byte
	addr       []byte
	rnglists   []byte
	ranges     []byte
}

// source is a section that is read piece by piece.
type source interface {
	Size() int64

	// Bytes returns n bytes at off. They may be in buf, if it has room, and are valid until the next
	// call with that buf.
	Bytes(off, n int64, buf []byte) ([]byte, error)
}

// header is what a unit's header says (DWARF 5, 7.5.1).
type header struct {
	off      uint64 // of the header in .debug_info
	size     uint64 // of the whole unit, the header and its length field included
	abbrev   uint64 // offset of its table in .debug_abbrev
	id       uint64 // of a skeleton and its other half (DWARF 5)
	headSize uint8
	version  uint8
	typ      uint8
	addrSize uint8
	dwarf64  bool
}

// typeHeader is what follows in the header of a type unit.
type typeHeader struct {
	signature uint64
	offset    uint64 // of the type's DIE in the unit
}

// isType reports whether the unit has a type, and no code.
func (h *header) isType() bool { return h.typ == utType || h.typ == utSplitType }

func (h *header) offsetSize() uint64 {
	if h.dwarf64 {
		return 8
	}
	return 4
}

func (h *header) sizes() formSizes {
	s := formSizes{addr: h.addrSize, offset: uint8(h.offsetSize())}
	s.refAddr = s.offset
	if h.version <= 2 {
		s.refAddr = s.addr
	}
	return s
}

// errBadHeader stands for damage of a header that is only counted.
var errBadHeader = errors.New("bad unit header")

// maxUnitHeader is the size of the longest header: a DWARF 5 type unit in
// 64-bit DWARF.
const maxUnitHeader = 40

// parseHeader decodes the header at off, of which b holds the first bytes.
// With an error, size is set when the next header can still be found. If quiet is set,
// the error is errBadHeader: megabytes of zeros are millions of bad headers.
func (d *sections) parseHeader(b []byte, off, total uint64, quiet bool) (h header, t typeHeader, err error) {
	c := bin.NewAt(d.section(), b, off, d.order.byteOrder())
	h = header{off: off, typ: utCompile}
	length := uint64(c.U32())
	if length == 0xffffffff {
		h.dwarf64 = true
		length = c.U64()
	}
	fail := func(format string, numbers ...uint64) (header, typeHeader, error) {
		if quiet {
			return h, t, errBadHeader
		}
		args := make([]any, len(numbers))
		for i, n := range numbers {
			args[i] = n
		}
		return h, t, &bin.Error{File: d.file, Section: d.section(), Offset: off, Msg: fmt.Sprintf(format, args...)}
	}
	if c.Err() != nil || !h.dwarf64 && length >= 0xfffffff0 {
		return fail("unit length %#x is none", length)
	}
	if rest := total - off - uint64(c.Pos()); length > rest {
		return fail("unit of %d bytes, %d left in the section", length, rest)
	}
	h.size = length + uint64(c.Pos())
	version := c.U16()
	if version < 2 || version > 5 {
		return fail("DWARF version %d, want 2 to 5", uint64(version))
	}
	h.version = uint8(version)
	if version >= 5 {
		h.typ, h.addrSize = c.U8(), c.U8()
		h.abbrev = c.Uint(int(h.offsetSize()))
	} else {
		h.abbrev = c.Uint(int(h.offsetSize()))
		h.addrSize = c.U8()
		if d.oldTypes {
			h.typ = utType
		}
	}
	switch h.typ {
	case utSkeleton, utSplitCompile:
		h.id = c.U64()
	case utType, utSplitType:
		t = typeHeader{c.U64(), c.Uint(int(h.offsetSize()))}
	}
	h.headSize = uint8(c.Pos())
	if c.Err() != nil || uint64(c.Pos()) > h.size {
		return fail("unit of %d bytes ends within its header", h.size)
	}
	switch h.addrSize {
	case 2, 4, 8:
		return h, t, nil
	}
	return fail("addresses of %d bytes, want 2, 4 or 8", uint64(h.addrSize))
}

// section returns the name of the section with the units.
func (d *sections) section() string {
	if d.oldTypes {
		return ".debug_types"
	}
	return ".debug_info"
}
