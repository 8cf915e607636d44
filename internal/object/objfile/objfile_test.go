package objfile

import (
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// A file whose container is not DebugChecker has no debug file, and cannot be the debug file
// for another container.
func TestOtherContainer(t *testing.T) {
	f, err := Open(testenv.Input(t, "gcc-dwarf5.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := &object.File{Path: "x", Container: &object.SectionsOnly{}}
	if err := object.CheckPair(f, f); err != nil {
		t.Error(err)
	}
	if err := object.CheckPair(f, other); err == nil {
		t.Error("a pair of two containers")
	}
	if f, err := Open(testenv.Input(t, "README.md"), object.DefaultLimits()); f != nil || err == nil {
		t.Errorf("a text is %v, %v", f, err)
	}
}

// A file is in the container whose magic it has, and its File says the same.
func TestContainer(t *testing.T) {
	for head, want := range map[string]string{
		"\x7fELF\x02": "ELF", "MZ\x90": "PE", "\xcf\xfa\xed\xfe": "Mach-O", "\xca\xfe\xba\xbe": "Mach-O", "MDMP": "", "": "",
	} {
		if got := Container([]byte(head)); got != want || Begins([]byte(head)) != (want != "") {
			t.Errorf("%q: container %q, want %q", head, got, want)
		}
	}
	for _, name := range []string{"gcc-dwarf5.elf", "pe-mingw64.dll", "macho-x86_64"} {
		f, err := Open(testenv.Input(t, name), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := Container(testenv.ReadInput(t, name)); got != f.Format {
			t.Errorf("%s: container %q, want %q", name, got, f.Format)
		}
		f.Close()
	}
}
