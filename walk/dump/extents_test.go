package dump

import (
	"fmt"
	"strings"
	"testing"
)

// The extents of modules are given by headers or mappings, whatever the writer's sizes: Breakpad's client includes what
// follows, and other writers give the first segment's size or absurd sizes.
func TestSetListed(t *testing.T) {
	const program = "400000-401000 r--p 0 0:0 0 /a\n401000-402000 r-xp 1000 0:0 0 /a\n403000-404000 rw-p 2000 0:0 0 /a\n404000-406000 rw-p 0 0:0 0 \n"
	const jit = "406000-407000 rwxp 0 0:0 0 \n"
	const memoryImage = 0x1000000
	for _, c := range []struct {
		name, maps string
		list, want string // ADDR+SIZE of modules
		headers    map[uint64]uint64
	}{
		{"as listed", program, "400000+4000", "400000+4000", nil},
		{"the first segment", program, "400000+1000", "400000+4000", nil},
		{"with .bss", program + jit, "400000+5010", "400000+5010", nil},
		{"the rest of 4 GB", program + jit, "400000+ffffffff", "400000+6000", nil},
		{"the rest of the address space", program, "400000+fffffffffff00000", "400000+6000", nil},
		{"by its headers", program + jit, "400000+ffffffff", "400000+4567", map[uint64]uint64{0x400000: 0x4567}},
		{"a payload behind", program + "406000-506000 r--p 900000 0:0 0 /a\n", "400000+106000", "400000+6000", nil},
		{"its code again", program + "7f0000000000-7f0000001000 r-xp 1000 0:0 0 /a\n", "400000+4000 7f0000000000+1000", "400000+4000", nil},
		{"its code again, first", program + "300000-301000 r-xp 1000 0:0 0 /a\n", "300000+1000 400000+4000", "400000+4000", nil},
		{"a segment of its own", program, "400000+2000 403000+1000", "400000+4000", nil},
		{"a segment alone", program, "403000+1000", "403000+1000", nil},
		{"loaded twice", program + "500000-501000 r--p 0 0:0 0 /a\n501000-502000 r-xp 1000 0:0 0 /a\n", "400000+4000 500000+2000", "400000+4000 500000+2000", nil},
		{"the kernel's", program + "7000000-7002000 r-xp 0 0:0 0 [vdso]\n", "400000+4000 7000000+100000", "400000+4000 7000000+2000", nil},
		{"not mapped", program, "400000+4000 900000+800", "400000+4000 900000+800", nil},
		{"no mappings", "", "400000+4000 402000+1000", "400000+2000 402000+1000", nil},
		{"another file", program + "406000-407000 r-xp 0 0:0 0 /b\n", "400000+10000 406000+1000", "400000+6000 406000+1000", nil},
	} {
		d := &Dump{}
		for line := range strings.Lines(c.maps) {
			m, ok := ParseMapping(strings.TrimSpace(line))
			if !ok {
				t.Fatalf("%q", line)
			}
			d.Maps = append(d.Maps, m)
		}
		SortMappings(d.Maps)
		var list []Module
		for _, text := range strings.Fields(c.list) {
			var m Module
			if _, err := fmt.Sscanf(text, "%x+%x", &m.Addr, &m.Size); err != nil {
				t.Fatal(err)
			}
			list = append(list, m)
		}
		d.SetListed(list, len(list)-1, func(addr uint64) (uint64, bool) { n, ok := c.headers[addr]; return n, ok })
		var got []string
		for _, m := range d.Modules {
			got = append(got, fmt.Sprintf("%x+%x", m.Addr, m.Size))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if last := list[len(list)-1].Addr; d.Main < 0 && d.ModuleAt(last) >= 0 && d.Modules[d.ModuleAt(last)].Addr == last {
			t.Errorf("%s: the program is lost", c.name)
		}
	}
	// On Windows, a module is one allocation.
	windows := func(addr, size uint64, base uint64) Mapping {
		return Mapping{Range: Range{Addr: addr, Size: size}, Read: true, Type: memoryImage, AllocBase: base}
	}
	d := &Dump{Maps: []Mapping{windows(0x400000, 0x1000, 0x400000), windows(0x401000, 0x3000, 0x400000), windows(0x404000, 0x1000, 0x404000)}}
	d.SetListed([]Module{{Range: Range{Addr: 0x400000, Size: 0xffffffff}}}, 0, nil)
	if d.Modules[0].Size != 0x4000 || d.Main != 0 {
		t.Errorf("%+v", d.Modules)
	}
}

// What is in a gap between the mappings of a module does not belong to the module.
func TestInGap(t *testing.T) {
	d := &Dump{Modules: []Module{{Range: Range{Addr: 0x1000, Size: 0x4000}}, {Range: Range{Addr: 0x9000, Size: 0x1000}}}, Maps: []Mapping{
		{Range: Range{Addr: 0x1000, Size: 0x1000}, Path: "/a"}, {Range: Range{Addr: 0x4000, Size: 0x1000}, Path: "/a"},
	}}
	for _, c := range []struct {
		module int
		addr   uint64
		want   bool
	}{{0, 0x1800, false}, {0, 0x2800, true}, {0, 0x4000, false}, {1, 0x9800, false}} {
		if got := d.InGap(c.module, c.addr); got != c.want {
			t.Errorf("%#x: %v", c.addr, got)
		}
	}
}
