package dump

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// In the result for any list of regions, each byte comes from the first region that contains its
// address.
func TestNewMemoryOverlaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for run := range 2000 {
		base := uint64(0)
		if run%4 == 0 {
			base = math.MaxUint64 - 40 // some pass the last address
		}
		want := map[uint64]byte{}
		var list []Region
		for i := range rng.IntN(12) {
			r := Region{base + rng.Uint64N(40), bytes.Repeat([]byte{byte(i + 1)}, rng.IntN(20))}
			list = append(list, r)
			for k := range r.Data {
				a := r.Addr + uint64(k)
				if _, taken := want[a]; !taken && a >= r.Addr {
					want[a] = r.Data[k]
				}
			}
		}
		m := NewMemory(binary.LittleEndian, list)
		got := 0
		for i := range m.Regions {
			r := &m.Regions[i]
			if len(r.Data) == 0 || i > 0 && m.Regions[i-1].last() >= r.Addr {
				t.Fatalf("run %d: region %d is empty or overlaps: %+v", run, i, m.Regions)
			}
			for k, b := range r.Data {
				if want[r.Addr+uint64(k)] != b {
					t.Fatalf("run %d: %#x is of region %d, want %d", run, r.Addr+uint64(k), b, want[r.Addr+uint64(k)])
				}
				got++
			}
		}
		if got != len(want) {
			t.Fatalf("run %d: %d bytes, want %d", run, got, len(want))
		}
	}
}

// A hundred thousand regions, each inside all those before it or around them, are handled quickly.
func TestNewMemoryManyOverlaps(t *testing.T) {
	const n = 100_000
	data := make([]byte, 2*n)
	for name, region := range map[string]func(i int) Region{
		"nested":  func(i int) Region { return Region{uint64(i), data[:2*(n-i)]} },
		"outward": func(i int) Region { return Region{uint64(n - i), data[:2*i+1]} },
		"same":    func(int) Region { return Region{7, data} },
		"steps":   func(i int) Region { return Region{uint64(n - i), data[:n]} },
	} {
		var list []Region
		for i := range n {
			list = append(list, region(i))
		}
		watch := testenv.StartWatch()
		m := NewMemory(binary.LittleEndian, list)
		if d := watch.Took(); d > 5*time.Second {
			t.Errorf("%s: %v", name, d)
		}
		if len(m.Regions) == 0 || len(m.Regions) > 2*n {
			t.Errorf("%s: %d regions of %d", name, len(m.Regions), n)
		}
	}
}

func TestMemoryReads(t *testing.T) {
	m := NewMemory(binary.BigEndian, []Region{{0x1004, []byte{5, 6, 7, 8}}, {0x1000, []byte{1, 2, 3, 4}}, {math.MaxUint64 - 1, []byte{9, 10, 11}}})
	for _, c := range []struct {
		addr uint64
		size int
		want uint64
		ok   bool
	}{
		{0x1000, 1, 1, true}, {0x1002, 2, 0x0304, true}, {0x1002, 4, 0x03040506, true}, {0x1000, 8, 0x0102030405060708, true},
		{0x1001, 8, 0, false}, {0xfff, 1, 0, false}, {0x1000, 3, 0, false},
		{math.MaxUint64 - 1, 2, 0x090a, true}, {math.MaxUint64, 2, 0, false},
	} {
		if got, ok := m.Word(c.addr, c.size); got != c.want || ok != c.ok {
			t.Errorf("Word(%#x, %d) = %#x, %v; want %#x, %v", c.addr, c.size, got, ok, c.want, c.ok)
		}
	}
	if n := testenv.Allocations(10, func() { m.Word(0x1000, 4) }); n != 0 {
		t.Errorf("%v allocations for a word", n)
	}
	if got := m.Bytes(0x1002, 100); !bytes.Equal(got, []byte{3, 4, 5, 6, 7, 8}) {
		t.Errorf("Bytes = %v", got)
	}
}
