package unpack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// lzma2Reader reads LZMA2 data: chunks, of which each is compressed by LZMA or not at all (The .xz file format 5.3.1,
// the "LZMA specification", and for the chunks the comments of liblzma's decoder).
type lzma2Reader struct {
	in     *bufio.Reader
	n      int64  // bytes read of in
	dict   int    // how far back a match reaches, in bytes
	window []byte // what was unpacked last: at least dict bytes, if there were as many
	base   int    // in window: the start of what matches may refer to
	read   int    // in window: the start of what Read has not returned
	packed []byte // a chunk
	lzma   lzmaState
	begun  bool // there was a chunk that resets the dictionary
	known  bool // the properties of LZMA
	ended  bool
}

// The control byte of a chunk.
const (
	chunkEnd        = 0x00
	chunkPlainReset = 0x01 // not compressed; resets the dictionary
	chunkPlain      = 0x02 // not compressed
	chunkLZMA       = 0x80 // from here on
	chunkState      = 0xa0 // from here on, resets the state
	chunkProperties = 0xc0 // from here on, has new properties, too
	chunkReset      = 0xe0 // from here on, resets the dictionary, too
)

const (
	maxPacked   = 1 << 16 // bytes of a chunk
	maxUnpacked = 1 << 21
)

var errLZMA = errors.New("damaged LZMA2 data")

func newLZMA2Reader(in *bufio.Reader, dict int) *lzma2Reader {
	return &lzma2Reader{in: in, dict: dict}
}

// Read implements io.Reader.
func (z *lzma2Reader) Read(p []byte) (int, error) {
	for z.read == len(z.window) {
		if z.ended {
			return 0, io.EOF
		}
		if err := z.chunk(); err != nil {
			return 0, within(err)
		}
	}
	n := copy(p, z.window[z.read:])
	z.read += n
	return n, nil
}

// chunk reads a chunk.
func (z *lzma2Reader) chunk() error {
	control, err := z.in.ReadByte()
	if err != nil {
		return err
	}
	z.n++
	switch {
	case control == chunkEnd:
		z.ended = true
		return nil
	case control > chunkPlain && control < chunkLZMA:
		return errLZMA
	case control == chunkPlainReset || control >= chunkReset:
		z.base, z.begun, z.known = len(z.window), true, false
		z.lzma.total = 0
	}
	if !z.begun {
		return errLZMA
	}
	if control < chunkLZMA {
		return z.plain()
	}
	return z.compressed(control)
}

// plain reads a chunk that is not compressed.
func (z *lzma2Reader) plain() error {
	head, err := z.take(2)
	if err != nil {
		return err
	}
	size := int(binary.BigEndian.Uint16(head)) + 1
	to := z.room(size)
	if _, err := io.ReadFull(z.in, to); err != nil {
		return err
	}
	z.n += int64(size)
	z.window = z.window[:len(z.window)+size]
	z.lzma.total += uint32(size)
	return nil
}

// compressed reads a chunk that is compressed by LZMA.
func (z *lzma2Reader) compressed(control byte) error {
	head, err := z.take(4)
	if err != nil {
		return err
	}
	size := int(control&0x1f)<<16 + int(binary.BigEndian.Uint16(head)) + 1
	packed := int(binary.BigEndian.Uint16(head[2:])) + 1
	switch {
	case control >= chunkProperties:
		properties, err := z.take(1)
		if err != nil {
			return err
		}
		if !z.lzma.setProperties(properties[0]) {
			return errLZMA
		}
		z.known = true
	case !z.known:
		return errLZMA
	case control >= chunkState:
		z.lzma.reset()
	}
	in, err := z.take(packed)
	if err != nil {
		return err
	}
	z.room(size)
	if len(in) < 5 || !z.lzma.bits.start(in[:packed+symbolBytes]) || !z.lzma.decode(z, size, packed) {
		return errLZMA
	}
	return nil
}

// take reads n bytes, which are valid until the next call. Zeros follow them.
func (z *lzma2Reader) take(n int) ([]byte, error) {
	if z.packed == nil {
		z.packed = make([]byte, maxPacked+symbolBytes)
	}
	if _, err := io.ReadFull(z.in, z.packed[:n]); err != nil {
		return nil, err
	}
	z.n += int64(n)
	clear(z.packed[n : n+symbolBytes])
	return z.packed[:n], nil
}

// room makes room for n more bytes in the window, which it returns. Of what was read before, the dictionary stays. The
// window grows with what is unpacked, up to one and a half dictionaries and a chunk.
func (z *lzma2Reader) room(n int) []byte {
	have := len(z.window)
	if have+n <= cap(z.window) {
		return z.window[have : have+n]
	}
	keep := min(z.dict, have-z.base)
	old := z.window[have-keep:]
	if most := z.dict + z.dict/2 + maxUnpacked; cap(z.window) < most {
		z.window = make([]byte, keep, min(most, 2*(keep+n)))
	}
	z.window = z.window[:copy(z.window[:keep], old)]
	z.base, z.read = 0, keep
	return z.window[keep : keep+n]
}
