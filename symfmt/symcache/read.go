package symcache

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// ReadOptions provide what the file does not record.
type ReadOptions struct {
	File string // path, for errors

	// OS, Arch and Name go into MODULE; Arch is used only if the file's CPU number
	// is unknown. Empty ones become "unknown", and Name the base name of File
	// without ".symcache".
	OS, Arch, Name string

	Base symfmt.RVA // added to all addresses, as Options.Base is subtracted from them

	// Dropped, if non-nil, is called with each kind of information that a module cannot hold.
	Dropped func(symfmt.Loss)
}

// Read reads a symcache of version 7, 8 or 9 and either byte order. Damaged entries
// are left out, and each kind of damage is reported as one problem. The error is
// non-nil if nothing could be read: the file is not a symcache, has another version,
// or ends before its ranges. The module is in canonical order, except that its files
// and origins are numbered as in the symcache.
func Read(ctx context.Context, r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Result, error) {
	data, err := bin.ReadUpTo(bin.ContextReader(ctx, io.NewSectionReader(r, 0, size)), size)
	if err != nil {
		return nil, &bin.Error{File: o.File, Msg: "read error", Err: err}
	}
	c, err := open(data, o.File)
	if err != nil {
		return nil, err
	}
	m := &symfmt.Module{OS: o.OS, Arch: archName(c.arch), ID: decodeDebugID(c.id, c.order), Name: o.Name}
	m.OS, m.Arch = cmp.Or(m.OS, "unknown"), cmp.Or(m.Arch, o.Arch, "unknown")
	m.Name = cmp.Or(m.Name, baseName(o.File))
	b := newBuilder(c, m, o.Base)
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	if o.Dropped != nil {
		b.dropped(o.Dropped)
	}
	return &symfmt.Result{Module: m, Report: symfmt.Report{Problems: c.found()}}, nil
}

// baseName returns the name of a module from the path of its symcache.
func baseName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".symcache")
	if path == "" || name == "" {
		return "unknown"
	}
	return name
}

// cache is a symcache with its sections located.
type cache struct {
	file    string
	order   binary.ByteOrder
	version uint32
	arch    uint32
	id      []byte

	variables bool // sections about variables follow

	files, functions, locations, ranges section
	strings                             string
	stringsAt                           uint64

	damages []*damage
}

// section is a table of entries of equal size, as many as the file holds.
type section struct {
	name string
	data []byte
	at   uint64 // offset in the file
	size int    // of an entry
	want uint32 // entries in the header
}

func (s *section) len() int              { return len(s.data) / s.size }
func (s *section) entry(i uint32) []byte { return s.data[int(i)*s.size:][:s.size] }
func (s *section) has(i uint32) bool     { return uint64(i) < uint64(s.len()) }
func (s *section) place(i uint32) uint64 { return s.at + uint64(i)*uint64(s.size) }
func (s *section) missing() uint32       { return s.want - uint32(s.len()) }

// open finds the sections.
func open(data []byte, file string) (*cache, error) {
	c := &cache{file: file}
	if len(data) < len(magic) || orderOf(data) == nil {
		return nil, c.errorf(0, `not a symcache: the file begins with %q, want "SYMC"`, data[:min(len(data), len(magic))])
	}
	c.order = orderOf(data)
	if len(data) < headSize {
		return nil, c.errorf(uint64(len(data)), "the file ends inside its header of %d bytes", headSize)
	}
	u32 := func(at int) uint32 { return c.order.Uint32(data[at:]) }
	if c.version = u32(4); c.version < firstVersion || c.version > lastVersion {
		return nil, c.errorf(4, "symcache version %d, want %d to %d", c.version, firstVersion, lastVersion)
	}
	c.id, c.arch = data[8:][:debugIDSize], u32(40)
	c.variables = c.version >= version9 && c.order.Uint16(data[64:]) != 0
	s := slicer{data: data, pos: headSize}
	c.files = s.section("files", fileSize(c.version), u32(44))
	c.functions = s.section("functions", functionSize, u32(48))
	c.locations = s.section("source locations", locationSize, u32(52))
	c.ranges = s.section("ranges", rangeSize, u32(56))
	strs := s.section("bytes of strings", 1, u32(60))
	c.strings, c.stringsAt = string(strs.data), strs.at
	return c, c.checkSections(&strs)
}

// checkSections reports truncated sections.
func (c *cache) checkSections(strs *section) error {
	if c.ranges.want > c.locations.want {
		return c.errorf(56, "%d ranges, but only %d source locations: want one per range", c.ranges.want, c.locations.want)
	}
	if c.ranges.want > 0 && c.ranges.len() == 0 {
		return c.errorf(c.ranges.at, "the file ends before its %d ranges", c.ranges.want)
	}
	for _, s := range []*section{&c.files, &c.functions, &c.locations, &c.ranges, strs} {
		if n := s.missing(); n > 0 {
			c.damages = append(c.damages, &damage{
				count: int(n), lost: s.name,
				first: c.errorf(s.at+uint64(len(s.data)), "the file ends here, after %d of %d %s", s.len(), s.want, s.name),
			})
		}
	}
	return nil
}

// slicer cuts a file into sections.
type slicer struct {
	data []byte
	pos  uint64
}

func (s *slicer) section(name string, size int, n uint32) section {
	s.pos += uint64(-int64(s.pos) & (alignment - 1))
	start := min(s.pos, uint64(len(s.data)))
	fits := min(uint64(n), (uint64(len(s.data))-start)/uint64(size))
	sec := section{name: name, data: s.data[start:][:fits*uint64(size)], at: s.pos, size: size, want: n}
	s.pos += uint64(n) * uint64(size)
	return sec
}

// location returns source location i, which must exist.
func (c *cache) location(i uint32) location {
	b := c.locations.entry(i)
	return location{c.order.Uint32(b), c.order.Uint32(b[4:]), c.order.Uint32(b[8:]), c.order.Uint32(b[12:])}
}

// stringAt returns the string at an offset, or "" for none.
func (c *cache) stringAt(at uint32) (string, error) {
	if at == none {
		return "", nil
	}
	if uint64(at) >= uint64(len(c.strings)) {
		return "", c.errorf(c.stringsAt+uint64(at), "a string beyond the %d bytes of strings", len(c.strings))
	}
	rest := c.strings[at:]
	n, used := c.stringLength(rest)
	if used <= 0 || n > uint64(len(rest)-used) {
		return "", c.errorf(c.stringsAt+uint64(at), "a string that ends beyond the %d bytes of strings", len(c.strings))
	}
	return rest[used:][:n], nil
}

// stringLength reads the length before a string and returns it with the number of
// bytes that it takes, which is 0 or less if it is truncated or too large.
func (c *cache) stringLength(s string) (n uint64, used int) {
	head := []byte(s[:min(len(s), binary.MaxVarintLen64)])
	if c.version != version7 {
		return binary.Uvarint(head)
	}
	if len(head) < 4 {
		return 0, 0
	}
	return uint64(c.order.Uint32(head)), 4
}

func (c *cache) errorf(at uint64, format string, args ...any) error {
	return &bin.Error{File: c.file, Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// damage counts entries damaged in the same way.
type damage struct {
	count int
	lost  string // in the plural
	first error
}

// damaged counts damage of a kind; err describes one case of it.
func (c *cache) damaged(d *damage, err func() error) {
	if d.count == 0 {
		d.first = err()
		c.damages = append(c.damages, d)
	}
	d.count++
}

// found returns the problems.
func (c *cache) found() (problems []symfmt.Problem) {
	for _, d := range c.damages {
		problems = append(problems, symfmt.Problem{Lost: fmt.Sprintf("%d %s", d.count, d.lost), Err: d.first})
	}
	return problems
}
