package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// body computes the hashes of the lines and inlined calls of FUNCs, one after
// another. Its buffers are reused.
type body struct {
	start   symfmt.RVA
	size    uint64
	lines   []lineItem
	inlines []inlineItem
	ranges  []symfmt.Range
	first   firsts // line numbers from which others in their files are counted

	paths hash // of the folders of lines and calls, in any order
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
	b.paths = 0
}

// line adds a line record. A record that continues the last one with the same
// line becomes part of it.
func (b *body) line(l *symfmt.Line, names fileHash) {
	if l.Size == 0 {
		return
	}
	file := names.base
	b.paths += names.full * hash(l.Size) // independent of how the line is cut into records
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
	b.paths += mix(1, uint64(names.full))
	b.ranges = append(b.ranges[:0], in.Ranges...)
	b.ranges = joinRanges(b.ranges)
	h := hash(0)
	for _, r := range b.ranges {
		h = mix(mix(h, uint64(r.RVA-b.start)), r.Size)
	}
	b.inlines = append(b.inlines, inlineItem{names.base, origin, h, in.CallLine, in.Depth})
}

// joinRanges sorts ranges and joins each with one that begins where it ends. Empty ranges and
// overlaps stay, since they are part of what a record says.
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

// end stores the results in f.
func (b *body) end(f *funcEntry) {
	b.sortLines()
	f.NumLines, f.NumInline = uint16(min(len(b.lines), math.MaxUint16)), narrow(uint64(len(b.inlines)))
	f.Covered = b.covered()
	f.Paths = uint32(b.paths >> 32) // sizes leave less in the low bits
	b.firstLines()
	if len(b.lines) > 0 {
		first := &b.lines[0]
		for i := range b.lines {
			if b.lines[i].num != 0 {
				first = &b.lines[i]
				break
			}
		}
		f.First, f.FirstLine = uint32(first.file), first.num
		f.Lines, f.LinesRel, f.Shape = b.hashLines()
	}
	if len(b.inlines) > 0 {
		f.Inlines, f.InlinesRel = b.hashInlines()
	}
}

// sortLines sorts line records by address and joins adjacent ones of the same line.
func (b *body) sortLines() {
	byStart := func(x, y lineItem) int {
		if x.start != y.start {
			return cmp.Compare(x.start, y.start)
		}
		return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.num, y.num), cmp.Compare(x.file, y.file))
	}
	if slices.IsSortedFunc(b.lines, byStart) {
		return
	}
	slices.SortFunc(b.lines, byStart)
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

// covered returns the number of bytes of the function that have lines.
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

// firstLines finds for each file the line number from which others are counted:
// the first line record's or, without one, the least of the calls'.
func (b *body) firstLines() {
	b.first.reset()
	for i := range b.lines {
		if l := &b.lines[i]; l.num != 0 && b.first.get(l.file) == nil {
			b.first.add(l.file, l.num)
		}
	}
	n := b.first.len()
	for i := range b.inlines {
		in := &b.inlines[i]
		if in.line == 0 {
			continue
		}
		switch at := b.first.get(in.file); {
		case at == nil:
			b.first.add(in.file, in.line)
		case int(at.index) >= n:
			at.num = min(at.num, in.line)
		}
	}
}

// number returns a line number relative to the first of its file.
func (b *body) number(file hash, num uint32) uint64 {
	if num == 0 {
		return 0
	}
	return 1<<40 + uint64(num) - uint64(b.first.get(file).num)
}

// hashLines hashes the lines, the lines with relative numbers, and the lines
// without numbers.
func (b *body) hashLines() (absolute, relative, shape hash) {
	x, y, z := hash(1), hash(1), hash(1)
	for i := range b.lines {
		l := &b.lines[i]
		h := mix(mix(uint64Hash(l.file), l.start), l.end)
		x, y = mix(x, uint64(mix(h, uint64(l.num)))), mix(y, uint64(mix(h, b.number(l.file, l.num))))
		z = mix(z, uint64(h))
	}
	return x | 1, y | 1, z | 1
}

// hashInlines does the same for inlined calls, regardless of the order of records.
func (b *body) hashInlines() (absolute, relative hash) {
	for i := range b.inlines {
		in := &b.inlines[i]
		h := mix(mix(mix(uint64Hash(in.ranges), uint64(in.depth)), uint64(in.file)), uint64(in.origin))
		absolute += mix(h, uint64(in.line))
		relative += mix(h, b.number(in.file, in.line))
	}
	return absolute | 1, relative | 1
}

func uint64Hash(h hash) hash { return h ^ 0x5bd1e995 }

// firsts are the first line numbers of the source files of one function. Most
// functions have a handful of files, for which a scan beats a map.
type firsts struct {
	list  []firstLine
	index map[hash]int32 // files after the first maxScanned
	last  int
}

type firstLine struct {
	file  hash
	num   uint32
	index int32
}

const maxScanned = 16

func (f *firsts) reset() {
	if len(f.list) > maxScanned {
		clear(f.index)
	}
	f.list, f.last = f.list[:0], 0
}

func (f *firsts) len() int { return len(f.list) }

// get finds a file, or returns nil.
func (f *firsts) get(file hash) *firstLine {
	if f.last < len(f.list) && f.list[f.last].file == file {
		return &f.list[f.last]
	}
	for i := range f.list[:min(len(f.list), maxScanned)] {
		if f.list[i].file == file {
			f.last = i
			return &f.list[i]
		}
	}
	if len(f.list) <= maxScanned {
		return nil
	}
	i, ok := f.index[file]
	if !ok {
		return nil
	}
	f.last = int(i)
	return &f.list[i]
}

// add adds a file, which must be new.
func (f *firsts) add(file hash, num uint32) {
	i := int32(len(f.list))
	f.list = append(f.list, firstLine{file, num, i})
	if i >= maxScanned {
		if f.index == nil {
			f.index = map[hash]int32{}
		}
		f.index[file] = i
	}
}
