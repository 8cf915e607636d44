package elfobj

import (
	"debug/elf"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// In a file without section headers, call frame information is found the way
// unwinders find it: PT_ARM_EXIDX is the index table, and PT_GNU_EH_FRAME is
// .eh_frame_hdr, which says where .eh_frame is (LSB 5.0 core, 10.6.2). Where a
// section ends is unknown:
//
//   - .eh_frame ends with the first terminator after the last FDE in the table
//     of .eh_frame_hdr;
//   - an entry of .ARM.exidx extends to the next one, or to the end of the
//     segment: the one for the last function of .text may cover .fini.

// PT_ARM_EXIDX and SHT_ARM_EXIDX, the types of .ARM.exidx; other processors use the
// same numbers for other types. ptSFrame is PT_GNU_SFRAME.
const (
	ptARMExidx  = elf.PT_LOPROC + 1
	shtARMExidx = elf.SHT_LOPROC + 1

	ptSFrame elf.ProgType = 0x6474e554
)

// Located implements object.Container.
func (f *File) Located(name string) (*object.Section, error) {
	if f.HasSections() {
		return nil, nil // a program header without its section is a leftover
	}
	switch name {
	case ".eh_frame":
		s, err := f.locatedEHFrame()
		return plain(s), err
	case ".eh_frame_hdr":
		return plain(f.firstOf(elf.PT_GNU_EH_FRAME, name)), nil
	case ".ARM.exidx":
		return plain(f.firstOf(ptARMExidx, name)), nil
	case ".sframe":
		return plain(f.firstOf(ptSFrame, "PT_GNU_SFRAME")), nil
	}
	return nil, nil
}

// firstOf makes a section from the first program header of a type, or returns nil.
func (f *File) firstOf(t elf.ProgType, name string) *Section {
	for _, p := range f.SegmentsOf(t) {
		return f.SectionOf(p, name, elf.SHT_PROGBITS)
	}
	return nil
}

// The encodings (DW_EH_PE_*) that linkers write in .eh_frame_hdr.
const (
	hdrNear  = 0x1b // pcrel, sdata4
	hdrFar   = 0x1c // pcrel, sdata8
	hdrTable = 0x3b // datarel, sdata4
	hdrWide  = 0x3c // datarel, sdata8
	hdrCount = 0x03 // udata4
)

// locatedEHFrame finds .eh_frame through .eh_frame_hdr. It returns nil if
// there is no .eh_frame; with an error, the end of the section may be a
// guess.
func (f *File) locatedEHFrame() (*Section, error) {
	header := f.firstOf(elf.PT_GNU_EH_FRAME, ".eh_frame_hdr")
	if header == nil {
		return nil, nil
	}
	data, err := header.Data()
	if err != nil {
		return nil, err
	}
	c := bin.New(header.Name, data, f.Order)
	start, table, wide := readEHFrameHeader(&c, header.Addr)
	if err := c.Err(); err != nil {
		return nil, inFile(err, f)
	}
	last := start
	if table {
		last = max(last, lastFDE(&c, header.Addr, wide))
	}
	tableErr := inFile(c.Err(), f)
	p, ok := f.LoadedFrom(start)
	if !ok {
		return nil, header.errorf(4, "no segment has bytes at %#x, the address of .eh_frame", start)
	}
	rest := f.SectionOf(p, ".eh_frame", elf.SHT_PROGBITS)
	if data, err = rest.Data(); err != nil {
		return nil, err
	}
	p.FileSize = ehFrameEnd(data, f, last-start)
	rest.Release()
	return f.SectionOf(p, ".eh_frame", elf.SHT_PROGBITS), tableErr
}

// inFile adds the file's path to an error of a cursor.
func inFile(err error, f *File) error {
	if e, ok := err.(*bin.Error); ok {
		e.File = f.Path
	}
	return err
}

// readEHFrameHeader returns the address of .eh_frame, whether the table of FDEs
// follows, and whether its numbers have 8 bytes instead of 4. base is the address of
// the header.
func readEHFrameHeader(c *bin.Cursor, base uint64) (start uint64, table, wide bool) {
	version, pointer, count, entries := c.U8(), c.U8(), c.U8(), c.U8()
	if version != 1 || pointer != hdrNear && pointer != hdrFar {
		c.Fail("version %d with a pointer of encoding %#x, want 1 with %#x or %#x", version, pointer, hdrNear, hdrFar)
		return 0, false, false
	}
	start = base + 4 + signed(c, pointer == hdrFar)
	return start, count == hdrCount && (entries == hdrTable || entries == hdrWide), entries == hdrWide
}

// lastFDE returns the highest address of an FDE in the table.
func lastFDE(c *bin.Cursor, base uint64, wide bool) (last uint64) {
	for n := c.U32(); n > 0 && c.Err() == nil; n-- {
		signed(c, wide) // the address of the function
		if at := base + signed(c, wide); c.Err() == nil {
			last = max(last, at)
		}
	}
	return last
}

// signed reads a signed number of 4 or 8 bytes.
func signed(c *bin.Cursor, wide bool) uint64 {
	if wide {
		return c.U64()
	}
	return uint64(int64(int32(c.U32())))
}

// ehFrameEnd returns the end of the first terminator at or after the entry at last, or the
// end of data if there is none.
func ehFrameEnd(data []byte, f *File, last uint64) uint64 {
	c := bin.New(".eh_frame", data, f.Order)
	for c.Len() >= 4 {
		at, length := c.Offset(), uint64(c.U32())
		switch {
		case length == 0xffffffff:
			length = c.U64()
		case length == 0 && at >= last:
			return c.Offset()
		}
		if c.Skip(length); c.Err() != nil {
			break
		}
	}
	return uint64(len(data))
}
