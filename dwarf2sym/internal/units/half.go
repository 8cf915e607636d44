package units

import (
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// half says where the other sections of a unit are, for messages.
type half struct {
	file string // the file with the skeleton
	// Offsets of the unit's contributions, which are missing from the offsets in messages.
	abbrev, strOffsets, rnglists uint64
}

// Locate corrects an error in another half whose section and offset are given as in a file
// without split units.
func (d *Data) Locate(e *bin.Error) {
	h := d.half
	if h == nil {
		return
	}
	switch e.Section {
	case ".debug_ranges", ".debug_addr":
		e.File = h.file
		return
	case ".debug_abbrev":
		e.Offset += h.abbrev
	case ".debug_rnglists":
		e.Offset += h.rnglists
	case ".debug_str_offsets":
		e.Offset += h.strOffsets
	case ".debug_info", ".debug_types":
	default:
		return
	}
	e.Section += ".dwo"
}

// OpenSplit returns the debug information of a .dwo file: several if type units have their
// own .debug_info.dwo sections. main provides what belongs to the skeletons.
func OpenSplit(f *object.File, main *Data, locations bool) (all []*Data, err error) {
	if err := main.checkOrder(f); err != nil {
		return nil, err
	}
	var abbrev, str, strOffsets, rnglists, loclists, locs []byte
	for _, s := range []struct {
		name string
		data *[]byte
	}{
		{".debug_abbrev.dwo", &abbrev}, {".debug_str.dwo", &str},
		{".debug_str_offsets.dwo", &strOffsets}, {".debug_rnglists.dwo", &rnglists},
	} {
		if *s.data, err = wholeSection(f, s.name); err != nil {
			return nil, err
		}
	}
	if locations {
		if loclists, err = wholeSection(f, ".debug_loclists.dwo"); err == nil {
			locs, err = wholeSection(f, ".debug_loc.dwo")
		}
		if err != nil {
			return nil, err
		}
	}
	var types []*Data
	for _, s := range f.Sections {
		name := strings.Replace(s.Name, ".zdebug_", ".debug_", 1)
		if name != ".debug_info.dwo" && name != ".debug_types.dwo" || !s.HasData() {
			continue
		}
		info, err := openWhole(s)
		if err != nil {
			return nil, err
		}
		d := &Data{half: &half{file: main.File}, Sections: dwarf.Sections{
			File: f.Path, Order: main.Order, Info: info,
			Abbrev: abbrev, Str: WholeStrings(str), StrOffsets: strOffsets, Rnglists: rnglists,
			Addr: main.Addr, Ranges: main.Ranges, OldTypes: name == ".debug_types.dwo",
			Loclists: loclists, Loc: locs, OldSplit: true,
		}}
		types = append(types, d)
		if !d.OldTypes {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil, &bin.Error{File: f.Path, Msg: "has no .debug_info.dwo"}
	}
	all[0].Types.more = types
	for _, d := range types {
		if d != all[0] {
			d.Types.home = all[0]
		}
	}
	return all, nil
}
