package dwarf

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/span"
)

// Span is a piece of code, [lo, hi), in addresses of the file.
type Span struct{ Lo, Hi uint64 }

// SpanCost is the work charged for an entry of a range list: about the memory
// of its result.
const SpanCost = 16

// Spans appends to out the code that a DIE with these attributes covers: its
// range list, otherwise [low_pc, high_pc). Empty pieces are left out.
func (u *Unit) Spans(low, high, ranges Value, out []Span) ([]Span, error) {
	switch ranges.Kind {
	case None:
		lo, ok := u.address(low)
		if !ok {
			return out, u.indexError(low)
		}
		hi, ok := u.address(high)
		switch {
		case ok:
			hi = u.endOf(lo, hi)
		case high.Kind == Const:
			hi = lo + high.U
		default:
			return out, u.indexError(high)
		}
		lo, hi = u.withoutISA(lo, hi)
		if lo < hi {
			out = append(out, Span{lo, hi})
		}
		return out, nil
	case Const, SecOff:
		if u.Version < 5 {
			return u.rangeList(u.rangesBase+ranges.U, out)
		}
		return u.rngList(ranges.U, out)
	case Rnglistx:
		size := u.offsetSize()
		off, ok := tableEntry(u.rnglistsBase, ranges.U, size, uint64(len(u.sect.Rnglists)))
		if !ok {
			return out, u.Errorf(u.FirstDIE, "range list index %d outside .debug_rnglists", ranges.U)
		}
		return u.rngList(u.rnglistsBase+u.Order.uint(u.sect.Rnglists[off:off+size]), out)
	}
	return out, nil
}

// Declared appends the code covered by the unit's own DIE.
func (u *Unit) Declared(out []Span) ([]Span, error) { return u.Spans(u.low, u.high, u.ranges, out) }

// withoutISA returns [lo, hi) without the bit that selects the instruction
// set. GNU as includes it in the description of assembly: low_pc is the value
// of the symbol.
func (u *Unit) withoutISA(lo, hi uint64) (uint64, uint64) {
	if lo&u.sect.ISA == 0 {
		return lo, hi
	}
	return lo &^ u.sect.ISA, hi &^ u.sect.ISA
}

// indexError returns the reason why v is not an address, or nil if the attribute
// is missing or of another class.
func (u *Unit) indexError(v Value) error {
	switch v.Kind {
	case Addrx:
		return u.Errorf(u.FirstDIE, "address index %d outside .debug_addr", v.U)
	case AddrxOff:
		return u.Errorf(u.FirstDIE, "address index %d outside .debug_addr", v.U>>32)
	}
	return nil
}

// mostAddr returns the highest address of the unit's address size.
func (u *Unit) mostAddr() uint64 { return ^uint64(0) >> (64 - 8*uint64(u.AddrSize)) }

// endOf returns the end of code that starts at lo and ends before hi. hi may
// have wrapped around to 0, as code can extend to the end of a 32-bit address
// space.
func (u *Unit) endOf(lo, hi uint64) uint64 {
	if hi == 0 && lo > 0 && u.AddrSize < 8 {
		return u.mostAddr() + 1
	}
	return hi
}

// rangeList reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (u *Unit) rangeList(off uint64, out []Span) ([]Span, error) {
	base, size := u.lowPC, uint64(u.AddrSize)
	data := u.sect.Ranges
	most := u.mostAddr()
	for first := true; ; first = false {
		if off > uint64(len(data)) || uint64(len(data))-off < 2*size {
			return out, u.listError(".debug_ranges", off, first)
		}
		lo, hi := u.Order.uint(data[off:off+size]), u.Order.uint(data[off+size:off+2*size])
		off += 2 * size
		if !u.meter.Spend(SpanCost) {
			return out, ErrExhausted
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

func (u *Unit) listError(section string, off uint64, first bool) error {
	msg := "range list without an end"
	if first {
		msg = "range list starts outside the section"
	}
	return &bin.Error{File: u.sect.File, Section: section, Offset: off, Msg: msg}
}

func (u *Unit) addSpan(out []Span, lo, hi uint64) []Span {
	if hi = u.endOf(lo, hi); lo < hi {
		out = append(out, Span{lo, hi})
	}
	return out
}

// rngList reads a list of .debug_rnglists (DWARF 5, 2.17.3 and 7.25).
func (u *Unit) rngList(off uint64, out []Span) ([]Span, error) {
	data := u.sect.Rnglists
	if off >= uint64(len(data)) {
		return out, u.listError(".debug_rnglists", off, true)
	}
	base, pos, most := u.lowPC, int(off), u.mostAddr()
	for {
		if pos < 0 || pos >= len(data) {
			return out, u.listError(".debug_rnglists", off, false)
		}
		kind := data[pos]
		if kind == dw.RLEEndOfList {
			return out, nil
		}
		a, b, next, err := u.rngEntry(kind, pos+1)
		if err != nil {
			return out, err
		}
		if !u.meter.Spend(SpanCost) {
			return out, ErrExhausted
		}
		pos = next
		switch kind {
		case dw.RLEBaseAddressx, dw.RLEBaseAddress:
			base = a
			continue
		case dw.RLEOffsetPair:
			if a >= b {
				continue
			}
			a, b = (a+base)&most, (b+base)&most
		case dw.RLEStartxLength, dw.RLEStartLength:
			b += a
		}
		out = u.addSpan(out, a, b)
	}
}

// rngEntry reads the one or two operands of an entry.
func (u *Unit) rngEntry(kind uint8, pos int) (a, b uint64, next int, err error) {
	switch kind {
	case dw.RLEBaseAddressx:
		a, pos, err = u.rngAddrx(pos)
	case dw.RLEStartxEndx:
		if a, pos, err = u.rngAddrx(pos); err == nil {
			b, pos, err = u.rngAddrx(pos)
		}
	case dw.RLEStartxLength:
		if a, pos, err = u.rngAddrx(pos); err == nil {
			b, pos = uleb(u.sect.Rnglists, pos)
		}
	case dw.RLEOffsetPair:
		if a, pos = uleb(u.sect.Rnglists, pos); pos >= 0 {
			b, pos = uleb(u.sect.Rnglists, pos)
		}
	case dw.RLEBaseAddress:
		a, pos = u.rngAddr(pos)
	case dw.RLEStartEnd:
		if a, pos = u.rngAddr(pos); pos >= 0 {
			b, pos = u.rngAddr(pos)
		}
	case dw.RLEStartLength:
		if a, pos = u.rngAddr(pos); pos >= 0 {
			b, pos = uleb(u.sect.Rnglists, pos)
		}
	default:
		err = &bin.Error{File: u.sect.File, Section: ".debug_rnglists", Offset: uint64(pos - 1),
			Msg: fmt.Sprintf("range list entry of kind %d, want 0 to 7", kind)}
	}
	return a, b, pos, err
}

func (u *Unit) rngAddrx(pos int) (uint64, int, error) {
	i, next := uleb(u.sect.Rnglists, pos)
	if next < 0 {
		return 0, -1, nil
	}
	a, ok := u.addrx(i)
	if !ok {
		return 0, -1, &bin.Error{File: u.sect.File, Section: ".debug_rnglists", Offset: uint64(pos), Msg: "address index outside .debug_addr"}
	}
	return a, next, nil
}

func (u *Unit) rngAddr(pos int) (uint64, int) {
	size := int(u.AddrSize)
	if len(u.sect.Rnglists)-pos < size {
		return 0, -1
	}
	return u.Order.uint(u.sect.Rnglists[pos : pos+size]), pos + size
}

// Tidy sorts spans, in place, and joins those that touch or overlap.
func Tidy(s []Span) []Span { return codeSpans.Join(s) }

var codeSpans = span.Type[Span]{
	Ends: func(s Span) (lo, hi uint64) { return s.Lo, s.Hi },
	Make: func(lo, hi uint64) Span { return Span{Lo: lo, Hi: hi} },
}
