package pdb

import (
	"slices"
	"sort"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// llvmView answers from the records of a PDB as llvm-symbolizer does, so that a difference between it and this
// package can be traced to the records. It was written from the answers of llvm-symbolizer 22.
type llvmView struct {
	d       *database
	modules []llvmModule
}

type llvmModule struct {
	lines  *moduleLines
	procs  []proc
	blocks []llvmBlock
}

// llvmBlock holds the rows of a function's code from one file.
type llvmBlock struct {
	lo, hi symfmt.RVA // the function
	rows   []llvmRow
}

type llvmRow struct {
	at symfmt.RVA
	frame
}

func newLLVMView(t *testing.T, data []byte) *llvmView {
	t.Helper()
	v := &llvmView{d: databaseOf(t, data, "x")}
	for _, m := range v.d.modules {
		if m.stream == noStream || m.symBytes == 0 {
			continue
		}
		s := v.d.stream(m.stream)
		symbols, err := s.part(0, m.symBytes)
		if err != nil {
			t.Fatal(err)
		}
		c13, err := s.part(m.symBytes+m.c11Bytes, m.c13Len)
		if err != nil {
			t.Fatal(err)
		}
		of := llvmModule{lines: newLines()}
		of.lines.read(v.d, c13, len(symbols))
		var all moduleSymbols
		all.read(v.d, symbols)
		of.procs = all.procs
		of.blocks = v.blocksOf(of.lines, c13)
		v.modules = append(v.modules, of)
	}
	return v
}

func (v *llvmView) name(at uint32) string {
	v.d.room = v.d.size // again for each name
	return string(v.d.nameAt(at))
}

// blocksOf returns the rows of functions, one block for each file of each function. A block describes the
// function from the block's first address on.
func (v *llvmView) blocksOf(lines *moduleLines, c13 []byte) (blocks []llvmBlock) {
	eachC13(c13, func(kind uint32, b []byte) {
		if kind != c13Lines || len(b) < 12 {
			return
		}
		start, _ := v.d.rva(u16(b[4:]), u32(b))
		end := start + symfmt.RVA(u32(b[8:]))
		for b = b[12:]; len(b) >= 12; b = b[min(len(b), int(u32(b[8:]))):] {
			file, count := v.name(lines.file(u32(b))), u32(b[4:])
			if 12+8*uint64(count) > uint64(min(len(b), int(u32(b[8:])))) {
				return
			}
			block := llvmBlock{lo: start, hi: end}
			for i := range count {
				block.rows = append(block.rows, llvmRow{start + symfmt.RVA(u32(b[12+8*i:])), frame{file, u32(b[16+8*i:]) & 0xffffff}})
			}
			if count > 0 {
				blocks = append(blocks, block)
			}
		}
	})
	return blocks
}

// has reports whether an inlined call has code at an offset in its function. A row without a length extends to
// the annotation with the next length, unless that annotation belongs to another row.
func (v *llvmView) has(s *site, at uint32) bool {
	found, code := false, uint32(0)
	for n := (notes{b: s.notes}); len(n.b) > 0 && !n.bad; {
		switch op := n.number(); op {
		case noteCodeOffset, noteAddCode:
			code += n.number()
			found = found || at >= code
		case noteCodeAndLine:
			code += n.number() & 15
			found = found || at >= code
		case noteLength:
			code += n.number()
			if found && at < code {
				return true
			}
			found = false
		case noteLengthAndCode:
			length := n.number()
			code += n.number()
			if at >= code && at < code+length {
				return true
			}
			found = false
		case noteCodeBase, noteFile, noteAddLine, noteAddEndLine, noteRangeKind, noteColumn, noteAddColumn, noteEndColumn:
			n.number()
		default:
			return false
		}
	}
	return false
}

// line returns the place in an inlined call. A piece of code begins where the previous one ended, whatever lies
// between, and has a line if there was an annotation for one. Code in no piece has the last line. The first
// file of a module cannot be named.
func (v *llvmView) line(lines *moduleLines, s *site, at uint32) frame {
	const none = 1 << 31 // no offset and no line
	where := lines.inlinees[s.inlinee]
	place := func(file, line uint32) frame { return frame{v.name(file), where.line + line} }
	code, from, to := uint32(0), uint32(none), uint32(none)
	line, own, next := uint32(0), uint32(none), uint32(none)
	file, nextFile := where.file, uint32(none)
	move := func(delta uint32) {
		if from == none {
			from = code
		} else if to == none {
			to = from + delta
		}
	}
	add := func(delta int32) {
		if line += uint32(delta); from == none || own == none {
			own = line
		} else {
			next = line
		}
	}
	for n := (notes{b: s.notes}); len(n.b) > 0 && !n.bad; {
		switch op, value := n.number(), n.number(); op {
		case noteCodeOffset, noteCodeBase, noteAddCode:
			code += value
			move(value)
		case noteLength:
			move(value)
		case noteLengthAndCode:
			delta := n.number()
			code += delta
			move(delta)
			move(value)
		case noteAddLine:
			add(signed(value))
		case noteCodeAndLine:
			code += value & 15
			move(value & 15)
			add(signed(value >> 4))
		case noteFile:
			if at := value; at == 0 { // the first file, which stands for the file of the inlined function
				value = where.file
			} else {
				value = lines.file(at)
			}
			if from == none {
				file = value
			} else {
				nextFile = value
			}
		case 0:
			n.bad = true
		}
		if from == none || to == none || own == none {
			continue
		}
		if from <= at && at < to {
			return place(file, own)
		}
		if nextFile != none {
			file = nextFile
		}
		if next != none {
			own = next
		}
		from, to, next, nextFile = to, none, none, none
	}
	return place(file, line)
}

// answer is what llvm-symbolizer may answer for an address in a function: the frames of the calls, innermost
// first, and the lines of the function. It picks any of these lines if the function has rows in several files,
// or several functions are folded into one.
type answer struct {
	sites []*site
	calls []frame
	lines []frame
}

func (v *llvmView) answer(m *llvmModule, p *proc, at symfmt.RVA) (a answer) {
	off := uint32(at - p.rva)
	for i := 0; i < len(p.sites) && p.sites[i].depth >= len(a.sites); i++ {
		if s := &p.sites[i]; s.depth == len(a.sites) && v.has(s, off) {
			a.sites = append(a.sites, s)
			a.calls = append([]frame{v.line(m.lines, s, off)}, a.calls...)
		}
	}
	for _, b := range m.blocks {
		if b.lo <= at && at < b.hi {
			a.lines = append(a.lines, b.line(at))
		}
	}
	if len(a.lines) == 0 {
		a.lines = []frame{{}}
	}
	return a
}

// is reports whether frames match the answer.
func (a *answer) is(frames []frame) bool {
	n := len(a.calls)
	return len(frames) == n+1 && slices.Equal(frames[:n], a.calls) && slices.Contains(a.lines, frames[n])
}

// line returns the line of the first row at an address, or of the last row before it.
func (b *llvmBlock) line(at symfmt.RVA) frame {
	i := sort.Search(len(b.rows), func(i int) bool { return b.rows[i].at >= at })
	if i == len(b.rows) || b.rows[i].at > at {
		i = max(i-1, 0)
	}
	return b.rows[i].frame
}

// place is a function and the module that contains its record.
type place struct {
	m *llvmModule
	p *proc
}

// why returns the reasons why llvm-symbolizer has different frames; an unexplained difference is "".
func (v *llvmView) why(places []place, at symfmt.RVA, got, want []frame) []string {
	folded := false
	for _, x := range places {
		a := v.answer(x.m, x.p, at)
		if why, ok := v.explain(x, &a, at, got, want); ok && a.is(want) {
			return why
		}
		folded = folded || a.is(want)
	}
	if folded && slices.ContainsFunc(places, func(x place) bool { return v.isHere(x, at, got) }) {
		return []string{whyFolded}
	}
	return []string{""}
}

// isHere reports whether frames are those in the records of a function.
func (v *llvmView) isHere(x place, at symfmt.RVA, got []frame) bool {
	levels, _ := v.levels(x, at)
	if len(levels) != len(got) {
		return false
	}
	for k := range levels {
		of := at
		if k+1 < len(levels) {
			of = levels[k+1].rows[0].lo
		}
		if !sameFrame(got[len(got)-1-k], v.place(levels[k].rows, of)) {
			return false
		}
	}
	return true
}

// steps reports whether the row at an address has a number that says how to step.
func (v *llvmView) steps(x place, at symfmt.RVA) bool {
	levels, _ := v.levels(x, at)
	r, _ := rowAt(levels[0].rows, at)
	return r.line == lineStepOver || r.line == lineStepInto
}

// place returns the file and the line of an address.
func (v *llvmView) place(rows []row, at symfmt.RVA) frame {
	r, _ := rowAt(rows, at)
	return frame{v.name(r.file), r.line}
}

// Reasons why llvm-symbolizer's answer differs from the records.
const (
	whyOpenRow  = "rows without a length before one with its length, as Microsoft's compiler writes them: they reach to the next row, and LLVM leaves them out"
	whyInOpen   = "a call in rows that LLVM leaves out"
	whyOutside  = "code of a call outside its caller's code, which is left out here"
	whyPieces   = "LLVM's line of a call is not of the row at the address: a row without an annotation of its line, or behind a gap, has another one's"
	whyBlocks   = "a function in several files, or several functions in one place: LLVM takes a row of another one"
	whyTwice    = "two rows at one address: the last counts here, the first for LLVM; a row without code describes nothing"
	whyNoFile   = "a file without a name, which a FILE record must have"
	whyStepping = "a number that is not a line but says how to step"
	whyFolded   = "several functions in one place: the first module's here, the one of the section contribution for LLVM"
	whyCall     = "a call has one place, the caller's row at its first address; LLVM has the caller's row at the address asked for"
)

// explain traces the differences between frames to the records of a function. It reports false if the frames
// here are not those of the records.
func (v *llvmView) explain(x place, a *answer, at symfmt.RVA, got, want []frame) (reasons []string, ok bool) {
	levels, outside := v.levels(x, at)
	if len(levels) != len(got) {
		return nil, false // of another function
	}
	common := 0
	for common < len(a.sites) && common+1 < len(levels) && levels[common+1].site == a.sites[common] {
		common++
	}
	switch {
	case common+1 < len(levels):
		if !levels[common+1].open {
			return nil, false
		}
		if reasons = append(reasons, whyOpenRow); len(levels) > common+2 {
			reasons = append(reasons, whyInOpen)
		}
	case common < len(a.sites):
		if !outside[a.sites[common]] {
			return nil, false
		}
		reasons = append(reasons, whyOutside)
	}
	for k := range common + 1 {
		g, w := got[len(got)-1-k], want[len(want)-1-k]
		if g == w {
			continue
		}
		why := v.whyLine(x.m, levels, k, at, g, w)
		if why == "" {
			return nil, false
		}
		reasons = append(reasons, why)
	}
	return reasons, len(reasons) > 0
}

// codeLevel is a function or an inlined call that has code at an address.
type codeLevel struct {
	site *site // nil for the function
	rows []row
	open bool // the row at the address has no length
}

// levels returns the function and the inlined calls at an address, the function first, and the calls that
// contain the address although their callers do not.
func (v *llvmView) levels(x place, at symfmt.RVA) (levels []codeLevel, outside map[*site]bool) {
	lines, p := x.m.lines, x.p
	levels = []codeLevel{{rows: lines.of(nil, p.rva, p.rva+symfmt.RVA(p.size))}}
	outside = map[*site]bool{}
	in := []bool{true} // the last call of each depth, after the function
	for i := range p.sites {
		s := &p.sites[i]
		rows := slices.Clone(lines.expand(p, s))
		r, covers := rowAt(rows, at)
		outside[s] = covers && !in[s.depth]
		covers = covers && in[s.depth]
		if in = append(in[:s.depth+1], covers); covers {
			open := slices.ContainsFunc(lines.annotated(nil, p, s), func(a row) bool { return a.lo == r.lo && a.hi == 0 })
			levels = append(levels[:s.depth+1], codeLevel{s, rows, open})
		}
	}
	return levels, outside
}

// whyLine returns why a frame here, g, differs from LLVM's, w, or "".
func (v *llvmView) whyLine(m *llvmModule, levels []codeLevel, k int, at symfmt.RVA, g, w frame) string {
	switch here := v.place(levels[k].rows, at); {
	case sameFrame(g, w):
		return whyNoFile
	case w.line == lineStepOver || w.line == lineStepInto:
		return whyStepping
	case sameFrame(g, here) && k > 0:
		return whyPieces
	case sameFrame(g, here) && m.hasTwice(at, g, w):
		return whyTwice
	case sameFrame(g, here):
		return whyBlocks
	case k+1 < len(levels) && sameFrame(g, v.place(levels[k].rows, levels[k+1].rows[0].lo)):
		return whyCall
	}
	return ""
}

// hasTwice reports whether the last rows at or before an address have both lines.
func (m *llvmModule) hasTwice(at symfmt.RVA, g, w frame) bool {
	return slices.ContainsFunc(m.blocks, func(b llvmBlock) bool {
		var last symfmt.RVA
		var there []frame
		for _, r := range b.rows {
			if r.at <= at && r.at != last {
				there, last = nil, r.at
			}
			if r.at == last {
				there = append(there, r.frame)
			}
		}
		return slices.Contains(there, g) && slices.Contains(there, w)
	})
}

// places returns a function that finds the functions with the code at an address.
func (v *llvmView) places() func(symfmt.RVA) []place {
	all := map[symfmt.RVA][]place{} // by page
	for i := range v.modules {
		m := &v.modules[i]
		for k := range m.procs {
			p := &m.procs[k]
			for page := p.rva >> 12; page <= (p.rva+symfmt.RVA(p.size))>>12; page++ {
				all[page] = append(all[page], place{m, p})
			}
		}
	}
	return func(at symfmt.RVA) (found []place) {
		for _, x := range all[at>>12] {
			if x.p.rva <= at && at < x.p.rva+symfmt.RVA(x.p.size) {
				found = append(found, x)
			}
		}
		return found
	}
}
