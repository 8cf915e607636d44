package bin

import (
	"encoding/binary"
	"fmt"
	"testing"
)

func TestSwapGUID(t *testing.T) {
	id := []byte{0x2b, 0x06, 0xcc, 0x90, 0xfc, 0xe7, 0xba, 0x76, 0x7c, 0x3a}
	for order, want := range map[binary.ByteOrder]string{
		binary.LittleEndian: "90cc062be7fc76ba7c3a000000000000",
		binary.BigEndian:    "2b06cc90fce7ba767c3a000000000000",
	} {
		g := SwapGUID(id, order)
		if back := SwapGUID(g[:], order); fmt.Sprintf("%x", g) != want || string(back[:len(id)]) != string(id) {
			t.Errorf("%v: %x, want %s; back %x", order, g, want, back)
		}
	}
}
