package pdb

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symtool/symtool/symfmt"
)

// layout maps addresses of an image as it was linked, which a PDB records, to addresses of the image
// after a tool reordered it (OMAP). Code may have been moved, duplicated, removed, or stretched by
// injected code.
type layout struct {
	blocks []block      // by address as linked
	ends   []symfmt.RVA // for each block, the farthest linked end of the blocks up to it
	room   int          // number of steps that may still be made
	cut    bool         // the room was exhausted
}

// block is a contiguous piece of code that was moved as a whole.
type block struct {
	linked, image symfmt.RVA
	size          symfmt.RVA
	order         int // position among the blocks in the image; injected code may lie between neighbours
}

// stepsRatio bounds the steps of a translation beyond minSteps, as a multiple of the sizes of the
// tables and of the records: in a damaged file, all blocks may map the same code.
const (
	stepsRatio = 16
	minSteps   = 1 << 16
	pieceSteps = 6 // for each record of the result
)

// readLayout reads a table that maps between addresses of the image and addresses as
// linked. It returns nil if the image was not reordered.
func (d *database) readLayout() (*layout, error) {
	from, to := d.opt[optOMAPFrom], d.opt[optOMAPTo]
	if from == noStream && to == noStream {
		return nil, nil
	}
	l := &layout{}
	var err error
	// Only the table of the image's addresses records where injected code is, and code that occurs
	// twice.
	if to != noStream {
		err = d.readOMAP(to, func(image, linked, size symfmt.RVA) { l.add(linked, image, size) })
	} else {
		err = d.readOMAP(from, func(linked, image, size symfmt.RVA) { l.add(linked, image, size) })
	}
	if err != nil {
		return nil, err
	}
	l.index()
	return l, nil
}

// readOMAP calls fn with the entries of a table, which map size bytes from address a to b.
func (d *database) readOMAP(stream int, fn func(a, b, size symfmt.RVA)) error {
	data, err := d.stream(stream).all()
	if err != nil {
		return err
	}
	var end symfmt.RVA // of the image as linked: addresses past it stand for code that was injected or removed
	for _, s := range d.parts {
		end = max(end, symfmt.RVA(s.rva)+symfmt.RVA(s.size))
	}
	for at := 0; at+8 <= len(data); at += 8 {
		a, b, next := symfmt.RVA(u32(data[at:])), symfmt.RVA(u32(data[at+4:])), symfmt.RVA(1<<32)
		if at+16 <= len(data) {
			next = symfmt.RVA(u32(data[at+8:]))
		}
		if next < a {
			return d.stream(stream).errorf(uint64(at), "OMAP: address %#x precedes %#x", uint64(next), uint64(a))
		}
		if size := min(next-a, end-min(end, b)); b != 0 && size > 0 {
			fn(a, b, size)
		}
	}
	return nil
}

func (l *layout) add(linked, image, size symfmt.RVA) {
	l.blocks = append(l.blocks, block{linked: linked, image: image, size: size})
}

func (l *layout) index() {
	slices.SortStableFunc(l.blocks, func(a, b block) int { return cmp.Compare(a.image, b.image) })
	for i := range l.blocks {
		l.blocks[i].order = i
	}
	slices.SortStableFunc(l.blocks, func(a, b block) int { return cmp.Compare(a.linked, b.linked) })
	var end symfmt.RVA
	for _, b := range l.blocks {
		end = max(end, b.linked+b.size)
		l.ends = append(l.ends, end)
	}
	l.room = minSteps + stepsRatio*len(l.blocks)
}

// steps charges n steps and reports whether there was room for them.
func (l *layout) steps(n int) bool {
	l.room -= n
	l.cut = l.cut || l.room < 0
	return !l.cut
}

// image returns where the code of [lo, hi) is in the image, in ascending order. Pieces separated
// only by injected code are joined.
func (l *layout) image(lo, hi symfmt.RVA) (ranges []symfmt.Range) {
	if lo >= hi {
		return nil
	}
	first := sort.Search(len(l.ends), func(i int) bool { return l.ends[i] > lo })
	var in []block
	for i := first; i < len(l.blocks) && l.blocks[i].linked < hi && l.steps(1); i++ {
		if b := l.blocks[i]; b.linked+b.size > lo {
			in = append(in, b)
		}
	}
	slices.SortFunc(in, func(a, b block) int { return cmp.Compare(a.order, b.order) })
	var last block // the block at whose end the last range ends
	for _, b := range in {
		from, to := max(lo, b.linked), min(hi, b.linked+b.size)
		start, end := b.image+from-b.linked, b.image+to-b.linked
		k := len(ranges) - 1
		adjacent := k >= 0 && start == ranges[k].RVA+symfmt.RVA(ranges[k].Size)
		stretched := last.size > 0 && from == b.linked && b.order == last.order+1 &&
			(b.linked >= last.linked+last.size || b.linked+b.size <= last.linked)
		if adjacent || stretched {
			ranges[k].Size = uint64(end - ranges[k].RVA)
		} else {
			ranges = append(ranges, symfmt.Range{RVA: start, Size: uint64(end - start)})
		}
		if last = b; to < b.linked+b.size {
			last = block{}
		}
	}
	return ranges
}

// translate gives all records of m the addresses of the image. It reports whether all were
// translated.
func (l *layout) translate(m *symfmt.Module, placed sections) bool {
	l.steps(-stepsRatio * (len(m.Funcs) + len(m.Publics) + len(m.Wins)))
	publics := l.publics(m, placed)
	var funcs []symfmt.Func
	var arena symfmt.Arena
	for i := range m.Funcs {
		funcs = l.function(funcs, &m.Funcs[i], &arena)
	}
	var wins []symfmt.StackWin
	for i := range m.Wins {
		wins = l.frame(wins, &m.Wins[i])
	}
	slices.SortStableFunc(funcs, func(a, b symfmt.Func) int { return cmp.Compare(a.RVA, b.RVA) })
	m.Funcs, m.Publics, m.Wins = funcs, publics, wins
	return !l.cut
}

// function appends a function for each piece of f, with the lines and the inlined calls of that piece.
func (l *layout) function(funcs []symfmt.Func, f *symfmt.Func, arena *symfmt.Arena) []symfmt.Func {
	var lines []symfmt.Line
	for line := range f.Lines() {
		l.steps(-stepsRatio)
		for _, r := range l.image(line.RVA, line.RVA+symfmt.RVA(line.Size)) {
			line.RVA, line.Size = r.RVA, r.Size
			lines = append(lines, line)
		}
	}
	slices.SortStableFunc(lines, func(a, b symfmt.Line) int { return cmp.Compare(a.RVA, b.RVA) })
	var calls []symfmt.Inline
	for in := range f.Inlines() {
		l.steps(-stepsRatio * (1 + len(in.Ranges)))
		call := *in
		call.Ranges = nil
		for _, r := range in.Ranges {
			call.Ranges = append(call.Ranges, l.image(r.RVA, r.RVA+symfmt.RVA(r.Size))...)
		}
		slices.SortFunc(call.Ranges, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
		calls = append(calls, call)
	}
	var body symfmt.BodyBuilder
	for _, r := range l.image(f.RVA, f.RVA+symfmt.RVA(f.Size)) {
		if !l.steps(pieceSteps + len(calls)) {
			return funcs
		}
		end := r.RVA + symfmt.RVA(r.Size)
		piece := *f
		piece.RVA, piece.Size = r.RVA, r.Size
		body.Reset(piece.RVA)
		for i := range calls {
			in := calls[i]
			n := sort.Search(len(in.Ranges), func(k int) bool { return in.Ranges[k].RVA >= end })
			in.Ranges, calls[i].Ranges = clipped(in.Ranges[:n], r), in.Ranges[n:]
			body.AddInline(&in)
		}
		n := sort.Search(len(lines), func(k int) bool { return lines[k].RVA >= end })
		for _, line := range lines[:n] {
			for _, part := range clipped([]symfmt.Range{{RVA: line.RVA, Size: line.Size}}, r) {
				line.RVA, line.Size = part.RVA, part.Size
				body.AddLine(line)
			}
		}
		lines = lines[n:]
		piece.Body = body.Finish(arena)
		funcs = append(funcs, piece)
	}
	return funcs
}

// clipped returns the parts of ranges that are in a piece of a function, and overwrites ranges. Only in damaged
// files, where blocks overlap, are any parts outside it.
func clipped(ranges []symfmt.Range, piece symfmt.Range) []symfmt.Range {
	n := 0
	for _, r := range ranges {
		lo, hi := max(r.RVA, piece.RVA), min(r.RVA+symfmt.RVA(r.Size), piece.RVA+symfmt.RVA(piece.Size))
		if lo < hi {
			ranges[n] = symfmt.Range{RVA: lo, Size: uint64(hi - lo)}
			n++
		}
	}
	return ranges[:n]
}

// publics returns a PUBLIC for each piece of the code from a public symbol to the next symbol.
func (l *layout) publics(m *symfmt.Module, placed sections) (publics []symfmt.Public) {
	for i, p := range m.Publics {
		end := p.RVA
		if s, ok := placed.at(p.RVA); ok {
			end = symfmt.RVA(s.rva) + symfmt.RVA(s.size)
		}
		if i+1 < len(m.Publics) {
			end = min(end, m.Publics[i+1].RVA)
		}
		k := sort.Search(len(m.Funcs), func(k int) bool { return m.Funcs[k].RVA > p.RVA })
		if k < len(m.Funcs) {
			end = min(end, m.Funcs[k].RVA)
		}
		for _, r := range l.image(p.RVA, end) {
			if !l.steps(pieceSteps) {
				break
			}
			p.RVA = r.RVA
			publics = append(publics, p)
		}
	}
	slices.SortStableFunc(publics, func(a, b symfmt.Public) int { return cmp.Compare(a.RVA, b.RVA) })
	return publics
}

// frame appends the frames of the pieces of w: a single frame if its prologue and the code after
// it are still adjacent, otherwise one for each of their pieces.
func (l *layout) frame(wins []symfmt.StackWin, w *symfmt.StackWin) []symfmt.StackWin {
	code := w.RVA + symfmt.RVA(min(w.PrologueSize, w.CodeSize))
	prologue, rest := l.image(w.RVA, code), l.image(code, w.RVA+symfmt.RVA(w.CodeSize))
	if len(prologue) == 1 && len(rest) == 1 && prologue[0].RVA+symfmt.RVA(prologue[0].Size) == rest[0].RVA {
		whole := *w
		whole.RVA, whole.CodeSize, whole.PrologueSize = prologue[0].RVA, prologue[0].Size+rest[0].Size, prologue[0].Size
		return append(wins, whole)
	}
	for i, r := range append(prologue, rest...) {
		if !l.steps(pieceSteps) {
			break
		}
		piece := *w
		piece.RVA, piece.CodeSize, piece.PrologueSize = r.RVA, r.Size, 0
		if i < len(prologue) {
			piece.PrologueSize = r.Size
		}
		wins = append(wins, piece)
	}
	return wins
}
