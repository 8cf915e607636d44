package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// crelObject is like object, with a SHT_CREL section.
func crelObject(t *testing.T, bits int, order binary.ByteOrder, machine elf.Machine, data, crel []byte) *File {
	t.Helper()
	const alloc, exec = 2, 4
	e := testELF{bits: bits, order: order, typ: uint16(elf.ET_REL), mach: uint16(machine), secs: []testSec{
		{name: ".text", typ: stProgbits, flags: alloc | exec, data: make([]byte, 0x30), align: 16},
		{name: ".debug_x", typ: stProgbits, data: data},
		{name: ".crel.debug_x", typ: 0x40000014, info: 2, link: 4, data: crel},
		{name: ".symtab", typ: stSymtab, link: 5, data: symbols(bits, order, [2]uint64{}, [2]uint64{0, 1}, [2]uint64{0x12, 1}, [2]uint64{})},
		{name: ".strtab", typ: stStrtab, data: []byte{0}},
	}}
	return openImage(t, e.build())
}

// The bytes are written by hand from the proposal; symbol 2 is at 0x10012.
func TestCREL(t *testing.T) {
	for _, c := range []struct {
		name    string
		bits    int
		order   binary.ByteOrder
		machine elf.Machine
		data    string
		crel    string
		want    string
	}{
		{"none", 64, le, elf.EM_X86_64, "\x01\x02", "\x04", "\x01\x02"},
		{"two", 64, le, elf.EM_X86_64, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa",
			"\x14" + // 2, with addends
				"\x07\x02\x0a\x03" + // 0; symbol 2, R_X86_64_32, 3
				"\x24\x7e", // 4 further; addend -2
			"\x15\x00\x01\x00\x13\x00\x01\x00"},
		{"r_offset shifted", 64, le, elf.EM_X86_64, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa",
			"\x16\x07\x02\x0a\x03\x0c\x7e", "\x15\x00\x01\x00\x13\x00\x01\x00"}, // by 2
		{"offset of two bytes", 64, le, elf.EM_X86_64, strings.Repeat("\xaa", 0x59),
			"\x0c\xaf\x05\x02\x0a\x01", strings.Repeat("\xaa", 0x55) + "\x13\x00\x01\x00"}, // 5 + 5<<4
		{"back", 64, le, elf.EM_X86_64, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa",
			"\x14\x27\x02\x0a\x01" + // 4
				"\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x0f", // -4: 0xc, and 0xfff...f of 60 bits
			"\x13\x00\x01\x00\x13\x00\x01\x00"},
		{"another symbol and type", 64, le, elf.EM_X86_64, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa",
			"\x14\x07\x02\x01\x00" + // R_X86_64_64
				"\x43\x7f\x09", // symbol 1, type 10
			"\x12\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00"},
		{"addends in place", 32, le, elf.EM_386, "\x03\x00\x00\x00\xfc\xff\xff\xff",
			"\x10\x03\x02\x01" + // 0; symbol 2, R_386_32
				"\x12\x01", // 4 further; type 2, R_386_PC32
			"\x15\x00\x01\x00\x0a\x00\x01\x00"},
		{"32 bits wrap", 32, be, elf.EM_PPC, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa",
			"\x14\x27\x02\x01\x7e" + // 4; -2
				"\xe4\xff\xff\xff\x7f\x01", // -4 modulo 2^32
			"\x00\x01\x00\x11\x00\x01\x00\x10"},
		{"MIPS64: three types", 64, be, elf.EM_MIPS, "\x00\x00\x00\x00\x00\x00\x00\x00",
			"\x0c\x07\x01\xf8\x25\x7f", "\x00\x00\x00\x00\x00\x00\xff\xff"}, // symbol 1, type 0x12f8: 248, 18
	} {
		t.Run(c.name, func(t *testing.T) {
			f := crelObject(t, c.bits, c.order, c.machine, []byte(c.data), []byte(c.crel))
			comparePieces(t, f.Header(".debug_x"), []byte(c.want))
			if p := f.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

// Reading from any block yields the same bytes as the whole, whether or not the
// entries are in order.
func TestCRELBlocks(t *testing.T) {
	const n = 3*blockRelocs + 5
	for _, step := range []int{4, -4} {
		crel := binary.AppendUvarint(nil, n<<3|4)
		off, want := 0, make([]byte, 4*n)
		if step < 0 {
			off = 4 * (n - 1)
		}
		for i := range n {
			le.PutUint32(want[off+i*step:], uint32(objectBase+0x12+i))
			delta, flags, rest := uint64(step), byte(4), []byte{1}
			if i == 0 {
				delta, flags, rest = uint64(off), 7, []byte{2, 10, 0}
			}
			if delta < 16 {
				crel = append(crel, byte(delta)<<3|flags)
			} else {
				crel = binary.AppendUvarint(append(crel, 0x80|byte(delta)<<3|flags), delta>>4)
			}
			crel = append(crel, rest...)
		}
		src, err := crelObject(t, 64, le, elf.EM_X86_64, make([]byte, 4*n), crel).Section(".debug_x").Open()
		if err != nil {
			t.Fatal(err)
		}
		for off := 0; off+9 <= len(want); off += 13 {
			got, err := src.Bytes(int64(off), 9, nil)
			if err != nil || !bytes.Equal(got, want[off:off+9]) {
				t.Fatalf("9 bytes at %d: % x, %v; want % x", off, got, err, want[off:off+9])
			}
		}
	}
}

// Damage is reported with its offset, and the entries before it are applied.
func TestBadCREL(t *testing.T) {
	const one = "\x12\x00\x01\x00"
	for _, c := range []struct {
		name    string
		crel    string
		want    string
		problem string // of the relocations
		err     string // of the section
	}{
		{"no entry", "\x0c", "", "x.o: .crel.debug_x+0x1: relocation 0 of 1 has no end", ""},
		{"number", "\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07\x02\x0a\x00", one, "x.o: .crel.debug_x+0xe: relocation 1 of 2305843009213693951 has no end", ""},
		{"addend", "\x14\x07\x02\x0a\x00\x04", one, "x.o: .crel.debug_x+0x5: relocation 1 of 2 has no end", ""},
		{"offset", "\x14\x07\x02\x0a\x00\xa0\x80", one, "x.o: .crel.debug_x+0x5: relocation 1 of 2 has no end", ""},
		{"offset of too many bits", "\x14\x07\x02\x0a\x00\xa0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", one, "x.o: .crel.debug_x+0x5: relocation 1 of 2 has no end", ""},
		{"rest", "\x0c\x07\x02\x0a\x00\x01\x02", one, "x.o: .crel.debug_x+0x5: 2 bytes after the last of 1 relocations", ""},
		{"type", "\x0c\x07\x02\xe3\x00\x00", "", "x.o: .debug_x+0x0: relocation of type 99 of EM_X86_64, which is not known", ""},
		{"place", "\x14\x07\x02\x0a\x00\x38", one, "x.o: .crel.debug_x+0x5: relocation at 0x7 of .debug_x, which has 8 bytes", ""},
		{"place far away", "\x17\x07\x02\x0a\x00\xf8\xff\xff\xff\xff\xff\xff\xff\xff\x1f", one, "x.o: .crel.debug_x+0x5: relocation at 0xfffffffffffffff8 of .debug_x, which has 8 bytes", ""},
		{"symbol", "\x0c\x07\x04\x0a\x00", "", "x.o: .debug_x+0x0: relocation with symbol 4 of 4", ""},
		{"symbol before the first", "\x0c\x07\x7f\x0a\x00", "", "x.o: .debug_x+0x0: relocation with symbol 4294967295 of 4", ""},
		{"header", "\x80\x80", "", "", "x.o: .crel.debug_x+0x0: 2 bytes are too few for a header of relocations"},
		{"crowd", "\x4c\x07\x02\x0a\x00" + strings.Repeat("\x00", 8), "", "", "x.o: .crel.debug_x+0x0: 9 relocations for the byte at 0x0 of .debug_x, want at most 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := crelObject(t, 64, le, elf.EM_X86_64, make([]byte, 8), []byte(c.crel))
			got, err := f.Header(".debug_x").Data()
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if want := c.want + strings.Repeat("\x00", 8-len(c.want)); err != nil || string(got) != want {
				t.Errorf("% x, %v; want % x", got, err, want)
			}
			if got := fmt.Sprint(f.Problems()); got != "["+c.problem+" (lost: the value there)]" {
				t.Errorf("problems %s, want %s", got, c.problem)
			}
		})
	}
}

// Any bytes are relocations or give an error, for the whole section and for
// pieces. (The contents are the same only if no two fields overlap.)
func FuzzCREL(f *testing.F) {
	f.Add([]byte("\x14\x07\x02\x0a\x03\x24\x7e"), true)
	f.Add([]byte("\x14\x27\x02\x0a\x01\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x0f"), true)
	f.Add([]byte("\x11\x03\x02\x01\x12\x01"), false)
	f.Fuzz(func(t *testing.T, crel []byte, wide bool) {
		bits, machine := 32, elf.EM_386
		if wide {
			bits, machine = 64, elf.EM_RISCV
		}
		s := crelObject(t, bits, le, machine, make([]byte, 40), crel).Header(".debug_x")
		_, whole := s.Data()
		src, err := s.Open()
		if (err == nil) != (whole == nil) {
			t.Fatalf("the whole: %v, pieces: %v", whole, err)
		}
		for off := int64(0); err == nil && off < src.Size(); off += 5 {
			_, err = src.Bytes(off, 5, nil)
		}
		if (err == nil) != (whole == nil) {
			t.Errorf("the whole: %v, a piece: %v", whole, err)
		}
	})
}

func TestCRELStateSize(t *testing.T) {
	if n := unsafe.Sizeof(crelState{}); n != crelStateSize {
		t.Errorf("%d bytes, the budget has %d", n, crelStateSize)
	}
}
