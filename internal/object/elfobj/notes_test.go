package elfobj

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

func TestBuildID(t *testing.T) {
	id := []byte{0xde, 0xad, 0xbe, 0xef, 1, 2, 3}
	type mk func(e *testELF) []byte
	gnu := func(align int) mk { return func(e *testELF) []byte { return e.note("GNU\x00", 3, id, align) } }
	xen := func(e *testELF) []byte { return e.note("Xen\x00", 3, []byte("2.6\x00"), 4) }
	join := func(parts ...mk) mk {
		return func(e *testELF) []byte {
			var b []byte
			for _, p := range parts {
				b = append(b, p(e)...)
			}
			return b
		}
	}
	cases := map[string]struct {
		data  mk
		align uint64
		typ   uint32
		want  []byte
	}{
		"plain":             {gnu(4), 4, stNote, id},
		"aligned to 8":      {join(func(e *testELF) []byte { return e.note("GNU\x00", 5, []byte("12345678"), 8) }, gnu(8)), 8, stNote, id},
		"8 but padded to 4": {join(func(e *testELF) []byte { return e.note("GNU\x00", 1, []byte("1234"), 4) }, gnu(4)), 8, stNote, id},
		"after a Xen note":  {join(xen, gnu(4)), 4, stNote, id},
		"only Xen":          {xen, 4, stNote, nil},
		"Go's":              {func(e *testELF) []byte { return e.note("Go\x00\x00", 4, id, 4) }, 4, stNote, nil},
		"type 1":            {func(e *testELF) []byte { return e.note("GNU\x00", 1, id, 4) }, 4, stNote, nil},
		"empty":             {func(e *testELF) []byte { return e.note("GNU\x00", 3, nil, 4) }, 4, stNote, nil},
		"cut":               {func(e *testELF) []byte { return gnu(4)(e)[:18] }, 4, stNote, nil},
		"sizes lie":         {func(e *testELF) []byte { return bytes.Repeat([]byte{0xff}, 64) }, 4, stNote, nil},
		"nobits":            {gnu(4), 4, stNobits, nil},
		"unpadded last":     {func(e *testELF) []byte { return gnu(4)(e)[:16+len(id)] }, 4, stNote, id},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *testELF) {
				e.secs = []testSec{
					{name: ".note.broken", typ: stNote, data: []byte("x"), off: 1 << 29},
					{name: ".note", typ: c.typ, data: c.data(e), align: c.align, size: uint64(len(c.data(e)))},
				}
				if got := openBytes(t, e.build()).BuildID(); !bytes.Equal(got, c.want) {
					t.Errorf("build-id %x, want %x", got, c.want)
				}
			})
		})
	}
}

// TestBuildIDLikeReadelf compares the build-ids of this machine's files with readelf's.
func TestBuildIDLikeReadelf(t *testing.T) {
	for _, path := range systemFiles(t) {
		want := ""
		if _, after, ok := strings.Cut(strings.Join(oracle.Readelf(t, path, "-nW"), "\n"), "Build ID: "); ok {
			want = strings.Fields(after)[0]
		}
		f, err := Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := hexOf(f.BuildID()); got != want {
			t.Errorf("%s: build-id %s, readelf %s", path, got, want)
		}
		f.Close()
	}
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

func TestManyOverlappingNotes(t *testing.T) {
	e := kinds[0].e
	big := bytes.Repeat(e.note("GNU\x00", 5, make([]byte, 4), 4), 50000)
	e.secs = []testSec{{name: ".n", typ: stNote, data: big}}
	for range 20000 {
		e.secs = append(e.secs, testSec{typ: stNote, off: 64, size: uint64(len(big))})
	}
	f := openBytes(t, e.build())
	grown, took := cost(func() {
		if f.BuildID() != nil {
			t.Error("a build-id")
		}
	})
	if grown > 2*f.Size+2*maxNotes || took.Seconds() > 1 {
		t.Errorf("%d bytes, %v", grown, took)
	}
}

func TestLinks(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		link := new(bytes.Buffer)
		link.WriteString("prog.debug\x00\x00")
		e.u32(link, 0xcafef00d)
		e.secs = []testSec{
			{name: ".gnu_debuglink", typ: stProgbits, data: link.Bytes()},
			{name: ".gnu_debugaltlink", typ: stProgbits, data: []byte("../dwz/all.debug\x00\x01\x02\x03")},
		}
		f := openBytes(t, e.build())
		if name, crc, ok := f.DebugLink(); name != "prog.debug" || crc != 0xcafef00d || !ok {
			t.Errorf("debuglink %q %#x %v", name, crc, ok)
		}
		if l, err := f.Supplement(); err != nil || l.Name != "../dwz/all.debug" || hexOf(l.ID) != "010203" {
			t.Errorf("link to a supplementary file %v, %v", l, err)
		}
	})
	for name, data := range map[string]string{"no NUL": "prog", "no CRC": "prog\x00\x00\x00\x00\x01", "no name": "\x00\x00\x00\x00\x01\x02\x03\x04"} {
		e := kinds[0].e
		e.secs = []testSec{{name: ".gnu_debuglink", typ: stProgbits, data: []byte(data)}, {name: ".gnu_debugaltlink", typ: stProgbits, data: []byte("x\x00")}}
		f := openBytes(t, e.build())
		if _, _, ok := f.DebugLink(); ok {
			t.Errorf("%s: ok", name)
		}
		if l, err := f.Supplement(); err == nil || l != nil {
			t.Errorf("%s: link without id is %v", name, l)
		}
	}
}

func TestTextHash(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		code := make([]byte, 5000)
		for i := range code {
			code[i] = byte(i * i >> 3)
		}
		want := make([]byte, 16)
		for i := range 4096 {
			want[i&15] ^= code[i]
		}
		e.secs = []testSec{{name: ".text", typ: stProgbits, data: code}}
		if got := openBytes(t, e.build()).ContentID(); !bytes.Equal(got, want) {
			t.Errorf("hash %x, want %x", got, want)
		}
		// 20 bytes: the second step reads 12 bytes beyond the section.
		e.secs = []testSec{{name: "text", typ: stProgbits, data: code[100:120]}, {name: ".next", typ: stProgbits, data: bytes.Repeat([]byte{0x55}, 64)}}
		got := openBytes(t, e.build()).ContentID()
		padded := append(bytes.Clone(code[100:120]), 0, 0, 0, 0, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55)
		for i := range 16 {
			want[i] = padded[i] ^ padded[i+16]
		}
		if !bytes.Equal(got, want) {
			t.Errorf("short: hash %x, want %x", got, want)
		}
		e.secs = []testSec{{name: ".text", typ: stNobits, size: 100}}
		if got := openBytes(t, e.build()).ContentID(); got != nil {
			t.Errorf("debug file: hash %x", got)
		}
	})
}

// If the code is in no section that Breakpad looks at, the id is made from all code, whatever the sections are
// called, and also in files without section headers.
func TestHashOfOtherCode(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		const allocated, executable = 2, 4
		code := bytes.Repeat([]byte{1, 2, 3}, 3000)
		sections := func(name string) []testSec {
			return []testSec{
				{name: ".vectors", typ: stProgbits, flags: allocated | executable, data: code[:64]},
				{name: ".rodata", typ: stProgbits, flags: allocated, data: []byte("constants")},
				{name: name, typ: stProgbits, flags: allocated | executable, data: code},
			}
		}
		hash := func(secs []testSec) []byte {
			e.secs = secs
			return openBytes(t, e.build()).ContentID()
		}
		id := hash(sections(".flash.text"))
		if len(id) != guidSize {
			t.Fatalf("id %x, want %d bytes", id, guidSize)
		}
		if got := hash(sections(".zig.text")); !bytes.Equal(got, id) {
			t.Errorf("with another name: id %x, want %x", got, id)
		}
		code[8000]++
		if bytes.Equal(hash(sections(".flash.text")), id) {
			t.Errorf("another build has the same id, %x", id)
		}
		e.noSecs = true
		e.secs = []testSec{{name: "code", typ: stProgbits, data: code}}
		e.segs = []testSeg{{typ: 1, flags: 5, sec: "code", addr: 0x10000}}
		if got := openBytes(t, e.build()).ContentID(); len(got) != guidSize || bytes.Equal(got, id) {
			t.Errorf("without section headers: id %x", got)
		}
		e.noSecs, e.segs = false, nil
		if got := hash([]testSec{{name: ".flash.text", typ: stNobits, flags: allocated | executable, size: 100}}); got != nil {
			t.Errorf("debug file: id %x", got)
		}
	})
}

func TestLayout(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		e.segs = []testSeg{
			{typ: 1, flags: 4, addr: 0x20000, mem: 0x1000, align: 0x10000},
			{typ: 1, flags: 5, addr: 0x1f123, mem: 0x100, align: 0x200000},
			{typ: 1, addr: 0x100, mem: 0},
			{typ: 6, addr: 0x40, mem: 0x100},
		}
		e.secs = []testSec{
			{name: ".b", typ: stProgbits, flags: 6, addr: 0x2000, data: make([]byte, 0x10)},
			{name: ".a", typ: stProgbits, flags: 6, addr: 0x1000, data: make([]byte, 0x20)},
			{name: ".c", typ: stNobits, flags: 6, addr: 0x2010, size: 0x10},
			{name: ".d", typ: stProgbits, flags: 4, addr: 0x3000, data: make([]byte, 0x10)},
			{name: ".e", typ: stProgbits, flags: 2, addr: 0x4000, data: make([]byte, 0x10)},
		}
		f := openBytes(t, e.build())
		if f.LoadBase() != 0x1f000 {
			t.Errorf("base %#x", f.LoadBase())
		}
		want := []object.Range{{Start: 0x1000, End: 0x1020}, {Start: 0x2000, End: 0x2020}}
		if got := f.Object().ExecRanges(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("ranges %x, want %x", got, want)
		}
		for addr, want := range map[uint64]bool{0xfff: false, 0x1000: true, 0x101f: true, 0x1020: false, 0x1fff: false,
			0x2000: true, 0x201f: true, 0x2020: false, 0x3000: false, 0x4000: false, 0: false, 1<<64 - 1: false} {
			if f.Object().Executable(addr) != want {
				t.Errorf("executable %#x: %v", addr, !want)
			}
		}
	})
	e := kinds[0].e
	e.secs = []testSec{{name: ".top", typ: stNobits, flags: 6, addr: 1<<64 - 16, size: 1 << 40}}
	f := openBytes(t, e.build())
	if f.LoadBase() != 0 || !f.Object().Executable(1<<64-2) || f.Object().Executable(0) {
		t.Errorf("top of memory: %x", f.Object().ExecRanges())
	}
}

func TestSymbols(t *testing.T) {
	each(t, func(t *testing.T, e *testELF) {
		names := "\x00main\x00data\x00"
		tab := bytes.Join([][]byte{
			e.symbol(0, 0, 0, 0, 0, 0),
			e.symbol(1, 0x12, 2, 1, 0x1000, 0x20),       // global function, hidden
			e.symbol(6, 0x01, 0, 0xffff, 0x2000, 4),     // local object, extended section number
			e.symbol(6, 0x20, 0, 0xfff1, 0x3000, 0),     // weak, absolute
			e.symbol(0x7777, 0x12, 0, 1, 0x4000, 0),     // bad name
			e.symbol(0, 0x03, 0, 0x1234, 0, 0),          // no name, bad section
			e.symbol(uint32(len(names)), 0, 0, 1, 0, 0), // name just beyond
		}, nil)
		ext := new(bytes.Buffer)
		for _, v := range []uint32{0, 0, 2, 0, 0, 0, 0} {
			e.u32(ext, v)
		}
		ents := uint64(24)
		if e.bits == 32 {
			ents = 16
		}
		e.secs = []testSec{
			{name: ".text", typ: stProgbits, data: []byte("c")},
			{name: ".data", typ: stProgbits, data: []byte("d")},
			{name: ".symtab", typ: stSymtab, data: append(tab, 1, 2, 3), link: 4, ents: ents},
			{name: ".strtab", typ: stStrtab, data: []byte(names)},
			{name: ".symtab_shndx", typ: 18, data: ext.Bytes(), link: 3},
		}
		f := openBytes(t, e.build())
		var got []object.Symbol
		err := f.Symbols(object.Symtab, func(s *object.Symbol) { got = append(got, *s) })
		if err == nil || !strings.Contains(err.Error(), "mem: .symtab+0x") || !strings.Contains(err.Error(), "name at 0x7777, the string table has 11 bytes") {
			t.Errorf("error %v", err)
		}
		if len(got) != 4 {
			t.Fatalf("%d symbols: %+v", len(got), got)
		}
		m := got[0]
		if string(m.Name) != "main" || m.Addr != 0x1000 || m.Size != 0x20 || m.Kind != object.Function || m.Bind != object.Global || m.Section != &f.Sections[1].Section {
			t.Errorf("main: %+v", m)
		}
		if d := got[1]; string(d.Name) != "data" || d.Kind != object.Data || d.Bind != object.Local || d.Section != &f.Sections[2].Section {
			t.Errorf("data: %+v", d)
		}
		if a := got[2]; a.Section != nil || !a.Absolute || a.Undefined || a.Bind != object.Weak {
			t.Errorf("absolute: %+v", a)
		}
		if n := got[3]; n.Section != nil || len(n.Name) != 0 {
			t.Errorf("nameless: %+v", n)
		}
		if tab, err := f.SymbolNames(object.Symtab); err != nil || string(tab) != names || m.NameOff != 1 {
			t.Errorf("string table %q, %v; main at %d", tab, err, m.NameOff)
		}
		if tab, err := f.SymbolNames(object.Dynamic); tab != nil || err != nil {
			t.Errorf("dynamic string table %q, %v", tab, err)
		}
		if err := f.Symbols(object.Dynamic, func(*object.Symbol) { t.Error("a dynamic symbol") }); err != nil {
			t.Error(err)
		}
	})
}

func TestSymbolsDamage(t *testing.T) {
	for name, c := range map[string]struct {
		sec  testSec
		want string
	}{
		"link":    {testSec{link: 99, ents: 24}, ".symtab+0x0: string table is section 99 of 3"},
		"entsize": {testSec{link: 2, ents: 7}, ".symtab+0x0: entries of 7 bytes, want 24"},
		"far":     {testSec{link: 2, ents: 24, off: 1 << 40}, "do not fit into the file"},
		"self":    {testSec{link: 1, ents: 24}, ".symtab+0x30: name at 0x5c has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			e := kinds[0].e
			c.sec.name, c.sec.typ, c.sec.data = ".symtab", stSymtab, bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 9)
			if name == "self" { // names end where the table ends, without a NUL
				c.sec.data = bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 9)
				c.sec.data = append(c.sec.data, bytes.Repeat([]byte{72, 0, 0, 0, 9, 9, 9, 9}, 3)...)
				c.sec.data[73], c.sec.data[74], c.sec.data[75] = 9, 9, 9
				c.sec.data[48] = 92
			}
			e.secs = []testSec{c.sec}
			err := openBytes(t, e.build()).Symbols(object.Symtab, func(*object.Symbol) {})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestSymbolsShareNames checks that symbols may share the ends of one string, but not so
// often that their names take many times the size of the file.
func TestSymbolsShareNames(t *testing.T) {
	e := kinds[0].e
	const length, room = 200 << 10, 16*(200<<10+2) + 1<<20
	names := "\x00" + strings.Repeat("_", length) + "\x00"
	e.secs = []testSec{
		{name: ".symtab", typ: stSymtab, data: bytes.Repeat(e.symbol(1, 0x12, 0, 1, 0x1000, 1), 1000), link: 2, ents: 24},
		{name: ".strtab", typ: stStrtab, data: []byte(names)},
	}
	n := 0
	err := openBytes(t, e.build()).Symbols(object.Symtab, func(*object.Symbol) { n++ })
	const want = "symbols from here on are left out: names of those before take 4325408 bytes, the string table has 204802"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
	if n != room/length {
		t.Errorf("%d symbols, want %d", n, room/length)
	}
}

// TestSymbolsAllocateNothing counts allocations: a kernel has 180,000 symbols.
func TestSymbolsAllocateNothing(t *testing.T) {
	path := testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")
	f, err := Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	count := func() {
		if err := f.Symbols(object.Dynamic, func(s *object.Symbol) { n += len(s.Name) & 1 }); err != nil {
			t.Fatal(err)
		}
	}
	count()
	if a := testenv.Allocations(3, count); a > 5 {
		t.Errorf("%v allocations for %s, want none", a, filepath.Base(path))
	}
}

// The first three fields of a GUID are numbers in the file's byte order.
func TestModuleID(t *testing.T) {
	id := []byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x12, 0x34, 0x56, 0x78}
	for _, c := range []struct {
		n     int
		order binary.ByteOrder
		want  string
	}{
		{20, binary.LittleEndian, "33221100554477668899AABBCCDDEEFF0"},
		{20, binary.BigEndian, "00112233445566778899AABBCCDDEEFF0"},
		{16, binary.LittleEndian, "33221100554477668899AABBCCDDEEFF0"},
		{8, binary.LittleEndian, "332211005544776600000000000000000"},
		{8, binary.BigEndian, "001122334455667700000000000000000"},
		{1, binary.LittleEndian, "000000000000000000000000000000000"},
		{0, binary.LittleEndian, "000000000000000000000000000000000"},
	} {
		if got := object.ModuleID(id[:c.n], c.order); got != c.want {
			t.Errorf("%d bytes, %v: %s, want %s", c.n, c.order, got, c.want)
		}
	}
}
