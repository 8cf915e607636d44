package lookup

import (
	"slices"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
)

// Of several copies, the one whose DIE comes first is kept, in whatever order they are added. Functions that
// differ in size, in name, or in whether something is inlined, are not copies.
func TestCopies(t *testing.T) {
	name := func(n uint64) funcs.ComdatKey { return funcs.ComdatKey{Name: n, Known: true} }
	inlined := name(1)
	inlined.Inlined = true
	f := func(lo, hi, die uint64, id funcs.ComdatKey) Func {
		return Func{Extent{dwarf.Span{Lo: lo, Hi: hi}, Ref{int32(die), die}}, id}
	}
	c := NewBuilder(make([]Portion, 10))
	for _, f := range []Func{
		f(0x10, 0x20, 7, name(1)), f(0x10, 0x20, 3, name(1)), f(0x10, 0x20, 9, name(1)),
		f(0x10, 0x18, 1, name(1)), f(0x10, 0x20, 2, name(2)), f(0x10, 0x20, 4, inlined),
		f(0x10, 0x20, 5, funcs.ComdatKey{}), f(0x10, 0x20, 6, funcs.ComdatKey{}), f(0x30, 0x40, 8, name(1)),
	} {
		c.Add(f)
	}
	var got []int32
	for _, e := range c.extents() {
		got = append(got, e.Portion)
	}
	slices.Sort(got)
	if want := []int32{1, 2, 3, 4, 5, 6, 8}; !slices.Equal(got, want) {
		t.Errorf("portions %v, want %v", got, want)
	}
}

// Overlapping functions of a portion have no ComdatKey.
func TestMarkOverlaps(t *testing.T) {
	known := funcs.ComdatKey{Name: 1, Known: true}
	f := func(lo, hi uint64, id funcs.ComdatKey) Func {
		return Func{Extent{dwarf.Span{Lo: lo, Hi: hi}, Ref{DIE: lo}}, id}
	}
	got := []Func{
		f(0x50, 0x60, known), f(0x10, 0x30, known), f(0x18, 0x20, known), f(0x28, 0x40, known), f(0x40, 0x50, known),
	}
	markOverlaps(got)
	want := []Func{
		f(0x10, 0x30, funcs.ComdatKey{}), f(0x18, 0x20, funcs.ComdatKey{}), f(0x28, 0x40, funcs.ComdatKey{}), f(0x40, 0x50, known), f(0x50, 0x60, known),
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
