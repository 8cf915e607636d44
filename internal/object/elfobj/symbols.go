package elfobj

import (
	"bytes"
	"debug/elf"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Symbols calls fn with each symbol of a table, in order, except the first, which is
// null. The Symbol is reused; its Name stays valid. A missing table has no symbols.
// Entries with bad names are left out, and the error of the first of them is returned
// at the end. The total length of names is limited; the walk ends at the limit. Errors
// are *bin.Error.
func (f *File) Symbols(which object.Table, fn func(*object.Symbol)) error {
	w, err := f.newSymWalk(which)
	if w == nil || err != nil {
		return err
	}
	return w.run(fn)
}

// HasSymbols implements object.Container.
func (f *File) HasSymbols(which object.Table) bool {
	s := f.symbolTable(which)
	return s != nil && s.HasData()
}

// ReleaseSymbols drops the cached contents of the symbol tables.
func (f *File) ReleaseSymbols() {
	for _, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM {
			s.Release()
			if uint64(s.Link) < uint64(len(f.Sections)) {
				f.Sections[s.Link].Release()
			}
		}
	}
}

// SymbolNames implements object.Container.
func (f *File) SymbolNames(which object.Table) ([]byte, error) {
	w, err := f.newSymWalk(which)
	if w == nil || err != nil {
		return nil, err
	}
	return w.names, nil
}

// maxSymbolName is the maximum length of a symbol name. C++ names reach about 10
// KiB.
const maxSymbolName = 256 << 10

// Symbols may share names, or ends of names, but a file in which each of a million
// symbols has a name of 256 KiB is meant to exhaust time and memory. The names of a
// table together may take maxShared times the size of the string table, plus
// minNames.
const maxShared = 16

// symWalk holds the parts of a symbol table.
type symWalk struct {
	f       *File
	tab     *Section
	data    []byte
	names   []byte
	ext     []byte // SHT_SYMTAB_SHNDX: section numbers that do not fit into 16 bits
	entsize int
	mapping arch.Mapping
	room    int // bytes that names may still take
	bad     *bin.Error
}

// newSymWalk returns nil for a missing table.
func (f *File) newSymWalk(which object.Table) (*symWalk, error) {
	w, err := f.newSymEntries(which)
	if w == nil || err != nil {
		return nil, err
	}
	if uint64(w.tab.Link) >= uint64(len(f.Sections)) {
		return nil, w.tab.errorf(0, "string table is section %d of %d", w.tab.Link, len(f.Sections))
	}
	if w.names, err = f.Sections[w.tab.Link].Data(); err != nil {
		return nil, err
	}
	w.room = maxShared*len(w.names) + minNames
	return w, nil
}

// symbolTable returns the section of a table, or nil.
func (f *File) symbolTable(which object.Table) *Section {
	if which == object.Dynamic {
		return f.sectionOfType(elf.SHT_DYNSYM)
	}
	return f.sectionOfType(elf.SHT_SYMTAB)
}

// newSymEntries is like newSymWalk, without the names.
func (f *File) newSymEntries(which object.Table) (*symWalk, error) {
	tab := f.symbolTable(which)
	if tab == nil || !tab.HasData() {
		return nil, nil
	}
	w := &symWalk{f: f, tab: tab, entsize: int(f.pick(elf.Sym32Size, elf.Sym64Size)), mapping: f.mapping()}
	if tab.Entsize != 0 && tab.Entsize != uint64(w.entsize) {
		return nil, tab.errorf(0, "entries of %d bytes, want %d", tab.Entsize, w.entsize)
	}
	var err error
	if w.data, err = tab.Data(); err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB_SHNDX && int64(s.Link) == int64(tab.Index) {
			if w.ext, err = s.Data(); err != nil {
				return nil, err
			}
			break
		}
	}
	return w, nil
}

func (w *symWalk) run(fn func(*object.Symbol)) error {
	var sym object.Symbol
	for off := w.entsize; off+w.entsize <= len(w.data); off += w.entsize {
		if w.decode(&sym, off) {
			if w.room -= len(sym.Name); w.room < 0 {
				return w.tab.errorf(uint64(off), "symbols from here on are left out: names of those before take %d bytes, the string table has %d",
					maxShared*len(w.names)+minNames, len(w.names))
			}
			fn(&sym)
		}
	}
	if rest := len(w.data) % w.entsize; rest != 0 {
		w.fail(len(w.data)-rest, "symbol of %d bytes, want %d", rest, w.entsize)
	}
	if w.bad != nil {
		return w.bad
	}
	return nil
}

func (w *symWalk) fail(off int, format string, args ...any) {
	if w.bad == nil {
		w.bad = w.tab.errorf(uint64(off), format, args...)
	}
}

// decode fills sym from the entry at off. It reports false if the name is bad.
func (w *symWalk) decode(sym *object.Symbol, off int) bool {
	w.fields(sym, off)
	if !w.name(sym, w.f.Order.Uint32(w.data[off:]), off) {
		return false
	}
	if sym.Kind == object.Untyped && isLabel(sym.Name, w.mapping) {
		sym.Kind = object.Label
	}
	return true
}

// fields fills in everything except the name and, for an untyped symbol, the part of its kind that depends on the
// name. The order of fields differs between the classes, for alignment. In relocatable files st_value is relative
// to the section.
func (w *symWalk) fields(sym *object.Symbol, off int) {
	b, order := w.data[off:off+w.entsize], w.f.Order
	var info byte
	var shndx uint16
	if w.f.Class == elf.ELFCLASS64 {
		info, shndx = b[4], order.Uint16(b[6:])
		sym.Addr, sym.Size = order.Uint64(b[8:]), order.Uint64(b[16:])
	} else {
		sym.Addr, sym.Size = uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:]))
		info, shndx = b[12], order.Uint16(b[14:])
	}
	sym.Kind, sym.Bind = w.f.kindOf(elf.ST_TYPE(info)), bindOf(elf.ST_BIND(info))
	sym.Undefined, sym.Absolute = shndx == uint16(elf.SHN_UNDEF), shndx == uint16(elf.SHN_ABS)
	sym.Section = plain(w.section(shndx, off))
	if w.f.Type == elf.ET_REL && sym.Section != nil {
		sym.Addr += sym.Section.Addr
	}
}

// sttARMThumb is STT_ARM_TFUNC, which marked Thumb functions before the ARM EABI.
const sttARMThumb = elf.STT_LOPROC

func (f *File) kindOf(t elf.SymType) object.SymbolKind {
	switch {
	case t == elf.STT_FUNC, t == sttARMThumb && f.Machine == elf.EM_ARM:
		return object.Function
	case t == elf.STT_GNU_IFUNC:
		return object.Indirect
	case t == elf.STT_OBJECT:
		return object.Data
	case t != elf.STT_NOTYPE:
		return object.OtherKind
	}
	return object.Untyped
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

// localLabel begins the names of labels that compilers and assemblers create for their own use.
var localLabel = []byte(".L")

// isLabel reports whether an untyped symbol with this name is a label.
func isLabel(name []byte, mapping arch.Mapping) bool {
	return bytes.HasPrefix(name, localLabel) || mapping.Has(name)
}

// mapping returns the names of the symbols that mark the beginning of code and data.
func (f *File) mapping() arch.Mapping {
	if a := arch.ByELF(f.Machine, f.Class); a != nil {
		return a.Mapping
	}
	return arch.AnyMapping
}

func (w *symWalk) section(shndx uint16, off int) *Section {
	i := uint32(shndx)
	switch {
	case elf.SectionIndex(shndx) == elf.SHN_XINDEX:
		at := off / w.entsize * 4
		if at+4 > len(w.ext) {
			return nil
		}
		i = w.f.Order.Uint32(w.ext[at:])
	case elf.SectionIndex(shndx) >= elf.SHN_LORESERVE:
		return nil
	}
	if i == 0 || uint64(i) >= uint64(len(w.f.Sections)) {
		return nil
	}
	if s := w.f.Sections[i]; !s.Unplaced {
		return s
	}
	return nil
}

func (w *symWalk) name(sym *object.Symbol, at uint32, off int) bool {
	sym.NameOff = at
	if uint64(at) >= uint64(len(w.names)) {
		if at == 0 {
			sym.Name = nil
			return true
		}
		w.fail(off, "name at %#x, the string table has %d bytes", at, len(w.names))
		return false
	}
	rest := w.names[at:]
	n := bytes.IndexByte(rest[:min(len(rest), maxSymbolName)], 0)
	if n < 0 {
		w.fail(off, "name at %#x has no end in %d bytes", at, min(len(rest), maxSymbolName))
		return false
	}
	sym.Name = w.names[at : int(at)+n : int(at)+n]
	return true
}
