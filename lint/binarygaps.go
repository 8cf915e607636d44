package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// minGap is the shortest piece of code, in bytes, that is reported as nameless where its bytes are
// not there to show whether it is padding.
const minGap = 64

// maxCodePieces is how many pieces a finding names.
const maxCodePieces = 5

func checkCodeNamed(p *Pass) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		if !p.HasModule {
			return
		}
		named := p.named()
		padding := execcode.PaddingOf(p.binary.File)
		for _, part := range p.binary.parts() {
			if part.Kind != execcode.Linkage {
				p.reportUnnamed(&part, gaps(part.Range, named), padding)
			}
		}
	})
}

// named returns the ranges with a name, in addresses of the binary, ascending and disjoint: those
// of FUNCs, and from each PUBLIC up to the next record.
func (p *Pass) named() []object.Range {
	all := make([]object.Range, 0, p.Functions.Len()+p.Publics.Len())
	for _, f := range p.Functions.All {
		start := p.binary.addr(f.RVA)
		if end := start + f.Size; end > start {
			all = append(all, object.Range{Start: start, End: end})
		}
	}
	starts := p.starts()
	for _, pub := range p.Publics.All {
		next, _ := slices.BinarySearch(starts, pub.RVA+1)
		end := ^uint64(0)
		if next < len(starts) {
			end = p.binary.addr(starts[next])
		}
		all = append(all, object.Range{Start: p.binary.addr(pub.RVA), End: end})
	}
	slices.SortFunc(all, func(a, b object.Range) int { return cmp.Compare(a.Start, b.Start) })
	n := 0
	for _, r := range all {
		if n > 0 && r.Start <= all[n-1].End {
			all[n-1].End = max(all[n-1].End, r.End)
			continue
		}
		all[n] = r
		n++
	}
	return all[:n]
}

// gaps returns the parts of a range outside of others, which ascend.
func gaps(whole object.Range, others []object.Range) (left []object.Range) {
	at := whole.Start
	first, _ := slices.BinarySearchFunc(others, whole.Start, func(r object.Range, at uint64) int { return cmp.Compare(r.End, at) })
	for _, r := range others[first:] {
		if r.Start >= whole.End {
			break
		}
		if r.Start > at {
			left = append(left, object.Range{Start: at, End: r.Start})
		}
		at = max(at, r.End)
	}
	if at < whole.End {
		left = append(left, object.Range{Start: at, End: whole.End})
	}
	return left
}

// reportUnnamed reports a part's code without a name, less its padding.
func (p *Pass) reportUnnamed(part *execcode.Part, left []object.Range, padding execcode.Padding) {
	total, n := uint64(0), 0
	for _, r := range left {
		r, err := part.Trim(r, false, padding)
		p.binary.problem("section "+part.Name, err)
		if r.End <= r.Start || err != nil && r.End-r.Start < minGap {
			continue
		}
		total += r.End - r.Start
		left[n] = r
		n++
	}
	if left = left[:n]; n == 0 {
		return
	}
	slices.SortStableFunc(left, func(a, b object.Range) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	var say []string
	for _, r := range left[:min(n, maxCodePieces)] {
		say = append(say, fmt.Sprintf("0x%x (0x%x bytes)", uint64(p.binary.rva(r.Start)), r.End-r.Start))
	}
	size := part.End - part.Start
	p.ReportAt(0, p.binary.rva(left[0].Start), "0x%x of 0x%x bytes of %s (%.1f %%) have neither FUNC nor PUBLIC, in %s: %s",
		total, size, part.Name, 100*float64(total)/float64(size), text.Count(uint64(n), "piece"), strings.Join(say, ", "))
}
