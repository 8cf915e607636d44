package machobj

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// symtabCommand is LC_SYMTAB: the location of the symbols and of their names.
type symtabCommand struct {
	off, count     uint32
	strings, bytes uint32
}

// symbolTables holds the tables read so far.
type symbolTables struct {
	mu    sync.Mutex
	names []byte // of LC_SYMTAB
	table []byte
	held  int64
	trie  *exportsTrie
}

// readSymtab reads LC_SYMTAB.
func (f *File) readSymtab(c []byte, at int64) error {
	if len(c) < 24 {
		return f.errorf(at, "LC_SYMTAB of %d bytes, want 24", len(c))
	}
	u32 := func(pos int) uint32 { return f.order.Uint32(c[pos:]) }
	f.symtab = symtabCommand{u32(8), u32(12), u32(16), u32(20)}
	return nil
}

// HasSymbols implements object.Container.
func (f *File) HasSymbols(t object.Table) bool {
	if t == object.Symtab {
		return f.symtab.count > 0
	}
	return f.exports.size > 0
}

// SymbolNames implements object.Container.
func (f *File) SymbolNames(t object.Table) ([]byte, error) {
	if t == object.Symtab {
		names, _, err := f.readSymbols()
		return names, err
	}
	f.symbols.mu.Lock()
	defer f.symbols.mu.Unlock()
	if !f.HasSymbols(t) {
		return nil, nil
	}
	trie, err := f.loadExports()
	if trie == nil {
		return nil, err
	}
	return trie.names, nil // Symbols reports the damage
}

// readSymbols returns the names and the entries of LC_SYMTAB, or nil if there is none. They stay valid even if others
// call ReleaseSymbols.
func (f *File) readSymbols() (names, table []byte, err error) {
	t := &f.symbols
	t.mu.Lock()
	defer t.mu.Unlock()
	if !f.HasSymbols(object.Symtab) {
		return nil, nil, nil
	}
	err = f.loadSymtab()
	return t.names, t.table, err
}

// ReleaseSymbols implements object.Container.
func (f *File) ReleaseSymbols() {
	t := &f.symbols
	t.mu.Lock()
	defer t.mu.Unlock()
	f.in.Held.Give(t.held)
	t.names, t.table, t.trie, t.held = nil, nil, nil, 0
}

// entrySize returns the size of a symbol.
func (f *File) entrySize() int {
	if f.wide {
		return 16
	}
	return 12
}

// loadSymtab reads the symbols and their names.
func (f *File) loadSymtab() error {
	t, c := &f.symbols, f.symtab
	if t.table != nil {
		return nil
	}
	size := int64(c.count) * int64(f.entrySize())
	room := f.in.Size - f.start
	if int64(c.off)+size > room || int64(c.strings)+int64(c.bytes) > room {
		return f.errorf(int64(c.off), "%d symbols with %d bytes of names do not fit into the binary of %d bytes", c.count, c.bytes, room)
	}
	if !f.in.Held.Take(size + int64(c.bytes)) {
		return f.errorf(int64(c.off), "symbols of %d bytes would exceed the limit of memory for a file of %d bytes", size+int64(c.bytes), room)
	}
	t.held += size + int64(c.bytes)
	names, err := f.read(int64(c.strings), int64(c.bytes))
	if err != nil {
		return err
	}
	table, err := f.read(int64(c.off), size)
	if err != nil {
		return err
	}
	t.names, t.table = names, table
	return nil
}

// Symbols implements object.Container. It leaves out the entries for debuggers (stabs).
func (f *File) Symbols(t object.Table, fn func(*object.Symbol)) error {
	if t != object.Symtab {
		return f.eachExport(fn)
	}
	names, table, err := f.readSymbols()
	if err != nil || table == nil {
		return err
	}
	return f.eachSymbol(names, table, fn)
}

// nlist is an entry of the symbol table.
type nlist struct {
	name    uint32 // offset of its name
	kind    uint8
	section uint8 // index from 1
	desc    uint16
	value   uint64
}

// Fields of nlist.
const (
	stabMask   = 0xe0
	typeMask   = 0x0e
	inSection  = 0x0e
	isAbsolute = 0x02
	external   = 0x01
	private    = 0x10

	descThumb = 0x0008
	descWeak  = 0x0080
	descAlt   = 0x0200
)

// symbolAt decodes the ith symbol of a table.
func (f *File) symbolAt(table []byte, i int) nlist {
	e := table[i*f.entrySize():]
	s := nlist{name: f.order.Uint32(e), kind: e[4], section: e[5], desc: f.order.Uint16(e[6:])}
	if f.wide {
		s.value = f.order.Uint64(e[8:])
	} else {
		s.value = uint64(f.order.Uint32(e[8:]))
	}
	return s
}

const (
	// maxSymbolName is the maximum length of a name, in bytes.
	maxSymbolName = 256 << 10
	// maxShared limits the total length of a table's names, in multiples of its size: names may be
	// shared, and a file in which a million symbols have one name of 256 KiB is meant to exhaust
	// time.
	maxShared = 16
	minNames  = 1 << 20
)

func (f *File) eachSymbol(names, table []byte, fn func(*object.Symbol)) error {
	room := maxShared*(len(names)+len(table)) + minNames
	var o object.Symbol
	var bad error
	for i := range int(f.symtab.count) {
		s := f.symbolAt(table, i)
		if s.kind&stabMask != 0 {
			continue
		}
		at := int64(f.symtab.off) + int64(i*f.entrySize())
		name, ok := cString(names, s.name)
		if !ok {
			if bad == nil {
				bad = f.errorf(at, "name at %#x is beyond the %d bytes of names, or has no end", s.name, len(names))
			}
			continue
		}
		if why := f.misplaced(s); why != "" && bad == nil {
			bad = f.errorf(at, "symbol %d at %#x is %s", i, s.value, why)
		}
		o = object.Symbol{Addr: s.value, Name: name, NameOff: s.name, Bind: bindOf(s)}
		o.Kind = f.kindOf(s, &o)
		o.Name = unprefixed(o.Name, &o.NameOff)
		if room -= len(o.Name); room < 0 {
			return f.errorf(at, "symbols from here on are left out: names of those before are too long")
		}
		fn(&o)
	}
	return bad
}

// cString returns the NUL-terminated text at an offset.
func cString(data []byte, at uint32) ([]byte, bool) {
	if uint64(at) >= uint64(len(data)) {
		return nil, false
	}
	rest := data[at:]
	n := bytes.IndexByte(rest[:min(len(rest), maxSymbolName)], 0)
	return rest[:max(n, 0):max(n, 0)], n >= 0
}

func bindOf(s nlist) object.Bind {
	switch {
	case s.kind&external == 0 || s.kind&private != 0:
		return object.Local
	case s.desc&descWeak != 0:
		return object.Weak
	}
	return object.Global
}

// misplaced returns what is wrong with the section of a symbol, or "". Linkers place data and end symbols elsewhere,
// and say that the header is in the first section.
func (f *File) misplaced(s nlist) string {
	if s.kind&typeMask != inSection && s.kind&stabMask == 0 {
		return ""
	}
	if s.section == 0 || int(s.section) > len(f.sections) {
		return fmt.Sprintf("in section %d of %d", s.section, len(f.sections))
	}
	in := f.sections[s.section-1]
	if in.Exec && s.value != f.base && (s.value < in.Addr || s.value-in.Addr > in.MemSize) {
		return "outside of its section " + in.Name
	}
	return ""
}

// kindOf fills in where a symbol is defined, and returns what it names.
func (f *File) kindOf(s nlist, o *object.Symbol) object.SymbolKind {
	switch s.kind & typeMask {
	case isAbsolute:
		o.Absolute = true
		return object.OtherKind
	case inSection:
	default:
		o.Undefined = true
		return object.OtherKind
	}
	if s.section == 0 || int(s.section) > len(f.sections) {
		return object.OtherKind
	}
	in := f.sections[s.section-1]
	o.Section = &in.Section
	switch {
	case !in.Exec:
		return object.Data
	case isLocal(o.Name):
		return object.Label
	case s.desc&descAlt != 0:
		return object.Untyped // a position in a function
	}
	if s.desc&descThumb != 0 && f.cpu.arch == arch.ARM {
		o.Addr |= 1
	}
	return object.Function
}

// isLocal reports whether the assembler made up a name: ltmp0, l_x, L_x. C names begin with an
// underscore, and methods of Objective-C with a sign.
func isLocal(name []byte) bool {
	return bytes.HasPrefix(name, []byte("ltmp")) || bytes.HasPrefix(name, []byte("l_")) || bytes.HasPrefix(name, []byte("L"))
}

// unprefixed removes the underscore that begins C and mangled names, and adjusts at, the name's offset.
func unprefixed(name []byte, at *uint32) []byte {
	if len(name) < 2 || name[0] != '_' {
		return name
	}
	*at++
	return name[1:]
}
