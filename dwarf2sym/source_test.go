package dwarf2sym

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/lookup"
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// Source at addresses in inlined functions, from the same unit and from others, after functions, and in split units.
func TestSource(t *testing.T) {
	for _, c := range []struct {
		file string
		rva  symfmt.RVA
		want string
	}{
		{"clang-dwarf5.elf", 0x15d8, "level3 /src/./nest.h:7:7, declared at ./nest.h:5 | second /src/second.c:10:21, declared at second.c:8"},
		{"gcc-dwarf5.elf", 0x354, "outside /src/nest.c:13:5, declared at nest.c:11"},
		{"gcc-dwarf5.elf", 0x36d, " /src/nest.c:14:10, declared at :0"},
		{"gcc-dwarf5.elf", 0x10, ""},
		{"nodebug.elf", 0x354, ""},
	} {
		l := openSource(t, c.file)
		var got []string
		for _, f := range l.Source(t.Context(), c.rva) {
			got = append(got, fmt.Sprintf("%s %s:%d:%d, declared at %s:%d", f.FullName(), f.File.Path, f.Line, f.Column, f.StartFile.Relative, f.StartLine))
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s, %#x:\n%s, want\n%s", c.file, c.rva, text, c.want)
		}
	}
}

// Variables with an address have a declaration: from the same unit or another, in a namespace or a function, by address
// or by an index of it. Other variables, and addresses within variables, have none.
func TestDeclared(t *testing.T) {
	for _, c := range []struct {
		file string
		rva  symfmt.RVA
		want string
	}{
		{"clang-dwarf5.elf", 0x3718, "/src/nest.c:3"}, {"clang-dwarf5.elf", 0x3719, ":0"}, {"gcc-dwarf4.elf", 0x2008, "/src/nest.c:3"},
		{"split-clang5.elf", 0x38e0, "/src/nest.c:3"}, {"nodebug.elf", 0x2008, ":0"},
	} {
		file, line := openSource(t, c.file).Declared(t.Context(), c.rva)
		if got := fmt.Sprintf("%s:%d", file.Path, line); got != c.want {
			t.Errorf("%s, %#x: %s, want %s", c.file, c.rva, got, c.want)
		}
	}
}

// Only an address, or an address plus a constant, locates a variable. Of several at an address, the first counts.
func TestDeclaredForms(t *testing.T) {
	d := coreOf(t, `
			.debug_info
				unit 5
					compile_unit language/data1=4 comp_dir/string="/s" stmt_list/sec_offset=0 low_pc/addr=0
						variable decl_file/data1=0 decl_line/data1=1 location/exprloc=<030010000000000000>
						namespace name/string="ns"
							variable decl_file/data1=0 decl_line/data1=2 location/exprloc=<0300200000000000002308>
						structure_type name/string="S"
							variable decl_file/data1=0 decl_line/data1=3 location/exprloc=<030030000000000000>
						subprogram name/string="f"
							lexical_block
								variable decl_file/data1=0 decl_line/data1=4 location/exprloc=<030040000000000000>
								variable decl_file/data1=0 decl_line/data1=5 location/exprloc=<0300500000000000009f>
								variable decl_file/data1=0 decl_line/data1=6 location/exprloc=<030060>
								variable decl_file/data1=0 decl_line/data1=7 location/exprloc=<9160>
								variable decl_file/data1=0 location/exprloc=<030070000000000000>
						variable decl_file/data1=0 decl_line/data1=8 location/exprloc=<030010000000000000>
			.debug_line
				program 5
				dirs path/string
				dir "/s"
				files path/string
				file "x.c"
				end_sequence`).debugData(false)
	d.ReadUnitHeaders()
	d.Allow(units.EffortBase)
	w := funcs.New(d, &codemap.Map{}, &funcs.Options{})
	w.ReadSource(&srcread.Index{}, 0)
	w.Source.Data = true
	w.Batch(d.Units)
	var got []string
	for _, v := range w.Source.Variables {
		got = append(got, fmt.Sprintf("%#x %s:%d", v.Addr, v.File.Path, v.Line))
	}
	want := "0x1000 /s/x.c:1 | 0x2008 /s/x.c:2 | 0x4000 /s/x.c:4 | 0x1000 /s/x.c:8"
	if text := strings.Join(got, " | "); text != want || w.Problems.Any() {
		t.Errorf("%s, want %s; problems %v", text, want, w.Problems)
	}
}

func openSource(t *testing.T, name string) *Lookup {
	t.Helper()
	f, err := objfile.Open(testenv.Input(t, name), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	l, err := OpenLookup(t.Context(), f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		f.Close()
	})
	return l
}

// All code of functions has frames with names, the last of which is the function's, and other code has none.
func TestSourceOfCode(t *testing.T) {
	for _, name := range []string{"clang-dwarf5.elf", "gcc-dwarf4.elf", "lto-clang.elf", "split-gcc5.elf"} {
		l := openSource(t, name)
		checked := 0
		for _, a := range l.Areas(t.Context(), 0, 1<<20) {
			for rva := a.First; rva <= a.Last; rva++ {
				frames := l.Source(t.Context(), rva)
				if len(frames) == 0 {
					t.Errorf("%s, %#x: nothing", name, rva)
					continue
				}
				for i, f := range frames {
					if f.FullName() == "" || f.Inlined != (i < len(frames)-1) {
						t.Errorf("%s, %#x: frame %d is %+v", name, rva, i, f)
					}
				}
				checked++
			}
		}
		if checked == 0 {
			t.Errorf("%s: no address", name)
		}
	}
}

// A function inside another has its own frames; what follows it belongs to the outer one.
func TestSourceOfNestedFunction(t *testing.T) {
	d := coreOf(t, `
			.debug_info
				unit 5
					compile_unit language/data1=2 comp_dir/string="/s" stmt_list/sec_offset=0 low_pc/addr=0
						a: subprogram name/string="a" inline/data1=1
						subprogram name/string="outer" low_pc/addr=0x1000 high_pc/data1=0x80
							subprogram name/string="inner" low_pc/addr=0x2000 high_pc/data1=0x80
								inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x2010 high_pc/data1=0x40 call_file/data1=0 call_line/data1=7 call_column/data1=3
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x40 call_file/data1=0 call_line/data1=8 call_column/data1=4
			.debug_line
				program 5
				dirs path/string
				dir "/s"
				files path/string
				file "x.c"
				end_sequence`).debugData(false)
	d.ReadUnitHeaders()
	d.Allow(units.EffortBase)
	for addr, want := range map[uint64]string{
		0x1000: "outer :0:0", 0x2000: "inner :0:0", 0x2018: "a :0:0 | inner /s/x.c:7:3", 0x1018: "a :0:0 | outer /s/x.c:8:4",
	} {
		w := funcs.New(d, &codemap.Map{Exec: []object.Range{{Start: 0x1000, End: 0x3000}}}, &funcs.Options{})
		w.ReadSource(&srcread.Index{}, addr)
		w.Batch(d.Units)
		var got []string
		for _, f := range w.Source.Index.Frames(addr, nil) {
			got = append(got, fmt.Sprintf("%s %s:%d:%d", f.Name, f.File.Path, f.Line, f.Column))
		}
		if text := strings.Join(got, " | "); text != want || w.Problems.Any() {
			t.Errorf("%#x: %s, want %s; problems %v", addr, text, want, w.Problems)
		}
	}
}

// Abbreviations of a unit are read once for all addresses: here they are removed after the first.
func TestSourceKeepsAbbreviations(t *testing.T) {
	d := coreOf(t, `
			.debug_info
				unit 5
					compile_unit language/data1=2 low_pc/addr=0
						subprogram name/string="a" low_pc/addr=0x1000 high_pc/data1=0x80
						subprogram name/string="b" low_pc/addr=0x2000 high_pc/data1=0x80`).debugData(false)
	d.ReadUnitHeaders()
	d.Allow(units.EffortBase)
	w := funcs.New(d, &codemap.Map{Exec: []object.Range{{Start: 0x1000, End: 0x3000}}}, &funcs.Options{})
	x := &srcread.Index{}
	for i, want := range []string{"a", "b"} {
		addr := uint64(0x1000 * (i + 1))
		w.ReadSource(x, addr)
		w.Batch(d.Units)
		if frames := x.Frames(addr, nil); len(frames) != 1 || frames[0].Name != want || w.Problems.Any() {
			t.Errorf("%#x: %+v, want %s; problems %v", addr, frames, want, w.Problems)
		}
		clear(d.Abbrev)
	}
}

// Only the function with the address is read from a unit, and another one when it is needed.
func TestSourceReadsFunctions(t *testing.T) {
	l := openSource(t, "clang-dwarf5.elf")
	first := l.Source(t.Context(), 0x15d8)
	unit := l.done.Load()
	areas := l.Areas(t.Context(), 0, 1<<20)
	for _, a := range areas {
		l.Source(t.Context(), a.First)
	}
	sizes := int64(0)
	for _, p := range l.unitIndex.Load().Portions {
		sizes += p.Size
	}
	if len(first) == 0 || unit == 0 || unit > sizes {
		t.Errorf("%d frames, %d bytes, want some of %d", len(first), unit, sizes)
	}
	if all := l.done.Load(); all <= unit || all > 2*sizes {
		t.Errorf("%d bytes for %d functions, %d for the first, want at most twice %d", all, len(areas), unit, sizes)
	}
}

// Functions are also found in units that do not declare their code.
func TestSourceUndeclared(t *testing.T) {
	want := openSource(t, "clang-dwarf5.elf").Source(t.Context(), 0x15d8)
	l := openSource(t, "clang-dwarf5.elf")
	l.unitIndex.Store(lookup.New(lookup.Declared, l.allPortions(), nil))
	if got := l.Source(t.Context(), 0x15d8); len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// With NoFuncs, the only functions are those of symbols.
func TestNoFuncs(t *testing.T) {
	f, err := objfile.Open(testenv.Input(t, "clang-dwarf5.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := OpenLookup(t.Context(), f, Options{NoFuncs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if areas := l.Areas(t.Context(), 0, 1<<20); len(areas) > 0 || l.Source(t.Context(), 0x15d8) != nil {
		t.Errorf("%d areas, frames %+v, want none", len(areas), l.Source(t.Context(), 0x15d8))
	}
	if s, ok := l.Public(0x15d8); !ok || s.Name == "" || !l.HasRules(t.Context()) {
		t.Errorf("symbol %+v, rules %t, want both", s, l.HasRules(t.Context()))
	}
}

// Units are read once for all of their addresses, unless the cached data take too much memory. The answers do not
// depend on it.
func TestSourceReadsUnitsOnce(t *testing.T) {
	for _, name := range []string{"clang-dwarf5.elf", "split-gcc5.elf"} {
		kept, read := openSource(t, name), openSource(t, name)
		read.sources.kept.Limit = 1 // of several indexes, only the last one is kept
		kept.Source(t.Context(), kept.Last(t.Context()))
		areas, first := kept.Areas(t.Context(), 0, 1<<20), int64(0)
		for pass := range 2 {
			for _, a := range areas {
				want, got := read.Source(t.Context(), a.First), kept.Source(t.Context(), a.First)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %#x: %+v, want %+v", name, a.First, got, want)
				}
			}
			if done := kept.done.Load(); pass == 0 {
				first = done
			} else if done != first || done == 0 {
				t.Errorf("%s: %d bytes were read, and %d the second time", name, first, done-first)
			}
		}
	}
}

// A function that the linker dropped keeps its size: starting at 0, it seems to extend over real code. The same holds
// for its lines.
func TestSourceOfDeadFunction(t *testing.T) {
	d := coreOf(t, `
			.debug_info
				unit 5
					compile_unit language/data1=2 comp_dir/string="/s" stmt_list/sec_offset=0 low_pc/addr=0
						subprogram name/string="live" low_pc/addr=0x1100 high_pc/data1=0x10
						subprogram name/string="dead" low_pc/addr=0 high_pc/data2=0x2000
			.debug_line
				program 5
				dirs path/string
				dir "/s"
				files path/string
				file "x.c"
				set_address 0x1100
				advance_line 3
				copy
				advance_pc 0x10
				end_sequence
				set_address 0
				copy
				advance_pc 0x2000
				end_sequence`).debugData(false)
	d.ReadUnitHeaders()
	d.Allow(units.EffortBase)
	for addr, want := range map[uint64]string{0x1000: "", 0x1100: "live:4", 0x1110: ""} {
		w := funcs.New(d, &codemap.Map{Exec: []object.Range{{Start: 0x1000, End: 0x3000}}}, &funcs.Options{})
		w.ReadSource(&srcread.Index{}, addr)
		w.Batch(d.Units)
		got := ""
		for _, f := range w.Source.Index.Frames(addr, nil) {
			got += fmt.Sprintf("%s:%d", f.Name, f.Line)
		}
		if got != want || w.Problems.Any() {
			t.Errorf("%#x: %q, want %q; problems %v", addr, got, want, w.Problems)
		}
	}
}
