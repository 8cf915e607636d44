package elfobj

import (
	"encoding/binary"
	"testing"
)

func TestEHFrameEnd(t *testing.T) {
	const entry, wide, end, junk = "\x04\x00\x00\x00\x11\x22\x33\x44", "\xff\xff\xff\xff\x04\x00\x00\x00\x00\x00\x00\x00\x11\x22\x33\x44", "\x00\x00\x00\x00", "\x77\x77\x77\x77"
	f := &File{Order: binary.LittleEndian}
	for _, c := range []struct {
		data string
		last uint64
		want uint64
	}{
		{end + junk, 0, 4}, // no entry: gold writes that for ARM
		{entry + end + junk, 0, 12},
		{entry + end + entry + end + junk, 12, 24}, // terminators of two objects
		{entry + end + entry + end + junk, 0, 12},
		{entry + wide + end + junk, 8, 28},
		{entry + entry, 8, 16},
		{entry + junk + end, 0, 16},
		{entry + end, 1 << 40, 12},
		{"\xff\xff\xff\xff\x04", 0, 5},
		{"\x00", 0, 1},
	} {
		if got := ehFrameEnd([]byte(c.data), f, c.last); got != c.want {
			t.Errorf("%x, last FDE at %d: %d, want %d", c.data, c.last, got, c.want)
		}
	}
}
