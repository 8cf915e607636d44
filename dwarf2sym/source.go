package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/symfmt"
)

// Source returns the functions at an address, innermost first, with what the debug information has about
// them. A frame without names has only the position of code that is in no function. Each call reads the units
// with the address: there is no cache.
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

// readSource reads the units of a group of o for Source. It reports false if Areas must be called again.
func (l *Lookup) readSource(o *outline, g *Group, rva symfmt.RVA) (frames []symfmt.SourceFrame, ok bool) {
	if !l.ready(o, g) {
		return nil, false
	}
	w := l.idleWorker()
	defer l.keep(w)
	w.source = srcread.New(w, l.r.code.Addr(rva), w.lineWin, w.Meter)
	for _, p := range g.portions {
		l.done.Add(l.read(w, &o.portions[p]))
		if w.Effort.Over() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.giveUp()
			return nil, true
		}
		l.noteUnit(&w.problems, &w.elsewhere)
	}
	frames = w.source.Frames
	for i := range frames {
		frames[i].Start = l.r.code.RVA(uint64(frames[i].Start))
	}
	return frames, true
}
