package binary

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/symfmt"
)

// fdeEntry is an entry of .eh_frame_hdr's table. Addresses are the binary's.
type fdeEntry struct {
	start, fde uint64
	size       uint64 // 0 if it cannot be read
}

// Pointer encodings (LSB 5.0 core, 10.5).
const (
	encOmit   = 0xff
	encUData4 = 0x03
	encSData4 = 0x0b
	encSData8 = 0x0c
	encPCRel  = 0x10
	encData   = 0x30
)

// checkFDEs compares the table of .eh_frame_hdr with STACK CFI INIT.
var checkFDEs = sharedWithBinary(func(p *check.Pass, b *check.Image) {
	rows := b.Rows()
	for _, e := range fdeTable(b) {
		rva := b.RVA(e.start)
		i, ok := slices.BinarySearchFunc(rows.Blocks, rva, func(b follow.Block, at symfmt.RVA) int { return cmp.Compare(b.RVA, at) })
		if !ok {
			if e.size > 0 || rows.Block(rva) == nil {
				p.As("SYM507", func() { reportLostFDE(p, rows, rva, &e) })
			}
			continue
		}
		block := &rows.Blocks[i]
		if e.size != 0 && block.Size != e.size && !sameRange(rows.Blocks[i:], e.size) {
			p.As("SYM508", func() {
				p.ReportLine(int(block.Line), "STACK CFI INIT at 0x%x has 0x%x bytes, the FDE at 0x%x of .eh_frame has 0x%x", uint64(rva), block.Size, e.fde, e.size)
			})
		}
	}
})

// sameRange reports whether one of the blocks at the first block's address has the given size, or
// several blocks without gaps fill it: an FDE that overlaps another may have been cut.
func sameRange(blocks []follow.Block, size uint64) bool {
	start, end := uint64(blocks[0].RVA), uint64(blocks[0].RVA)
	for i := range blocks {
		b := &blocks[i]
		if uint64(b.RVA) == start && b.Size == size {
			return true
		}
		if uint64(b.RVA) > end {
			return false
		}
		if end = max(end, uint64(b.RVA)+b.Size); end-start >= size {
			return end-start == size
		}
	}
	return false
}

func reportLostFDE(p *check.Pass, rows *follow.Table, rva symfmt.RVA, e *fdeEntry) {
	if b := rows.Block(rva); b != nil {
		p.ReportAt(int(b.Line), rva, "the FDE at 0x%x of .eh_frame begins at 0x%x, where a STACK CFI INIT of 0x%x covers it", e.fde, uint64(rva), uint64(b.RVA))
		return
	}
	p.ReportAt(0, rva, "the FDE at 0x%x of .eh_frame begins at 0x%x (0x%x bytes): no STACK CFI INIT does", e.fde, uint64(rva), e.size)
}

// fdeTable reads the table of .eh_frame_hdr. It returns nil if the binary has none, as in a
// separate debug file.
func fdeTable(b *check.Image) []fdeEntry {
	header := b.Section(".eh_frame_hdr")
	if header == nil {
		var err error
		header, err = b.Located(".eh_frame_hdr")
		b.Problem(".eh_frame_hdr", err)
	}
	if header == nil || !header.HasData() {
		return nil
	}
	data, err := header.Data()
	if err != nil {
		b.Problem(".eh_frame_hdr", err)
		return nil
	}
	c := bin.New(header.Name, data, b.Order)
	table := readTable(&c, header.Addr)
	b.Problem(".eh_frame_hdr", c.Err())
	fdeSizes(b, table)
	return table
}

// readTable reads .eh_frame_hdr, which is at addr.
func readTable(c *bin.Cursor, addr uint64) (table []fdeEntry) {
	version, pointer, count, entries := c.U8(), c.U8(), c.U8(), c.U8()
	if c.Err() != nil || version != 1 || count == encOmit || entries == encOmit {
		return nil
	}
	c.Skip(uint64(pointerSize(pointer)))
	if count != encUData4 || entries != encData|encSData4 && entries != encData|encSData8 {
		c.Fail("table of encodings %#x and %#x, want %#x and %#x or %#x", count, entries, encUData4, encData|encSData4, encData|encSData8)
		return nil
	}
	size := pointerSize(entries)
	n := uint64(c.U32())
	if n*2*uint64(size) > uint64(c.Len()) {
		c.Fail("table of %d entries in %d bytes", n, c.Len())
		n = uint64(c.Len()) / (2 * uint64(size))
	}
	table = make([]fdeEntry, 0, n)
	rest := bin.New(".eh_frame_hdr", c.Bytes(min(n*2*uint64(size), uint64(c.Len()))), c.Order())
	for ; n > 0; n-- {
		start := addr + signedPointer(&rest, size)
		table = append(table, fdeEntry{start: start, fde: addr + signedPointer(&rest, size)})
	}
	return table
}

// pointerSize returns the size of a pointer with the given encoding, or 0 for LEB128 or the
// machine's size.
func pointerSize(enc uint8) int {
	switch enc & 7 {
	case 2:
		return 2
	case 3:
		return 4
	case 4:
		return 8
	}
	return 0
}

func signedPointer(c *bin.Cursor, size int) uint64 {
	v := c.Uint(size)
	if size == 4 {
		return uint64(int64(int32(v)))
	}
	return v
}

// fdeSizes reads the sizes of the FDEs' ranges if pointers have a fixed size.
func fdeSizes(b *check.Image, table []fdeEntry) {
	if len(table) == 0 {
		return
	}
	data, addr := ehFrame(b, table[0].fde)
	sizes := map[uint64]int{} // sizes of pointers, by CIE
	for i := range table {
		e := &table[i]
		if off := e.fde - addr; off+8 < uint64(len(data)) {
			e.size = fdeSize(data, off, b, sizes)
		}
	}
}

// ehFrame returns .eh_frame and its address: the section or, without sections,
// the segment around an FDE.
func ehFrame(b *check.Image, fde uint64) ([]byte, uint64) {
	s := b.Section(".eh_frame")
	if i := slices.IndexFunc(b.Segments, func(p *object.Section) bool { return p.Holds(fde) }); s == nil && !b.HasSections() && i >= 0 {
		s = b.Segments[i]
	}
	if s == nil || !s.HasData() {
		return nil, 0
	}
	data, err := s.Data()
	b.Problem(".eh_frame", err)
	return data, s.Addr
}

// fdeSize reads the size of an FDE's range (LSB 5.0 core, 10.6.1), or returns 0
// if the FDE has an unusual form.
func fdeSize(data []byte, off uint64, b *check.Image, sizes map[uint64]int) uint64 {
	c := bin.NewAt(".eh_frame", data[off:], off, b.Order)
	if length := c.U32(); length < 8 || length == 0xffffffff {
		return 0
	}
	back := uint64(c.U32())
	cie := off + 4 - back
	if back == 0 || cie >= uint64(len(data)) {
		return 0
	}
	size, known := sizes[cie]
	if !known {
		size = ciePointerSize(data[cie:], b)
		sizes[cie] = size
	}
	if size == 0 {
		return 0
	}
	c.Skip(uint64(size))
	if v := c.Uint(size); c.Err() == nil {
		return v
	}
	return 0
}

// ciePointerSize returns the size of the pointers in a CIE's FDEs, or 0 if unknown.
func ciePointerSize(cie []byte, b *check.Image) int {
	c := bin.New(".eh_frame", cie, b.Order)
	if length := c.U32(); length < 8 || length == 0xffffffff || c.U32() != 0 {
		return 0
	}
	word := b.AddrSize
	version := c.U8()
	augmentation := string(c.CStr())
	if augmentation == "" || augmentation[0] != 'z' {
		return word
	}
	c.ULEB()
	c.SLEB()
	if version == 1 {
		c.U8()
	} else {
		c.ULEB()
	}
	c.ULEB()
	for _, letter := range augmentation[1:] {
		switch letter {
		case 'R':
			if enc := c.U8(); c.Err() == nil {
				if enc&7 == 0 {
					return word
				}
				return pointerSize(enc)
			}
		case 'P':
			n := pointerSize(c.U8())
			if n == 0 {
				n = word
			}
			c.Skip(uint64(n))
		case 'L':
			c.U8()
		case 'S', 'B', 'G':
		default:
			return 0
		}
	}
	return word
}
