package units

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Package is a package of .dwo files (DWARF 5, 7.3.5). Its sections are read piece
// by piece, except for the strings, which all units share.
type Package struct {
	File  *object.File
	order dwarf.Order
	sects [dwarf.SectCount]object.Source // nil if there is no such section
	str   []byte

	oldLocs bool // location lists are in the format of GNU's split DWARF 4

	Units dwarf.PackIndex
	Types packTypes // from .debug_tu_index
}

// NewPackage reads the index of a package and opens its sections.
func NewPackage(f *object.File, main *Data) (*Package, error) {
	if err := main.checkOrder(f); err != nil {
		return nil, err
	}
	p := &Package{File: f, order: main.Order}
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
	p.str = WholeStrings(str)
	p.Units, err = readIndex(f, dwarf.CUIndex)
	return p, err
}

// Size returns the number of bytes to be read.
func (p *Package) Size() int64 {
	n := int64(len(p.str))
	for _, s := range p.sects {
		if s != nil {
			n += s.Size()
		}
	}
	return n
}

// piece is the part of a package's section that was read last.
type piece struct {
	dwarf.Part
	data []byte
	buf  []byte
}

// Unpacker reads units of a package in turn.
type Unpacker struct {
	P         *Package
	M         *dwarf.Meter
	Locations bool // also read location lists
	last      [dwarf.SectCount]piece
}

// Unit opens the unit in a row of the index, which is the other half of a skeleton in
// main.
func (x *Unpacker) Unit(main *Data, row int) (*Data, error) {
	p := x.P
	d := &Data{half: &half{file: main.File}, packed: newPackedTypes(p), Sections: dwarf.Sections{
		File: p.File.Path, Order: p.order,
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
	if x.Locations {
		locs, err := x.piece(row, dwarf.SectLocs)
		if err != nil {
			return nil, err
		}
		if d.Loclists = locs.data; p.oldLocs {
			d.Loc, d.Loclists, d.OldSplit = locs.data, nil, true
		}
	}
	info := p.Units.Part(row, dwarf.SectInfo)
	if err := p.inside(&p.Units, info, dwarf.SectInfo); err != nil {
		return nil, err
	}
	d.walkUnits(info.Off, info.Off+info.Size)
	if !x.M.Spend(dwarf.MaxHeader * uint64(1+len(d.Units))) {
		return nil, dwarf.ErrExhausted
	}
	return d, nil
}

// piece reads a unit's part of a section, unless it was the last one read: the units of
// one .dwo file share their parts.
func (x *Unpacker) piece(row, sect int) (*piece, error) {
	p, last := x.P, &x.last[sect]
	want := p.Units.Part(row, sect)
	if want.Size == 0 || last.data != nil && want == last.Part {
		if want.Size == 0 {
			last.Part, last.data = dwarf.Part{}, nil
		}
		return last, nil
	}
	if err := p.inside(&p.Units, want, sect); err != nil {
		return nil, err
	}
	if !x.M.Spend(want.Size) {
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

// inside returns an error unless part t lies within its section.
func (p *Package) inside(x *dwarf.PackIndex, t dwarf.Part, sect int) error {
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
