package object

import (
	"cmp"
	"slices"
)

// SectionList has sections in order of address.
type SectionList []*Section

// SectionsBy returns the loaded sections that have bytes in the file and are wanted.
func (f *File) SectionsBy(want func(*Section) bool) (list SectionList) {
	for _, s := range f.Loaded() {
		if s.FileSize > 0 && want(s) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *Section) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// At returns the section that contains addr. Where sections overlap, which no linker does, it returns the last
// one or nil.
func (l SectionList) At(addr uint64) *Section {
	i, _ := slices.BinarySearchFunc(l, addr, func(s *Section, addr uint64) int {
		if s.Addr <= addr {
			return -1
		}
		return 1
	})
	if i == 0 || addr-l[i-1].Addr >= l[i-1].FileSize {
		return nil
	}
	return l[i-1]
}
