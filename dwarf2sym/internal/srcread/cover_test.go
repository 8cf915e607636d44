package srcread

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// At each address, a cover has the value of the last piece that contains it.
func TestCover(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var pieces []piece
		for i := range random.IntN(12) {
			lo := random.Uint64N(40)
			pieces = append(pieces, piece{dwarf.Span{Lo: lo, Hi: lo + 1 + random.Uint64N(20)}, int32(i)})
		}
		c := newCover(pieces)
		for addr := range uint64(64) {
			want := int32(-1)
			for _, p := range pieces {
				if addr >= p.Lo && addr < p.Hi {
					want = p.what
				}
			}
			if got := c.at(addr); got != want {
				t.Fatalf("%v: at %d is %d, want %d", pieces, addr, got, want)
			}
		}
	}
}

// Of several sequences with an address, the one that ends first counts, or else the first. Of several rows with the
// same address, the last counts.
func TestPositionOfOverlaps(t *testing.T) {
	u := unitIndex{}
	sequence := func(lo, hi uint64, rows ...uint64) {
		first := len(u.rows.Rows)
		for _, addr := range rows {
			u.rows.Rows = append(u.rows.Rows, dwarf.Position{Addr: addr, Line: uint32(len(u.rows.Rows) + 1)})
		}
		u.rows.Seqs = append(u.rows.Seqs, dwarf.Sequence{Lo: lo, Hi: hi, First: first, Last: len(u.rows.Rows)})
	}
	sequence(10, 40, 10, 20, 20, 30)
	sequence(15, 25, 15)
	sequence(30, 40, 30)
	u.setLines()
	for addr, want := range map[uint64]string{
		9: "0 false", 10: "1 true", 14: "1 true", 15: "5 true", 24: "5 true", 25: "3 true", 39: "4 true", 40: "0 false",
	} {
		p, ok := u.position(addr)
		if got := fmt.Sprint(p.Line, " ", ok); got != want {
			t.Errorf("%d: line %s, want %s", addr, got, want)
		}
	}
}
