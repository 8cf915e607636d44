package units

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/par"
)

// Options control which of a file's debug information is opened.
type Options struct {
	Jobs       int          // number of sections that are inflated concurrently
	ISA        uint64       // the bit of code pointers that is not part of the address
	Supplement *object.File // the supplementary file; nil if there is none
	Locations  bool         // also open lists of locations
	Partly     bool         // only a part will be read: line programs and abbreviations are inflated on demand
	Tag        uint64       // of the Data
}

// ErrNoSupplement is the kind of problem of a supplementary file that is missing.
var ErrNoSupplement = errors.New("no supplementary file")

// AllFunctions describes the loss if all of .debug_info is damaged.
const AllFunctions = "all functions"

// dataReader opens the debug sections of a file and of its supplementary file.
type dataReader struct {
	Options
	problems []bin.Problem
}

func (r *dataReader) problem(lost string, err error) {
	r.problems = append(r.problems, bin.Problem{Lost: lost, Err: err})
}

// Open opens the debug information of f. It returns nil if there is none.
func Open(f *object.File, o Options) (*Data, []bin.Problem) {
	if !f.HasDWARF() {
		return nil, nil
	}
	r := dataReader{Options: o}
	d := r.file(f, AllFunctions)
	if d == nil {
		return nil, r.problems
	}
	d.Tag = o.Tag
	r.openSupplement(f, d)
	if s := f.Section(".debug_types"); s != nil && s.HasData() {
		info, err := openWhole(s)
		if err != nil {
			r.problem("names of types", err)
		} else {
			d.Types.old = d.oldTypesData(info)
			d.Types.old.Types.home = d
		}
	}
	return d, r.problems
}

// openSupplement opens the supplementary file of f, where dwz puts what several files share: names of functions,
// of types and of units.
func (r *dataReader) openSupplement(f *object.File, d *Data) {
	link, err := f.Supplement()
	if err != nil {
		r.problem("names in the supplementary file", err)
	}
	if link == nil {
		return
	}
	if r.Supplement == nil {
		r.problem("names in it", &bin.Error{File: f.Path, Section: link.Section,
			Msg: fmt.Sprintf("the supplementary file %q was not found", link.Name), Kind: ErrNoSupplement})
		return
	}
	const names = "names in it"
	if d.Sup = r.file(r.Supplement, names); d.Sup == nil {
		return
	}
	if err := Whole(d.Sup.Info); err != nil {
		r.problem(names, err)
		d.Sup = nil
	} else {
		d.Sup.Tag, d.SupStr = SupTag, d.Sup.Str
	}
}

// file opens the debug sections of one file. lost is the loss to report if they cannot be opened.
func (r *dataReader) file(f *object.File, lost string) *Data {
	d := &Data{Sections: dwarf.Sections{File: f.Path, Order: orderOf(f), ISA: r.ISA}}
	info := f.Section(".debug_info")
	if info == nil || !info.HasData() {
		r.problem(lost, &bin.Error{File: f.Path, Msg: "no .debug_info"})
		return nil
	}
	src, err := info.Open()
	if err != nil {
		r.problem(lost, err)
		return nil
	}
	d.Info = src
	if d.view = object.ViewOf(src); d.view != nil {
		d.random = append(d.random, info)
	}
	r.tables(f, d)
	return d
}

// tables opens the sections that units refer to. Compressed ones are inflated concurrently.
func (r *dataReader) tables(f *object.File, d *Data) {
	type table struct {
		name string
		data *[]byte // nil if the section is read piece by piece
	}
	tables := []table{
		{".debug_abbrev", &d.Abbrev}, {".debug_str", &d.Str}, {".debug_line_str", &d.LineStr},
		{".debug_str_offsets", &d.StrOffsets}, {".debug_addr", &d.Addr},
		{".debug_rnglists", &d.Rnglists}, {".debug_ranges", &d.Ranges},
	}
	if r.Locations {
		tables = append(tables, table{".debug_loclists", &d.Loclists}, table{".debug_loc", &d.Loc})
	}
	if f != r.Supplement { // references into it are only for names
		tables = append(tables, table{".debug_line", nil})
	}
	errs := make([]error, len(tables))
	_ = par.Each(context.Background(), r.Jobs, len(tables), func(_ context.Context, _, i int) error {
		if s := f.Section(tables[i].name); s == nil || !s.HasData() {
			return nil
		} else if tables[i].data == nil {
			d.Line, errs[i] = r.openLines(s)
		} else if tables[i].data == &d.Abbrev && r.Partly {
			errs[i] = d.openAbbrevs(s)
		} else {
			*tables[i].data, errs[i] = s.Map()
		}
		return nil // damage costs only what needs the section
	})
	for i, t := range tables {
		if t.data == nil {
			if errs[i] != nil {
				r.problem("all lines", errs[i])
			} else if object.ViewOf(d.Line) != nil {
				d.random = append(d.random, f.Section(t.name))
			}
			continue
		}
		if errs[i] != nil {
			r.problem("what needs "+t.name, errs[i])
		}
		if section := f.Section(t.name); section != nil {
			d.random = append(d.random, section)
		}
	}
	d.Str, d.LineStr = WholeStrings(d.Str), WholeStrings(d.LineStr)
}

// openLines opens the section with line programs.
func (r *dataReader) openLines(s *object.Section) (object.Source, error) {
	if r.Partly {
		return s.Open()
	}
	return openWhole(s)
}

// mostLate is the size of the largest .debug_abbrev that is inflated on demand: more would go to a temporary file.
const mostLate = 16 << 20

// openAbbrevs opens .debug_abbrev. If it is compressed, it will be inflated on demand.
func (d *Data) openAbbrevs(s *object.Section) (err error) {
	if s.Compression() != "" && s.Size() <= mostLate {
		src, err := s.Open()
		if _, ok := src.(object.Gradual); ok || err != nil {
			d.LateAbbrev = src
			return err
		}
	}
	d.Abbrev, err = s.Map()
	return err
}

// openWhole opens a section for reading piece by piece. A compressed section is inflated first.
func openWhole(s *object.Section) (object.Source, error) {
	src, err := s.Open()
	if err == nil {
		err = Whole(src)
	}
	return src, err
}

// Whole reads the rest of a section that is inflated on demand. It returns an error if any part of the section is
// damaged.
func Whole(s object.Source) error {
	if _, ok := s.(object.Gradual); !ok {
		return nil
	}
	_, err := s.Bytes(s.Size(), 0, nil)
	return err
}

// orderOf returns the byte order of a file.
func orderOf(f *object.File) dwarf.Order { return f.Order == binary.ByteOrder(binary.BigEndian) }

// checkOrder returns an error if f cannot have the other halves of d's units, because of its byte order.
func (d *Data) checkOrder(f *object.File) error {
	if orderOf(f) != d.Order {
		return &bin.Error{File: f.Path, Msg: "its byte order differs from that of the file with its skeletons"}
	}
	return nil
}

// WholeStrings returns section without an unterminated last string, so that every offset into the section finds a
// string without a search to the end of the section.
func WholeStrings(section []byte) []byte {
	return section[:bytes.LastIndexByte(section, 0)+1]
}

// wholeSection returns the contents of a section, which are empty if the section is missing.
func wholeSection(f *object.File, name string) ([]byte, error) {
	s := f.Section(name)
	if s == nil || !s.HasData() {
		return nil, nil
	}
	return s.Data()
}
