package elfobj

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// fieldEdge applies relocations to fields that may begin before or end after the piece
// being read. It keeps the field while several relocations apply to it.
type fieldEdge struct {
	raw   object.Source
	off   uint64
	field []byte
	buf   [maxField]byte
}

func (e *fieldEdge) change(r *relocations, k arch.Reloc, x *relocation, rela bool, data []byte, lo uint64) error {
	if e.field == nil || e.off != x.off {
		b, err := e.raw.Bytes(int64(x.off), int64(min(maxField, uint64(r.target.Size())-x.off)), e.buf[:])
		if err != nil {
			return err
		}
		e.off, e.field = x.off, b
	}
	r.change(e.field, k, x, rela)
	width := len(e.field)
	if k.Size > 0 {
		width = min(width, int(k.Size))
	}
	field, to := e.field[:width], data
	if x.off < lo {
		field = field[min(lo-x.off, uint64(len(field))):]
	} else {
		to = data[x.off-lo:]
	}
	copy(to, field)
	return nil
}

// change applies one relocation to the field at the beginning of b.
func (r *relocations) change(b []byte, k arch.Reloc, x *relocation, rela bool) {
	if len(b) < int(k.Size) {
		return
	}
	order, size := r.target.file.Order, int(k.Size)
	value := x.addend
	if uint64(x.sym) < uint64(len(r.values)) {
		value += r.values[x.sym]
	}
	switch k.Op {
	case arch.RelocSetULEB, arch.RelocSubULEB:
		changeULEB(b, k.Op == arch.RelocSubULEB, value)
		return
	}
	old := getField(order, b, size)
	if !rela && k.Op != arch.RelocAdd && k.Op != arch.RelocSub {
		value += old
	}
	switch k.Op {
	case arch.RelocPC:
		value -= r.target.Addr + x.off
	case arch.RelocPC31:
		value = (value-r.target.Addr-x.off)&0x7fffffff | old&0x80000000
	case arch.RelocAdd:
		value = old + value
	case arch.RelocSub:
		value = old - value
	case arch.RelocSet6:
		value = old&^0x3f | value&0x3f
	case arch.RelocSub6:
		value = old&^0x3f | (old-value)&0x3f
	}
	putField(order, b, size, value)
}

// changeULEB replaces the ULEB128 at the beginning of b by one of the same length. A
// value that is too large is truncated: a subtraction will follow that makes it fit.
func changeULEB(b []byte, sub bool, value uint64) {
	n, old := 0, uint64(0)
	for {
		if n == len(b) || n == maxField {
			return
		}
		old |= uint64(b[n]&0x7f) << (7 * n)
		n++
		if b[n-1]&0x80 == 0 {
			break
		}
	}
	if sub {
		value = old - value
	}
	for i := range b[:n] {
		b[i] = b[i]&0x80 | byte(value)&0x7f
		value >>= 7
	}
}

func getField(order binary.ByteOrder, b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

func putField(order binary.ByteOrder, b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		order.PutUint16(b, uint16(v))
	case 4:
		order.PutUint32(b, uint32(v))
	default:
		order.PutUint64(b, v)
	}
}
