package dwarf2sym

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// dwp is a package of .dwo files (DWARF 5, 7.3.5). Its sections are read piece
// by piece, but for the strings, which all units share.
type dwp struct {
	file  *object.File
	order order
	sects [sectCount]object.Source // nil: no such section
	str   []byte

	units packIndex
	types packTypes // what .debug_tu_index says

	job int // being filled, an index in splitter.jobs; -1: none
}

// openPackages opens the packages that belong to the file: the one that the
// user named, else those next to the file and its debug file.
func (r *reader) openPackages(main *debugData) (all []*dwp) {
	if name := r.opts.Package; name != "" {
		return r.openPackage(all, name, main)
	}
	for _, path := range r.packagePaths() {
		if _, ok := regularSize(path); ok {
			all = r.openPackage(all, path, main)
		}
	}
	return all
}

// packagePaths lists where a package is looked for: FILE.dwp, by FILE's name
// and by that which a symbolic link leads to, and in the folders with .dwo files.
// Options.Hermetic leaves the latter only.
func (r *reader) packagePaths() (paths []string) {
	add := func(path string) {
		if path = filepath.Clean(path) + ".dwp"; !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, f := range []*object.File{r.file, r.debug} {
		if f == nil || f.Path == "" {
			continue
		}
		if !r.opts.Hermetic {
			add(f.Path)
			if real, err := filepath.EvalSymlinks(f.Path); err == nil {
				add(real)
			}
		}
		for _, dir := range r.opts.DwoDirs {
			add(filepath.Join(dir, filepath.Base(f.Path)))
		}
	}
	return paths
}

func (r *reader) openPackage(all []*dwp, path string, main *debugData) []*dwp {
	f, err := r.opts.open(path)
	if err == nil {
		var p *dwp
		if p, err = newPackage(f, main); err == nil {
			return append(all, p)
		}
		f.Close()
	}
	r.problem(problemFile, "the functions in it", err)
	return all
}

// newPackage reads the index of a package and opens its sections.
func newPackage(f *object.File, main *debugData) (*dwp, error) {
	if err := main.checkOrder(f); err != nil {
		return nil, err
	}
	p := &dwp{file: f, order: main.order, job: -1}
	for i, name := range sectNames {
		s := f.Section(name)
		if s == nil || !s.HasData() {
			continue
		}
		src, err := s.Open()
		if err != nil {
			return nil, err
		}
		p.sects[i] = src
	}
	if p.sects[sectInfo] == nil || p.sects[sectAbbrev] == nil {
		return nil, &bin.Error{File: f.Path, Msg: "no package: there is no .debug_info.dwo, or no .debug_abbrev.dwo"}
	}
	str, err := wholeSection(f, ".debug_str.dwo")
	if err != nil {
		return nil, err
	}
	p.str = wholeStrings(str)
	p.units, err = readIndex(f, cuIndex)
	return p, err
}

// size returns how many bytes there are to be read.
func (p *dwp) size() int64 {
	n := int64(len(p.str))
	for _, s := range p.sects {
		if s != nil {
			n += s.Size()
		}
	}
	return n
}

// piece is what was read last of a section of a package.
type piece struct {
	part
	data []byte
	buf  []byte
}

// packedHalves reads other halves in a package.
func (w *worker) packedHalves(j *splitJob) {
	p := j.pkg
	if w.pools == nil {
		w.pools = make(map[*dwp]map[uint64]nameID)
	}
	if w.pools[p] == nil {
		w.pools[p] = make(map[uint64]nameID)
	}
	var pieces [sectCount]piece
	var buf []byte // for .debug_info.dwo
	for i := range j.skeletons {
		sk := &j.skeletons[i]
		if w.exhausted {
			return
		}
		s := newFileState(nil)
		s.places, s.info = w.pools[p], buf
		ok := false
		h, err := w.unpack(p, sk, &pieces, &s)
		if err == nil {
			ok = w.halfOf(sk, h, &s)
			buf = s.info
		} else if !w.exhausted {
			skel := &w.d.units[sk.unit]
			w.damage().next()
			w.problem(skel.off, fmt.Sprintf("unit at %#x", skel.off), err)
		}
		if !ok && !w.exhausted {
			w.skeletonAlone(sk)
		}
	}
}

// unpack finds the parts of a skeleton's other half, and its header.
func (w *worker) unpack(p *dwp, sk *skeleton, pieces *[sectCount]piece, s *fileState) (*unitHeader, error) {
	d := &debugData{
		file: p.file.Path, order: p.order, half: &half{file: w.d.file},
		addr: w.d.addr, ranges: w.d.ranges, str: p.str, info: p.sects[sectInfo], packed: newPackedTypes(p),
	}
	for _, t := range []struct {
		sect int
		data *[]byte
		off  *uint64
	}{
		{sectAbbrev, &d.abbrev, &d.half.abbrev},
		{sectStrOffsets, &d.strOffsets, &d.half.strOffsets},
		{sectRnglists, &d.rnglists, &d.half.rnglists},
	} {
		got, err := w.piece(p, sk.row, t.sect, &pieces[t.sect])
		if err != nil {
			return nil, err
		}
		*t.data, *t.off = got.data, got.off
	}
	info := p.units.part(sk.row, sectInfo)
	if err := p.inside(&p.units, info, sectInfo); err != nil {
		return nil, err
	}
	problems := d.walkUnits(info.off, info.off+info.size)
	if !w.spend(maxUnitHeader * uint64(1+len(d.units))) {
		return nil, errExhausted
	}
	s.d = d
	main := w.turnTo(*s)
	defer func() { *s = w.turnTo(main) }()
	var other uint64
	for i := range d.units {
		h := &d.units[i]
		if h.isType() {
			continue
		}
		id, ok := w.splitIDOf(h)
		if !ok {
			continue
		}
		if other = id; id == sk.id {
			return h, nil
		}
	}
	if len(problems.kept) > 0 {
		return nil, problems.kept[0].Err
	}
	return nil, &bin.Error{File: p.file.Path, Section: sectNames[sectInfo], Offset: info.off,
		Msg: fmt.Sprintf("the unit that %s gives the dwo id %#x has the id %#x", cuIndex, sk.id, other)}
}

// piece reads a unit's part of a section, unless it is the last one that was
// read: the units of one .dwo file share theirs.
func (w *worker) piece(p *dwp, row, sect int, last *piece) (*piece, error) {
	want := p.units.part(row, sect)
	if want.size == 0 || last.data != nil && want == last.part {
		if want.size == 0 {
			last.part, last.data = part{}, nil
		}
		return last, nil
	}
	if err := p.inside(&p.units, want, sect); err != nil {
		return nil, err
	}
	if !w.spend(want.size) {
		return nil, errExhausted
	}
	data, err := p.sects[sect].Bytes(int64(want.off), int64(want.size), last.buf)
	if err != nil {
		last.data = nil
		return nil, err
	}
	if cap(data) > cap(last.buf) {
		last.buf = data[:0]
	}
	last.part, last.data = want, data
	return last, nil
}

// inside returns an error unless part t lies in its section.
func (p *dwp) inside(x *packIndex, t part, sect int) error {
	total := uint64(0)
	if p.sects[sect] != nil {
		total = uint64(p.sects[sect].Size())
	}
	if t.off > total || t.size > total-t.off {
		return x.errorf(0, "%d bytes at %#x do not fit into the %d bytes of %s", t.size, t.off, total, sectNames[sect])
	}
	return nil
}

// Columns of a package's indexes: the sections that units have a part of.
const (
	sectInfo = iota
	sectTypes
	sectAbbrev
	sectStrOffsets
	sectRnglists
	sectCount
)

// column returns the section that a number in an index's header stands for: GNU's
// version 2 and DWARF 5 number them differently (DWARF 5, 7.3.5.3; GCC wiki,
// "DebugFissionDWP").
func column(version uint32, id uint32) (sect int, known bool) {
	switch id {
	case 1:
		return sectInfo, true
	case 2:
		return sectTypes, version < 5 // version 5: reserved
	case 3:
		return sectAbbrev, true
	case 6:
		return sectStrOffsets, true
	case 8:
		return sectRnglists, version >= 5 // version 2: .debug_macro.dwo
	}
	return 0, false
}

// sectNames are the sections by column.
var sectNames = [sectCount]string{".debug_info.dwo", ".debug_types.dwo", ".debug_abbrev.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo"}

// part is a unit's part of a section.
type part struct{ off, size uint64 }

// The indexes of a package.
const (
	cuIndex = ".debug_cu_index"
	tuIndex = ".debug_tu_index"
)

// packIndex is an index of a package: where the parts of its units are.
type packIndex struct {
	name  string // of its section
	file  string
	order order

	rows    map[uint64]int // by dwo id, or by signature; from 0
	holds   int            // the section with the units
	columns [sectCount]int // in a row; -1: none
	width   int            // columns in all
	offsets []byte         // rows of width numbers of 4 bytes
	sizes   []byte
}

// readIndex reads the index called name of the package f, if present.
func readIndex(f *object.File, name string) (x packIndex, err error) {
	x = packIndex{name: name, file: f.Path, order: orderOf(f)}
	data, err := wholeSection(f, name)
	if err == nil {
		err = x.read(data)
	}
	return x, err
}

func (x *packIndex) errorf(off uint64, format string, args ...any) error {
	return &bin.Error{File: x.file, Section: x.name, Offset: off, Msg: fmt.Sprintf(format, args...)}
}

// read reads an index (DWARF 5, 7.3.5.3): a hash table of ids, and two tables,
// of offsets and sizes, with a row for each unit and a column for each section.
// The order of the hash table does not matter here: it is read from front to
// back, once.
func (x *packIndex) read(data []byte) error {
	c := bin.NewAt(x.name, data, 0, x.order.byteOrder())
	if len(data) < 16 {
		return x.errorf(0, "%d bytes are no index of a package", len(data))
	}
	version := c.U32()
	if v := x.order.u16(data); v == 5 {
		version = 5 // of 2 bytes, and 2 that mean nothing
	}
	if version != 2 && version != 5 {
		return x.errorf(0, "index version %d, want 2 or 5", version)
	}
	width, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	rest := uint64(len(data)) - 16
	// In this order no product overflows.
	if slots > rest/12 || width == 0 || width > 64 || units > rest/(8*width) ||
		12*slots+4*width+8*units*width > rest {
		return x.errorf(4, "index of %d columns, %d units and %d slots does not fit into %d bytes", width, units, slots, len(data))
	}
	ids, numbers := c.Bytes(8*slots), c.Bytes(4*slots)
	if err := x.readColumns(&c, version, int(width)); err != nil {
		return err
	}
	x.offsets, x.sizes = c.Bytes(4*units*width), c.Bytes(4*units*width)
	x.rows = make(map[uint64]int)
	for i := uint64(0); i < slots; i++ {
		row := uint64(x.order.u32(numbers[4*i:]))
		if row == 0 {
			continue
		}
		if row > units {
			return x.errorf(16+8*slots+4*i, "row %d of %d", row, units)
		}
		id := x.order.u64(ids[8*i:])
		if _, twice := x.rows[id]; twice {
			return x.errorf(16+8*i, "the id %#x is there twice", id)
		}
		x.rows[id] = int(row - 1)
	}
	return nil
}

// readColumns reads which section each column refers to.
func (x *packIndex) readColumns(c *bin.Cursor, version uint32, width int) error {
	x.width = width
	for sect := range x.columns {
		x.columns[sect] = -1
	}
	for i := range width {
		off := c.Offset()
		sect, known := column(version, c.U32())
		if !known {
			continue
		}
		if x.columns[sect] >= 0 {
			return x.errorf(off, "a second column for %s", sectNames[sect])
		}
		x.columns[sect] = i
	}
	if x.holds = sectInfo; x.name == tuIndex && version < 5 {
		x.holds = sectTypes
	}
	for _, sect := range []int{x.holds, sectAbbrev} {
		if x.columns[sect] < 0 {
			return x.errorf(16, "no column for %s", sectNames[sect])
		}
	}
	return nil
}

// part returns a unit's part of a section; none where it has no column.
func (x *packIndex) part(row, sect int) part {
	col := x.columns[sect]
	if col < 0 {
		return part{}
	}
	at := 4 * (row*x.width + col)
	return part{uint64(x.order.u32(x.offsets[at:])), uint64(x.order.u32(x.sizes[at:]))}
}
