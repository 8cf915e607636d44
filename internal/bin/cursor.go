package bin

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Cursor reads a section from front to back. The first failure sticks: later
// reads return zero, and Err returns the first failure with its offset.
type Cursor struct {
	data    []byte
	pos     int
	order   binary.ByteOrder
	section string
	base    uint64 // offset of data[0] in the section
	err     *Error
}

// New returns a cursor at the start of data, which begins at offset 0 of the
// named section.
func New(section string, data []byte, order binary.ByteOrder) Cursor {
	return NewAt(section, data, 0, order)
}

// NewAt is like New, for data that begins at offset base of the section.
func NewAt(section string, data []byte, base uint64, order binary.ByteOrder) Cursor {
	return Cursor{data: data, order: order, section: section, base: base}
}

// Err returns the first failure, or nil.
func (c *Cursor) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Fail records a failure at the current position, unless there was one.
func (c *Cursor) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Section: c.section, Offset: c.Offset(), Msg: fmt.Sprintf(format, args...)}
	}
}

// Pos returns the number of bytes read from data.
func (c *Cursor) Pos() int { return c.pos }

// Len returns the number of bytes left.
func (c *Cursor) Len() int { return len(c.data) - c.pos }

// Offset returns the current position, from the start of the section.
func (c *Cursor) Offset() uint64 { return c.base + uint64(c.pos) }

// Order returns the byte order of fixed-size fields.
func (c *Cursor) Order() binary.ByteOrder { return c.order }

// Seek goes to pos, an offset in data.
func (c *Cursor) Seek(pos int) {
	if pos < 0 || pos > len(c.data) {
		c.Fail("position %d is outside the %d bytes", pos, len(c.data))
		return
	}
	c.pos = pos
}

// Bytes returns the next n bytes, without copying them.
func (c *Cursor) Bytes(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.Len()) {
		c.Fail("need %d bytes, %d left", n, c.Len())
		return nil
	}
	b := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// Skip skips n bytes.
func (c *Cursor) Skip(n uint64) { c.Bytes(n) }

// U8 reads one byte.
func (c *Cursor) U8() uint8 {
	if c.err == nil && c.pos < len(c.data) {
		b := c.data[c.pos]
		c.pos++
		return b
	}
	c.Bytes(1)
	return 0
}

// U16 reads two bytes in the section's order.
func (c *Cursor) U16() uint16 {
	if b := c.Bytes(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

// U32 reads four bytes in the section's order.
func (c *Cursor) U32() uint32 {
	if b := c.Bytes(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

// U64 reads eight bytes in the section's order.
func (c *Cursor) U64() uint64 {
	if b := c.Bytes(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// Uint reads an unsigned integer of size 1, 2, 3, 4 or 8 bytes.
func (c *Cursor) Uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(c.U8())
	case 2:
		return uint64(c.U16())
	case 3:
		b := c.Bytes(3)
		if b == nil {
			return 0
		}
		if c.order == binary.ByteOrder(binary.BigEndian) {
			return uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
		}
		return uint64(b[2])<<16 | uint64(b[1])<<8 | uint64(b[0])
	case 4:
		return uint64(c.U32())
	case 8:
		return c.U64()
	}
	c.Fail("integer of %d bytes", size)
	return 0
}

// ULEB reads an unsigned LEB128. Bits above 64 must be zero.
func (c *Cursor) ULEB() uint64 {
	if c.err == nil && c.pos < len(c.data) && c.data[c.pos] < 0x80 {
		c.pos++
		return uint64(c.data[c.pos-1])
	}
	return c.uleb()
}

func (c *Cursor) uleb() uint64 {
	if c.err != nil {
		return 0
	}
	var v uint64
	start := c.pos
	for shift := uint(0); c.pos < len(c.data); shift += 7 {
		b := c.data[c.pos]
		c.pos++
		if shift >= 64 && b&0x7f != 0 || shift == 63 && b&0x7e != 0 {
			c.pos = start
			c.Fail("ULEB128 of more than 64 bits")
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.pos = start
	c.Fail("unterminated ULEB128")
	return 0
}

// SLEB reads a signed LEB128. Bits above 64 are dropped.
func (c *Cursor) SLEB() int64 {
	if c.err != nil {
		return 0
	}
	var v int64
	start := c.pos
	for shift := uint(0); c.pos < len(c.data); shift += 7 {
		b := c.data[c.pos]
		c.pos++
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.pos = start
	c.Fail("unterminated SLEB128")
	return 0
}

// CStr reads up to a NUL, which it skips. The result is not a copy.
func (c *Cursor) CStr() []byte {
	if c.err != nil {
		return nil
	}
	n := bytes.IndexByte(c.data[c.pos:], 0)
	if n < 0 {
		c.Fail("string without a NUL in %d bytes", c.Len())
		return nil
	}
	s := c.data[c.pos : c.pos+n]
	c.pos += n + 1
	return s
}

// AppendSLEB appends a signed LEB128. binary.AppendUvarint appends unsigned ones.
func AppendSLEB(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		if v >>= 7; v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// GUIDSize is the size of a GUID in bytes.
const GUIDSize = 16

// SwapGUID converts the first 16 bytes of a build-id, or a GUID as stored in a file,
// to the bytes of a GUID as printed, and back: its first three fields are numbers in
// byte order order. Short ids are padded with zeros.
func SwapGUID(id []byte, order binary.ByteOrder) (g [GUIDSize]byte) {
	copy(g[:], id)
	binary.BigEndian.PutUint32(g[:], order.Uint32(g[:]))
	binary.BigEndian.PutUint16(g[4:], order.Uint16(g[4:]))
	binary.BigEndian.PutUint16(g[6:], order.Uint16(g[6:]))
	return g
}
