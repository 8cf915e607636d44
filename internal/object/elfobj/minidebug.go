package elfobj

import (
	"bytes"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/xz"
)

// miniDebugSection holds MiniDebugInfo: an ELF file compressed with xz that has
// the symbols of .symtab that are not in .dynsym, and on some processors
// .debug_frame (GDB manual, "MiniDebugInfo").
const miniDebugSection = ".gnu_debugdata"

// Embedded implements object.Container: it opens the ELF file in .gnu_debugdata or, without that section, one made
// from Go's table of functions. The file's Path is that of f followed by "(.gnu_debugdata)" or "(.gopclntab)". Its
// bytes count towards the limits of f for as long as f is open, even after it is closed; in addition, its sections
// may take the size of the embedded file. Errors are *bin.Error.
func (f *File) Embedded() (*object.File, error) {
	s := f.Header(miniDebugSection)
	if s == nil || !s.HasData() {
		return f.goSymbols()
	}
	packed, err := s.Data()
	if err != nil {
		return nil, err
	}
	var data []byte
	err = f.in.Guard(miniDebugSection, func() error {
		data, err = s.unpackXZ(packed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.openEmbedded(data, miniDebugSection)
}

// unpackXZ decompresses packed, the section's contents. An xz file ends with an index
// of its blocks, so the total size is known before the first is decompressed.
func (s *Section) unpackXZ(packed []byte) ([]byte, error) {
	size, err := s.xzSize(packed)
	if err != nil {
		return nil, err
	}
	limit := s.file.in.Limits.HeldBytes(s.file.Size)
	if size > uint64(limit) || !s.file.in.Held.Take(int64(size)) {
		return nil, s.errorf(0, "%d bytes of xz contents would exceed the limit of %d bytes in memory for a file of %d bytes",
			size, limit, s.file.Size)
	}
	data, err := s.readXZ(packed, int64(size))
	if err != nil {
		s.file.in.Held.Give(int64(size))
		return nil, err
	}
	return data, nil
}

// readXZ reads exactly size bytes. Memory grows with the data read, as the size in
// an index may be wrong.
func (s *Section) readXZ(packed []byte, size int64) ([]byte, error) {
	r, err := xz.NewReader(bytes.NewReader(packed))
	var data []byte
	if err == nil {
		defer r.Close()
		data, err = bin.ReadUpTo(r, size+1)
	}
	switch {
	case err != nil:
		return nil, s.piece.Wrap(0, err, "xz data")
	case int64(len(data)) != size:
		return nil, s.errorf(0, "xz data of %d bytes, its index says %d", len(data), size)
	}
	return data, nil
}

// Sizes in the xz file format 1.2.0, sections 2.1.1 and 2.1.2.
const (
	xzHeader = 12
	xzFooter = 12
)

// xzSize returns the size of the decompressed contents of an xz file. It reads the index of
// each stream, from the last to the first, as a stream is found by its end.
func (s *Section) xzSize(packed []byte) (size uint64, err error) {
	for end := len(packed); ; {
		for end >= 4 && [4]byte(packed[end-4:end]) == [4]byte{} {
			end -= 4 // stream padding
		}
		start, plain, err := s.xzStream(packed, end)
		if err != nil {
			return 0, err
		}
		if size += plain; size > maxPlain {
			return 0, s.errorf(uint64(start), "damaged xz index")
		}
		if end = start; end == 0 {
			return size, nil
		}
	}
}

// maxPlain is more than the size of any file.
const maxPlain = 1 << 62

// xzStream returns the start of the stream that ends at end, and the size of its contents.
func (s *Section) xzStream(packed []byte, end int) (start int, plain uint64, err error) {
	foot := end - xzFooter
	if foot < xzHeader || string(packed[end-2:end]) != "YZ" {
		return 0, 0, s.errorf(uint64(end), "want the end of an xz stream")
	}
	v := &xzCursor{packed, foot + 4, end}
	size := int64(v.u32())
	index := int64(foot) - (size+1)*4
	if index < xzHeader {
		return 0, 0, s.errorf(uint64(foot), "xz index of %d bytes, %d are there", (size+1)*4, foot-xzHeader)
	}
	v = &xzCursor{packed, int(index), foot}
	if v.u8() != 0 {
		return 0, 0, s.errorf(uint64(index), "want an xz index")
	}
	blocks := uint64(0)
	for n := v.vli(); n > 0 && v.ok(); n-- {
		size := (v.vli() + 3) &^ 3
		blocks += size
		contents := v.vli()
		plain += contents
		if size == 0 || blocks > uint64(index) || contents > maxPlain || plain > maxPlain {
			v.pos = -1
		}
	}
	if !v.ok() || blocks+xzHeader > uint64(index) {
		return 0, 0, s.errorf(uint64(index), "damaged xz index")
	}
	return int(uint64(index)-blocks) - xzHeader, plain, nil
}

// xzCursor reads numbers of the xz format, which are little-endian in any file.
type xzCursor struct {
	data []byte
	pos  int // -1 after a failure
	end  int
}

func (v *xzCursor) ok() bool { return v.pos >= 0 }

func (v *xzCursor) u8() byte {
	if v.pos < 0 || v.pos >= v.end {
		v.pos = -1
		return 0
	}
	v.pos++
	return v.data[v.pos-1]
}

func (v *xzCursor) u32() uint32 {
	return uint32(v.u8()) | uint32(v.u8())<<8 | uint32(v.u8())<<16 | uint32(v.u8())<<24
}

// vli reads a variable-length integer of at most 9 bytes (section 1.2).
func (v *xzCursor) vli() (n uint64) {
	for i := 0; i < 9; i++ {
		b := v.u8()
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			return n
		}
	}
	v.pos = -1
	return 0
}
