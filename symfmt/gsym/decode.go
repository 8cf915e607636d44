package gsym

import (
	"cmp"
	"fmt"
	"math"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// function reads a FunctionInfo. Whatever precedes damage is kept, provided the
// name is readable.
func (d *reader) function(c *bin.Cursor, rva symfmt.RVA, merged bool) {
	at := c.Offset()
	size := c.U32()
	nameAt := c.Uint(d.g.strSize)
	if c.Err() != nil {
		d.lost(rva, "function", c.Err())
		return
	}
	name, ok := d.str(nameAt)
	if !ok || nameAt == 0 {
		d.lost(rva, "function", d.g.fail(at+4, "name at %#x in strings of %#x bytes, want one after offset 0", nameAt, len(d.strings)))
		return
	}
	if uint64(size) > math.MaxUint64-uint64(rva) {
		d.lost(rva, "function", d.g.fail(at, "function of %#x bytes", size))
		return
	}
	if len(name) > d.namesLeft {
		d.lost(rva, "function", d.g.fail(at+4, "names with more than %d bytes in a file of %d bytes", d.textLimit(), len(d.g.data)))
		return
	}
	d.namesLeft -= len(name)
	place := len(d.m.Funcs)
	if size == 0 {
		d.m.Publics = append(d.m.Publics, symfmt.Public{RVA: rva, Name: name})
	} else {
		d.m.Funcs = append(d.m.Funcs, symfmt.Func{RVA: rva, Size: uint64(size), Name: name})
	}
	d.body.Reset(rva)
	d.infos(c, info{rva: rva, size: size, name: name, nameAt: nameAt, merged: merged, place: place})
}

// info is what is known about a function while its information is read.
type info struct {
	rva    symfmt.RVA
	size   uint32
	name   string
	nameAt uint64
	merged bool
	place  int // index in Module.Funcs
}

func (f *info) end() symfmt.RVA { return f.rva + symfmt.RVA(f.size) }

// infos reads the list of information after size and name.
func (d *reader) infos(c *bin.Cursor, f info) {
	var lines, mergedInfo *bin.Cursor // the first of each kind counts
	dropped := false
	for {
		kind, size := c.U32(), c.U32()
		at := c.Offset()
		payload := c.Bytes(uint64(size))
		if c.Err() != nil {
			d.lost(f.rva, "end of the function", c.Err())
			break
		}
		if kind == infoEnd {
			break
		}
		p := bin.NewAt("", payload, at, d.g.order)
		switch {
		case f.size == 0 && (kind == infoLines || kind == infoInlines):
			dropped = true
		case kind == infoLines:
			lines = cmp.Or(lines, &p)
		case kind == infoInlines:
			d.inlines(&p, &f)
		case kind == infoMerged && mergedInfo == nil:
			mergedInfo = &p
		case kind == infoCallSites:
			d.callSites++
		case kind > infoCallSites:
			d.otherInfos++
		}
	}
	if lines != nil {
		d.lines(lines, &f) // after the inlined functions, the order in a body
	}
	if dropped {
		d.symbolInfos++
	}
	if f.size > 0 {
		d.m.Funcs[f.place].Body = d.body.Finish(&d.arena)
	}
	if mergedInfo != nil {
		d.mergedFunctions(mergedInfo, &f)
	}
}

// mergedFunctions reads the functions that share another function's address.
func (d *reader) mergedFunctions(c *bin.Cursor, f *info) {
	if f.merged {
		d.lost(f.rva, "merged functions", d.g.fail(c.Offset(), "merged functions in a merged function"))
		return
	}
	n := c.U32()
	for i := range n {
		payload := c.Bytes(uint64(c.U32()))
		if c.Err() != nil {
			d.lost(f.rva, fmt.Sprintf("merged functions from number %d of %d", i, n), c.Err())
			return
		}
		p := bin.NewAt("", payload, c.Offset()-uint64(len(payload)), d.g.order)
		d.function(&p, f.rva, true)
	}
}

// lines reads a line table: rows, each in force up to the next, the last up to
// the function's end. A row without a file has no line.
func (d *reader) lines(c *bin.Cursor, f *info) {
	low, high := c.SLEB(), c.SLEB()
	num := uint32(c.ULEB())
	window := uint64(high - low + 1)
	d.rows = d.rows[:0]
	file, at, end := uint64(1), uint64(0), uint64(f.size)
	for c.Err() == nil {
		op := c.U8()
		if c.Err() != nil || op == opEnd {
			break
		}
		switch op {
		case opSetFile:
			file = c.ULEB()
			continue
		case opAdvanceLine:
			num += uint32(c.SLEB())
			continue
		case opAdvancePC:
			by := c.ULEB()
			if by > math.MaxUint64-at {
				c.Fail("address %#x+%#x", at, by)
				continue
			}
			at += by
		default:
			if window == 0 || high < low {
				c.Fail("special opcode %d for line differences %d to %d", op, low, high)
				continue
			}
			adjusted := uint64(op - opFirstSpecial)
			num += uint32(low + int64(adjusted%window))
			at += adjusted / window
		}
		if c.Err() == nil && at < end {
			d.addRow(row{off: uint32(at), num: num, file: symfmt.FileID(file), none: !d.isFile(file)})
		}
	}
	if c.Err() != nil {
		d.lost(f.rva, "rest of the lines of the function", c.Err())
	}
	d.addLines(f)
}

// isFile reports whether a file has a name.
func (d *reader) isFile(file uint64) bool {
	return file < uint64(len(d.hasName)) && d.hasName[file]
}

// addRow adds a row. Of several rows at the same address, the last counts.
func (d *reader) addRow(r row) {
	if n := len(d.rows); n > 0 && d.rows[n-1].off == r.off {
		d.rows[n-1] = r
		return
	}
	d.rows = append(d.rows, r)
}

func (d *reader) addLines(f *info) {
	for i, r := range d.rows {
		end := f.size
		if i+1 < len(d.rows) {
			end = d.rows[i+1].off
		}
		if !r.none {
			d.body.AddLine(symfmt.Line{RVA: f.rva + symfmt.RVA(r.off), Size: uint64(end - r.off), Num: r.num, File: r.file})
		}
	}
}

// inlineList is a list of nested inlined functions that is being read.
type inlineList struct {
	base  symfmt.RVA // base of their ranges
	depth uint32     // depth of its members
}

// inlines reads the tree of inlined functions. Its root is the function itself;
// if the root has a call, it is an inlined function, too. The open lists are kept
// in a slice, so that depth costs no more memory than the file has bytes.
func (d *reader) inlines(c *bin.Cursor, f *info) {
	d.lists = d.lists[:0]
	if _, ok := d.inline(c, f, inlineList{base: f.rva}, true); ok {
		for len(d.lists) > 0 && c.Err() == nil {
			last := d.lists[len(d.lists)-1]
			if more, _ := d.inline(c, f, last, false); !more {
				d.lists = d.lists[:len(d.lists)-1]
			}
		}
	}
	if c.Err() != nil {
		d.lost(f.rva, "rest of the inlined functions of the function", c.Err())
	}
}

// inline reads one inlined function and opens the list of its children. more is
// false at the end of a list.
func (d *reader) inline(c *bin.Cursor, f *info, list inlineList, root bool) (more, ok bool) {
	if !d.inlineRanges(c, f, list.base) {
		return false, c.Err() == nil
	}
	children := c.U8() != 0
	nameAt := c.Uint(d.g.strSize)
	file, num := c.ULEB(), c.ULEB()
	if c.Err() != nil {
		return false, false
	}
	depth := list.depth
	known := d.isFile(file)
	if !root || known {
		name, ok := d.str(nameAt)
		if !ok {
			c.Fail("name at %#x in strings of %#x bytes", nameAt, len(d.strings))
			return false, false
		}
		in := symfmt.Inline{Depth: depth, CallLine: uint32(num), Origin: d.origin(nameAt, name), Ranges: d.ranges}
		in.CallFile, in.NoFile = symfmt.FileID(file), !known || d.unknown[file]
		if in.NoFile {
			in.CallFile = 0
		}
		d.body.AddInline(&in)
		depth++
	}
	if children {
		d.lists = append(d.lists, inlineList{d.ranges[0].RVA, depth})
	}
	return true, true
}

// inlineRanges reads ranges into d.ranges in order, and reports whether there are any.
func (d *reader) inlineRanges(c *bin.Cursor, f *info, base symfmt.RVA) bool {
	d.ranges = d.ranges[:0]
	n := c.ULEB()
	if n > uint64(c.Len()) {
		c.Fail("%d ranges in %d bytes", n, c.Len())
		return false
	}
	for range n {
		off, size := c.ULEB(), c.ULEB()
		if c.Err() != nil {
			return false
		}
		start := base + symfmt.RVA(off)
		if start < base || uint64(start)+size < size || start+symfmt.RVA(size) > f.end() {
			c.Fail("range of %#x bytes at %#x+%#x past the function's end at %#x", size, uint64(base), off, uint64(f.end()))
			return false
		}
		if size > 0 {
			d.ranges = append(d.ranges, symfmt.Range{RVA: start, Size: size})
		}
	}
	if n > 0 && len(d.ranges) == 0 {
		c.Fail("inlined function without code")
	}
	sortCode(d.ranges)
	return len(d.ranges) > 0
}

// origin returns the number of the INLINE_ORIGIN with the given name.
func (d *reader) origin(at uint64, name string) symfmt.OriginID {
	id, ok := d.origins[at]
	if !ok {
		id = symfmt.OriginID(len(d.m.Origins))
		d.origins[at] = id
		d.m.Origins = append(d.m.Origins, symfmt.InlineOrigin{ID: id, Name: name})
	}
	return id
}
