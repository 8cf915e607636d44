package gsym

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/symtool/symtool/symfmt"

	"github.com/symtool/symtool/internal/bin"
)

// image is a file's header and sections, for either version.
type image struct {
	path    string
	data    []byte // the whole file
	order   binary.ByteOrder
	strSize int
	base    uint64
	uuid    []byte

	addrSize int
	count    uint64 // entries of the address table; both tables have at least as many
	addrs    section
	offsets  section
	files    section
	strings  section
	funcs    section // base of the offsets
}

func (g *image) fail(offset uint64, format string, args ...any) *bin.Error {
	return &bin.Error{File: g.path, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// part returns the bytes of a section that are in the file.
func (g *image) part(s section) []byte {
	size := uint64(len(g.data))
	start := min(s.offset, size)
	return g.data[start : start+min(s.size, size-start)]
}

// open reads the header and finds the sections.
func (g *image) open(problems *problems) error {
	g.order = orderOf(g.data)
	if g.order == nil {
		return g.fail(0, "not a GSYM file: it begins with %x, want 4753594d or 4d595347", g.data[:min(4, len(g.data))])
	}
	c := bin.New("", g.data, g.order)
	c.Skip(4)
	version := c.U16()
	if c.Err() != nil {
		return g.fail(4, "GSYM header of %d bytes, want %d", len(g.data), headerSize2)
	}
	var err error
	switch version {
	case 1:
		err = g.header1(&c)
	case 2:
		err = g.header2(&c, problems)
	default:
		return g.fail(4, "GSYM version %d, want 1 or 2", version)
	}
	if err == nil {
		err = g.tables(problems)
	}
	return err
}

func (g *image) checkHeader(c *bin.Cursor, want int) error {
	if c.Err() != nil {
		return g.fail(uint64(c.Pos()), "GSYM header of %d bytes, want %d", len(g.data), want)
	}
	if s := g.addrSize; s != 1 && s != 2 && s != 4 && s != 8 {
		return g.fail(6, "addresses of %d bytes, want 1, 2, 4 or 8", s)
	}
	return nil
}

// header1 reads version 1's header (Header.h). The sections follow each other,
// each at a multiple of its entries' size.
func (g *image) header1(c *bin.Cursor) error {
	g.strSize = 4
	g.addrSize = int(c.U8())
	uuid := uint64(c.U8())
	g.base = c.U64()
	g.count = uint64(c.U32())
	g.strings = section{offset: uint64(c.U32())}
	g.strings.size = uint64(c.U32())
	id := c.Bytes(maxUUID1)
	if err := g.checkHeader(c, headerSize1); err != nil {
		return err
	}
	if uuid > maxUUID1 {
		return g.fail(7, "UUID of %d bytes, want at most %d", uuid, maxUUID1)
	}
	g.uuid = id[:uuid]
	g.addrs = after(section{0, headerSize1}, uint64(g.addrSize), g.count*uint64(g.addrSize))
	g.offsets = after(g.addrs, 4, g.count*4)
	g.files = after(g.offsets, 4, math.MaxUint32)
	g.funcs = section{0, uint64(len(g.data))}
	return nil
}

// header2 reads version 2's header and directory (HeaderV2.h, GlobalData.h).
func (g *image) header2(c *bin.Cursor, problems *problems) error {
	g.strSize = 8
	g.addrSize = int(c.U8())
	encoding := c.U8()
	g.base = c.U64()
	g.count = uint64(c.U32())
	if err := g.checkHeader(c, headerSize2); err != nil {
		return err
	}
	if encoding != 0 {
		return g.fail(7, "string encoding %d, want 0", encoding)
	}
	found, err := g.directory(c, problems)
	if err != nil {
		return err
	}
	for kind, name := range map[int]string{
		sectionAddrs: "addresses", sectionOffsets: "offsets of functions", sectionStrings: "strings", sectionFuncs: "functions",
	} {
		if found[kind] == nil {
			return g.fail(headerSize2, "the directory has no %s (section %d)", name, kind)
		}
	}
	g.addrs, g.offsets, g.strings, g.funcs = *found[sectionAddrs], *found[sectionOffsets], *found[sectionStrings], *found[sectionFuncs]
	if s := found[sectionFiles]; s != nil {
		g.files = *s
	} else {
		problems.add("files", g.fail(headerSize2, "the directory has no files (section %d)", sectionFiles))
	}
	if s := found[sectionUUID]; s != nil {
		g.uuid = g.part(*s)
	}
	return nil
}

// directory reads version 2's directory. Of two sections of a kind, the first
// counts; unknown kinds are skipped.
func (g *image) directory(c *bin.Cursor, problems *problems) (found [sectionKinds]*section, err error) {
	for {
		at := c.Offset()
		kind := c.U32()
		s := section{offset: c.U64()}
		s.size = c.U64()
		if c.Err() != nil {
			return found, g.fail(at, "unterminated directory: %d bytes left, want %d", len(g.data)-int(at), directory)
		}
		switch {
		case kind == sectionEnd:
			return found, nil
		case kind >= sectionKinds:
			continue
		case found[kind] != nil:
			problems.add(fmt.Sprintf("section %d at %#x", kind, s.offset), g.fail(at, "second section of kind %d", kind))
			continue
		case s.offset > uint64(len(g.data)) || s.size > uint64(len(g.data))-s.offset:
			problems.add(fmt.Sprintf("end of section %d", kind), g.fail(at, "section %d of %#x bytes at %#x in a file of %#x bytes", kind, s.size, s.offset, len(g.data)))
		}
		found[kind] = &s
	}
}

// tables checks the sections that all others depend on.
func (g *image) tables(problems *problems) error {
	n := min(uint64(len(g.part(g.addrs)))/uint64(g.addrSize), uint64(len(g.part(g.offsets)))/uint64(g.strSize))
	if n < g.count {
		problems.add(fmt.Sprintf("%d of %d functions", g.count-n, g.count),
			g.fail(g.addrs.offset, "tables of addresses and offsets for %d functions, want %d", n, g.count))
		g.count = n
	}
	strings := g.part(g.strings)
	if len(strings) == 0 {
		return g.fail(g.strings.offset, "no strings: %#x bytes at %#x in a file of %#x bytes", g.strings.size, g.strings.offset, len(g.data))
	}
	if uint64(len(strings)) < g.strings.size {
		problems.add("end of the strings", g.fail(g.strings.offset, "strings of %#x bytes, %#x left", g.strings.size, len(strings)))
	}
	if strings[0] != 0 {
		problems.add("", g.fail(g.strings.offset, "the first string is not empty"))
	}
	return nil
}

// addr returns entry i's difference from the base.
func (g *image) addr(i uint64) uint64 {
	c := bin.New("", g.data[g.addrs.offset+i*uint64(g.addrSize):], g.order)
	return c.Uint(g.addrSize)
}

// info returns the offset of entry i's FunctionInfo in the file.
func (g *image) info(i uint64) (offset uint64, ok bool) {
	c := bin.New("", g.data[g.offsets.offset+i*uint64(g.strSize):], g.order)
	offset = c.Uint(g.strSize)
	return g.funcs.offset + offset, offset < uint64(len(g.part(g.funcs)))
}

// maxProblems is the number of problems reported individually.
const maxProblems = 1000

// problems collects damage.
type problems struct {
	list []symfmt.Problem
	more int
	last error
}

func (p *problems) add(lost string, err error) {
	if len(p.list) >= maxProblems {
		p.more++
		p.last = err
		return
	}
	p.list = append(p.list, symfmt.Problem{Lost: lost, Err: err})
}

// all returns the problems; a last one stands for those above the limit.
func (p *problems) all() []symfmt.Problem {
	if p.more > 0 {
		return append(p.list, symfmt.Problem{Lost: fmt.Sprintf("%d more parts", p.more), Err: p.last})
	}
	return p.list
}
