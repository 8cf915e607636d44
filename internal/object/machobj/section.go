package machobj

import (
	"bytes"
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// segment is a range of memory, with the section headers in it.
type segment struct {
	name           string
	addr, size     uint64
	offset, stored uint64 // in the file
}

// section is a section header with access to the section's contents.
type section struct {
	object.Section

	segment *segment
	offset  uint32 // in the binary
	flags   uint32
	relocs  filePart // offset, and number of entries
	fixer   *fixer   // nil without relocations
}

// Flags of sections.
const (
	sectionType   = 0xff
	zeroFill      = 1
	zeroFillGB    = 0xc
	zeroFillTLS   = 0x12
	pureCode      = 0x80000000
	someCode      = 0x400
	debugContents = 0x02000000
)

// Sizes of segment and section headers, 64-bit and 32-bit.
const (
	segmentSize64, segmentSize32 = 72, 56
	sectionSize64, sectionSize32 = 80, 68
)

// readSegment reads a segment and its section headers.
func (f *File) readSegment(c []byte, wide bool, at int64) error {
	size, each := segmentSize32, sectionSize32
	if wide {
		size, each = segmentSize64, sectionSize64
	}
	if len(c) < size {
		return f.errorf(at, "segment of %d bytes, want %d", len(c), size)
	}
	s := &segment{name: fixedName(c[8:24])}
	word := func(i int) uint64 { // one of the four fields that have the size of an address
		if wide {
			return f.order.Uint64(c[24+8*i:])
		}
		return uint64(f.order.Uint32(c[24+4*i:]))
	}
	s.addr, s.size, s.offset, s.stored = word(0), word(1), word(2), word(3)
	f.segments = append(f.segments, s)
	n := f.order.Uint32(c[size-8:])
	if have := uint32((len(c) - size) / each); n > have {
		return f.errorf(at, "segment %s has %d sections, the load command has room for %d", s.name, n, have)
	}
	for i := range int(n) {
		f.add(f.newSection(s, c[size+i*each:][:each], wide))
	}
	return nil
}

// newSection decodes a section header.
func (f *File) newSection(seg *segment, h []byte, wide bool) *section {
	s := &section{segment: seg}
	var rest []byte
	var addr, size uint64
	if wide {
		addr, size, rest = f.order.Uint64(h[32:]), f.order.Uint64(h[40:]), h[48:]
	} else {
		addr, size, rest = uint64(f.order.Uint32(h[32:])), uint64(f.order.Uint32(h[36:])), h[40:]
	}
	s.offset = f.order.Uint32(rest)
	s.relocs = filePart{f.order.Uint32(rest[8:]), f.order.Uint32(rest[12:])}
	s.flags = f.order.Uint32(rest[16:])
	s.Section = object.Section{
		Name: fixedName(h[:16]), Addr: addr, FileSize: size, MemSize: size,
		Exec: s.flags&(pureCode|someCode) != 0,
	}
	own := fixedName(h[16:32]) // for objects: the segment in which the section will be
	s.Alloc = own != "__DWARF" && own != "__LD" && own != "__LLVM" && s.flags&debugContents == 0
	return s
}

// fixedName returns a name in a 16-byte field, which need not end with a NUL.
func fixedName(field []byte) string {
	name, _, _ := bytes.Cut(field, []byte{0})
	return string(name)
}

// makeSections sets the contents of all sections.
func (f *File) makeSections() {
	for _, s := range f.sections {
		if f.fileType == typeDSYM && s.MemSize == 0 {
			s.FileSize = f.room(s)
			s.MemSize = s.FileSize
		}
		s.Known = knownName(s.Name)
		s.Contents = f.contents(s)
		if f.fileType == typeObject {
			f.relocate(s)
		}
	}
}

// room returns the number of bytes from a section to the next one in its segment, or to the segment's end. For a
// section in a dSYM whose size an old linker wrote as 0, these are its contents.
func (f *File) room(s *section) uint64 {
	seg := s.segment
	if s.Addr-seg.addr >= seg.size {
		return 0
	}
	end := seg.addr + seg.size
	for _, o := range f.sections {
		if o.segment == seg && o.Addr > s.Addr {
			end = min(end, o.Addr)
		}
	}
	return end - s.Addr
}

// contents returns a section's bytes. A dSYM has the headers of all sections, with offsets that may be
// meaningless, but only the bytes of __DWARF and __LINKEDIT.
func (f *File) contents(s *section) object.Contents {
	switch {
	case s.zeroed() || s.FileSize == 0:
		return object.NewPiece(f.in, s.Name, 0, 0)
	case f.fileType == typeStub, s.segment.stored == 0, s.offset == 0:
		return object.AbsentPiece(f.in, s.Name, "has no bytes in this file")
	case f.fileType == typeDSYM && s.Alloc && !f.inSegment(s):
		return object.AbsentPiece(f.in, s.Name, "has no bytes in this file")
	}
	p := object.NewPiece(f.in, s.Name, uint64(f.start)+uint64(s.offset), s.FileSize)
	if at := s.offset - f.secret.off; at < f.secret.size {
		p.Refuse(p.Errorf(0, "is encrypted"))
	}
	if strings.HasPrefix(s.Name, "__zdebug_") { // written by Go's linker
		p.ReadGNUHeader()
	}
	return p
}

// zeroed reports whether a section is all zeros in memory and has no bytes in the file.
func (s *section) zeroed() bool {
	kind := s.flags & sectionType
	return kind == zeroFill || kind == zeroFillGB || kind == zeroFillTLS
}

// inSegment reports whether a section's bytes lie within its segment's.
func (f *File) inSegment(s *section) bool {
	seg := s.segment
	off := uint64(s.offset) - seg.offset
	return uint64(s.offset) >= seg.offset && off < seg.stored && s.FileSize <= seg.stored-off
}

// nameField is the length of the field for a section's name.
const nameField = 16

// elfNames maps names to ELF's, if those do not result from replacing the two underscores by a dot.
var elfNames = map[string]string{"__zdebug_frame": ".debug_frame"}

// knownName returns a section's ELF name, by which readers of debug information look it up.
func knownName(name string) string {
	if known := elfNames[name]; known != "" {
		return known
	}
	if rest, ok := strings.CutPrefix(name, "__zdebug_"); ok {
		return ".zdebug_" + rest
	}
	if rest, ok := strings.CutPrefix(name, "__"); ok {
		return "." + rest
	}
	return name
}

func (f *File) add(s *section) {
	f.sections = append(f.sections, s)
	f.SectionsOnly.Sections = append(f.SectionsOnly.Sections, &s.Section)
}

// Section implements object.Container. ".debug_x" also finds "__zdebug_x", and long names find sections by
// the part that fits into a section header.
func (f *File) Section(name string) *object.Section {
	own := name
	if strings.HasPrefix(name, ".") {
		own = "__" + name[1:]
	}
	first := f.SectionsOnly.Section(own[:min(len(own), nameField)])
	if rest, ok := strings.CutPrefix(own, "__debug_"); ok && (first == nil || !first.HasData()) {
		packed := "__zdebug_" + rest
		if z := f.SectionsOnly.Section(packed[:min(len(packed), nameField)]); z != nil {
			return z
		}
	}
	return first
}

// loadAddress returns the address of the header: __TEXT begins with it.
func (f *File) loadAddress() uint64 {
	for _, s := range f.segments {
		if s.name == textSegment {
			return s.addr
		}
	}
	for _, s := range f.segments {
		if s.offset == 0 && s.stored > 0 && f.fileType != typeObject {
			return s.addr
		}
	}
	return 0
}
