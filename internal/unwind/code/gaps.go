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

// lacks reports whether an address is in code that has no rules.
func (d *deriver) lacks(addr uint64) bool {
	i, found := slices.BinarySearchFunc(d.parts, addr, func(p execcode.Part, addr uint64) int { return cmp.Compare(p.Start, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= d.parts[i].End {
		return false
	}
	is, _ := d.in.described(addr)
	return !is
}

// allDescribed reports whether all of [lo, hi) has rules.
func (in *input) allDescribed(lo, hi uint64) bool {
	for lo < hi {
		is, behind := in.nextRange(lo)
		if is > lo {
			return false
		}
		lo = behind
	}
	return true
}

// unnamed looks for code that has no rules in a file without symbols, and returns its size. What fills the code up to where
// a function may begin is not looked at, nor is that of the start-up files.
func (d *deriver) unnamed() (size uint64) {
	anchors := execcode.Anchors(d.file)
	slices.SortFunc(anchors, func(a, b execcode.Anchor) int { return cmp.Compare(a.Addr, b.Addr) })
	type gap struct {
		*execcode.Part
		codeRange
	}
	var gaps []gap
	for i := range d.parts {
		p := &d.parts[i]
		for at := p.Start; p.Kind == execcode.Code && at < p.End; {
			next, behind := d.in.nextRange(at)
			end := min(next, p.End)
			if align := d.in.cpu.alignment - 1; startupEnd(anchors, (at+align)&^align) < end {
				gaps = append(gaps, gap{p, codeRange{at, end}})
				size += end - at
			}
			at = max(behind, end)
		}
	}
	for _, g := range gaps {
		if size <= maxSize {
			size -= d.behindPadding(g.Part, g.lo, g.hi) - g.lo
		}
	}
	d.in.unnamed = size > 0
	return size
}

// startupEnd returns the end of the start-up code that begins at an address, or the address. The anchors are in order.
func startupEnd(anchors []execcode.Anchor, at uint64) uint64 {
	for _, a := range anchors {
		if a.Addr+a.Behind > at && a.Addr-min(a.Addr, a.Before) <= at {
			at = a.Addr + a.Behind
		}
	}
	return at
}

// behindPadding returns where the padding ends that begins at an address.
func (d *deriver) behindPadding(p *execcode.Part, at, end uint64) uint64 {
	code, _ := p.Map() // as in load
	code = code[min(at-p.Start, uint64(len(code))):]
	code = code[:min(end-at, uint64(len(code)))]
	for len(code) > 0 {
		n := d.in.cpu.skip(code)
		if n == 0 || n > len(code) {
			return at
		}
		at += uint64(n)
		code = code[n:]
	}
	return end
}
