package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

func TestSectionOf(t *testing.T) {
	contents := []byte("bytes of the segment")
	e := testELF{
		bits: 64, order: binary.LittleEndian, typ: 3, mach: 62, noSecs: true,
		secs: []testSec{{name: ".x", typ: stProgbits, data: contents}},
		segs: []testSeg{{typ: 0x6474e554, sec: ".x"}, {typ: 1, off: 1, filesz: 1 << 20}, {typ: 1, off: 1 << 40, filesz: 1}},
	}
	image := e.build()
	lim := object.DefaultLimits()
	open := func() *File {
		f, err := NewFile(bytes.NewReader(image), int64(len(image)), "x", lim)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	data := func(f *File, i int) ([]byte, error) {
		return f.SectionOf(f.Segments[i], "PT_X", elf.SHT_PROGBITS).Data()
	}
	if f.HasSections() {
		t.Error("there are section headers")
	}
	if all := f.SegmentsOf(0x6474e554); len(all) != 1 || all[0] != f.Segments[0] {
		t.Errorf("segments %v, want the first of %v", all, f.Segments)
	}
	if data, err := data(f, 0); err != nil || !bytes.Equal(data, contents) {
		t.Errorf("%q, %v; want %q", data, err, contents)
	}
	for _, i := range []int{1, 2} {
		if _, err := data(f, i); err == nil {
			t.Errorf("segment %d is outside of the file, and was read", i)
		}
	}
	lim.Base, lim.HeldRatio = 0, 0
	if _, err := data(open(), 0); err == nil {
		t.Error("a limit of 0 bytes lets 20 be read")
	}
}
