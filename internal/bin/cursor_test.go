package bin

import (
	"encoding/binary"
	"fmt"
	"testing"
)

func TestCursorReads(t *testing.T) {
	data := []byte{
		0x01,       // u8
		0x02, 0x03, // u16
		0x04, 0x05, 0x06, // 3 bytes
		0x07, 0x08, 0x09, 0x0a, // u32
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // u64
		0xe5, 0x8e, 0x26, // ULEB128 624485
		0x9b, 0xf1, 0x59, // SLEB128 -624485
		'a', 'b', 0, // string
	}
	for _, tt := range []struct {
		order    binary.ByteOrder
		u16      uint16
		u24, u32 uint64
		u64      uint64
	}{
		{binary.LittleEndian, 0x0302, 0x060504, 0x0a090807, 0x1817161514131211},
		{binary.BigEndian, 0x0203, 0x040506, 0x0708090a, 0x1112131415161718},
	} {
		c := New(".x", data, tt.order)
		if got := c.U8(); got != 1 {
			t.Errorf("U8 = %d", got)
		}
		if got := c.U16(); got != tt.u16 {
			t.Errorf("%v: U16 = %#x, want %#x", tt.order, got, tt.u16)
		}
		if got := c.Uint(3); got != tt.u24 {
			t.Errorf("%v: Uint(3) = %#x, want %#x", tt.order, got, tt.u24)
		}
		if got := c.Uint(4); got != tt.u32 {
			t.Errorf("%v: Uint(4) = %#x, want %#x", tt.order, got, tt.u32)
		}
		if got := c.U64(); got != tt.u64 {
			t.Errorf("%v: U64 = %#x, want %#x", tt.order, got, tt.u64)
		}
		if got := c.ULEB(); got != 624485 {
			t.Errorf("ULEB = %d", got)
		}
		if got := c.SLEB(); got != -624485 {
			t.Errorf("SLEB = %d", got)
		}
		if got := string(c.CStr()); got != "ab" {
			t.Errorf("CStr = %q", got)
		}
		if c.Err() != nil || c.Len() != 0 || c.Pos() != len(data) {
			t.Errorf("at the end: err %v, %d left, position %d", c.Err(), c.Len(), c.Pos())
		}
	}
}

func TestLEB(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []byte
		u    uint64
		uerr string
		s    int64
	}{
		{"zero", []byte{0}, 0, "", 0},
		{"one byte", []byte{0x7f}, 127, "", -1},
		{"padded", []byte{0x81, 0x80, 0x80, 0x00}, 1, "", 1},
		{"64 bits", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 1<<64 - 1, "", -1},
		{"smallest", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, 0, ".x+0x0: ULEB128 of more than 64 bits", -1 << 63},
		{"65 bits", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 0, ".x+0x0: ULEB128 of more than 64 bits", 1<<63 - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := New(".x", tt.in, binary.LittleEndian)
			u := c.ULEB()
			if u != tt.u || message(c.Err()) != tt.uerr {
				t.Errorf("ULEB = %#x, %v; want %#x, %s", u, c.Err(), tt.u, tt.uerr)
			}
			c = New(".x", tt.in, binary.LittleEndian)
			if s := c.SLEB(); s != tt.s || c.Err() != nil {
				t.Errorf("SLEB = %d, %v; want %d", s, c.Err(), tt.s)
			}
		})
	}
}

// AppendSLEB writes numbers that read back unchanged, in as few bytes as
// possible.
func TestAppendSLEB(t *testing.T) {
	for v, size := range map[int64]int{0: 1, 63: 1, -64: 1, 64: 2, -65: 2, 1 << 61: 9, 1<<63 - 1: 10, -1 << 63: 10} {
		b := AppendSLEB(nil, v)
		c := New(".x", b, binary.LittleEndian)
		if got := c.SLEB(); got != v || c.Err() != nil || len(b) != size {
			t.Errorf("%d: %d from %x, %v; want %d bytes", v, got, b, c.Err(), size)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The first failure is kept, with its position; later reads return zero.
func TestCursorFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		read func(c *Cursor)
		want string
	}{
		{"u32", func(c *Cursor) { c.U32() }, ".x+0x101: need 4 bytes, 2 left"},
		{"u64", func(c *Cursor) { c.U64() }, ".x+0x101: need 8 bytes, 2 left"},
		{"bytes", func(c *Cursor) { c.Bytes(1 << 63) }, ".x+0x101: need 9223372036854775808 bytes, 2 left"},
		{"uleb", func(c *Cursor) { c.ULEB() }, ".x+0x101: unterminated ULEB128"},
		{"sleb", func(c *Cursor) { c.SLEB() }, ".x+0x101: unterminated SLEB128"},
		{"string", func(c *Cursor) { c.CStr() }, ".x+0x101: string without a NUL in 2 bytes"},
		{"seek", func(c *Cursor) { c.Seek(4) }, ".x+0x101: position 4 is outside the 3 bytes"},
		{"size", func(c *Cursor) { c.Uint(5) }, ".x+0x101: integer of 5 bytes"},
		{"own", func(c *Cursor) { c.Fail("version %d, want 1", 7) }, ".x+0x101: version 7, want 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewAt(".x", []byte{1, 0x80, 0x81}, 0x100, binary.LittleEndian)
			c.U8()
			tt.read(&c)
			if got := message(c.Err()); got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
			c.Fail("later")
			if c.U8() != 0 || c.U16() != 0 || c.U32() != 0 || c.U64() != 0 || c.ULEB() != 0 || c.SLEB() != 0 || c.CStr() != nil {
				t.Error("a read after a failure is not zero")
			}
			if got := message(c.Err()); got != tt.want {
				t.Errorf("error became %q", got)
			}
		})
	}
}

// FuzzCursor reads any bytes with any sequence of reads: the position never
// leaves the data, and a failed cursor stays failed.
func FuzzCursor(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 0x01, 'a', 0}, []byte{0, 1, 4, 6})
	f.Fuzz(func(t *testing.T, data, ops []byte) {
		c := New(".x", data, binary.BigEndian)
		for _, op := range ops {
			failed := c.Err() != nil
			switch op % 9 {
			case 0:
				c.U8()
			case 1:
				c.U16()
			case 2:
				c.U32()
			case 3:
				c.U64()
			case 4:
				c.ULEB()
			case 5:
				c.SLEB()
			case 6:
				c.CStr()
			case 7:
				c.Bytes(uint64(op) << 56)
			case 8:
				c.Seek(int(op))
			}
			if c.Pos() < 0 || c.Pos() > len(data) || c.Pos()+c.Len() != len(data) {
				t.Fatalf("position %d, %d left of %d", c.Pos(), c.Len(), len(data))
			}
			if failed && c.Err() == nil {
				t.Fatal("the failure was forgotten")
			}
		}
	})
}

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
