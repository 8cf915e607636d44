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
	if !Begins([]byte("\x7fELF\x02")) || !Begins([]byte("MZ\x90")) || !Begins([]byte("\xcf\xfa\xed\xfe")) || !Begins([]byte("\xca\xfe\xba\xbe")) || Begins([]byte("MDMP")) || Begins(nil) {
		t.Error("what files of a known container begin with")
	}
	if f, err := Open(testenv.Input(t, "README.md"), object.DefaultLimits()); f != nil || err == nil {
		t.Errorf("a text is %v, %v", f, err)
	}
}
