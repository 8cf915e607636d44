package lint

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/symtool/symtool/symfmt"
)

func hexRVA(rva symfmt.RVA) string { return strconv.FormatUint(uint64(rva), 16) }

// checkNameless reports blocks that begin where no name is known: outside of any
// FUNC, and with no PUBLIC between the end of the last FUNC and them.
func checkNameless(p *Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if len(p.Functions)+len(p.Publics) == 0 {
			return // of a file without names, another rule tells
		}
		names := namedCode(p.Facts)
		for i := range p.Blocks {
			b := &p.Blocks[i]
			if b.Size > 0 && !names.has(b.RVA) {
				p.ReportAt(int(b.Line), b.RVA, "there is no FUNC or PUBLIC for %x to %x", b.RVA, uint64(b.RVA)+b.Size)
			}
		}
	}
}

// nameMap tells which code has a name: marks by address.
type nameMap []nameMark

// nameMark says that from an address on code has a name, or has none.
type nameMark struct {
	rva   symfmt.RVA
	named bool
}

// namedCode makes the map. A PUBLIC names what follows up to the next FUNC.
func namedCode(f *Facts) nameMap {
	marks := make(nameMap, 0, 2*len(f.Functions)+len(f.Publics))
	funcs := make([]symfmt.Range, len(f.Functions))
	for i := range f.Functions {
		funcs[i] = symfmt.Range{RVA: f.Functions[i].RVA, Size: f.Functions[i].Size}
	}
	for _, r := range mergeRanges(funcs) {
		marks = append(marks, nameMark{r.RVA, true})
		if end := uint64(r.RVA) + r.Size; end > uint64(r.RVA) {
			marks = append(marks, nameMark{symfmt.RVA(end), false})
		}
	}
	for _, pub := range f.Publics {
		marks = append(marks, nameMark{pub.RVA, true})
	}
	// Where a function ends and a PUBLIC begins, there is a name; a PUBLIC within a
	// function changes nothing, for the end of that comes later.
	slices.SortFunc(marks, func(a, b nameMark) int {
		switch {
		case a.rva != b.rva:
			return cmp.Compare(a.rva, b.rva)
		case a.named == b.named:
			return 0
		case a.named:
			return 1
		}
		return -1
	})
	return marks
}

func (m nameMap) has(rva symfmt.RVA) bool {
	i, _ := slices.BinarySearchFunc(m, rva, func(k nameMark, rva symfmt.RVA) int {
		if k.rva <= rva {
			return -1
		}
		return 1
	})
	return i > 0 && m[i-1].named
}
