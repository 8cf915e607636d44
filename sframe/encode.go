package sframe

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt/damage"
)

// Target specifies what Encode writes.
type Target struct {
	Version uint8 // 2, with both errata, or 3
	ABI     ABI
	Addr    uint64 // address of the section's first byte
}

// layout describes how a version is written.
type layout struct {
	near    bool   // starts have 32 bits
	flex    bool   // rows may name their base registers
	signal  bool   // functions may be frames of signal handlers' callers
	maxRows uint32 // maximum number of rows of a function

	// appendFDE appends an FDE. appendAttr appends the attributes before its rows.
	appendFDE  func(b []byte, order byteOrder, f *FDE, start int64) []byte
	appendAttr func(b []byte, order byteOrder, f *FDE) []byte
}

// Encode encodes a section as the assembler and ld would: FDEs ascend by
// address with starts relative to their own fields, and rows follow in the
// same order. It uses the smallest form of each row, and omits rows that
// repeat the one before or cover no address. For an outermost frame, it writes
// nothing else.
//
// What the target cannot represent is reported as a Problem that names the
// function by its address. A whole function is lost if one of its rules
// cannot be represented: no row can say "unknown", so the row before would stay
// in force. Version 3 has a second form, FLEX, for all rows of a function; it is
// used only if a row needs it, as not all readers support it. If several
// functions start at the same address, only the largest is kept, because readers
// require FDEs in strictly ascending order.
//
// Functions do not share rows, though the format allows it and it would save
// 18 % of a C++ object's section: on a machine of the other byte order,
// binutils (2.44, 2.47) swaps the rows of each FDE in place, twice if they are
// shared, and then rejects the section.
//
// Binutils before 2.45 refuses sections of version 2 whose starts are relative
// to their fields; later versions find nothing in any other section.
//
// Encode returns an error only if nothing can be written for the target.
func Encode(funcs []Func, t Target) ([]byte, []damage.Problem, error) {
	format := formatOf(t.Version)
	if format == nil || format.write == nil {
		return nil, nil, fmt.Errorf("cannot write version %d, want 2 or %d", t.Version, len(formats)-1)
	}
	if !t.ABI.Known() {
		return nil, nil, fmt.Errorf("ABI %d, want 1 to %d", t.ABI, len(abis)-1)
	}
	e := newEncoder(t, format)
	e.addAll(funcs)
	return e.section(), e.problems, nil
}

// Convert encodes the section's functions in another version, for the same address. The
// result is one section, even if the linker had concatenated several. The problems are
// those of Encode and of reading the rows.
func (s *Section) Convert(version uint8) ([]byte, []damage.Problem, error) {
	if len(s.Headers) == 0 {
		return nil, nil, fmt.Errorf("%s is empty", s.Name)
	}
	t := Target{Version: version, ABI: s.Headers[0].ABI, Addr: s.Addr}
	for i := range s.Headers {
		if abi := s.Headers[i].ABI; abi != t.ABI {
			return nil, nil, fmt.Errorf("%s: headers of %s and %s", s.Name, t.ABI, abi)
		}
	}
	funcs, lost := s.Funcs()
	data, problems, err := Encode(funcs, t)
	return data, append(lost, problems...), err
}

// encoder collects the two parts of a section.
type encoder struct {
	Target
	*layout
	abi     *abi
	fdeSize uint64
	limit   uint64 // maximum size of a part in bytes, as offsets in it have 32 bits

	fdes, fres       []byte
	numFDEs, numFREs uint32
	problems         []damage.Problem

	fde, last FDE   // the current FDE, and the one written last
	rows      []Row // rows of the current function that will be written
	rowWords
}

func newEncoder(t Target, format *format) *encoder {
	return &encoder{Target: t, layout: format.write, abi: t.ABI.info(), fdeSize: format.fdeSize, limit: math.MaxUint32}
}

func (e *encoder) addAll(funcs []Func) {
	rows := 0
	for i := range funcs {
		rows += len(funcs[i].Rows)
	}
	e.fdes = make([]byte, 0, uint64(len(funcs))*e.fdeSize)
	e.fres = make([]byte, 0, len(funcs)*attrSize+rows*4) // most rows have 3 to 5 bytes
	for _, i := range byAddress(funcs) {
		f := &funcs[i]
		if err := e.add(f); err != nil {
			e.lose(fmt.Sprintf("function at %#x", f.Start), err)
		}
	}
}

// byAddress sorts functions by start and, where starts are equal, by decreasing size. It
// returns their indices.
func byAddress(funcs []Func) []int {
	order := make([]int, len(funcs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &funcs[a], &funcs[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Size, x.Size))
	})
	return order
}

func (e *encoder) lose(what string, err error) {
	e.problems = append(e.problems, damage.Problem{Lost: what, Err: err})
}

// add encodes a function.
func (e *encoder) add(f *Func) error {
	if err := e.fits(f); err != nil {
		return err
	}
	if err := e.choose(f); err != nil {
		return err
	}
	d := &e.fde
	*d = FDE{
		Start: f.Start, Size: f.Size, NumRows: uint32(len(e.rows)), Rep: uint8(f.Block),
		rows: uint32(len(e.fres)), addrSize: startSize(e.rows),
	}
	d.Info = e.info(f, d.addrSize)
	start := int64(f.Start - e.Addr - headerSize - uint64(len(e.fdes)))
	if e.near && start != int64(int32(start)) {
		return fmt.Errorf("%d bytes from the section at %#x: want a distance of 32 bits in version %d", start, e.Addr, e.Version)
	}
	if err := e.appendFunc(d); err != nil {
		e.fres = e.fres[:d.rows]
		return err
	}
	if e.numFDEs > 0 && e.last.Start == f.Start {
		return e.again(d)
	}
	e.fdes = e.appendFDE(e.fdes, e.abi.order, d, start)
	e.numFDEs++
	e.numFREs += d.NumRows
	e.last = *d
	e.reportAttributes(f)
	return nil
}

// fits checks everything about a function except its rows.
func (e *encoder) fits(f *Func) error {
	switch {
	case f.Size == 0:
		return fmt.Errorf("its size is 0")
	case f.Block > math.MaxUint8:
		return fmt.Errorf("it repeats blocks of %d bytes, want 1 to %d", f.Block, math.MaxUint8)
	case uint64(len(e.fdes))+e.fdeSize > e.limit:
		return fmt.Errorf("more than %d functions", e.limit/e.fdeSize)
	}
	return nil
}

// choose sets e.rows to the rows that have an effect.
func (e *encoder) choose(f *Func) error {
	e.rows = e.rows[:0]
	end := min(cmp.Or(f.Block, f.Size), f.Size)
	for i := range f.Rows {
		r := plain(f.Rows[i])
		if i > 0 && r.Start < f.Rows[i-1].Start {
			return fmt.Errorf("row at +%#x after one at +%#x", r.Start, f.Rows[i-1].Start)
		}
		// The assembler writes rows at the very end, and two rows at the same address:
		// nothing is lost.
		if r.Start < end {
			e.keep(r)
		}
	}
	if n := len(f.Rows); n > 0 && f.Rows[n-1].Start > end {
		e.lose(fmt.Sprintf("rows of the function at %#x", f.Start),
			fmt.Errorf("row at +%#x outside of %d bytes", f.Rows[n-1].Start, end))
	}
	switch n := uint64(len(e.rows)); {
	case n == 0 && !(f.Signal && e.signal):
		return fmt.Errorf("it has no rows") // for a signal frame, the assembler writes an FDE anyway
	case n > uint64(e.maxRows):
		return fmt.Errorf("%d rows, want at most %d", n, e.maxRows)
	}
	return nil
}

// keep adds a row, replacing a previous row that covers nothing, unless it equals the row
// before.
func (e *encoder) keep(r Row) {
	if n := len(e.rows); n > 0 && e.rows[n-1].Start == r.Start {
		e.rows = e.rows[:n-1]
	}
	if n := len(e.rows); n > 0 {
		before := e.rows[n-1]
		before.Start = r.Start
		if before == r {
			return
		}
	}
	e.rows = append(e.rows, r)
}

// plain returns the row without parts that have no effect, so that equivalent rows are
// equal.
func plain(r Row) Row {
	if r.Outermost() {
		return Row{Start: r.Start, RA: Rule{Kind: Undefined}}
	}
	for _, rule := range [...]*Rule{&r.CFA, &r.RA, &r.FP} {
		if rule.Kind == Same || rule.Kind == Undefined {
			*rule = Rule{Kind: rule.Kind}
		}
	}
	return r
}

// startSize returns the size in bytes of the rows' starts, which the last row determines:
// its start is the greatest.
func startSize(rows []Row) uint8 {
	if len(rows) == 0 {
		return 1
	}
	switch last := rows[len(rows)-1].Start; {
	case last <= math.MaxUint8:
		return 1
	case last <= math.MaxUint16:
		return 2
	}
	return 4
}

func (e *encoder) info(f *Func, addrSize uint8) uint8 {
	info := addrSize >> 1 // sizes 1, 2, 4 are types 0, 1, 2
	if f.Block != 0 {
		info |= 0x10
	}
	if f.KeyB && e.abi.keys {
		info |= 0x20
	}
	if f.Signal && e.signal {
		info |= 0x80
	}
	return info
}

// reportAttributes reports the attributes of a written function that were lost.
func (e *encoder) reportAttributes(f *Func) {
	if f.KeyB && !e.abi.keys {
		e.lose(fmt.Sprintf("key B of the function at %#x", f.Start), fmt.Errorf("%s signs no return addresses", e.ABI))
	}
	if f.Signal && !e.signal {
		e.lose(fmt.Sprintf("signal frame of the function at %#x", f.Start), fmt.Errorf("version %d has no mark for it", e.Version))
	}
}

// appendFunc appends the function's attributes and e.rows.
func (e *encoder) appendFunc(d *FDE) error {
	e.fres = e.appendAttr(e.fres, e.abi.order, d)
	at, none := e.appendRows(d.addrSize, false)
	if none != nil && e.flex {
		d.Flex, d.Info2 = true, 1
		e.fres = e.appendAttr(e.fres[:d.rows], e.abi.order, d)
		at, none = e.appendRows(d.addrSize, true)
	}
	if none != nil {
		return fmt.Errorf("row at +%#x: version %d has no form for %s", e.rows[at].Start, e.Version, none)
	}
	if uint64(len(e.fres)) > e.limit {
		return fmt.Errorf("more than %d bytes of rows", e.limit)
	}
	return nil
}

// again removes the rows written for d, which starts at the same address as the last
// function. Unless the two are equal, it returns an error.
func (e *encoder) again(d *FDE) error {
	was, is := e.fres[e.last.rows:d.rows], e.fres[d.rows:]
	e.fres = e.fres[:d.rows]
	d.rows = e.last.rows
	if *d == e.last && bytes.Equal(was, is) {
		return nil
	}
	return fmt.Errorf("another function, of %d bytes, starts there", e.last.Size)
}

// section combines the header and the parts.
func (e *encoder) section() []byte {
	order := e.abi.order
	b := make([]byte, 0, headerSize+len(e.fdes)+len(e.fres))
	b = order.AppendUint16(b, magic)
	b = append(b, e.Version, uint8(Sorted|PCRelative), uint8(e.ABI), 0, uint8(e.abi.fixedRA), 0)
	for _, n := range [...]uint32{e.numFDEs, e.numFREs, uint32(len(e.fres)), 0, uint32(len(e.fdes))} {
		b = order.AppendUint32(b, n)
	}
	b = append(b, e.fdes...)
	return append(b, e.fres...)
}
