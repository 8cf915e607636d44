package dwarf

import "testing"

// The rows of any sequences cover each address at most once, in order.
func FuzzRowsIn(f *testing.F) {
	f.Add([]byte{0, 16, 4, 8, 8, 30, 0, 9}, uint64(0), uint64(40))
	f.Add([]byte{0, 5, 5, 9, 9, 12}, uint64(3), uint64(11))
	f.Fuzz(func(t *testing.T, pairs []byte, from, to uint64) {
		var tab LineTable
		for ; len(pairs) >= 2 && len(tab.Seqs) < 100; pairs = pairs[2:] {
			lo, hi := uint64(pairs[0]), uint64(pairs[1])
			if lo >= hi || len(tab.Seqs) > 0 && lo < tab.Seqs[len(tab.Seqs)-1].Lo {
				continue
			}
			first := len(tab.Rows)
			tab.Rows = append(tab.Rows, Row{Addr: lo, Line: 1}, Row{Addr: lo + (hi-lo)/2, Line: 2})
			tab.Seqs = append(tab.Seqs, Sequence{Lo: lo, Hi: hi, First: first, Last: len(tab.Rows)})
		}
		tab.findOverlaps()
		at := from
		tab.RowsIn(from, to, func(lo, hi uint64, r *Row) {
			if lo < at || lo >= hi || hi > to || lo < r.Addr {
				t.Fatalf("row %+v at [%#x, %#x) behind %#x in [%#x, %#x)", r, lo, hi, at, from, to)
			}
			at = hi
		})
	})
}
