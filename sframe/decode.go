package sframe

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt/damage"
)

const (
	magic      = 0xdee2
	headerSize = 28
)

// Options provides what a section's bytes do not contain.
type Options struct {
	Name string // of the section, in errors; ".sframe" if empty
	Addr uint64 // address of the section's first byte

	// Relocated means that the bytes are from a relocatable object whose relocations have
	// been applied: each start is relative to its field, whatever the flags say, because
	// all producers write such relocations.
	Relocated bool

	// Segment means that the bytes are from a segment that a program header
	// describes. Some versions of GNU ld leave remnants after a section that
	// they shrank, which are not damage.
	Segment bool

	// Code, if non-nil, reports whether [lo, hi) is in an executable section. It
	// decides what starts are relative to if the flags do not say.
	Code func(lo, hi uint64) bool
}

// format is a version of the section's format.
type format struct {
	name    string
	flags   Flags  // flags that the version defines
	fdeSize uint64 // in bytes

	// fde decodes an FDE from fdeSize bytes and, since version 3, from the attributes in
	// rows. It sets Start to the field's value, sign-extended.
	fde func(f *FDE, b, rows []byte, abi *abi) error

	write *layout // nil for a version that cannot be written
}

var formats = [...]*format{1: &v1, 2: &v2, 3: &v3}

// formatOf returns the format of a version, or nil if it is unknown.
func formatOf(version uint8) *format {
	if int(version) < len(formats) {
		return formats[version]
	}
	return nil
}

func (h *Header) format() *format { return formats[h.Version] }

// Decode decodes a section. It returns an error only if nothing in the section can be
// read. Damage to parts is reported in Section.Problems. The section refers to data,
// which must not be changed.
func Decode(data []byte, o Options) (*Section, error) {
	s := &Section{Name: cmp.Or(o.Name, ".sframe"), Addr: o.Addr, data: data}
	if len(data) == 0 {
		return s, nil // as ld leaves it if there is nothing to merge
	}
	for at := uint64(0); ; {
		h, err := s.header(at)
		if err != nil {
			if at == 0 {
				return nil, err
			}
			s.lose(fmt.Sprintf("%d bytes", uint64(len(data))-at), err)
			break
		}
		s.readFDEs(&h)
		s.Headers = append(s.Headers, h)
		if at = s.nextHeader(h.end, &o); at == 0 {
			break
		}
	}
	s.place(&o)
	s.index()
	return s, nil
}

func (s *Section) lose(what string, err error) {
	s.Problems = append(s.Problems, damage.Problem{Lost: what, Err: err})
}

// maxProblems is the number of problems reported. The last stands for the rest:
// a Problem takes more memory than the damage it describes.
const maxProblems = 1000

// loseRows is like lose, for an FDE's rows.
func (s *Section) loseRows(i int, err error) {
	switch {
	case len(s.Problems) < maxProblems-1:
		s.lose(fmt.Sprintf("rows of FDE %d", i), err)
	case len(s.Problems) == maxProblems-1:
		s.lose(fmt.Sprintf("rows of FDE %d and the following ones", i), err)
	}
}

func (s *Section) fail(offset uint64, format string, args ...any) error {
	return sectionError(s.Name, offset, format, args...)
}

func sectionError(name string, offset uint64, format string, args ...any) error {
	return &damage.Error{Section: name, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// Magic returns the byte order of the SFrame section that starts with data, or nil if it
// is not one.
func Magic(data []byte) binary.ByteOrder {
	if len(data) >= 2 {
		for _, order := range [...]binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if order.Uint16(data) == magic {
				return order
			}
		}
	}
	return nil
}

// header reads the header at an offset and finds the parts that it describes.
func (s *Section) header(at uint64) (h Header, err error) {
	b := s.data[at:]
	order := Magic(b)
	if order == nil {
		return h, s.fail(at, "not an SFrame header: magic number %#x", magic)
	}
	if len(b) < headerSize {
		return h, s.fail(at, "truncated header: %d bytes, want %d", len(b), headerSize)
	}
	h = Header{
		Offset: at, Version: b[2], Flags: Flags(b[3]), ABI: ABI(b[4]), FixedFP: int8(b[5]), FixedRA: int8(b[6]),
		NumFDEs: order.Uint32(b[8:]), NumFREs: order.Uint32(b[12:]), FRELen: order.Uint32(b[16:]),
		FDEOff: order.Uint32(b[20:]), FREOff: order.Uint32(b[24:]),
	}
	if formatOf(h.Version) == nil {
		return h, s.fail(at+2, "version %d, want 1 to %d", h.Version, len(formats)-1)
	}
	if !h.ABI.Known() {
		return h, s.fail(at+4, "ABI %d, want 1 to %d", h.ABI, len(abis)-1)
	}
	if order != h.ABI.Order() {
		return h, s.fail(at, "%s in a section of %s", order, h.ABI)
	}
	aux := uint64(b[7])
	if headerSize+aux > uint64(len(b)) {
		return h, s.fail(at+7, "auxiliary header of %d bytes, %d left", aux, len(b)-headerSize)
	}
	h.Aux = b[headerSize : headerSize+aux]
	s.parts(&h, at+headerSize+aux)
	return h, nil
}

// parts finds the FDEs and the rows after the header, as far as they are in the section.
func (s *Section) parts(h *Header, end uint64) {
	size, fdeSize := uint64(len(s.data)), h.format().fdeSize
	h.fdes, h.fres = end+uint64(h.FDEOff), end+uint64(h.FREOff)
	h.Count = int(h.NumFDEs)
	fdesEnd := h.fdes + uint64(h.NumFDEs)*fdeSize
	if fdesEnd > size {
		h.Count = 0
		if h.fdes < size {
			h.Count = int((size - h.fdes) / fdeSize)
		}
		s.lose(fmt.Sprintf("%d of %d FDEs", uint64(h.NumFDEs)-uint64(h.Count), h.NumFDEs),
			s.fail(h.Offset+8, "%d FDEs from %#x on extend past the section's %d bytes", h.NumFDEs, h.fdes, size))
		fdesEnd = size
	}
	fresEnd := h.fres + uint64(h.FRELen)
	if fresEnd > size {
		s.lose("rows", s.fail(h.Offset+16, "%d bytes of rows from %#x on extend past the section's %d bytes", h.FRELen, h.fres, size))
		fresEnd = size
	}
	h.rows = s.data[min(h.fres, size):fresEnd]
	h.end = max(end, fdesEnd, fresEnd)
}

// nextHeader returns the offset of another section that a linker put after end, where one
// section ends, or 0. Linkers align sections to 8 bytes and fill the gap with zeros.
func (s *Section) nextHeader(end uint64, o *Options) uint64 {
	rest := s.data[end:]
	for i, b := range rest {
		if b != 0 {
			at := end + uint64(i)
			switch {
			case Magic(rest[i:]) != nil:
				return at
			case !o.Segment:
				s.lose(fmt.Sprintf("%d bytes", len(rest)-i), s.fail(at, "after the rows: want zeros or a header"))
			}
			return 0
		}
	}
	return 0
}

// readFDEs reads a header's FDEs, leaving starts as encoded in the section.
func (s *Section) readFDEs(h *Header) {
	format, abi := h.format(), h.ABI.info()
	h.First = len(s.FDEs)
	s.FDEs = slices.Grow(s.FDEs, h.Count)[:h.First+h.Count]
	fdes := s.FDEs[h.First:]
	for i := range fdes {
		f, at := &fdes[i], h.fdes+uint64(i)*format.fdeSize
		*f = FDE{header: int32(len(s.Headers))}
		if err := format.fde(f, s.data[at:at+format.fdeSize], h.rows, abi); err != nil {
			f.lost, f.NumRows = true, 0
			s.loseRows(h.First+i, s.fail(at, "%v", err))
		}
	}
}

// place converts starts to addresses. Headers that may have been copied without their
// flag are read either all with it or all without it: for some functions, both readings
// are in code.
func (s *Section) place(o *Options) {
	var field, section int // number of functions in code if starts are relative to their field, or to the section
	for i := range s.Headers {
		if h := &s.Headers[i]; h.undecided(o) {
			field += s.inCode(h, true, o)
			section += s.inCode(h, false, o)
		}
	}
	for i := range s.Headers {
		h := &s.Headers[i]
		h.FieldRelative = field > section && h.undecided(o)
		relative := h.FieldRelative || o.Relocated || h.Flags&PCRelative != 0
		for k := range h.Count {
			s.FDEs[h.First+k].Start = s.start(h, k, relative)
		}
	}
}

// undecided reports whether starts may be relative to their fields although no flag says
// so.
func (h *Header) undecided(o *Options) bool {
	return !o.Relocated && h.Flags&(PCRelative|Sorted) == 0 && h.Version <= 2 && o.Code != nil
}

// start returns the start address of the function of the header's FDE i,
// whose Start holds the value of its field.
func (s *Section) start(h *Header, i int, pcRelative bool) uint64 {
	start := s.Addr + s.FDEs[h.First+i].Start
	if pcRelative {
		start += h.fdes + uint64(i)*h.format().fdeSize
	}
	return start
}

// inCode counts the functions that are in code for one interpretation of starts.
func (s *Section) inCode(h *Header, pcRelative bool, o *Options) (n int) {
	for i := range h.Count {
		lo := s.start(h, i, pcRelative)
		if o.Code(lo, lo+uint64(s.FDEs[h.First+i].Size)) {
			n++
		}
	}
	return n
}
