package doctor

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// inventory describes the symbols, lines and call frame information in a binary without reading it. Sizes
// are in bytes. JSON fields may be added, but not changed.
type inventory struct {
	Format    string `json:"format"` // "ELF", "PE" or "Mach-O"
	Type      string `json:"type"`   // "executable", "shared library or PIE", "DLL", "object", "core", or a number
	CPU       string `json:"cpu"`    // the name in MODULE records, or else the container's name
	Bits      int    `json:"bits"`
	ByteOrder string `json:"byte_order"` // "little" or "big"
	Code      bool   `json:"code"`       // false for a separate debug file

	BuildID    string          `json:"build_id,omitempty"` // hexadecimal; for PE, the GUID of the PDB
	PDB        *pdbLink        `json:"pdb,omitempty"`      // nil if the file names no PDB
	DebugLink  string          `json:"debug_link,omitempty"`
	DebugCRC   string          `json:"debug_link_crc,omitempty"` // hexadecimal
	Supplement *supplementLink `json:"supplement,omitempty"`

	NoSections bool           `json:"no_section_headers,omitempty"`
	Go         bool           `json:"go,omitempty"`    // written by Go's linker
	Debug      []sectionSize  `json:"debug_sections"`  // .debug_* and .zdebug_*
	Unwind     []sectionSize  `json:"unwind_sections"` // .eh_frame and the like
	Symbols    []symbolCount  `json:"symbol_tables"`
	Damage     []damagedTable `json:"damaged_tables,omitempty"`
}

// pdbLink is the link from a Windows binary to the PDB that describes it.
type pdbLink struct {
	Name string `json:"name"`
	ID   string `json:"id"` // as in MODULE records
}

// supplementLink is the link to the file into which dwz moved shared debug information.
type supplementLink struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	ID      string `json:"id"`
}

// sectionSize is a section's size, uncompressed and in the file.
type sectionSize struct {
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	FileSize    uint64 `json:"file_size"`
	Compression string `json:"compression,omitempty"` // "zlib" or "zstd"
	Version     int    `json:"version,omitempty"`     // of .sframe
}

// symbolCount is the size of a symbol table. Table is the name of its section, or "COFF symbols" or
// "exports"; for a table in .gnu_debugdata, or made from Go's .gopclntab, it is the name of that section.
type symbolCount struct {
	Table     string `json:"table"`
	Symbols   int    `json:"symbols"`
	Functions int    `json:"functions"` // how many of Symbols are functions
}

// damagedTable is a symbol table that cannot be read completely.
type damagedTable struct {
	Table string `json:"table"`
	Error string `json:"error"`
}

// takeInventory reads the headers of a file and counts its symbols.
func takeInventory(f *object.File) *inventory {
	c := &inventory{
		Format: f.Format, Type: cmp.Or(f.Title, f.KindName), CPU: f.CPU, Bits: 8 * f.AddrSize, ByteOrder: "little", Code: f.HasCode(),
		BuildID: fmt.Sprintf("%x", f.BuildID()), NoSections: !f.HasSections(),
		Debug: []sectionSize{}, Unwind: []sectionSize{}, Symbols: []symbolCount{},
	}
	if a := f.Arch; a != nil {
		c.CPU = a.Name
	}
	if f.Order == binary.ByteOrder(binary.BigEndian) {
		c.ByteOrder = "big"
	}
	if f.PDB != "" {
		c.PDB = &pdbLink{f.PDB, f.ID()}
	}
	if name, crc, ok := f.DebugLink(); ok {
		c.DebugLink, c.DebugCRC = name, fmt.Sprintf("%08x", crc)
	}
	if link, err := f.Supplement(); link != nil && err == nil {
		c.Supplement = &supplementLink{link.Section, link.Name, fmt.Sprintf("%x", link.ID)}
	}
	c.sections(f)
	c.tables(f)
	return c
}

// sections lists the sections with debug information and those for unwinding. It adds up the sizes of
// sections with the same name, which object files have.
func (c *inventory) sections(f *object.File) {
	for _, s := range f.Sections {
		switch {
		case !s.HasData():
		case s.Called() == object.GoTable, s.Name == ".note.go.buildid":
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

func addSection(list []sectionSize, s *object.Section) []sectionSize {
	if n := len(list); n > 0 && list[n-1].Name == s.Name {
		list[n-1].Size += s.Size()
		list[n-1].FileSize += s.FileSize
		return list
	}
	added := sectionSize{Name: s.Name, Size: s.Size(), FileSize: s.FileSize, Compression: s.Compression()}
	if s.Name == ".sframe" {
		// The version is its third byte (SFrame format, 2.1.2); the magic number has two.
		if data, err := s.Data(); err == nil && len(data) > 2 {
			added.Version = int(data[2])
		}
	}
	return append(list, added)
}

// tables counts the symbols of all tables.
func (c *inventory) tables(f *object.File) {
	for _, which := range []object.Table{object.Symtab, object.Dynamic} {
		c.table(f.Terms.Tables[which], f, which)
	}
	name := ".gnu_debugdata"
	if f.Section(name) == nil {
		name = object.GoTable
	}
	mini, err := f.Embedded()
	if err != nil {
		c.Damage = append(c.Damage, damagedTable{name, err.Error()})
	}
	if mini != nil {
		c.table(name, mini, object.Symtab)
		if name == object.GoTable && mini.Section(".debug_frame") != nil {
			c.Unwind = addSection(c.Unwind, f.Section(name))
		}
		mini.Close()
	}
}

func (c *inventory) table(name string, f *object.File, which object.Table) {
	n := symbolCount{Table: name}
	err := f.Symbols(which, func(s *object.Symbol) {
		n.Symbols++
		if s.Kind == object.Function && s.Section != nil {
			n.Functions++
		}
	})
	if err != nil {
		c.Damage = append(c.Damage, damagedTable{name, err.Error()})
	}
	if n.Symbols > 0 {
		c.Symbols = append(c.Symbols, n)
	}
}
