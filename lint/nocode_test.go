package lint

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt/arch"
)

// codeBytes is the contents of a section.
type codeBytes struct {
	object.Contents
	data string
}

func (c codeBytes) HasData() bool         { return true }
func (c codeBytes) Size() int64           { return int64(len(c.data)) }
func (c codeBytes) Data() ([]byte, error) { return []byte(c.data), nil }
func (c codeBytes) Release()              {}

// fileOf returns a binary with sections of code, one after the other.
func fileOf(sections ...object.Section) *object.File {
	f := &object.File{Kind: object.Shared, Format: "ELF", OS: "Linux", Arch: arch.X86_64, AddrSize: 8, Order: binary.LittleEndian, CodeOrder: binary.LittleEndian}
	for i := range sections {
		s := &sections[i]
		s.Addr, s.Alloc, s.Exec = 0x1000*uint64(i+1), true, true
		s.FileSize = uint64(s.Contents.Size())
		s.MemSize = s.FileSize
		f.Sections = append(f.Sections, s)
	}
	f.Container = &object.SectionsOnly{Sections: f.Sections}
	return f
}

// A binary whose only code is from start-up files lacks neither names nor call frame information.
func TestNoCode(t *testing.T) {
	const module = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n"
	init := object.Section{Name: ".init", Contents: codeBytes{data: "\x48\x83\xec\x08\x48\x83\xc4\x08\xc3"}}
	filled := object.Section{Name: ".text", Contents: codeBytes{data: strings.Repeat("\xcc", 40)}}
	traps := object.Section{Name: ".text", Contents: codeBytes{data: strings.Repeat("\x0f\x0b", 20)}} // needs no name, but rules
	for _, c := range []struct {
		name, text string
		sections   []object.Section
		verdict    coverage.Verdict
		found      string
	}{
		{"data alone", module, nil, coverage.GoodForUnwinding, ""},
		{"start-up code", module, []object.Section{init}, coverage.GoodForUnwinding, ""},
		{"its names", module + "PUBLIC 1000 0 _init\n", []object.Section{init}, coverage.GoodForUnwinding, ""},
		{"padding", module, []object.Section{init, filled}, coverage.GoodForUnwinding, ""},
		{"traps", module, []object.Section{init, traps}, coverage.Unusable, "SYM702 SYM705"},
		{"a function", module, []object.Section{init, {Name: ".text", Contents: codeBytes{data: "\x31\xc0\xc3"}}}, coverage.Unusable, "SYM505 SYM702 SYM705"},
		{"a function with a name", module + "PUBLIC 2000 0 f\n", []object.Section{init, {Name: ".text", Contents: codeBytes{data: "\x31\xc0\xc3"}}},
			coverage.SymbolicationOnly, "SYM701 SYM702"},
	} {
		r := lintBinary(t, []byte(c.text), fileOf(c.sections...), Options{Rules: Rules(), OwnBinary: true, MinCFI: 50})
		var found []string
		for _, f := range r.Findings {
			if f.Rule.ID != "SYM510" { // there is no id
				found = append(found, f.Rule.ID)
			}
		}
		if got := strings.Join(found, " "); got != c.found || r.Coverage.Verdict != c.verdict {
			t.Errorf("%s: %s, %q, want %s, %q", c.name, r.Coverage.Verdict, got, c.verdict, c.found)
		}
	}
	text := check.Head + "PUBLIC 1000 0 _init\nPUBLIC 1010 0 _fini\n"
	if r := lintText(t, text); r.Counts["SYM701"] > 0 || r.Coverage.Verdict != coverage.SymbolicationOnly || !strings.Contains(r.Coverage.Reasons[0], "unknown without the binary") {
		t.Errorf("without the binary: %v, %v", r.Coverage.Verdict, r.Coverage.Reasons)
	}
}
