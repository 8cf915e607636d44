package pdb

import (
	"testing"

	"github.com/symtool/symtool/symfmt"
)

func TestSectionAt(t *testing.T) {
	all := sections{{rva: 0x1000, size: 0x100, exec: true}, {rva: 0x2000, size: 0x10}, {rva: 0x2010, size: 0x10}}
	for rva, want := range map[symfmt.RVA]uint32{0: 0, 0xfff: 0, 0x1000: 0x1000, 0x10ff: 0x1000, 0x1100: 0, 0x200f: 0x2000, 0x2010: 0x2010, 0x2020: 0} {
		if s, ok := all.at(rva); s.rva != want || ok != (want != 0) {
			t.Errorf("%#x is in the section at %#x, %v, want %#x", uint64(rva), s.rva, ok, want)
		}
	}
}
