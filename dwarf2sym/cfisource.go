package dwarf2sym

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

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

// CFI is the DWARF call frame information of a file.
type CFI struct {
	Table    symfmt.CFITable
	Problems []bin.Problem // damage, and rules without text
}

// ReadCFI reads .eh_frame and .debug_frame of a file and, if non-nil, of the
// separate debug file that belongs to it. RVAs are relative to the load base of
// the former.
func ReadCFI(ctx context.Context, file, debug *object.File) (*CFI, error) {
	r := &reader{opts: &Options{}, file: file, debug: debug}
	if err := r.checkTypes(); err != nil {
		return nil, err
	}
	if err := r.findCompanions(); err != nil {
		return nil, err
	}
	cpu := file.Arch
	if cpu == nil {
		return nil, &bin.Error{File: file.Path, Msg: unknownCPU(file)}
	}
	c := companionsCFI(ctx, cpu, r.companions, CFIDWARF)
	return &CFI{c.table, c.problems}, ctx.Err()
}

func unknownCPU(f *object.File) string {
	return fmt.Sprintf("the registers of %s (%d bits) are not known", f.CPU, 8*f.AddrSize)
}

// companionsCFI reads STACK CFI from the companions of a binary. Damage in DWARF
// is reported even where SFrame stands in for it.
func companionsCFI(ctx context.Context, cpu *arch.Arch, files []companion, from CFISource) (c fileCFI) {
	if from != CFISFrame {
		in, problems := companionCFI(cpu, files)
		c.source = SourceDWARF
		c.table, c.stats, c.problems = unwind.Read(ctx, in)
		c.problems = append(problems, c.problems...)
		for _, f := range files {
			releaseCFI(f.File)
		}
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
