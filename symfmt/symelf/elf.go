package symelf

import (
	"debug/elf"
	"io"
	"math"
	"strconv"
)

// section is a section of the file being made.
type section struct {
	name   string
	kind   elf.SectionType
	flags  elf.SectionFlag
	addr   uint64
	size   uint64 // in memory, for SHT_NOBITS
	data   [][]byte
	link   uint32
	info   uint32
	align  uint64
	entry  uint64
	offset uint64
}

func (s *section) bytes() (n uint64) {
	for _, d := range s.data {
		n += uint64(len(d))
	}
	return n
}

// segment is a program header.
type segment struct {
	kind           elf.ProgType
	flags          elf.ProgFlag
	offset, addr   uint64
	fileSize, size uint64
	align          uint64
}

// file is the ELF file being made. Section 0 is not in sections.
type file struct {
	class    elf.Class
	machine  elf.Machine
	kind     elf.Type
	order    byteOrder
	flags    uint32
	sections []*section
	segments []segment
}

func (f *file) ptr() int {
	if f.class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// Sizes of the headers (gABI, chapters 4 and 5).
func (f *file) sizes() (header, program, sect, symbol int) {
	if f.class == elf.ELFCLASS64 {
		return 64, 56, 64, 24
	}
	return 52, 32, 40, 16
}

// add appends a section and returns its number.
func (f *file) add(s *section) uint32 {
	f.sections = append(f.sections, s)
	return uint32(len(f.sections))
}

// place assigns sections their offsets, after headers of size start.
func (f *file) place(start uint64) (end uint64) {
	at := start
	for _, s := range f.sections {
		if s.kind == elf.SHT_NOBITS {
			s.offset = s.addr % pageSize // congruent to its segment, which takes no bytes of the file
			continue
		}
		at = alignTo(at, s.align)
		s.offset = at
		at += s.bytes()
	}
	return alignTo(at, uint64(f.ptr()))
}

func alignTo(v, align uint64) uint64 { return (v + align - 1) &^ (align - 1) }

// writeTo writes the file. headers is the size of the ELF and program headers.
func (f *file) writeTo(w io.Writer) error {
	names := stringTable{}
	names.add("")
	for _, s := range f.sections {
		names.add(s.name)
	}
	names.add(".shstrtab")
	f.add(&section{name: ".shstrtab", kind: elf.SHT_STRTAB, align: 1, data: [][]byte{names.b}})
	ehdr, phdr, _, _ := f.sizes()
	table := f.place(uint64(ehdr + phdr*len(f.segments)))
	if f.class == elf.ELFCLASS32 && table > math.MaxUint32 {
		return errTooLarge("the file", table)
	}
	out := &counter{w: w}
	out.write(f.headers(table))
	for _, s := range f.sections {
		if s.kind == elf.SHT_NOBITS {
			continue
		}
		out.pad(s.offset)
		for _, d := range s.data {
			out.write(d)
		}
	}
	out.pad(table)
	out.write(f.sectionTable(&names))
	return out.err
}

func errTooLarge(what string, size uint64) error {
	return &sizeError{what, size}
}

// sizeError reports that something does not fit the format.
type sizeError struct {
	what string
	size uint64
}

func (e *sizeError) Error() string {
	return e.what + " would have " + strconv.FormatUint(e.size, 10) + " bytes; its offsets have 32 bits"
}

// counter counts the bytes written and keeps the first error.
type counter struct {
	w   io.Writer
	n   uint64
	err error
}

func (c *counter) write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
	c.n += uint64(len(b))
}

func (c *counter) pad(to uint64) {
	if to > c.n {
		c.write(make([]byte, to-c.n))
	}
}

// headers returns the ELF header and the program headers.
func (f *file) headers(sectionTable uint64) []byte {
	ehdr, phdr, shdr, _ := f.sizes()
	w := buffer{order: f.order, ptr: f.ptr()}
	data := elf.ELFDATA2LSB
	if f.order.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	w.bytes([]byte(elf.ELFMAG))
	w.u8(byte(f.class), byte(data), byte(elf.EV_CURRENT), byte(elf.ELFOSABI_NONE))
	w.align(16)
	w.u16(uint16(f.kind))
	w.u16(uint16(f.machine))
	w.u32(uint32(elf.EV_CURRENT))
	w.addr(0) // entry
	if len(f.segments) > 0 {
		w.word(uint64(ehdr))
	} else {
		w.word(0)
	}
	w.word(sectionTable)
	w.u32(f.flags)
	w.u16(uint16(ehdr))
	w.u16(uint16(phdr))
	w.u16(uint16(len(f.segments)))
	w.u16(uint16(shdr))
	w.u16(uint16(len(f.sections) + 1))
	w.u16(uint16(len(f.sections))) // .shstrtab is the last
	for i := range f.segments {
		f.programHeader(&w, &f.segments[i])
	}
	return w.b
}

func (f *file) programHeader(w *buffer, p *segment) {
	w.u32(uint32(p.kind))
	if f.class == elf.ELFCLASS64 {
		w.u32(uint32(p.flags))
	}
	w.word(p.offset)
	w.addr(p.addr)
	w.addr(p.addr)
	w.word(p.fileSize)
	w.word(p.size)
	if f.class == elf.ELFCLASS32 {
		w.u32(uint32(p.flags))
	}
	w.word(p.align)
}

func (f *file) sectionTable(names *stringTable) []byte {
	_, _, shdr, _ := f.sizes()
	w := buffer{order: f.order, ptr: f.ptr()}
	w.bytes(make([]byte, shdr))
	for _, s := range f.sections {
		size := s.size
		if s.kind != elf.SHT_NOBITS {
			size = s.bytes()
		}
		w.u32(names.add(s.name))
		w.u32(uint32(s.kind))
		w.word(uint64(s.flags))
		w.addr(s.addr)
		w.word(s.offset)
		w.word(size)
		w.u32(s.link)
		w.u32(s.info)
		w.word(s.align)
		w.word(s.entry)
	}
	return w.b
}
