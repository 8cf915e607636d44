package dwarf2sym

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// companionCFI collects the call frame information of a binary, the first of
// files, and of those with it. Each section comes from the first file that has
// bytes for it: "objcopy --only-keep-debug" leaves an empty .eh_frame.
func companionCFI(a *arch.Arch, files []companion) (*unwind.Input, []bin.Problem) {
	f := files[0]
	in := &unwind.Input{
		Arch:    a,
		Order:   binary.ByteOrder(f.Order),
		PtrSize: f.AddrSize,
		Base:    f.Base,
		Fixed:   f.Kind == object.Executable,
		Exec:    f.Executable,

		CodeBytes: newCodeMap(f.File).size(),
	}
	in.TextAddr = cfiSectionAddr(f.File, ".text")
	if in.DataAddr = cfiSectionAddr(f.File, ".got"); in.DataAddr == 0 {
		in.DataAddr = cfiSectionAddr(f.File, ".got.plt")
	}
	var problems []bin.Problem
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		sections, from := firstWithData(files, name)
		if sections == nil && name == ".eh_frame" {
			problems = append(problems, addEHFrame(in, f)...)
		}
		for _, s := range sections {
			data, err := s.Data()
			if err != nil {
				problems = append(problems, bin.Problem{Lost: name, Err: err})
				continue
			}
			in.Sections = append(in.Sections, unwind.Section{Name: name, Addr: s.Addr + from.moved, Data: data, EH: name == ".eh_frame", File: from.Path, Moved: from.moved})
		}
	}
	return in, append(problems, addIndex(in, files)...)
}

// addEHFrame adds the .eh_frame that only the program headers locate.
func addEHFrame(in *unwind.Input, f companion) []bin.Problem {
	s, err := f.Located(".eh_frame")
	lost := ".eh_frame"
	if s != nil {
		data, bad := s.Data()
		err = cmp.Or(bad, err)
		in.Sections = append(in.Sections, unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, EH: true, File: f.Path, Moved: f.moved})
		lost = "where .eh_frame ends"
	}
	if err != nil {
		return []bin.Problem{{Lost: lost, Err: err}}
	}
	return nil
}

// firstWithData returns the named sections of the first file that has bytes for
// them, and that file; none without one.
func firstWithData(files []companion, name string) ([]*object.Section, companion) {
	for _, f := range files {
		if all := f.SectionsNamed(name); len(all) > 0 {
			return all, f
		}
	}
	return nil, companion{}
}

func cfiSectionAddr(f *object.File, name string) uint64 {
	if s := f.Section(name); s != nil {
		return s.Addr
	}
	return 0
}

// addIndex adds ARM's index tables, of which a kernel has several.
func addIndex(in *unwind.Input, files []companion) (problems []bin.Problem) {
	if in.Arch != arch.ARM {
		return nil
	}
	for _, file := range files {
		if file.moved != 0 {
			continue // its tables lead to where the code was
		}
		for _, s := range indexesOf(file.File) {
			data, err := s.Data()
			if err != nil {
				problems = append(problems, bin.Problem{Lost: s.Name, Err: err})
				continue
			}
			in.Index = append(in.Index, unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, File: file.Path})
		}
		if len(in.Index) > 0 {
			in.Tables, in.CodeEnd = cfiDataOf(file.File), cfiCodeOf(files[0].File)
			break
		}
	}
	return problems
}

// cfiDataOf returns a function that finds the section that is in memory at an
// address.
func cfiDataOf(f *object.File) func(addr uint64) (unwind.Section, bool) {
	in := cfiSectionsBy(f, func(s *object.Section) bool { return s.Alloc && s.HasData() })
	return func(addr uint64) (unwind.Section, bool) {
		if s := in.at(addr); s != nil {
			if data, err := s.Data(); err == nil {
				return unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, File: f.Path}, true
			}
		}
		return unwind.Section{}, false
	}
}

// cfiCodeOf returns a function that finds the end of the section with the code
// at an address.
func cfiCodeOf(f *object.File) func(addr uint64) (uint64, bool) {
	in := cfiSectionsBy(f, (*object.Section).IsCode)
	return func(addr uint64) (uint64, bool) {
		if s := in.at(addr); s != nil {
			return s.Addr + s.FileSize, true
		}
		return 0, false
	}
}

// cfiSections are sections in order of address.
type cfiSections []*object.Section

func cfiSectionsBy(f *object.File, want func(*object.Section) bool) (list cfiSections) {
	for _, s := range f.Loaded() {
		if s.FileSize > 0 && want(s) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *object.Section) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// at returns the section that an address is in; where sections overlap, which no
// linker makes, that is the last one or none.
func (l cfiSections) at(addr uint64) *object.Section {
	i, _ := slices.BinarySearchFunc(l, addr, func(s *object.Section, addr uint64) int {
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

// indexesOf returns ARM's index tables.
func indexesOf(f *object.File) []*object.Section {
	if s, err := f.Located(".ARM.exidx"); s != nil && err == nil {
		return []*object.Section{s}
	}
	return f.SectionsNamed(".ARM.exidx")
}

// releaseCFI drops the contents of the sections that were read.
func releaseCFI(f *object.File) {
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		if f == nil {
			continue
		}
		if s := f.Section(name); s != nil {
			s.Release()
		}
	}
}
