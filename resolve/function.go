package resolve

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// function is a FUNC with its records. Its code is cut where a line or an inlined
// function begins or ends: one search finds everything that is known of an
// address. It is kept packed (packed.go).
type function struct {
	name string

	// words are the starts of the segments, from the function's start and
	// ascending, the first being 0, then the segments, then the calls.
	words     []uint32
	segments  uint32 // number of them
	multiple  bool
	paramSize uint64
}

// A segment is a piece of code with one line and one chain of inlined functions:
// its line, the place of its file, and the number of the innermost call + 1.
const segmentWords = 3

// A call is an inlined function: the place of its name, the place of the file of
// the call, the line of the call, and the number + 1 of the call that it was
// inlined into, 0 for the FUNC itself.
const callWords = 4

func (f *function) parts() (starts, segments, calls []uint32) {
	n := int(f.segments)
	return f.words[:n], f.words[n:][:segmentWords*n], f.words[(1+segmentWords)*n:]
}

// names gives the places of FILE and INLINE_ORIGIN records, whose names it has
// read by then. Place 0 has no name.
type names interface {
	file(symfmt.FileID) (uint32, error)

	// origin gives, in a file of the old form, the place of the origin's file too.
	origin(symfmt.OriginID) (name, file uint32, err error)
}

// lineRow is a line record; offsets are from the function's start.
type lineRow struct {
	off, end uint32
	num      uint32
	file     symfmt.FileID
}

// inlineRow is a range of an INLINE record.
type inlineRow struct {
	off, end uint32
	depth    uint32
	callLine uint32
	callFile symfmt.FileID
	origin   symfmt.OriginID
	noFile   bool

	record uint32 // number of the INLINE
}

// lastCall is the call that was made of an INLINE last.
type lastCall struct {
	call  uint32 // its number + 1
	outer uint32 // what it was inlined into, as in a call
}

// functionParser turns the text of functions into functions.
type functionParser struct {
	record   symfmt.LineParser
	names    names
	start    symfmt.RVA
	lines    []lineRow
	inlines  []inlineRow
	depths   []int // where each depth's rows begin, and where the last end
	next     []int // by depth: the next row
	cuts     []uint32
	segments []uint32
	made     []lastCall // by INLINE
	calls    []uint32
	words    []uint32 // of the function
	packer   packer
	origins  []uint32 // by call: the place of the file of its origin

	last    symfmt.FileID // found last: runs of lines name one file
	place   uint32
	hasLast bool
}

// parse reads the text of a function, which the next call's takes the memory of.
// Records that are damaged are left out: whoever wants to hear about them reads
// the file with symfmt.
func (p *functionParser) parse(text []byte, s span, n names) (function, error) {
	head, rest, _ := bytes.Cut(text, []byte{'\n'})
	rec, err := p.record.Parse(trim(head), "", 1)
	if rec == nil || rec.Kind != symfmt.KindFunc || rec.RVA != s.rva || rec.Size != s.size {
		return function{}, fmt.Errorf("no FUNC %x %x where the index has one: %w", uint64(s.rva), s.size, cmp.Or(err, errChanged))
	}
	f := function{name: string(rec.Name), multiple: rec.Multiple, paramSize: rec.ParamSize}
	p.reset(s.rva, n)
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if line = trim(line); len(line) > symfmt.MaxLine || len(bytes.TrimLeft(line, " \t")) == 0 {
			continue
		}
		if rec, err := p.record.Parse(line, "", 1); err == nil {
			p.add(rec)
		}
	}
	p.sort()
	p.cut()
	return f, p.fill(&f)
}

func trim(line []byte) []byte { return bytes.TrimRight(line, "\r") }

func (p *functionParser) reset(start symfmt.RVA, n names) {
	p.start, p.names, p.hasLast = start, n, false
	p.lines, p.inlines, p.made = p.lines[:0], p.inlines[:0], p.made[:0]
	p.calls, p.origins = p.calls[:0], p.origins[:0]
}

// add takes a line or INLINE record, as far as it lies behind the function's
// start and within 4 GB.
func (p *functionParser) add(rec *symfmt.Record) {
	switch rec.Kind {
	case symfmt.KindLine:
		if off, end, ok := p.offsets(rec.Line.RVA, rec.Line.Size); ok {
			p.lines = append(p.lines, lineRow{off, end, rec.Line.Num, rec.Line.File})
		}
	case symfmt.KindInline:
		in := &rec.Inline
		for _, r := range in.Ranges {
			if off, end, ok := p.offsets(r.RVA, r.Size); ok {
				p.inlines = append(p.inlines, inlineRow{
					off: off, end: end, depth: in.Depth, callLine: in.CallLine,
					callFile: in.CallFile, origin: in.Origin, noFile: in.NoFile, record: uint32(len(p.made)),
				})
			}
		}
		p.made = append(p.made, lastCall{})
	}
}

func (p *functionParser) offsets(rva symfmt.RVA, size uint64) (off, end uint32, ok bool) {
	d := uint64(rva - p.start)
	if rva < p.start || size == 0 || d > math.MaxUint32 || size > math.MaxUint32-d {
		return 0, 0, false
	}
	return uint32(d), uint32(d + size), true
}

// sort orders lines by address, and inlines by depth and address.
func (p *functionParser) sort() {
	byOffset := func(a, b lineRow) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(p.lines, byOffset) {
		slices.SortStableFunc(p.lines, byOffset)
	}
	slices.SortStableFunc(p.inlines, func(a, b inlineRow) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.off, b.off))
	})
	// A depth that is missing ends all chains.
	p.depths = p.depths[:0]
	for i, r := range p.inlines {
		if int(r.depth) >= len(p.depths)+1 {
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
func (p *functionParser) cut() {
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

// fill makes the segments. Of lines that overlap, or of inlines of one depth,
// the one that starts last counts, up to its end. Segments one behind the other
// of which the same is known become one.
func (p *functionParser) fill(f *function) error {
	p.segments = p.segments[:0]
	starts := p.cuts[:0]
	p.next = append(p.next[:0], p.depths...)
	line := 0
	own := p.ownFile()
	for _, off := range p.cuts {
		var num, file uint32
		for line < len(p.lines) && p.lines[line].off <= off {
			line++
		}
		if line > 0 && off < p.lines[line-1].end {
			l := &p.lines[line-1]
			var err error
			if file, err = p.fileOf(l.file); err != nil {
				return err
			}
			num = l.num
		}
		call, err := p.chain(off, own)
		if err != nil {
			return err
		}
		if s := p.segments; len(s) == 0 || [segmentWords]uint32(s[len(s)-segmentWords:]) != [...]uint32{num, file, call} {
			starts = append(starts, off)
			p.segments = append(s, num, file, call)
		}
	}
	f.segments = uint32(len(starts))
	p.words = append(append(append(p.words[:0], starts...), p.segments...), p.calls...)
	f.words = p.words
	return nil
}

// ownFile is the file of the first line that is not in an inlined function: in
// the old form of INLINE, where calls have no file, it stands for that of the
// calls in the FUNC itself.
func (p *functionParser) ownFile() symfmt.FileID {
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
			return l.file
		}
	}
	return math.MaxUint32
}

// chain finds the inlined functions at an offset: the number + 1 of the innermost.
func (p *functionParser) chain(off uint32, own symfmt.FileID) (innermost uint32, err error) {
	for depth := 0; depth+1 < len(p.depths); depth++ {
		k := p.next[depth]
		for k < p.depths[depth+1] && p.inlines[k].off <= off {
			k++
		}
		p.next[depth] = k
		if k == p.depths[depth] || off >= p.inlines[k-1].end {
			break
		}
		row := &p.inlines[k-1]
		if made := p.made[row.record]; made.call == 0 || made.outer != innermost {
			if err := p.call(row, innermost, own); err != nil {
				return 0, err
			}
		}
		innermost = p.made[row.record].call
	}
	return innermost, nil
}

// call makes a call of an INLINE's range.
func (p *functionParser) call(row *inlineRow, outer uint32, own symfmt.FileID) error {
	name, originFile, err := p.names.origin(row.origin)
	if err != nil {
		return err
	}
	var file uint32
	switch {
	case !row.noFile:
		file, err = p.fileOf(row.callFile)
	case outer > 0:
		file = p.origins[outer-1]
	default:
		file, err = p.fileOf(own)
	}
	if err != nil {
		return err
	}
	p.calls = append(p.calls, name, file, row.callLine, outer)
	p.origins = append(p.origins, originFile)
	p.made[row.record] = lastCall{uint32(len(p.origins)), outer}
	return nil
}

func (p *functionParser) fileOf(id symfmt.FileID) (uint32, error) {
	if p.hasLast && p.last == id {
		return p.place, nil
	}
	place, err := p.names.file(id)
	p.last, p.place, p.hasLast = id, place, err == nil
	return place, err
}
