package units

import (
	"fmt"
	"sync"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// typeUnits finds types by their signatures, for DW_FORM_ref_sig8. They are needed only
// for the names of scopes that a unit declares without a name, so the index is made on
// first use.
type typeUnits struct {
	old  *Data   // .debug_types (DWARF 4), or nil
	more []*Data // other sections of a .dwo file
	home *Data   // the Data that holds the index for this one, if another does; types refer to each other, too

	once     sync.Once
	places   map[uint64]typePlace
	Problems Problems
}

// typePlace is the DIE of a type.
type typePlace struct {
	d   *Data
	off uint64
}

// oldTypesData returns the debug information of .debug_types, which shares all other
// sections with .debug_info.
func (d *Data) oldTypesData(info object.Source) *Data {
	return &Data{Sup: d.Sup, Tag: d.Tag, Sections: dwarf.Sections{
		File: d.File, Order: d.Order, OldTypes: true, Info: info, SupStr: d.SupStr,
		Abbrev: d.Abbrev, LateAbbrev: d.LateAbbrev, Str: d.Str, LineStr: d.LineStr, StrOffsets: d.StrOffsets,
	}}
}

// typeOf returns the DIE of the type with the signature.
func (d *Data) typeOf(signature uint64) (*Data, uint64, bool) {
	if d.Types.home != nil {
		return d.Types.home.typeOf(signature)
	}
	t := &d.Types
	t.once.Do(func() {
		t.places = make(map[uint64]typePlace)
		if t.old != nil {
			t.Problems = t.old.ReadUnitHeaders()
			t.add(t.old)
		}
		for _, d := range t.more {
			if d.Units == nil {
				d.ReadUnitHeaders()
			}
			t.add(d)
		}
		t.add(d)
	})
	p, ok := t.places[signature]
	return p.d, p.off, ok
}

// add indexes the type units of d. Of several with the same signature, which describe the
// same type, the first is used.
func (t *typeUnits) add(d *Data) {
	var buf []byte
	units := d.AllUnits()
	for i := range units {
		h := &units[i]
		if !h.IsType() {
			continue
		}
		b, err := d.Info.Bytes(int64(h.Off), int64(h.HeadSize), buf)
		if err != nil {
			t.Problems.Next()
			t.Problems.Add(h.Off, fmt.Sprintf("type unit at %#x", h.Off), err)
			continue
		}
		buf = b
		_, th, err := d.ParseHeader(b, h.Off, h.Off+h.Size, false)
		if _, known := t.places[th.Signature]; err == nil && !known {
			t.places[th.Signature] = typePlace{d, h.Off + th.Offset}
		}
	}
}

// A package has each type unit once, from the first .dwo file that had it:
// .debug_tu_index says where it is, and where the abbreviations and string offsets of
// that file are. Only names of scopes need them, so the index is read on first use.

// packTypes is the index of a package's type units.
type packTypes struct {
	once  sync.Once
	index dwarf.PackIndex
	Err   error
}

// typeIndex returns the index of type units. It has no rows if the section is missing or
// cannot be read.
func (p *Package) typeIndex() *dwarf.PackIndex {
	t := &p.Types
	t.once.Do(func() {
		// GNU's dwp leaves a header without contents if there are no types.
		if s := p.File.Section(dwarf.TUIndex); s != nil && s.Size() != 16 {
			t.index, t.Err = readIndex(p.File, dwarf.TUIndex)
		}
		if t.Err != nil {
			t.index.Rows = nil
		}
	})
	return &t.index
}

// packedTypes holds the type units that one unit of a package refers to. It is not kept
// for the next unit, as the cost of a unit must not depend on others.
type packedTypes struct {
	p     *Package
	units map[uint64]*Data      // by signature; nil if there is no such unit
	parts map[packedPart][]byte // of .debug_abbrev.dwo and .debug_str_offsets.dwo
	size  uint64                // bytes of parts
}

type packedPart struct {
	dwarf.Part
	sect int
}

// packedMost bounds the bytes of parts that are kept: real ones take some KB for each
// .dwo file.
const packedMost = 16 << 20

func newPackedTypes(p *Package) *packedTypes {
	return &packedTypes{p: p, units: make(map[uint64]*Data), parts: make(map[packedPart][]byte)}
}

// packedType returns the DIE of the type with the given signature, to which a unit of
// from refers.
func (o *Opener) packedType(from *Data, signature uint64) (*Data, uint64, bool) {
	x := from.packed
	d, known := x.units[signature]
	if !known {
		var err error
		if d, err = o.openPackedType(from, signature); err != nil && !o.Exhausted {
			o.problem(0, fmt.Sprintf("names in the type %#x", signature), err)
		}
		x.units[signature] = d
	}
	if d == nil {
		return nil, 0, false
	}
	return d.typeOf(signature)
}

// openPackedType opens a type unit. It returns nil if the index has no entry for it.
func (o *Opener) openPackedType(from *Data, signature uint64) (*Data, error) {
	x := from.packed
	p, index := x.p, x.p.typeIndex()
	row, ok := index.Rows[signature]
	if !ok {
		return nil, nil
	}
	if x.size > packedMost {
		// No open unit may refer to what is dropped here.
		o.Close()
		clear(x.units)
		clear(x.parts)
		x.size = 0
	}
	d := &Data{half: from.half, packed: x, Sections: dwarf.Sections{
		File: from.File, Order: from.Order,
		Str: p.str, Info: p.sects[index.Holds], OldTypes: index.Holds == dwarf.SectTypes,
	}}
	var err error
	if d.Abbrev, err = o.packedPart(x, row, dwarf.SectAbbrev); err != nil {
		return nil, err
	}
	if d.StrOffsets, err = o.packedPart(x, row, dwarf.SectStrOffsets); err != nil {
		return nil, err
	}
	info := index.Part(row, index.Holds)
	if err := p.inside(index, info, index.Holds); err != nil {
		return nil, err
	}
	if d.Info == nil {
		return nil, nil
	}
	problems := d.walkUnits(info.Off, info.Off+info.Size)
	o.Spend(dwarf.MaxHeader * uint64(1+len(d.Units)))
	if _, _, ok := d.typeOf(signature); ok {
		return d, nil
	}
	if len(problems.Kept) > 0 {
		return nil, problems.Kept[0].Err
	}
	return nil, &bin.Error{File: p.File.Path, Section: dwarf.SectNames[index.Holds], Offset: info.Off,
		Msg: fmt.Sprintf("no type unit has the signature %#x, as %s says", signature, dwarf.TUIndex)}
}

// packedPart reads a type unit's part of a section.
func (o *Opener) packedPart(x *packedTypes, row, sect int) ([]byte, error) {
	p, index := x.p, x.p.typeIndex()
	key := packedPart{index.Part(row, sect), sect}
	if data, ok := x.parts[key]; ok || key.Size == 0 {
		return data, nil
	}
	if err := p.inside(index, key.Part, sect); err != nil {
		return nil, err
	}
	if !o.Spend(key.Size) {
		return nil, dwarf.ErrExhausted
	}
	data, err := p.sects[sect].Bytes(int64(key.Off), int64(key.Size), nil)
	if err != nil {
		return nil, err
	}
	x.parts[key] = data
	x.size += key.Size
	return data, nil
}
