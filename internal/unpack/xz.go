package unpack

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
)

// xzReader reads the streams of an xz file (the .xz file format 1.2.0).
type xzReader struct {
	in     *bufio.Reader
	stream bool         // within a stream
	check  byte         // kind of check of the stream's blocks
	block  *lzma2Reader // nil between blocks
	sum    hash.Hash    // of the block's contents; nil without a check that is known
	err    error
}

const (
	xzMagic      = "\xfd7zXZ\x00"
	xzHeaderSize = 12 // of a stream
	xzFooterSize = 12

	xzLZMA2 = 0x21 // filter (5.3.1)

	// maxXZDictionary is the largest dictionary that is accepted: that of "xz -9".
	maxXZDictionary = 64 << 20
)

var (
	errXZHeader = errors.New("damaged header")
	errXZCheck  = errors.New("the contents do not have their checksum")
)

// xzCheckSizes are the sizes of checks by kind (2.1.1.2).
var xzCheckSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// counter counts the bytes of an index.
type counter struct {
	r *bufio.Reader
	n int64
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// Read implements io.Reader.
func (x *xzReader) Read(p []byte) (n int, err error) {
	for n == 0 && x.err == nil && len(p) > 0 {
		if x.block == nil {
			x.err = x.next()
			continue
		}
		n, err = x.block.Read(p)
		if x.sum != nil {
			x.sum.Write(p[:n])
		}
		if errors.Is(err, io.EOF) {
			err = x.endBlock()
		}
		x.err = err
	}
	if n > 0 {
		return n, nil
	}
	return 0, x.err
}

// next begins the next block. The error is io.EOF after the last stream.
func (x *xzReader) next() error {
	for {
		if !x.stream {
			if err := x.beginStream(); err != nil {
				return err
			}
		}
		size, err := x.in.ReadByte()
		if err != nil {
			return within(err)
		}
		if size != 0 {
			return within(x.beginBlock(size))
		}
		if err := x.endStream(); err != nil {
			return within(err)
		}
	}
}

// within returns the error of data that ends before its time.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// beginStream reads a stream's header, and padding before it.
func (x *xzReader) beginStream() error {
	for {
		pad, err := x.in.Peek(4)
		if len(pad) == 0 {
			return err
		}
		if !bytes.Equal(pad, make([]byte, 4)) {
			break
		}
		x.in.Discard(len(pad))
	}
	head := make([]byte, xzHeaderSize)
	if _, err := io.ReadFull(x.in, head); err != nil {
		return within(err)
	}
	if string(head[:len(xzMagic)]) != xzMagic || !checked(head[len(xzMagic):]) {
		return errXZHeader
	}
	x.check, x.stream = head[7]&0x0f, true
	return nil
}

// checked reports whether bytes end with their CRC32.
func checked(b []byte) bool {
	n := len(b) - 4
	return crc32.ChecksumIEEE(b[:n]) == binary.LittleEndian.Uint32(b[n:])
}

// beginBlock reads a block's header (3.1), whose size is encoded in its first byte.
func (x *xzReader) beginBlock(size byte) error {
	head := make([]byte, (int(size)+1)*4)
	head[0] = size
	if _, err := io.ReadFull(x.in, head[1:]); err != nil {
		return err
	}
	if !checked(head) {
		return errXZHeader
	}
	dict, err := xzDictionary(head[1 : len(head)-4])
	if err != nil {
		return err
	}
	x.sum = newXZSum(x.check)
	x.block = newLZMA2Reader(x.in, dict)
	return nil
}

func newXZSum(check byte) hash.Hash {
	switch check {
	case 1:
		return crc32.NewIEEE()
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		return sha256.New()
	}
	return nil
}

// xzDictionary returns the size of the dictionary that a block's header, from its flags on, asks
// for.
func xzDictionary(head []byte) (int, error) {
	flags := head[0]
	numbers := make([]uint64, 0, 4)
	want := 2 // the filter and the size of its properties
	for _, has := range []byte{0x40, 0x80} {
		if flags&has != 0 {
			want++ // a size of the block
		}
	}
	head = head[1:]
	for range want {
		v, n := binary.Uvarint(head)
		if n <= 0 {
			return 0, errXZHeader
		}
		numbers, head = append(numbers, v), head[n:]
	}
	filter, properties := numbers[want-2], numbers[want-1]
	switch {
	case flags&0x03 != 0 || filter != xzLZMA2:
		return 0, fmt.Errorf("filter %#x, want only LZMA2 (%#x)", filter, xzLZMA2)
	case properties != 1 || len(head) == 0:
		return 0, errXZHeader
	}
	bits := head[0]
	if bits > 40 {
		return 0, errXZHeader
	}
	dict := int64(2|bits&1) << (bits/2 + 11) // 5.3.1
	if bits == 40 {
		dict = 1<<32 - 1
	}
	if dict > maxXZDictionary {
		return 0, fmt.Errorf("a dictionary of %d bytes, want at most %d", dict, maxXZDictionary)
	}
	return int(dict), nil
}

// endBlock reads the padding and the check after a block (3.3, 3.4).
func (x *xzReader) endBlock() error {
	check := xzCheckSizes[x.check]
	rest := make([]byte, int(-x.block.n&3)+check)
	if _, err := io.ReadFull(x.in, rest); err != nil {
		return within(err)
	}
	x.block = nil
	if x.sum == nil {
		return nil
	}
	got := x.sum.Sum(nil)
	if x.sum.Size() < sha256.Size { // CRCs are little-endian
		for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
			got[i], got[j] = got[j], got[i]
		}
	}
	if !bytes.Equal(got, rest[len(rest)-check:]) {
		return errXZCheck
	}
	return nil
}

// endStream skips the index, whose first byte was read, and the stream's footer (4, 2.1.2).
func (x *xzReader) endStream() error {
	c := &counter{x.in, 1}
	records, err := binary.ReadUvarint(c)
	if err != nil {
		return err
	}
	for ; records > 0; records-- {
		for range 2 {
			if _, err := binary.ReadUvarint(c); err != nil {
				return err
			}
		}
	}
	x.stream = false
	_, err = x.in.Discard(int(-c.n&3) + crc32.Size + xzFooterSize)
	return err
}
