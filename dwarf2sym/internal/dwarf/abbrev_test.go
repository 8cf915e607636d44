package dwarf

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/symtool/symtool/internal/dw"
)

// These sizes determine how much memory a table takes: it has thousands of each.
func TestAbbrevSizes(t *testing.T) {
	if n := unsafe.Sizeof(decl{}); n > 56 {
		t.Errorf("decl has %d bytes", n)
	}
	if n := unsafe.Sizeof(step{}); n > 16 {
		t.Errorf("step has %d bytes", n)
	}
}

// A DIE whose attributes all have fixed sizes is skipped by one addition.
func TestStepsAreMerged(t *testing.T) {
	const (
		variable                                  = 0x34
		declFile, declLine, typ, external, locate = 0x3a, 0x3b, 0x49, 0x3f, 0x02
	)
	section := []byte{
		1, variable, 0, declFile, dw.FormData1, declLine, dw.FormData2, typ, dw.FormRef4, locate, dw.FormExprloc, external, dw.FormFlagPresent, 0, 0,
		2, variable, 0, declFile, dw.FormData1, declLine, dw.FormData2, typ, dw.FormRef4, external, dw.FormFlagPresent, 0x1c, dw.FormImplicitConst, 5, 0, 0,
		0,
	}
	var tab Abbrevs
	if err := tab.Parse(section, 0, FormSizes{8, 4, 4}); err != nil {
		t.Fatal(err)
	}
	if d := tab.lookup(1); d.size != -1 || !slices.Equal(d.steps, []step{{op: opFixed, n: 7}, {op: opBlock, n: -1}}) {
		t.Errorf("%+v", d)
	}
	if d := tab.lookup(2); d.size != 7 {
		t.Errorf("%+v", d)
	}
}
