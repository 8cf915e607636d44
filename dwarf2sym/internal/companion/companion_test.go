package companion

import (
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// Code of a file that was moved has the RVAs of the binary; what lies below the
// binary's segments has none.
func TestCompanionMap(t *testing.T) {
	for _, c := range []struct {
		name       string
		base       uint64 // of the binary
		moved      uint64
		addr, size uint64 // of the code, in the companion
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
		m := File{File: f, Moved: c.moved}.CodeMap(c.base)
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
			t.Errorf("%s: kept %x", c.name, spans)
		}
	}
}

// Symbols of .gnu_debugdata are added to those of .dynsym; not where there is a
// .symtab.
func TestMiniDebugPublics(t *testing.T) {
	f := openELF(t, testenv.Input(t, "minidebug.elf"))
	dyn, _ := Publics(f.Base, filesOf(f))
	files, lost, err := Find(f, nil)
	if err != nil || len(files) != 2 || len(lost) > 0 {
		t.Fatalf("%d files, %v, %v", len(files), err, lost)
	}
	both, problems := Publics(f.Base, files)
	mini, _ := Publics(f.Base, []File{files[1]})
	names := map[symfmt.RVA][]string{}
	for _, p := range append(dyn, mini...) {
		names[p.RVA] = append(names[p.RVA], p.Name)
	}
	if len(problems) > 0 || len(dyn) < 10 || len(mini) < 10 || len(both) != len(names) {
		t.Errorf("%d of .dynsym and %d of .gnu_debugdata make %d, want %d: %v", len(dyn), len(mini), len(both), len(names), problems)
	}
	for _, p := range both {
		// Of two names at an address that of .dynsym is the global one.
		if names[p.RVA][0] != p.Name {
			t.Errorf("%x is %q, want one of %q", p.RVA, p.Name, names[p.RVA])
		}
	}
	whole := &object.File{Container: &withMini{mini: files[1].File}}
	beside, _, err := Find(whole, &object.File{Container: &withMini{symtab: true}})
	if err != nil || len(beside) != 2 || beside[1].Mini {
		t.Errorf("beside a .symtab: %d files, %v", len(beside), err)
	}
}

// withMini is a container that has a .symtab, or a .gnu_debugdata.
type withMini struct {
	object.Bare
	symtab bool
	mini   *object.File
}

func (c *withMini) HasSymbols(t object.Table) bool  { return t == object.Symtab && c.symtab }
func (c *withMini) Embedded() (*object.File, error) { return c.mini, nil }
