package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

// goProgram is a program with Go's table of functions, and nothing else that names or describes them.
type goProgram struct {
	mach    uint16
	quantum byte
	magic   uint32
	text    uint64 // in the header
	module  uint64 // in .go.module
	steps   []byte // of main.f
	count   uint64
	names   uint64 // where the names end
}

func newGoProgram() goProgram {
	return goProgram{mach: 62, quantum: 1, magic: goMagic120, text: 0x401000, count: 2, names: 80 + 22}
}

const goTableAt = 0x500000

// section returns the table: main.f at 0x10 and runtime.goexit, where stacks end, at 0x30.
func (p goProgram) section() []byte {
	le := binary.LittleEndian
	u32 := func(b []byte, values ...uint32) []byte {
		for _, v := range values {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	b := append(u32(nil, p.magic), 0, 0, p.quantum, 8)
	for _, w := range []uint64{p.count, 0, p.text, 80, p.names, 102, 104, 128} {
		b = le.AppendUint64(b, w)
	}
	b = append(b, make([]byte, 80-len(b))...)
	b = append(b, "main.f\x00runtime.goexit\x00"...)
	b = append(b, make([]byte, 104-len(b))...)
	b = append(append(b, 0), p.steps...) // offset 1
	b = append(b, make([]byte, 122-len(b))...)
	b = append(b, 2, 4/p.quantum, 0) // offset 18
	b = append(b, make([]byte, 128-len(b))...)
	b = u32(b, 0x10, 24, 0x30, 76, 0x40, 0)
	function := func(entry, name, steps uint32, top byte) {
		b = u32(b, entry, name, 0, 0, steps, 0, 0, 0, 0)
		if p.magic == goMagic120 {
			b = u32(b, 7) // the first line
		}
		b = append(b, 0, top, 0, 0)
		b = append(b, make([]byte, (52-(len(b)-152)%52)%52)...)
	}
	function(0x10, 0, 1, 0)
	function(0x30, 7, 18, 1)
	return b
}

func (p goProgram) file() []byte {
	e := testELF{bits: 64, order: binary.LittleEndian, typ: 2, mach: p.mach, secs: []testSec{
		{name: ".text", typ: stProgbits, flags: 6, addr: 0x401000, data: make([]byte, 0x100)},
		{name: object.GoTable, typ: stProgbits, flags: 2, addr: goTableAt, data: p.section()},
	}}
	if p.module != 0 {
		words := make([]byte, 8*24)
		binary.LittleEndian.PutUint64(words, goTableAt)
		binary.LittleEndian.PutUint64(words[8*22:], p.module)
		e.secs = append(e.secs, testSec{name: ".go.module", typ: stProgbits, flags: 3, addr: 0x600000, data: words})
	}
	return e.build()
}

// goSteps returns steps with a depth of 0 for 4 bytes, of 8 for 8, and of 0 for 4.
func goSteps(quantum byte) []byte { return []byte{2, 4 / quantum, 16, 8 / quantum, 15, 4 / quantum, 0} }

// The table names functions and has their rules, like those that Go's linker writes into .debug_frame, for a CPU with
// the return address on the stack and for one with a register for it. Versions differ in the header, and in where
// code begins.
func TestGoTable(t *testing.T) {
	amd64 := "10000000ffffffff03000101100c070811107800" +
		"28000000000000001010400000000000100000000000000013080404000000131004080000001308" + "00000000" +
		"18000000000000003010400000000000040000000000000013080000"
	arm64 := "10000000ffffffff030001011e0c1f00081e0000" +
		"300000000000000010104000000000001000000000000000081e13000404000000111e7813080408000000081e1300" + "0000000000" +
		"180000000000000030104000000000000400000000000000071e1300"
	for _, c := range []struct {
		name   string
		frames string
		edit   func(*goProgram)
	}{
		{"Go 1.20", amd64, func(*goProgram) {}},
		{"Go 1.18", amd64, func(p *goProgram) { p.magic = goMagic118 }},
		{"Go 1.26", amd64, func(p *goProgram) { p.text, p.module = 0, 0x401000 }},
		{"arm64", arm64, func(p *goProgram) { p.mach, p.quantum = uint16(elf.EM_AARCH64), 4 }},
	} {
		p := newGoProgram()
		c.edit(&p)
		p.steps = goSteps(p.quantum)
		mini, err := openBytes(t, p.file()).Embedded()
		if err != nil || mini == nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		err = mini.Symbols(object.Symtab, func(s *object.Symbol) {
			got = append(got, fmt.Sprintf("%s %#x %#x %v", s.Name, s.Addr, s.Size, s.IsFunction() && s.Section.IsCode()))
		})
		if want := "main.f 0x401010 0x10 true; runtime.goexit 0x401030 0x4 true"; strings.Join(got, "; ") != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, want)
		}
		frames, err := mini.Section(".debug_frame").Data()
		if hex.EncodeToString(frames) != c.frames || err != nil {
			t.Errorf("%s: rules %x, %v, want\n%s", c.name, frames, err, c.frames)
		}
	}
}

// Damage is reported with its offset; a table of another version is ignored.
func TestGoTableDamage(t *testing.T) {
	for _, c := range []struct {
		want string
		edit func(*goProgram)
	}{
		{"", func(p *goProgram) { p.magic = 0xfffffffa }},
		{"mem: .gopclntab+0x8: 1099511627776 functions, but there are 128 bytes for them", func(p *goProgram) { p.count = 1 << 40 }},
		{"mem: .gopclntab+0x8: tables at 0x50 to 0x1000000, 0x68 and 0x80, the section has 0x100 bytes", func(p *goProgram) { p.names = 1 << 24 }},
		{"mem: .gopclntab+0x18: the header does not say where code begins", func(p *goProgram) { p.text = 0 }},
		{"mem: .gopclntab+0x6d: steps up to 0x7f of a function of 0x20 bytes", func(p *goProgram) { p.steps = []byte{2, 4, 2, 0x7b, 0} }},
		{"mem: .gopclntab+0x6b: steps up to 0x0 of a function of 0x20 bytes", func(p *goProgram) { p.steps = []byte{2, 0} }},
	} {
		p := newGoProgram()
		p.steps = goSteps(1)
		c.edit(&p)
		mini, err := openBytes(t, p.file()).Embedded()
		if mini != nil || (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v %v, want %q", mini, err, c.want)
		}
	}
}

// The Go runtime reads the table of the test program as we do. The symbols are removed from the file first, if the
// linker left them.
func TestGoTableOfProgram(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(image, []byte(elf.ELFMAG)) {
		t.Skip("the test is no ELF file: ", err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	at := int(f.ByteOrder.Uint64(image[40:])) // e_shoff
	for i, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB {
			f.ByteOrder.PutUint32(image[at+64*i+4:], uint32(elf.SHT_PROGBITS))
		}
	}
	mini, err := openBytes(t, image).Embedded()
	if err != nil || mini == nil {
		t.Fatal(mini, err)
	}
	n := 0
	err = mini.Symbols(object.Symtab, func(s *object.Symbol) {
		n++
		if fn := runtime.FuncForPC(uintptr(s.Addr)); f.Type == elf.ET_EXEC && (fn == nil || uint64(fn.Entry()) != s.Addr) {
			t.Errorf("%s at %#x is %v", s.Name, s.Addr, fn)
		}
	})
	if err != nil || n < 1000 {
		t.Errorf("%d functions, %v", n, err)
	}
}

// No table causes a panic, or a file that exceeds the limits.
func FuzzGoTable(f *testing.F) {
	for _, magic := range []uint32{goMagic118, goMagic120} {
		p := newGoProgram()
		p.magic, p.steps = magic, goSteps(1)
		f.Add(p.section(), true)
		p.mach, p.quantum, p.steps = uint16(elf.EM_AARCH64), 4, goSteps(4)
		f.Add(p.section(), false)
	}
	f.Fuzz(func(t *testing.T, table []byte, amd64 bool) {
		e := testELF{bits: 64, order: binary.LittleEndian, typ: 2, mach: 62, secs: []testSec{
			{name: ".text", typ: stProgbits, flags: 6, addr: 0x401000, data: make([]byte, 0x100)},
			{name: object.GoTable, typ: stProgbits, flags: 2, addr: goTableAt, data: table},
		}}
		if !amd64 {
			e.mach = uint16(elf.EM_AARCH64)
		}
		file := openBytes(t, e.build())
		mini, err := file.Embedded()
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Fatal(err)
		}
		if mini == nil {
			return
		}
		if limit := file.in.Limits.HeldBytes(file.Size); mini.Size > limit {
			t.Fatalf("%d bytes, over the limit of %d", mini.Size, limit)
		}
		_ = mini.Symbols(object.Symtab, func(*object.Symbol) {})
	})
}
