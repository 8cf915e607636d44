package lint

import (
	"slices"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

func checkSymbols(p *Pass, b *Image) {
	starts := p.Starts()
	reported := map[symfmt.RVA]bool{}
	b.EachFunction(func(s *object.Symbol, addr uint64) {
		rva := b.RVA(addr)
		if _, ok := slices.BinarySearch(starts, rva); ok || reported[rva] {
			return
		}
		reported[rva] = true
		p.ReportAt(0, rva, "function symbol %q at 0x%x (0x%x bytes) has neither FUNC nor PUBLIC at its address", s.Name, uint64(rva), s.Size)
	})
}

func checkExecutable(p *Pass) (func(*symfmt.Record), func()) {
	b := ImageOf(p)
	if b == nil {
		return nil, nil
	}
	return func(r *symfmt.Record) {
		if !b.Other && !b.Executable(b.Addr(r.RVA)) && len(b.ExecRanges()) > 0 {
			p.Report(r, facts.AddressField(r), "%v at 0x%x is outside of the binary's executable code", r.Kind, uint64(r.RVA))
		}
	}, nil
}
