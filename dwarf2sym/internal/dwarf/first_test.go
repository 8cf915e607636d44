package dwarf

import (
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/dw"
)

// The declaration of a unit's own DIE is found after others without compiling them. A table that ends
// before it is reported as by Parse.
func TestParseFirst(t *testing.T) {
	section := []byte{
		1, dw.TagVariable, 0, dw.AtName, dw.FormStrp, 0x3f, dw.FormImplicitConst, 0x80, 0x7f, 0, 0,
		0x85, 0x01, 0x84, 0x80, 1, 1, 0x90, 0x40, dw.FormFlagPresent, 0, 0, // long numbers
		3, dw.TagCompileUnit, 1, dw.AtName, dw.FormString, dw.AtLowPC, dw.FormAddr, 0, 0,
		4, dw.TagSubprogram, 0, 0, 0,
		0,
	}
	h := &Header{Version: 5, AddrSize: 8, HeadSize: 2}
	unit := []byte{0, 0, 3}
	var all, first Abbrevs
	if err := all.Parse(section, 0, h.Sizes()); err != nil {
		t.Fatal(err)
	}
	cost, err := first.ParseFirst(section, h, unit)
	if err != nil || cost < 22 || cost >= uint64(len(section)) {
		t.Errorf("cost %d, %v", cost, err)
	}
	got, want := first.lookup(3), all.lookup(3)
	if !got.known || got.class != ClassUnit || !got.children || got.tag != want.tag || !slices.Equal(got.steps, want.steps) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, code := range []uint64{1, 4, 133} {
		if first.lookup(code).known {
			t.Errorf("code %d is declared, too", code)
		}
	}
	for n := range 22 + 7 {
		err, want := first.parseUpTo(section[:n], 0, h.Sizes(), 3), all.Parse(section[:n], 0, h.Sizes())
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%d bytes: %v, want %v", n, err, want)
		}
	}
}
