package binary

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// minGap is the least size in bytes at which code is reported as nameless if its bytes are not available, so that
// padding cannot be recognised.
const minGap = 64

// maxCodePieces is the number of pieces that a finding lists.
const maxCodePieces = 5

func checkCodeNamed(p *check.Pass, b *check.Image) {
	if !p.HasModule {
		return
	}
	named := namedRanges(p.Facts, b)
	for _, d := range b.NotCode() {
		named = append(named, object.Range{Start: b.Addr(d.RVA), End: b.Addr(d.End)})
	}
	named = object.Ranges.Join(named)
	padding := withTraps(execcode.PaddingOf(b.File), b.File.Arch)
	for _, part := range b.Parts() {
		if part.Kind == execcode.Code {
			reportUnnamed(p, b, &part, slices.Collect(object.Ranges.Gaps(part.Range, named)), padding)
		}
	}
}

// namedRanges returns the code that has a name: FUNCs, and the code from each PUBLIC up to the next record. The ranges
// are ascending and disjoint, in the binary's addresses.
func namedRanges(f *facts.Facts, b *check.Image) []object.Range {
	all := make([]object.Range, 0, f.Functions.Len()+f.Publics.Len())
	for _, fn := range f.Functions.All {
		start := b.Addr(fn.RVA)
		if end := start + fn.Size; end > start {
			all = append(all, object.Range{Start: start, End: end})
		}
	}
	starts := f.Starts()
	for _, pub := range f.Publics.All {
		next, _ := slices.BinarySearch(starts, pub.RVA+1)
		end := ^uint64(0)
		if next < len(starts) {
			end = b.Addr(starts[next])
		}
		all = append(all, object.Range{Start: b.Addr(pub.RVA), End: end})
	}
	return object.Ranges.Join(all)
}

// withTraps extends padding with x86's ud2, which some linkers use to fill gaps. As filler it needs no name; as code it
// has rules like any other instruction, as programs end in it.
func withTraps(padding execcode.Padding, cpu *arch.Arch) execcode.Padding {
	if cpu != arch.X86 && cpu != arch.X86_64 {
		return padding
	}
	return func(code []byte) int {
		if bytes.HasPrefix(code, []byte{0x0f, 0x0b}) {
			return 2
		}
		return padding(code)
	}
}

// cutTrap reports whether rest is the first byte of a two-byte padding instruction that also precedes it: where a gap
// ends, linkers cut the filler.
func cutTrap(part *execcode.Part, gap, rest object.Range, padding execcode.Padding) bool {
	if rest.End-rest.Start != 1 || rest.End != gap.End || rest.Start-gap.Start < 2 {
		return false
	}
	data, err := part.Bytes()
	at := rest.Start - part.Start
	if err != nil || at >= uint64(len(data)) {
		return false
	}
	filler := data[at-2 : at]
	return filler[0] == data[at] && padding(filler) == len(filler)
}

// reportUnnamed reports the code of a part that has no name, excluding padding.
func reportUnnamed(p *check.Pass, b *check.Image, part *execcode.Part, left []object.Range, padding execcode.Padding) {
	total, n := uint64(0), 0
	for _, gap := range left {
		r, err := part.Trim(gap, false, padding)
		b.Problem("section "+part.Name, err)
		if r.End <= r.Start || cutTrap(part, gap, r, padding) || err != nil && r.End-r.Start < minGap {
			continue
		}
		total += r.End - r.Start
		left[n] = r
		n++
	}
	if left = left[:n]; n == 0 {
		return
	}
	slices.SortStableFunc(left, func(x, y object.Range) int { return cmp.Compare(y.End-y.Start, x.End-x.Start) })
	var say []string
	for _, r := range left[:min(n, maxCodePieces)] {
		say = append(say, fmt.Sprintf("0x%x (0x%x bytes)", uint64(b.RVA(r.Start)), r.End-r.Start))
	}
	size := part.End - part.Start
	p.ReportAt(0, b.RVA(left[0].Start), "0x%x of 0x%x bytes of %s (%.1f %%) have neither FUNC nor PUBLIC, in %s: %s",
		total, size, part.Name, 100*float64(total)/float64(size), text.Count(uint64(n), "piece"), strings.Join(say, ", "))
}

func checkSymbols(p *check.Pass, b *check.Image) {
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

func checkExecutable(p *check.Pass) (func(*symfmt.Record), func()) {
	b := p.Image
	if b == nil {
		return nil, nil
	}
	return func(r *symfmt.Record) {
		if !b.Other && !b.Executable(b.Addr(r.RVA)) && len(b.ExecRanges()) > 0 {
			p.Report(r, facts.AddressField(r), "%v at 0x%x is outside the binary's executable code", r.Kind, uint64(r.RVA))
		}
	}, nil
}
