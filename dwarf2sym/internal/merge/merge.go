// Package merge joins the records of all workers into the FUNCs of a module. They are sorted by address and by the
// offset of their DIE, then conflicts are resolved (merge.go), and only then are names, files and origins numbered
// (names.go), so that nothing depends on which worker read which unit.
package merge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/names"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// Input is what Module joins.
type Input struct {
	Code    *codemap.Map
	Symbols []publics.Symbol // of the whole file; their names are replaced by numbers
	Records []*funcs.Records
	Names   *intern.Table // of the records, by JoinNames
	Form    NameForm
	Jobs    int
	Scratch *object.Scratch // memory for bodies; nil for Go's memory
	Places  bool            // Result.Places is wanted
}

// Result is what there is to say about a joined module.
type Result struct {
	Stats  Stats
	Places []varjoin.Place // the functions from which FUNCs were made, if wanted
	Costly bool            // a name stays mangled, as demangling would take too much work

	names *nameJoin
}

// merger joins records.
type merger struct {
	*Input
	Result

	funcs   []funcs.Func
	multi   []bool // funcs[i] stands for several functions with the same code
	arena   symfmt.Arena
	builder symfmt.BodyBuilder
	clips   int // number of records that clipBody may still examine
}

// Stats counts what a merger did.
type Stats struct {
	Inlines, Lines int // records
	FoldedFuncs    int // functions left out in favour of another one at the same address
	CutFuncs       int // parts of functions that overlapped others
	LostBodies     int // those of CutFuncs whose lines were not looked up
}

// countBody counts the records of a function while it is being processed: examining all of them
// again would bring all of a large file into memory.
func (s *Stats) countBody(b symfmt.Body) {
	inlines, lines := b.Counts()
	s.Inlines += inlines
	s.Lines += lines
}

// compareFuncs orders by address, then by the offset of the DIE, then by size.
func compareFuncs(a, b funcs.Func) int {
	switch { // takes half the time of cmp.Or, which compares all three
	case a.Addr != b.Addr:
		return cmp.Compare(a.Addr, b.Addr)
	case a.Key != b.Key:
		return cmp.Compare(a.Key, b.Key)
	case a.Sub != b.Sub:
		return cmp.Compare(a.Sub, b.Sub)
	}
	return cmp.Compare(a.Size, b.Size)
}

// Module fills in the FUNCs of a module, and the files and origins that they use.
func Module(ctx context.Context, to *symfmt.Module, in *Input) (*Result, error) {
	m := &merger{Input: in}
	err := par.Each(ctx, in.Jobs, 2, func(ctx context.Context, _, item int) (err error) {
		if item == 0 {
			m.names, err = finishNames(ctx, in)
		} else {
			m.gather()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	to.Funcs = m.join(newNumbering(to, m.names, in.Records))
	m.Costly = m.names.costly.Load()
	return &m.Result, nil
}

// gather collects and sorts the workers' records. It extends the longest list in place if there is room for the
// others.
func (m *merger) gather() {
	total := 0
	var most *funcs.Records
	for i, r := range m.Records {
		for k := range r.Funcs {
			r.Funcs[k].Worker = uint16(i)
		}
		if total += len(r.Funcs); most == nil || len(r.Funcs) > len(most.Funcs) {
			most = r
		}
	}
	if most == nil {
		return
	}
	m.funcs = slices.Grow(most.Funcs, total-len(most.Funcs))
	most.Funcs = nil
	for _, r := range m.Records {
		m.funcs = append(m.funcs, r.Funcs...)
		r.Funcs = nil
	}
	slices.SortFunc(m.funcs, compareFuncs)
}

// join returns the gathered records as FUNCs in order of address, without overlaps.
func (m *merger) join(n *numbering) []symfmt.Func {
	m.fold()
	m.arena = NewArena(m.Scratch)
	m.cut()
	out := make([]symfmt.Func, 0, len(m.funcs))
	for i := range m.funcs {
		f := &m.funcs[i]
		n.number(f)
		m.Stats.countBody(f.Body)
		if f.Tail {
			out = m.appendTail(out, f)
			continue
		}
		rva := m.Code.RVA(f.Addr)
		// The linker may have dropped the DIEs of functions that it folded.
		sym := publics.FindSymbol(m.Symbols, rva)
		if m.Input.Places {
			m.Result.Places = append(m.Result.Places, varjoin.Place{RVA: rva, FuncID: varjoin.FuncID{Key: f.Key, Sub: f.Sub}})
		}
		out = append(out, symfmt.Func{
			RVA: rva, Size: f.Size, Name: m.funcName(f, sym, m.multi[i]),
			Multiple: m.multi[i] || sym != nil && sym.Multiple, Body: f.Body,
		})
		m.passed(i)
	}
	return out
}

// dropFuncs is the number of functions after which the memory of their bodies is released: a function of a large file
// takes 200 bytes.
const dropFuncs = 16 << 10

// passed records that function i and its body have been examined.
func (m *merger) passed(i int) {
	if m.Scratch != nil && i%dropFuncs == 0 {
		m.Scratch.Drop()
	}
}

// NewArena returns an arena in scratch or, if scratch is nil, in Go's memory.
func NewArena(scratch *object.Scratch) symfmt.Arena {
	if scratch == nil {
		return symfmt.Arena{}
	}
	return symfmt.Arena{Alloc: scratch.Alloc}
}

// fold keeps one function at each address. Functions with the same address and size but different names were folded
// by the linker: the record gets its m (the labels of an assembly function do not count as such names). gold leaves
// the local symbol of only one of them, BOLT the lines and inlines of only one: that one is kept, otherwise the one
// whose DIE comes first. Where sizes differ, one of them no longer exists (a dropped function whose address became
// that of real code at 0): the ELF symbol at the address decides, then the order.
func (m *merger) fold() {
	n := 0
	m.multi = make([]bool, 0, len(m.funcs))
	for i := 0; i < len(m.funcs); {
		k := i + 1
		for k < len(m.funcs) && m.funcs[k].Addr == m.funcs[i].Addr {
			k++
		}
		best := i
		if k > i+1 {
			best = m.best(i, k)
		}
		multi := false
		for j := i; j < k; j++ {
			multi = multi || foldedFuncs(&m.funcs[j], &m.funcs[best])
		}
		m.Stats.FoldedFuncs += k - i - 1
		m.funcs[n] = m.funcs[best]
		m.multi = append(m.multi, multi)
		n++
		i = k
	}
	m.funcs = m.funcs[:n]
}

// foldedFuncs reports whether a and b, at the same address, are different functions.
func foldedFuncs(a, b *funcs.Func) bool {
	return a.Size == b.Size && a.Name != b.Name && a.Named != funcs.Nameless && b.Named != funcs.Nameless && !a.Label && !b.Label
}

// best returns the index of the function that really exists among funcs[i:k], which are all at the same address.
func (m *merger) best(i, k int) int {
	sym := publics.FindSymbol(m.Symbols, m.Code.RVA(m.funcs[i].Addr))
	best, bestScore := i, -1
	for j := i; j < k; j++ {
		if score := m.score(&m.funcs[j], sym); score > bestScore {
			best, bestScore = j, score
		}
	}
	return best
}

// score returns the weight of the evidence for f among the functions at its address. sym is the symbol at that
// address, or nil.
func (m *merger) score(f *funcs.Func, sym *publics.Symbol) int {
	score := 0
	if f.Named != funcs.Nameless {
		score = 1
	}
	if f.Inlined {
		score += 4
	}
	if sym == nil {
		return score
	}
	if m.isCalled(f, sym) {
		score += 2
		if sym.Alone { // gold drops the local symbols of functions that it folds
			score += 8
		}
	}
	if f.Size == sym.Size {
		score += 16
	}
	return score
}

// isCalled reports whether sym has the name of f. A name composed from scopes has no parameters.
func (m *merger) isCalled(f *funcs.Func, sym *publics.Symbol) bool {
	switch f.Named {
	case funcs.Named:
		return f.Name == names.ID(sym.ID)
	case funcs.Scoped:
		rest, ok := strings.CutPrefix(m.names.source(names.ID(sym.Linkage)), m.names.source(f.Name))
		return ok && (rest == "" || rest[0] == '(')
	}
	return false
}

// appendTail appends the end of a function whose code comes from several units or is only partly described. The end
// is joined to the function at its symbol if that is the last one in out, or becomes the only part of it that has
// lines. If another function begins between the two, the end becomes a function of its own, or is dropped if the
// symbol does not extend that far.
func (m *merger) appendTail(out []symfmt.Func, f *funcs.Func) []symfmt.Func {
	rva := m.Code.RVA(f.Addr)
	sym, ok := publics.Before(publics.Sorted(m.Symbols), rva)
	if !ok {
		return out
	}
	tail := symfmt.Func{RVA: rva, Size: f.Size, Body: f.Body}
	whole := symfmt.Func{RVA: sym.RVA, Name: m.names.final(names.ID(sym.ID)), Multiple: sym.Multiple}
	if n := len(out); n > 0 {
		last := out[n-1]
		switch end := last.RVA + symfmt.RVA(last.Size); {
		case last.RVA == sym.RVA && end <= rva:
			whole, out = last, out[:n-1]
		case end > sym.RVA && sym.Size == 0:
			return out
		case end > sym.RVA:
			whole.RVA = rva
		}
	}
	whole.Body = m.joinBodies(&whole, &tail)
	whole.Size = uint64(rva-whole.RVA) + tail.Size
	return append(out, whole)
}

// joinBodies packs the records of two functions into the body of one that starts where whole does. A line that
// continues in tail becomes one record.
func (m *merger) joinBodies(whole, tail *symfmt.Func) symfmt.Body {
	m.builder.Reset(whole.RVA)
	var open symfmt.Line
	for _, part := range []*symfmt.Func{whole, tail} {
		for in := range part.Inlines() {
			m.builder.AddInline(in)
		}
		for l := range part.Lines() {
			if open.RVA+symfmt.RVA(open.Size) == l.RVA && open.Num == l.Num && open.File == l.File {
				open.Size += l.Size
				continue
			}
			if open.Size > 0 {
				m.builder.AddLine(open)
			}
			open = l
		}
	}
	if open.Size > 0 {
		m.builder.AddLine(open)
	}
	return m.builder.Finish(&m.arena)
}

// cut resolves overlaps: each address belongs to the function that starts last, and the others keep what is left on
// either side.
func (m *merger) cut() {
	if !m.overlaps() {
		return
	}
	m.allowClips()
	in, multi := m.funcs, m.multi
	m.funcs, m.multi = make([]funcs.Func, 0, len(in)), make([]bool, 0, len(in))
	var open []int // functions whose end has not been reached, innermost last
	at := uint64(0)
	// upTo assigns the code up to addr to the open functions.
	upTo := func(addr uint64) {
		for len(open) > 0 {
			f := &in[open[len(open)-1]]
			end := f.Addr + f.Size
			if lo, hi := max(at, f.Addr), min(end, addr); lo < hi {
				m.piece(f, multi[open[len(open)-1]], lo, hi)
				at = hi
			}
			if end > addr {
				return
			}
			open = open[:len(open)-1]
		}
	}
	for i := range in {
		upTo(in[i].Addr)
		at = in[i].Addr
		open = append(open, i)
	}
	upTo(^uint64(0))
}

func (m *merger) overlaps() bool {
	for i := 1; i < len(m.funcs); i++ {
		if p := &m.funcs[i-1]; p.Addr+p.Size > m.funcs[i].Addr {
			return true
		}
	}
	return false
}

// piece appends the part [lo, hi) of f.
func (m *merger) piece(f *funcs.Func, multi bool, lo, hi uint64) {
	part := *f
	if lo != f.Addr || hi != f.Addr+f.Size {
		m.Stats.CutFuncs++
		part.Addr, part.Size = lo, hi-lo
		part.Body = m.clipBody(f, lo, hi)
	}
	m.funcs = append(m.funcs, part)
	m.multi = append(m.multi, multi)
}

// allowClips sets the limit on work for functions that are cut: in a damaged file, each of many functions may be
// inside one that has all lines. In real programs, nested functions leave two or three pieces of a function.
func (m *merger) allowClips() {
	m.clips = 1 << 20
	for i := range m.funcs {
		inlines, lines := m.funcs[i].Body.Counts()
		m.clips += 16 * (inlines + lines)
		m.passed(i)
	}
}

// clipBody packs the parts of f's records that are in [lo, hi).
func (m *merger) clipBody(f *funcs.Func, lo, hi uint64) symfmt.Body {
	inlines, lines := f.Body.Counts()
	if m.clips -= inlines + lines; m.clips < 0 {
		m.Stats.LostBodies++
		return symfmt.Body{}
	}
	whole := symfmt.Func{RVA: m.Code.RVA(f.Addr), Size: f.Size, Body: f.Body}
	from, to := m.Code.RVA(lo), m.Code.RVA(hi)
	clip := func(rva symfmt.RVA, size uint64) (symfmt.Range, bool) {
		a, b := max(rva, from), min(rva+symfmt.RVA(size), to)
		return symfmt.Range{RVA: a, Size: uint64(b - a)}, a < b
	}
	m.builder.Reset(from)
	for in := range whole.Inlines() {
		kept := in.Ranges[:0]
		for _, r := range in.Ranges {
			if r, ok := clip(r.RVA, r.Size); ok {
				kept = append(kept, r)
			}
		}
		if in.Ranges = kept; len(kept) > 0 {
			m.builder.AddInline(in)
		}
	}
	for l := range whole.Lines() {
		if r, ok := clip(l.RVA, l.Size); ok {
			l.RVA, l.Size = r.RVA, r.Size
			m.builder.AddLine(l)
		}
	}
	return m.builder.Finish(&m.arena)
}

// funcName returns the name to write: the linkage name in the debug information; otherwise the mangled ELF symbol at
// the address, which is more precise than a name composed from scopes; otherwise the composed name; otherwise any
// symbol's. If f is one of several folded functions, the symbol may belong to another one.
func (m *merger) funcName(f *funcs.Func, sym *publics.Symbol, multi bool) string {
	if f.Named == funcs.Named {
		return m.names.final(f.Name)
	}
	switch {
	case f.Named == funcs.Scoped:
		if sym != nil && sym.Mangled && !sym.Multiple && (!multi || m.isCalled(f, sym)) {
			return m.names.final(names.ID(sym.Linkage))
		}
		return m.names.final(f.Name)
	case sym != nil:
		return m.names.final(names.ID(sym.ID))
	}
	return funcs.NoName
}
