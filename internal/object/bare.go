package object

import (
	"github.com/symtool/symtool/internal/bin"
)

// Bare is a Container that has only sections: no symbols, ids or links. Other Containers embed it for what
// their format lacks.
type Bare struct{ Sections []*Section }

// Section implements Container: it returns the first section called name that has bytes, or else the first one
// called name.
func (b *Bare) Section(name string) *Section {
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
func (b *Bare) Close() error {
	for _, s := range b.Sections {
		s.Release()
	}
	return nil
}

// The other methods of Container return nothing.

func (*Bare) Located(string) (*Section, error)   { return nil, nil }
func (*Bare) Symbols(Table, func(*Symbol)) error { return nil }
func (*Bare) SymbolNames(Table) ([]byte, error)  { return nil, nil }
func (*Bare) HasSymbols(Table) bool              { return false }
func (*Bare) ReleaseSymbols()                    {}
func (*Bare) BuildID() []byte                    { return nil }
func (*Bare) ContentID() []byte                  { return nil }
func (*Bare) ModuleID([]byte) string             { return "" }
func (*Bare) CodeID([]byte, string) string       { return "" }
func (*Bare) Name() (string, error)              { return "", nil }
func (*Bare) NameLost() bool                     { return false }
func (*Bare) Moved(*File) (uint64, error)        { return 0, nil }
func (*Bare) Supplement() (*Link, error)         { return nil, nil }
func (*Bare) SupplementID() []byte               { return nil }
func (*Bare) DebugLink() (string, uint32, bool)  { return "", 0, false }
func (*Bare) Embedded() (*File, error)           { return nil, nil }
func (*Bare) Pointer(uint64) uint64              { return 0 }
func (*Bare) SectionsNamed(string) []*Section    { return nil }
func (*Bare) FunctionStarts() ([]uint64, error)  { return nil, nil }
func (*Bare) DataInCode() ([]Range, error)       { return nil, nil }
func (*Bare) AddrOf(uint64) (uint64, bool)       { return 0, false }
func (*Bare) CodeOffset() (uint64, bool)         { return 0, false }
func (*Bare) Imports(func(uint64, []byte)) error { return nil }
func (*Bare) DebugMap() ([]MappedObject, error)  { return nil, nil }
func (*Bare) Problems() []bin.Problem            { return nil }
