package dwarf2sym

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt"
)

// elfPub is a place in the code that ELF symbols name.
type elfPub struct {
	RVA      symfmt.RVA
	Size     uint64 // st_size in bytes; 0 when no symbol tells it
	Name     string // mangled, without its version
	Func     bool   // STT_FUNC or STT_GNU_IFUNC; else untyped
	Multiple bool   // several functions were folded into this code
}

// elfPublics returns the functions and untyped text symbols of a module, one
// for each address, sorted by it. files are the binary and its debug file, in
// any order; nil ones are skipped. base is the load base.
//
// They come from the .symtab with the most of them, and where no file has one
// from the .dynsym. Left out are names of sections, files, data and TLS;
// undefined, absolute and common symbols; what lies outside executable
// sections, their ends included (_etext); local labels (.L) and the mapping
// symbols of ARM, AArch64, C-SKY and RISC-V ($a $d $t $x, each processor's ELF
// supplement). Bit 0 is cleared on ARM (Thumb) and MIPS (MIPS16, microMIPS).
//
// On 64-bit PowerPC, ELFv1, a function's symbol names its descriptor in .opd;
// it is replaced by the code's address that the descriptor holds, and ".f" is
// called f.
//
// Of several names at an address this one is kept: typed before untyped (a
// linker's _stext is no function), global before weak before local, fewer
// leading underscores (abort before __GI_abort), shorter, first in byte order.
//
// # Where we differ
//
// Breakpad (dump_syms -m) sets Multiple at each address with two names, so on
// every alias; half of libc then says that its names are uncertain. An alias
// is the same function. Multiple is set here where two mangled names differ by
// more than the variant of a constructor or destructor, which the linker's
// identical code folding makes (TestElfPublicsMultiple).
func elfPublics(base uint64, files ...*elfobj.File) ([]elfPub, []bin.Problem) {
	c := pubCollector{base: base, opd: opdOf(files)}
	for _, table := range []elfobj.SymTable{elfobj.SymTab, elfobj.DynSym} {
		for _, f := range files {
			if f != nil {
				c.collect(f, table)
			}
		}
		if len(c.best) > 0 {
			break
		}
	}
	return pickPubs(c.best), c.problems
}

// pubCandidate is a symbol that may become an elfPub.
type pubCandidate struct {
	rva   symfmt.RVA
	size  uint64
	name  []byte
	bind  uint8 // 0 global, 1 weak, 2 local
	typed bool
}

type pubCollector struct {
	base     uint64
	opd      *opdTable
	best     []pubCandidate // of the richest table yet
	problems []bin.Problem
}

// collect replaces best by the symbols of one table, if it has more.
func (c *pubCollector) collect(f *elfobj.File, table elfobj.SymTable) {
	var found []pubCandidate
	err := f.Symbols(table, func(s *elfobj.Symbol) {
		if p, ok := c.candidate(f, s); ok {
			found = append(found, p)
		}
	})
	if err != nil {
		c.problems = append(c.problems, bin.Problem{Lost: "ELF symbols", Err: err})
	}
	if len(found) > len(c.best) {
		c.best = found
	}
}

func (c *pubCollector) candidate(f *elfobj.File, s *elfobj.Symbol) (pubCandidate, bool) {
	var p pubCandidate
	switch s.Type {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		p.typed = true
	case elf.STT_NOTYPE:
	case sttARMThumb:
		p.typed = f.Machine == elf.EM_ARM
		if !p.typed {
			return p, false
		}
	default:
		return p, false
	}
	if s.Section == nil || len(s.Name) == 0 || !p.typed && isLabel(s.Name, f.Machine) {
		return p, false
	}
	p.name, p.size, p.bind = stripVersion(s.Name), s.Size, bindRank(s.Bind)
	if c.opd != nil {
		p.name = bytes.TrimPrefix(p.name, []byte("."))
	}
	addr, ok := c.place(f, s)
	p.rva = symfmt.RVA(addr - c.base)
	return p, ok && addr >= c.base && len(p.name) > 0
}

// place returns the address of a symbol's code, and whether there can be code.
func (c *pubCollector) place(f *elfobj.File, s *elfobj.Symbol) (uint64, bool) {
	switch {
	case c.opd != nil:
		return c.opd.code(f, s)
	case f.Machine == elf.EM_ARM || f.Machine == elf.EM_MIPS:
		return s.Value &^ 1, inCode(s.Section, s.Value&^1)
	}
	return s.Value, inCode(s.Section, s.Value)
}

// inCode tells whether addr is in s and s holds instructions. The end of the
// section, where linkers put _etext, is not.
func inCode(s *elfobj.Section, addr uint64) bool {
	return s.Flags&elf.SHF_EXECINSTR != 0 && addr-s.Addr < s.FileSize
}

// sttARMThumb is STT_ARM_TFUNC, a Thumb function of before the ARM EABI.
const sttARMThumb = elf.STT_LOPROC

func bindRank(b elf.SymBind) uint8 {
	switch b {
	case elf.STB_LOCAL:
		return 2
	case elf.STB_WEAK:
		return 1
	}
	return 0 // STB_GLOBAL, STB_GNU_UNIQUE
}

// emCSKY is EM_CSKY, which debug/elf names only with its value.
const emCSKY elf.Machine = 252

// isLabel tells whether an untyped symbol is made by assembler or compiler for
// themselves.
func isLabel(name []byte, m elf.Machine) bool {
	if bytes.HasPrefix(name, []byte(".L")) {
		return true
	}
	if len(name) < 2 || name[0] != '$' {
		return false
	}
	kinds := ""
	switch m {
	case elf.EM_ARM:
		kinds = "adt"
	case elf.EM_AARCH64:
		kinds = "xd"
	case elf.EM_RISCV:
		if name[1] == 'x' {
			return true // an ISA string may follow: $xrv64gc
		}
		kinds = "d"
	case emCSKY:
		kinds = "td"
	}
	return strings.IndexByte(kinds, name[1]) >= 0 && (len(name) == 2 || name[2] == '.')
}

// stripVersion cuts the symbol version off, "f@V" and "f@@V". Names mangled by
// Microsoft's compiler begin with '?' and have '@' for themselves.
func stripVersion(name []byte) []byte {
	if i := bytes.IndexByte(name, '@'); i > 0 && name[0] != '?' {
		return name[:i]
	}
	return name
}

// pickPubs leaves one candidate for each address, in order of address.
func pickPubs(all []pubCandidate) []elfPub {
	slices.SortFunc(all, comparePubs)
	groups, names := 0, 0
	for i := range all {
		if i == 0 || all[i].rva != all[i-1].rva {
			groups++
			names += len(all[i].name)
		}
	}
	out := make([]elfPub, 0, groups)
	var text strings.Builder // one allocation for all names
	text.Grow(names)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].rva == all[0].rva {
			n++
		}
		start := text.Len()
		text.Write(all[0].name)
		p := joinPubs(all[:n])
		p.Name = text.String()[start:]
		out = append(out, p)
		all = all[n:]
	}
	return out
}

func comparePubs(a, b pubCandidate) int {
	if c := cmp.Compare(a.rva, b.rva); c != 0 {
		return c
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
	if c := cmp.Compare(underscores(a.name), underscores(b.name)); c != 0 {
		return c
	}
	if c := cmp.Compare(len(a.name), len(b.name)); c != 0 {
		return c
	}
	if c := bytes.Compare(a.name, b.name); c != 0 {
		return c
	}
	return cmp.Compare(b.size, a.size)
}

// underscores counts those that a name begins with. The one of a mangled name
// belongs to the mangling.
func underscores(name []byte) int {
	n := 0
	for n < len(name) && name[n] == '_' {
		n++
	}
	if n == 1 && isMangledName(name) {
		return 0
	}
	return n
}

func isMangledName[S string | []byte](name S) bool {
	return len(name) > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')
}

// joinPubs makes one of the symbols of an address, the first being the best. A
// size is taken from the others when the first has none.
func joinPubs(group []pubCandidate) elfPub {
	best := group[0]
	p := elfPub{RVA: best.rva, Size: best.size, Func: best.typed}
	for i := 1; i < len(group); i++ {
		if best.size == 0 && group[i].typed {
			p.Size = max(p.Size, group[i].size)
		}
		p.Multiple = p.Multiple || folded(best, group[i])
	}
	return p
}

// folded tells whether two symbols of one address are different functions.
func folded(a, b pubCandidate) bool {
	return a.typed && b.typed && isMangledName(a.name) && isMangledName(b.name) && !sameStructor(a.name, b.name)
}

// sameStructor tells whether two names are equal or differ in the variant of a
// constructor or destructor only: C1, C2, C3, D0, D1, D2 (Itanium ABI, 5.1.4.3).
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
