package dwarf2sym

import (
	"errors"
	"fmt"
	"sort"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// debugData is the debug information of one ELF file. .debug_info and
// .debug_line are read piece by piece, each piece once; the sections that are
// read at random places are held whole.
type debugData struct {
	file  string
	order order
	tag   uint64 // supTag in the supplementary file
	isa   uint64 // the bit of a function's address that selects its instruction set (arch.ISABit)
	info  object.Source
	line  object.Source // nil without .debug_line

	abbrev     []byte
	str        []byte
	lineStr    []byte
	strOffsets []byte
	addr       []byte
	rnglists   []byte
	ranges     []byte

	units []unitHeader // in order of their offset
	batch uint64       // bytes of .debug_info that a worker reads at once; 0: batchSize

	oldTypes bool // the units are those of .debug_types (DWARF 4)

	sup   *debugData // the supplementary file, which only references lead to
	types typeUnits

	packed *packedTypes // of a unit in a package; else nil

	effort *effort // of all files together
	half   *half   // of what is in a .dwo file or a package; nil in the file with the code

	random []*object.Section // those that are held or mapped whole
	done   int64             // atomic: bytes of .debug_info that were read
}

// supTag distinguishes offsets in the sections of a supplementary file from those
// in the file's own: no section is that large.
const supTag = 1 << 63

// unitHeader is what a unit's header says (DWARF 5, 7.5.1).
type unitHeader struct {
	off      uint64 // of the header in .debug_info
	size     uint64 // of the whole unit, the header and its length field included
	abbrev   uint64 // offset of its table in .debug_abbrev
	id       uint64 // of a skeleton and its other half (DWARF 5)
	headSize uint8
	version  uint8
	typ      uint8
	addrSize uint8
	dwarf64  bool
	split    bool // a skeleton whose other half is read in its place
}

// typeHeader is what follows in the header of a type unit.
type typeHeader struct {
	signature uint64
	offset    uint64 // of the type's DIE in the unit
}

// isType reports whether the unit has a type, and no code.
func (h *unitHeader) isType() bool { return h.typ == utType || h.typ == utSplitType }

func (h *unitHeader) offsetSize() uint64 {
	if h.dwarf64 {
		return 8
	}
	return 4
}

func (h *unitHeader) sizes() formSizes {
	s := formSizes{addr: h.addrSize, offset: uint8(h.offsetSize())}
	s.refAddr = s.offset
	if h.version <= 2 {
		s.refAddr = s.addr
	}
	return s
}

// errBadHeader stands for damage of a header that is only counted.
var errBadHeader = errors.New("bad unit header")

// maxUnitHeader is the size of the longest header: a DWARF 5 type unit in
// 64-bit DWARF.
const maxUnitHeader = 40

// readUnitHeaders walks .debug_info from header to header. A header that cannot
// be read costs its unit; a length that leaves the section ends the walk.
func (d *debugData) readUnitHeaders() (problems problemList) {
	return d.walkUnits(0, uint64(d.info.Size()))
}

// walkUnits is like readUnitHeaders, for the bytes from off up to total.
func (d *debugData) walkUnits(off, total uint64) (problems problemList) {
	var buf []byte
	for off < total {
		n := min(maxUnitHeader, total-off)
		b, err := d.info.Bytes(int64(off), int64(n), buf)
		if err != nil {
			problems.add(off, fmt.Sprintf("units from %#x on", off), err)
			return problems
		}
		buf = b
		problems.next()
		h, _, err := d.parseUnitHeader(b, off, total, problems.full)
		switch {
		case err == errBadHeader:
			problems.add(off, "", nil) // counts it
		case err != nil:
			problems.add(off, fmt.Sprintf("unit at %#x", off), err)
		}
		if h.size == 0 {
			return problems
		}
		if err == nil {
			d.units = append(d.units, h)
		}
		off += h.size
	}
	return problems
}

// parseUnitHeader decodes the header at off, of which b holds the first bytes.
// With an error, size is set when the next header can still be found. If quiet is set,
// the error is errBadHeader: megabytes of zeros are millions of bad headers.
func (d *debugData) parseUnitHeader(b []byte, off, total uint64, quiet bool) (h unitHeader, t typeHeader, err error) {
	c := bin.NewAt(d.section(), b, off, d.order.byteOrder())
	h = unitHeader{off: off, typ: utCompile}
	length := uint64(c.U32())
	if length == 0xffffffff {
		h.dwarf64 = true
		length = c.U64()
	}
	fail := func(format string, numbers ...uint64) (unitHeader, typeHeader, error) {
		if quiet {
			return h, t, errBadHeader
		}
		args := make([]any, len(numbers))
		for i, n := range numbers {
			args[i] = n
		}
		return h, t, &bin.Error{File: d.file, Section: d.section(), Offset: off, Msg: fmt.Sprintf(format, args...)}
	}
	if c.Err() != nil || !h.dwarf64 && length >= 0xfffffff0 {
		return fail("unit length %#x is none", length)
	}
	if rest := total - off - uint64(c.Pos()); length > rest {
		return fail("unit of %d bytes, %d left in the section", length, rest)
	}
	h.size = length + uint64(c.Pos())
	version := c.U16()
	if version < 2 || version > 5 {
		return fail("DWARF version %d, want 2 to 5", uint64(version))
	}
	h.version = uint8(version)
	if version >= 5 {
		h.typ, h.addrSize = c.U8(), c.U8()
		h.abbrev = c.Uint(int(h.offsetSize()))
	} else {
		h.abbrev = c.Uint(int(h.offsetSize()))
		h.addrSize = c.U8()
		if d.oldTypes {
			h.typ = utType
		}
	}
	switch h.typ {
	case utSkeleton, utSplitCompile:
		h.id = c.U64()
	case utType, utSplitType:
		t = typeHeader{c.U64(), c.Uint(int(h.offsetSize()))}
	}
	h.headSize = uint8(c.Pos())
	if c.Err() != nil || uint64(c.Pos()) > h.size {
		return fail("unit of %d bytes ends within its header", h.size)
	}
	switch h.addrSize {
	case 2, 4, 8:
		return h, t, nil
	}
	return fail("addresses of %d bytes, want 2, 4 or 8", uint64(h.addrSize))
}

// section returns the name of the section with the units.
func (d *debugData) section() string {
	if d.oldTypes {
		return ".debug_types"
	}
	return ".debug_info"
}

// unitAt returns the index of the unit that holds offset off of .debug_info.
func (d *debugData) unitAt(off uint64) (int, bool) {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].off > off }) - 1
	if i < 0 || off >= d.units[i].off+d.units[i].size {
		return 0, false
	}
	return i, true
}

// unit is a unit whose bytes are in memory, with the attributes of its first DIE.
type unit struct {
	unitHeader
	order
	d       *debugData
	data    []byte // from the header on; maybe only a part of the unit (peek)
	abbrevs *abbrevs

	firstDIE int // of the unit's own DIE, in data
	children int // of what follows it; len(data) when it has no children

	partial  bool // a partial unit: what several units share
	lang     uint64
	name     string
	compDir  string
	dwoName  string
	producer value // the compiler, for surveys
	stmtList value
	low      value
	high     value
	ranges   value

	dwoID uint64 // DWARF 4: as a unit's id

	lowPC          uint64 // base of range lists; 0 without DW_AT_low_pc
	strOffsetsBase uint64
	addrBase       uint64
	rnglistsBase   uint64
	gnuRangesBase  uint64 // of a skeleton: what the other half's DW_AT_ranges count from
	rangesBase     uint64 // what DW_AT_ranges count from in .debug_ranges

	owner *foreign // of a unit that is opened for references only
	meter *meter   // of who reads the unit
}

// begin prepares u for a unit whose bytes are data.
func (u *unit) begin(d *debugData, h *unitHeader, data []byte, t *abbrevs, m *meter) error {
	*u = unit{unitHeader: *h, order: d.order, d: d, data: data, abbrevs: t, meter: m, firstDIE: int(h.headSize)}
	u.children = len(data)
	if h.version >= 5 {
		// Without the attribute, the table behind the header of the first contribution.
		u.strOffsetsBase, u.addrBase = 2*u.offsetSize(), 2*u.offsetSize()
		u.rnglistsBase = 12
		if h.dwarf64 {
			u.rnglistsBase = 20
		}
	}
	pos := u.firstDIE
	code, pos := uleb(data, pos)
	if pos < 0 || code == 0 {
		return u.errorf(u.firstDIE, "unit without a DIE")
	}
	dc := t.lookup(code)
	if !dc.known || dc.class != classUnit {
		return u.errorf(u.firstDIE, "first DIE is no unit (abbreviation %d)", code)
	}
	var attrs [24]unitAttr
	taken, pos, err := u.takeUnit(dc, pos, attrs[:0])
	if err != nil {
		return err
	}
	u.partial = dc.tag == tagPartialUnit
	// Bases first: an attribute may come before the base that it needs.
	for _, a := range taken {
		u.setBase(a.at, a.value)
	}
	for _, a := range taken {
		u.setAttr(a.at, a.value)
	}
	if v, ok := u.address(u.low); ok {
		u.lowPC = v
	}
	if dc.children {
		u.children = pos
	}
	return nil
}

type unitAttr struct {
	at    uint16
	value value
}

// takeUnit reads the wanted attributes of the unit's DIE.
func (u *unit) takeUnit(dc *decl, pos int, attrs []unitAttr) ([]unitAttr, int, error) {
	if dc.bad {
		return nil, 0, u.errorf(pos, "unknown form %#x", dc.badForm)
	}
	u.meter.spend(uint64(len(dc.steps)))
	for i := range dc.steps {
		s := &dc.steps[i]
		if s.op != opTake {
			if pos = u.skip(s, pos); pos < 0 {
				return nil, 0, u.errorf(u.firstDIE, "unit ends within its first DIE")
			}
			continue
		}
		v, next := u.value(uint64(s.form), s.n, pos)
		if next < 0 {
			return nil, 0, u.errorf(pos, "unit ends within attribute %#x of its first DIE", s.at)
		}
		attrs = setUnitAttr(attrs, unitAttr{s.at, v})
		pos = next
	}
	return attrs, pos, nil
}

// setUnitAttr appends a, or replaces the attribute of the same name.
func setUnitAttr(attrs []unitAttr, a unitAttr) []unitAttr {
	for i := range attrs {
		if attrs[i].at == a.at {
			attrs[i] = a
			return attrs
		}
	}
	return append(attrs, a)
}

func (u *unit) setBase(at uint16, v value) {
	switch at {
	case atStrOffsetsBase:
		u.strOffsetsBase = v.u
	case atAddrBase, atGNUAddrBase:
		u.addrBase = v.u
	case atRnglistsBase:
		u.rnglistsBase = v.u
	case atGNURangesBase:
		u.gnuRangesBase = v.u
	}
}

func (u *unit) setAttr(at uint16, v value) {
	switch at {
	case atName:
		u.name = u.str(v)
	case atCompDir:
		u.compDir = u.str(v)
	case atProducer:
		u.producer = v
	case atDwoName, atGNUDwoName:
		u.dwoName = u.str(v)
	case atGNUDwoID:
		u.dwoID = v.u
	case atLanguage:
		u.lang = v.u
	case atStmtList:
		u.stmtList = v
	case atLowPC:
		u.low = v
	case atHighPC:
		u.high = v
	case atRanges:
		u.ranges = v
	}
}

func (u *unit) str(v value) string {
	b, _ := u.text(v)
	return string(b)
}

// scoped reports whether the language has named scopes that belong to the names
// of functions. Names in Go, Ada and C are complete as they are. Units made by dwz
// have no language.
func (u *unit) scoped() bool {
	switch u.lang {
	case 0:
		return u.partial
	case langCPlus, langCPP03, langCPP11, langCPP14, langCPP17, langCPP20, langCPP23, langObjCPP,
		langRust, langDLang, langSwift, langZig, langPascal83:
		return true
	}
	return false
}

// flat reports whether no function can be below a type, so that types may be
// jumped over. Functions without code may not: what is nested in a GNU C
// function that was inlined everywhere has code of its own.
func (u *unit) flat() bool {
	switch u.lang {
	case langC89, langC, langC99, langC11, langC17, langC23:
		return true
	}
	return false
}

// flatBehind is like flat, for a unit that another unit refers to; from is the result of
// that other unit's flat. It counts because units made by dwz have no language.
func (u *unit) flatBehind(from bool) bool { return u.flat() || from && u.lang == 0 && u.partial }

// assembly reports whether the unit was written in assembly: several labels at
// one address are then one function's, not functions that were folded.
func (u *unit) assembly() bool { return u.lang == langMipsAsm || u.lang == langAssembly }

// ownName returns the name of the unit in messages.
func (u *unit) ownName() string {
	if u.name == "" {
		return fmt.Sprintf("unit at %#x", u.off)
	}
	return fmt.Sprintf("unit at %#x, %s", u.off, u.name)
}
