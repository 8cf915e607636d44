package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Object returns the file as an object.File; nil for nil.
func (f *File) Object() *object.File {
	if f == nil {
		return nil
	}
	f.objectOnce.Do(func() { f.object = f.newObject() })
	return f.object
}

func (f *File) newObject() *object.File {
	o := &object.File{
		Path: f.Path, Size: f.Size, Kind: objectKinds[f.Type], KindName: f.Type.String(), Title: objectTitles[f.Type],
		Format: "ELF", NameFrom: "DT_SONAME", Terms: f.terms(), OS: "Linux", Arch: arch.ByELF(f.Machine, f.Class), CPU: f.Machine.String(), ISABit: f.isaBit(),
		AddrSize: int(f.pick(4, 8)), Order: f.Order, CodeOrder: f.codeOrder(), Base: f.LoadBase(), Entry: f.Entry,
		Container: container{f},
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

// objectTitles are the kinds in words.
var objectTitles = map[elf.Type]string{
	elf.ET_EXEC: "executable", elf.ET_DYN: "shared library or PIE", elf.ET_REL: "object", elf.ET_CORE: "core",
}

// terms are ELF's; those of ARM differ in what makes the tables.
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

// container implements object.Container for a File.
type container struct{ f *File }

// Of returns the ELF file behind an object, or nil.
func Of(o *object.File) *File {
	if o == nil {
		return nil
	}
	c, _ := o.Container.(container)
	return c.f
}

func plain(s *Section) *object.Section {
	if s == nil {
		return nil
	}
	return &s.Section
}

func (c container) Section(name string) *object.Section { return plain(c.f.Section(name)) }

func (c container) Imports(fn func(word uint64, name []byte)) error { return c.f.Imports(fn) }

func (c container) SectionsNamed(name string) (all []*object.Section) {
	list := c.f.SectionsNamed(name)
	if name == ".ARM.exidx" { // a kernel has several, with other names
		list = slices.DeleteFunc(slices.Clone(c.f.Sections), func(s *Section) bool { return s.Type != shtARMExidx || !s.HasData() })
	}
	for _, s := range list {
		all = append(all, &s.Section)
	}
	return all
}

func (c container) Located(name string) (*object.Section, error) {
	s, err := c.f.located(name)
	return plain(s), err
}

// Symbols implements object.Container.
func (c container) Symbols(t object.Table, fn func(*object.Symbol)) error {
	var o object.Symbol
	mapping := c.f.mapping()
	return c.f.Symbols(t, func(s *Symbol) {
		o = object.Symbol{
			Name: s.Name, NameOff: s.NameOff, Addr: s.Value, Size: s.Size, Kind: c.f.kindOf(s, mapping), Bind: bindOf(s.Bind), Section: plain(s.Section),
			Undefined: s.Shndx == uint16(elf.SHN_UNDEF), Absolute: s.Shndx == uint16(elf.SHN_ABS),
		}
		fn(&o)
	})
}

// sttARMThumb is STT_ARM_TFUNC, a Thumb function from before the ARM EABI.
const sttARMThumb = elf.STT_LOPROC

func (f *File) kindOf(s *Symbol, mapping arch.Mapping) object.SymbolKind {
	switch {
	case s.Type == elf.STT_FUNC, s.Type == sttARMThumb && f.Machine == elf.EM_ARM:
		return object.Function
	case s.Type == elf.STT_GNU_IFUNC:
		return object.Indirect
	case s.Type == elf.STT_OBJECT:
		return object.Data
	case s.Type != elf.STT_NOTYPE:
		return object.OtherKind
	case bytes.HasPrefix(s.Name, localLabel), mapping.Has(s.Name):
		return object.Label
	}
	return object.Untyped
}

// localLabel begins the names of the labels that compilers and assemblers make for their own use.
var localLabel = []byte(".L")

func (f *File) mapping() arch.Mapping {
	if a := arch.ByELF(f.Machine, f.Class); a != nil {
		return a.Mapping
	}
	return arch.AnyMapping
}

func bindOf(b elf.SymBind) object.Bind {
	switch b {
	case elf.STB_LOCAL:
		return object.Local
	case elf.STB_WEAK:
		return object.Weak
	}
	return object.Global // STB_GLOBAL, STB_GNU_UNIQUE
}

// HasSymbols implements object.Container.
func (c container) HasSymbols(t object.Table) bool {
	s := c.f.symbolTable(t)
	return s != nil && s.HasData()
}

// CodeID implements object.Container.
func (c container) AddrOf(offset uint64) (uint64, bool) { return c.f.AddrOf(offset) }
func (c container) CodeOffset() (uint64, bool)          { return c.f.CodeOffset() }

func (c container) CodeID(buildID []byte, _ string) string { return fmt.Sprintf("%X", buildID) }

// Moved implements object.Container.
func (c container) Moved(debug *object.File) (uint64, error) {
	d := Of(debug)
	if d == nil {
		return 0, object.OtherContainer(c.f.Path, debug)
	}
	return Moved(c.f, d)
}

// CheckDebug implements object.Separable.
func (c container) CheckDebug(debug *object.File) error {
	d := Of(debug)
	if d == nil {
		return object.OtherContainer(c.f.Path, debug)
	}
	return CheckPair(c.f, d)
}

// Embedded implements object.Container: it opens .gnu_debugdata.
func (c container) Embedded() (*object.File, error) {
	mini, err := c.f.MiniDebug()
	return mini.Object(), err
}

// NameLost reports whether the file is the separate debug file of a library, whose
// dynamic section is in the library only. An executable has an interpreter, and
// hardly ever a DT_SONAME.
func (c container) NameLost() bool {
	lost := false
	for _, s := range c.f.Sections {
		if s.Name == ".interp" || s.Type == elf.SHT_DYNAMIC {
			return false
		}
		lost = lost || s.Name == ".dynamic"
	}
	return lost && c.f.Type == elf.ET_DYN
}

// Pointer returns the addend of the relocation that is applied to the word at addr.
func (c container) Pointer(addr uint64) uint64 {
	f, size := c.f, int(c.f.pick(4, 8))
	word := func(data []byte) uint64 {
		if size == 8 {
			return f.Order.Uint64(data)
		}
		return uint64(f.Order.Uint32(data))
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 || !s.HasData() {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(data) >= 3*size; data = data[3*size:] {
			if word(data) == addr {
				return word(data[2*size:])
			}
		}
	}
	return 0
}

func (c container) SymbolNames(t object.Table) ([]byte, error) { return c.f.StringTable(t) }
func (c container) ReleaseSymbols()                            { c.f.ReleaseSymbols() }
func (c container) BuildID() []byte                            { return c.f.BuildID() }
func (c container) ContentID() []byte                          { return c.f.TextHash() }
func (c container) ModuleID(id []byte) string                  { return object.ModuleID(id, c.f.Order) }
func (c container) Name() (string, error)                      { return c.f.SOName() }
func (c container) Supplement() (*object.Link, error)          { return c.f.SupLink() }
func (c container) SupplementID() []byte                       { return c.f.supplementID() }
func (c container) DebugLink() (string, uint32, bool)          { return c.f.DebugLink() }
func (c container) Problems() []bin.Problem                    { return c.f.RelocationProblems() }
func (c container) Close() error                               { return c.f.Close() }
