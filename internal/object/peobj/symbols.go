package peobj

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// symbolTables holds the bytes of the tables read so far.
type symbolTables struct {
	mu   sync.Mutex
	coff []byte // COFF symbols and the strings after them
	exp  []byte // the section that contains the export directory
}

const (
	coffSymbolSize  = 18
	exportDirectory = 0 // in the data directories

	// maxSymbolName is the maximum length of a name, in bytes.
	maxSymbolName = 256 << 10
	// maxShared bounds the total length of a table's names, as a multiple of its size: names may be shared, and a file
	// in which a million symbols share one of 256 KiB is meant to exhaust time and memory.
	maxShared = 16
	minNames  = 1 << 20
)

// HasSymbols implements object.Container.
func (f *File) HasSymbols(t object.Table) bool {
	if t == object.Symtab {
		return f.header.PointerToSymbolTable != 0 && f.header.NumberOfSymbols != 0
	}
	return f.directory(exportDirectory).Size > 0
}

// SymbolNames implements object.Container: the names are in the table itself.
func (f *File) SymbolNames(t object.Table) ([]byte, error) {
	f.symbols.mu.Lock()
	defer f.symbols.mu.Unlock()
	if !f.HasSymbols(t) {
		return nil, nil
	}
	if t == object.Symtab {
		return f.coffBytes()
	}
	return f.exportBytes()
}

// ReleaseSymbols implements object.Container.
func (f *File) ReleaseSymbols() {
	t := &f.symbols
	t.mu.Lock()
	defer t.mu.Unlock()
	f.in.Held.Give(int64(len(t.coff)))
	t.coff, t.exp = nil, nil
}

// Symbols implements object.Container.
func (f *File) Symbols(t object.Table, fn func(*object.Symbol)) error {
	names, err := f.SymbolNames(t)
	if err != nil || names == nil {
		return err
	}
	if t == object.Symtab {
		return f.eachCOFF(names, fn)
	}
	return f.eachExport(names, fn)
}

// coffBytes reads the COFF symbols and their strings.
func (f *File) coffBytes() ([]byte, error) {
	t := &f.symbols
	if t.coff != nil {
		return t.coff, nil
	}
	start, end := int64(f.header.PointerToSymbolTable), f.stringTable()
	if start > f.in.Size || end > f.in.Size {
		return nil, f.in.Errorf(uint64(start), "%d COFF symbols do not fit into the file of %d bytes", f.header.NumberOfSymbols, f.in.Size)
	}
	if head, err := f.in.Read(end, 4); err == nil {
		end = min(end+int64(binary.LittleEndian.Uint32(head)), f.in.Size)
	}
	if !f.in.Held.Take(end - start) {
		return nil, f.in.Errorf(uint64(start), "COFF symbols of %d bytes would exceed the limit of memory for a file of %d bytes", end-start, f.in.Size)
	}
	data, err := f.in.Read(start, end-start)
	if err != nil {
		f.in.Held.Give(end - start)
		return nil, err
	}
	t.coff = data
	return data, nil
}

// Values of COFF symbols (PE Format, "COFF Symbol Table").
const (
	classExternal = 2
	classStatic   = 3
	classLabel    = 6
	classWeak     = 105

	typeFunction = 2 // in bits 4 and 5 of the type
)

// eachCOFF calls fn with the COFF symbols that name a place in a section. MinGW keeps them in
// executables.
func (f *File) eachCOFF(data []byte, fn func(*object.Symbol)) error {
	count := int(f.header.NumberOfSymbols)
	strings := count * coffSymbolSize
	room := maxShared*len(data) + minNames
	lost := f.hasGap()
	var o object.Symbol
	var bad error
	for i := 0; i < count; i++ {
		at := i * coffSymbolSize
		e := data[at:][:coffSymbolSize]
		i += int(e[17]) // auxiliary records
		number := int16(binary.LittleEndian.Uint16(e[12:]))
		if number <= 0 || int(number) > len(f.sections) {
			continue
		}
		kind := coffKind(e)
		if lost && number == 1 && kind == object.Untyped {
			continue
		}
		off, ok := nameOf(data, at, strings)
		if !ok {
			if bad == nil {
				bad = f.in.Errorf(uint64(f.header.PointerToSymbolTable)+uint64(at), "name is beyond the string table")
			}
			continue
		}
		s := f.sections[number-1]
		o = object.Symbol{Addr: s.Addr + uint64(binary.LittleEndian.Uint32(e[8:])), Section: &s.Section}
		o.Kind, o.Bind = kind, coffBind(e[16])
		o.Name = f.undecorate(off.bytes(data), &off.start, true)
		o.NameOff = uint32(off.start)
		if room -= len(o.Name); room < 0 {
			return f.in.Errorf(uint64(f.header.PointerToSymbolTable)+uint64(at), "symbols from here on are left out: names of those before are too long")
		}
		fn(&o)
	}
	return bad
}

// hasGap reports whether a section between others is missing: the system does not load such a file. GNU objcopy leaves
// .data out of debug files and gives its symbols the number of the first section, where they look like labels of
// assembly, as neither are marked as functions.
func (f *File) hasGap() bool {
	for i := 1; i < len(f.sections); i++ {
		before, align := f.sections[i-1], uint64(max(f.align, 1))
		end := uint64(before.rva) + before.MemSize
		if uint64(f.sections[i].rva) > (end+align-1)/align*align {
			return true
		}
	}
	return false
}

// span is a name in a table.
type span struct{ start, end int }

func (s span) bytes(data []byte) []byte { return data[s.start:s.end:s.end] }

// nameOf returns the name of the COFF symbol at an offset: up to 8 bytes, or a string at an offset of the string
// table.
func nameOf(data []byte, at, strings int) (span, bool) {
	field := data[at : at+8]
	if binary.LittleEndian.Uint32(field) != 0 {
		n := bytes.IndexByte(field, 0)
		if n < 0 {
			n = len(field)
		}
		return span{at, at + n}, true
	}
	return stringIn(data, uint64(strings)+uint64(binary.LittleEndian.Uint32(field[4:])))
}

// stringIn returns the text at an offset, up to its NUL.
func stringIn(data []byte, at uint64) (span, bool) {
	if at >= uint64(len(data)) {
		return span{}, false
	}
	rest := data[at:]
	n := bytes.IndexByte(rest[:min(len(rest), maxSymbolName)], 0)
	return span{int(at), int(at) + n}, n >= 0
}

// coffKind returns the kind of a COFF symbol, which is object.Function if the compiler marked it as a function. A
// section's own symbol (static, with an auxiliary record) and a label only name a place.
func coffKind(e []byte) object.SymbolKind {
	kind, class, aux := binary.LittleEndian.Uint16(e[14:]), e[16], e[17]
	switch {
	case kind>>4&3 == typeFunction:
		return object.Function
	case class == classLabel, e[0] == '.':
		return object.Label
	case class == classStatic && aux > 0:
		return object.OtherKind
	case class == classExternal, class == classStatic, class == classWeak:
		return object.Untyped
	}
	return object.OtherKind
}

func coffBind(class byte) object.Bind {
	switch class {
	case classExternal:
		return object.Global
	case classWeak:
		return object.Weak
	}
	return object.Local
}

// undecorate removes the prefix of C names on 32-bit x86: _f for cdecl, _f@8 for stdcall and @f@8 for
// fastcall. An @ and what follows it are cut off later, like the version of an ELF symbol. Export tables
// contain the names of cdecl functions without the prefix. start is advanced with the name.
func (f *File) undecorate(name []byte, start *int, coff bool) []byte {
	if f.arch() != arch.X86 || len(name) < 2 || name[0] != '_' && name[0] != '@' {
		return name
	}
	if !coff && bytes.IndexByte(name[1:], '@') < 0 {
		return name
	}
	*start++
	return name[1:]
}

// exportBytes reads the export directory up to the end of its section, which also contains its
// tables and names.
func (f *File) exportBytes() ([]byte, error) {
	t := &f.symbols
	if t.exp != nil {
		return t.exp, nil
	}
	data, err := f.at(f.directory(exportDirectory).VirtualAddress, math.MaxUint32)
	t.exp = data
	return data, err
}

const exportHeader = 40

// eachExport calls fn with the exports that have names. It leaves out forwarders, which lead to other
// modules and have no code.
func (f *File) eachExport(data []byte, fn func(*object.Symbol)) error {
	dir := f.directory(exportDirectory)
	if len(data) < exportHeader {
		return f.in.Errorf(0, "export directory of %d bytes, want %d", len(data), exportHeader)
	}
	u32 := func(at uint64) uint32 {
		if at > uint64(len(data)) || uint64(len(data))-at < 4 {
			return 0
		}
		return binary.LittleEndian.Uint32(data[at:])
	}
	base := uint64(dir.VirtualAddress)
	functions, count := uint64(u32(28))-base, u32(20)
	names, ordinals := uint64(u32(32))-base, uint64(u32(36))-base
	room := maxShared*len(data) + minNames
	var o object.Symbol
	var bad error
	for i := range min(uint64(u32(24)), uint64(len(data))/4) {
		at := ordinals + 2*i
		if at > uint64(len(data)) || uint64(len(data))-at < 2 {
			return f.in.Errorf(0, "export %d of %d: its ordinal is beyond the section", i, u32(24))
		}
		ordinal := binary.LittleEndian.Uint16(data[at:])
		name, ok := stringIn(data, uint64(u32(names+4*i))-base)
		if !ok || uint32(ordinal) >= count {
			if bad == nil {
				bad = f.in.Errorf(0, "export %d of %d: ordinal %d of %d, or no name", i, u32(24), ordinal, count)
			}
			continue
		}
		rva := u32(functions + 4*uint64(ordinal))
		if rva == 0 || uint64(rva)-base < uint64(dir.Size) {
			continue
		}
		o = object.Symbol{Addr: f.imageBase + uint64(rva), Bind: object.Global, Section: f.sectionAt(rva)}
		if o.Kind = object.Data; o.Section != nil && o.Section.Exec {
			o.Kind = object.Function
		}
		o.Name = f.undecorate(name.bytes(data), &name.start, false)
		o.NameOff = uint32(name.start)
		if room -= len(o.Name); room < 0 {
			return f.in.Errorf(0, "exports from %d on are left out: names of those before are too long", i)
		}
		fn(&o)
	}
	return bad
}

// sectionAt returns the section that contains an RVA, or nil.
func (f *File) sectionAt(rva uint32) *object.Section {
	for _, s := range f.sections {
		if uint64(rva)-uint64(s.rva) < s.MemSize {
			return &s.Section
		}
	}
	return nil
}
