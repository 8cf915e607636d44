package codemap

import (
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Code of a file that was moved has the RVAs of the binary. Code below the binary's
// segments has none.
func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name       string
		base       uint64 // of the binary
		moved      uint64
		addr, size uint64 // of the code, in the other file
		lo, hi     symfmt.RVA
	}{
		{"at its place", 0x400000, 0, 0x401000, 0x10, 0x1000, 0x1010},
		{"binary moved up", 0x33000000, 0x33000000, 0x1000, 0x10, 0x1000, 0x1010},
		{"binary moved down", 0x1000, 1<<64 - 0x400000, 0x402000, 0x10, 0x1000, 0x1010},
		{"binary grew at its start", 0x3ff000, 0, 0x401000, 0x10, 0x2000, 0x2010},
		{"grew and moved", 0x5000, 0x8000, 0, 0x10, 0x3000, 0x3010},
		{"at the end of the addresses", 1<<64 - 0x2000, 1<<64 - 0x2000, 0x1000, 0xfff, 0x1000, 0x1fff},
		{"partly below", 0x400008, 0, 0x400000, 0x10, 0, 8},
		{"a kernel with a segment at 0", 0, 0, 0xffffffff81000000, 0x10, 0xffffffff81000000, 0xffffffff81000010},
		{"all below", 0x400010, 0, 0x400000, 0x10, 0, 0},
	} {
		f := &object.File{Segments: []*object.Section{{Alloc: true, Exec: true, Addr: c.addr, MemSize: c.size}}}
		m := Moved(f, c.moved, c.base)
		if c.lo == c.hi {
			if len(m.Exec) > 0 {
				t.Errorf("%s: code at %x, want none", c.name, m.Exec)
			}
			continue
		}
		if len(m.Exec) != 1 || m.RVA(m.Exec[0].Start) != c.lo || m.RVA(m.Exec[0].End) != c.hi || m.Addr(c.lo) != m.Exec[0].Start {
			t.Errorf("%s: base %#x, code %x, want RVA %x to %x", c.name, m.Base, m.Exec, c.lo, c.hi)
		}
		spans := m.Keep([]dwarf.Span{{Lo: c.addr - 1, Hi: c.addr + 1}, {Lo: c.addr + c.size - 1, Hi: c.addr + c.size + 5}})
		if len(spans) != 1 || m.RVA(spans[0].Hi) != c.hi {
			t.Errorf("%s: kept %x, want one span up to RVA %x", c.name, spans, c.hi)
		}
	}
}
