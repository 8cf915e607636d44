// Package publics reads the symbol tables of a binary and its debug files: the function that each table names at an
// address, and the symbols as they are in the tables.
package publics

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Read returns the functions and untyped text symbols of a binary,
// one for each address, sorted by it. base is the binary's load base.
//
// They come from the .symtab with the most of them. If neither the binary nor its debug file has
// one, they come from the .dynsym and from the .symtab of .gnu_debugdata together, as the latter
// omits what .dynsym has.
//
// Names of sections, files, data and TLS are left out, as are undefined, absolute and common
// symbols; symbols outside executable sections or at their ends (_etext); local labels (.L) and
// the mapping symbols of ARM, AArch64, C-SKY and RISC-V ($a $d $t $x, each processor's ELF
// supplement). Bit 0 is cleared on ARM (Thumb) and MIPS (MIPS16, microMIPS).
//
// On 64-bit PowerPC, ELFv1, a function's symbol names its descriptor in .opd;
// it is replaced by the code's address that the descriptor holds, and ".f" is
// called f.
//
// Of several names at an address, the one kept is chosen by these criteria, in order: typed
// before untyped (a linker's _stext is not a function), global before weak before local, with a
// size before without one (an empty function ends where the next one starts), fewer leading
// underscores (abort before __GI_abort), shorter, first in byte order.
//
// # Where we differ
//
// Breakpad (dump_syms -m) sets Multiple at each address with two names, so on every alias, which
// marks the names of half of libc as uncertain. But an alias is the same function. Multiple is
// set here if two mangled names differ by more than the variant of a constructor or destructor,
// as after the linker's identical code folding (TestElfPublicsMultiple).
func Read(base uint64, files []object.Companion) ([]Symbol, []bin.Problem) {
	t, problems := collect(base, files)
	return t.pick(t.all), problems
}

// collect returns the symbols among which Read picks.
func collect(base uint64, files []object.Companion) (*pubTable, []bin.Problem) {
	c := pubCollector{base: base, opd: opdOf(files)}
	for _, which := range []object.Table{object.Symtab, object.Dynamic} {
		for _, f := range files {
			if !f.Mini {
				c.best.replace(c.collect(f, which))
			}
		}
		if len(c.best.all) > 0 && which == object.Symtab {
			break
		}
	}
	for _, f := range files {
		if f.Mini {
			c.best.add(c.collect(f, object.Symtab))
		}
	}
	for _, f := range files {
		if f.File != nil {
			f.ReleaseSymbols()
		}
	}
	return &c.best, c.problems
}

// pubCandidate is a symbol that may become a Symbol. It has no pointers, as a
// program has hundreds of thousands of them, and they are sorted.
type pubCandidate struct {
	rva     symfmt.RVA
	size    uint64
	name    uint32 // offset in pubTable.names
	nameLen uint32
	bind    object.Bind
	typed   bool
}

// pubTable holds the candidates of one symbol table.
type pubTable struct {
	names []byte
	all   []pubCandidate
	from  []source
}

func (t *pubTable) name(p *pubCandidate) []byte { return t.names[p.name:][:p.nameLen] }

// minPublics is the number of symbols for which there is room at first.
const minPublics = 512

type pubCollector struct {
	base     uint64
	opd      *opdTable
	best     pubTable // the one with the most symbols so far
	problems []bin.Problem
}

// collect returns the symbols of one table.
func (c *pubCollector) collect(f object.Companion, which object.Table) pubTable {
	found := pubTable{from: []source{{f, which}}}
	var err error
	if found.names, err = f.SymbolNames(which); err == nil {
		err = f.Symbols(which, func(s *object.Symbol) {
			if p, ok := c.candidate(f, s); ok {
				if n := len(found.all); n == cap(found.all) {
					found.all = slices.Grow(found.all, max(n, minPublics)) // append would copy them five times overall
				}
				found.all = append(found.all, p)
			}
		})
	}
	if err != nil {
		c.problems = append(c.problems, bin.Problem{Lost: "names of symbols", Err: err})
	}
	return found
}

// replace takes the symbols of other instead of its own if there are more of them.
func (t *pubTable) replace(other pubTable) {
	if len(other.all) > len(t.all) {
		*t = other
	}
}

// add adds the symbols of other.
func (t *pubTable) add(other pubTable) {
	switch {
	case len(t.all) == 0:
		*t = other
		return
	case len(other.all) == 0 || len(t.names)+len(other.names) > math.MaxUint32:
		return
	}
	for _, p := range other.all {
		p.name += uint32(len(t.names))
		t.all = append(t.all, p)
	}
	t.names = slices.Concat(t.names, other.names)
	t.from = append(t.from, other.from...)
}

func (c *pubCollector) candidate(f object.Companion, s *object.Symbol) (pubCandidate, bool) {
	p := pubCandidate{size: s.Size, name: s.NameOff, bind: s.Bind, typed: s.IsFunction()}
	if !p.typed && s.Kind != object.Untyped || s.Section == nil || len(s.Name) == 0 {
		return p, false
	}
	name := stripVersion(s.Name)
	if c.opd != nil && name[0] == '.' {
		name = name[1:]
		p.name++
	}
	p.nameLen = uint32(len(name))
	addr, ok := c.place(f, s)
	p.rva = symfmt.RVA(addr - c.base)
	return p, ok && addr >= c.base && len(name) > 0
}

// place returns the address of a symbol's code in the binary. It reports false if there cannot
// be code.
func (c *pubCollector) place(f object.Companion, s *object.Symbol) (uint64, bool) {
	if c.opd != nil {
		return c.opd.code(f, s)
	}
	addr := s.Addr &^ f.ISABit
	return addr + f.Moved, inCode(s.Section, addr)
}

// inCode reports whether addr is in s and s has instructions. The end of the section, where
// linkers put _etext, does not count.
func inCode(s *object.Section, addr uint64) bool {
	return s.Exec && s.Holds(addr)
}

// stripVersion removes the symbol version, "f@V" and "f@@V". Names mangled by
// Microsoft's compiler begin with '?' and use '@' themselves.
func stripVersion(name []byte) []byte {
	if i := bytes.IndexByte(name, '@'); i > 0 && name[0] != '?' {
		return name[:i]
	}
	return name
}

// pick sorts candidates, and keeps one for each address.
func (t *pubTable) pick(all []pubCandidate) []Symbol {
	slices.SortFunc(all, t.compare)
	n, length := winners(all)
	out := make([]Symbol, 0, n)
	var text strings.Builder // to save allocations
	text.Grow(length)
	for rest := all; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].rva == rest[0].rva {
			n++
		}
		start := text.Len()
		text.Write(t.name(&rest[0]))
		p := t.join(rest[:n])
		p.Name = text.String()[start:]
		out = append(out, p)
		rest = rest[n:]
	}
	return out
}

// winners returns how many sorted candidates pick keeps, and the total length of their names.
func winners(all []pubCandidate) (n, length int) {
	for i := range all {
		if i == 0 || all[i].rva != all[i-1].rva {
			n++
			length += int(all[i].nameLen)
		}
	}
	return n, length
}

// compare orders by address, and at the same address puts the best name first.
func (t *pubTable) compare(a, b pubCandidate) int {
	if a.rva != b.rva {
		return cmp.Compare(a.rva, b.rva)
	}
	if a.typed != b.typed {
		if a.typed {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(a.bind, b.bind); c != 0 {
		return c
	}
	if a.typed && (a.size > 0) != (b.size > 0) {
		if a.size > 0 {
			return -1
		}
		return 1
	}
	x, y := t.name(&a), t.name(&b)
	return cmp.Or(
		cmp.Compare(underscores(x), underscores(y)),
		cmp.Compare(len(x), len(y)),
		bytes.Compare(x, y),
		cmp.Compare(b.size, a.size))
}

// underscores counts the leading underscores of a name, except one that is part of the mangling.
func underscores(name []byte) int {
	n := 0
	for n < len(name) && name[n] == '_' {
		n++
	}
	if n == 1 && IsMangledName(name) {
		return 0
	}
	return n
}

// join combines the symbols at one address, best first. If the best has no size, it gets the
// size of another.
func (t *pubTable) join(group []pubCandidate) Symbol {
	best := group[0]
	p := Symbol{RVA: best.rva, Size: best.size, Func: best.typed, Alone: len(group) == 1}
	for i := 1; i < len(group); i++ {
		if best.size == 0 && group[i].typed {
			p.Size = max(p.Size, group[i].size)
		}
		if best.typed && group[i].typed && folded(t.name(&best), t.name(&group[i])) {
			p.Multiple = true
		}
	}
	return p
}

// folded reports whether two names of the same address belong to different
// functions. Suffixes of copies (.localalias, .part.0) make no difference.
func folded(a, b []byte) bool {
	a, b = text.CutClone(a), text.CutClone(b)
	return IsMangledName(a) && IsMangledName(b) && !sameStructor(a, b)
}

// sameStructor reports whether two names are equal or differ only in the
// variant of a constructor or destructor: C1, C2, C3, D0, D1, D2 (Itanium ABI,
// 5.1.4.3).
func sameStructor(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		variant := i > 0 && (a[i-1] == 'C' || a[i-1] == 'D') && isDigitByte(a[i]) && isDigitByte(b[i])
		return variant && bytes.Equal(a[i+1:], b[i+1:])
	}
	return true
}

func isDigitByte(c byte) bool { return '0' <= c && c <= '9' }
