package minidump

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// xstateDump returns a minidump whose one context has AVX's part of XSAVE's area at offset at, as
// XSTATE_CONFIG_FEATURE_MSC_INFO says, and that of the mask registers before it. The area is size bytes long.
func xstateDump(at, size uint32) []byte {
	m := newBuilder(binary.LittleEndian).system(9, 0x8201, "")
	m.stream(15, func() {
		m.u32(1364).zeros(832 - 4)
		m.u32(528, 4096).u64(0x27)
		for n := range 64 {
			switch n {
			case 2:
				m.u32(at, 256)
			case 5:
				m.u32(576, 64)
			default:
				m.u32(0, 0)
			}
		}
		m.u32(0)
	})
	m.thread(7, func() {
		m.zeros(48).u32(0x10005f, 0x1f80).zeros(12).u32(0x246).zeros(48).series(0x100, 17, 8).fxsave().zeros(26*16 + 48)
		var all int32 = -1232
		m.u32(uint32(all), 1232+24+8+size, uint32(all), 1232, 32, size)
		m.zeros(8)
		m.u64(0x24, 0).zeros(48)
		m.series(0x900, 8, 8).zeros(int(at)-640).series(0xa00, 32, 8)
	})
	return m.finish()
}

func TestXState(t *testing.T) {
	d, err := Read(xstateDump(704, 64+64+64+256), "xstate")
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	c := d.Threads[0].Context
	if v, ok := c.Get("$k7"); !ok || v != 0x907 {
		t.Errorf("k7: %#x, %v, want 0x907", v, ok)
	}
	want := builder{order: binary.LittleEndian}
	want.fxsave()
	for _, n := range []int{0, 15} {
		reg, _ := c.Arch.RegIndex("$xmm" + map[int]string{0: "0", 15: "15"}[n])
		high := builder{order: binary.LittleEndian}
		high.series(0xa00+2*n, 2, 8)
		if got, low := c.Bytes(reg), want.b[160+16*n:][:16]; !bytes.Equal(got, append(bytes.Clone(low), high.b...)) {
			t.Errorf("xmm%d: % x", n, got)
		}
	}
	if reg, _ := c.Arch.RegIndex("$xmm16"); c.Bytes(reg) != nil {
		t.Error("xmm16 is known")
	}
}

func TestXStateDamaged(t *testing.T) {
	cut := xstateDump(704, 64+64+64+256)
	i := bytes.Index(cut, []byte{32, 0, 0, 0, 192, 1, 0, 0})
	for _, c := range []struct {
		data []byte
		want string
	}{
		{xstateDump(1<<20+1, 64), "component 2 has 256 bytes at 1048577"},
		{xstateDump(704, 200), "200 bytes, which end before 1 of its components"},
		{xstateDump(704, 10), "10 bytes, want at least 64"},
		{append(append(bytes.Clone(cut[:i]), 0xff, 0xff, 0xff, 0x7f), cut[i+4:]...), "the area is at 2147484879 of a context"},
	} {
		d, err := Read(c.data, "xstate")
		if err != nil || len(d.Threads) != 1 || d.Threads[0].Context == nil || len(d.Problems) == 0 || !strings.Contains(d.Problems[0].String(), c.want) {
			t.Errorf("%v, %v, want %s", err, d.Problems, c.want)
		}
	}
}
