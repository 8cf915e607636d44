package symelf

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// A symbol file does not record which unit a function comes from. Consecutive
// functions form a unit until there are fewLines lines and another source file
// begins, or mostLines lines: debuggers read one whole unit at a time.
const (
	fewLines  = 512
	mostLines = 1 << 15
)

// debugInfo makes the sections of DWARF.
type debugInfo struct {
	m       *symfmt.Module
	space   space
	strings *stringTable // .debug_str

	info, line, ranges, aranges buffer
	lineStr                     stringTable
	fileNames                   map[symfmt.FileID]uint32   // offsets in lineStr
	originNames                 map[symfmt.OriginID]uint32 // offsets in strings
	producer                    uint32

	tree    inlineTree
	lines   []symfmt.Line
	program lineProgram

	// State of the unit being made:
	start    int // offset in info
	base     uint64
	files    map[symfmt.FileID]uint32   // number
	nameOf   []uint32                   // offsets in lineStr, by number
	origins  map[symfmt.OriginID]uint32 // offsets of DIEs in the unit
	lastFile symfmt.FileID
	lastNum  uint32
	hasLast  bool
	lineEnd  uint64
}

const producer = "symtool"

// newDebugInfo looks up the names that the records of m refer to.
func newDebugInfo(m *symfmt.Module, s space, strings *stringTable, w buffer) *debugInfo {
	d := &debugInfo{
		m: m, space: s, strings: strings, info: w, line: w, ranges: w, aranges: w,
		fileNames:   make(map[symfmt.FileID]uint32, len(m.Files)),
		originNames: make(map[symfmt.OriginID]uint32, len(m.Origins)),
		files:       make(map[symfmt.FileID]uint32),
		origins:     make(map[symfmt.OriginID]uint32),
	}
	d.lineStr.add("")
	for i := range m.Files {
		if _, again := d.fileNames[m.Files[i].ID]; !again {
			d.fileNames[m.Files[i].ID] = d.lineStr.add(symfmt.CleanName(m.Files[i].Name, symfmt.NoFile))
		}
	}
	d.producer = strings.add(producer)
	for i := range m.Origins {
		if _, again := d.originNames[m.Origins[i].ID]; !again {
			d.originNames[m.Origins[i].ID] = strings.add(symfmt.CleanName(m.Origins[i].Name, symfmt.NoName))
		}
	}
	d.ranges.u32(0)
	d.ranges.u16(5)
	d.ranges.u8(byte(w.ptr), 0)
	d.ranges.u32(0) // no table of offsets
	return d
}

// described returns the indices of the FUNCs that get a DIE: those with code; if
// several have the same code, only the first.
func described(funcs []symfmt.Func, order []uint32, s space) (kept []uint32) {
	for _, i := range order {
		f := &funcs[i]
		if f.Size == 0 || !s.holds(f.RVA, f.Size) {
			continue
		}
		if n := len(kept); n > 0 {
			if last := &funcs[kept[n-1]]; last.RVA == f.RVA && last.Size == f.Size {
				continue
			}
		}
		kept = append(kept, i)
	}
	return kept
}

// build makes all units; order holds the indices of the FUNCs with a DIE.
func (d *debugInfo) build(order []uint32) {
	for len(order) > 0 {
		n := d.unitLength(order)
		d.unit(order[:n])
		order = order[n:]
	}
	d.ranges.put32(0, len(d.ranges.b)-4)
}

// unitLength returns the number of FUNCs in the next unit.
func (d *debugInfo) unitLength(order []uint32) int {
	total := 0
	var last symfmt.FileID
	for n, i := range order {
		f := &d.m.Funcs[i]
		_, lines := f.Body.Counts()
		file, known := firstFile(f)
		if n > 0 && (total+lines > mostLines || total >= fewLines && known && file != last) {
			return n
		}
		if known {
			last = file
		}
		total += lines + 1
	}
	return len(order)
}

// firstFile returns the file of a FUNC's first line.
func firstFile(f *symfmt.Func) (symfmt.FileID, bool) {
	r := f.LineReader()
	ok := r.Next()
	return r.Line.File, ok
}

// unit makes a unit of some FUNCs.
func (d *debugInfo) unit(order []uint32) {
	d.number(order)
	d.start = len(d.info.b)
	d.base = d.space.base + uint64(d.m.Funcs[order[0]].RVA)
	w := &d.info
	w.u32(0)
	w.u16(5)
	w.u8(dw.UTCompile, byte(w.ptr))
	w.u32(0) // .debug_abbrev
	lines := len(d.nameOf) > 0
	if lines {
		w.uleb(abbrevUnit)
	} else {
		w.uleb(abbrevBareUnit)
	}
	w.u32(d.producer)
	w.u8(dw.LangC11)
	if lines {
		w.u32(d.nameOf[0])
		w.u32(uint32(len(d.line.b)))
		d.program.w = &d.line
		d.program.begin(d.nameOf)
	} else {
		w.u32(d.lineStr.add(symfmt.CleanName(d.m.Name, symfmt.NoFile)))
	}
	w.addr(d.base)
	w.u32(uint32(len(d.ranges.b)))
	d.unitRanges(order)
	d.originDIEs(order)
	for _, i := range order {
		d.function(&d.m.Funcs[i])
	}
	w.u8(0)
	w.put32(d.start, len(w.b)-d.start-4)
	if lines {
		d.program.end(d.lineEnd)
		d.program.finish()
	}
}

// number numbers the files of a unit, starting with the file of its first line.
func (d *debugInfo) number(order []uint32) {
	clear(d.files)
	clear(d.origins)
	d.nameOf, d.hasLast = d.nameOf[:0], false
	add := func(id symfmt.FileID) {
		if _, again := d.files[id]; again {
			return
		}
		name, declared := d.fileNames[id]
		if !declared {
			name = d.lineStr.add(symfmt.NoFile)
		}
		d.files[id] = uint32(len(d.nameOf))
		d.nameOf = append(d.nameOf, name)
	}
	for _, i := range order {
		if file, known := firstFile(&d.m.Funcs[i]); known {
			add(file)
			break
		}
	}
	for _, i := range order {
		d.m.Funcs[i].Body.Refs(add, func(id symfmt.OriginID) { d.origins[id] = 0 })
	}
}

// unitRanges writes the code of a unit to .debug_rnglists and .debug_aranges.
func (d *debugInfo) unitRanges(order []uint32) {
	a := &d.aranges
	at := len(a.b)
	a.u32(0)
	a.u16(2)
	a.u32(uint32(d.start))
	a.u8(byte(a.ptr), 0)
	for (len(a.b)-at)%(2*a.ptr) != 0 {
		a.u8(0)
	}
	var open region // absolute
	put := func() {
		a.addr(open.start)
		a.word(open.end - open.start)
		d.pair(open.start, open.end)
	}
	for n, i := range order {
		f := &d.m.Funcs[i]
		start := d.space.base + uint64(f.RVA)
		switch {
		case n == 0:
			open = region{start, start + f.Size}
		case start <= open.end:
			open.end = max(open.end, start+f.Size)
		default:
			put()
			open = region{start, start + f.Size}
		}
	}
	put()
	a.addr(0)
	a.word(0)
	a.put32(at, len(a.b)-at-4)
	d.ranges.u8(rleEnd)
}

// Entries of range lists (DWARF 5, table 7.30).
const (
	rleEnd  = 0
	rlePair = 4
)

// pair writes a range as its distance from the unit's base.
func (d *debugInfo) pair(start, end uint64) {
	d.ranges.u8(rlePair)
	d.ranges.uleb(start - d.base)
	d.ranges.uleb(end - d.base)
}

// originDIEs writes the functions inlined in a unit.
func (d *debugInfo) originDIEs(order []uint32) {
	w := &d.info
	for _, i := range order {
		d.m.Funcs[i].Body.Refs(func(symfmt.FileID) {}, func(id symfmt.OriginID) {
			if d.origins[id] != 0 {
				return
			}
			name, declared := d.originNames[id]
			if !declared {
				name = d.strings.add(symfmt.NoName)
			}
			d.origins[id] = uint32(len(w.b) - d.start)
			w.uleb(abbrevOrigin)
			w.u32(name)
			w.u8(dw.InlInlined)
		})
	}
}

// function writes a FUNC's DIE, its inlined functions and its lines.
func (d *debugInfo) function(f *symfmt.Func) {
	w := &d.info
	start := d.space.base + uint64(f.RVA)
	inlines := d.tree.build(f)
	if inlines {
		w.uleb(abbrevFunc)
	} else {
		w.uleb(abbrevLeaf)
	}
	w.u32(d.strings.add(symfmt.CleanName(f.Name, symfmt.NoName)))
	w.addr(start)
	w.uleb(f.Size)
	if inlines {
		d.inlined(start)
		w.u8(0)
	}
	d.functionLines(f, start)
}

// inlined writes the tree of a FUNC that begins at start.
func (d *debugInfo) inlined(start uint64) {
	w, depth := &d.info, uint32(0)
	for i := range d.tree.Nodes {
		n := &d.tree.Nodes[i]
		for ; depth > n.Depth; depth-- {
			w.u8(0)
		}
		bits := 0
		if !d.tree.Leaf(i) {
			bits |= inlineChildren
			depth++
		}
		if len(n.Ranges) > 1 {
			bits |= inlineRanges
		}
		if n.NoFile {
			bits |= inlineNoFile
		}
		w.uleb(uint64(abbrevInline + bits))
		w.u32(d.origins[n.Origin])
		d.inlinedCode(n.Ranges, start)
		if !n.NoFile {
			w.uleb(uint64(d.fileNumber(n.File)))
		}
		w.uleb(uint64(n.Line))
	}
	for range depth {
		w.u8(0)
	}
}

// inlinedCode writes the ranges of an inlined function.
func (d *debugInfo) inlinedCode(ranges []flatten.Range, start uint64) {
	if len(ranges) == 1 {
		d.info.addr(start + uint64(ranges[0].Off))
		d.info.uleb(uint64(ranges[0].End - ranges[0].Off))
		return
	}
	d.info.u32(uint32(len(d.ranges.b)))
	for _, r := range ranges {
		d.pair(start+uint64(r.Off), start+uint64(r.End))
	}
	d.ranges.u8(rleEnd)
}

// fileNumber returns a file's number in the unit.
func (d *debugInfo) fileNumber(id symfmt.FileID) uint32 {
	if !d.hasLast || id != d.lastFile {
		d.lastFile, d.lastNum, d.hasLast = id, d.files[id], true
	}
	return d.lastNum
}

// functionLines writes the lines of a FUNC, clipped to it; where lines overlap,
// the one that starts last counts, as in package resolve.
func (d *debugInfo) functionLines(f *symfmt.Func, start uint64) {
	d.lines = d.lines[:0]
	for r := f.LineReader(); r.Next(); {
		if off := uint64(r.Line.RVA - f.RVA); r.Line.RVA >= f.RVA && off < f.Size && r.Line.Size > 0 {
			d.lines = append(d.lines, r.Line)
			d.lines[len(d.lines)-1].Size = min(r.Line.Size, f.Size-off)
		}
	}
	byRVA := func(a, b symfmt.Line) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(d.lines, byRVA) {
		slices.SortStableFunc(d.lines, byRVA)
	}
	for i, l := range d.lines {
		size := l.Size
		if i+1 < len(d.lines) {
			size = min(size, uint64(d.lines[i+1].RVA-l.RVA))
		}
		if size == 0 {
			continue
		}
		addr := start + uint64(l.RVA-f.RVA)
		if d.program.open && d.lineEnd != addr {
			d.program.end(d.lineEnd)
		}
		d.program.row(addr, d.fileNumber(l.File), l.Num)
		d.lineEnd = addr + size
	}
}
