package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// dwp is a package of .dwo files (DWARF 5, 7.3.5). Its sections are read piece
// by piece, except for the strings, which all units share.
type dwp struct {
	file  *object.File
	order dwarf.Order
	sects [dwarf.SectCount]object.Source // nil if there is no such section
	str   []byte

	oldLocs bool // location lists are those of GNU's split DWARF 4

	units dwarf.PackIndex
	types packTypes // from .debug_tu_index
}

// newPackage reads the index of a package and opens its sections.
func newPackage(f *object.File, main *debugData) (*dwp, error) {
	if err := main.checkOrder(f); err != nil {
		return nil, err
	}
	p := &dwp{file: f, order: main.Order}
	for i, name := range dwarf.SectNames {
		s := f.Section(name)
		if s == nil && i == dwarf.SectLocs {
			s, p.oldLocs = f.Section(".debug_loc.dwo"), true
		}
		if s == nil || !s.HasData() {
			continue
		}
		src, err := openWhole(s)
		if err != nil {
			return nil, err
		}
		p.sects[i] = src
	}
	if p.sects[dwarf.SectInfo] == nil || p.sects[dwarf.SectAbbrev] == nil {
		return nil, &bin.Error{File: f.Path, Msg: "not a package: .debug_info.dwo or .debug_abbrev.dwo is missing"}
	}
	str, err := wholeSection(f, ".debug_str.dwo")
	if err != nil {
		return nil, err
	}
	p.str = wholeStrings(str)
	p.units, err = readIndex(f, dwarf.CUIndex)
	return p, err
}

// size returns the number of bytes to be read.
func (p *dwp) size() int64 {
	n := int64(len(p.str))
	for _, s := range p.sects {
		if s != nil {
			n += s.Size()
		}
	}
	return n
}

// piece is the part of a section of a package that was read last.
type piece struct {
	dwarf.Part
	data []byte
	buf  []byte
}

// unpacker reads units of a package in turn.
type unpacker struct {
	p         *dwp
	m         *dwarf.Meter
	locations bool // lists of locations are read, too
	last      [dwarf.SectCount]piece
}

// unit opens the unit of a row of the index, the other half of a skeleton in main.
func (x *unpacker) unit(main *debugData, row int) (*debugData, error) {
	p := x.p
	d := &debugData{half: &half{file: main.File}, packed: newPackedTypes(p), Sections: dwarf.Sections{
		File: p.file.Path, Order: p.order,
		Addr: main.Addr, Ranges: main.Ranges, Str: p.str, Info: p.sects[dwarf.SectInfo],
	}}
	for _, t := range []struct {
		sect int
		data *[]byte
		off  *uint64
	}{
		{dwarf.SectAbbrev, &d.Abbrev, &d.half.abbrev},
		{dwarf.SectStrOffsets, &d.StrOffsets, &d.half.strOffsets},
		{dwarf.SectRnglists, &d.Rnglists, &d.half.rnglists},
	} {
		got, err := x.piece(row, t.sect)
		if err != nil {
			return nil, err
		}
		*t.data, *t.off = got.data, got.Off
	}
	if x.locations {
		locs, err := x.piece(row, dwarf.SectLocs)
		if err != nil {
			return nil, err
		}
		if d.Loclists = locs.data; p.oldLocs {
			d.Loc, d.Loclists, d.OldSplit = locs.data, nil, true
		}
	}
	info := p.units.Part(row, dwarf.SectInfo)
	if err := p.inside(&p.units, info, dwarf.SectInfo); err != nil {
		return nil, err
	}
	d.walkUnits(info.Off, info.Off+info.Size)
	if !x.m.Spend(dwarf.MaxHeader * uint64(1+len(d.units))) {
		return nil, dwarf.ErrExhausted
	}
	return d, nil
}

// piece reads a unit's part of a section, unless it was the last one read, as
// the units of one .dwo file share theirs.
func (x *unpacker) piece(row, sect int) (*piece, error) {
	p, last := x.p, &x.last[sect]
	want := p.units.Part(row, sect)
	if want.Size == 0 || last.data != nil && want == last.Part {
		if want.Size == 0 {
			last.Part, last.data = dwarf.Part{}, nil
		}
		return last, nil
	}
	if err := p.inside(&p.units, want, sect); err != nil {
		return nil, err
	}
	if !x.m.Spend(want.Size) {
		return nil, dwarf.ErrExhausted
	}
	data, err := p.sects[sect].Bytes(int64(want.Off), int64(want.Size), last.buf)
	if err != nil {
		last.data = nil
		return nil, err
	}
	if cap(data) > cap(last.buf) {
		last.buf = data[:0]
	}
	last.Part, last.data = want, data
	return last, nil
}

// inside returns an error unless part t is within its section.
func (p *dwp) inside(x *dwarf.PackIndex, t dwarf.Part, sect int) error {
	total := uint64(0)
	if p.sects[sect] != nil {
		total = uint64(p.sects[sect].Size())
	}
	if t.Off > total || t.Size > total-t.Off {
		return x.Errorf(0, "%d bytes at %#x do not fit into the %d bytes of %s", t.Size, t.Off, total, dwarf.SectNames[sect])
	}
	return nil
}

// readIndex reads the index called name of the package f, if present.
func readIndex(f *object.File, name string) (x dwarf.PackIndex, err error) {
	x = dwarf.PackIndex{Name: name, File: f.Path, Order: orderOf(f)}
	data, err := wholeSection(f, name)
	if err == nil {
		err = x.Read(data)
	}
	return x, err
}
