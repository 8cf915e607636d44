package crash

import (
	"math"
	"testing"
)

// The confidence equals rust-minidump's: 0.625 comes from a report of its users,
// about an address that became 0 and was not low.
func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		details Evidence
		want    float64
	}{
		{Evidence{}, 0.25},
		{Evidence{IsNull: true}, 0.625},
		{Evidence{IsNull: true, WasLow: true}, 0.4375},
		{Evidence{WasNonCanonical: true}, 0.925},
		{Evidence{NearbyRegisters: 1}, 0.625},
		{Evidence{NearbyRegisters: 4}, 0.7375},
		{Evidence{NearbyRegisters: 9}, 0.7375},
		{Evidence{IsNull: true, PoisonRegisters: true}, 0.3125},
		{Evidence{WasNonCanonical: true, NearbyRegisters: 3}, 0.97},
	} {
		if got := float64(c.details.confidence()); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %v, want %v", c.details, got, c.want)
		}
	}
}
