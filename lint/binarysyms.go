package lint

import (
	"debug/elf"
	"slices"

	elfobj "github.com/symtool/symtool/internal/object/elf"
	"github.com/symtool/symtool/symfmt"
)

// eachFunction calls fn for the function symbols of all tables, in executable
// code. The Symbol is reused.
func (b *elfBinary) eachFunction(fn func(s *elfobj.Symbol, addr uint64)) {
	one := func(f *elfobj.File, which elfobj.SymTable) {
		err := f.Symbols(which, func(s *elfobj.Symbol) {
			if s.Type != elf.STT_FUNC && s.Type != elf.STT_GNU_IFUNC || s.Shndx == uint16(elf.SHN_UNDEF) || len(s.Name) == 0 {
				return
			}
			// SHN_ABS does not refer to a place in the file.
			if addr := b.codeAddr(s.Value); s.Shndx != uint16(elf.SHN_ABS) && b.Executable(addr) {
				fn(s, addr)
			}
		})
		b.problem("symbols", err)
	}
	one(b.File, elfobj.SymTab)
	one(b.File, elfobj.DynSym)
	if b.mini == nil {
		var err error
		b.mini, err = b.MiniDebug()
		b.problem("MiniDebugInfo", err)
	}
	if b.mini != nil {
		one(b.mini, elfobj.SymTab)
	}
}

// exported calls fn for the functions that other modules may call. One without bytes is never
// called: code that the compiler found to be unreachable has the address of whatever comes next.
func (b *elfBinary) exported(fn func(addr uint64)) {
	err := b.Symbols(elfobj.DynSym, func(s *elfobj.Symbol) {
		if s.Type == elf.STT_FUNC && s.Size > 0 && s.Shndx != uint16(elf.SHN_UNDEF) {
			fn(s.Value)
		}
	})
	b.problem("symbols", err)
}

// codeAddr clears the bit that marks another instruction set.
func (b *elfBinary) codeAddr(addr uint64) uint64 {
	if b.Machine == elf.EM_ARM || b.Machine == elf.EM_MIPS {
		return addr &^ 1
	}
	return addr
}

// nameAt is the name of the function that an address is in, "" for none.
func (b *elfBinary) nameAt(addr uint64) (name string) {
	var best uint64
	b.eachFunction(func(s *elfobj.Symbol, at uint64) {
		if at <= addr && (addr-at < s.Size || at == addr) && (name == "" || at > best) {
			best, name = at, symfmt.CleanName(string(s.Name), "")
		}
	})
	return name
}

// starts are the addresses at which FUNCs and PUBLICs begin, ascending.
func (p *Pass) starts() []symfmt.RVA {
	all := make([]symfmt.RVA, 0, p.Functions.Len()+p.Publics.Len())
	for _, f := range p.Functions.All {
		all = append(all, f.RVA)
	}
	for _, pub := range p.Publics.All {
		all = append(all, pub.RVA)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func checkSymbols(p *Pass) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		starts := p.starts()
		reported := map[symfmt.RVA]bool{}
		p.binary.eachFunction(func(s *elfobj.Symbol, addr uint64) {
			rva := p.binary.rva(addr)
			if _, ok := slices.BinarySearch(starts, rva); ok || reported[rva] {
				return
			}
			reported[rva] = true
			p.ReportAt(0, rva, "function symbol %q at 0x%x (0x%x bytes) has neither FUNC nor PUBLIC at its address", s.Name, uint64(rva), s.Size)
		})
	})
}

func checkExecutable(p *Pass) (func(*symfmt.Record), func()) {
	if p.binary == nil {
		return nil, nil
	}
	return func(r *symfmt.Record) {
		if !p.otherBinary && !p.binary.Executable(p.binary.addr(r.RVA)) && len(p.binary.ExecRanges()) > 0 {
			p.Report(r, 1+multi(r), "%v at 0x%x is outside of the binary's executable code", r.Kind, uint64(r.RVA))
		}
	}, nil
}
