package symcache

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// flat is the code of a FUNC cut where a line or an inlined function begins or
// ends, so that one segment has all that is known of an address. Offsets are from
// the FUNC's start. Which line and which INLINE counts is as in resolve.
type flat struct {
	segments []segment
	calls    []call

	// What is written of calls: the function of each and its source location, or
	// none, and where one with its fields is.
	callees []uint32
	written []uint32
	known   map[location]uint32
}

type segment struct {
	off    uint32
	line   uint32
	file   symfmt.FileID
	noFile bool // no line record speaks for it
	call   int32
}

// A call is an inlined function, and where it was called; outer is the call that
// was made in, or -1.
type call struct {
	origin symfmt.OriginID
	file   symfmt.FileID
	noFile bool
	line   uint32
	outer  int32
}

const noCall = -1

// maxDepth is how many functions are inlined into each other at most, here and
// when a file is read. symbolic reads 512 from Breakpad's text; compilers stay
// below 100.
const maxDepth = 1024

// lineRow is a line record.
type lineRow struct {
	off, end uint32
	num      uint32
	file     symfmt.FileID
}

// inlineRow is a range of an INLINE record.
type inlineRow struct {
	off, end uint32
	depth    uint32
	record   int32
}

// record is an INLINE with the call that was made of it last.
type record struct {
	callLine uint32
	callFile symfmt.FileID
	noFile   bool
	origin   symfmt.OriginID
	call     int32
}

// flattener turns one FUNC after another into a flat. Its buffers are reused.
type flattener struct {
	originFile func(symfmt.OriginID) (symfmt.FileID, bool) // of the old form of INLINE

	start   symfmt.RVA
	lines   []lineRow
	inlines []inlineRow
	records []record
	depths  []int // where each depth's rows begin, and where the last end
	next    []int // by depth: the next row
	cuts    []uint32
	own     symfmt.FileID
	hasOwn  bool
}

// flatten fills out, whose buffers are reused.
func (p *flattener) flatten(f *symfmt.Func, out *flat) {
	p.read(f)
	p.sort()
	p.cut()
	p.own, p.hasOwn = p.ownFile()
	out.segments, out.calls = out.segments[:0], out.calls[:0]
	p.next = append(p.next[:0], p.depths...)
	line := 0
	for _, off := range p.cuts {
		for line < len(p.lines) && p.lines[line].off <= off {
			line++
		}
		s := segment{off: off, noFile: true}
		if line > 0 && off < p.lines[line-1].end {
			s.line, s.file, s.noFile = p.lines[line-1].num, p.lines[line-1].file, false
		}
		s.call = p.chain(off, out)
		if n := len(out.segments); n == 0 || !out.segments[n-1].same(s) {
			out.segments = append(out.segments, s)
		}
	}
}

func (s segment) same(o segment) bool {
	s.off = o.off
	return s == o
}

// read takes the records that lie behind the FUNC's start and within 4 GB.
func (p *flattener) read(f *symfmt.Func) {
	p.start = f.RVA
	p.lines, p.inlines, p.records = p.lines[:0], p.inlines[:0], p.records[:0]
	for r := f.LineReader(); r.Next(); {
		if off, end, ok := p.offsets(r.Line.RVA, r.Line.Size); ok {
			p.lines = append(p.lines, lineRow{off, end, r.Line.Num, r.Line.File})
		}
	}
	for r := f.InlineReader(); r.Next(); {
		in := &r.Inline
		if in.Depth >= maxDepth {
			continue
		}
		for _, rng := range in.Ranges {
			if off, end, ok := p.offsets(rng.RVA, rng.Size); ok {
				p.inlines = append(p.inlines, inlineRow{off, end, in.Depth, int32(len(p.records))})
			}
		}
		p.records = append(p.records, record{in.CallLine, in.CallFile, in.NoFile, in.Origin, noCall})
	}
}

func (p *flattener) offsets(rva symfmt.RVA, size uint64) (off, end uint32, ok bool) {
	d := uint64(rva - p.start)
	if rva < p.start || size == 0 || d > math.MaxUint32 || size > math.MaxUint32-d {
		return 0, 0, false
	}
	return uint32(d), uint32(d + size), true
}

// sort orders lines by address, and inlines by depth and address. A depth that
// is missing ends all chains.
func (p *flattener) sort() {
	byOffset := func(a, b lineRow) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(p.lines, byOffset) {
		slices.SortStableFunc(p.lines, byOffset)
	}
	slices.SortStableFunc(p.inlines, func(a, b inlineRow) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.off, b.off))
	})
	p.depths = p.depths[:0]
	for i, r := range p.inlines {
		if int(r.depth) > len(p.depths) {
			p.inlines = p.inlines[:i]
			break
		}
		if int(r.depth) == len(p.depths) {
			p.depths = append(p.depths, i)
		}
	}
	p.depths = append(p.depths, len(p.inlines))
}

// cut finds where segments begin.
func (p *flattener) cut() {
	p.cuts = append(p.cuts[:0], 0)
	for _, l := range p.lines {
		p.cuts = append(p.cuts, l.off, l.end)
	}
	for _, r := range p.inlines {
		p.cuts = append(p.cuts, r.off, r.end)
	}
	if !slices.IsSorted(p.cuts) {
		slices.Sort(p.cuts)
	}
	p.cuts = slices.Compact(p.cuts)
}

// ownFile is the file of the first line that is not in an inlined function: in
// the old form of INLINE, where calls have no file, it stands for that of the
// calls in the FUNC itself.
func (p *flattener) ownFile() (symfmt.FileID, bool) {
	var outermost []inlineRow
	if len(p.depths) > 1 {
		outermost = p.inlines[:p.depths[1]]
	}
	next := 0
	for _, l := range p.lines {
		for next < len(outermost) && outermost[next].off <= l.off {
			next++
		}
		if next == 0 || l.off >= outermost[next-1].end {
			return l.file, true
		}
	}
	return 0, false
}

// chain finds the inlined functions at an offset, and returns the innermost call.
func (p *flattener) chain(off uint32, out *flat) int32 {
	innermost := int32(noCall)
	for depth := 0; depth+1 < len(p.depths); depth++ {
		k := p.next[depth]
		for k < p.depths[depth+1] && p.inlines[k].off <= off {
			k++
		}
		p.next[depth] = k
		if k == p.depths[depth] || off >= p.inlines[k-1].end {
			break
		}
		r := &p.records[p.inlines[k-1].record]
		if r.call == noCall || out.calls[r.call].outer != innermost {
			r.call = int32(len(out.calls))
			out.calls = append(out.calls, p.call(r, innermost, out))
		}
		innermost = r.call
	}
	return innermost
}

// call makes a call of an INLINE.
func (p *flattener) call(r *record, outer int32, out *flat) call {
	c := call{origin: r.origin, file: r.callFile, line: r.callLine, outer: outer}
	if r.noFile {
		ok := false
		if outer == noCall {
			c.file, ok = p.own, p.hasOwn
		} else {
			c.file, ok = p.originFile(out.calls[outer].origin)
		}
		c.noFile = !ok
	}
	return c
}
