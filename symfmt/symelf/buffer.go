package symelf

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/bin"
)

// byteOrder is a byte order that can also append.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// buffer holds the contents of a section being made.
type buffer struct {
	b     []byte
	order byteOrder
	ptr   int // size of an address in bytes
}

func (w *buffer) u8(v ...byte)        { w.b = append(w.b, v...) }
func (w *buffer) u16(v uint16)        { w.b = w.order.AppendUint16(w.b, v) }
func (w *buffer) u32(v uint32)        { w.b = w.order.AppendUint32(w.b, v) }
func (w *buffer) u64(v uint64)        { w.b = w.order.AppendUint64(w.b, v) }
func (w *buffer) uleb(v uint64)       { w.b = binary.AppendUvarint(w.b, v) }
func (w *buffer) bytes(b []byte)      { w.b = append(w.b, b...) }
func (w *buffer) put32(at int, v int) { w.order.PutUint32(w.b[at:], uint32(v)) }

// addr writes an address in the size of the ELF class.
func (w *buffer) addr(v uint64) {
	if w.ptr == 4 {
		w.u32(uint32(v))
	} else {
		w.u64(v)
	}
}

// word writes a number in the size of the ELF class, such as a size in an ELF header.
func (w *buffer) word(v uint64) { w.addr(v) }

func (w *buffer) sleb(v int64) { w.b = bin.AppendSLEB(w.b, v) }

// align pads with zeros to a multiple of n.
func (w *buffer) align(n int) {
	for len(w.b)%n != 0 {
		w.b = append(w.b, 0)
	}
}

// stringTable is a string section: each string once, NUL-terminated.
type stringTable struct {
	b  []byte
	at map[string]uint32
}

// add returns the offset of s. Strings contain no NUL: symfmt.CleanName removes it.
func (t *stringTable) add(s string) uint32 {
	if off, ok := t.at[s]; ok {
		return off
	}
	if t.at == nil {
		t.at = make(map[string]uint32)
	}
	off := uint32(len(t.b))
	t.b = append(append(t.b, s...), 0)
	t.at[s] = off
	return off
}
