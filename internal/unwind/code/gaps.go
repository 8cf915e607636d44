package code

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/symfmt"
)

// described notes the code that has rules.
func (d *deriver) described(t *symfmt.CFITable) {
	for i := range t.Blocks {
		b := &t.Blocks[i]
		lo := uint64(b.RVA) + d.file.Base
		d.in.ranges = append(d.in.ranges, codeRange{lo: lo, hi: lo + b.Size})
	}
	slices.SortFunc(d.in.ranges, func(a, b codeRange) int { return cmp.Compare(a.lo, b.lo) })
}

// gaps returns the pieces of code that have no rules, without the padding at their start.
func (d *deriver) gaps() (all []codeRange) {
	for _, p := range d.in.parts {
		if p.stubs {
			continue
		}
		for at, end := p.lo, p.lo+uint64(len(p.bytes)); at < end; {
			next, behind := d.in.nextRange(at)
			if gap := (codeRange{d.behindPadding(&p, at, min(next, end)), min(next, end)}); gap.lo < gap.hi {
				all = append(all, gap)
			}
			at = max(behind, min(next, end))
		}
	}
	return all
}

// behindPadding returns where the padding ends that begins at an address.
func (d *deriver) behindPadding(p *codePart, at, end uint64) uint64 {
	for code := p.bytes[at-p.lo : end-p.lo]; at < end; {
		n := d.in.cpu.skip(code)
		if n == 0 || n > len(code) {
			return at
		}
		at += uint64(n)
		code = code[n:]
	}
	return end
}

// moreThanStartup reports whether code other than that of the start-up files has no rules.
func (d *deriver) moreThanStartup() bool {
	anchors := execcode.Anchors(d.file)
	slices.SortFunc(anchors, func(a, b execcode.Anchor) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, gap := range d.gaps() {
		end := gap.lo
		for _, a := range anchors {
			if a.Addr >= gap.lo && a.Addr-min(a.Addr, a.Before) <= end {
				end = max(end, a.Addr+a.Behind)
			}
		}
		if end < gap.hi {
			return true
		}
	}
	return false
}
