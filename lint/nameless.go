package lint

import (
	"cmp"
	"strconv"

	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

func hexRVA(rva symfmt.RVA) string { return strconv.FormatUint(uint64(rva), 16) }

// checkNameless reports blocks that begin where no name is known: outside of any
// FUNC, and with no PUBLIC between the end of the last FUNC and them.
func checkNameless(p *Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if p.Functions.Len()+p.Publics.Len() == 0 {
			return // another rule reports a file without names
		}
		names := namedCode{funcs: p.FuncsByRVA(), publics: p.PublicsByRVA()}
		blocks := facts.SortTable(&p.Blocks, func(a, b *facts.Block) int { return cmp.Compare(a.RVA, b.RVA) })
		for _, b := range blocks.All {
			if b.Size > 0 && !names.has(b.RVA) {
				p.ReportAt(int(b.Line), b.RVA, "no FUNC or PUBLIC for %x to %x", b.RVA, uint64(b.RVA)+b.Size)
			}
		}
	}
}

// namedCode goes through the code by address, and finds what has a name. A PUBLIC names what
// follows up to the next FUNC.
type namedCode struct {
	funcs                facts.Sorted[facts.Func]
	publics              facts.Sorted[facts.Public]
	nextFunc, nextPublic int        // how many of them begin at the last address or below
	last                 symfmt.RVA // the highest byte of those FUNCs
	any                  bool       // there is one
}

// has reports whether an address, not below the last one, has a name.
func (n *namedCode) has(rva symfmt.RVA) bool {
	for ; n.nextFunc < n.funcs.Len() && n.funcs.At(n.nextFunc).RVA <= rva; n.nextFunc++ {
		if f := n.funcs.At(n.nextFunc); f.Size > 0 {
			n.last, n.any = max(n.last, lastByte(f)), true
		}
	}
	if n.any && rva <= n.last {
		return true
	}
	for n.nextPublic < n.publics.Len() && n.publics.At(n.nextPublic).RVA <= rva {
		n.nextPublic++
	}
	return n.nextPublic > 0 && (!n.any || n.publics.At(n.nextPublic-1).RVA > n.last)
}
