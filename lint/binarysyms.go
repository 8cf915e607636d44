package lint

import (
	"slices"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// eachFunction calls fn for the function symbols of all tables, in executable
// code. The Symbol is reused.
func (b *elfBinary) eachFunction(fn func(s *object.Symbol, addr uint64)) {
	one := func(f *object.File, which object.Table) {
		err := f.Symbols(which, func(s *object.Symbol) {
			if !s.IsFunction() || s.Undefined || len(s.Name) == 0 {
				return
			}
			if addr := b.codeAddr(s.Addr); !s.Absolute && b.Executable(addr) {
				fn(s, addr)
			}
		})
		b.problem("symbols", err)
	}
	one(b.File, object.Symtab)
	one(b.File, object.Dynamic)
	if b.mini == nil {
		var err error
		b.mini, err = b.Embedded()
		b.problem("MiniDebugInfo", err)
	}
	if b.mini != nil {
		one(b.mini, object.Symtab)
	}
}

// exported calls fn for the functions that other modules may call. One without bytes is never
// called: code that the compiler found to be unreachable has the address of whatever comes next.
func (b *elfBinary) exported(fn func(addr uint64)) {
	err := b.Symbols(object.Dynamic, func(s *object.Symbol) {
		if s.Kind == object.Function && s.Size > 0 && !s.Undefined {
			fn(s.Addr)
		}
	})
	b.problem("symbols", err)
}

// codeAddr clears the bit that marks another instruction set.
func (b *elfBinary) codeAddr(addr uint64) uint64 { return addr &^ b.ISABit }

// nameAt is the name of the function that an address is in, "" for none.
func (b *elfBinary) nameAt(addr uint64) (name string) {
	var best uint64
	b.eachFunction(func(s *object.Symbol, at uint64) {
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
		p.binary.eachFunction(func(s *object.Symbol, addr uint64) {
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
