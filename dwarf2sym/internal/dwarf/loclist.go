package dwarf

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// Location list entries (7.7.3, table 7.10), and the view pairs of GNU.
const (
	lleEndOfList       = 0
	lleBaseAddressx    = 1
	lleStartxEndx      = 2
	lleStartxLength    = 3
	lleOffsetPair      = 4
	lleDefaultLocation = 5
	lleBaseAddress     = 6
	lleStartEnd        = 7
	lleStartLength     = 8
	lleViewPair        = 9
)

// Location list entries of split DWARF 4 (GCC wiki, DebugFission).
const (
	lleGNUEnd         = 0
	lleGNUBaseAddrx   = 1
	lleGNUStartEnd    = 2
	lleGNUStartLength = 3
	lleGNUOffsetPair  = 4
)

// LocCost is the work charged for a location list entry.
const LocCost = 16

// Locations calls fn with each entry of the location list that an attribute refers to: the code
// [lo, hi), in addresses of the file, and an expression. Entries without code are left out; a
// default location, which applies everywhere else, has lo 0 and hi the highest address.
func (u *Unit) Locations(a *Attr, fn func(lo, hi uint64, expr []byte)) error {
	off := a.U
	switch {
	case a.Form == dw.FormLoclistx:
		size := u.offsetSize()
		at, ok := tableEntry(u.loclistsBase, a.U, size, uint64(len(u.sect.Loclists)))
		if !ok {
			return u.Errorf(a.pos, "location list index %d outside .debug_loclists", a.U)
		}
		off = u.loclistsBase + u.Order.uint(u.sect.Loclists[at:at+size])
		return u.locLists(off, fn)
	case a.Kind != SecOff && a.Kind != Const:
		return nil
	case u.Version >= 5:
		return u.locLists(off, fn)
	case u.sect.OldSplit:
		return u.splitLocs(off, fn)
	}
	return u.oldLocs(off, fn)
}

// IsList reports whether an attribute refers to a location list.
func (a *Attr) IsList() bool { return a.Kind == SecOff || a.Form == dw.FormLoclistx || a.Kind == Const }

func (u *Unit) locError(section string, off uint64, msg string) error {
	return &bin.Error{File: u.sect.File, Section: section, Offset: off, Msg: msg}
}

// oldLocs reads a list of .debug_loc (DWARF 4, 2.6.2).
func (u *Unit) oldLocs(off uint64, fn func(lo, hi uint64, expr []byte)) error {
	const section = ".debug_loc"
	data, size, most, base := u.sect.Loc, uint64(u.AddrSize), u.mostAddr(), u.lowPC
	for {
		if off > uint64(len(data)) || uint64(len(data))-off < 2*size {
			return u.locError(section, off, "location list without an end")
		}
		lo, hi := u.Order.uint(data[off:off+size]), u.Order.uint(data[off+size:off+2*size])
		off += 2 * size
		if !u.meter.Spend(LocCost) {
			return ErrExhausted
		}
		switch {
		case lo == 0 && hi == 0:
			return nil
		case lo == most:
			base = hi
			continue
		}
		expr, next, ok := u.shortExpr(data, off)
		if !ok {
			return u.locError(section, off, "expression extends past the section")
		}
		off = next
		if lo, hi = u.plus(base, lo), u.plus(base, hi); lo < hi {
			fn(lo, hi, expr)
		}
	}
}

// shortExpr reads an expression with a 2-byte length before it.
func (u *Unit) shortExpr(data []byte, off uint64) (expr []byte, next uint64, ok bool) {
	if off > uint64(len(data)) || uint64(len(data))-off < 2 {
		return nil, 0, false
	}
	n := uint64(u.Order.u16(data[off:]))
	if off += 2; n > uint64(len(data))-off {
		return nil, 0, false
	}
	return data[off : off+n : off+n], off + n, true
}

// splitLocs reads a list of .debug_loc.dwo in GNU's split DWARF 4.
func (u *Unit) splitLocs(off uint64, fn func(lo, hi uint64, expr []byte)) error {
	const section = ".debug_loc.dwo"
	data, base := u.sect.Loc, u.lowPC
	for {
		if off >= uint64(len(data)) {
			return u.locError(section, off, "location list without an end")
		}
		if !u.meter.Spend(LocCost) {
			return ErrExhausted
		}
		kind, pos := data[off], int(off+1)
		var lo, hi uint64
		ok := true
		switch kind {
		case lleGNUEnd:
			return nil
		case lleGNUBaseAddrx:
			if base, pos, ok = u.listAddrx(data, pos); !ok {
				return u.locError(section, off, "address index outside .debug_addr")
			}
			off = uint64(pos)
			continue
		case lleGNUStartEnd:
			if lo, pos, ok = u.listAddrx(data, pos); ok {
				hi, pos, ok = u.listAddrx(data, pos)
			}
		case lleGNUStartLength:
			if lo, pos, ok = u.listAddrx(data, pos); ok && len(data)-pos >= 4 {
				hi, pos = u.plus(lo, uint64(u.Order.u32(data[pos:]))), pos+4
			}
		case lleGNUOffsetPair:
			if ok = len(data)-pos >= 8; ok {
				lo, hi, pos = u.plus(base, uint64(u.Order.u32(data[pos:]))), u.plus(base, uint64(u.Order.u32(data[pos+4:]))), pos+8
			}
		default:
			return u.locError(section, off, fmt.Sprintf("location list entry of kind %d, want 0 to 4", kind))
		}
		if !ok {
			return u.locError(section, off, "malformed location list entry")
		}
		expr, next, ok := u.shortExpr(data, uint64(pos))
		if !ok {
			return u.locError(section, off, "expression extends past the section")
		}
		off = next
		if hi = u.endOf(lo, hi); lo < hi {
			fn(lo, hi, expr)
		}
	}
}

// listAddrx reads an index into .debug_addr and returns the address there.
func (u *Unit) listAddrx(data []byte, pos int) (addr uint64, next int, ok bool) {
	i, next := uleb(data, pos)
	if next < 0 {
		return 0, 0, false
	}
	addr, ok = u.addrx(i)
	return addr, next, ok
}

// locLists reads a list of .debug_loclists (DWARF 5, 2.6.2 and 7.29).
func (u *Unit) locLists(off uint64, fn func(lo, hi uint64, expr []byte)) error {
	const section = ".debug_loclists"
	data, base := u.sect.Loclists, u.lowPC
	if off >= uint64(len(data)) {
		return u.locError(section, off, "location list starts outside the section")
	}
	pos := int(off)
	for {
		if pos >= len(data) {
			return u.locError(section, off, "location list without an end")
		}
		if !u.meter.Spend(LocCost) {
			return ErrExhausted
		}
		kind, at := data[pos], pos
		a, b, next, ok := locPair(data, kind, pos+1)
		if !ok {
			a, b, next, ok = u.locEntry(data, kind, pos+1)
		}
		if !ok {
			return u.locError(section, uint64(at), fmt.Sprintf("malformed location list entry of kind %d", kind))
		}
		pos = next
		switch kind {
		case lleEndOfList:
			return nil
		case lleBaseAddressx, lleBaseAddress:
			base = a
			continue
		case lleViewPair:
			continue
		case lleOffsetPair:
			a, b = u.plus(base, a), u.plus(base, b)
		case lleStartxLength, lleStartLength:
			b = u.plus(a, b)
		}
		n, start := uleb(data, pos)
		if start < 0 || n > uint64(len(data)-start) {
			return u.locError(section, uint64(at), "expression extends past the section")
		}
		pos = start + int(n)
		if b = u.endOf(a, b); a < b {
			fn(a, b, data[start:pos:pos])
		}
	}
}

// locPair reads two operands of at most two bytes each, which nearly all entries have.
func locPair(data []byte, kind uint8, pos int) (a, b uint64, next int, ok bool) {
	if kind != lleOffsetPair && kind != lleViewPair || len(data)-pos < 4 {
		return 0, 0, 0, false
	}
	a, pos, ok = shortULEB(data, pos)
	if !ok {
		return 0, 0, 0, false
	}
	b, pos, ok = shortULEB(data, pos)
	return a, b, pos, ok
}

// shortULEB reads a ULEB128 of one or two bytes, which must be in data.
func shortULEB(data []byte, pos int) (v uint64, next int, ok bool) {
	lo := data[pos]
	if lo < 0x80 {
		return uint64(lo), pos + 1, true
	}
	hi := data[pos+1]
	return uint64(lo&0x7f) | uint64(hi)<<7, pos + 2, hi < 0x80
}

// locEntry reads the operands of an entry of .debug_loclists.
func (u *Unit) locEntry(data []byte, kind uint8, pos int) (a, b uint64, next int, ok bool) {
	addr := func() (v uint64) {
		if size := int(u.AddrSize); ok && len(data)-pos >= size {
			v, pos = u.Order.uint(data[pos:pos+size]), pos+size
		} else {
			ok = false
		}
		return v
	}
	addrx := func() (v uint64) {
		if ok {
			v, pos, ok = u.listAddrx(data, pos)
		}
		return v
	}
	number := func() (v uint64) {
		if ok {
			v, pos = uleb(data, pos)
			ok = pos >= 0
		}
		return v
	}
	ok = true
	switch kind {
	case lleEndOfList:
	case lleBaseAddressx:
		a = addrx()
	case lleStartxEndx:
		a, b = addrx(), addrx()
	case lleStartxLength:
		a = addrx()
		b = number()
	case lleOffsetPair, lleViewPair:
		a = number()
		b = number()
	case lleDefaultLocation:
		b = u.mostAddr()
	case lleBaseAddress:
		a = addr()
	case lleStartEnd:
		a = addr()
		b = addr()
	case lleStartLength:
		a = addr()
		b = number()
	default:
		return 0, 0, 0, false
	}
	return a, b, pos, ok
}
