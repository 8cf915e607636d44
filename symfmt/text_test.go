package symfmt

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestAppendLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	lines := []Line{
		{}, {RVA: 1<<64 - 1, Size: 1<<64 - 1, Num: 1<<32 - 1, File: 1<<32 - 1},
		{RVA: 1 << 32, Size: 1<<32 - 1, Num: 9, File: 10}, {RVA: 0xabcdef, Size: 0x9a, Num: 99, File: 100},
		{RVA: 1<<36 | 0xf, Size: 1 << 60, Num: 999, File: 1000}, {RVA: 9, Size: 0xa, Num: 9999, File: 10000},
		{RVA: 15, Size: 16, Num: 99999, File: 100000}, {RVA: 255, Size: 256, Num: 999999, File: 1000000},
	}
	for range 100_000 {
		lines = append(lines, Line{
			RVA: RVA(rnd.Uint64() >> rnd.IntN(64)), Size: rnd.Uint64() >> rnd.IntN(64),
			Num: rnd.Uint32() >> rnd.IntN(32), File: FileID(rnd.Uint32() >> rnd.IntN(32)),
		})
	}
	var got []byte
	for _, l := range lines {
		want := fmt.Sprintf("%x %x %d %d\n", uint64(l.RVA), l.Size, l.Num, uint32(l.File))
		start := len(got)
		if got = appendLine(got, &l); string(got[start:]) != want {
			t.Fatalf("appendLine(%+v) = %q, want %q", l, got[start:], want)
		}
	}
}

func TestAppendHex(t *testing.T) {
	for shift := range 64 {
		for _, v := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, 0xfedcba9876543210 >> shift} {
			if got, want := string(appendHex([]byte("x"), v)), "x"+strconv.FormatUint(v, 16); got != want {
				t.Errorf("%#x: %s, want %s", v, got, want)
			}
		}
	}
}
