package dwarf2sym

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
)

// span is a piece of code, [lo, hi), in addresses of the file.
type span struct{ lo, hi uint64 }

// spanCost is the work that an entry of a range list counts for: about the
// memory of what it becomes.
const spanCost = 16

// spans appends the code that a DIE with these attributes covers to out: its
// range list, else [low_pc, high_pc). Empty pieces are left out.
func (u *unit) spans(low, high, ranges value, out []span) ([]span, error) {
	switch ranges.kind {
	case vNone:
		lo, ok := u.address(low)
		if !ok {
			return out, u.indexError(low)
		}
		hi, ok := u.address(high)
		switch {
		case ok:
			hi = u.endOf(lo, hi)
		case high.kind == vConst:
			hi = lo + high.u
		default:
			return out, u.indexError(high)
		}
		lo, hi = u.withoutISA(lo, hi)
		if lo < hi {
			out = append(out, span{lo, hi})
		}
		return out, nil
	case vConst, vSecOff:
		if u.version < 5 {
			return u.rangeList(u.rangesBase+ranges.u, out)
		}
		return u.rngList(ranges.u, out)
	case vRnglistx:
		size := u.offsetSize()
		off, ok := tableEntry(u.rnglistsBase, ranges.u, size, uint64(len(u.sect.rnglists)))
		if !ok {
			return out, u.errorf(u.firstDIE, "range list index %d outside of .debug_rnglists", ranges.u)
		}
		return u.rngList(u.rnglistsBase+u.order.uint(u.sect.rnglists[off:off+size]), out)
	}
	return out, nil
}

// withoutISA returns [lo, hi) without the bit that selects the instruction set. GNU
// as describes assembly with it: low_pc is the value of the symbol.
func (u *unit) withoutISA(lo, hi uint64) (uint64, uint64) {
	if lo&u.sect.isa == 0 {
		return lo, hi
	}
	return lo &^ u.sect.isa, hi &^ u.sect.isa
}

// indexError returns the reason why v is not an address, or nil if the attribute
// is missing or of another class.
func (u *unit) indexError(v value) error {
	switch v.kind {
	case vAddrx:
		return u.errorf(u.firstDIE, "address index %d outside of .debug_addr", v.u)
	case vAddrxOff:
		return u.errorf(u.firstDIE, "address index %d outside of .debug_addr", v.u>>32)
	}
	return nil
}

// mostAddr returns the highest address of the unit's address size.
func (u *unit) mostAddr() uint64 { return ^uint64(0) >> (64 - 8*uint64(u.addrSize)) }

// endOf returns the end of what starts at lo and ends before hi, where hi may
// have wrapped around to 0: code can reach to the end of 32-bit address space.
func (u *unit) endOf(lo, hi uint64) uint64 {
	if hi == 0 && lo > 0 && u.addrSize < 8 {
		return u.mostAddr() + 1
	}
	return hi
}

// rangeList reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (u *unit) rangeList(off uint64, out []span) ([]span, error) {
	base, size := u.lowPC, uint64(u.addrSize)
	data := u.sect.ranges
	most := u.mostAddr()
	for first := true; ; first = false {
		if off > uint64(len(data)) || uint64(len(data))-off < 2*size {
			return out, u.listError(".debug_ranges", off, first)
		}
		lo, hi := u.order.uint(data[off:off+size]), u.order.uint(data[off+size:off+2*size])
		off += 2 * size
		if !u.meter.spend(spanCost) {
			return out, errExhausted
		}
		switch {
		case lo == 0 && hi == 0:
			return out, nil
		case lo == most:
			base = hi
		case lo < hi:
			out = u.addSpan(out, (base+lo)&most, (base+hi)&most)
		}
	}
}

func (u *unit) listError(section string, off uint64, first bool) error {
	msg := "range list without an end"
	if first {
		msg = "range list starts outside of the section"
	}
	return &bin.Error{File: u.sect.file, Section: section, Offset: off, Msg: msg}
}

func (u *unit) addSpan(out []span, lo, hi uint64) []span {
	if hi = u.endOf(lo, hi); lo < hi {
		out = append(out, span{lo, hi})
	}
	return out
}

// rngList reads a list of .debug_rnglists (DWARF 5, 2.17.3 and 7.25).
func (u *unit) rngList(off uint64, out []span) ([]span, error) {
	data := u.sect.rnglists
	if off >= uint64(len(data)) {
		return out, u.listError(".debug_rnglists", off, true)
	}
	base, pos, most := u.lowPC, int(off), u.mostAddr()
	for {
		if pos < 0 || pos >= len(data) {
			return out, u.listError(".debug_rnglists", off, false)
		}
		kind := data[pos]
		if kind == rleEndOfList {
			return out, nil
		}
		a, b, next, err := u.rngEntry(kind, pos+1)
		if err != nil {
			return out, err
		}
		if !u.meter.spend(spanCost) {
			return out, errExhausted
		}
		pos = next
		switch kind {
		case rleBaseAddressx, rleBaseAddress:
			base = a
			continue
		case rleOffsetPair:
			if a >= b {
				continue
			}
			a, b = (a+base)&most, (b+base)&most
		case rleStartxLength, rleStartLength:
			b += a
		}
		out = u.addSpan(out, a, b)
	}
}

// rngEntry reads the one or two operands of an entry.
func (u *unit) rngEntry(kind uint8, pos int) (a, b uint64, next int, err error) {
	switch kind {
	case rleBaseAddressx:
		a, pos, err = u.rngAddrx(pos)
	case rleStartxEndx:
		if a, pos, err = u.rngAddrx(pos); err == nil {
			b, pos, err = u.rngAddrx(pos)
		}
	case rleStartxLength:
		if a, pos, err = u.rngAddrx(pos); err == nil {
			b, pos = uleb(u.sect.rnglists, pos)
		}
	case rleOffsetPair:
		if a, pos = uleb(u.sect.rnglists, pos); pos >= 0 {
			b, pos = uleb(u.sect.rnglists, pos)
		}
	case rleBaseAddress:
		a, pos = u.rngAddr(pos)
	case rleStartEnd:
		if a, pos = u.rngAddr(pos); pos >= 0 {
			b, pos = u.rngAddr(pos)
		}
	case rleStartLength:
		if a, pos = u.rngAddr(pos); pos >= 0 {
			b, pos = uleb(u.sect.rnglists, pos)
		}
	default:
		err = &bin.Error{File: u.sect.file, Section: ".debug_rnglists", Offset: uint64(pos - 1),
			Msg: fmt.Sprintf("range list entry of kind %d, want 0 to 7", kind)}
	}
	return a, b, pos, err
}

func (u *unit) rngAddrx(pos int) (uint64, int, error) {
	i, next := uleb(u.sect.rnglists, pos)
	if next < 0 {
		return 0, -1, nil
	}
	a, ok := u.addrx(i)
	if !ok {
		return 0, -1, &bin.Error{File: u.sect.file, Section: ".debug_rnglists", Offset: uint64(pos), Msg: "address index outside of .debug_addr"}
	}
	return a, next, nil
}

func (u *unit) rngAddr(pos int) (uint64, int) {
	size := int(u.addrSize)
	if len(u.sect.rnglists)-pos < size {
		return 0, -1
	}
	return u.order.uint(u.sect.rnglists[pos : pos+size]), pos + size
}

// tidy sorts spans and joins those that touch or overlap.
func tidy(s []span) []span {
	if len(s) < 2 {
		return s
	}
	sorted := true
	for i := 1; i < len(s); i++ {
		if s[i].lo <= s[i-1].hi {
			sorted = false
			break
		}
	}
	if sorted {
		return s
	}
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	n := 0
	for _, r := range s[1:] {
		if r.lo <= s[n].hi {
			s[n].hi = max(s[n].hi, r.hi)
		} else {
			n++
			s[n] = r
		}
	}
	return s[:n+1]
}
