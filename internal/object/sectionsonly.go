package object

import (
	"github.com/symtool/symtool/internal/bin"
)

// SectionsOnly is a Container that has only sections: no symbols, ids or links. Other Containers embed it for what
// their format lacks.
type SectionsOnly struct{ Sections []*Section }

// Section implements Container: it returns the first section called name that has bytes, or else the first one
// called name.
func (b *SectionsOnly) Section(name string) *Section {
	var first *Section
	for _, s := range b.Sections {
		switch {
		case s.Name != name:
		case s.HasData():
			return s
		case first == nil:
			first = s
		}
	}
	return first
}

// Close implements Container: it releases the contents of the sections.
func (b *SectionsOnly) Close() error {
	for _, s := range b.Sections {
		s.Release()
	}
	return nil
}

// The other methods of Container return nothing.

func (*SectionsOnly) Located(string) (*Section, error)    { return nil, nil }
func (*SectionsOnly) Symbols(Table, func(*Symbol)) error  { return nil }
func (*SectionsOnly) SymbolNames(Table) ([]byte, error)   { return nil, nil }
func (*SectionsOnly) HasSymbols(Table) bool               { return false }
func (*SectionsOnly) ReleaseSymbols()                     {}
func (*SectionsOnly) BuildID() []byte                     { return nil }
func (*SectionsOnly) ContentID() []byte                   { return nil }
func (*SectionsOnly) ModuleID([]byte) string              { return "" }
func (*SectionsOnly) CodeID([]byte, string) string        { return "" }
func (*SectionsOnly) Name() (string, error)               { return "", nil }
func (*SectionsOnly) NameLost() bool                      { return false }
func (*SectionsOnly) Moved(*File) (uint64, error)         { return 0, nil }
func (*SectionsOnly) Supplement() (*Link, error)          { return nil, nil }
func (*SectionsOnly) SupplementID() []byte                { return nil }
func (*SectionsOnly) DebugLink() (string, uint32, bool)   { return "", 0, false }
func (*SectionsOnly) Embedded() (*File, error)            { return nil, nil }
func (*SectionsOnly) Pointer(uint64) uint64               { return 0 }
func (*SectionsOnly) Pointers(func(addr, value uint64))   {}
func (*SectionsOnly) SectionsNamed(string) []*Section     { return nil }
func (*SectionsOnly) FunctionStarts() ([]uint64, error)   { return nil, nil }
func (*SectionsOnly) DataInCode() ([]Range, error)        { return nil, nil }
func (*SectionsOnly) AddrOf(uint64) (uint64, bool)        { return 0, false }
func (*SectionsOnly) CodeOffset() (uint64, bool)          { return 0, false }
func (*SectionsOnly) Imports(func(uint64, *Symbol)) error { return nil }
func (*SectionsOnly) DebugMap() ([]MappedObject, error)   { return nil, nil }
func (*SectionsOnly) Problems() []bin.Problem             { return nil }
