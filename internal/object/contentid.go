package object

import (
	"crypto/sha256"
	"io"
)

const (
	idSize = 16   // of an id made from code
	hashed = 4096 // bytes of a section that Breakpad hashes
)

// ContentID returns the id of a file without an id of its build. text is the section that holds code by its name, or
// nil, and code are the parts of the file that hold code by their flags.
//
// If text has bytes, the id is as Breakpad makes it for ELF files: the first 4096 bytes, XORed in steps of 16 bytes. For
// all other files Breakpad has none: it is CodeHash's.
func ContentID(text *Section, in *Input, code []Range) []byte {
	if text == nil || !text.HasData() {
		return CodeHash(in, code)
	}
	src, err := text.Open()
	if err != nil {
		return nil
	}
	data, err := src.Bytes(0, min(src.Size(), hashed), nil)
	if err != nil {
		return nil
	}
	return XORHash(data)
}

// XORHash returns the 16-byte pieces of data, of which the last may be shorter, XORed.
func XORHash(data []byte) []byte {
	id := make([]byte, idSize)
	for i, b := range data {
		id[i%idSize] ^= b
	}
	return id
}

// CodeHash returns the first 16 bytes of the SHA-256 of parts of a file, given by their offsets, or nil if there are
// none or one cannot be read. Parts of damaged files may overlap: no more bytes are hashed than the file has.
func CodeHash(in *Input, parts []Range) []byte {
	sum, left := sha256.New(), uint64(in.Size)
	for _, p := range parts {
		size := p.End - p.Start
		if p.End < p.Start || size > left {
			return nil
		}
		left -= size
		if !copyPart(sum, in, p) {
			return nil
		}
	}
	if left == uint64(in.Size) {
		return nil
	}
	return sum.Sum(nil)[:idSize]
}

// copyPart writes a part of a file, and reports whether all of it could be read.
func copyPart(w io.Writer, in *Input, p Range) bool {
	var buf [32 << 10]byte
	for p.Start < p.End {
		n := min(p.End-p.Start, uint64(len(buf)))
		if in.ReadAt(buf[:n], int64(p.Start)) != nil {
			return false
		}
		w.Write(buf[:n]) // a hash does not fail
		p.Start += n
	}
	return true
}
