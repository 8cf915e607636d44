package dwarf

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/span"
)

// Span is a piece of code, [lo, hi), in addresses of the file.
type Span struct{ Lo, Hi uint64 }

// SpanCost is the work charged for an entry of a range list: about the memory
// of its result.
const SpanCost = 16

// Spans appends to out the code covered by a DIE with these attributes: its range list, otherwise [low_pc, high_pc).
// Empty pieces are left out. Code that the linker dropped gets an address where there is no code. Spans returns the
// first error; the other pieces are complete.
func (u *Unit) Spans(low, high, ranges Value, out []Span) ([]Span, error) {
	switch ranges.Kind {
	case None:
		return u.lowToHigh(low, high, out)
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
	return out, u.addressError("DW_AT_ranges", ranges)
}

// lowToHigh appends [low_pc, high_pc).
func (u *Unit) lowToHigh(low, high Value, out []Span) ([]Span, error) {
	lo, ok := u.address(low)
	if !ok {
		return out, u.addressError("DW_AT_low_pc", low)
	}
	hi, ok := u.address(high)
	if !ok && high.Kind != Const {
		return out, u.addressError("DW_AT_high_pc", high)
	}
	var bad string
	if ok {
		lo, hi = u.withoutISA(lo, hi)
		out, bad = u.addSpan(out, lo, hi)
	} else {
		lo, _ = u.withoutISA(lo, 0)
		out, bad = u.addSized(out, lo, high.U)
	}
	if bad != "" {
		return out, u.Errorf(u.FirstDIE, "%s", bad)
	}
	return out, nil
}

// Declared appends the code covered by the unit's own DIE.
func (u *Unit) Declared(out []Span) ([]Span, error) { return u.Spans(u.low, u.high, u.ranges, out) }

// withoutISA returns [lo, hi) without the bit that selects the instruction set. GNU as includes the bit when it
// describes assembly, as low_pc is the value of the symbol.
func (u *Unit) withoutISA(lo, hi uint64) (uint64, uint64) {
	if lo&u.sect.ISA == 0 {
		return lo, hi
	}
	return lo &^ u.sect.ISA, hi &^ u.sect.ISA
}

// addressError returns the reason why v, the value of an attribute, is not an address. It returns nil if the attribute
// is missing.
func (u *Unit) addressError(attr string, v Value) error {
	switch v.Kind {
	case None:
		return nil
	case Unfit:
		return u.MisfitError(u.FirstDIE, v.Misfit())
	case Addrx:
		return u.Errorf(u.FirstDIE, "address index %d outside .debug_addr", v.U)
	case AddrxOff:
		return u.Errorf(u.FirstDIE, "address index %d outside .debug_addr", v.U>>32)
	}
	return u.Errorf(u.FirstDIE, "%s is an expression that is not an address and an offset to add", attr)
}

// mostAddr returns the highest address of the unit's address size.
func (u *Unit) mostAddr() uint64 { return ^uint64(0) >> (64 - 8*uint64(u.AddrSize)) }

// dropped reports whether addr is a value that linkers write for dropped code: the highest address, or the one before
// it where the highest has another meaning (lld, -z dead-reloc-in-nonalloc). No offsets are added to such a value.
func (u *Unit) dropped(addr uint64) bool { return addr >= u.mostAddr()-1 }

// past reports whether addr+off is outside the address space. The end of code may be just past the highest address.
func (u *Unit) past(addr, off uint64) bool {
	sum, most := addr+off, u.mostAddr()
	return sum < addr || sum > most && sum-1 > most
}

// plus adds an offset to an address. A result past the highest address means dropped code.
func (u *Unit) plus(addr, off uint64) uint64 {
	if u.dropped(addr) || u.past(addr, off) {
		return u.mostAddr()
	}
	return addr + off
}

// endOf returns the end of code that starts at lo and ends before hi. hi may have wrapped around to 0, as code can
// extend to the end of a 32-bit address space.
func (u *Unit) endOf(lo, hi uint64) uint64 {
	if hi == 0 && lo > 0 && u.AddrSize < 8 {
		return u.mostAddr() + 1
	}
	return hi
}

// rangeList reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (u *Unit) rangeList(off uint64, out []Span) (_ []Span, err error) {
	const section = ".debug_ranges"
	base, size := u.lowPC, uint64(u.AddrSize)
	data := u.sect.Ranges
	most := u.mostAddr()
	for first := true; ; first = false {
		if off > uint64(len(data)) || uint64(len(data))-off < 2*size {
			return out, cmp.Or(err, u.listError(section, off, first))
		}
		lo, hi := u.Order.uint(data[off:off+size]), u.Order.uint(data[off+size:off+2*size])
		if !u.meter.Spend(SpanCost) {
			return out, ErrExhausted
		}
		switch {
		case lo == 0 && hi == 0:
			return out, err
		case lo == most:
			base = hi
		default:
			var bad string
			if out, bad = u.addPair(out, base, lo, hi); bad != "" && err == nil {
				err = u.rangeError(section, off, bad)
			}
		}
		off += 2 * size
	}
}

func (u *Unit) listError(section string, off uint64, first bool) error {
	msg := "range list without an end"
	if first {
		msg = "range list starts outside the section"
	}
	return &bin.Error{File: u.sect.File, Section: section, Offset: off, Msg: msg}
}

func (u *Unit) rangeError(section string, off uint64, msg string) error {
	return &bin.Error{File: u.sect.File, Section: section, Offset: off, Msg: msg}
}

// addSpan appends [lo, hi) unless it is empty. bad is the reason why it cannot be code.
func (u *Unit) addSpan(out []Span, lo, hi uint64) (_ []Span, bad string) {
	switch hi = u.endOf(lo, hi); {
	case lo < hi:
		out = append(out, Span{lo, hi})
	case u.dropped(lo):
		out = append(out, Span{u.mostAddr() - 1, u.mostAddr()})
	case lo > hi:
		bad = fmt.Sprintf("code at %#x ends before it begins, at %#x", lo, hi)
	}
	return out, bad
}

// addSized appends the n bytes at lo.
func (u *Unit) addSized(out []Span, lo, n uint64) (_ []Span, bad string) {
	if u.dropped(lo) {
		n = 0
	} else if u.past(lo, n) {
		return out, fmt.Sprintf("%#x bytes of code at %#x extend past the highest address", n, lo)
	}
	return u.addSpan(out, lo, lo+n)
}

// addPair appends [lo, hi), given as two offsets from base.
func (u *Unit) addPair(out []Span, base, lo, hi uint64) (_ []Span, bad string) {
	switch {
	case lo == hi:
		return out, ""
	case u.dropped(base):
		return u.addSpan(out, base, base)
	case !u.dropped(lo) && (u.past(base, lo) || u.past(base, hi)):
		return out, fmt.Sprintf("code from %#x to %#x behind %#x extends past the highest address", lo, hi, base)
	}
	return u.addSpan(out, base+lo, base+hi)
}

// rngList reads a list of .debug_rnglists (DWARF 5, 2.17.3 and 7.25).
func (u *Unit) rngList(off uint64, out []Span) (_ []Span, err error) {
	const section = ".debug_rnglists"
	data := u.sect.Rnglists
	if off >= uint64(len(data)) {
		return out, u.listError(section, off, true)
	}
	base, pos := u.lowPC, int(off)
	for {
		if pos < 0 || pos >= len(data) {
			return out, cmp.Or(err, u.listError(section, off, false))
		}
		kind, at := data[pos], pos
		if kind == dw.RLEEndOfList {
			return out, err
		}
		a, b, next, broken := u.rngEntry(kind, pos+1)
		if broken != nil {
			return out, cmp.Or(err, broken)
		}
		if !u.meter.Spend(SpanCost) {
			return out, ErrExhausted
		}
		bad := ""
		switch pos = next; kind {
		case dw.RLEBaseAddressx, dw.RLEBaseAddress:
			base = a
		case dw.RLEOffsetPair:
			out, bad = u.addPair(out, base, a, b)
		case dw.RLEStartxLength, dw.RLEStartLength:
			out, bad = u.addSized(out, a, b)
		default:
			out, bad = u.addSpan(out, a, b)
		}
		if bad != "" && err == nil {
			err = u.rangeError(section, uint64(at), bad)
		}
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

// Cut divides s, code of an inlined function, into the part inside the surrounding function and the rest. in has the
// sorted spans of the surrounding function; the part that begins in one of them is cut at its end. Compilers write no
// code outside; BOLT leaves some where it removed code, beginning at 0. Other tools agree: for code that begins before
// the function, llvm-symbolizer takes the part from the function's start on.
func (s Span) Cut(in []Span) (inside, outside Span) {
	k := sort.Search(len(in), func(i int) bool { return in[i].Hi > s.Lo })
	if k == len(in) || s.Lo < in[k].Lo {
		return Span{}, s
	}
	end := min(s.Hi, in[k].Hi)
	return Span{s.Lo, end}, Span{end, s.Hi}
}

// Tidy sorts spans, in place, and joins those that touch or overlap.
func Tidy(s []Span) []Span { return codeSpans.Join(s) }

var codeSpans = span.Type[Span]{
	Ends: func(s Span) (lo, hi uint64) { return s.Lo, s.Hi },
	Make: func(lo, hi uint64) Span { return Span{Lo: lo, Hi: hi} },
}
