package funcs

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

// Most names are found while the DIEs of their unit are visited, through references to DIEs that may come later.
// Whether a DIE begins where a reference leads is known only at the end of the unit.

// followed is a reference to a DIE of the current unit through which a name was found.
type followed struct {
	to        int // the position in the unit
	die       uint64
	fn, count int32 // as in pendingName
	id        uint32
}

// follow records that a name comes from the DIE at off of u, unless a DIE is known to begin there.
func (w *Worker) follow(u *units.Unit, off uint64) {
	if u == &w.u && u.Starts == nil {
		w.followed = append(w.followed, followed{to: int(off - u.Off)})
	}
}

// followedFor records which name the references from index n on led to, if found; a name that is not found has to
// wait anyway.
func (w *Worker) followedFor(n int, found bool, p *pendingName) {
	if !found {
		w.followed = w.followed[:n]
	}
	for i := n; i < len(w.followed); i++ {
		f := &w.followed[i]
		f.die, f.fn, f.count, f.id = p.die, p.fn, p.count, p.id
	}
}

// checkFollowed defers the names that were found in the middle of a DIE, so that they are looked up again.
func (w *Worker) checkFollowed() {
	for i := range w.followed {
		f := &w.followed[i]
		if w.u.Begins(f.to) {
			continue
		}
		p := pendingName{die: f.die, fn: f.fn, count: f.count, id: f.id}
		var a dwarf.NameAttrs
		if w.u.TakeAt(int(f.die-w.u.Off), &a) >= 0 {
			p.attrs = a
			w.pending.add(p)
		}
	}
	w.followed = w.followed[:0]
}
