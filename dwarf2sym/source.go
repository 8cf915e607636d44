package dwarf2sym

import (
	"cmp"
	"slices"
	"sync"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/lru"
	"github.com/symtool/symtool/symfmt"
)

// heldSources is how many bytes a Lookup keeps for Source.
const heldSources = 128 << 20

// sources are the indexes that Source has made of portions, those used last.
type sources struct {
	mu   sync.Mutex
	kept lru.Cache[sourceKey, *srcread.Index]

	variables func() []srcread.Variable // in order of address; made at the first call
}

// sourceKey identifies a portion in all outlines.
type sourceKey struct {
	off uint64
	job int
}

// Source returns the functions at an address, innermost first, with what the debug information has about
// them. A frame without names has only the position of code that is in no function. What units have is
// kept for the next addresses.
func (l *Lookup) Source(rva symfmt.RVA) []symfmt.SourceFrame {
	if l.d == nil {
		return nil
	}
	for {
		areas := l.Areas(rva, rva)
		if len(areas) == 0 {
			break
		}
		if frames, ok := l.readSource(l.outline.Load(), areas[0].Group, rva); ok {
			return frames
		}
	}
	// What is between functions may have lines.
	o := l.declared()
	if a := o.at(l.r.code.Addr(rva)); a != nil {
		frames, _ := l.readSource(o, a.group, rva)
		return frames
	}
	return nil
}

// readSource looks into the portions of a group of o for Source. It reports false if Areas must be called again.
func (l *Lookup) readSource(o *outline, g *Group, rva symfmt.RVA) (frames []symfmt.SourceFrame, ok bool) {
	if !l.ready(o, g) {
		return nil, false
	}
	for _, p := range g.portions {
		x := l.sourceIndex(&o.portions[p])
		if x == nil {
			return nil, true
		}
		frames = x.Frames(l.r.code.Addr(rva), frames)
	}
	for i := range frames {
		frames[i].Start = l.r.code.RVA(uint64(frames[i].Start))
	}
	return frames, true
}

// newSource returns a reader of what d has about source code.
func (w *worker) newSource(d *units.Data) *srcread.Reader {
	return srcread.New(w, w.lineWin, dwarf.NewWindow(d.Line), w.Meter)
}

// sourceIndex returns the index of a portion, or nil if reading it takes too much work.
func (l *Lookup) sourceIndex(p *portion) *srcread.Index {
	key := sourceKey{p.off, p.job}
	l.sources.mu.Lock()
	x, ok := l.sources.kept.Get(key)
	l.sources.mu.Unlock()
	if ok {
		return x
	}
	w := l.idleWorker()
	defer l.keep(w)
	w.source = w.newSource(l.d)
	if !l.readPortion(w, p) {
		return nil
	}
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	if x, ok := l.sources.kept.Get(key); ok { // another goroutine has read it meanwhile
		return x
	}
	x = &w.source.Index
	l.sources.kept.Add(key, x, x.Size())
	return x
}

// Declared returns where the variable that begins at an address is declared. Line is 0 if no variable does, or if
// the debug information does not say where it is. The first call reads the variables of all units.
func (l *Lookup) Declared(rva symfmt.RVA) (file symfmt.SourceFile, line uint32) {
	if l.d == nil {
		return file, 0
	}
	all, addr := l.sources.variables(), l.r.code.Addr(rva)
	i, found := slices.BinarySearchFunc(all, addr, func(v srcread.Variable, addr uint64) int { return cmp.Compare(v.Addr, addr) })
	if !found {
		return file, 0
	}
	return all[i].File, all[i].Line
}

// readVariables returns the variables of all units, in order of address. Of those at the same address the first unit's
// counts.
func (l *Lookup) readVariables() (all []srcread.Variable) {
	portions := l.allPortions()
	for i := range portions {
		w := l.idleWorker()
		w.source = w.newSource(l.d)
		w.source.Data = true
		ok := l.readPortion(w, &portions[i])
		all = append(all, w.source.Variables...)
		l.keep(w)
		if !ok {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b srcread.Variable) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(all, func(a, b srcread.Variable) bool { return a.Addr == b.Addr })
}
