package sframe

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The look-up by parts of the address range agrees with a search through all FDEs: it
// finds the one that starts last among those that cover the address.
func TestFindFDE(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		s := &Section{FDEs: make([]FDE, r.IntN(50))}
		span := max(1, r.Uint64()>>r.UintN(64))
		for i := range s.FDEs {
			s.FDEs[i] = FDE{Start: r.Uint64N(span), Size: uint32(r.Uint64N(span)) >> r.UintN(32) * uint32(min(1, r.IntN(9)))}
			if i > 0 && r.IntN(10) == 0 {
				s.FDEs[i].Start = s.FDEs[i-1].Start
			}
		}
		s.index()
		pcs := []uint64{0, span, math.MaxUint64, r.Uint64()}
		for i := range s.FDEs {
			f := &s.FDEs[i]
			end := f.Start + uint64(f.Size)
			pcs = append(pcs, f.Start-1, f.Start, f.Start+1, end-1, end, end+1)
		}
		for _, pc := range pcs {
			got, want := s.FindFDE(pc), linearFind(s, pc)
			if (got < 0) != (want < 0) || got >= 0 && s.FDEs[got].Start != s.FDEs[want].Start || got >= 0 && !s.FDEs[got].Contains(pc) {
				t.Fatalf("%#x: FDE %d, want %d of %+v", pc, got, want, s.FDEs)
			}
		}
	}
}

func linearFind(s *Section, pc uint64) int {
	found := -1
	for i := range s.FDEs {
		f := &s.FDEs[i]
		// A function does not continue at address 0.
		if f.Contains(pc) && pc >= f.Start && (found < 0 || f.Start > s.FDEs[found].Start) {
			found = i
		}
	}
	return found
}
