package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// Imports reports the words that "readelf -r" shows with functions or with symbols without a type, also with the file's
// own functions, which other files may replace. It reports no words for data.
func TestImports(t *testing.T) {
	for name, want := range map[string]string{
		"except.elf":    "2028 _ZTIi, 2030 __gxx_personality_v0, 2000 __cxa_end_catch, 2008 _Z9may_throwi, 2010 _Unwind_Resume, 2018 _ZN5GuardD1Ev, 2020 __cxa_begin_catch",
		"cpu-arm.elf":   "200c outside, 2010 report",
		"cpu-i686.elf":  "2000 outside, 2004 report",
		"cpu-s390x.elf": "2000 outside, 2008 report",
	} {
		f, err := Open(testenv.Input(t, name), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := f.Imports(func(word uint64, s *object.Symbol) { got = append(got, fmt.Sprintf("%x %s", word, s.Name)) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: got %q, want %q", name, text, want)
		}
		f.Close()
	}
}

// Overlapping relocation sections are not read again without a limit.
func TestImportsOverlap(t *testing.T) {
	e := &testELF{bits: 64, order: binary.LittleEndian, typ: uint16(elf.ET_DYN), mach: uint16(elf.EM_X86_64)}
	const n = 100
	var relocs bytes.Buffer
	for i := range uint64(n) {
		e.addr(&relocs, 0x3000+8*i)
		e.addr(&relocs, 1<<32|uint64(elf.R_X86_64_JMP_SLOT))
		e.addr(&relocs, 0)
	}
	e.secs = []testSec{
		{name: ".dynstr", typ: stStrtab, data: []byte("\x00f\x00")},
		{name: ".dynsym", typ: stDynsym, data: append(make([]byte, elf.Sym64Size), e.symbol(1, byte(elf.STT_FUNC)|0x10, 0, 0, 0, 0)...), link: 1},
		{name: ".rela.plt", typ: uint32(elf.SHT_RELA), data: relocs.Bytes(), link: 2},
	}
	for range 50 {
		e.secs = append(e.secs, testSec{typ: uint32(elf.SHT_RELA), off: 64 + 8 + 2*elf.Sym64Size, size: uint64(relocs.Len()), link: 2})
	}
	image := e.build()
	f, err := NewFile(bytes.NewReader(image), int64(len(image)), "mem", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	if err := f.Imports(func(uint64, *object.Symbol) { words++ }); err == nil || words < n || words > 4*n {
		t.Errorf("%d words, error %v", words, err)
	}
}
