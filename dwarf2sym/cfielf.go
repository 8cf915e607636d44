package dwarf2sym

import (
	"debug/elf"
	"encoding/binary"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
)

// newCFIInput collects the call frame information of a binary and its separate
// debug file, which may be nil. Each section comes from the first file that has
// bytes for it: "objcopy --only-keep-debug" leaves an empty .eh_frame.
func newCFIInput(a *arch.Arch, f, debug *elfobj.File) (*cfiInput, []bin.Problem) {
	in := &cfiInput{
		arch:    a,
		order:   binary.ByteOrder(f.Order),
		ptrSize: a.PtrSize,
		base:    f.LoadBase(),
		fixed:   f.Type == elf.ET_EXEC,
		exec:    func(lo, _ uint64) bool { return f.Executable(lo) },

		codeBytes: newCodeMap(f).size(),
	}
	in.textAddr = cfiSectionAddr(f, ".text")
	if in.dataAddr = cfiSectionAddr(f, ".got"); in.dataAddr == 0 {
		in.dataAddr = cfiSectionAddr(f, ".got.plt")
	}
	var problems []bin.Problem
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		s, file := f.Section(name), f.Path
		if (s == nil || !s.HasData()) && debug != nil {
			s, file = debug.Section(name), debug.Path
		}
		if s == nil || !s.HasData() {
			continue
		}
		data, err := s.Data()
		if err != nil {
			problems = append(problems, bin.Problem{Lost: name, Err: err})
			continue
		}
		in.sections = append(in.sections, cfiSection{name, s.Addr, data, name == ".eh_frame", file})
	}
	return in, problems
}

func cfiSectionAddr(f *elfobj.File, name string) uint64 {
	if s := f.Section(name); s != nil {
		return s.Addr
	}
	return 0
}
