package minidump

import (
	"encoding/binary"
	"unicode/utf16"
)

// builder assembles a minidump word by word. It shares no layouts with the reader; otherwise a
// wrong offset would go unnoticed.
type builder struct {
	order binary.ByteOrder
	b     []byte
	dir   []uint32 // type, size, offset of each stream
}

func newBuilder(order binary.ByteOrder) *builder {
	return &builder{order: order, b: make([]byte, 32)}
}

func (m *builder) at() uint32 { return uint32(len(m.b)) }

func (m *builder) u8(v ...uint8) *builder { m.b = append(m.b, v...); return m }

func (m *builder) u16(values ...uint16) *builder {
	for _, v := range values {
		m.b = m.order.(binary.AppendByteOrder).AppendUint16(m.b, v)
	}
	return m
}

func (m *builder) u32(values ...uint32) *builder {
	for _, v := range values {
		m.b = m.order.(binary.AppendByteOrder).AppendUint32(m.b, v)
	}
	return m
}

func (m *builder) u64(values ...uint64) *builder {
	for _, v := range values {
		m.b = m.order.(binary.AppendByteOrder).AppendUint64(m.b, v)
	}
	return m
}

func (m *builder) zeros(n int) *builder { return m.u8(make([]byte, n)...) }

// text writes a MINIDUMP_STRING and returns its offset.
func (m *builder) text(s string) uint32 {
	at := m.at()
	units := utf16.Encode([]rune(s))
	m.u32(uint32(2 * len(units))).u16(units...).u16(0)
	return at
}

// utf8 writes Crashpad's string and returns its offset.
func (m *builder) utf8(s string) uint32 {
	at := m.at()
	m.u32(uint32(len(s))).u8([]byte(s)...).u8(0)
	return at
}

// put writes bytes outside the streams and returns their size and offset.
func (m *builder) put(write func()) (size, at uint32) {
	at = m.at()
	write()
	return m.at() - at, at
}

// stream writes a stream. What the stream refers to must be written before it.
func (m *builder) stream(kind uint32, write func()) *builder {
	size, at := m.put(write)
	m.dir = append(m.dir, kind, size, at)
	return m
}

func (m *builder) finish() []byte {
	at := m.at()
	m.u32(m.dir...)
	head := builder{order: m.order}
	head.u32(0x504d444d, 0x1234a793, uint32(len(m.dir)/3), at, 0, 1_700_000_000).u64(0)
	copy(m.b, head.b)
	return m.b
}

// system writes a SystemInfo stream of a CPU and a system.
func (m *builder) system(cpu uint16, platform uint32, version string) *builder {
	csd := m.text(version)
	return m.stream(7, func() {
		m.u16(cpu, 6, 0x1a02).u8(4, 1).u32(10, 0, 19045, platform, csd).u16(0x100, 0)
		m.u8([]byte("GenuineIntel")...).u32(0x6d8, 0xafe9fbff, 0xffffffff)
	})
}

// thread writes a ThreadList of one thread.
func (m *builder) thread(id uint32, context func()) *builder {
	size, at := m.put(context)
	stack, stackAt := m.put(func() { m.u64(1, 2, 3, 4) })
	return m.stream(3, func() {
		m.u32(1, id, 1, 32, 8).u64(0x7ffd0000, 0x10000).u32(stack, stackAt, size, at)
	})
}

// module writes the entry of a ModuleList for a module.
func (m *builder) module(base uint64, size uint32, name uint32, cvSize, cv uint32) {
	m.u64(base).u32(size, 0xc5c5, 0x5f000000, name)
	m.u32(0xfeef04bd, 0x10000, 0x50001, 0xa280884, 0x60002, 0x30004).zeros(28)
	m.u32(cvSize, cv, 0, 0).u64(0, 0)
}

// crash writes an exception of a thread, with two parameters.
func (m *builder) crash(thread, code, flags uint32, address uint64, params [2]uint64, contextSize, context uint32) *builder {
	return m.stream(6, func() {
		m.u32(thread, 0, code, flags).u64(0, address).u32(2, 0).u64(params[0], params[1]).zeros(13 * 8)
		m.u32(contextSize, context)
	})
}
