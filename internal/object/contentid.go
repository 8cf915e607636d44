package object

import (
	"crypto/sha256"
	"io"
)

const (
	idSize = 16   // of an id made from code
	hashed = 4096 // bytes of a section that Breakpad hashes
)

// ContentID returns the id of a file that has no id of its build. text is the section that holds code according to
// its name, or nil; code lists the parts of the file that hold code according to their flags.
//
// If text has bytes, the id is the one that Breakpad makes for ELF files: the first 4096 bytes, XORed in steps of 16
// bytes. For other files Breakpad makes no id; ContentID then returns CodeHash's.
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

// XORHash returns the XOR of the 16-byte pieces of data, the last of which may be shorter.
func XORHash(data []byte) []byte {
	id := make([]byte, idSize)
	for i, b := range data {
		id[i%idSize] ^= b
	}
	return id
}

// CodeHash returns the first 16 bytes of the SHA-256 of the given parts of a file, by offset. It returns nil if
// there are none or one cannot be read. Parts of damaged files may overlap, so it hashes no more bytes than the file
// has.
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

// copyPart writes a part of a file to w. It reports whether all of it could be read.
func copyPart(w io.Writer, in *Input, p Range) bool {
	var buf [32 << 10]byte
	for p.Start < p.End {
		n := min(p.End-p.Start, uint64(len(buf)))
		if in.ReadAt(buf[:n], int64(p.Start)) != nil {
			return false
		}
		w.Write(buf[:n]) // writing to a hash never fails
		p.Start += n
	}
	return true
}
