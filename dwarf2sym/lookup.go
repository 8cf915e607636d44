package dwarf2sym

import (
	"cmp"
	"context"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/lookup"
	"github.com/symtool/symtool/dwarf2sym/internal/merge"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/once"
	"github.com/symtool/symtool/symfmt"
)

// Lookup reads from a binary only what single addresses need. Its results for an address match the Module of Read:
// see "Single addresses" in the package documentation.
//
// All methods except Close may be called concurrently. When the context of one ends, reading ends between two units; its
// result is then incomplete, and is not kept for later calls.
type Lookup struct {
	r       *reader
	opts    Options
	d       *units.Data // nil without DWARF
	mapped  bool        // the functions are in the objects from which the file was linked
	split   *funcs.Split
	extents symfmt.Extents
	symbols atomic.Pointer[publics.Finder] // a Table, until the index is exact
	entries *publics.Entries

	unitIndex atomic.Pointer[lookup.Index]
	index     *dwarf.CodeIndex // nil if there is none

	done   atomic.Int64 // bytes of .debug_info read so far, including repeated reads
	gaveUp atomic.Bool  // reading takes too much work, so there are no functions

	mu        sync.Mutex // while the index is confirmed or replaced
	confirmed int        // number of units known to be listed or not listed in the index

	idleMu sync.Mutex
	idle   []*funcs.Worker // with the storage they have used

	sources sources

	frames     frames
	declared   once.Value[*lookup.Index] // of the code that units declare
	undeclared once.Value[bool]          // units that declare no code have some
	costly     sync.Once                 // reports names that stay mangled

	damageMu sync.Mutex
	damage   []symfmt.Problem
	noted    map[string]bool // by message
}

// OpenLookup opens a Lookup for an open file and the files in Options that belong to it, all of which must stay open
// until the Lookup is closed. It ignores options that only affect what is written.
func OpenLookup(ctx context.Context, binary symfmt.Binary, o Options) (*Lookup, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	l := &Lookup{opts: o}
	r, err := newReader(binary, &l.opts)
	if err != nil {
		return nil, err
	}
	r.partly = true
	l.sources.kept.Limit = heldSources
	l.r = r
	if err := r.checkTypes(); err != nil {
		return nil, err
	}
	if err := r.findFiles(); err != nil {
		return nil, err
	}
	r.identify()
	r.code = r.codeMap()
	l.readSymbols()
	addCode(&l.extents, r.file)
	if !o.NoFuncs {
		l.d = r.openDebugData()
	}
	if l.d != nil {
		l.openUnits(ctx)
	} else {
		l.mapped = !o.NoFuncs && len(r.debugMap()) > 0
		l.unitIndex.Store(lookup.New(lookup.Exact, nil, nil))
	}
	r.reportRelocations()
	l.note(r.sortedProblems())
	r.problems = nil
	return l, ctx.Err()
}

func (l *Lookup) newWorker(e *dwarf.Effort) *funcs.Worker {
	w := funcs.New(l.d, l.r.code, l.opts.funcs())
	w.Symbols, w.Split, w.Effort = *l.symbols.Load(), l.split, e
	return w
}

func (l *Lookup) readSymbols() {
	t, entries, problems := publics.OpenTable(l.r.file.Base, l.r.files)
	l.entries = entries
	l.r.fileProblems(problems)
	l.useSymbols(t)
}

func (l *Lookup) useSymbols(f publics.Finder) { l.symbols.Store(&f) }

// symbolUpTo returns the last symbol at or before an address. It reports false if there is none.
func (l *Lookup) symbolUpTo(rva symfmt.RVA) (publics.Symbol, bool) {
	return (*l.symbols.Load()).UpTo(rva)
}

// idleWorker returns a worker to read one group with.
func (l *Lookup) idleWorker() *funcs.Worker {
	e := &dwarf.Effort{Limit: l.d.Effort.Limit}
	l.idleMu.Lock()
	defer l.idleMu.Unlock()
	n := len(l.idle) - 1
	if n < 0 {
		return l.newWorker(e)
	}
	w := l.idle[n]
	w.Symbols = *l.symbols.Load()
	l.idle = l.idle[:n]
	*w.Meter = dwarf.Meter{Effort: e}
	return w
}

// keep returns a worker to the pool for other groups.
func (l *Lookup) keep(w *funcs.Worker) {
	w.Reset()
	l.idleMu.Lock()
	defer l.idleMu.Unlock()
	l.idle = append(l.idle, w)
}

// Close releases the Lookup's memory. It does not close its files.
func (l *Lookup) Close() {
	if l.d != nil {
		l.split.Close()
		l.d.Release()
	}
}

// Memory returns roughly how many bytes are held, apart from the files: most are for symbols and call frame
// information, in proportion to the sections.
func (l *Lookup) Memory() int64 {
	const atLeast, forSymbols, forFrames = 100 << 10, 4, 3
	n := int64(atLeast)
	for _, c := range l.r.files {
		for _, s := range c.Sections {
			switch s.Name {
			case ".symtab", ".strtab", ".dynsym", ".dynstr":
				n += forSymbols * s.Size()
			case ".eh_frame", ".debug_frame":
				n += forFrames * s.Size()
			}
		}
	}
	return n
}

// Module returns a Module with only MODULE and INFO.
func (l *Lookup) Module() *symfmt.Module { return &l.r.module }

// Mapped reports whether the functions are in the objects from which a Mach-O file was linked. A Lookup does not look
// them up; use Read.
func (l *Lookup) Mapped() bool { return l.mapped }

// Extents returns the extents of the code. It has no PUBLICs; Public returns their sizes.
func (l *Lookup) Extents() *symfmt.Extents { return &l.extents }

// Area is a piece of code. Read of its Group returns everything that the file has on it.
type Area struct {
	First, Last symfmt.RVA
	Group       Group
}

// Group identifies the units that must be read together for the functions of an Area. Groups are comparable.
type Group struct{ g *lookup.Group }

// Areas returns the code in [first, last] that may have functions, in order of address. Unless first equals last, the
// caller may rely only on the functions: their lines and inlined functions may be left out.
func (l *Lookup) Areas(ctx context.Context, first, last symfmt.RVA) (out []Area) {
	lo, hi := l.r.code.Addr(first), l.r.code.Addr(last)
	o := l.unitIndex.Load()
	if !o.Exact() && l.worthIndex(0) {
		o = l.makeExact(ctx)
	}
	for !o.Exact() && !o.Covers(lo, hi) && l.r.code.Touches(lo, hi) && ctx.Err() == nil {
		o = l.better(ctx, o)
	}
	for code, g := range o.Areas(lo, hi) {
		out = append(out, Area{l.r.code.RVA(code.Lo), l.r.code.RVA(code.Hi - 1), Group{g}})
	}
	return out
}

// Detail reports whether there are functions, and whether any of them has a source file, as in the result of Read. It
// reads units until one has.
func (l *Lookup) Detail(ctx context.Context) (functions, files bool) {
	for {
		o := l.unitIndex.Load()
		for _, g := range l.bySize(o.Groups()) {
			m, ok := l.Read(ctx, Group{g})
			if !ok {
				break
			}
			functions = functions || len(m.Funcs) > 0
			if len(m.Files) > 0 {
				return true, true
			}
		}
		if o.Exact() || ctx.Err() != nil {
			return functions, false
		}
		l.better(ctx, o)
	}
}

// bySize sorts groups so that the cheapest comes first: the one that needs the least inflating, then the one with the
// smallest units.
func (l *Lookup) bySize(groups []*lookup.Group) []*lookup.Group {
	missing := func(*lookup.Group) int64 { return 0 }
	if l.d != nil && l.d.Gradual {
		ready := l.d.Info.(object.Gradual).Ready()
		missing = func(g *lookup.Group) int64 {
			return max(0, g.End()-ready)
		}
	}
	return slices.SortedFunc(slices.Values(groups), func(a, b *lookup.Group) int {
		return cmp.Or(cmp.Compare(missing(a), missing(b)), cmp.Compare(a.Size(), b.Size()))
	})
}

// Order returns the indices of addresses in the order in which they should be looked up, one slice for each group. If
// there are many addresses, later calls read only what these need.
func (l *Lookup) Order(ctx context.Context, at []symfmt.RVA) (pieces [][]int) {
	o, addrs := l.unitIndex.Load(), make([]uint64, len(at))
	for i, rva := range at {
		addrs[i] = l.r.code.Addr(rva)
	}
	if !o.Exact() && l.worthIndex(o.Size(addrs)) {
		o = l.makeExact(ctx)
	}
	return o.Order(addrs)
}

// Last returns the last address that any record of Read covers.
func (l *Lookup) Last(ctx context.Context) (last symfmt.RVA) {
	if end := l.makeExact(ctx).End(); end > 0 {
		last = l.r.code.RVA(end - 1)
	}
	if x := l.rules(ctx, 0, math.MaxUint64); x != nil {
		if end, ok := x.Last(); ok {
			last = max(last, end)
		}
	}
	if s, ok := l.symbolUpTo(math.MaxUint64); ok {
		last = max(last, s.RVA)
	}
	return last
}

// Read returns a Module with MODULE, INFO, the FUNCs of the areas of a group, and the files and origins that they use.
// It reports false if the areas turned out to differ from those that Areas returned: the caller must then call Areas
// again, unless the context has ended.
func (l *Lookup) Read(ctx context.Context, from Group) (*symfmt.Module, bool) {
	o, g := l.unitIndex.Load(), from.g
	if !l.ready(ctx, o, g) {
		return nil, false
	}
	w := l.idleWorker()
	defer l.keep(w)
	for p, filter := range g.Filters() {
		first := len(w.Funcs)
		w.Filter = filter
		if ctx.Err() != nil || !l.readPortion(w, &o.Portions[p]) {
			return nil, false
		}
		for i := first; i < len(w.Funcs) && !o.Exact(); i++ {
			if !o.Has(l.codeOf(&w.Funcs[i]), p) {
				l.better(ctx, o)
				return nil, false
			}
		}
	}
	w.Funcs = slices.DeleteFunc(w.Funcs, func(f funcs.Func) bool { return !g.Has(dwarf.Span{Lo: f.Addr, Hi: f.Addr}) })
	return l.join(w), true
}

// ready reports whether a group of o can be read. If not, Areas must be called again.
func (l *Lookup) ready(ctx context.Context, o *lookup.Index, g *lookup.Group) bool {
	if !g.In(o) {
		return false
	}
	if !l.confirm(o, g) {
		l.better(ctx, o)
		return false
	}
	return true
}

// read reads a portion with w, and returns its size.
func (l *Lookup) read(w *funcs.Worker, p *lookup.Portion) (n int64) {
	if p.Job < 0 {
		n = w.Batch(l.d.Only(p.Off))
	} else {
		n = w.ReadSplit(&l.split.Jobs[p.Job])
	}
	if w.Source != nil && !w.Source.Data { // the unit is known: one function is read
		n = w.Source.Size
	}
	l.d.Passed(n, nil)
	return n
}

// join returns a Module with MODULE, INFO and the functions of w.
func (l *Lookup) join(w *funcs.Worker) *symfmt.Module {
	m := l.r.module
	in := merge.Input{Code: l.r.code, Symbols: l.symbolsOf(w.Funcs), Records: []*funcs.Records{&w.Records}, Jobs: 1,
		Form: merge.NameForm{Source: l.opts.Demangle, Late: true}}
	in.Names, _ = merge.JoinNames(context.Background(), nil, in.Records, 1)
	merge.Module(context.Background(), &m, &in) // the context never ends, so there is no error
	if w.CostlyOuter {
		l.costly.Do(func() { l.note([]symfmt.Problem{costlyNames(l.r.file.Path)}) })
	}
	return &m
}

// symbolsOf returns the symbols that the functions of an area depend on: those where they start,
// and those whose functions continue in them.
func (l *Lookup) symbolsOf(funcs []funcs.Func) (out []publics.Symbol) {
	for i := range funcs {
		rva := l.r.code.RVA(funcs[i].Addr)
		if s, ok := l.symbolUpTo(rva); ok && s.RVA == rva {
			out = append(out, s)
		}
		if !funcs[i].Tail {
			continue
		}
		if s, ok := publics.Before(*l.symbols.Load(), rva); ok {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b publics.Symbol) int { return cmp.Compare(a.RVA, b.RVA) })
	return slices.CompactFunc(out, func(a, b publics.Symbol) bool { return a.RVA == b.RVA })
}

// Public is an ELF symbol that names code: a PUBLIC record in the result of Read, unless a FUNC starts there.
type Public struct {
	symfmt.Public
	Size uint64 // size of the ELF symbol, or 0
}

// Public returns the last symbol at or before an address. It reports false if there is none.
func (l *Lookup) Public(rva symfmt.RVA) (p Public, ok bool) {
	s, ok := l.symbolUpTo(rva)
	if !ok {
		return p, false
	}
	return Public{symfmt.Public{RVA: s.RVA, Name: s.Name, Multiple: s.Multiple}, s.Size}, true
}

// Name returns the name that Read would write for raw, a name in a Module of a Group or in a Public. Those names are
// as in the file, since demangling all of them takes longer than reading the units.
func (l *Lookup) Name(raw string) string {
	name, costly := demangle.AppendSource(nil, raw, l.opts.Demangle)
	if costly {
		l.costly.Do(func() { l.note([]symfmt.Problem{costlyNames(l.r.file.Path)}) })
	}
	return string(name)
}

// readPortion reads units with a worker. It reports false if that exceeded the limit on work; nothing more is read
// then.
func (l *Lookup) readPortion(w *funcs.Worker, p *lookup.Portion) bool {
	l.done.Add(l.read(w, p))
	if w.Effort.Over() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.giveUp()
		return false
	}
	l.noteUnit(&w.Problems, &w.Elsewhere)
	return true
}
