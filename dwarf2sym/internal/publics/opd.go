package publics

import (
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// opdTable resolves the function descriptors of 64-bit PowerPC, ELFv1 (64-bit
// PowerPC ELF ABI Supplement 1.9, section 3.2.5): three doublewords, of which
// the first is the address of the code. The linker writes the addresses into
// the file even where a relocation will replace them.
type opdTable struct {
	file object.Companion
	addr uint64
	data []byte
}

// opdOf returns the table of the first file that has its bytes, or nil for other ABIs. A
// debug file's .opd has no bytes, so its symbols need the binary's.
func opdOf(files []object.Companion) *opdTable {
	for _, f := range files {
		if f.Arch != arch.PPC64 {
			continue
		}
		s := f.Section(".opd")
		if s == nil || !s.HasData() {
			continue
		}
		if data, err := s.Data(); err == nil {
			return &opdTable{f, s.Addr, data}
		}
	}
	return nil
}

// code returns the address of a symbol's code in the binary. It reports false if the
// symbol does not name code. A descriptor moves with the code.
func (o *opdTable) code(f object.Companion, s *object.Symbol) (uint64, bool) {
	off := s.Addr + f.Moved - (o.addr + o.file.Moved)
	if s.Section.Exec || off >= uint64(len(o.data)) {
		return s.Addr + f.Moved, inCode(s.Section, s.Addr)
	}
	if uint64(len(o.data))-off < 8 {
		return 0, false
	}
	addr := o.file.Order.Uint64(o.data[off:])
	return addr + o.file.Moved, o.file.Executable(addr)
}
