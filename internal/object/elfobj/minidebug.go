package elfobj

import (
	"bytes"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// miniDebugSection holds MiniDebugInfo: an ELF file compressed with xz, which has
// the symbols of .symtab that are not in .dynsym, and on some processors
// .debug_frame (GDB manual, "MiniDebugInfo").
const miniDebugSection = ".gnu_debugdata"

// maxDictionary is the largest dictionary of an xz block that is accepted, in
// bytes. It is that of "xz -9"; distributions use 8 MiB.
const maxDictionary = 64 << 20

// MiniDebug opens the ELF file in .gnu_debugdata; it returns nil without the section.
// The file's Path is that of f followed by "(.gnu_debugdata)". Its bytes count
// towards the limits of f for as long as f is open; its sections may in addition take
// the file's own size. Closing it gives nothing back. Errors are *bin.Error.
func (f *File) MiniDebug() (*File, error) {
	s := f.Section(miniDebugSection)
	if s == nil || !s.HasData() {
		return nil, nil
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
	lim := f.in.Limits
	lim.HeldRatio, lim.DiskRatio, lim.Core = 1, 1, false
	inner, err := NewFile(object.Memory(data), int64(len(data)), f.Path+"("+miniDebugSection+")", lim)
	if err != nil {
		return nil, err
	}
	if err := checkKind(f, inner); err != nil {
		return nil, err
	}
	return inner, nil
}

// unpackXZ decompresses packed, the section's contents. An xz file ends with an
// index of its blocks, from which the cost is known before the first is decompressed.
func (s *Section) unpackXZ(packed []byte) ([]byte, error) {
	cost, err := s.xzCost(packed)
	if err != nil {
		return nil, err
	}
	limit := s.file.in.Limits.HeldBytes(s.file.Size)
	if cost.dicts > uint64(limit)+maxDictionary {
		return nil, s.errorf(0, "the dictionaries of %d xz blocks take %d bytes", cost.blocks, cost.dicts)
	}
	if cost.plain > uint64(limit) || !s.file.in.Held.Take(int64(cost.plain)) {
		return nil, s.errorf(0, "%d bytes of xz contents would exceed the limit of %d bytes in memory for a file of %d bytes",
			cost.plain, limit, s.file.Size)
	}
	data, err := s.readXZ(packed, int64(cost.plain))
	if err != nil {
		s.file.in.Held.Give(int64(cost.plain))
		return nil, err
	}
	return data, nil
}

// readXZ reads exactly size bytes. Memory grows with the data that was read, as the
// size in an index may be wrong.
func (s *Section) readXZ(packed []byte, size int64) ([]byte, error) {
	in := bytes.NewReader(packed)
	r, err := xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(in)
	var data []byte
	if err == nil {
		data, err = bin.ReadUpTo(r, size+1)
	}
	switch {
	case err != nil:
		return nil, s.piece.Wrap(uint64(len(packed)-in.Len()), err, "xz data")
	case int64(len(data)) != size:
		return nil, s.errorf(0, "xz data of %d bytes, its index says %d", len(data), size)
	}
	return data, nil
}

// xzCost is the memory that the blocks of an xz file need.
type xzCost struct {
	blocks uint64
	plain  uint64 // bytes of contents
	dicts  uint64 // bytes of all dictionaries, one after the other
}

// Sizes in the xz file format 1.2.0, sections 2.1.1 and 2.1.2.
const (
	xzHeader = 12
	xzFooter = 12
)

// xzCost reads the index of each stream, from the last to the first, as a stream is
// found by its end.
func (s *Section) xzCost(packed []byte) (xzCost, error) {
	var cost xzCost
	for end := len(packed); ; {
		for end >= 4 && [4]byte(packed[end-4:end]) == [4]byte{} {
			end -= 4 // stream padding
		}
		if end == 0 && cost.blocks > 0 {
			return cost, nil
		}
		start, err := s.xzStream(packed, end, &cost)
		if err != nil {
			return cost, err
		}
		if end = start; end == 0 {
			return cost, nil
		}
	}
}

// xzStream adds the cost of the stream that ends at end, and returns where it starts.
func (s *Section) xzStream(packed []byte, end int, cost *xzCost) (start int, err error) {
	foot := end - xzFooter
	if foot < xzHeader || string(packed[end-2:end]) != "YZ" {
		return 0, s.errorf(uint64(end), "want the end of an xz stream")
	}
	v := &xzCursor{packed, foot + 4, end}
	size := int64(v.u32())
	index := int64(foot) - (size+1)*4
	if index < xzHeader {
		return 0, s.errorf(uint64(foot), "xz index of %d bytes, %d are there", (size+1)*4, foot-xzHeader)
	}
	v = &xzCursor{packed, int(index), foot}
	if v.u8() != 0 {
		return 0, s.errorf(uint64(index), "want an xz index")
	}
	type block struct{ packed, plain uint64 }
	var blocks []block
	var total uint64
	for n := v.vli(); n > 0 && v.ok(); n-- {
		b := block{(v.vli() + 3) &^ 3, v.vli()}
		total += b.packed
		if !v.ok() || total > uint64(index) || b.packed == 0 || b.plain > 1<<62 || cost.plain+b.plain > 1<<62 {
			return 0, s.errorf(uint64(index), "damaged xz index")
		}
		cost.plain += b.plain
		blocks = append(blocks, b)
	}
	if !v.ok() || total+xzHeader > uint64(index) {
		return 0, s.errorf(uint64(index), "damaged xz index")
	}
	at := int(uint64(index) - total)
	for _, b := range blocks {
		dict, err := s.xzDictionary(packed[at : at+int(b.packed)])
		if err != nil {
			err.Offset += uint64(at)
			return 0, err
		}
		cost.blocks++
		cost.dicts += dict
		at += int(b.packed)
	}
	return int(uint64(index)-total) - xzHeader, nil
}

// Section 5.3.1, and bits of the block flags, section 3.1.2.
const (
	xzLZMA2            = 0x21
	xzFilters          = 0x03
	xzHasPackedSize    = 0x40
	xzHasPlainSize     = 0x80
	xzLargestDict      = 40
	xzSmallestDictBits = 11
)

// xzDictionary returns the size of the dictionary that the block asks for.
func (s *Section) xzDictionary(block []byte) (uint64, *bin.Error) {
	v := &xzCursor{block, 0, len(block)}
	head := (int(v.u8()) + 1) * 4
	v.end = min(head, v.end)
	flags := v.u8()
	for _, has := range []byte{xzHasPackedSize, xzHasPlainSize} {
		if flags&has != 0 {
			v.vli()
		}
	}
	if flags&xzFilters != 0 {
		return 0, s.errorf(0, "an xz filter other than LZMA2 is not supported")
	}
	id, size, dict := v.vli(), v.vli(), v.u8()
	switch {
	case !v.ok():
		return 0, s.errorf(0, "damaged xz block header")
	case id != xzLZMA2 || size != 1:
		return 0, s.errorf(0, "xz filter %#x with %d bytes of properties, want LZMA2 (0x21) with 1", id, size)
	case dict > xzLargestDict:
		return 0, s.errorf(0, "LZMA2 dictionary of size %#x, want at most %#x", dict, xzLargestDict)
	}
	bytes := uint64(2|dict&1) << (xzSmallestDictBits + dict/2)
	if bytes > maxDictionary {
		return 0, s.errorf(0, "LZMA2 dictionary of %d bytes, over the limit of %d", bytes, maxDictionary)
	}
	return bytes, nil
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
