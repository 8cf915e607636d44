package dwarf2sym

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/lookup"
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/internal/lru"
	"github.com/symtool/symtool/internal/once"
	"github.com/symtool/symtool/symfmt"
)

// heldSources is the maximum number of bytes that a Lookup caches for Source.
const heldSources = 128 << 20

// sources caches the indexes that Source has made of portions, the most recently used ones.
type sources struct {
	mu   sync.Mutex
	kept lru.Cache[sourceKey, *sourceIndex]

	variables once.Value[[]srcread.Variable] // sorted by address
}

// sourceIndex is an index that is filled as addresses are looked up in it.
type sourceIndex struct {
	sync.Mutex
	srcread.Index
}

// sourceKey identifies a portion in every index.
type sourceKey struct {
	off uint64
	job int
}

// Source returns the functions at an address, innermost first, with what the debug information says about them. A
// frame without names gives the position of code that is in no function. What was read from units is cached for
// later addresses. Code that a unit has but does not declare is found only if the unit declares no code at all.
func (l *Lookup) Source(ctx context.Context, rva symfmt.RVA) []symfmt.SourceFrame {
	if l.d == nil {
		return nil
	}
	addr := l.r.code.Addr(rva)
	for ctx.Err() == nil {
		o := l.unitIndex.Load()
		g := o.At(addr)
		if g == nil {
			if l.extend(ctx, o, addr) {
				continue
			}
			if o = l.declaredIndex(ctx); o == nil { // code between functions may have lines
				return nil
			}
			if g = o.At(addr); g == nil {
				return nil
			}
		}
		if frames, ok := l.readSource(ctx, o, g, rva); ok {
			return frames
		}
	}
	return nil
}

// extend replaces o, which does not have an address, by an index that may have it. It reports false if there is
// none.
func (l *Lookup) extend(ctx context.Context, o *lookup.Index, addr uint64) bool {
	if o.Exact() || !l.r.code.Touches(addr, addr) || o.Origin == lookup.Declared && !l.haveUndeclared(ctx) {
		return false
	}
	l.better(ctx, o)
	return true
}

// haveUndeclared reports whether a unit that declares no code has some.
func (l *Lookup) haveUndeclared(ctx context.Context) bool {
	return *l.undeclared.Do(ctx, func(is *bool) { *is = l.findUndeclared(ctx) })
}

func (l *Lookup) findUndeclared(ctx context.Context) bool {
	declared := l.declaredIndex(ctx)
	if declared == nil {
		return false
	}
	w := l.newWorker(&dwarf.Effort{Limit: l.d.Effort.Limit})
	w.Wants, w.Indexing = func(dwarf.Span) bool { return false }, true
	for _, p := range declared.Silent() {
		if ctx.Err() != nil {
			break
		}
		l.read(w, p)
		if len(w.Funcs) > 0 || w.Effort.Over() {
			return true
		}
		w.Records = funcs.NewRecords()
	}
	return false
}

// readSource looks up rva in the portions of a group of o, for Source. It reports false if Areas must be called
// again.
func (l *Lookup) readSource(ctx context.Context, o *lookup.Index, g *lookup.Group, rva symfmt.RVA) (frames []symfmt.SourceFrame, ok bool) {
	if !l.ready(ctx, o, g) {
		return nil, false
	}
	for _, p := range g.Portions() {
		var known bool
		if frames, known = l.sourceIn(&o.Portions[p], l.r.code.Addr(rva), frames); !known {
			return nil, true
		}
	}
	for i := range frames {
		frames[i].Start = l.r.code.RVA(uint64(frames[i].Start))
	}
	return frames, true
}

// sourceIn adds what a portion has at an address to frames, in the manner of Index.Frames. It reports false if
// reading it takes too much work.
func (l *Lookup) sourceIn(p *lookup.Portion, addr uint64, frames []symfmt.SourceFrame) (_ []symfmt.SourceFrame, ok bool) {
	key := sourceKey{p.Off, p.Job}
	l.sources.mu.Lock()
	x, known := l.sources.kept.Get(key)
	if !known {
		x = &sourceIndex{}
		l.sources.kept.Add(key, x, 0)
	}
	l.sources.mu.Unlock()
	x.Lock()
	defer x.Unlock()
	if !x.Knows(addr) && !l.addSource(p, key, x, addr) {
		return nil, false
	}
	return x.Frames(addr, frames), true
}

// addSource adds what a portion has at an address to its index. It reports false if that takes too much work.
func (l *Lookup) addSource(p *lookup.Portion, key sourceKey, x *sourceIndex, addr uint64) bool {
	w := l.idleWorker()
	defer l.keep(w)
	w.ReadSource(&x.Index, addr)
	ok := l.readPortion(w, p)
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	if kept, is := l.sources.kept.Get(key); is && kept == x {
		l.sources.kept.Resize(key, x.Size())
	}
	return ok
}

// Declared returns where the variable that begins at an address is declared. Line is 0 if no variable begins
// there, or if the debug information does not give a line. The first call reads the variables of all units.
func (l *Lookup) Declared(ctx context.Context, rva symfmt.RVA) (file symfmt.SourceFile, line uint32) {
	if l.d == nil {
		return file, 0
	}
	all, addr := *l.sources.variables.Do(ctx, func(v *[]srcread.Variable) { *v = l.readVariables(ctx) }), l.r.code.Addr(rva)
	i, found := slices.BinarySearchFunc(all, addr, func(v srcread.Variable, addr uint64) int { return cmp.Compare(v.Addr, addr) })
	if !found {
		return file, 0
	}
	return all[i].File, all[i].Line
}

// readVariables returns the variables of all units, sorted by address. If several have the same address, the first
// unit's is used.
func (l *Lookup) readVariables(ctx context.Context) (all []srcread.Variable) {
	portions := l.allPortions()
	for i := range portions {
		if ctx.Err() != nil {
			break
		}
		w := l.idleWorker()
		w.ReadData()
		ok := l.readPortion(w, &portions[i])
		all = append(all, w.Source.Variables...)
		l.keep(w)
		if !ok {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b srcread.Variable) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(all, func(a, b srcread.Variable) bool { return a.Addr == b.Addr })
}
