package dump

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestUntag(t *testing.T) {
	for _, c := range []struct {
		a             *arch.Arch
		tags          uint64
		pointer, want uint64
	}{
		{arch.ARM64, 0, 0x0b00_0000_0049_8f80, 0x49_8f80},                                  // MTE's
		{arch.ARM64, 0x7f_0000_0000_0000, 0x0b35_0055_0080_0680, 0x55_0080_0680},           // with pointer authentication
		{arch.ARM64, 0x7f_0000_0000_0000, 0xffff_8000_0801_0000, 0xffff_8000_0801_0000},    // of the kernel
		{arch.X86_64, 0, 0x0b00_7f00_0000_1000, 0x0b00_7f00_0000_1000},                     // without LAM
		{arch.X86_64, 0x7e00_0000_0000_0000, 0x0a00_7f00_0000_1000, 0x7f00_0000_1000},      // LAM_U57
		{arch.X86_64, 0x7e00_0000_0000_0000, 0x8000_7f00_0000_1000, 0x8000_7f00_0000_1000}, // bit 63 is not part of the tag
		{nil, 0, 0x0b00_7f00_0000_1000, 0x0b00_7f00_0000_1000},
	} {
		d := &Dump{Arch: c.a, Tags: c.tags}
		if got := d.Tagged().untag(c.pointer); got != c.want {
			t.Errorf("%v, %#x: %#x, want %#x", c.a, c.pointer, got, c.want)
		}
	}
}

func TestTagged(t *testing.T) {
	d := &Dump{Arch: arch.ARM64, Memory: NewMemory(binary.LittleEndian, []Region{{Addr: 0x1000, Data: []byte("abcd")}, {Addr: 0x2000, Data: []byte("ef")}})}
	m, tag := d.Tagged(), uint64(0x0b)<<56
	if got := string(m.Bytes(tag|0x1001, 8)); got != "bcd" {
		t.Errorf("%q", got)
	}
	if next, ok := m.Next(tag | 0x1004); next != tag|0x2000 || !ok {
		t.Errorf("%#x, %v", next, ok)
	}
}

func TestStatusTags(t *testing.T) {
	for status, want := range map[string]uint64{
		"Name:\tprog\nuntag_mask:\t0x81ffffffffffffff\nUid:\t0\n": 0x7e00_0000_0000_0000,
		"untag_mask:\t0xffffffffffffffff\n":                       0,
		"untag_mask:\t0\n":                                        0, // no pointer at all would be left
		"untag_mask:\tx\n":                                        0,
		"Name:\tprog\n":                                           0,
	} {
		if got := StatusTags([]byte(status)); got != want {
			t.Errorf("%q: %#x, want %#x", status, got, want)
		}
	}
}
