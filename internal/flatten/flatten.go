// Package flatten cuts the code of a FUNC into segments, each of which has one chain of inlined calls
// and one line.
package flatten

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Flat is the code of a FUNC, cut wherever a line or an inlined function begins
// or ends, so that each segment holds all that is known about its addresses. If
// lines overlap, or INLINEs of the same depth, the one that starts last counts,
// up to its end; a depth without an INLINE ends the chain.
type Flat struct {
	Segments []Segment // ascending, the first at offset 0; each extends to the next
	Calls    []Call
}

// Segment is a piece of code with a single chain of inlined calls and a single line.
type Segment struct {
	Off    uint32 // in bytes from the FUNC's start
	Line   uint32
	File   symfmt.FileID
	NoLine bool  // no line record covers the segment
	Call   int32 // innermost inlined call, an index into Calls, or NoCall
}

// Call is a call of an inlined function.
type Call struct {
	Origin symfmt.OriginID
	File   symfmt.FileID
	NoFile bool // the INLINE has the old form; see Outer
	Line   uint32

	Inline int32 // which of the INLINEs that were added it is, counted from 0

	// Outer is the call that contains this one, an index into Calls, or NoCall if the
	// call is in the FUNC itself. If NoFile is set, the file is the one of Outer's
	// INLINE_ORIGIN, and it is unknown if there is no Outer.
	Outer int32
}

// NoCall means that there is no inlined function.
const NoCall = -1

// Flattener creates Flats: for each FUNC, call Reset, add its records in any
// order, and call Flatten. It reuses its buffers.
type Flattener struct {
	start   symfmt.RVA
	lines   []lineRow
	inlines []inlineRow
	records []inlineRecord
	depths  []int // start of each depth's rows, and the end of the last
	next    []int // next row of each depth
	cuts    []uint32
	own     symfmt.FileID // see ownFile
	hasOwn  bool
}

// lineRow is a line record; offsets are from the FUNC's start.
type lineRow struct {
	off, end uint32
	num      uint32
	file     symfmt.FileID
}

// inlineRow is a range of an INLINE record.
type inlineRow struct {
	key    uint64 // the depth and, in the lower half, the offset: sorting by one number is faster
	end    uint32
	record int32
}

func (r inlineRow) depth() uint32 { return uint32(r.key >> 32) }

func (r inlineRow) off() uint32 { return uint32(r.key) }

// inlineRecord is an INLINE and the last call made from it.
type inlineRecord struct {
	callLine uint32
	callFile symfmt.FileID
	noFile   bool
	origin   symfmt.OriginID
	call     int32
}

// Reset begins a FUNC at start.
func (p *Flattener) Reset(start symfmt.RVA) {
	p.start = start
	p.lines, p.inlines, p.records = p.lines[:0], p.inlines[:0], p.records[:0]
}

// AddLine adds a line record, unless it lies before the FUNC's start or over 4 GB after it.
func (p *Flattener) AddLine(l *symfmt.Line) {
	if off, end, ok := offsetsFrom(p.start, l.RVA, l.Size); ok {
		p.lines = append(p.lines, lineRow{off, end, l.Num, l.File})
	}
}

// AddInline adds the ranges of an INLINE that Fits accepts. It ignores
// those of INLINEs whose depth is symfmt.MaxInlineDepth or more.
func (p *Flattener) AddInline(in *symfmt.Inline) {
	p.inlines = slices.Grow(p.inlines, len(in.Ranges))
	for _, r := range in.Ranges {
		if in.Depth >= symfmt.MaxInlineDepth {
			break
		}
		if off, end, ok := offsetsFrom(p.start, r.RVA, r.Size); ok {
			p.inlines = append(p.inlines, inlineRow{uint64(in.Depth)<<32 | uint64(off), end, int32(len(p.records))})
		}
	}
	p.records = append(p.records, inlineRecord{in.CallLine, in.CallFile, in.NoFile, in.Origin, NoCall})
}

// Fits reports whether code at rva may belong to a FUNC that starts at start: it must not lie before
// start or over 4 GB after it.
func Fits(start, rva symfmt.RVA, size uint64) bool {
	_, _, ok := offsetsFrom(start, rva, size)
	return ok
}

func offsetsFrom(start, rva symfmt.RVA, size uint64) (off, end uint32, ok bool) {
	d := uint64(rva - start)
	if rva < start || size == 0 || d > math.MaxUint32 || size > math.MaxUint32-d {
		return 0, 0, false
	}
	return uint32(d), uint32(d + size), true
}

// Flatten writes the segments to out, reusing its slices.
func (p *Flattener) Flatten(out *Flat) {
	p.sort()
	p.cut()
	p.findOwnFile()
	out.Segments, out.Calls = slices.Grow(out.Segments[:0], len(p.cuts)), out.Calls[:0]
	p.next = append(p.next[:0], p.depths...)
	line := 0
	for _, off := range p.cuts {
		for line < len(p.lines) && p.lines[line].off <= off {
			line++
		}
		s := Segment{Off: off, NoLine: true}
		if line > 0 && off < p.lines[line-1].end {
			s.Line, s.File, s.NoLine = p.lines[line-1].num, p.lines[line-1].file, false
		}
		s.Call = p.chain(off, out)
		if n := len(out.Segments); n == 0 || !out.Segments[n-1].same(s) {
			out.Segments = append(out.Segments, s)
		}
	}
}

func (s Segment) same(o Segment) bool {
	s.Off = o.Off
	return s == o
}

// sort orders lines by address, and inlines by depth and address. Chains end
// at a depth that no INLINE has.
func (p *Flattener) sort() {
	byOffset := func(a, b lineRow) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(p.lines, byOffset) {
		slices.SortStableFunc(p.lines, byOffset)
	}
	byKey := func(a, b inlineRow) int { return cmp.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(p.inlines, byKey) {
		slices.SortStableFunc(p.inlines, byKey)
	}
	p.depths = p.depths[:0]
	for i, r := range p.inlines {
		if int(r.depth()) > len(p.depths) {
			p.inlines = p.inlines[:i]
			break
		}
		if int(r.depth()) == len(p.depths) {
			p.depths = append(p.depths, i)
		}
	}
	p.depths = append(p.depths, len(p.inlines))
}

// cut finds where segments begin.
func (p *Flattener) cut() {
	p.cuts = append(slices.Grow(p.cuts[:0], 1+2*(len(p.lines)+len(p.inlines))), 0)
	for _, l := range p.lines {
		p.cuts = append(p.cuts, l.off, l.end)
	}
	for _, r := range p.inlines {
		p.cuts = append(p.cuts, r.off(), r.end)
	}
	if !slices.IsSorted(p.cuts) {
		slices.Sort(p.cuts)
	}
	p.cuts = slices.Compact(p.cuts)
}

// findOwnFile finds the file of the first line that is not in an inlined function.
// It serves as the file of calls in the FUNC itself if INLINEs have the old form,
// which has no file.
func (p *Flattener) findOwnFile() {
	p.hasOwn = false
	var outermost []inlineRow
	if len(p.depths) > 1 {
		outermost = p.inlines[:p.depths[1]]
	}
	next := 0
	for _, l := range p.lines {
		for next < len(outermost) && outermost[next].off() <= l.off {
			next++
		}
		if next == 0 || l.off >= outermost[next-1].end {
			p.own, p.hasOwn = l.file, true
			return
		}
	}
}

// callsPerRange is the limit of calls per range of an INLINE. The calls inside a call that changes are new
// each time, so without a limit their number could be the product of two depths' ranges.
const callsPerRange = 16

// chain finds the inlined functions at an offset, and returns the innermost call.
func (p *Flattener) chain(off uint32, out *Flat) int32 {
	innermost := int32(NoCall)
	for depth := 0; depth+1 < len(p.depths); depth++ {
		k := p.next[depth]
		for k < p.depths[depth+1] && p.inlines[k].off() <= off {
			k++
		}
		p.next[depth] = k
		if k == p.depths[depth] || off >= p.inlines[k-1].end {
			break
		}
		record := p.inlines[k-1].record
		r := &p.records[record]
		if r.call == NoCall || out.Calls[r.call].Outer != innermost {
			if len(out.Calls) >= callsPerRange*(len(p.inlines)+callsPerRange) {
				break
			}
			r.call = int32(len(out.Calls))
			out.Calls = append(out.Calls, p.call(record, innermost))
		}
		innermost = r.call
	}
	return innermost
}

// call returns the call that an INLINE describes.
func (p *Flattener) call(record, outer int32) Call {
	r := &p.records[record]
	c := Call{Origin: r.origin, File: r.callFile, NoFile: r.noFile, Line: r.callLine, Inline: record, Outer: outer}
	if r.noFile && outer == NoCall && p.hasOwn {
		c.File, c.NoFile = p.own, false
	}
	return c
}
