package measure

import (
	"slices"

	"github.com/symtool/symtool/lint/check"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// codeNames finds the function that code belongs to. Addresses must ascend.
type codeNames struct {
	funcs   facts.Sorted[facts.Func]
	publics facts.Sorted[facts.Public]
	starts  []symfmt.RVA // of both
	from    symfmt.RVA   // where the piece of code begins: names in front of it are of other code

	nextFunc, nextPublic int // the first that begin behind the last address
}

func newCodeNames(p *check.Pass) codeNames {
	return codeNames{funcs: p.FuncsByRVA(), publics: p.PublicsByRVA(), starts: p.Starts()}
}

// next is where the next function behind rva begins.
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

// upTo is the last start that is not behind rva.
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

// at is the function at an address, and where what belongs to it there ends. Line 0 is
// for none.
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
