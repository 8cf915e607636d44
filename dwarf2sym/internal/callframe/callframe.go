// Package callframe collects the call frame information of a binary and its debug files, and reads it as STACK CFI.
package callframe

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/unwind/code"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// Sources selects the sources that may be read.
type Sources struct{ DWARF, SFrame, Code bool }

// Result is the STACK CFI of a file, from one source.
type Result struct {
	SFrame   bool // the source is .sframe
	Table    symfmt.CFITable
	Derived  code.Derived // what the rules of instructions add
	Stats    unwind.Stats
	Problems []bin.Problem
}

// Read reads STACK CFI from the files of a binary. Damage in
// DWARF is reported even if SFrame replaces it.
func Read(ctx context.Context, cpu *arch.Arch, files []object.Companion, from Sources) (c Result) {
	c = read(ctx, cpu, files, from)
	if from.Code && ctx.Err() == nil {
		var err error
		if c.Derived, err = code.Derive(&c.Table, files); err != nil {
			c.Problems = append(c.Problems, bin.Problem{Lost: "STACK CFI from instructions", Err: err})
		}
	}
	return c
}

func read(ctx context.Context, cpu *arch.Arch, files []object.Companion, from Sources) (c Result) {
	if from.DWARF {
		in, problems := Input(cpu, files)
		read, err := unwind.Read(ctx, in)
		for _, f := range files {
			release(f.File)
		}
		if err != nil {
			return c // the context has ended, which ends the reader, too
		}
		c.Table, c.Stats, c.Problems = read.CFI, read.Stats, append(problems, read.Problems...)
		if !from.SFrame || len(c.Table.Blocks) > 0 {
			return c
		}
	}
	sf, err := sframeCFI(cpu, files)
	switch {
	case err == nil:
		sf.Problems = append(c.Problems, sf.Problems...)
		return sf
	case !from.DWARF || !errors.Is(err, symsframe.ErrNone):
		c.Problems = append(c.Problems, bin.Problem{Lost: "STACK CFI", Err: err})
	}
	return c
}

// sframeCFI reads the SFrame section from the first file that has one: "objcopy
// --only-keep-debug" leaves it in the binary.
func sframeCFI(cpu *arch.Arch, files []object.Companion) (Result, error) {
	c := Result{SFrame: true}
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
	stats, problems := symsframe.AppendCFI(&c.Table, section, symsframe.ToOptions{
		Base: files[0].Base - from.Moved,
		Code: func(addr uint64) bool { return files[0].Executable(addr + from.Moved) },
	})
	c.Stats = unwind.Stats{Dead: stats.Dead, Empty: stats.Empty, Signal: stats.Signal}
	c.Problems = append(section.Problems, problems...)
	for _, p := range c.Problems {
		var at *bin.Error
		if errors.As(p.Err, &at) {
			at.File = from.Path
		}
	}
	return c, nil
}

func openSFrame(files []object.Companion) (*sframe.Section, object.Companion, error) {
	for _, f := range files {
		section, err := symsframe.Open(f.File)
		if !errors.Is(err, symsframe.ErrNone) {
			return section, f, err
		}
	}
	return nil, files[0], &bin.Error{File: files[0].Path, Err: symsframe.ErrNone}
}

// Input collects the call frame information of a binary. files are the binary and the
// files that belong to it. Each section is taken from the first file that has its bytes:
// "objcopy --only-keep-debug" leaves an empty .eh_frame.
func Input(a *arch.Arch, files []object.Companion) (*unwind.Input, []bin.Problem) {
	f := files[0]
	in := &unwind.Input{
		Arch:    a,
		Order:   binary.ByteOrder(f.Order),
		PtrSize: f.AddrSize,
		Base:    f.Base,
		Fixed:   f.Kind == object.Executable,
		Exec:    f.Executable,

		CodeBytes: codemap.Of(f.File).Size(),
	}
	in.TextAddr = sectionAddr(f.File, ".text")
	if in.DataAddr = sectionAddr(f.File, ".got"); in.DataAddr == 0 {
		in.DataAddr = sectionAddr(f.File, ".got.plt")
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
			in.Sections = append(in.Sections, unwind.Section{Name: name, Addr: s.Addr + from.Moved, Data: data, EH: name == ".eh_frame", File: from.Path, Moved: from.Moved})
		}
	}
	return in, append(problems, addIndex(in, files)...)
}

// addEHFrame adds an .eh_frame that can be found only through the program headers.
func addEHFrame(in *unwind.Input, f object.Companion) []bin.Problem {
	s, err := f.Located(".eh_frame")
	lost := ".eh_frame"
	if s != nil {
		data, bad := s.Data()
		err = cmp.Or(bad, err)
		in.Sections = append(in.Sections, unwind.Section{Name: s.Name, Addr: s.Addr, Data: data, EH: true, File: f.Path, Moved: f.Moved})
		lost = "the end of .eh_frame"
	}
	if err != nil {
		return []bin.Problem{{Lost: lost, Err: err}}
	}
	return nil
}

// firstWithData returns the named sections of the first file that has their bytes, and
// that file, if there is one.
func firstWithData(files []object.Companion, name string) ([]*object.Section, object.Companion) {
	for _, f := range files {
		if all := f.SectionsNamed(name); len(all) > 0 {
			return all, f
		}
	}
	return nil, object.Companion{}
}

func sectionAddr(f *object.File, name string) uint64 {
	if s := f.Section(name); s != nil {
		return s.Addr
	}
	return 0
}

// release releases the contents of the sections that were read.
func release(f *object.File) {
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		if f == nil {
			continue
		}
		if s := f.Section(name); s != nil {
			s.Release()
		}
	}
}
