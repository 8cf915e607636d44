package dwarf

import (
	"fmt"
	"slices"
	"testing"
)

// arangeSet returns a set for a unit with 8-byte addresses, after a header of 32-bit DWARF.
func arangeSet(unit byte, ranges ...byte) []byte {
	set := append([]byte{0, 0, 0, 0, 2, 0, unit, 0, 0, 0, 8, 0}, 0, 0, 0, 0)
	for i := 0; i < len(ranges); i++ {
		set = append(set, ranges[i], 0, 0, 0, 0, 0, 0, 0)
	}
	set[0] = byte(len(set) - 4)
	return set
}

func TestCodeIndex(t *testing.T) {
	// 64-bit DWARF with addresses of 4 bytes: the header of 24 bytes needs no padding.
	wide := []byte{0xff, 0xff, 0xff, 0xff, 28, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x30, 0, 0, 0, 0, 0, 0, 0, 4, 0}
	wide = append(wide, 0x11, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	change := func(at int, to byte) []byte {
		set := arangeSet(0x20, 1, 2, 0, 0)
		set[at] = to
		return set
	}
	for _, c := range []struct {
		name string
		data []byte
		want string // "" if refused
	}{
		{"none", nil, "[]"},
		{"sets in any order", slices.Concat(arangeSet(0x20, 0x50, 2, 0x60, 4, 0, 0), arangeSet(0x10, 0x70, 1, 0, 0)), "[16 [{112 113}] 32 [{80 82} {96 100}]]"},
		{"64-bit DWARF", wide, "[48 [{16 20}]]"},
		{"a unit without code", arangeSet(0x20, 0, 0), "[32 []]"},
		{"without an end", arangeSet(0x20, 0x50, 2), "[32 [{80 82}]]"},
		{"nothing counts behind the end", arangeSet(0x20, 0x50, 2, 0, 0, 0x60, 4), "[32 [{80 82}]]"},
		{"no bytes", arangeSet(0x20, 0x50, 0, 0x60, 4, 0, 0), "[32 [{96 100}]]"},
		{"two sets of a unit", slices.Concat(arangeSet(0x20, 0, 0), arangeSet(0x20, 0, 0)), ""},
		{"cut off", arangeSet(0x20, 0x50, 2, 0, 0)[:20], ""},
		{"length", change(0, 200), ""},
		{"shorter than a header", change(0, 6), ""},
		{"version", change(4, 3), ""},
		{"size of addresses", change(10, 2), ""},
		{"segments", change(11, 1), ""},
	} {
		d := Sections{ISA: 1}
		x := d.ReadCodeIndex(c.data)
		got := ""
		if x != nil {
			all := []any{}
			for _, unit := range x.Units() {
				spans, _ := x.Of(unit)
				all = append(all, unit, spans)
			}
			got = fmt.Sprint(all)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if spans, ok := x.Of(0x21); ok {
			t.Errorf("%s: a unit that is not listed has %v", c.name, spans)
		}
	}
}
