package resolve

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/symtool/symtool/internal/lru"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Parts reads a module part by part; P identifies a part. All methods but Close may be called concurrently.
type Parts[P comparable] interface {
	// Areas returns the code in [first, last] that may contain functions, in order of address. Areas
	// do not overlap; those with the same Part are read together. Unless first is last, the lines and
	// inlined functions of these functions may be left out.
	Areas(first, last symfmt.RVA) []Area[P]

	// Read returns a Module with the functions in all areas of a part, and no other records with
	// addresses. It returns false if the areas have changed since Areas returned them: the caller
	// must call Areas again.
	Read(part P) (*symfmt.Module, bool)

	// Name returns the form in which a name from Read or Public is written, such as demangled:
	// deriving these forms may be more work than reading the part.
	Name(name string) string

	// Order returns the indices of addresses in the order in which to look them up, one slice for
	// each part.
	Order(at []symfmt.RVA) [][]int

	// Detail ranks the module as Symbols does.
	Detail() Detail

	// Public returns the last symbol at or before an address, which is a PUBLIC if no function
	// starts there. size is the size of its code, or 0 if that is unknown.
	Public(rva symfmt.RVA) (p symfmt.Public, size uint64, ok bool)

	// Block returns a table whose only block of STACK CFI is the one that contains an address.
	// Begins reports whether a block begins after first, and at or before last.
	Block(rva symfmt.RVA) (symfmt.CFITable, bool)
	Begins(first, last symfmt.RVA) bool

	// HasRules reports whether there is any block.
	HasRules() bool

	SourceSymbols
	TableSymbols

	// Last returns the last address of the records.
	Last() symfmt.RVA

	// Damage returns what was left out so far, in the order in which it was found. Damaged returns
	// the number of problems.
	Damage() []symfmt.Problem
	Damaged() int

	// Memory returns roughly how many bytes are held.
	Memory() int64

	Close() error
}

// Area is a piece of code, with the part of the module to read for it.
type Area[P comparable] struct {
	First, Last symfmt.RVA
	Part        P
}

// lazy implements Symbols for a module whose parts are read when one of their addresses is looked
// up. The most recently used parts are kept.
type lazy[P comparable] struct {
	users

	parts    Parts[P]
	identity Identity
	extents  extent

	mu      sync.Mutex
	kept    lru.Cache[P, *part]
	reading map[P]*reading

	named byName
}

// reading is a part that is being read; other callers that need it wait.
type reading struct {
	done chan struct{} // closed at the end
	part *part         // nil if the areas have changed
}

// part is a part that was read.
type part struct {
	*Resolver
	size int64 // approximate size of its functions in bytes

	mu     sync.Mutex
	names  map[string]string // written names of functions, by their names in the file, as far as they were needed
	length int64             // total length of the written names in bytes
}

// held returns the approximate memory that a part takes.
func (p *part) held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size + p.limit + p.length
}

// rename replaces the names of functions by the written ones, which name derives: deriving all of
// them would take longer than everything else.
func (p *part) rename(frames []Frame, name func(string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range frames {
		raw := frames[i].Function
		written, ok := p.names[raw]
		if !ok {
			written = symfmt.CleanName(name(raw), symfmt.NoName)
			p.names[raw] = written
			p.length += int64(len(written))
		}
		frames[i].Function = written
	}
}

// The number of bytes of parts that a module keeps. Addresses that are looked up one at a time
// need more than many at once, because Order groups the latter by part.
const (
	heldParts   = heldFunctions
	heldInOrder = 24 << 20
	manyAtOnce  = 1000 // addresses
)

// FromParts returns the Symbols of a module that is read part by part. They give the same answers
// as a Resolver of the whole module. m has the MODULE record; o.Extents must be the binary's.
func FromParts[P comparable](m *symfmt.Module, parts Parts[P], o ModuleOptions) Symbols {
	return &lazy[P]{
		parts: parts, kept: lru.Cache[P, *part]{Limit: heldParts}, reading: make(map[P]*reading),
		identity: Identity{OS: m.OS, Arch: m.Arch, ID: m.ID, Name: symfmt.CleanName(m.Name, ""), Path: o.Path, DebugPath: o.DebugPath},
		extents:  extent{Extents: o.Extents},
	}
}

// Identity implements Symbols.
func (l *lazy[P]) Identity() Identity { return l.identity }

// Detail implements Symbols.
func (l *lazy[P]) Detail() Detail { return l.parts.Detail() }

// around returns the functions near an address, or nil if there can be none.
func (l *lazy[P]) around(rva symfmt.RVA) *part {
	for {
		areas := l.parts.Areas(rva, rva)
		if len(areas) == 0 {
			return nil
		}
		if r := l.part(areas[0].Part); r != nil {
			return r
		}
	}
}

// part returns a part, reading it unless it is kept; it returns nil if the areas have changed.
func (l *lazy[P]) part(key P) *part {
	l.mu.Lock()
	if p, ok := l.kept.Get(key); ok {
		defer l.mu.Unlock()
		l.kept.Resize(key, p.held())
		return p
	}
	if r := l.reading[key]; r != nil {
		l.mu.Unlock()
		<-r.done
		return r.part
	}
	r := &reading{done: make(chan struct{})}
	l.reading[key] = r
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(l.reading, key); r.part != nil {
			l.kept.Add(key, r.part, r.part.held())
		}
		close(r.done)
	}()
	r.part = l.read(key)
	return r.part
}

// read reads a part; it returns nil if the areas have changed.
func (l *lazy[P]) read(key P) *part {
	m, ok := l.parts.Read(key)
	if !ok {
		return nil
	}
	m = m.Ordered()
	p := &part{size: moduleSize(m), names: make(map[string]string)}
	p.Resolver = newResolver(l.identity.Path, indexModule(m, true), moduleSource{m: m, raw: true}, nil, nil)
	p.limit = min(p.limit, p.size)
	return p
}

// order implements orderer.
func (l *lazy[P]) order(at []symfmt.RVA) [][]int {
	if len(at) > manyAtOnce {
		l.mu.Lock()
		l.kept.Limit = heldInOrder
		l.mu.Unlock()
	}
	return l.parts.Order(at)
}

// moduleSize returns the approximate size in bytes of a module's functions.
func moduleSize(m *symfmt.Module) (n int64) {
	for i := range m.Funcs {
		f := &m.Funcs[i]
		n += int64(unsafe.Sizeof(*f)) + int64(len(f.Name)+f.Body.Size())
	}
	for i := range m.Files {
		n += int64(unsafe.Sizeof(m.Files[i])) + int64(len(m.Files[i].Name))
	}
	for i := range m.Origins {
		n += int64(unsafe.Sizeof(m.Origins[i])) + int64(len(m.Origins[i].Name))
	}
	return n + minPart
}

// minPart is the size of a part with hardly any functions.
const minPart = 32 << 10

// Find implements Symbols.
func (l *lazy[P]) Find(rva symfmt.RVA, at *Location) (bool, error) {
	found, err := l.Nearest(rva, at)
	return found && at.sure(), err
}

// Nearest implements Symbols.
func (l *lazy[P]) Nearest(rva symfmt.RVA, at *Location) (bool, error) {
	*at = Location{Frames: at.Frames[:0]}
	if p := l.around(rva); p != nil {
		if found, err := p.Nearest(rva, at); found || err != nil {
			p.rename(at.Frames, l.parts.Name)
			return found, err
		}
	}
	s, size, ok := l.parts.Public(rva)
	if !ok || l.starts(s.RVA, rva) {
		return false, nil // like Resolver.Nearest
	}
	verdict := l.extents.public(l, s.RVA, size, rva)
	if verdict == outside {
		return false, nil
	}
	at.Source, at.Start, at.Offset, at.Guess, at.Multiple = Public, s.RVA, uint64(rva-s.RVA), verdict == unsure, s.Multiple
	at.Frames = append(at.Frames, Frame{Function: symfmt.CleanName(l.parts.Name(s.Name), symfmt.NoName)})
	return true, nil
}

// starts reports whether a function starts in [first, last].
func (l *lazy[P]) starts(first, last symfmt.RVA) bool {
	for {
		areas := l.parts.Areas(first, last)
		for i := len(areas) - 1; ; i-- {
			if i < 0 {
				return false
			}
			p := l.part(areas[i].Part)
			if p == nil {
				break
			}
			to := min(last, areas[i].Last)
			if k := p.x.funcs.below(to) - 1; k >= 0 && p.x.funcs.start(k) >= max(first, areas[i].First) {
				return true
			}
		}
	}
}

// inFunc implements surroundings.
func (l *lazy[P]) inFunc(rva symfmt.RVA) bool {
	p := l.around(rva)
	return p != nil && p.x.inFunc(rva)
}

// blockBegins implements surroundings.
func (l *lazy[P]) blockBegins(first, last symfmt.RVA) bool { return l.parts.Begins(first, last) }

// HasRules implements Symbols.
func (l *lazy[P]) HasRules() bool { return l.parts.HasRules() }

// blockAt implements surroundings.
func (l *lazy[P]) blockAt(rva symfmt.RVA) (span, bool) {
	t, ok := l.parts.Block(rva)
	if !ok {
		return span{}, false
	}
	return span{rva: t.Blocks[0].RVA, size: t.Blocks[0].Size}, true
}

// LineStart implements Symbols.
func (l *lazy[P]) LineStart(rva symfmt.RVA) (start symfmt.RVA, ok bool, err error) {
	if p := l.around(rva); p != nil {
		return p.LineStart(rva)
	}
	return 0, false, nil
}

// Source implements SourceSymbols.
func (l *lazy[P]) Source(rva symfmt.RVA) []symfmt.SourceFrame { return l.parts.Source(rva) }

// Declared implements SourceSymbols.
func (l *lazy[P]) Declared(rva symfmt.RVA) (symfmt.SourceFile, uint32) { return l.parts.Declared(rva) }

// EachSymbol implements TableSymbols.
func (l *lazy[P]) EachSymbol(own bool, found func(*symfmt.TableSymbol)) {
	l.parts.EachSymbol(own, found)
}

// Rules implements Symbols.
func (l *lazy[P]) Rules(rva symfmt.RVA, names *cfi.Names) (*Rules, error) {
	t, ok := l.parts.Block(rva)
	if !ok {
		return nil, nil
	}
	block := span{rva: t.Blocks[0].RVA, size: t.Blocks[0].Size}
	rules, err := moduleSource{m: &symfmt.Module{CFI: t}}.rules(block, rva, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.identity.Path, err)
	}
	return rules, nil
}

// Win implements Symbols. Binaries that are read in parts have no STACK WIN.
func (l *lazy[P]) Win(symfmt.RVA) (*symfmt.StackWin, error) { return nil, nil }

// InCode implements Symbols.
func (l *lazy[P]) InCode(rva symfmt.RVA) bool { return sameRange(l.extents.Code, rva, rva) }

// Last implements Symbols.
func (l *lazy[P]) Last() symfmt.RVA { return l.parts.Last() }

// Base implements Symbols.
func (l *lazy[P]) Base() (base uint64, known bool) { return l.extents.Base, true }

// Damage implements Symbols.
func (l *lazy[P]) Damage() []symfmt.Problem { return l.parts.Damage() }

// Damaged implements Symbols.
func (l *lazy[P]) Damaged() int { return l.parts.Damaged() }

// Close implements Symbols.
func (l *lazy[P]) Close() error {
	if !l.leave() {
		return nil
	}
	return l.parts.Close()
}

// Memory implements Symbols.
func (l *lazy[P]) Memory() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.Held() + l.parts.Memory()
}

var _ SourceSymbols = (*lazy[int])(nil)

var _ TableSymbols = (*lazy[int])(nil)

var _ MappedSymbols = (*lazy[int])(nil)

// Named implements NamedSymbols with the symbols of the binary. Of several symbols at an address it
// knows only one.
func (l *lazy[P]) Named(name string) []Code {
	return l.named.find(name, func() {
		for rva := symfmt.RVA(math.MaxUint64); ; rva-- {
			s, size, ok := l.parts.Public(rva)
			if !ok {
				return
			}
			l.named.add(s.Name, Code{s.RVA, size})
			if rva = s.RVA; rva == 0 {
				return
			}
		}
	})
}

// AtOffset implements MappedSymbols.
func (l *lazy[P]) AtOffset(offset uint64) (symfmt.RVA, bool) {
	if m, ok := l.parts.(MappedSymbols); ok {
		return m.AtOffset(offset)
	}
	return 0, false
}

// CodeOffset implements MappedSymbols.
func (l *lazy[P]) CodeOffset() (uint64, bool) {
	if m, ok := l.parts.(MappedSymbols); ok {
		return m.CodeOffset()
	}
	return 0, false
}

var _ NamedSymbols = (*lazy[int])(nil)
