package dwarf2sym

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/companion"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Contents describes the symbols, lines and call frame information in a binary without reading it. Sizes
// are in bytes. JSON fields may be added, but not changed.
type Contents struct {
	Format    string `json:"format"` // "ELF", "PE" or "Mach-O"
	Type      string `json:"type"`   // "executable", "shared library or PIE", "DLL", "object", "core", or a number
	CPU       string `json:"cpu"`    // the name in MODULE records, or else the container's name
	Bits      int    `json:"bits"`
	ByteOrder string `json:"byte_order"` // "little" or "big"
	Code      bool   `json:"code"`       // false for a separate debug file

	BuildID    string          `json:"build_id,omitempty"` // hexadecimal; for PE, the GUID of the PDB
	PDB        *PDBLink        `json:"pdb,omitempty"`      // nil if the file names no PDB
	DebugLink  string          `json:"debug_link,omitempty"`
	DebugCRC   string          `json:"debug_link_crc,omitempty"` // hexadecimal
	Supplement *SupplementLink `json:"supplement,omitempty"`

	NoSections bool           `json:"no_section_headers,omitempty"`
	Go         bool           `json:"go,omitempty"`    // written by Go's linker
	Debug      []SectionSize  `json:"debug_sections"`  // .debug_* and .zdebug_*
	Unwind     []SectionSize  `json:"unwind_sections"` // .eh_frame and the like
	Symbols    []SymbolCount  `json:"symbol_tables"`
	Damage     []DamagedTable `json:"damaged_tables,omitempty"`
}

// PDBLink is the link from a Windows binary to the PDB that describes it.
type PDBLink struct {
	Name string `json:"name"`
	ID   string `json:"id"` // as in MODULE records
}

// SupplementLink is the link to the file into which dwz moved shared debug information.
type SupplementLink struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	ID      string `json:"id"`
}

// SectionSize is a section's size, uncompressed and in the file.
type SectionSize struct {
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	FileSize    uint64 `json:"file_size"`
	Compression string `json:"compression,omitempty"` // "zlib" or "zstd"
	Version     int    `json:"version,omitempty"`     // of .sframe
}

// SymbolCount is the size of a symbol table. Table is the name of its section, or "COFF symbols" or
// "exports"; for a table in .gnu_debugdata, or made from Go's .gopclntab, it is the name of that section.
type SymbolCount struct {
	Table     string `json:"table"`
	Symbols   int    `json:"symbols"`
	Functions int    `json:"functions"` // how many of Symbols are functions
}

// DamagedTable is a symbol table that cannot be read completely.
type DamagedTable struct {
	Table string `json:"table"`
	Error string `json:"error"`
}

// ReadContents reads the headers of a file and counts its symbols.
func ReadContents(file symfmt.Binary) (*Contents, error) {
	f, err := object.Of(file)
	if err != nil {
		return nil, err
	}
	c := &Contents{
		Format: f.Format, Type: cmp.Or(f.Title, f.KindName), CPU: f.CPU, Bits: 8 * f.AddrSize, ByteOrder: "little", Code: f.HasCode(),
		BuildID: fmt.Sprintf("%x", f.BuildID()), NoSections: !f.HasSections(),
		Debug: []SectionSize{}, Unwind: []SectionSize{}, Symbols: []SymbolCount{},
	}
	if a := f.Arch; a != nil {
		c.CPU = a.Name
	}
	if f.Order == binary.ByteOrder(binary.BigEndian) {
		c.ByteOrder = "big"
	}
	if f.PDB != "" {
		c.PDB = &PDBLink{f.PDB, f.ID()}
	}
	if name, crc, ok := f.DebugLink(); ok {
		c.DebugLink, c.DebugCRC = name, fmt.Sprintf("%08x", crc)
	}
	if link, err := f.Supplement(); link != nil && err == nil {
		c.Supplement = &SupplementLink{link.Section, link.Name, fmt.Sprintf("%x", link.ID)}
	}
	c.sections(f)
	c.tables(f)
	return c, nil
}

// sections lists the sections with debug information and those for unwinding. It adds up the sizes of
// sections with the same name, which object files have.
func (c *Contents) sections(f *object.File) {
	for _, s := range f.Sections {
		switch {
		case !s.HasData():
		case s.Called() == companion.GoTable, s.Name == ".note.go.buildid":
			c.Go = true
		case strings.HasPrefix(s.Called(), ".debug_") && s.Called() != ".debug_frame", strings.HasPrefix(s.Called(), ".zdebug_"):
			c.Debug = addSection(c.Debug, s)
		}
	}
	for _, name := range f.Terms.Unwind {
		n := len(c.Unwind)
		for _, s := range f.Sections {
			if s.HasData() && (s.Name == name || s.Name == strings.Replace(name, ".debug", ".zdebug", 1)) && s.Size() > 0 {
				c.Unwind = addSection(c.Unwind, s)
			}
		}
		if s := f.Section(name); len(c.Unwind) == n && s != nil && s.HasData() && s.Size() > 0 { // with a shorter name
			c.Unwind = addSection(c.Unwind, s)
			c.Unwind[n].Name = name
		}
	}
}

func addSection(list []SectionSize, s *object.Section) []SectionSize {
	if n := len(list); n > 0 && list[n-1].Name == s.Name {
		list[n-1].Size += s.Size()
		list[n-1].FileSize += s.FileSize
		return list
	}
	added := SectionSize{Name: s.Name, Size: s.Size(), FileSize: s.FileSize, Compression: s.Compression()}
	if s.Name == ".sframe" {
		// The version is its third byte (SFrame format, 2.1.2); the magic number has two.
		if data, err := s.Data(); err == nil && len(data) > 2 {
			added.Version = int(data[2])
		}
	}
	return append(list, added)
}

// tables counts the symbols of all tables.
func (c *Contents) tables(f *object.File) {
	for _, which := range []object.Table{object.Symtab, object.Dynamic} {
		c.table(f.Terms.Tables[which], f, which)
	}
	name := ".gnu_debugdata"
	if f.Section(name) == nil {
		name = companion.GoTable
	}
	mini, err := f.Embedded()
	if err != nil {
		c.Damage = append(c.Damage, DamagedTable{name, err.Error()})
	}
	if mini != nil {
		c.table(name, mini, object.Symtab)
		if name == companion.GoTable && mini.Section(".debug_frame") != nil {
			c.Unwind = addSection(c.Unwind, f.Section(name))
		}
		mini.Close()
	}
}

func (c *Contents) table(name string, f *object.File, which object.Table) {
	n := SymbolCount{Table: name}
	err := f.Symbols(which, func(s *object.Symbol) {
		n.Symbols++
		if s.Kind == object.Function && s.Section != nil {
			n.Functions++
		}
	})
	if err != nil {
		c.Damage = append(c.Damage, DamagedTable{name, err.Error()})
	}
	if n.Symbols > 0 {
		c.Symbols = append(c.Symbols, n)
	}
}

// Units summarises the units of .debug_info, except type units. JSON fields may be added, but not changed.
type Units struct {
	Total     int         `json:"total"`
	Partial   int         `json:"partial"`    // made by dwz from what several units share
	Skeletons int         `json:"skeletons"`  // units whose functions are in .dwo files or packages
	Unread    int         `json:"unread"`     // units whose first DIE is damaged
	Versions  []UnitCount `json:"versions"`   // "DWARF 5", "DWARF 5, 64-bit"
	Languages []UnitCount `json:"languages"`  // DW_AT_language, without DW_LANG_
	Producers []UnitCount `json:"producers"`  // DW_AT_producer: compiler and options
	DwoNames  []string    `json:"dwo_names"`  // the first maxKinds of them
	MoreKinds int         `json:"more_kinds"` // number of units whose producer, version or name is not listed
}

// UnitCount is the number of units that share a property.
type UnitCount struct {
	Name  string `json:"name"`
	Units int    `json:"units"`
}

// maxKinds limits how many producers, versions and names are listed, as each of a million units may have a
// different one.
const maxKinds = 100

// ReadUnits reads the first DIE of each unit of a file. sup is the supplementary file with some of its
// strings, or nil. ReadUnits does not report damage; Read does. A file without .debug_info has no units.
func ReadUnits(ctx context.Context, file, sup symfmt.Binary) (*Units, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r, err := newReader(file, &Options{Supplement: sup})
	if err != nil {
		return nil, err
	}
	r.companions = []companion.File{{File: r.file}}
	d := r.openDebugData()
	if d == nil {
		return &Units{}, ctx.Err()
	}
	r.readUnitHeaders(d)
	d.Allow(units.EffortBase)
	s := &unitSurvey{versions: map[string]int{}, languages: map[string]int{}, producers: map[string]int{}}
	w := newWorker(d, nil, r.opts)
	for i := range d.Units {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h := &d.Units[i].Header
		if h.IsType() {
			continue
		}
		s.Total++
		s.count(s.versions, versionName(h))
		unit, ok := w.opener.First(w.d, h)
		if !ok {
			s.Unread++
			continue
		}
		s.add(&unit.Unit)
	}
	return s.units(), nil
}

func versionName(h *dwarf.Header) string {
	name := fmt.Sprintf("DWARF %d", h.Version)
	if h.DWARF64 {
		name += ", 64-bit"
	}
	return name
}

// unitSurvey collects a Units.
type unitSurvey struct {
	Units
	versions, languages, producers map[string]int
}

func (s *unitSurvey) add(u *dwarf.Unit) {
	if u.DwoName != "" {
		s.Skeletons++
		if len(s.DwoNames) < maxKinds {
			s.DwoNames = append(s.DwoNames, u.DwoName)
		}
		return // its other half holds the rest
	}
	if u.Partial {
		s.Partial++
		return
	}
	if u.Lang != 0 {
		s.count(s.languages, dw.LanguageName(u.Lang))
	}
	if producer := u.Str(u.Producer); producer != "" {
		s.count(s.producers, producer)
	}
}

// count counts a name, unless the table is full.
func (s *unitSurvey) count(names map[string]int, name string) {
	if names[name] == 0 && len(names) >= maxKinds {
		s.MoreKinds++
		return
	}
	names[name]++
}

func (s *unitSurvey) units() *Units {
	u := s.Units
	u.Versions, u.Languages, u.Producers = sortedCounts(s.versions), sortedCounts(s.languages), sortedCounts(s.producers)
	if u.DwoNames == nil {
		u.DwoNames = []string{}
	}
	return &u
}

// sortedCounts sorts counts in decreasing order, and equal ones by name.
func sortedCounts(names map[string]int) []UnitCount {
	all := []UnitCount{}
	for name, n := range names {
		all = append(all, UnitCount{name, n})
	}
	slices.SortFunc(all, func(a, b UnitCount) int { return cmp.Or(b.Units-a.Units, cmp.Compare(a.Name, b.Name)) })
	return all
}
