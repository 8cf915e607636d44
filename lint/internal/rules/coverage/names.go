package coverage

import (
	"slices"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// codeNames finds the function that code belongs to. Queries must be in ascending order of address.
type codeNames struct {
	funcs   facts.Sorted[facts.Func]
	publics facts.Sorted[facts.Public]
	starts  []symfmt.RVA // of FUNCs and PUBLICs
	from    symfmt.RVA   // start of the piece of code: names before it belong to other code

	nextFunc, nextPublic int // the first ones that begin after the last address
}

func newCodeNames(p *check.Pass) codeNames {
	return codeNames{funcs: p.FuncsByRVA(), publics: p.PublicsByRVA(), starts: p.Starts()}
}

// next returns the start of the next function after rva.
func (n *codeNames) next(rva symfmt.RVA) (symfmt.RVA, bool) {
	i, found := slices.BinarySearch(n.starts, rva)
	if found {
		i++
	}
	if i == len(n.starts) {
		return 0, false
	}
	return n.starts[i], true
}

// upTo returns the last start at or before rva.
func (n *codeNames) upTo(rva symfmt.RVA) (symfmt.RVA, bool) {
	i, found := slices.BinarySearch(n.starts, rva)
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	return n.starts[i], true
}

// at returns the function at an address, and the end of the code there that belongs to it. Its Line
// is 0 if there is no function.
func (n *codeNames) at(rva symfmt.RVA) (owner coverage.Gap, end symfmt.RVA) {
	for n.nextFunc < n.funcs.Len() && n.funcs.At(n.nextFunc).RVA <= rva {
		n.nextFunc++
	}
	for n.nextPublic < n.publics.Len() && n.publics.At(n.nextPublic).RVA <= rva {
		n.nextPublic++
	}
	end = ^symfmt.RVA(0)
	if n.nextFunc < n.funcs.Len() {
		end = n.funcs.At(n.nextFunc).RVA
	}
	if n.nextPublic < n.publics.Len() {
		end = min(end, n.publics.At(n.nextPublic).RVA)
	}
	for i := n.nextFunc - 1; i >= 0 && i >= n.nextFunc-facts.MaxShared; i-- {
		if f := n.funcs.At(i); uint64(rva-f.RVA) < f.Size {
			if f.End() > rva {
				end = min(end, f.End())
			}
			return coverage.Gap{RVA: f.RVA, Line: int(f.Line), Size: f.Size, Kind: coverage.GapFunc}, end
		}
	}
	if n.nextPublic == 0 {
		return coverage.Gap{Kind: coverage.GapCode}, end
	}
	pub := n.publics.At(n.nextPublic - 1)
	if pub.RVA < n.from || n.nextFunc > 0 && n.funcs.At(n.nextFunc-1).RVA > pub.RVA {
		return coverage.Gap{Kind: coverage.GapCode}, end
	}
	return coverage.Gap{RVA: pub.RVA, Line: int(pub.Line), Kind: coverage.GapPublic}, end
}
