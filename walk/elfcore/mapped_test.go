package elfcore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Where the segments of the program "stacks" are in mappedAgain.
const (
	stacksBase = 0x555555554000
	stacksSize = 0x4020 // .bss ends there
	again      = 0x7f0000000000
)

// mapped is a mapping of the program "stacks".
func mapped(addr, size, offset uint64, exec bool) dump.Mapping {
	return dump.Mapping{Range: dump.Range{Addr: addr, Size: size}, Read: true, Exec: exec, Offset: offset, Path: "/bin/stacks"}
}

// segments are the mappings of "stacks" at an address, as the kernel lists them.
func segments(base uint64) []dump.Mapping {
	return []dump.Mapping{
		mapped(base, 0x1000, 0, false), mapped(base+0x1000, 0x1000, 0x1000, true), mapped(base+0x2000, 0x1000, 0x2000, false),
		mapped(base+0x3000, 0x1000, 0x2000, false),
		{Range: dump.Range{Addr: base + 0x4000, Size: 0x1000}, Read: true, Write: true}, // .bss
	}
}

// coreOf writes a core of a process with mappings. The program's headers are in the core where it is mapped from its
// start, unless headless is set.
func coreOf(t *testing.T, maps []dump.Mapping, headless bool) []byte {
	t.Helper()
	d := process(arch.X86_64, binary.LittleEndian)
	d.Maps, d.Auxv = maps, nil
	regions := slices.Clone(d.Memory.Regions)
	for _, m := range maps {
		if m.Path != "" && m.Offset == 0 && !headless {
			regions = append(regions, dump.Region{Addr: m.Addr, Data: firstPage(t)})
		}
	}
	d.Memory = dump.NewMemory(d.Order, regions)
	var b bytes.Buffer
	if _, err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return hideRest(t, b.Bytes(), d.Order)
}

// The program headers determine where a module is, including .bss. Other mappings of its file do not belong to it:
// mappings of a part of the file, mappings of all of it for reading, and mappings that follow it closely. A second copy
// of its code is a module.
func TestMappedAgain(t *testing.T) {
	program, _ := stacksFile(t, "stacks")
	for _, c := range []struct {
		name  string
		more  []dump.Mapping
		bases []uint64
	}{
		{"once", nil, []uint64{stacksBase}},
		{"a payload", []dump.Mapping{mapped(again, 4<<20, 0x8000, false)}, []uint64{stacksBase}},
		{"below", []dump.Mapping{mapped(stacksBase-0x400000, 0x400000, 0x8000, false)}, []uint64{stacksBase}},
		{"behind .bss", []dump.Mapping{mapped(stacksBase+0x5000, 0x1000, 0x4000, false)}, []uint64{stacksBase}},
		{"the whole file", []dump.Mapping{mapped(again, 0x5000, 0, false)}, []uint64{stacksBase}},
		{"its code", []dump.Mapping{mapped(again, 0x1000, 0x1000, true)}, []uint64{stacksBase}},
		{"loaded twice", segments(again), []uint64{stacksBase, again}},
	} {
		for _, headless := range []bool{false, true} {
			if headless && c.name == "behind .bss" {
				continue // nothing says that it is not the next segment
			}
			maps := append(segments(stacksBase), c.more...)
			data := coreOf(t, maps, headless)
			for _, o := range []Options{{}, {Binaries: []string{program}}} {
				d, err := Read(data, "core", o)
				if err != nil {
					t.Fatal(err)
				}
				var bases []uint64
				size := uint64(stacksSize)
				if headless && o.Binaries == nil {
					size = 0x4000 // up to .bss
				}
				for _, m := range d.Modules {
					if bases = append(bases, m.Addr); m.Size != size {
						t.Errorf("%s, headless %v, %v: module at %#x has %#x bytes, want %#x", c.name, headless, o.Binaries, m.Addr, m.Size, size)
					}
				}
				if !slices.Equal(bases, c.bases) {
					t.Errorf("%s, headless %v, %v: modules at %#x, want %#x", c.name, headless, o.Binaries, bases, c.bases)
				}
			}
		}
	}
}

// Programs that map parts of their own files keep their extents.
func TestMappedAgainShared(t *testing.T) {
	for name, size := range map[string]uint64{"selfjump": 0x4030, "selfjump-map": 0x4030, "selfmap2": 0x4280, "calldata": 0x14e08} {
		data := testenv.Gunzip(t, testenv.Shared(t, "data", "found3", "walk", name+".core.gz"))
		d, err := Read(data, name, Options{})
		if err != nil || d.Main < 0 || d.Modules[d.Main].Size != size {
			t.Errorf("%s: %#x bytes, want %#x, %v", name, d.Modules[d.Main].Size, size, err)
		}
	}
}
