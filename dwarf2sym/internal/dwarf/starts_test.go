package dwarf

import "testing"

// TestStarts asks where the DIEs of a unit begin: DIEs of one attribute at 1, 3 and 5, one at 7 that no declaration
// describes, and bytes after it.
func TestStarts(t *testing.T) {
	var a Abbrevs
	section := []byte{1, 0x24, 0, 0x0b, 0x0b, 0, 0, 0} // a base type with DW_AT_byte_size, DW_FORM_data1
	if err := a.Parse(section, 0, FormSizes{8, 4, 4}); err != nil {
		t.Fatal(err)
	}
	effort := &Effort{Limit: 1 << 20}
	u := Unit{data: []byte{0, 1, 8, 1, 4, 1, 2, 9, 1, 8}, FirstDIE: 1, Abbrevs: &a, meter: &Meter{Effort: effort}}
	var s Starts
	s.Reset(u.Len())
	for _, tt := range []struct {
		target     int
		has, known bool
		upTo       int
	}{
		{0, false, true, 1}, // the header
		{3, true, true, 5},  // no further than asked
		{2, false, true, 5}, // in the middle of a DIE
		{5, true, true, 7},
		{9, false, false, 8},
		{8, false, false, 8},
		{7, true, true, 8},
	} {
		u.Starts(&s, tt.target)
		if has, known := s.Has(tt.target), s.Known(tt.target); has != tt.has || known != tt.known || s.upTo != tt.upTo {
			t.Errorf("%d: begins %v, known %v, all before %d; want %v, %v, %d", tt.target, has, known, s.upTo, tt.has, tt.known, tt.upTo)
		}
	}
}
