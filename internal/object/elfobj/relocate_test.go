package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

// relocatable returns a relocatable file with .text (index 1, 0x30 bytes), .debug_x (2), its
// relocations (3), .symtab (4) and .strtab (5). Symbol 1 is .text, symbol 2 is at offset
// 0x12 in it, symbol 3 is undefined.
func relocatable(t *testing.T, bits int, order binary.ByteOrder, machine elf.Machine, rela bool, data []byte, relocs ...[]byte) *File {
	t.Helper()
	const alloc, exec = 2, 4
	table := testSec{name: ".rel.debug_x", typ: uint32(elf.SHT_REL), info: 2, link: 4, data: bytes.Join(relocs, nil)}
	if rela {
		table.typ = uint32(elf.SHT_RELA)
	}
	e := testELF{bits: bits, order: order, typ: uint16(elf.ET_REL), mach: uint16(machine), secs: []testSec{
		{name: ".text", typ: stProgbits, flags: alloc | exec, data: make([]byte, 0x30), align: 16},
		{name: ".debug_x", typ: stProgbits, data: data},
		table,
		{name: ".symtab", typ: stSymtab, link: 5, data: symbols(bits, order, [2]uint64{}, [2]uint64{0, 1}, [2]uint64{0x12, 1}, [2]uint64{})},
		{name: ".strtab", typ: stStrtab, data: []byte{0}},
	}}
	return openImage(t, e.build())
}

func openImage(t *testing.T, image []byte) *File {
	t.Helper()
	f, err := NewFile(bytes.NewReader(image), int64(len(image)), "x.o", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// symbols returns a symbol table made of values and section numbers.
func symbols(bits int, order binary.ByteOrder, all ...[2]uint64) (out []byte) {
	for _, s := range all {
		if bits == 64 {
			b := make([]byte, 24)
			order.PutUint16(b[6:], uint16(s[1]))
			order.PutUint64(b[8:], s[0])
			out = append(out, b...)
			continue
		}
		b := make([]byte, 16)
		order.PutUint32(b[4:], uint32(s[0]))
		order.PutUint16(b[14:], uint16(s[1]))
		out = append(out, b...)
	}
	return out
}

func rela64(order binary.ByteOrder, off uint64, typ, sym uint32, addend int64) []byte {
	b := make([]byte, 24)
	order.PutUint64(b, off)
	order.PutUint64(b[8:], uint64(sym)<<32|uint64(typ))
	order.PutUint64(b[16:], uint64(addend))
	return b
}

// mips64 returns an entry with the three types of 64-bit MIPS.
func mips64(order binary.ByteOrder, off uint64, sym uint32, types [3]byte, addend int64) []byte {
	b := rela64(order, off, 0, 0, addend)
	order.PutUint32(b[8:], sym)
	copy(b[12:], []byte{0, types[2], types[1], types[0]})
	return b
}

func rel32(order binary.ByteOrder, off, typ, sym uint32) []byte {
	b := make([]byte, 8)
	order.PutUint32(b, off)
	order.PutUint32(b[4:], sym<<8|typ)
	return b
}

func rela32(order binary.ByteOrder, off, typ, sym uint32, addend int32) []byte {
	b := append(rel32(order, off, typ, sym), 0, 0, 0, 0)
	order.PutUint32(b[8:], uint32(addend))
	return b
}

var le, be binary.ByteOrder = binary.LittleEndian, binary.BigEndian

// Each kind of relocation follows the formula in its processor's supplement:
// S is 0x10012 (symbol 2), P the offset. Reading one piece and many pieces
// yields the same bytes.
func TestRelocations(t *testing.T) {
	for _, c := range []struct {
		name    string
		bits    int
		order   binary.ByteOrder
		machine elf.Machine
		rela    bool
		data    string
		relocs  [][]byte
		want    string
	}{
		{"x86-64", 64, le, elf.EM_X86_64, true, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xbb", [][]byte{rela64(le, 0, 1, 2, 3), rela64(le, 8, 2, 2, -4)},
			"\x15\x00\x01\x00\x00\x00\x00\x00\x06\x00\x01\x00\xbb"},
		{"undefined symbol", 64, le, elf.EM_X86_64, true, "\xaa\xaa\xaa\xaa", [][]byte{rela64(le, 0, 10, 3, 5)}, "\x05\x00\x00\x00"},
		{"none", 64, le, elf.EM_X86_64, true, "\x01\x02", [][]byte{rela64(le, 0, 0, 0, 7)}, "\x01\x02"},
		{"i386: addend in place", 32, le, elf.EM_386, false, "\x03\x00\x00\x00\xfc\xff\xff\xff", [][]byte{rel32(le, 0, 1, 2), rel32(le, 4, 2, 2)},
			"\x15\x00\x01\x00\x0a\x00\x01\x00"},
		{"ARM: 31 bits", 32, le, elf.EM_ARM, false, "\x00\x00\x00\x80", [][]byte{rel32(le, 0, 42, 2)}, "\x12\x00\x01\x80"},
		{"AArch64", 64, le, elf.EM_AARCH64, true, "\xff\xff\xff\xff\xff\xff", [][]byte{rela64(le, 0, 261, 2, 0), rela64(le, 4, 259, 2, 1)}, "\x12\x00\x01\x00\x13\x00"},
		{"RISC-V: difference", 64, le, elf.EM_RISCV, true, "\x05\x00\xc7\x81\x01", [][]byte{
			rela64(le, 0, 34, 2, 0), rela64(le, 0, 38, 1, 0), // 16 bits: 5 + 0x12
			rela64(le, 2, 53, 2, 0), rela64(le, 2, 52, 1, 0), // 6 bits: 0x12
			rela64(le, 3, 60, 2, 0x100), rela64(le, 3, 61, 1, 0), // ULEB128: 0x112
		}, "\x17\x00\xd2\x92\x02"},
		{"MIPS64: three types", 64, be, elf.EM_MIPS, true, "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", [][]byte{
			mips64(be, 0, 1, [3]byte{248, 18, 0}, -1), mips64(be, 8, 2, [3]byte{2, 0, 0}, 0)}, "\x00\x00\x00\x00\x00\x00\xff\xff\x00\x01\x00\x12"},
		{"MIPS64, little-endian", 64, le, elf.EM_MIPS, true, "\x00\x00\x00\x00\x00\x00\x00\x00", [][]byte{mips64(le, 0, 2, [3]byte{18, 0, 0}, 1)},
			"\x13\x00\x01\x00\x00\x00\x00\x00"},
		{"MIPS: addend in place", 32, be, elf.EM_MIPS, false, "\x00\x00\x00\x02", [][]byte{rel32(be, 0, 2, 2)}, "\x00\x01\x00\x14"},
		{"PowerPC", 32, be, elf.EM_PPC, true, "\xff\xff\xff\xff", [][]byte{rela32(be, 0, 26, 2, -2)}, "\x00\x01\x00\x10"},
		{"PowerPC64", 64, be, elf.EM_PPC64, true, "\xff\xff\xff\xff\xff\xff\xff\xff", [][]byte{rela64(be, 0, 38, 2, 0)}, "\x00\x00\x00\x00\x00\x01\x00\x12"},
		{"s390x", 64, be, elf.EM_S390, true, "\xff\xff\xff\xff\xff\xff", [][]byte{rela64(be, 0, 4, 2, 0), rela64(be, 4, 3, 2, 0)}, "\x00\x01\x00\x12\x00\x12"},
		{"not in order", 64, le, elf.EM_X86_64, true, "\x00\x00\x00\x00\x00\x00\x00\x00", [][]byte{rela64(le, 4, 10, 2, 0), rela64(le, 0, 10, 1, 0)},
			"\x00\x00\x01\x00\x12\x00\x01\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := relocatable(t, c.bits, c.order, c.machine, c.rela, []byte(c.data), c.relocs...)
			comparePieces(t, f.Header(".debug_x"), []byte(c.want))
			if p := f.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

// comparePieces reads a section in one piece and in all pieces of 1 to 11 bytes.
func comparePieces(t *testing.T, s *Section, want []byte) {
	t.Helper()
	src, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 11; n++ {
		for off := int64(0); off+n <= int64(len(want)); off++ {
			got, err := src.Bytes(off, n, nil)
			if err != nil || !bytes.Equal(got, want[off:off+n]) {
				t.Fatalf("%d bytes at %d: % x, %v; want % x", n, off, got, err, want[off:off+n])
			}
		}
	}
	got, err := s.Data()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("% x, %v; want % x", got, err, want)
	}
}

// Reading from any block of relocations yields the same bytes as the whole.
func TestRelocationBlocks(t *testing.T) {
	for _, step := range []int{1, -1} {
		const n = 3*blockRelocs + 5
		var relocs [][]byte
		want := make([]byte, 4*n)
		for i := range n {
			relocs = append(relocs, rela64(le, uint64(4*i), 10, 2, int64(i)))
			le.PutUint32(want[4*i:], uint32(objectBase+0x12+i))
		}
		if step < 0 {
			slices.Reverse(relocs)
		}
		f := relocatable(t, 64, le, elf.EM_X86_64, true, make([]byte, 4*n), relocs...)
		comparePieces(t, f.Header(".debug_x"), want)
	}
}

// Relocations that cannot be applied are reported with section and offset,
// and the rest is applied; a table that cannot be read at all costs the
// section.
func TestBadRelocations(t *testing.T) {
	good := rela64(le, 4, 10, 2, 0)
	const rest = "\x00\x00\x00\x00\x12\x00\x01\x00"
	twoSymbols := mips64(le, 0, 1, [3]byte{18, 0, 0}, 0)
	twoSymbols[12] = 1
	crowded := slices.Repeat([][]byte{good}, maxAtPlace+1)
	for _, c := range []struct {
		name    string
		machine elf.Machine
		relocs  [][]byte
		problem string // of the relocations
		err     string // of the section
	}{
		{"type", elf.EM_X86_64, [][]byte{rela64(le, 0, 99, 2, 0), good}, "x.o: .debug_x+0x0: relocation of type 99 of EM_X86_64, which is not known (lost: the value there)", ""},
		{"place", elf.EM_X86_64, [][]byte{good, rela64(le, 7, 10, 2, 0)}, "x.o: .rel.debug_x+0x18: relocation at 0x7 of .debug_x, which has 8 bytes (lost: the value there)", ""},
		{"place far away", elf.EM_X86_64, [][]byte{good, rela64(le, 1<<63, 10, 2, 0)}, "x.o: .rel.debug_x+0x18: relocation at 0x8000000000000000 of .debug_x, which has 8 bytes (lost: the value there)", ""},
		{"symbol", elf.EM_X86_64, [][]byte{rela64(le, 0, 10, 4, 0), good}, "x.o: .debug_x+0x0: relocation with symbol 4 of 4 (lost: the value there)", ""},
		{"cut short", elf.EM_X86_64, [][]byte{good, make([]byte, 5)}, "x.o: .rel.debug_x+0x18: relocation of 5 bytes, want 24 (lost: the value there)", ""},
		{"machine", elf.EM_SPARCV9, [][]byte{good}, "", "x.o: .debug_x+0x0: relocations of EM_SPARCV9 are not known"},
		{"crowd", elf.EM_X86_64, crowded, "", "x.o: .rel.debug_x+0x0: 9 relocations for the byte at 0x4 of .debug_x, want at most 8"},
		{"second symbol", elf.EM_MIPS, [][]byte{twoSymbols}, "x.o: .debug_x+0x0: relocation of type", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := relocatable(t, 64, le, c.machine, true, make([]byte, 8), c.relocs...)
			got, err := f.Header(".debug_x").Data()
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || c.machine == elf.EM_X86_64 && string(got) != rest {
				t.Errorf("% x, %v; want % x", got, err, rest)
			}
			reported := fmt.Sprint(f.Problems())
			if !strings.HasPrefix(reported, "["+c.problem) {
				t.Errorf("problems %s, want %s", reported, c.problem)
			}
		})
	}
}

// If there are many bad relocations, the first ones are reported, with the number of the
// rest.
func TestManyBadRelocations(t *testing.T) {
	var relocs [][]byte
	for i := range 100 {
		relocs = append(relocs, rela64(le, uint64(i), 99, 0, 0))
	}
	f := relocatable(t, 64, le, elf.EM_X86_64, true, make([]byte, 100), relocs...)
	if _, err := f.Header(".debug_x").Data(); err != nil {
		t.Fatal(err)
	}
	p := f.Problems()
	if len(p) != relocProblems+1 || !strings.Contains(p[relocProblems].String(), "and 84 more relocations") {
		t.Errorf("%d problems, the last: %v", len(p), p[len(p)-1])
	}
}

// Reading a section must not require reading that section: neither for a
// relocated string table of symbols, nor for relocations of symbols.
func TestRelocationsOfEachOther(t *testing.T) {
	r := rela64(le, 0, 10, 1, 0)
	e := testELF{bits: 64, order: le, typ: uint16(elf.ET_REL), mach: uint16(elf.EM_X86_64), secs: []testSec{
		{name: ".debug_x", typ: stProgbits, data: make([]byte, 8)},
		{name: ".rela.debug_x", typ: uint32(elf.SHT_RELA), info: 1, link: 3, data: r},
		{name: ".symtab", typ: stSymtab, link: 1, data: symbols(64, le, [2]uint64{}, [2]uint64{5, 1})}, // names in .debug_x
		{name: ".rela.symtab", typ: uint32(elf.SHT_RELA), info: 3, link: 3, data: r},
		{name: ".rela.rela", typ: uint32(elf.SHT_RELA), info: 2, link: 3, data: r},
	}}
	f := openImage(t, e.build())
	for _, s := range f.Sections[1:] {
		if _, err := s.Data(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if err := f.Symbols(object.Symtab, func(*object.Symbol) {}); err != nil {
		t.Error(err)
	}
}

// Sections are placed in the order that place.go documents.
func TestPlace(t *testing.T) {
	const write, alloc, exec = 1, 2, 4
	section := func(name string, flags, size, align uint64) testSec {
		return testSec{name: name, typ: stProgbits, flags: flags, data: make([]byte, size), align: align, addr: 0x5000}
	}
	bss := section(".bss", write|alloc, 0, 32)
	bss.typ, bss.size = stNobits, 0x100
	huge := section(".huge", alloc|exec, 0, 1)
	huge.typ, huge.size = stNobits, 1<<63-1
	e := testELF{bits: 64, order: le, typ: uint16(elf.ET_REL), mach: uint16(elf.EM_X86_64), secs: []testSec{
		section(".note", alloc, 3, 1),
		section(".init.text", alloc|exec, 4, 4),
		section(".text", alloc|exec, 5, 16),
		section(".debug_info", 0, 7, 1),
		section(".text.f", alloc|exec, 9, 8),
		bss,
		section(".data", write|alloc, 8, 0),
		section(".debug_info", 0, 3, 1),
		huge,
	}}
	f := openImage(t, e.build())
	want := []uint64{0, 0x10018, 0x10014, 0x10000, 0, 0x10008, 0x10020, 0x10120, 7, 0, 0}
	for i, s := range f.Sections {
		if s.Addr != want[i] {
			t.Errorf("%s: address %#x, want %#x", s.Name, s.Addr, want[i])
		}
	}
	if exec := fmt.Sprint(f.Object().ExecRanges()); exec != "[{65536 65541} {65544 65553} {65556 65560}]" {
		t.Errorf("code at %s", exec)
	}
	if s := f.Header(".debug_info"); s.Size() != 10 {
		t.Errorf("joined .debug_info: %d bytes, want 10", s.Size())
	}
	if p := fmt.Sprint(f.Problems()); !strings.Contains(p, "x.o: .huge+0x0: 9223372036854775807 bytes with alignment 0x1 do not fit") {
		t.Errorf("problems %s", p)
	}
}

// Joined sections of the same name provide their bytes one after the other.
func TestJoinedSections(t *testing.T) {
	part := func(text string) testSec { return testSec{name: ".debug_info", typ: stProgbits, data: []byte(text)} }
	e := testELF{bits: 64, order: le, typ: uint16(elf.ET_REL), mach: uint16(elf.EM_X86_64), secs: []testSec{
		part("one"), part("a second"), part("3"),
		{name: ".rela.debug_info", typ: uint32(elf.SHT_RELA), info: 2, link: 5, data: rela64(le, 2, 11, 1, 1)},
		{name: ".symtab", typ: stSymtab, link: 6, data: symbols(64, le, [2]uint64{}, [2]uint64{1, 3})},
		{name: ".strtab", typ: stStrtab, data: []byte{0}},
	}}
	f := openImage(t, e.build())
	// Symbol 1 is at offset 1 of the third part, which begins at 11.
	comparePieces(t, f.Header(".debug_info"), []byte("onea \x0d\x00\x00\x00nd3"))

	for i := range 3 {
		e.secs[i].off, e.secs[i].size = 64, 300
	}
	f = openImage(t, e.build())
	if p := fmt.Sprint(f.Problems()); !strings.Contains(p, "3 sections of this name hold more bytes than the file") {
		t.Errorf("sections that share bytes: %s", p)
	}
}

// Relocations of an executable file have already been applied, and are ignored.
func TestExecutableKeepsItsBytes(t *testing.T) {
	for _, typ := range []elf.Type{elf.ET_EXEC, elf.ET_DYN} {
		e := testELF{bits: 64, order: le, typ: uint16(typ), mach: uint16(elf.EM_X86_64), secs: []testSec{
			{name: ".debug_x", typ: stProgbits, data: []byte("unchanged")},
			{name: ".rela.debug_x", typ: uint32(elf.SHT_RELA), info: 1, link: 3, data: rela64(le, 0, 1, 1, 0x1234)},
			{name: ".symtab", typ: stSymtab, link: 4, data: symbols(64, le, [2]uint64{}, [2]uint64{5, 1})},
			{name: ".strtab", typ: stStrtab, data: []byte{0}},
		}}
		f := openImage(t, e.build())
		comparePieces(t, f.Header(".debug_x"), []byte("unchanged"))
	}
}
