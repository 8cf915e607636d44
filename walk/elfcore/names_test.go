package elfcore

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// A library's symbols are looked up by its DT_SONAME, if the core or the binary has one; otherwise by
// the name under which the library was opened, and then by its file's.
func TestDebugFileNames(t *testing.T) {
	const base = uint64(0x7f0000000000)
	path := testenv.Input(t, "soname.elf")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image := make([]byte, 0x2010) // its two segments, as they are loaded
	copy(image, file[:0x620])
	copy(image[0x1eb0:], file[0xeb0:][:0x158])
	for name, c := range map[string]struct {
		sizes  [2]int // bytes of the two pages that are in memory
		opened string
		want   string
	}{
		"whole":                      {[2]int{0x1000, 0x1010}, "", "libnest.so.1"},
		"opened by another name":     {[2]int{0x1000, 0x1010}, "/lib/libnest.so", "libnest.so.1"},
		"string table missing":       {[2]int{0x200, 0x1010}, "/lib/libnest.so", "libnest.so"},
		"dynamic section missing":    {[2]int{0x1000, 0}, "/lib/libnest.so", "libnest.so"},
		"header missing":             {[2]int{0, 0}, "/lib/libnest.so", "libnest.so"},
		"string table and no linker": {[2]int{0x200, 0x1010}, "", "libnest.so.1.2.3"},
		"header and no linker":       {[2]int{0, 0}, "", "libnest.so.1.2.3"},
	} {
		var regions []dump.Region
		for i, n := range c.sizes {
			if n > 0 {
				regions = append(regions, dump.Region{Addr: base + uint64(i)<<12, Data: image[i<<12:][:n]})
			}
		}
		d := &dump.Dump{Arch: arch.X86_64, Order: binary.LittleEndian, Main: -1, Memory: dump.NewMemory(binary.LittleEndian, regions)}
		d.Modules = []dump.Module{{Range: dump.Range{Addr: base, Size: 0x3000}, Path: "/lib/libnest.so.1.2.3", DebugFile: "libnest.so.1.2.3"}}
		if c.opened != "" {
			d.Linker = &dump.Linker{Maps: []dump.LinkMap{{Addr: base, Name: c.opened, Dynamic: base + 0x1eb0}}}
		}
		r := &reader{d: d, f: &elfobj.File{Class: elf.ELFCLASS64, Order: binary.LittleEndian}, word: 8}
		r.nameDebugFiles()
		if got := d.Modules[0].DebugFile; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		f, err := elfobj.Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		r.adopt(f, &d.Modules[0])
		f.Close()
		if got := d.Modules[0].DebugFile; got != "libnest.so.1" {
			t.Errorf("%s: with the binary %q", name, got)
		}
	}
}

// A library without a DT_SONAME has its file's name, whatever the linker called it.
func TestDebugFileOfUnnamed(t *testing.T) {
	path := testenv.Input(t, "gcc-dwarf5.elf")
	f, err := elfobj.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := dump.Module{Path: "/lib/libx.so.1.2", DebugFile: "libx.so"}
	r := &reader{d: &dump.Dump{Order: binary.LittleEndian}, f: f, word: 8}
	if r.adopt(f, &m); m.DebugFile != "libx.so.1.2" {
		t.Error(m.DebugFile)
	}
}

// The mark of the kernel is not part of a path: the module has the name by which its symbols are stored.
func TestDeletedModule(t *testing.T) {
	d := &dump.Dump{Modules: []dump.Module{{Path: "/bin/app (deleted)", DebugFile: "app"}, {Path: "/bin/app"}}, Memory: dump.NewMemory(binary.LittleEndian, nil)}
	r := &reader{d: d, f: &elfobj.File{Class: elf.ELFCLASS64, Order: binary.LittleEndian}, word: 8}
	r.nameDebugFiles()
	for i, deleted := range []bool{true, false} {
		if m := &d.Modules[i]; m.Path != "/bin/app" || m.Deleted != deleted {
			t.Errorf("%q, deleted: %v, want %v", m.Path, m.Deleted, deleted)
		}
	}
}
