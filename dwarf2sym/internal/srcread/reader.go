// Package srcread reads what units have about one address that has no place in a symbol file: columns,
// discriminators, and where functions are declared.
package srcread

import (
	"fmt"

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

// Reader reads the functions at an address, unit by unit. What it finds in a unit replaces what it found in
// those before it, unless it finds only a line after a function.
type Reader struct {
	Frames []symfmt.SourceFrame // innermost first; Start is an address of the file

	host     Host
	meter    *dwarf.Meter
	addr     uint64
	lines    *dwarf.Window
	skeleton *dwarf.Unit // of the current unit, or nil

	main   units.Unit
	opener *units.Opener
	tables dwarf.AbbrevCache
	table  dwarf.LineTable // of the current unit

	path  []int // the positions of the functions around the DIE being visited, and of what is inlined in them
	found []int // the path to the last DIE with the address
	depth int

	elsewhere *dwarf.Unit // the unit of otherTable
	other     dwarf.LineTable
	spans     []dwarf.Span
}

// New returns a reader for addr, an address of the file.
func New(host Host, addr uint64, lines *dwarf.Window, m *dwarf.Meter) *Reader {
	r := &Reader{host: host, addr: addr, lines: lines, meter: m}
	r.tables.All = true
	r.opener = units.NewOpener(m, &r.main, host.Problem)
	r.opener.Whole = true
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
	r.path, r.found, r.elsewhere = r.path[:0], r.found[:0], nil
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
	if _, err = r.walk(r.main.Children()); err != nil && !r.meter.Exhausted {
		r.host.Problem(h.Off, "functions of "+r.main.OwnName()+" from there on", err)
	}
	at, ok := r.position()
	if len(r.found) > 0 || ok && len(r.Frames) == 0 {
		r.Frames = r.frames(at, ok)
	}
}

// position returns the position of the address by the line table of the unit.
func (r *Reader) position() (p dwarf.Position, ok bool) {
	u := r.lineUnit()
	r.table.Clear()
	if u.StmtList.Kind != dwarf.SecOff && u.StmtList.Kind != dwarf.Const {
		return p, false
	}
	p, ok, err := r.table.Position(u, r.lines, r.addr)
	if err != nil {
		r.host.Problem(r.main.Off, "lines of "+r.main.OwnName(), err)
	}
	r.meter.Spend(uint64(r.table.Size()))
	return p, ok
}

// lineUnit returns the unit that the line table belongs to.
func (r *Reader) lineUnit() *dwarf.Unit {
	if r.skeleton != nil {
		return r.skeleton
	}
	return &r.main.Unit
}

// walk visits the DIEs from pos to the end of their parent's children. The last function, or inlined function,
// with the address counts, as in LLVM's DWARFUnit::updateAddressDieMap.
func (r *Reader) walk(pos int) (next int, err error) {
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
		outer := r.path
		if isFunction(d.Tag) {
			if err := r.visit(&d); err != nil {
				return 0, err
			}
		}
		if d.Children {
			if pos, err = r.walk(pos); err != nil {
				return 0, err
			}
		}
		r.path = outer
	}
	return pos, nil
}

func isFunction(tag uint16) bool { return tag == dw.TagSubprogram || tag == dw.TagInlinedSubroutine }

// visit adds a function to the path, which is kept if it has the address.
func (r *Reader) visit(d *dwarf.DIE) error {
	if d.Tag == dw.TagSubprogram {
		r.path = append(r.path[len(r.path):], d.Pos) // nested functions have frames of their own
	} else {
		r.path = append(r.path, d.Pos)
	}
	if !d.Has(dw.AtLowPC) && !d.Has(dw.AtRanges) {
		return nil
	}
	if _, err := r.main.Take(d); err != nil {
		return err
	}
	if _, in := r.code(d); in {
		r.meter.Spend(uint64(len(r.path)))
		r.found = append(r.found[:0], r.path...)
	}
	return nil
}

// code returns where the code of a function begins, if it is in one piece, and whether it has the address.
// Damage to it is reported where functions are read.
func (r *Reader) code(d *dwarf.DIE) (start uint64, in bool) {
	r.spans, _ = r.main.Spans(d.Value(dw.AtLowPC), d.Value(dw.AtHighPC), d.Value(dw.AtRanges), r.spans[:0])
	for _, s := range r.spans {
		in = in || r.addr >= s.Lo && r.addr < s.Hi
	}
	start, _ = r.main.Address(d.Value(dw.AtLowPC))
	return start, in
}
