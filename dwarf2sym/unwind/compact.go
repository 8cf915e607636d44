package unwind

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/symfmt/arch"
)

// __unwind_info of macOS and iOS -> STACK CFI (<mach-o/compact_unwind_encoding.h>). A two-level table gives each range
// of code a 32-bit encoding, which holds in the bodies of its functions. It does not say where prologues and epilogues
// are: compactflow.go follows the instructions to find them.
//
// Rules that the format leaves open, or that differ from other readers:
//
//   - Rows are exact at every instruction whose frame is known from the instructions before it. Mozilla writes the
//     encoding's rule for a whole range, which is wrong in prologues and epilogues.
//   - Linkers join adjacent ranges with equal encodings: a range is cut where functions start (Input.Starts).
//   - The instructions must reach the frame of the encoding, or return; otherwise its rule counts for the whole function.
//   - Call frame information takes precedence; ranges that the table refers to it have no rules of their own.
//   - A range without information (encoding 0) has rules if all its instructions are understood, and so has code that
//     the table does not cover: linkers omit functions without information at its end. Code there that neither
//     the start of a function nor a switch leads to has none.
//   - Labels of interpreters in assembly, which are listed as functions, have none: their frame belongs to the code that
//     jumps to them.
//   - Stubs, which the table does not cover, have the rule for a function's first instruction, adjusted for what they push.

const (
	compactVersion = 1
	compactHeader  = 28
	compactIndex   = 12 // bytes of an entry of the first level

	pageRegular    = 2
	pageCompressed = 3
)

// compactReader reads a __unwind_info section.
type compactReader struct {
	pdataReader
	data   []byte
	common []byte // encodings that pages share
	code   []byte // of the entry being written
	flow   compactFlow

	body  compactBody // of the entry being written
	taken []takenRow  // of the FDE being written; otherwise empty
	plain bool        // its rows have no expressions
	until uint64      // where its first row with an expression is
	byFP  bool        // bodies have a frame pointer
}

// newCompact returns a reader of __unwind_info, or nil for other binaries.
func (r *reader) newCompact() *compactReader {
	if !r.in.Compact {
		return nil
	}
	return r.newFollower(&Section{Name: "code"})
}

// newFollower returns a reader that derives rows from instructions, or nil for a CPU whose instructions it cannot
// decode.
func (r *reader) newFollower(section *Section) *compactReader {
	c := &compactReader{}
	c.r = r
	c.flow.codeAt = func(addr uint64) []byte {
		_, code, _ := c.bytesAt(uint32(addr - r.in.Base))
		return code
	}
	c.flow.outlined, c.flow.starting = map[uint64]bool{}, map[uint64]startEvidence{}
	c.section = section
	c.cie = cieInfo{ra: r.in.Arch.ReturnAddress, regs: r.regs[0]}
	c.flow.fp = c.framePointer()
	switch r.in.Arch {
	case arch.X86_64:
		c.flow.effect = insn.FrameAMD64
	case arch.ARM64:
		c.flow.effect = insn.FrameARM64
	default:
		return nil
	}
	return c
}

// readCompact writes the blocks of code that call frame information does not describe.
func (r *reader) readCompact() {
	c := r.compact
	if c == nil {
		place := entryPos{len(r.in.Sections), 0}
		switch {
		case !r.in.Compact:
		case len(r.in.Index) > 0:
			r.problems.add(place, "STACK CFI of functions without call frame information",
				errorf(r.in.Index[0].Name, 0, "compact unwind information of %s is not read", r.in.Arch.Name))
		case len(r.w.table.Blocks) == 0:
			r.problems.add(place, "STACK CFI", errorf("code", 0, "no call frame information, and the instructions of %s are not followed", r.in.Arch.Name))
		}
		return
	}
	c.taken = nil
	if len(r.in.Index) > 0 {
		c.section = &r.in.Index[0]
		c.data = c.section.Data
		if err := c.readPages(); err != nil {
			r.problems.add(c.place(0), "STACK CFI", err)
		}
		c.checkStarts()
	}
	c.write(r.uncovered(c.pieces(), r.sortBlocks()), c.entry)
	c.addGaps()
	c.write(r.uncovered(c.pieces(), r.sortBlocks()), c.entry)
	c.entries = c.entries[:0]
	for _, s := range r.in.Stubs {
		c.entries = append(c.entries, pdataEntry{lo: s.Lo, hi: s.Hi})
	}
	c.write(r.uncovered(c.pieces(), r.sortBlocks()), c.stubs)
	r.sortBlocks()
}

// u32 returns the number at an offset, or an error.
func (c *compactReader) u32(at uint64) (uint32, error) {
	if at > uint64(len(c.data)) || uint64(len(c.data))-at < 4 {
		return 0, errorf(c.section.Name, at, "a number extends past the %d bytes of the section", len(c.data))
	}
	return binary.LittleEndian.Uint32(c.data[at:]), nil
}

// table returns n entries of size bytes each at an offset.
func (c *compactReader) table(at, n, size uint64, what string) ([]byte, error) {
	if have := uint64(len(c.data)); at > have || n > (have-at)/size {
		return nil, errorf(c.section.Name, at, "%d %s do not fit into the section of %d bytes", n, what, have)
	}
	return c.data[at:][:n*size], nil
}

// readPages reads the entries of all pages.
func (c *compactReader) readPages() error {
	head, err := c.table(0, 1, compactHeader, "headers")
	if err != nil {
		return err
	}
	u32 := func(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	if v := u32(head, 0); v != compactVersion {
		return errorf(c.section.Name, 0, "version %d, want %d", v, compactVersion)
	}
	if c.common, err = c.table(uint64(u32(head, 4)), uint64(u32(head, 8)), 4, "common encodings"); err != nil {
		return err
	}
	indexAt := uint64(u32(head, 20))
	index, err := c.table(indexAt, uint64(u32(head, 24)), compactIndex, "pages")
	if err != nil {
		return err
	}
	for i := 0; i+2*compactIndex <= len(index); i += compactIndex {
		first, page, next := u32(index, i), u32(index, i+4), u32(index, i+compactIndex)
		at := indexAt + uint64(i)
		switch {
		case next < first:
			c.lose(at, "page", errorf(c.section.Name, at, "code from %#x to %#x: pages must ascend", first, next))
			return nil
		case page != 0:
			if err := c.page(uint64(page), first, next); err != nil {
				c.lose(at, "page", err)
			}
		}
	}
	return nil
}

// lose reports what is lost because of an error at an offset of the section.
func (c *compactReader) lose(at uint64, what string, err error) {
	c.r.problems.add(c.place(at), fmt.Sprintf("%s at %#x", what, at), err)
}

// page reads the entries of a page, for code from first to end.
func (c *compactReader) page(at uint64, first, end uint32) error {
	kind, err := c.u32(at)
	if err != nil {
		return err
	}
	sizes, err := c.u32(at + 4)
	if err != nil {
		return err
	}
	from, count := at+uint64(sizes&0xffff), uint64(sizes>>16)
	switch kind {
	case pageRegular:
		entries, err := c.table(from, count, 8, "entries")
		if err != nil {
			return err
		}
		return c.add(count, from, 8, end, func(i int) (uint32, uint32, error) {
			return binary.LittleEndian.Uint32(entries[8*i:]), binary.LittleEndian.Uint32(entries[8*i+4:]), nil
		})
	case pageCompressed:
		entries, err := c.table(from, count, 4, "entries")
		if err != nil {
			return err
		}
		own, err := c.u32(at + 8)
		if err != nil {
			return err
		}
		encodings, err := c.table(at+uint64(own&0xffff), uint64(own>>16), 4, "encodings")
		if err != nil {
			return err
		}
		return c.add(count, from, 4, end, func(i int) (uint32, uint32, error) {
			e := binary.LittleEndian.Uint32(entries[4*i:])
			encoding, err := c.encoding(encodings, e>>24, from+uint64(4*i))
			return first + e&0xffffff, encoding, err
		})
	}
	return errorf(c.section.Name, at, "page of kind %d, want %d or %d", kind, pageRegular, pageCompressed)
}

// encoding returns an encoding by its index: the common ones come before the page's own.
func (c *compactReader) encoding(own []byte, i uint32, at uint64) (uint32, error) {
	if n := uint32(len(c.common) / 4); i < n {
		return binary.LittleEndian.Uint32(c.common[4*i:]), nil
	} else if i -= n; uint64(i) < uint64(len(own)/4) {
		return binary.LittleEndian.Uint32(own[4*i:]), nil
	}
	return 0, errorf(c.section.Name, at, "encoding %d, there are %d", i+uint32(len(c.common)/4), (len(c.common)+len(own))/4)
}

// add adds count entries, read from records of size bytes each, starting at from. Each ends where the next begins, and
// the last at end.
func (c *compactReader) add(count, from uint64, size int, end uint32, entry func(i int) (lo, encoding uint32, err error)) error {
	base := c.r.in.Base
	for i := range int(count) {
		at := from + uint64(i*size)
		lo, encoding, err := entry(i)
		if err != nil {
			return err
		}
		e := pdataEntry{lo: base + uint64(lo), hi: base + uint64(end), offset: at, info: encoding}
		if e.lo > e.hi || len(c.entries) > 0 && e.lo < c.entries[len(c.entries)-1].lo {
			return errorf(c.section.Name, at, "code at %#x: entries must ascend up to %#x", e.lo, e.hi)
		}
		c.r.stats.IndexEntries++
		if i > 0 {
			c.entries[len(c.entries)-1].hi = e.lo
		}
		c.entries = append(c.entries, e)
	}
	return nil
}

// strangeStarts bounds the entries that may begin where no function does to one in so many: a few do, in assembly.
const strangeStarts = 64

// checkStarts reports it if too many functions of the table do not begin where the list of all functions says. One
// changed byte in that list moves all later functions.
func (c *compactReader) checkStarts() {
	if !c.r.in.AllStarts {
		return
	}
	all, strange, first := 0, 0, uint64(0)
	for i := range c.entries {
		if e := &c.entries[i]; e.info&encodingMode != 0 {
			all++
			if _, found := slices.BinarySearch(c.r.in.Starts, e.lo); !found {
				if strange++; strange == 1 {
					first = e.lo
				}
			}
		}
	}
	if strange*strangeStarts > all {
		c.r.problems.add(c.place(0), "STACK CFI of some functions", errorf(c.section.Name, 0,
			"%d of %d entries begin where the list of functions has none, the first at %#x", strange, all, first))
	}
}

// problemOf returns the error for an encoding.
func (c *compactReader) problemOf(e *pdataEntry, format string, args ...any) *bin.Error {
	return errorf(c.section.Name, e.offset, format, args...)
}

// addGaps makes entries without information for the code that neither entries nor blocks cover, from the first function
// in each gap on.
func (c *compactReader) addGaps() {
	covered := c.covered(c.r.sortBlocks())
	c.entries = c.entries[:0]
	for _, code := range c.r.in.Code {
		for gap := range ranges.Gaps(code, covered) {
			i, _ := slices.BinarySearch(c.r.in.Starts, gap.Lo)
			if i < len(c.r.in.Starts) && c.r.in.Starts[i] < gap.Hi {
				c.entries = append(c.entries, pdataEntry{lo: c.r.in.Starts[i], hi: gap.Hi})
			}
		}
	}
}
