package dwarf2sym

import (
	"debug/elf"
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	elfobj "github.com/symtool/symtool/internal/object/elf"
)

// Call frame information of a file without section headers is found as
// unwinders find it: PT_ARM_EXIDX is the index table, and PT_GNU_EH_FRAME is
// .eh_frame_hdr, which says where .eh_frame is (LSB 5.0 core, 10.6.2). Where a
// section ends is not known:
//
//   - .eh_frame ends with the first terminator behind the last FDE that the
//     table of .eh_frame_hdr names;
//   - an entry of .ARM.exidx reaches up to the next one, or to the end of the
//     segment: that of the last function of .text may cover .fini.

// ptARMExidx is PT_ARM_EXIDX; other processors have the number, too.
const ptARMExidx = elf.PT_LOPROC + 1

// sectionsOf returns the sections of f, or what is loaded in place of them.
func sectionsOf(f *elfobj.File) []*elfobj.Section {
	if f.HasSections() {
		return f.Sections
	}
	var all []*elfobj.Section
	for i, p := range f.SegmentsOf(elf.PT_LOAD) {
		all = append(all, f.SectionOf(p, fmt.Sprintf("loaded segment %d", i), elf.SHT_PROGBITS))
	}
	return all
}

// indexesOf returns ARM's index tables.
func indexesOf(f *elfobj.File) (all []*elfobj.Section) {
	if !f.HasSections() {
		for _, p := range f.SegmentsOf(ptARMExidx) {
			all = append(all, f.SectionOf(p, ".ARM.exidx", shtARMExidx))
		}
		return all
	}
	for _, s := range f.Sections {
		if s.Type == shtARMExidx && s.HasData() {
			all = append(all, s)
		}
	}
	return all
}

// Encodings of .eh_frame_hdr (DW_EH_PE_*): linkers write no others.
const (
	hdrNear  = 0x1b // pcrel, sdata4
	hdrFar   = 0x1c // pcrel, sdata8
	hdrTable = 0x3b // datarel, sdata4
	hdrWide  = 0x3c // datarel, sdata8
	hdrCount = 0x03 // udata4
)

// segmentEHFrame finds .eh_frame by the program headers. It returns nil if there
// is no .eh_frame; with an error, the end of the section may be a guess.
func segmentEHFrame(f *elfobj.File) (*unwind.Section, error) {
	all := f.SegmentsOf(elf.PT_GNU_EH_FRAME)
	if f.HasSections() || len(all) == 0 {
		return nil, nil
	}
	header := f.SectionOf(all[0], ".eh_frame_hdr", elf.SHT_PROGBITS)
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
		return nil, &bin.Error{File: f.Path, Section: header.Name, Offset: 4, Msg: fmt.Sprintf("no segment has bytes at %#x, where it has .eh_frame", start)}
	}
	s := f.SectionOf(p, ".eh_frame", elf.SHT_PROGBITS)
	if data, err = s.Data(); err != nil {
		return nil, err
	}
	end := ehFrameEnd(data, f, last-start)
	return &unwind.Section{Name: s.Name, Addr: start, Data: data[:end:end], EH: true, File: f.Path}, tableErr
}

// inFile adds the file to an error of a cursor.
func inFile(err error, f *elfobj.File) error {
	if e, ok := err.(*bin.Error); ok {
		e.File = f.Path
	}
	return err
}

// readEHFrameHeader returns the address of .eh_frame, and whether the table of
// FDEs follows, with numbers of 8 bytes or of 4. base is the address of the header.
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
		signed(c, wide) // where the function is
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

// ehFrameEnd returns where the first terminator from the entry at last on ends; all of
// data without one.
func ehFrameEnd(data []byte, f *elfobj.File, last uint64) uint64 {
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
