package pdb

import (
	"bytes"
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

// Names that are parts of one string have no more bytes than the budget allows;
// after that, there are none.
func TestNamesAreBounded(t *testing.T) {
	d := &database{names: bytes.Repeat([]byte{'n'}, 100), room: 1000}
	d.names[50] = 0
	if name := d.nameAt(10); len(name) != 40 {
		t.Errorf("%q", name)
	}
	sum := 40
	for at := range uint32(200) {
		sum += len(d.nameAt(at))
	}
	if sum > 1000 || sum < 900 || d.nameAt(0) != nil {
		t.Errorf("%d bytes", sum)
	}
	d = &database{names: make([]byte, 1<<20), room: 1 << 20}
	for i := range d.names {
		d.names[i] = 'n'
	}
	if n := len(d.nameAt(1)); n != maxName {
		t.Errorf("%d bytes", n)
	}
}

// Damage ends the lists of streams and of modules, however many entries they claim.
func TestListsEnd(t *testing.T) {
	info := append(make([]byte, 28), 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
	info = append(info, make([]byte, 64)...)
	c := &container{r: bytes.NewReader(info), size: int64(len(info)), block: 4096}
	c.streams = []stream{{}, {size: c.size, blocks: []uint32{0}}}
	d := &database{container: c}
	if err := d.readInfo(); err == nil {
		t.Error("no error of bits past the end")
	}
	if err := d.readModules(bytes.Repeat([]byte{1}, 500)); err == nil {
		t.Error("no error of a module's name without an end")
	}
}
