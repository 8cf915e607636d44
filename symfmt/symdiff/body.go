package symdiff

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// body makes the hashes of one FUNC's lines and inlined calls after another's. Its
// buffers are reused.
type body struct {
	start   symfmt.RVA
	size    uint64
	lines   []lineItem
	inlines []inlineItem
	ranges  []symfmt.Range
	first   map[hash]uint32 // line number that others of the file are counted from

	paths, lastPath hash // of the lines
	calls           hash // of the INLINEs, in any order
}

// lineItem is a line record: offsets from the function's address, the file's name.
type lineItem struct {
	start, end uint64
	file       hash
	num        uint32
}

// inlineItem is an INLINE record.
type inlineItem struct {
	file, origin hash
	ranges       hash
	line, depth  uint32
}

func (b *body) begin(start symfmt.RVA, size uint64) {
	b.start, b.size, b.lines, b.inlines = start, size, b.lines[:0], b.inlines[:0]
	b.paths, b.lastPath, b.calls = 0, 0, 0
}

// line adds a line record. One that goes on where the last ended, with the same
// line, is a part of that.
func (b *body) line(l *symfmt.Line, names fileHash) {
	if l.Size == 0 {
		return
	}
	file := names.base
	if names.full != b.lastPath {
		b.paths, b.lastPath = mix(b.paths, uint64(names.full)), names.full
	}
	start := uint64(l.RVA - b.start)
	if n := len(b.lines); n > 0 {
		if last := &b.lines[n-1]; last.end == start && last.num == l.Num && last.file == file {
			last.end += l.Size
			return
		}
	}
	b.lines = append(b.lines, lineItem{start, start + l.Size, file, l.Num})
}

func (b *body) inline(in *symfmt.Inline, names fileHash, origin hash) {
	b.calls += mix(1, uint64(names.full))
	b.ranges = append(b.ranges[:0], in.Ranges...)
	b.ranges = joinRanges(b.ranges)
	h := hash(0)
	for _, r := range b.ranges {
		h = mix(mix(h, uint64(r.RVA-b.start)), r.Size)
	}
	b.inlines = append(b.inlines, inlineItem{names.base, origin, h, in.CallLine, in.Depth})
}

// joinRanges sorts ranges and joins those that touch.
func joinRanges(rs []symfmt.Range) []symfmt.Range {
	byRVA := func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(rs, byRVA) {
		slices.SortFunc(rs, byRVA)
	}
	out := rs[:0]
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].RVA+symfmt.RVA(out[n-1].Size) == r.RVA {
			out[n-1].Size += r.Size
			continue
		}
		out = append(out, r)
	}
	return out
}

// end puts what is known into f.
func (b *body) end(f *Func) {
	b.sortLines()
	f.NumLines, f.NumInline = uint32(len(b.lines)), uint32(len(b.inlines))
	f.Covered = b.covered()
	f.Paths = mix(b.paths, uint64(b.calls))
	b.firstLines()
	if len(b.lines) > 0 {
		first := &b.lines[0]
		for i := range b.lines {
			if b.lines[i].num != 0 {
				first = &b.lines[i]
				break
			}
		}
		f.First, f.FirstLine = first.file, first.num
		f.Lines, f.LinesRel = b.hashLines(false), b.hashLines(true)
	}
	if len(b.inlines) > 0 {
		f.Inlines, f.InlinesRel = b.hashInlines(false), b.hashInlines(true)
	}
}

// sortLines sorts line records by address and joins those of one line that touch.
func (b *body) sortLines() {
	byStart := func(x, y lineItem) int { return cmp.Compare(x.start, y.start) }
	if slices.IsSortedFunc(b.lines, byStart) {
		return
	}
	slices.SortStableFunc(b.lines, byStart)
	out := b.lines[:0]
	for _, l := range b.lines {
		if n := len(out); n > 0 {
			if last := &out[n-1]; last.end == l.start && last.num == l.num && last.file == l.file {
				last.end = l.end
				continue
			}
		}
		out = append(out, l)
	}
	b.lines = out
}

// covered is how many bytes of the function have lines.
func (b *body) covered() (n uint64) {
	at := uint64(0)
	for _, l := range b.lines {
		start, end := max(l.start, at), min(l.end, b.size)
		if start < end {
			n += end - start
			at = end
		}
	}
	return n
}

// firstLines finds the line number that others of its file are counted from: the
// first of the line records, or of the calls.
func (b *body) firstLines() {
	if b.first == nil {
		b.first = map[hash]uint32{}
	}
	clear(b.first)
	note := func(file hash, num uint32) {
		if _, ok := b.first[file]; !ok && num != 0 {
			b.first[file] = num
		}
	}
	for i := range b.lines {
		note(b.lines[i].file, b.lines[i].num)
	}
	for i := range b.inlines {
		note(b.inlines[i].file, b.inlines[i].line)
	}
}

// number is a line number as it counts.
func (b *body) number(file hash, num uint32, relative bool) uint64 {
	if !relative || num == 0 {
		return uint64(num)
	}
	return 1<<40 + uint64(num) - uint64(b.first[file])
}

func (b *body) hashLines(relative bool) hash {
	h := hash(1)
	for i := range b.lines {
		l := &b.lines[i]
		h = mix(mix(mix(mix(h, l.start), l.end), uint64(l.file)), b.number(l.file, l.num, relative))
	}
	return h | 1
}

// hashInlines does not mind the order of records.
func (b *body) hashInlines(relative bool) (sum hash) {
	for i := range b.inlines {
		in := &b.inlines[i]
		h := mix(mix(mix(uint64Hash(in.ranges), uint64(in.depth)), uint64(in.file)), b.number(in.file, in.line, relative))
		sum += mix(h, uint64(in.origin))
	}
	return sum | 1
}

func uint64Hash(h hash) hash { return h ^ 0x5bd1e995 }
