package elfobj

import (
	"bytes"
	"debug/elf"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

// TestWhatDebugELFRefuses has images with one reason each for which debug/elf
// rejects them. The sections keep their fields as in the file, and undamaged
// ones their contents.
func TestWhatDebugELFRefuses(t *testing.T) {
	big := uint64(1<<63 + 5)
	for name, c := range map[string]struct {
		is64     bool // needs 64-bit fields
		sec      testSec
		change   func(e *testELF)
		patch    func(image []byte)
		problems int
	}{
		"ident version":         {patch: func(b []byte) { b[6] = 0 }},
		"header version":        {patch: func(b []byte) { clear(b[20:24]) }},
		"offset":                {is64: true, sec: testSec{typ: stProgbits, off: big, size: 9}, problems: 1},
		"size":                  {is64: true, sec: testSec{typ: stProgbits, size: big}, problems: 1},
		"size without bytes":    {is64: true, sec: testSec{typ: stNobits, size: big}},
		"cut chdr":              {sec: testSec{typ: stProgbits, flags: 0x800, size: 3}, problems: 1},
		"far chdr":              {sec: testSec{typ: stProgbits, flags: 0x800, off: 1 << 30, size: 99}, problems: 1},
		"chdr without bytes":    {sec: testSec{typ: stNobits, flags: 0x800, off: 1 << 30, size: 99}},
		"chdr of null":          {sec: testSec{flags: 0x800, off: 1 << 30, size: 99}},
		"name table's type":     {change: func(e *testELF) { e.strtab = func(n []byte) testSec { return testSec{typ: stProgbits, data: n} } }},
		"needless extended num": {change: func(e *testELF) { e.shnum, e.sec0.size = new(uint16), 4 }},
		"type of section 0":     {change: func(e *testELF) { e.shnum, e.sec0.size, e.sec0.typ = new(uint16), 4, stNobits }},
		"name table elsewhere":  {change: func(e *testELF) { e.shstrndx = new(uint16); *e.shstrndx = 99 }, problems: 1},
		"segment":               {is64: true, change: func(e *testELF) { e.segs = []testSeg{{typ: 1, off: big, filesz: big, mem: 8}} }},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *testELF) {
				if c.is64 && e.bits == 32 {
					t.Skip("no such number in ELF32")
				}
				odd := c.sec
				odd.name, odd.addr, odd.link, odd.info, odd.align, odd.ents = ".odd", 0x77, 2, 3, 16, 5
				e.secs = []testSec{odd, {name: ".good", typ: stProgbits, data: []byte("good")}}
				if c.change != nil {
					c.change(e)
				}
				image := e.build()
				if c.patch != nil {
					c.patch(image)
				}
				if _, err := elf.NewFile(bytes.NewReader(image)); err == nil {
					t.Error("debug/elf reads it")
				}
				f := openBytes(t, image)
				if len(f.Damaged) != c.problems || len(f.Sections) != 4 {
					t.Fatalf("%d sections, problems %v, want 4, %d", len(f.Sections), f.Damaged, c.problems)
				}
				s := f.Sections[1]
				if uint32(s.Type) != odd.typ || uint64(s.Flags) != odd.flags || s.Addr != 0x77 || s.Link != 2 || s.Info != 3 ||
					s.Align != 16 || s.Entsize != 5 || s.FileSize != odd.size || odd.off != 0 && s.Offset != odd.off {
					t.Errorf("section %+v, want %+v", s, odd)
				}
				if d, err := f.Sections[2].Data(); err != nil || string(d) != "good" {
					t.Errorf("contents %q, %v", d, err)
				}
				if f.Sections[3].Type == elf.SHT_NULL || f.Sections[3].FileSize < 10 {
					t.Errorf("name table %+v", f.Sections[3])
				}
				if name != "name table elsewhere" && (s.Name != ".odd" || f.Sections[3].Name != ".shstrtab") {
					t.Errorf("names %q, %q", s.Name, f.Sections[3].Name)
				}
				for _, p := range f.Segments {
					if p.Type != elf.PT_LOAD || p.Offset != math.MaxInt64 || p.FileSize != math.MaxInt64 || p.MemSize != 8 {
						t.Errorf("segment %+v", p)
					}
				}
			})
		})
	}
}

// TestManySegments has more segments than e_phnum can represent, as a core may.
func TestManySegments(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		const n = 65535 + 7
		e.segs = make([]testSeg, n)
		for i := range e.segs {
			e.segs[i] = testSeg{typ: 1, addr: uint64(i) << 12, mem: 1}
		}
		e.secs = []testSec{{name: ".good", typ: stProgbits, data: []byte("good")}}
		e.phnum, e.sec0.info = new(uint16), n
		*e.phnum = 0xffff
		f := openBytes(t, e.build())
		if len(f.Segments) != n || len(f.Sections) != 3 {
			t.Fatalf("%d segments, %d sections", len(f.Segments), len(f.Sections))
		}
		for i, p := range f.Segments {
			if p.Addr != uint64(i)<<12 || p.Type != elf.PT_LOAD {
				t.Fatalf("segment %d: %+v", i, p)
			}
		}
	})
}

// TestSharedNames has many sections with one long name. Its copies must not take
// more memory than the size of the file allows.
func TestSharedNames(t *testing.T) {
	e := kinds[0].e
	e.secs = make([]testSec, 50000)
	for i := range e.secs {
		e.secs[i].typ = stNobits
	}
	e.strtab = func([]byte) testSec {
		return testSec{typ: stStrtab, data: []byte(strings.Repeat("x", 4000) + "\x00")}
	}
	image := e.build()
	var f *File
	grown, _ := cost(func() { f = openBytes(t, image) })
	// There is a Section for each 64-byte header. If each section had its own
	// copy of the name, they would take 62 times the file.
	if limit := 24 * int64(len(image)); grown > limit {
		t.Errorf("%d bytes allocated, want at most %d", grown, limit)
	}
	if len(f.Sections[1].Name) != 4000 || f.Sections[50000].Name != "" {
		t.Errorf("names of %d and %d bytes", len(f.Sections[1].Name), len(f.Sections[50000].Name))
	}
	if len(f.Damaged) == 0 || !strings.Contains(f.Damaged[0].Err.Error(), "names of sections take more bytes than the file") {
		t.Errorf("problems %d", len(f.Damaged))
	}
}

// TestBothReadings compares the headers that debug/elf returns with those that
// this package decodes.
func TestBothReadings(t *testing.T) {
	images := realImages(t)
	for _, k := range kinds {
		images[k.name] = syntheticImage(&k.e)
	}
	for name, image := range images {
		f := openBytes(t, image)
		own := &File{Path: f.Path, Size: f.Size, in: object.NewInput(f.in.Reader, f.Size, f.Path, f.in.Limits)}
		tab := tables{f: own}
		if err := tab.readEhdr(image); err != nil {
			t.Fatal(err)
		}
		if tab.standard() == nil {
			t.Errorf("%s: debug/elf does not read it", name)
		}
		if err := tab.decode(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(own.Segments, f.Segments) || len(f.Segments) == 0 {
			t.Errorf("%s: segments %+v, with debug/elf %+v", name, own.Segments, f.Segments)
		}
		if len(own.Sections) != len(f.Sections) || len(f.Sections) == 0 {
			t.Fatalf("%s: %d sections, with debug/elf %d", name, len(own.Sections), len(f.Sections))
		}
		for i, s := range own.Sections {
			if got, want := headerOf(s), headerOf(f.Sections[i]); got != want {
				t.Errorf("%s: section %+v, with debug/elf %+v", name, got, want)
			}
		}
	}
}

func headerOf(s *Section) elf.SectionHeader {
	return elf.SectionHeader{
		Name: s.Name, Type: s.Type, Flags: s.Flags, Addr: s.Addr, Offset: s.Offset, FileSize: s.FileSize,
		Size: uint64(s.Size()), Link: s.Link, Info: s.Info, Addralign: s.Align, Entsize: s.Entsize,
	}
}

// TestMisunderstoodByDebugELF has headers that debug/elf misreads.
func TestMisunderstoodByDebugELF(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		e.segs, e.secs = []testSeg{{typ: 1, mem: 8}}, []testSec{{name: ".a", typ: stProgbits, data: []byte("good")}}
		image := e.build()
		at, n := 32, 8 // e_phoff
		if e.bits == 32 {
			at, n = 28, 4
		}
		clear(image[at : at+n])
		if f, err := elf.NewFile(bytes.NewReader(image)); err != nil || len(f.Progs) != 1 {
			t.Error("debug/elf reads no segment at offset 0", err)
		}
		if f := openBytes(t, image); len(f.Segments) != 0 || f.Header(".a") == nil {
			t.Errorf("segments %+v, sections %v", f.Segments, f.Sections)
		}
	})
}
