package walk

import (
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// withRules begins a process whose function f keeps 32 bytes below the return address.
func withRules(t *testing.T) *walktest.Assembler {
	t.Helper()
	return walktest.Assemble(t, arch.X86_64, dump.Linux).
		Module("app", 0x400000, 0x1000, twoFunctions+"STACK CFI INIT 100 100 .cfa: $rsp 32 + .ra: .cfa -8 + ^\n").At(stackAt).Mark("sp")
}

// A scan begins at the CFA that rules give: below it are return addresses of calls that have
// returned. Without rules it begins at the stack pointer.
func TestScanFromCFA(t *testing.T) {
	const data = 0x1234 // below all that is mapped
	a := withRules(t).Words(inG, inG, inG, data, inF, walktest.Junk)
	wantStack(a, walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{}), EndNothing, "400120 context context f", "400150 scan scan f")

	a = withRules(t).Words(inG, inG, inG) // the dump ends below the return address
	s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
	wantStack(a, s, EndNothing, "400120 context context f")

	a = process(t, arch.X86_64, dump.Linux).Words(walktest.Junk, inG, walktest.Junk)
	wantStack(a, walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{}), EndNothing, "400120 context context f", "400250 scan scan g")
}

// A return address that rules give is rejected if there is certainly no code.
func TestReturnNowhere(t *testing.T) {
	const jit = 0x500000
	mapping := func(addr uint64, exec bool) dump.Mapping {
		return dump.Mapping{Range: dump.Range{Addr: addr, Size: 0x1000}, Read: true, Exec: exec}
	}
	for _, c := range []struct {
		name  string
		pc    uint64
		maps  []dump.Mapping
		frame bool
	}{
		{"below all modules", 0x1234, nil, false},
		{"below all mappings", 0x1234, []dump.Mapping{mapping(0x400000, true)}, false},
		{"below the modules, but mapped", 0x3234, []dump.Mapping{mapping(0x3000, true)}, true},
		{"generated code", jit, nil, true},
		{"generated code that is listed", jit, []dump.Mapping{mapping(jit, true)}, true},
		{"data", jit, []dump.Mapping{mapping(jit, false)}, false},
		{"data of a module", hole, []dump.Mapping{mapping(0x400000, false)}, false},
		{"not listed", jit, []dump.Mapping{mapping(0x400000, true)}, true},
		{"mapped, as in gcore's cores, without permissions", hole, []dump.Mapping{{Range: dump.Range{Addr: 0x400000, Size: 0x1000}, Read: true, Unknown: true}}, true},
		{"code", inG, []dump.Mapping{mapping(0x400000, true)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := withRules(t).Words(0, 0, 0, c.pc).Zeros(4)
			a.Dump.Maps = c.maps
			s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
			if got := len(s.Frames) > 1; got != c.frame || !got && s.End != EndNothing {
				t.Errorf("%d frames, end %v: %s", len(s.Frames), s.End, s.Why)
			}
		})
	}
}

// Without permissions in the dump, the sections of the module's binary show what is data.
func TestReturnIntoSections(t *testing.T) {
	program := testenv.Input(t, "verdicts", "verdicts.elf")
	f, err := objfile.Open(program, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const moved = 0x10000
	module := dump.Module{Range: dump.Range{Addr: f.Base + moved, Size: 0x10000}, Path: program, BuildID: f.BuildID()}
	u := processWith(t, binarySources(t, program), module, arch.X86_64)
	data, code := 0, 0
	for _, s := range f.Sections {
		switch {
		case !s.Alloc || s.FileSize == 0:
		case s.Exec:
			code++
			if u.isNowhere(s.Addr+moved) || u.isNowhere(s.Addr+s.FileSize+moved) {
				t.Errorf("%s is code", s.Name)
			}
		default:
			data++
			if !u.isNowhere(s.Addr + moved + s.FileSize/2) {
				t.Errorf("%s is data", s.Name)
			}
		}
	}
	if data == 0 || code == 0 {
		t.Errorf("%d sections of data, %d of code", data, code)
	}
	if u := processWith(t, &SymbolSet{}, module, arch.X86_64); u.isNowhere(f.Section(".eh_frame").Addr + moved) {
		t.Error("known without a binary")
	}
}

// A frame in data has no function: neither the function before the data nor the object's name is what is executed. The
// thread's notes say so. Symbols that have a function there are believed.
func TestData(t *testing.T) {
	const data = 0x400820
	mapping := func(exec bool) []dump.Mapping {
		return []dump.Mapping{{Range: dump.Range{Addr: 0x400000, Size: 0x400}, Read: true, Exec: true, Path: "/app"},
			{Range: dump.Range{Addr: 0x400800, Size: 0x800}, Read: true, Write: true, Exec: exec, Path: "/app"}}
	}
	for _, c := range []struct {
		name, symbols string
		maps          []dump.Mapping
		function      string
		data          bool
	}{
		{"the function before", "PUBLIC 100 0 f\n", mapping(false), "", true},
		{"the object", "PUBLIC 100 0 f\nPUBLIC 810 0 object\n", mapping(false), "", true},
		{"a function there", "PUBLIC 100 0 f\nFUNC 810 100 0 g\n", mapping(false), "g", false},
		{"memory that is executable", "PUBLIC 100 0 f\nPUBLIC 810 0 object\n", mapping(true), "object", false},
		{"no mappings", "PUBLIC 100 0 f\nPUBLIC 810 0 object\n", nil, "object", false},
		{"no symbols", "", mapping(false), "", true},
	} {
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x1000, c.symbols)
		a.At(0x80000000).Mark("sp").Zeros(8)
		a.Dump.Maps = c.maps
		s := walkFirst(a.Regs("$rip", data, "$rsp", "sp"), Config{})
		noted := slices.ContainsFunc(s.Notes, func(note string) bool { return strings.Contains(note, "is in data of app") })
		if f := &s.Frames[0]; f.Function() != c.function || f.Data != c.data || noted != c.data || f.Module != 0 {
			t.Errorf("%s: function %q, data %v, notes %q", c.name, f.Function(), f.Data, s.Notes)
		}
	}
}
