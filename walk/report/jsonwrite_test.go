package report

import (
	"fmt"
	"math"
	"testing"
)

func TestPaddedHex(t *testing.T) {
	for _, digits := range []int{1, 8, 16} {
		for _, v := range []uint64{0, 1, 0xa, 0x7fff_ffff, 0x1_2345_6789, 1 << 63, math.MaxUint64} {
			if got, want := paddedHex(v, digits), fmt.Sprintf("0x%0*x", digits, v); got != want {
				t.Errorf("%d digits of %x: %s, want %s", digits, v, got, want)
			}
		}
	}
}

func BenchmarkPaddedHex(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func(v uint64) string
	}{{"paddedHex", func(v uint64) string { return paddedHex(v, 16) }}, {"fmt", func(v uint64) string { return fmt.Sprintf("0x%0*x", 16, v) }}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				c.f(0x7fff_0000_0000 + uint64(i))
			}
		})
	}
}
