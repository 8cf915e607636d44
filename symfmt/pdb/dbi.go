package pdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Streams with fixed numbers.
const (
	infoStream  = 1
	typeStream  = 2
	debugStream = 3
	idStream    = 4
)

// Entries of the optional debug header, which are numbers of streams.
const (
	optFPO      = 0
	optOMAPTo   = 3 // addresses of the image to those as linked
	optOMAPFrom = 4 // addresses as linked to addresses of the image
	optSections = 5
	optNewFPO   = 9
	optLinked   = 10 // section headers as linked
	optHeaders  = 11
)

// database holds what is read from a PDB before its modules.
type database struct {
	*container
	guid    [bin.GUIDSize]byte
	age     uint32
	machine uint16
	strings int    // stream of the names, or 0
	names   []byte // the strings of /names
	room    int64  // bytes that the strings returned from it may still take
	symbols int    // stream of the public symbols
	partial bool   // linked with /DEBUG:FASTLINK
	modules []module
	left    int             // number of modules left out
	opt     [optHeaders]int // streams
	parts   []section       // by number
	placed  sections        // the same by address
}

// module is an object file.
type module struct {
	stream           int
	symBytes         int64
	c11Bytes, c13Len int64
}

// section is a section of the image.
type section struct {
	rva, size uint32
	exec      bool
}

func (d *database) readInfo() error {
	data, err := d.stream(infoStream).all()
	if err != nil {
		return err
	}
	c := bin.New(fmt.Sprintf("stream %d", infoStream), data, binary.LittleEndian)
	c.Skip(8)
	d.age = c.U32()
	if guid := c.Bytes(bin.GUIDSize); len(guid) == bin.GUIDSize {
		d.guid = bin.SwapGUID(guid, binary.LittleEndian)
	}
	names := c.Bytes(uint64(c.U32()))
	entries := c.U32()
	c.Skip(4)
	c.Skip(4 * uint64(c.U32())) // bits for the entries in use
	c.Skip(4 * uint64(c.U32())) // and for deleted ones
	for ; entries > 0 && c.Len() >= 8 && c.Err() == nil; entries-- {
		at, stream := c.U32(), c.U32()
		if uint64(at) < uint64(len(names)) && bytes.HasPrefix(names[at:], []byte("/names\x00")) {
			d.strings = int(stream)
		}
	}
	d.readFeatures(&c)
	return d.in(c.Err())
}

// readFeatures reads the numbers of features that follow the named streams (LLVM's "The PDB Info Stream").
func (d *database) readFeatures(c *bin.Cursor) {
	const vc110, minimal = 20091201, 0x494e494d
	for c.Len() >= 4 && c.Err() == nil {
		switch c.U32() {
		case vc110: // no other number follows it
			return
		case minimal:
			d.partial = true
		}
	}
}

// cString returns the string that ends at a NUL or at the end of b.
func cString(b []byte) []byte {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return b
}

// in adds the file's path to the error of a cursor.
func (d *database) in(err error) error {
	if e, ok := err.(*bin.Error); ok {
		e.File = d.file
	}
	return err
}

// readNames reads /names, the strings of files and programs.
func (d *database) readNames() error {
	if d.strings == 0 {
		return nil
	}
	data, err := d.stream(d.strings).all()
	if err != nil {
		return err
	}
	c := bin.New("/names", data, binary.LittleEndian)
	c.Skip(8)
	d.names = c.Bytes(uint64(c.U32()))
	d.room = minNames + d.size
	return d.in(c.Err())
}

// maxName bounds the strings of /names: in a damaged file, all may be parts of one. Paths on Windows have at
// most this many characters.
const maxName = 32 << 10

// nameAt returns the string of /names at an offset. The total size of the strings returned is bounded by
// the file's size.
func (d *database) nameAt(at uint32) []byte {
	if uint64(at) >= uint64(len(d.names)) || d.room < 0 {
		return nil
	}
	name := d.names[at:min(uint64(len(d.names)), uint64(at)+maxName)]
	if n := bytes.IndexByte(name, 0); n >= 0 {
		name = name[:n]
	}
	if d.room -= int64(len(name)); d.room < 0 {
		return nil
	}
	return name
}

// readDebug reads the DBI stream: its header, the list of modules and the optional debug header.
func (d *database) readDebug() error {
	data, err := d.stream(debugStream).all()
	if err != nil {
		return err
	}
	c := bin.New(fmt.Sprintf("stream %d", debugStream), data, binary.LittleEndian)
	if len(data) == 0 {
		return d.errorf("no debug information: stream %d is empty, so the file has only types", debugStream)
	}
	c.Skip(8)
	d.age = c.U32()
	c.Skip(8)
	d.symbols = int(c.U16())
	c.Skip(2)
	var sizes [7]uint32 // modules, contributions, map, sources, servers, -, optional header
	for i := range 5 {
		sizes[i] = c.U32()
	}
	c.Skip(4)
	sizes[6] = c.U32()
	sizes[5] = c.U32() // edit and continue, which precedes the optional header
	c.Skip(2)
	d.machine = c.U16()
	c.Skip(4)
	modules := c.Bytes(uint64(sizes[0]))
	for _, n := range sizes[1:6] {
		c.Skip(uint64(n))
	}
	opt := c.Bytes(min(uint64(sizes[6]), uint64(c.Len())))
	if err := c.Err(); err != nil {
		return d.in(err)
	}
	for i := range d.opt {
		d.opt[i] = noStream
		if len(opt) >= 2*i+2 {
			d.opt[i] = int(binary.LittleEndian.Uint16(opt[2*i:]))
		}
	}
	return d.readModules(modules)
}

func (d *database) readModules(data []byte) error {
	c := bin.New(fmt.Sprintf("stream %d", debugStream), data, binary.LittleEndian)
	var sum int64
	for c.Len() >= 64 && c.Err() == nil {
		c.Skip(34)
		m := module{stream: int(c.U16())}
		m.symBytes, m.c11Bytes, m.c13Len = int64(c.U32()), int64(c.U32()), int64(c.U32())
		c.Skip(16)
		c.CStr()
		c.CStr()
		c.Skip(min(-uint64(c.Pos())&3, uint64(c.Len())))
		switch sum += m.symBytes + m.c13Len; {
		case c.Err() != nil:
		case sum > 2*d.size:
			d.left++
		default:
			d.modules = append(d.modules, m)
		}
	}
	return d.in(c.Err())
}

// readSections reads the section headers of the image as linked, to which symbols refer.
func (d *database) readSections() error {
	const size, executable = 40, 0x20000000
	headers := optSections
	if d.opt[optLinked] != noStream {
		headers = optLinked
	}
	data, err := d.stream(d.opt[headers]).all()
	if err != nil {
		return err
	}
	if len(data) < size {
		return d.errorf("no section headers, so addresses are unknown")
	}
	for ; len(data) >= size; data = data[size:] {
		u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
		d.parts = append(d.parts, section{rva: u32(12), size: u32(8), exec: u32(36)&executable != 0})
	}
	d.placed = slices.SortedStableFunc(slices.Values(d.parts), func(a, b section) int { return cmp.Compare(a.rva, b.rva) })
	return nil
}

// sections is sorted by address.
type sections []section

// at returns the section that contains an address. If sections overlap, it is the one that starts last.
func (all sections) at(rva symfmt.RVA) (section, bool) {
	i := sort.Search(len(all), func(i int) bool { return symfmt.RVA(all[i].rva) > rva })
	if i == 0 || rva-symfmt.RVA(all[i-1].rva) >= symfmt.RVA(all[i-1].size) {
		return section{}, false
	}
	return all[i-1], true
}

// rva returns the address of an offset in a section, and reports whether it is in code.
func (d *database) rva(segment uint16, off uint32) (symfmt.RVA, bool) {
	if segment == 0 || int(segment) > len(d.parts) {
		return 0, false
	}
	s := d.parts[segment-1]
	return symfmt.RVA(s.rva) + symfmt.RVA(off), s.exec && off < s.size
}

// machines are the names of CPUs in MODULE records.
var machines = map[uint16]string{0x14c: "x86", 0x8664: "x86_64", 0xaa64: "arm64", 0x1c4: "arm"}
