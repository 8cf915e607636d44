package elfobj

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Object returns the file as an object.File, or nil if f is nil.
func (f *File) Object() *object.File {
	if f == nil {
		return nil
	}
	o := &object.File{
		Path: f.Path, Size: f.Size, Kind: objectKinds[f.Type], KindName: f.Type.String(), Title: objectTitles[f.Type],
		Format: "ELF", NameFrom: "DT_SONAME", Terms: f.terms(), OS: "Linux", Arch: arch.ByELF(f.Machine, f.Class), CPU: f.Machine.String(), ISABit: f.isaBit(),
		AddrSize: int(f.pick(4, 8)), Order: f.Order, CodeOrder: f.codeOrder(), Base: f.LoadBase(), Entry: f.Entry,
		Container: f,
	}
	for _, s := range f.Sections {
		o.Sections = append(o.Sections, &s.Section)
	}
	if f.Type != elf.ET_REL {
		o.Segments = f.loadedSegments()
	}
	return o
}

var objectKinds = map[elf.Type]object.Kind{
	elf.ET_EXEC: object.Executable, elf.ET_DYN: object.Shared, elf.ET_REL: object.Relocatable, elf.ET_CORE: object.Core,
}

// objectTitles holds descriptions of the file types.
var objectTitles = map[elf.Type]string{
	elf.ET_EXEC: "executable", elf.ET_DYN: "shared library or PIE", elf.ET_REL: "object", elf.ET_CORE: "core",
}

// terms are the names of things in ELF; ARM's differ in what makes the tables.
var terms = object.Terms{
	Tables:     [2]string{object.Symtab: ".symtab", object.Dynamic: ".dynsym"},
	Unwind:     []string{".eh_frame", ".eh_frame_hdr", ".debug_frame", ".sframe", ".ARM.exidx", ".orc_unwind"},
	UnwindLead: "the segment that PT_GNU_EH_FRAME leads to",

	ID:         "a build-id",
	Debug:      "compile with -g, and dump before stripping, or keep what is stripped: objcopy --only-keep-debug",
	Identify:   "link with -Wl,--build-id",
	UnwindMake: "compile with -fasynchronous-unwind-tables; in assembly, write .cfi directives",
	UnwindKeep: "keep .eh_frame when linking and stripping",

	ByBuildID: true,
}

func (f *File) terms() object.Terms {
	t := terms
	if f.Machine == elf.EM_ARM {
		t.UnwindMake = "compile with -funwind-tables; in assembly, write .fnstart and .fnend, or .cfi directives"
	}
	return t
}

// efARMBE8 in e_flags says that instructions are little-endian in a big-endian
// file (ELF for the Arm Architecture, section 4.1.2).
const efARMBE8 = 0x00800000

func (f *File) codeOrder() binary.ByteOrder {
	if f.Machine == elf.EM_ARM && f.Flags&efARMBE8 != 0 {
		return binary.LittleEndian
	}
	return f.Order
}

// isaBit returns 1 for ARM (Thumb) and MIPS (MIPS16, microMIPS).
func (f *File) isaBit() uint64 {
	if f.Machine == elf.EM_ARM || f.Machine == elf.EM_MIPS {
		return 1
	}
	return 0
}

func (f *File) loadedSegments() (all []*object.Section) {
	n := 0
	for _, p := range f.Segments {
		if p.Type != elf.PT_LOAD {
			continue
		}
		s := f.SectionOf(p, fmt.Sprintf("loaded segment %d", n), elf.SHT_PROGBITS)
		if p.FileSize > 0 {
			n++
		}
		s.MemSize = p.MemSize
		all = append(all, &s.Section)
	}
	return all
}

// Of returns the ELF file behind an object, or nil if there is none.
func Of(o *object.File) *File {
	if o == nil {
		return nil
	}
	f, _ := o.Container.(*File)
	return f
}

// plain returns the part of a section header that all containers have, or nil if s is nil.
func plain(s *Section) *object.Section {
	if s == nil {
		return nil
	}
	return &s.Section
}

// ModuleID implements object.Container.
func (f *File) ModuleID(id []byte) string { return object.ModuleID(id, f.Order) }

// CodeID implements object.Container.
func (f *File) CodeID(buildID []byte, _ string) string { return fmt.Sprintf("%X", buildID) }

// Pointer implements object.Container: it returns the addend of the relocation applied to the word at addr.
func (f *File) Pointer(addr uint64) (value uint64) {
	f.addends(func(at, _, addend uint64) bool {
		if at == addr {
			value = addend
		}
		return at != addr
	})
	return value
}

// relative are R_*_RELATIVE and R_*_IRELATIVE.
var relative = map[elf.Machine][2]uint32{
	elf.EM_X86_64:  {uint32(elf.R_X86_64_RELATIVE), uint32(elf.R_X86_64_IRELATIVE)},
	elf.EM_AARCH64: {uint32(elf.R_AARCH64_RELATIVE), uint32(elf.R_AARCH64_IRELATIVE)},
	elf.EM_RISCV:   {uint32(elf.R_RISCV_RELATIVE), 58},
}

// Pointers implements object.Container, for the CPUs in relative.
func (f *File) Pointers(fn func(addr, value uint64)) {
	kinds := relative[f.Machine]
	f.addends(func(at, info, addend uint64) bool {
		if kind := uint32(info); kind != 0 && (kind == kinds[0] || kind == kinds[1]) {
			fn(at, addend)
		}
		return true
	})
	for _, s := range f.Sections {
		if s.Type != shtRelr || !s.HasData() {
			continue
		}
		if data, err := s.Data(); err == nil {
			f.relr(data, fn)
		}
	}
}

// shtRelr is SHT_RELR, which debug/elf lacks (System V ABI, "Relative Relocation Table").
const shtRelr elf.SectionType = 19

// relr calls fn for the relative relocations of a section that packs their addresses: one as it is, or the next 31 or 63
// words as bits.
func (f *File) relr(data []byte, fn func(addr, value uint64)) {
	size, at := int(f.pick(4, 8)), uint64(0)
	for ; len(data) >= size; data = data[size:] {
		entry := f.word(data)
		if entry&1 == 0 {
			f.stored(entry, fn)
			at = entry + uint64(size)
			continue
		}
		for i := range 8*size - 1 {
			if entry>>(i+1)&1 != 0 {
				f.stored(at+uint64(i*size), fn)
			}
		}
		at += uint64((8*size - 1) * size)
	}
}

// stored calls fn with the word that the file has at an address, if it has one.
func (f *File) stored(addr uint64, fn func(addr, value uint64)) {
	for _, s := range f.Sections {
		if off := addr - s.Addr; s.Alloc && s.HasData() && off < s.FileSize {
			if data, err := s.Data(); err == nil && off+f.pick(4, 8) <= uint64(len(data)) {
				fn(addr, f.word(data[off:]))
			}
			return
		}
	}
}

// word returns the first word of data.
func (f *File) word(data []byte) uint64 {
	if f.pick(4, 8) == 8 {
		return f.Order.Uint64(data)
	}
	return uint64(f.Order.Uint32(data))
}

// addends calls fn with the address, the r_info and the addend of each relocation that the loader applies, until it
// returns false.
func (f *File) addends(fn func(at, info, addend uint64) bool) {
	size := int(f.pick(4, 8))
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 || !s.HasData() {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(data) >= 3*size; data = data[3*size:] {
			if !fn(f.word(data), f.word(data[size:]), f.word(data[2*size:])) {
				return
			}
		}
	}
}
