package dwarf2sym

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// Values of Stats.CFISource.
const (
	SourceDWARF  = "dwarf"
	SourceSFrame = "sframe"
)

// fileCFI is the STACK CFI of a file, from one source.
type fileCFI struct {
	source   string
	table    symfmt.CFITable
	stats    unwind.Stats
	problems []bin.Problem
}

func unknownCPU(f *object.File) string {
	return fmt.Sprintf("the registers of %s (%d bits) are unknown", f.CPU, 8*f.AddrSize)
}

// companionsCFI reads STACK CFI from the companions of a binary. Damage in
// DWARF is reported even if SFrame replaces it.
func companionsCFI(ctx context.Context, cpu *arch.Arch, files []companion, from CFISource) (c fileCFI) {
	if from != CFISFrame {
		in, problems := companionCFI(cpu, files)
		c.source = SourceDWARF
		read, err := unwind.Read(ctx, in)
		for _, f := range files {
			releaseCFI(f.File)
		}
		if err != nil {
			return c // the context has ended, which ends the reader, too
		}
		c.table, c.stats, c.problems = read.CFI, read.Stats, append(problems, read.Problems...)
		if from == CFIDWARF || len(c.table.Blocks) > 0 {
			return c
		}
	}
	sf, err := sframeCFI(cpu, files)
	switch {
	case err == nil:
		sf.problems = append(c.problems, sf.problems...)
		return sf
	case from == CFISFrame || !errors.Is(err, symsframe.ErrNone):
		c.problems = append(c.problems, bin.Problem{Lost: "STACK CFI", Err: err})
	}
	return c
}

// sframeCFI reads the SFrame section of the first of the files that has one:
// "objcopy --only-keep-debug" leaves it in the binary.
func sframeCFI(cpu *arch.Arch, files []companion) (fileCFI, error) {
	c := fileCFI{source: SourceSFrame}
	section, from, err := openSFrame(files)
	if err != nil {
		return c, err
	}
	abi, ok := symsframe.ABIOf(cpu, binary.ByteOrder(from.Order))
	for i := range section.Headers {
		if h := &section.Headers[i]; !ok || h.ABI != abi {
			return c, &bin.Error{File: from.Path, Section: section.Name, Offset: h.Offset,
				Msg: fmt.Sprintf("%s in a file of %s", h.ABI, cpu.Name)}
		}
	}
	stats, problems := symsframe.AppendCFI(&c.table, section, symsframe.ToOptions{
		Base: files[0].Base - from.moved,
		Code: func(addr uint64) bool { return files[0].Executable(addr + from.moved) },
	})
	c.stats = unwind.Stats{Dead: stats.Dead, Empty: stats.Empty, Signal: stats.Signal}
	c.problems = append(section.Problems, problems...)
	for _, p := range c.problems {
		var at *bin.Error
		if errors.As(p.Err, &at) {
			at.File = from.Path
		}
	}
	return c, nil
}

func openSFrame(files []companion) (*sframe.Section, companion, error) {
	for _, f := range files {
		section, err := symsframe.Open(f.File)
		if !errors.Is(err, symsframe.ErrNone) {
			return section, f, err
		}
	}
	return nil, files[0], &bin.Error{File: files[0].Path, Err: symsframe.ErrNone}
}

// companionCFI collects the call frame information of a binary, the first of
// files, and of those with it. Each section is taken from the first file that
// has bytes for it: "objcopy --only-keep-debug" leaves an empty .eh_frame.
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

// addEHFrame adds an .eh_frame that only the program headers locate.
func addEHFrame(in *unwind.Input, f companion) []bin.Problem {
	s, err := f.Located(".eh_frame")
	lost := ".eh_frame"
	if s != nil {
		data, bad := s.Data()
		err = cmp.Or(bad, err)
		in.Sections = append(in.Sections, unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, EH: true, File: f.Path, Moved: f.moved})
		lost = "the end of .eh_frame"
	}
	if err != nil {
		return []bin.Problem{{Lost: lost, Err: err}}
	}
	return nil
}

// firstWithData returns the named sections of the first file that has bytes
// for them, and that file; none if there is no such file.
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

// addIndex adds ARM's index tables, of which a kernel has several, or the exception directory of a
// Windows binary.
func addIndex(in *unwind.Input, files []companion) (problems []bin.Problem) {
	if problems = addPdata(in, files[0]); in.Pdata || in.Arch != arch.ARM {
		return problems
	}
	for _, file := range files {
		if file.moved != 0 {
			continue // its tables refer to where the code was
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

// cfiDataOf returns a function that finds the section in memory that contains
// an address.
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

// cfiCodeOf returns a function that finds the end of the code section that
// contains an address.
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

// at returns the section that contains an address. Where sections overlap,
// which no linker makes, it is the last one or none.
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

// releaseCFI releases the contents of the sections that were read.
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
