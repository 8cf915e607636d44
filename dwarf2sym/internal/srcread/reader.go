// Package srcread reads what units have about addresses that has no place in a symbol file: columns,
// discriminators, and where functions are declared.
package srcread

import (
	"fmt"
	"unsafe"

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

// Reader reads units one after another into an Index.
type Reader struct {
	Index Index

	// Data means that variables are read into Variables, and nothing else.
	Data      bool
	Variables []Variable

	host              Host
	meter             *dwarf.Meter
	lines, otherLines *dwarf.Window
	skeleton          *dwarf.Unit // of the current unit, or nil

	main   units.Unit
	opener *units.Opener
	tables dwarf.AbbrevCache
	table  dwarf.LineTable // of the current unit

	unit   unitIndex // of the current unit
	pieces []piece   // where its functions are
	open   []openFunction
	depth  int

	described map[dieKey]description
	fileIDs   map[fileKey]fileID
	elsewhere dieKey // the unit of other
	other     dwarf.LineTable
	spans     []dwarf.Span
}

// openFunction is a function around the DIE being visited.
type openFunction struct {
	pos   int
	up    int   // what it is inlined into, in Reader.open, or -1
	index int32 // in unitIndex.functions, or -1 as long as nothing needs it
}

// New returns a reader. It reads line programs through two windows on the same section.
func New(host Host, lines, otherLines *dwarf.Window, m *dwarf.Meter) *Reader {
	r := &Reader{host: host, lines: lines, otherLines: otherLines, meter: m}
	r.tables.All = true
	r.opener = units.NewOpener(m, &r.main, host.Problem)
	r.opener.All = true
	return r
}

// Unit reads the unit h of d.
func (r *Reader) Unit(d *units.Data, h *dwarf.Header, data []byte, skeleton *dwarf.Unit) {
	defer func() {
		if p := recover(); p != nil {
			r.host.Problem(h.Off, fmt.Sprintf("columns of the unit at %#x", h.Off),
				&bin.Error{File: d.File, Section: ".debug_info", Offset: h.Off, Msg: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	if r.skeleton = skeleton; skeleton != nil { // each other half is in another file
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
	r.begin()
	if r.Data {
		if err := r.readVariables(); err != nil && !r.meter.Exhausted {
			r.host.Problem(h.Off, "variables of "+r.main.OwnName()+" from there on", err)
		}
		return
	}
	r.readLines()
	if _, err = r.walk(r.main.Children(), -1); err != nil && !r.meter.Exhausted {
		r.host.Problem(h.Off, "functions of "+r.main.OwnName()+" from there on", err)
	}
	r.unit.code = newCover(r.pieces)
	r.Index.units = append(r.Index.units, r.unit)
	r.Index.size += r.unit.held()
}

// begin prepares for another unit.
func (r *Reader) begin() {
	r.unit = unitIndex{files: make([]symfmt.SourceFile, 1)}
	r.pieces, r.open, r.depth = r.pieces[:0], r.open[:0], 0
	r.described, r.fileIDs = make(map[dieKey]description), make(map[fileKey]fileID)
	r.elsewhere = dieKey{}
}

// readLines reads the line table of the unit.
func (r *Reader) readLines() {
	u := r.lineUnit()
	r.table.Clear()
	if u.StmtList.Kind != dwarf.SecOff && u.StmtList.Kind != dwarf.Const {
		return
	}
	var err error
	if r.unit.rows, err = r.table.Positions(u, r.lines); err != nil {
		r.host.Problem(r.main.Off, "lines of "+r.main.OwnName(), err)
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
	r.unit.setLines()
}

// lineUnit returns the unit that the line table belongs to.
func (r *Reader) lineUnit() *dwarf.Unit {
	if r.skeleton != nil {
		return r.skeleton
	}
	return &r.main.Unit
}

// walk visits the DIEs from pos to the end of their parent's children; in is the function around them, or -1. The
// last function, or inlined function, with an address counts, as in LLVM's DWARFUnit::updateAddressDieMap.
func (r *Reader) walk(pos, in int) (next int, err error) {
	u := &r.main
	if r.depth++; r.depth > dwarf.MaxDepth {
		return 0, u.Errorf(pos, "DIEs nested more than %d deep", dwarf.MaxDepth)
	}
	defer func() { r.depth-- }()
	var d dwarf.DIE
	for pos < u.Len() {
		if err := u.Head(pos, &d); err != nil {
			return 0, err
		}
		if pos, err = u.Over(&d); err != nil || d.Tag == 0 {
			return pos, err
		}
		around, opened := in, len(r.open)
		if isFunction(d.Tag) {
			around = opened
			if err := r.visit(&d, in); err != nil {
				return 0, err
			}
		}
		if d.Children {
			if pos, err = r.walk(pos, around); err != nil {
				return 0, err
			}
		}
		r.open = r.open[:opened]
	}
	return pos, nil
}

func isFunction(tag uint16) bool { return tag == dw.TagSubprogram || tag == dw.TagInlinedSubroutine }

// visit opens a function, and records its code.
func (r *Reader) visit(d *dwarf.DIE, in int) error {
	if d.Tag == dw.TagSubprogram {
		in = -1 // nested functions have frames of their own
	}
	r.open = append(r.open, openFunction{d.Pos, in, -1})
	if !d.Has(dw.AtLowPC) && !d.Has(dw.AtRanges) {
		return nil
	}
	if _, err := r.main.Take(d); err != nil {
		return err
	}
	// Damage is reported where functions are read.
	r.spans, _ = r.main.Spans(d.Value(dw.AtLowPC), d.Value(dw.AtHighPC), d.Value(dw.AtRanges), r.spans[:0])
	if len(r.spans) == 0 {
		return nil
	}
	fn, err := r.add(len(r.open)-1, d)
	for _, s := range r.spans {
		r.pieces = append(r.pieces, piece{s, fn})
	}
	return err
}

// add returns the index of an open function, whose DIE was taken to d. It adds it, and what it is inlined into, if
// they were not added before.
func (r *Reader) add(k int, d *dwarf.DIE) (index int32, err error) {
	open := &r.open[k]
	f := function{description: r.describe(d), up: -1, inlined: d.Tag == dw.TagInlinedSubroutine}
	if f.inlined {
		f.call = r.callOf(d)
	}
	f.start, _ = r.main.Address(d.Value(dw.AtLowPC))
	f.hasStart = d.Has(dw.AtLowPC)
	if up := open.up; up >= 0 {
		if f.up = r.open[up].index; f.up < 0 {
			var outer dwarf.DIE
			if err = r.main.Head(r.open[up].pos, &outer); err == nil {
				_, err = r.main.Take(&outer)
			}
			if err == nil {
				f.up, err = r.add(up, &outer)
			}
		}
	}
	open.index = int32(len(r.unit.functions))
	r.unit.functions = append(r.unit.functions, f)
	r.meter.Spend(uint64(unsafe.Sizeof(f)))
	return open.index, err
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
