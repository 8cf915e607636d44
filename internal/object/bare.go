package object

import (
	"iter"
	"slices"

	"github.com/symtool/symtool/internal/bin"
)

// Bare is a Container that has sections only: no symbols, ids or links.
type Bare struct{ Sections []*Section }

// Section implements Container.
func (b *Bare) Section(name string) *Section {
	return FirstNamed(slices.Values(b.Sections), name)
}

// FirstNamed returns the first section of a name that has bytes, or else the first of that name; nil
// if there is none.
func FirstNamed(sections iter.Seq[*Section], name string) *Section {
	var first *Section
	for s := range sections {
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

// SectionsNamed implements Container.
func (b *Bare) SectionsNamed(name string) []*Section {
	if s := b.Section(name); s != nil && s.HasData() {
		return []*Section{s}
	}
	return nil
}

// The rest of Container is empty.

func (*Bare) Located(string) (*Section, error)   { return nil, nil }
func (*Bare) Symbols(Table, func(*Symbol)) error { return nil }
func (*Bare) SymbolNames(Table) ([]byte, error)  { return nil, nil }
func (*Bare) HasSymbols(Table) bool              { return false }
func (*Bare) ReleaseSymbols()                    {}
func (*Bare) BuildID() []byte                    { return nil }
func (*Bare) ContentID() []byte                  { return nil }
func (*Bare) ModuleID([]byte) string             { return "" }
func (*Bare) CodeID([]byte) string               { return "" }
func (*Bare) Name() (string, error)              { return "", nil }
func (*Bare) NameLost() bool                     { return false }
func (*Bare) Moved(*File) (uint64, error)        { return 0, nil }
func (*Bare) Supplement() (*Link, error)         { return nil, nil }
func (*Bare) DebugLink() (string, uint32, bool)  { return "", 0, false }
func (*Bare) Embedded() (*File, error)           { return nil, nil }
func (*Bare) Pointer(uint64) uint64              { return 0 }
func (*Bare) Problems() []bin.Problem            { return nil }
func (*Bare) Close() error                       { return nil }
