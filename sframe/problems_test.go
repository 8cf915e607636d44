package sframe_test

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/damage"
)

// Bytes after the section in a program header's segment are ignored.
func TestSegmentLeftovers(t *testing.T) {
	data := testenv.ReadInput(t, "sframe-text-v3.sframe")
	data = append(data, 0, 0, 5, 8, 232)
	for segment, want := range map[bool]int{false: 1, true: 0} {
		s, err := sframe.Decode(data, sframe.Options{Segment: segment})
		if err != nil || len(s.Headers) != 1 || len(s.Problems) != want {
			t.Errorf("segment %v: %v, %+v", segment, err, s.Problems)
		}
	}
}

// Damage is reported once: in Problems, or else with the rows.
func TestDamage(t *testing.T) {
	data := testenv.ReadInput(t, "sframe-text-damaged.sframe")
	data[28+15] = 0x7f // the offset of the first function's attributes
	s, err := sframe.Decode(data, sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s.Damage(func(p damage.Problem) { got = append(got, p.String()) })
	want := []string{
		".sframe+0x1c: attributes at offset 0x7f000000 of the rows' 90 bytes (lost: rows of FDE 0)",
		".sframe+0xa3: info 0x63: data words of size code 3 (lost: rows of FDE 2)",
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%q, want %q", got, want)
	}
}
