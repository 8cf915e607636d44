package elfobj

import (
	"bytes"
	"encoding/binary"
)

// The images below are built with the offsets of gABI chapters 4 and 5 written
// out. They share no code with the reader, where a wrong offset would otherwise go
// unnoticed.

// testSec is a section to build. If size is set, it is written as sh_size.
type testSec struct {
	name  string
	typ   uint32
	flags uint64
	addr  uint64
	data  []byte
	size  uint64
	off   uint64
	link  uint32
	info  uint32
	align uint64
	ents  uint64
}

// testSeg is a program header. If sec is set, it covers that section.
type testSeg struct {
	typ, flags  uint32
	off, addr   uint64
	filesz, mem uint64
	align       uint64
	sec         string
}

type testELF struct {
	bits   int // 32 or 64
	order  binary.ByteOrder
	typ    uint16
	mach   uint16
	secs   []testSec // without the null section and .shstrtab
	segs   []testSeg
	noSecs bool
	strtab func([]byte) testSec // replaces .shstrtab
	// header fields after everything is in place
	shnum, shstrndx, phnum *uint16
	sec0                   testSec
}

const (
	stProgbits = 1
	stSymtab   = 2
	stStrtab   = 3
	stNote     = 7
	stNobits   = 8
	stDynsym   = 11
)

func (e *testELF) u16(b *bytes.Buffer, v uint16) { binary.Write(b, e.order, v) }
func (e *testELF) u32(b *bytes.Buffer, v uint32) { binary.Write(b, e.order, v) }

func (e *testELF) addr(b *bytes.Buffer, v uint64) {
	if e.bits == 64 {
		binary.Write(b, e.order, v)
		return
	}
	e.u32(b, uint32(v))
}

// build returns the image: header, program headers, contents, section headers.
func (e *testELF) build() []byte {
	ehdr, phdr, shdr := 64, 56, 64
	if e.bits == 32 {
		ehdr, phdr, shdr = 52, 32, 40
	}
	body := new(bytes.Buffer)
	base := uint64(ehdr + phdr*len(e.segs))
	all := append([]testSec{e.sec0}, e.secs...)
	names := []byte{0}
	offs := make([]uint32, len(all)+1)
	for i := range all {
		if all[i].name != "" {
			offs[i] = uint32(len(names))
			names = append(names, all[i].name+"\x00"...)
		}
	}
	offs[len(all)] = uint32(len(names))
	names = append(names, ".shstrtab\x00"...)
	strsec := testSec{typ: stStrtab, data: names}
	if e.strtab != nil {
		strsec = e.strtab(names)
	}
	all = append(all, strsec)
	for i := range all {
		s := &all[i]
		for body.Len()%8 != 0 {
			body.WriteByte(0)
		}
		if s.off == 0 && i > 0 {
			s.off = base + uint64(body.Len())
		}
		if s.typ != stNobits {
			body.Write(s.data)
		}
		if s.size == 0 && i > 0 {
			s.size = uint64(len(s.data))
		}
	}
	for body.Len()%8 != 0 {
		body.WriteByte(0)
	}
	shoff := base + uint64(body.Len())
	if e.noSecs {
		shoff = 0
	}
	out := new(bytes.Buffer)
	e.header(out, shoff, len(all), ehdr, phdr, shdr)
	for _, p := range e.segs {
		for _, s := range all {
			if p.sec != "" && s.name == p.sec {
				p.off, p.addr, p.filesz, p.mem = s.off, s.addr, s.size, s.size
			}
		}
		e.segment(out, p)
	}
	out.Write(body.Bytes())
	if !e.noSecs {
		for i, s := range all {
			e.section(out, s, offs[i])
		}
	}
	return out.Bytes()
}

func (e *testELF) header(b *bytes.Buffer, shoff uint64, n, ehdr, phdr, shdr int) {
	class, data := byte(2), byte(1)
	if e.bits == 32 {
		class = 1
	}
	if e.order == binary.ByteOrder(binary.BigEndian) {
		data = 2
	}
	b.Write([]byte{0x7f, 'E', 'L', 'F', class, data, 1, 0})
	b.Write(make([]byte, 8))
	e.u16(b, e.typ)
	e.u16(b, e.mach)
	e.u32(b, 1)
	e.addr(b, 0x1234)
	phoff := uint64(ehdr)
	if len(e.segs) == 0 {
		phoff = 0
	}
	e.addr(b, phoff)
	e.addr(b, shoff)
	e.u32(b, 0xabcd)
	e.u16(b, uint16(ehdr))
	shnum, shstrndx, phnum := uint16(n), uint16(n-1), uint16(len(e.segs))
	if e.noSecs {
		shnum, shstrndx = 0, 0
	}
	for _, f := range []struct{ to, from *uint16 }{{&shnum, e.shnum}, {&shstrndx, e.shstrndx}, {&phnum, e.phnum}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	for _, v := range []uint16{uint16(phdr), phnum, uint16(shdr), shnum, shstrndx} {
		e.u16(b, v)
	}
}

func (e *testELF) segment(b *bytes.Buffer, p testSeg) {
	e.u32(b, p.typ)
	if e.bits == 64 {
		e.u32(b, p.flags)
	}
	for _, v := range []uint64{p.off, p.addr, p.addr + 0x5000, p.filesz, p.mem} {
		e.addr(b, v)
	}
	if e.bits == 32 {
		e.u32(b, p.flags)
	}
	e.addr(b, p.align)
}

func (e *testELF) section(b *bytes.Buffer, s testSec, name uint32) {
	e.u32(b, name)
	e.u32(b, s.typ)
	for _, v := range []uint64{s.flags, s.addr, s.off, s.size} {
		e.addr(b, v)
	}
	e.u32(b, s.link)
	e.u32(b, s.info)
	e.addr(b, s.align)
	e.addr(b, s.ents)
}

// chdr returns a compression header (gABI chapter 4) before data.
func (e *testELF) chdr(kind uint32, size uint64, data []byte) []byte {
	b := new(bytes.Buffer)
	e.u32(b, kind)
	if e.bits == 64 {
		e.u32(b, 0)
	}
	e.addr(b, size)
	e.addr(b, 1)
	b.Write(data)
	return b.Bytes()
}

// note returns one note, padded to align.
func (e *testELF) note(owner string, kind uint32, desc []byte, align int) []byte {
	b := new(bytes.Buffer)
	e.u32(b, uint32(len(owner)))
	e.u32(b, uint32(len(desc)))
	e.u32(b, kind)
	for _, part := range []string{owner, string(desc)} {
		b.WriteString(part)
		for b.Len()%align != 0 {
			b.WriteByte(0)
		}
	}
	return b.Bytes()
}

// symbol returns one symbol table entry.
func (e *testELF) symbol(name uint32, info, other byte, shndx uint16, value, size uint64) []byte {
	b := new(bytes.Buffer)
	e.u32(b, name)
	if e.bits == 64 {
		b.Write([]byte{info, other})
		e.u16(b, shndx)
		e.addr(b, value)
		e.addr(b, size)
	} else {
		e.addr(b, value)
		e.addr(b, size)
		b.Write([]byte{info, other})
		e.u16(b, shndx)
	}
	return b.Bytes()
}

// kinds are the four encodings of ELF.
var kinds = []struct {
	name string
	e    testELF
}{
	{"64LE", testELF{bits: 64, order: binary.LittleEndian, typ: 2, mach: 62}},
	{"64BE", testELF{bits: 64, order: binary.BigEndian, typ: 2, mach: 22}},
	{"32LE", testELF{bits: 32, order: binary.LittleEndian, typ: 2, mach: 40}},
	{"32BE", testELF{bits: 32, order: binary.BigEndian, typ: 2, mach: 20}},
}
