package elfobj

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

func openBytes(t testing.TB, image []byte) *File {
	t.Helper()
	f, err := NewFile(bytes.NewReader(image), int64(len(image)), "mem", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// each runs fn for ELF32 and ELF64 in both byte orders.
func each(t *testing.T, fn func(t *testing.T, e *testELF)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { e := k.e; fn(t, &e) })
	}
}

func TestHeaderFields(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		e.secs = []testSec{{name: ".text", typ: stProgbits, flags: 6, addr: 0x401000, data: []byte("code"),
			link: 3, info: 4, align: 16, ents: 9}}
		e.segs = []testSeg{{typ: 1, flags: 5, off: 0x10, addr: 0x400010, filesz: 0x20, mem: 0x30, align: 0x1000}}
		f := openBytes(t, e.build())
		if f.Entry != 0x1234 || f.Flags != 0xabcd || f.Type != elf.ET_EXEC || uint16(f.Machine) != e.mach {
			t.Errorf("header: %+v", f)
		}
		if len(f.Sections) != 3 || len(f.Problems) != 0 {
			t.Fatalf("%d sections, problems %v", len(f.Sections), f.Problems)
		}
		s := f.Section(".text")
		if s == nil || s.Addr != 0x401000 || s.Link != 3 || s.Info != 4 || s.Align != 16 || s.Entsize != 9 || s.Flags != 6 || s.Size() != 4 {
			t.Fatalf(".text: %+v", s)
		}
		if d, err := s.Data(); err != nil || string(d) != "code" {
			t.Errorf("data %q, %v", d, err)
		}
		want := Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Offset: 0x10, Addr: 0x400010, FileSize: 0x20, MemSize: 0x30, Align: 0x1000, PhysAddr: 0x405010}
		if len(f.Segments) != 1 || f.Segments[0] != want {
			t.Errorf("segments %+v", f.Segments)
		}
	})
}

func TestNotELF(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ data, want string }{
		"empty":   {"", "not a binary: empty"},
		"gzip":    {"\x1f\x8b\x08\x00zzzz", "not a binary: gzip data"},
		"zstd":    {"\x28\xb5\x2f\xfdzzzz", "zstd data"},
		"ar":      {"!<arch>\nfoo.o/", "an ar archive (a static library): take its members out (ar x) and name those"},
		"macho":   {"\xcf\xfa\xed\xfe\x07\x00\x00\x01", "a Mach-O file"},
		"fat64":   {"\xca\xfe\xba\xbf", "a Mach-O universal file"},
		"wrapper": {"\xde\xc0\x17\x0b\x00\x00", "LLVM bitcode"},
		"cache":   {"dyld_v1   arm64e\x00", "a dyld shared cache, which is not read: take its libraries out (ipsw dyld extract) and name those"},
		"text":    {"hello, wörld\n", "not a binary: text"},
		"sym":     {"MODULE Linux x86_64 0 a\n", "a Breakpad symbol file"},
		"binary":  {"\x00\x01\x02\x03\x04", "begins with 00 01 02 03, which begins no ELF, Windows or macOS file"},
		"one":     {"\x7f", "begins with 7f, which begins no ELF"},
		"magic":   {"\x7fELF", "offset 0x4: ELF header cut short: 4 bytes"},
		"class":   {"\x7fELF\x03\x01\x01" + strings.Repeat("\x00", 60), "offset 0x4: ELF class 3, want 1 (32-bit) or 2 (64-bit)"},
		"order":   {"\x7fELF\x02\x00\x01" + strings.Repeat("\x00", 60), "offset 0x5: ELF byte order 0"},
		"short64": {"\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 50), "offset 0x39: ELF header cut short: 57 bytes, want 64"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
				t.Fatal(err)
			}
			wantError(t, path, path+": ", c.want)
		})
	}
	wantError(t, dir, "a directory")
	wantError(t, "/dev/null", "not a regular file")
	wantError(t, filepath.Join(dir, "absent"), "no such file")
}

func wantError(t *testing.T, path string, parts ...string) {
	t.Helper()
	f, err := Open(path, object.DefaultLimits())
	if err == nil {
		f.Close()
		t.Fatalf("%s opens", path)
	}
	var be *bin.Error
	if !errors.As(err, &be) || be.File != path {
		t.Errorf("error %#v, want a *bin.Error with the file", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}

func TestCoreIsRefusedUnlessAsked(t *testing.T) {
	e := kinds[0].e
	e.typ = 4
	image := e.build()
	_, err := NewFile(bytes.NewReader(image), int64(len(image)), "c", object.DefaultLimits())
	if err == nil || !strings.Contains(err.Error(), "core dump") {
		t.Errorf("error %v", err)
	}
	lim := object.DefaultLimits()
	lim.Core = true
	if f, err := NewFile(bytes.NewReader(image), int64(len(image)), "c", lim); err != nil || f.Type != elf.ET_CORE {
		t.Errorf("with Core: %v", err)
	}
}

// TestAgainstDebugELF compares headers and contents with debug/elf's on files
// of this machine.
func TestAgainstDebugELF(t *testing.T) {
	for _, path := range systemFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { compareDebugELF(t, path) })
	}
}

func compareDebugELF(t *testing.T, path string) {
	want, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	f, err := Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Class != want.Class || f.Order != want.ByteOrder || f.Machine != want.Machine || f.Type != want.Type || f.Entry != want.Entry || f.OSABI != want.OSABI {
		t.Errorf("header differs: %+v, %+v", f, want.FileHeader)
	}
	if len(f.Sections) != len(want.Sections) || len(f.Segments) != len(want.Progs) || len(f.Problems) > 0 {
		t.Fatalf("%d sections, %d segments, want %d, %d; problems %v", len(f.Sections), len(f.Segments), len(want.Sections), len(want.Progs), f.Problems)
	}
	for i, p := range want.Progs {
		if f.Segments[i] != (Segment{p.Type, p.Flags, p.Off, p.Vaddr, p.Filesz, p.Memsz, p.Align, p.Paddr}) {
			t.Errorf("segment %d: %+v, want %+v", i, f.Segments[i], p.ProgHeader)
		}
	}
	for i, w := range want.Sections {
		s := f.Sections[i]
		// In relocatable files place assigns the addresses, and the contents are relocated.
		if s.Name != w.Name || s.Type != w.Type || s.Flags != w.Flags || f.Type != elf.ET_REL && s.Addr != w.Addr || s.Offset != w.Offset ||
			s.FileSize != w.FileSize || s.Link != w.Link || s.Info != w.Info || s.Entsize != w.Entsize {
			t.Errorf("section %d: %+v, want %+v", i, s, w.SectionHeader)
		}
		if s.HasData() && s.reloc == nil {
			compareData(t, s, w)
		}
	}
}

func compareData(t *testing.T, s *Section, w *elf.Section) {
	t.Helper()
	got, err := s.Data()
	if err != nil {
		t.Errorf("%s: %v", s.Name, err)
		return
	}
	want, err := w.Data()
	if err != nil || !bytes.Equal(got, want) || s.Size() != int64(len(want)) {
		t.Errorf("%s: %d bytes differ from debug/elf's %d (%v)", s.Name, len(got), len(want), err)
	}
	src, err := s.Open()
	if err != nil {
		t.Errorf("%s: %v", s.Name, err)
		return
	}
	var buf []byte
	for off := int64(0); off < src.Size(); off += 10007 {
		n := min(10007, src.Size()-off)
		if buf, err = src.Bytes(off, n, buf); err != nil || !bytes.Equal(buf, want[off:off+n]) {
			t.Fatalf("%s: piece at %d: %v", s.Name, off, err)
		}
	}
	if _, err := src.Bytes(src.Size(), 1, nil); err == nil {
		t.Errorf("%s: a byte beyond the end", s.Name)
	}
	s.Release()
}

// systemFiles returns ELF files of several kinds that this machine has.
func systemFiles(t testing.TB) []string {
	var out []string
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{self, "/bin/ls", "/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/debug/.build-id/*/*.debug", "/usr/*-linux-gnu*/lib*/libc.so.6", "/usr/lib/gcc/*/*/crtbegin.o"} {
		m, _ := filepath.Glob(pattern)
		out = append(out, m[:min(len(m), 12)]...)
	}
	// The cross libc.so.6 may be linker scripts.
	out = slices.DeleteFunc(out, func(p string) bool {
		head := make([]byte, 4)
		f, err := os.Open(p)
		if err != nil {
			return true
		}
		defer f.Close()
		n, _ := f.Read(head)
		return string(head[:n]) != "\x7fELF"
	})
	if len(out) == 0 {
		t.Skip("no ELF files in the usual places")
	}
	return out
}

func TestDamageCostsTheSection(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		e.secs = []testSec{
			{name: ".far", typ: stProgbits, data: []byte("x"), off: 1 << 30},
			{name: ".huge", typ: stProgbits, data: []byte("x"), size: 0xfffffff0},
			{name: ".badz", typ: stProgbits, flags: 0x800, data: []byte("abc")},
			{name: ".badkind", typ: stProgbits, flags: 0x800, data: e.chdr(9, 5, []byte("hello"))},
			{name: ".allocz", typ: stProgbits, flags: 0x802, data: e.chdr(1, 5, []byte("hello"))},
			{name: ".zdebug_line", typ: stProgbits, data: []byte("ZLIB\xff\xff\xff\xff\xff\xff\xff\xffx")},
			{name: ".good", typ: stProgbits, data: []byte("good")},
			{name: ".bss", typ: stNobits, size: 1 << 31},
		}
		f := openBytes(t, e.build())
		for name, want := range map[string]string{
			".far":        ".far+0x0: 1 bytes at offset 0x40000000 do not fit into the file of",
			".huge":       "do not fit into the file",
			".badz":       ".badz+0x0: compression header of 3 bytes, want ",
			".badkind":    "compression type 9, want 1 (zlib) or 2 (zstd)",
			".allocz":     "SHF_COMPRESSED together with SHF_ALLOC",
			".debug_line": "declares 18446744073709551615 bytes",
			".bss":        "has no bytes in this file (SHT_NOBITS)",
		} {
			_, err := f.Section(name).Data()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
			if _, err := f.Section(name).Open(); err == nil {
				t.Errorf("%s: Open gives no error", name)
			}
		}
		if len(f.Problems) != 6 {
			t.Errorf("problems: %v", f.Problems)
		}
		if d, err := f.Section(".good").Data(); err != nil || string(d) != "good" {
			t.Errorf(".good: %q, %v", d, err)
		}
		if f.Section(".bss").HasData() || f.Section(".none") != nil {
			t.Error(".bss has data, or .none is found")
		}
	})
}

func TestBadNames(t *testing.T) {
	for name, strtab := range map[string]func([]byte) testSec{
		"no NUL":   func(n []byte) testSec { return testSec{typ: stStrtab, data: n[:len(n)-1]} },
		"short":    func(n []byte) testSec { return testSec{typ: stStrtab, data: n[:1]} },
		"far away": func(n []byte) testSec { return testSec{typ: stStrtab, data: n, off: 1 << 40} },
		"nobits":   func(n []byte) testSec { return testSec{typ: stNobits, size: 100} },
		"long": func(n []byte) testSec {
			return testSec{typ: stStrtab, data: []byte("\x00" + strings.Repeat("x", 2<<20) + "\x00")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := kinds[0].e
			e.strtab = strtab
			e.secs = []testSec{{name: ".a", typ: stProgbits, data: []byte("good")}}
			f := openBytes(t, e.build())
			if len(f.Problems) == 0 {
				t.Error("no problem was reported")
			}
			if d, err := f.Sections[1].Data(); err != nil || string(d) != "good" {
				t.Errorf("%q, %v", d, err)
			}
		})
	}
}

func TestNumbersThatLie(t *testing.T) {
	u16 := func(v uint16) *uint16 { return &v }
	one := []testSec{{name: ".a", typ: stProgbits, data: []byte("good")}}
	cases := map[string]struct {
		change func(e *testELF)
		err    string // "" opens
	}{
		"shnum too big":        {func(e *testELF) { e.shnum = u16(60000) }, "section header table of 60000 entries"},
		"phnum too big":        {func(e *testELF) { e.segs, e.phnum = make([]testSeg, 1), u16(60000) }, "program header table of 60000 entries"},
		"shstrndx too big":     {func(e *testELF) { e.shstrndx = u16(77) }, ""},
		"shstrndx 0":           {func(e *testELF) { e.shstrndx = u16(0) }, ""},
		"extended shnum":       {func(e *testELF) { e.shnum, e.sec0.size = u16(0), 3 }, ""},
		"extended shnum 0":     {func(e *testELF) { e.shnum = u16(0) }, ""},
		"extended shnum lies":  {func(e *testELF) { e.shnum, e.sec0.size = u16(0), 0x7fffffff }, "section header table of 2147483647 entries"},
		"extended shstrndx":    {func(e *testELF) { e.shstrndx, e.sec0.link = u16(0xffff), 2 }, ""},
		"extended phnum lies":  {func(e *testELF) { e.segs, e.phnum, e.sec0.info = make([]testSeg, 1), u16(0xffff), 0x7fffffff }, "program header table of 2147483647"},
		"extended phnum":       {func(e *testELF) { e.segs, e.phnum, e.sec0.info = make([]testSeg, 1), u16(0xffff), 1 }, ""},
		"phnum without answer": {func(e *testELF) { e.noSecs, e.segs, e.phnum = true, make([]testSeg, 1), u16(0xffff) }, "no section header that holds their number"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *testELF) {
				e.secs = slices.Clone(one)
				c.change(e)
				image := e.build()
				f, err := NewFile(bytes.NewReader(image), int64(len(image)), "mem", object.DefaultLimits())
				switch {
				case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
					t.Errorf("error %v, want %q", err, c.err)
				case c.err == "" && err != nil:
					t.Error(err)
				case err == nil && strings.HasPrefix(name, "extended sh") && name != "extended shnum 0" && f.Section(".a") == nil:
					t.Error("section .a is lost")
				}
			})
		})
	}
}

func TestManySections(t *testing.T) {
	e := kinds[0].e
	for i := range 70000 {
		e.secs = append(e.secs, testSec{name: fmt.Sprintf(".s%d", i), typ: stProgbits, data: []byte{byte(i)}})
	}
	zero, ext := uint16(0), uint16(0xffff)
	e.shnum, e.shstrndx = &zero, &ext
	e.sec0 = testSec{size: 70002, link: 70001}
	f := openBytes(t, e.build())
	if d, err := f.Section(".s69999").Data(); err != nil || d[0] != byte(69999&0xff) {
		t.Errorf("%v, %v", d, err)
	}
}

func TestNoSectionHeaders(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		e.noSecs = true
		id := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		e.secs = []testSec{{name: "note", data: e.note("GNU\x00", 3, id, 4)}}
		e.segs = []testSeg{
			{typ: 1, flags: 5, addr: 0x10000, filesz: 0x100, mem: 0x100},
			{typ: 1, flags: 6, addr: 0x20000, filesz: 0x100, mem: 0x100},
			{typ: 4, sec: "note", align: 4},
		}
		f := openBytes(t, e.build())
		if !bytes.Equal(f.BuildID(), id) {
			t.Errorf("build-id %x", f.BuildID())
		}
		if !f.Object().Executable(0x10000) || f.Object().Executable(0x20000) || f.Object().Executable(0x10100) || f.LoadBase() != 0x10000 {
			t.Errorf("ranges %x, base %#x", f.Object().ExecRanges(), f.LoadBase())
		}
		if f.Section(".text") != nil || f.Object().HasDWARF() || f.Object().HasSymbols(object.Symtab) {
			t.Error("found a missing section")
		}
		if err := f.Symbols(object.Symtab, func(*Symbol) { t.Error("a symbol") }); err != nil {
			t.Error(err)
		}
	})
}

// panicReader panics from the n-th read on.
type panicReader struct {
	r *bytes.Reader
	n int
}

func (p *panicReader) ReadAt(b []byte, off int64) (int, error) {
	if p.n--; p.n < 0 {
		panic("boom")
	}
	return p.r.ReadAt(b, off)
}

func TestPanicBecomesError(t *testing.T) {
	e := kinds[0].e
	e.secs = []testSec{{name: ".z", typ: stProgbits, flags: 0x800, data: e.chdr(1, 100, deflated(make([]byte, 100)))}}
	image := e.build()
	if _, err := NewFile(&panicReader{bytes.NewReader(image), 0}, int64(len(image)), "mem", object.DefaultLimits()); err == nil || !strings.Contains(err.Error(), "mem: reader panicked: boom") {
		t.Errorf("error %v", err)
	}
	r := &panicReader{bytes.NewReader(image), 1000}
	f, err := NewFile(r, int64(len(image)), "mem", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	r.n = 0
	if _, err := f.Section(".z").Data(); err == nil || !strings.Contains(err.Error(), "mem: .z+0x0: reader panicked: boom") {
		t.Errorf("error %v", err)
	}
}
