package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// The source of addresses in inlined functions, in the own unit and in others, behind functions, and in split
// units.
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
		for _, f := range l.Source(c.rva) {
			got = append(got, fmt.Sprintf("%s %s:%d:%d, declared at %s:%d", f.FullName(), f.File.Path, f.Line, f.Column, f.StartFile.Relative, f.StartLine))
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s, %#x:\n%s, want\n%s", c.file, c.rva, text, c.want)
		}
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

// All code of functions has frames with names, of which the last is that of the function, and no others.
func TestSourceOfCode(t *testing.T) {
	for _, name := range []string{"clang-dwarf5.elf", "gcc-dwarf4.elf", "lto-clang.elf", "split-gcc5.elf"} {
		l := openSource(t, name)
		checked := 0
		for _, a := range l.Areas(0, 1<<20) {
			for rva := a.First; rva <= a.Last; rva++ {
				frames := l.Source(rva)
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
