package sframe_test

import (
	"debug/elf"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/sframe"
)

// elfSample reads the section of an ELF file, if it has one. The package
// cannot read ELF, and may not import internal/object/elfobj: this is enough
// for tests.
func elfSample(t testing.TB, path string) (sample, bool) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".sframe")
	if section == nil || section.Size == 0 {
		return sample{}, false
	}
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	object := f.Type == elf.ET_REL
	if object {
		placeSections(f)
		relocate(t, f, section, data)
	}
	inCode := func(lo, hi uint64) bool {
		s := sectionAt(f, lo)
		return s != nil && s.Flags&elf.SHF_EXECINSTR != 0 && hi <= s.Addr+s.Size
	}
	name := func(addr uint64) string {
		if s := sectionAt(f, addr); s != nil {
			return s.Name
		}
		return ""
	}
	return sample{
		name: filepath.Base(path), data: data,
		opts: sframe.Options{Addr: section.Addr, Relocated: object, Code: inCode},
		ctx:  sframe.Context{Section: name, Code: inCode, Object: object},
	}, true
}

func sectionAt(f *elf.File, addr uint64) *elf.Section {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && addr-s.Addr < s.Size {
			return s
		}
	}
	return nil
}

// placeSections assigns addresses to the sections of an object, with space between
// them.
func placeSections(f *elf.File) {
	at := uint64(0x10000)
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 {
			s.Addr = at
			at += (s.Size + 0x1fff) &^ 0xfff
		}
	}
}

// relocate applies PC-relative relocations of 4 or 8 bytes.
func relocate(t testing.TB, f *elf.File, section *elf.Section, data []byte) {
	t.Helper()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	rela := f.Section(".rela.sframe")
	if rela == nil {
		return
	}
	table, err := rela.Data()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(table) >= 24; table = table[24:] {
		at, info, addend := f.ByteOrder.Uint64(table), f.ByteOrder.Uint64(table[8:]), f.ByteOrder.Uint64(table[16:])
		size := relocationSize(f.Machine, uint32(info))
		if size == 0 {
			continue
		}
		sym := symbols[info>>32-1]
		v := f.Sections[sym.Section].Addr + sym.Value + addend - section.Addr - at
		if size == 4 {
			f.ByteOrder.PutUint32(data[at:], uint32(v))
		} else {
			f.ByteOrder.PutUint64(data[at:], v)
		}
	}
}

func relocationSize(m elf.Machine, kind uint32) int {
	return map[elf.Machine]map[uint32]int{
		elf.EM_X86_64:  {uint32(elf.R_X86_64_PC32): 4, uint32(elf.R_X86_64_PC64): 8},
		elf.EM_AARCH64: {uint32(elf.R_AARCH64_PREL32): 4, uint32(elf.R_AARCH64_PREL64): 8},
		elf.EM_S390:    {uint32(elf.R_390_PC32): 4, uint32(elf.R_390_PC64): 8},
	}[m][kind]
}
