package dump

import (
	"fmt"
	"strings"
	"testing"
)

// Mappings of a file are one image as long as they follow each other as segments do.
func TestImages(t *testing.T) {
	for _, c := range []struct{ name, maps, want string }{
		{"none", "", ""},
		{"segments", "1000-2000 r--p 0 0:0 0 /a\n2000-3000 r-xp 1000 0:0 0 /a\n4000-6000 rw-p 2000 0:0 0 /a\n", "/a 1000-6000 code"},
		{"the same page in two segments", "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 r--p 1000 0:0 0 /a\n3000-4000 rw-p 1000 0:0 0 /a\n", "/a 1000-4000 code"},
		{"a hole of 2 MiB", "400000-401000 r-xp 0 0:0 0 /a\n600000-602000 rw-p 0 0:0 0 /b\n", "/a 400000-401000 code, /b 600000-602000"},
		{"aligned to 2 MiB", "400000-401000 r-xp 0 0:0 0 /a\n600000-602000 rw-p 200000 0:0 0 /a\n", "/a 400000-602000 code"},
		{"no file between", "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 rw-p 0 0:0 0\n3000-4000 r--p 1000 0:0 0 /a\n", "/a 1000-4000 code"},
		{"another file between", "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 rw-p 0 0:0 0 /b\n3000-4000 r--p 1000 0:0 0 /a\n", "/a 1000-2000 code, /b 2000-3000, /a 3000-4000"},
		{"from the start again", "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 r-xp 0 0:0 0 /a\n", "/a 1000-2000 code, /a 2000-3000 code"},
		{"a payload far away", "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 r--p 1000 0:0 0 /a\n7f0000000000-7f0000400000 r--p 8000 0:0 0 /a\n", "/a 1000-3000 code, /a 7f0000000000-7f0000400000"},
		{"a payload below", "1000-2000 r--p 8000 0:0 0 /a\n2000-3000 r-xp 0 0:0 0 /a\n", "/a 1000-2000, /a 2000-3000 code"},
		{"far behind in the file", "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 r--p 900000 0:0 0 /a\n", "/a 1000-2000 code, /a 2000-3000"},
		{"back in the file", "1000-2000 r-xp 0 0:0 0 /a\n2000-4000 r--p 3000 0:0 0 /a\n4000-5000 r--p 2000 0:0 0 /a\n", "/a 1000-4000 code, /a 4000-5000"},
		{"code again", "1000-2000 r--p 0 0:0 0 /a\n2000-3000 r-xp 1000 0:0 0 /a\n3000-4000 rw-p 2000 0:0 0 /a\n7f0000000000-7f0000001000 r-xp 1000 0:0 0 /a\n", "/a 1000-4000 code"},
		{"code again, below", "1000-2000 r-xp 1000 0:0 0 /a\n400000-401000 r--p 0 0:0 0 /a\n401000-402000 r-xp 1000 0:0 0 /a\n", "/a 400000-402000 code"},
		{"libraries in an archive", "1000-2000 r--p 0 0:0 0 /a\n10000-11000 r--p 8000 0:0 0 /a\n11000-12000 r-xp 9000 0:0 0 /a\n20000-21000 r-xp 900000 0:0 0 /a\n", "/a 1000-12000 code, /a 20000-21000 code"},
		{"reserved between segments", "1000-2000 r-xp 0 0:0 0 /a\n2000-200000 ---p 1000 0:0 0 /a\n200000-201000 r--p 1000 0:0 0 /a\n201000-202000 rw-p 2000 0:0 0 /a\n", "/a 1000-202000 code"},
		{"code that .NET shares", "1000-2000 rw-s 0 0:0 0 /memfd:doublemapper (deleted)\n2000-3000 r-xs 1000 0:0 0 /memfd:doublemapper (deleted)\n", ""},
		{"a library in memory", "1000-2000 r--p 0 0:0 0 /memfd:a (deleted)\n2000-3000 r-xp 1000 0:0 0 /memfd:a (deleted)\n", "/memfd:a (deleted) 1000-3000 code"},
		{"memory of no file", "1000-2000 rwxp 0 0:0 0 /dev/zero (deleted)\n2000-3000 rwxp 0 0:0 0 /SYSV00000000 (deleted)\n3000-4000 r-xp 0 0:0 0 /dev/ashmem/dalvik-jit-code-cache (deleted)\n4000-5000 r-xp 0 0:0 0 //anon\n", ""},
		{"a file in shared memory", "1000-2000 r-xp 0 0:0 0 /dev/shm/a.so\n", "/dev/shm/a.so 1000-2000 code"},
		{"a name in brackets", "1000-2000 r-xp 0 0:0 0 [vdso]\n", ""},
	} {
		var maps []Mapping
		for line := range strings.Lines(c.maps) {
			m, ok := ParseMapping(strings.TrimSpace(line))
			if !ok {
				t.Fatalf("%q", line)
			}
			maps = append(maps, m)
		}
		var got []string
		for _, g := range Images(maps) {
			text := fmt.Sprintf("%s %x-%x", g.Path, g.Addr, g.Addr+g.Size)
			if g.Exec {
				text += " code"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMappedRange(t *testing.T) {
	d := &Dump{Maps: []Mapping{
		{Range: Range{0x1000, 0x1000}, Read: true, Path: "/a", Offset: 0},
		{Range: Range{0x2000, 0x1000}, Read: true, Path: "/a", Offset: 0x1000, Exec: true},
		{Range: Range{0x3000, 0x5000}, Read: true}, // .bss
		{Range: Range{0x9000, 0x1000}, Read: true, Path: "[vdso]"},
	}}
	for _, c := range []struct{ module, want Range }{
		{Range{0x1000, 0x6123}, Range{0x1000, 0x2000}},
		{Range{0x9000, 0x800}, Range{0x9000, 0x800}},
		{Range{0xa000, 0x800}, Range{0xa000, 0x800}}, // not mapped
	} {
		if got := d.MappedRange(&Module{Range: c.module}); got != c.want {
			t.Errorf("%#x: %#x, want %#x", c.module, got, c.want)
		}
	}
}
