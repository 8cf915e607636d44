// Package inflate decompresses zlib streams (RFC 1950 and RFC 1951) into memory of the caller: debug
// sections, which are tens of megabytes and are needed before the first symbol is known.
package inflate

import (
	"encoding/binary"
	"errors"
	"hash"
	"hash/adler32"
	"io"
)

// What is wrong with a stream. One that ends too early gives io.ErrUnexpectedEOF.
var (
	ErrHeader   = errors.New("not a zlib stream, or one with a preset dictionary")
	ErrData     = errors.New("corrupt deflate data")
	ErrChecksum = errors.New("wrong checksum")
)

// Window is how far back a stream may refer to what it gave before (RFC 1951, section 2).
const Window = 32 << 10

const (
	inputSize = 64 << 10
	// The fast loop may read fastIn bytes of input and write fastOut bytes of output between two looks
	// at what is left: two loads of 8 bytes, each of which moves by 7 at most; three literals, the
	// longest match and the rest of its last 8 bytes.
	fastIn  = 16
	fastOut = 3 + 258 + 8
)

// Reader decompresses zlib streams that follow each other.
type Reader struct {
	src    io.Reader
	srcErr error
	buf    []byte // input that was read
	pos    int    // in buf

	// bits are the next bits of the input, of which count are taken from buf. Those above are what
	// buf has from pos on, or zero.
	bits  uint64
	count uint

	state  state
	last   bool // the current block is the stream's last
	length int  // what is left of a match or of a stored block
	dist   int
	given  int // bytes of this stream that were given, up to Window
	sum    hash.Hash32

	lits  [litTable]uint32
	dists [distTable]uint32
	build builder
}

type state uint8

const (
	atStream  state = iota // a stream begins
	atBlock                // a block begins
	inStored               // length bytes are copied from the input
	inCodes                // codes of a block with Huffman codes
	inMatch                // length bytes are copied from dist bytes before
	atEnd                  // the checksum
	afterLast              // nothing follows
)

// NewReader returns a Reader of the streams in src, which must not be empty. Bytes after a stream that
// begin no other one are ignored.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, 0, inputSize), sum: adler32.New()}
}

// Decode fills out from pos on, and returns the end of what it filled: before len(out) only with an
// error, which is io.EOF after the last stream. out[:pos] must end with the last Window bytes that were
// given, or with all.
func (z *Reader) Decode(out []byte, pos int) (end int, err error) {
	from := pos // what has no part in the checksum yet
	for err == nil && pos < len(out) {
		switch z.state {
		case atStream:
			err = z.header()
		case atBlock:
			err = z.block()
		case inStored:
			pos, err = z.stored(out, pos)
		case inMatch:
			pos = z.match(out, pos)
		case inCodes:
			pos, err = z.codes(out, pos, max(0, from-z.given))
		case atEnd:
			z.sum.Write(out[from:pos])
			from, z.given = pos, 0
			err = z.trailer()
		case afterLast:
			err = io.EOF
		}
	}
	z.sum.Write(out[from:pos])
	z.given = min(z.given+pos-from, Window)
	return pos, err
}

// fill makes sure that n bytes follow pos, as long as the source has them. The 8 bytes before pos stay:
// bits may have to be given back.
func (z *Reader) fill(n int) {
	if len(z.buf)-z.pos >= n || z.srcErr != nil {
		return
	}
	keep := max(0, z.pos-8)
	z.buf = z.buf[:copy(z.buf[:cap(z.buf)], z.buf[keep:])]
	z.pos -= keep
	for len(z.buf)-z.pos < n && z.srcErr == nil {
		var got int
		got, z.srcErr = z.src.Read(z.buf[len(z.buf):cap(z.buf)])
		z.buf = z.buf[:len(z.buf)+got]
	}
}

// need makes sure that bits has 56 bits, as long as the input has them. Behind its end are zeros.
func (z *Reader) need() {
	z.fill(8)
	z.bits &= 1<<z.count - 1
	for z.count < 56 && z.pos < len(z.buf) {
		z.bits |= uint64(z.buf[z.pos]) << z.count
		z.pos++
		z.count += 8
	}
}

// take returns the next n bits, which need has made sure of.
func (z *Reader) take(n uint) (v uint, err error) {
	if z.count < n {
		return 0, z.short()
	}
	v = uint(z.bits & (1<<n - 1))
	z.bits >>= n
	z.count -= n
	return v, nil
}

// short returns the error of an input that is too short.
func (z *Reader) short() error {
	if z.srcErr == nil || z.srcErr == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return z.srcErr
}

// align drops the rest of a byte, and gives back the bytes of bits.
func (z *Reader) align() {
	z.pos -= int(z.count / 8)
	z.bits, z.count = 0, 0
}

// header reads the two bytes before a stream (RFC 1950, section 2.2).
func (z *Reader) header() error {
	z.fill(2)
	b := z.buf[z.pos:]
	if len(b) < 2 {
		return z.short()
	}
	head := binary.BigEndian.Uint16(b)
	if head>>8&15 != 8 || head>>12 > 7 || head%31 != 0 || head&0x20 != 0 {
		return ErrHeader
	}
	z.pos += 2
	z.state = atBlock
	return nil
}

// trailer checks the sum after a stream, and looks for another one.
func (z *Reader) trailer() error {
	z.align()
	z.fill(6)
	b := z.buf[z.pos:]
	if len(b) < 4 {
		return z.short()
	}
	if binary.BigEndian.Uint32(b) != z.sum.Sum32() {
		return ErrChecksum
	}
	z.pos += 4
	z.sum.Reset()
	if z.header() != nil {
		z.state = afterLast
	}
	return nil
}

// block reads the header of a block (RFC 1951, section 3.2.3).
func (z *Reader) block() error {
	if z.last {
		z.last, z.state = false, atEnd
		return nil
	}
	z.need()
	head, err := z.take(3)
	if err != nil {
		return err
	}
	z.last = head&1 != 0
	switch head >> 1 {
	case 0:
		z.align()
		z.fill(4)
		b := z.buf[z.pos:]
		if len(b) < 4 {
			return z.short()
		}
		n := binary.LittleEndian.Uint16(b)
		if binary.LittleEndian.Uint16(b[2:]) != ^n {
			return ErrData
		}
		z.pos += 4
		z.length, z.state = int(n), inStored
		return nil
	case 1:
		z.state = inCodes
		return z.fixed()
	case 2:
		z.state = inCodes
		return z.dynamic()
	}
	return ErrData
}

// stored copies from the input.
func (z *Reader) stored(out []byte, pos int) (int, error) {
	z.fill(1)
	n := copy(out[pos:min(len(out), pos+z.length)], z.buf[z.pos:])
	if n == 0 && z.length > 0 {
		return pos, z.short()
	}
	z.pos += n
	if z.length -= n; z.length == 0 {
		z.state = atBlock
	}
	return pos + n, nil
}

// match copies what is left of a match.
func (z *Reader) match(out []byte, pos int) int {
	end := min(len(out), pos+z.length)
	z.length -= end - pos
	for ; pos < end; pos++ {
		out[pos] = out[pos-z.dist]
	}
	if z.length == 0 {
		z.state = inCodes
	}
	return pos
}

// codes reads codes up to the end of their block, or until out is full. What the stream gave begins at
// first.
func (z *Reader) codes(out []byte, pos, first int) (int, error) {
	for pos < len(out) && z.state == inCodes {
		z.fill(fastIn)
		if len(z.buf)-z.pos >= fastIn && len(out)-pos >= fastOut {
			var err error
			if pos, err = z.fast(out, pos, first); err != nil || z.state != inCodes {
				return pos, err
			}
			continue
		}
		e, err := z.symbol(z.lits[:], litBits)
		switch {
		case err != nil:
			return pos, err
		case e&isLiteral != 0:
			out[pos] = byte(e >> 16)
			pos++
		case e&isEnd != 0:
			z.state = atBlock
		default:
			z.length, z.dist, err = z.pair(e)
			if err == nil && z.dist > pos-first {
				err = ErrData
			}
			if err != nil {
				return pos, err
			}
			z.state = inMatch
		}
	}
	return pos, nil
}

// symbol reads a code with a table whose first level has size bits, and returns its entry, of which the
// extra bits are not taken.
func (z *Reader) symbol(table []uint32, size uint) (uint32, error) {
	z.need()
	e := table[z.bits&(1<<size-1)]
	if e&isSpecial != 0 && e&isTable != 0 {
		if _, err := z.take(size); err != nil {
			return 0, err
		}
		e = table[uint64(e>>8&maxIndex)+z.bits&(1<<(e&15)-1)]
	}
	if e&isSpecial != 0 && e&isEnd == 0 {
		if z.count < maxCode {
			return 0, z.short() // the zeros after the end need not be a code
		}
		return 0, ErrData
	}
	_, err := z.take(uint(e >> 8 & 15))
	return e, err
}

// pair reads the rest of a match whose length begins with an entry.
func (z *Reader) pair(e uint32) (length, dist int, err error) {
	extra, err := z.take(uint(e&31 - e>>8&15))
	if err != nil {
		return 0, 0, err
	}
	d, err := z.symbol(z.dists[:], distBits)
	if err != nil {
		return 0, 0, err
	}
	far, err := z.take(uint(d&31 - d>>8&15))
	return int(e>>16&0x1ff) + int(extra), int(d>>16&0x7fff) + int(far), err
}
