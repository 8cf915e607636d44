package dwarf2sym

import (
	"context"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/lookup"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// withOpenSymbol extends code to the symbol whose function may continue in it; see funcs.Func.Tail.
func (l *Lookup) withOpenSymbol(s dwarf.Span) dwarf.Span {
	rva := l.r.code.RVA(s.Lo)
	if sym, ok := (*l.symbols.Load()).OpenBefore(rva); ok {
		if at, _ := l.symbolUpTo(rva); at.RVA != rva {
			return l.extended(s, sym)
		}
	}
	return s
}

// extended extends code back to a symbol before it.
func (l *Lookup) extended(s dwarf.Span, to publics.Symbol) dwarf.Span {
	if lo := l.r.code.Addr(to.RVA); l.r.code.Together(lo, s.Lo) {
		s.Lo = min(s.Lo, lo)
	}
	return s
}

// better returns an index with more code than the inexact index than, or that index if the context ends.
func (l *Lookup) better(ctx context.Context, than *lookup.Index) *lookup.Index {
	if than.Origin != lookup.Listed {
		return l.makeExact(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.unitIndex.Load()
	if o.Origin == lookup.Listed {
		declared := l.newUnitIndex(ctx, lookup.Declared, l.allPortions())
		if ctx.Err() != nil {
			return o
		}
		o = declared
		l.unitIndex.Store(o)
	}
	return o
}

// makeExact returns the index of all functions, which is made only once. If the context ends meanwhile, the index stays
// what it is.
func (l *Lookup) makeExact(ctx context.Context) *lookup.Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.unitIndex.Load()
	if o.Exact() || ctx.Err() != nil {
		return o
	}
	if t, ok := (*l.symbols.Load()).(*publics.Table); ok {
		l.useSymbols(t.All())
	}
	portions := l.allPortions()
	effort := &dwarf.Effort{Limit: l.d.Effort.Limit}
	workers := make([]*funcs.Worker, l.r.jobs)
	all := lookup.NewBuilder(portions)
	err := par.Ordered(ctx, len(workers), len(portions), func(_ context.Context, worker, p int) (found indexedUnits, _ error) {
		w := workers[worker]
		if w == nil {
			w = l.newWorker(effort)
			w.Wants, w.Indexing = func(dwarf.Span) bool { return false }, true
			workers[worker] = w
		}
		l.read(w, &portions[p])
		found.funcs = lookup.Funcs(w, int32(p), &portions[p], l.codeOf)
		found.problems, found.elsewhere = w.Problems, w.Elsewhere
		w.Records = funcs.NewRecords()
		return found, nil
	}, func(_ int, found indexedUnits) error {
		if len(found.funcs) == 0 { // it will not be read again
			l.noteUnit(&found.problems, &found.elsewhere)
		}
		for _, f := range found.funcs {
			all.Add(f)
		}
		return nil
	})
	if ctx.Err() != nil {
		return o
	}
	if effort.Over() {
		return l.giveUp()
	}
	if err != nil {
		l.note([]symfmt.Problem{{Lost: "all functions", Err: err}})
	}
	o = all.Index()
	l.unitIndex.Store(o)
	return o
}

// indexedUnits holds what an index needs of a portion.
type indexedUnits struct {
	funcs               []lookup.Func
	problems, elsewhere units.Problems
}

// codeOf returns the code that a function depends on.
func (l *Lookup) codeOf(f *funcs.Func) dwarf.Span {
	code := dwarf.Span{Lo: f.Addr, Hi: f.Addr + f.Size}
	if f.Tail {
		if sym, ok := publics.Before(*l.symbols.Load(), l.r.code.RVA(f.Addr)); ok {
			code = l.extended(code, sym)
		}
	}
	return code
}

// worthIndex reports whether so much was or will be read that the exact index pays off: units whose code
// is also in other units are read again for each piece of it. For Ceph's OSD, 30 addresses spread over the
// file need a quarter of it.
func (l *Lookup) worthIndex(more int64) bool {
	return l.done.Load()+more > (l.d.Info.Size()+l.split.Size)/4
}

// giveUp reports that reading takes too much work, and drops all functions, as Read does. The caller holds
// l.mu.
func (l *Lookup) giveUp() *lookup.Index {
	if !l.gaveUp.Swap(true) {
		l.note([]symfmt.Problem{l.d.TooMuchWork()})
	}
	o := lookup.New(lookup.Exact, nil, nil)
	l.unitIndex.Store(o)
	return o
}
