// Package srcread reads what units have about addresses that has no place in a symbol file: columns,
// discriminators, and where functions are declared.
package srcread

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt"
)

// Host is the reader of functions.
type Host interface {
	// Problem records damage at off of .debug_info.
	Problem(off uint64, lost string, err error)
}

// Reader reads units one after another into an [Index]: their lines, where their functions are, and the contents of
// the function at one address. It does not read again what the Index already has of these units.
type Reader struct {
	Index *Index
	At    uint64 // the address
	Size  int64  // number of bytes of .debug_info that were read
	next  int    // index of the next unit in Index.units

	// Data makes the Reader read variables into Variables, and nothing else.
	Data      bool
	Variables []Variable

	host              Host
	code              *codemap.Map
	meter             *dwarf.Meter
	lines, otherLines *dwarf.Window
	skeleton          *dwarf.Unit // of the current unit, or nil

	main   units.Unit
	opener *units.Opener
	tables dwarf.AbbrevCache
	table  dwarf.LineTable // of the current unit

	unit    *unitIndex // of the current unit
	scanner dwarf.Scanner
	pieces  []piece // where the unit's functions are
	open    []openFunction
	depth   int

	described map[dieKey]description
	elsewhere dieKey // the unit of other
	other     dwarf.LineTable
	spans     []dwarf.Span
}

// openFunction is a function around the DIE being visited.
type openFunction struct {
	pos   int
	up    int   // what it is inlined into, in Reader.open, or -1
	index int32 // in unitIndex.functions, or -1 until needed
	code  []dwarf.Span
}

// New returns a Reader. Functions that do not begin in code were dropped by the linker, and are left out. lines and
// otherLines are two windows on the same section of line programs.
func New(host Host, code *codemap.Map, lines, otherLines *dwarf.Window, m *dwarf.Meter) *Reader {
	r := &Reader{host: host, code: code, lines: lines, otherLines: otherLines, meter: m}
	r.tables.All = true
	r.opener = units.NewOpener(m, &r.main, host.Problem)
	r.opener.All = true
	return r
}

// Into makes the Reader add to x what its next units have at address at.
func (r *Reader) Into(x *Index, at uint64) *Reader {
	r.Index, r.At, r.Size, r.next = x, at, 0, 0
	return r
}

// Unit reads the unit of scanned, whose abbreviations take the attributes that functions need. data is its bytes.
func (r *Reader) Unit(scanned *units.Unit, h *dwarf.Header, data []byte, skeleton *dwarf.Unit) {
	d := scanned.D
	defer func() {
		if p := recover(); p != nil {
			r.host.Problem(h.Off, fmt.Sprintf("columns of the unit at %#x", h.Off),
				&bin.Error{File: d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	if r.skeleton = skeleton; skeleton != nil { // every other half is in a different file
		r.tables.Reset()
		r.opener.Close()
	}
	t, cost, err := r.tables.Get(&d.Sections, h)
	r.meter.Spend(cost)
	if err == nil {
		err = r.main.Open(d, h, data, t, r.meter)
	}
	if err != nil {
		r.host.Problem(h.Off, fmt.Sprintf("unit at %#x", h.Off), err)
		return
	}
	if skeleton != nil {
		r.main.Join(skeleton)
	}
	known := r.begin()
	switch {
	case r.Data:
		if err := r.readVariables(); err != nil && !r.meter.Exhausted {
			r.host.Problem(h.Off, "variables of "+r.main.OwnName()+" from there on", err)
		}
		return
	case known:
		r.readFiles()
	default:
		r.Size += int64(h.Size)
		r.readLines()
		if err = r.findRoots(scanned); err != nil && !r.meter.Exhausted {
			r.host.Problem(h.Off, "functions of "+r.main.OwnName()+" from there on", err)
		}
	}
	if err = r.readRoot(); err == nil {
		err = r.describeChain(r.unit.functionAt(r.At))
	}
	if err != nil && !r.meter.Exhausted {
		r.host.Problem(h.Off, "functions of "+r.main.OwnName()+" from there on", err)
	}
}

// begin prepares for another unit, and reports whether it is already in the index.
func (r *Reader) begin() (known bool) {
	x := r.Index
	if known = r.next < len(x.units); !known {
		x.units = append(x.units, &unitIndex{files: make([]symfmt.SourceFile, 1), details: make([]details, 1), fileIDs: make(map[fileKey]fileID)})
	}
	r.unit = x.units[r.next]
	r.next++
	r.described = make(map[dieKey]description)
	r.elsewhere = dieKey{}
	return known
}

// hold counts memory that the index takes.
func (r *Reader) hold(bytes int) { r.Index.size += int64(bytes) }

// readFiles reads the files of the unit's line table. Damage was reported with its lines.
func (r *Reader) readFiles() {
	u := r.lineUnit()
	if r.table.Clear(); u.StmtList.Kind == dwarf.SecOff || u.StmtList.Kind == dwarf.Const {
		_ = r.table.ReadFiles(u, r.lines)
		r.meter.Spend(uint64(r.table.HeaderSize()))
	}
}

// findRoots finds the functions with code.
func (r *Reader) findRoots(scanned *units.Unit) error {
	s := &r.scanner
	s.Reset(&scanned.Unit, false, scanned.Flat())
	s.Inlines(false)
	r.pieces = r.pieces[:0]
	defer func() {
		r.unit.code = newCover(r.pieces)
		r.hold(r.unit.code.size() + len(r.unit.roots)*int(unsafe.Sizeof(root{})))
	}()
	for {
		e, done, err := s.Next()
		if done {
			return err
		}
		if e == nil {
			continue
		}
		// Damage is reported where functions are read.
		r.spans, _ = scanned.Spans(e.Attrs.Low, e.Attrs.High, e.Attrs.Ranges, r.spans[:0])
		r.spans = r.code.Keep(r.spans)
		for _, span := range r.spans {
			r.pieces = append(r.pieces, piece{span, int32(len(r.unit.roots))})
		}
		if len(r.spans) > 0 {
			r.unit.roots = append(r.unit.roots, root{pos: e.Start})
		}
	}
}

// readRoot reads the function that contains the address, unless that has been done.
func (r *Reader) readRoot() error {
	root := r.unit.rootAt(r.At)
	if root == nil || root.read {
		return nil
	}
	root.read = true
	r.pieces, r.open, r.depth = r.pieces[:0], r.open[:0], 0
	end, _, err := r.step(root.pos, -1)
	root.code = newCover(r.pieces)
	r.hold(root.code.size())
	r.Size += int64(max(0, end-root.pos))
	return err
}

// describeChain describes a function and all functions that it is inlined into.
func (r *Reader) describeChain(fn int32) error {
	var d dwarf.DIE
	for ; fn >= 0; fn = r.unit.functions[fn].up {
		f := &r.unit.functions[fn]
		if f.described {
			continue
		}
		f.described = true
		if err := r.main.Head(f.pos, &d); err != nil {
			return err
		}
		if _, err := r.main.Take(&d); err != nil {
			return err
		}
		own := details{description: r.describe(&d), hasStart: d.Has(dw.AtLowPC), inlined: d.Tag == dw.TagInlinedSubroutine}
		own.start, _ = r.main.Address(d.Value(dw.AtLowPC))
		if own.inlined {
			own.call = r.callOf(&d)
		}
		f.details = int32(len(r.unit.details))
		r.unit.details = append(r.unit.details, own)
		r.meter.Spend(uint64(unsafe.Sizeof(own)))
		r.hold(int(unsafe.Sizeof(own)) + len(own.name) + len(own.linkage))
	}
	return nil
}

// readLines reads the line table of the unit.
func (r *Reader) readLines() {
	u := r.lineUnit()
	r.table.Clear()
	if u.StmtList.Kind != dwarf.SecOff && u.StmtList.Kind != dwarf.Const {
		return
	}
	var faults []dwarf.Fault
	r.unit.rows, faults = r.table.Positions(u, r.lines)
	for _, f := range faults {
		r.host.Problem(r.main.Off, f.Lost+" of "+r.main.OwnName(), f.Err)
	}
	r.meter.Spend(uint64(r.table.Size()))
	number, id := uint32(0), r.file(0)
	for i := range r.unit.rows.Rows {
		row := &r.unit.rows.Rows[i]
		if row.File != number {
			number, id = row.File, r.file(uint64(row.File))
		}
		row.File = uint32(id)
	}
	r.unit.rows.Seqs = slices.DeleteFunc(r.unit.rows.Seqs, func(s dwarf.Sequence) bool { return !r.inCode(s.Lo) })
	r.unit.setLines()
	rows := &r.unit.rows
	r.hold(cap(rows.Rows)*int(unsafe.Sizeof(dwarf.Position{})) + len(rows.Seqs)*int(unsafe.Sizeof(dwarf.Sequence{})) + r.unit.lines.size())
}

func (r *Reader) inCode(addr uint64) bool {
	_, ok := r.code.At(addr)
	return ok
}

// lineUnit returns the unit that the line table belongs to.
func (r *Reader) lineUnit() *dwarf.Unit {
	if r.skeleton != nil {
		return r.skeleton
	}
	return &r.main.Unit
}

// walk visits the DIEs from pos to the end of their parent's children. in is the index of the surrounding function, or
// -1. If several functions or inlined functions have an address, the last one counts, as in LLVM's
// DWARFUnit::updateAddressDieMap.
func (r *Reader) walk(pos, in int) (next int, err error) {
	if r.depth++; r.depth > dwarf.MaxDepth {
		return 0, r.main.Errorf(pos, "DIEs nested more than %d deep", dwarf.MaxDepth)
	}
	defer func() { r.depth-- }()
	for end := false; pos < r.main.Len() && !end; {
		if pos, end, err = r.step(pos, in); err != nil {
			return 0, err
		}
	}
	return pos, nil
}

// step visits the DIE at pos and those below it. end reports whether there was no DIE but the end of a list of
// children.
func (r *Reader) step(pos, in int) (next int, end bool, err error) {
	u := &r.main
	var d dwarf.DIE
	if err := u.Head(pos, &d); err != nil {
		return 0, false, err
	}
	if next, err = u.Over(&d); err != nil || d.Tag == 0 {
		return next, true, err
	}
	around, opened := in, len(r.open)
	if isFunction(d.Tag) {
		around = opened
		if err := r.visit(&d, in); err != nil {
			return 0, false, err
		}
	}
	if d.Children {
		if next, err = r.walk(next, around); err != nil {
			return 0, false, err
		}
	}
	r.open = r.open[:opened]
	return next, false, nil
}

func isFunction(tag uint16) bool { return tag == dw.TagSubprogram || tag == dw.TagInlinedSubroutine }

// visit opens a function, and records its code.
func (r *Reader) visit(d *dwarf.DIE, in int) error {
	if d.Tag == dw.TagSubprogram {
		in = -1 // nested functions have frames of their own
	}
	r.open = append(r.open, openFunction{pos: d.Pos, up: in, index: -1})
	if !d.Has(dw.AtLowPC) && !d.Has(dw.AtRanges) {
		return nil
	}
	if _, err := r.main.Take(d); err != nil {
		return err
	}
	// Damage is reported where functions are read.
	r.spans, _ = r.main.Spans(d.Value(dw.AtLowPC), d.Value(dw.AtHighPC), d.Value(dw.AtRanges), r.spans[:0])
	if r.spans = r.inside(dwarf.Tidy(r.code.Keep(r.spans)), in); len(r.spans) == 0 {
		return nil
	}
	if in < 0 {
		r.open[len(r.open)-1].code = slices.Clone(r.spans)
	}
	fn := r.add(len(r.open) - 1)
	for _, s := range r.spans {
		r.pieces = append(r.pieces, piece{s, fn})
	}
	return nil
}

// inside keeps, in place, the code that belongs to the surrounding function. in is the index of the directly
// surrounding function, or -1.
func (r *Reader) inside(spans []dwarf.Span, in int) []dwarf.Span {
	if in < 0 {
		return spans
	}
	for r.open[in].up >= 0 {
		in = r.open[in].up
	}
	kept := spans[:0]
	for _, s := range spans {
		if s, _ = s.Cut(r.open[in].code); s.Lo < s.Hi {
			kept = append(kept, s)
		}
	}
	return kept
}

// add returns the index of the open function k. It adds the function, and what it is inlined into, unless already
// added.
func (r *Reader) add(k int) int32 {
	open := &r.open[k]
	f := function{pos: open.pos, up: -1}
	if up := open.up; up >= 0 {
		if f.up = r.open[up].index; f.up < 0 {
			f.up = r.add(up)
		}
	}
	open.index = int32(len(r.unit.functions))
	r.unit.functions = append(r.unit.functions, f)
	r.meter.Spend(uint64(unsafe.Sizeof(f)))
	r.hold(int(unsafe.Sizeof(f)))
	return open.index
}

// callOf returns where an inlined function is called.
func (r *Reader) callOf(d *dwarf.DIE) dwarf.Position {
	number := func(at uint16) uint64 {
		if v := d.Value(at); v.Kind == dwarf.Const {
			return v.U
		}
		return 0
	}
	return dwarf.Position{
		File: uint32(r.file(number(dw.AtCallFile))), Line: uint32(number(dw.AtCallLine)),
		Column: uint32(number(dw.AtCallColumn)), Discriminator: uint32(number(dw.AtGNUDiscriminator)),
	}
}
