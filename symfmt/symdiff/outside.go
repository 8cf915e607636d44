package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Piece is code with call frame information that no FUNC has: up to the next FUNC
// or PUBLIC.
type Piece struct {
	RVA  symfmt.RVA
	Size uint64
	Name hash // of the PUBLIC at its start, 0 without one
}

// Pieces are the pieces of a file, by address.
func (o *Outline) Pieces() []Piece {
	if o.pieces == nil {
		o.pieces = o.cutPieces()
	}
	return o.pieces
}

// cut is where a piece begins or ends.
type cut struct {
	rva  symfmt.RVA
	end  symfmt.RVA // of a FUNC
	name hash
}

func (o *Outline) cuts() []cut {
	cuts := make([]cut, 0, len(o.Funcs)+len(o.Publics))
	for i := range o.Funcs {
		f := &o.Funcs[i]
		if end := f.Stop(); end > f.RVA {
			cuts = append(cuts, cut{rva: f.RVA, end: end})
		}
	}
	for i := range o.Publics {
		cuts = append(cuts, cut{rva: o.Publics[i].RVA, name: o.Publics[i].Name})
	}
	slices.SortFunc(cuts, func(a, b cut) int {
		return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(b.end, a.end), cmp.Compare(a.name, b.name))
	})
	return cuts
}

func (o *Outline) cutPieces() []Piece {
	out := []Piece{}
	cuts := o.cuts()
	at := symfmt.RVA(0) // up to here code belongs to a FUNC, or is in a piece
	name := hash(0)
	for _, s := range o.CFI {
		at = max(at, s.RVA)
		for at < s.Stop() {
			// What begins at or before at.
			for len(cuts) > 0 && cuts[0].rva <= at {
				if cuts[0].end > 0 {
					at = max(at, cuts[0].end)
				} else if cuts[0].rva == at {
					name = cuts[0].name
				}
				cuts = cuts[1:]
			}
			if at >= s.Stop() {
				break
			}
			end := s.Stop()
			if len(cuts) > 0 {
				end = min(end, cuts[0].rva)
			}
			n := len(out)
			if n > 0 && name == 0 && out[n-1].RVA+symfmt.RVA(out[n-1].Size) == at {
				out[n-1].Size += uint64(end - at)
			} else {
				out = append(out, Piece{RVA: at, Size: uint64(end - at), Name: name})
			}
			at, name = end, 0
		}
	}
	return out
}

// compareOutside compares STACK CFI and STACK WIN outside of functions.
func (r *Result) compareOutside() {
	a, b := r.Old.Pieces(), r.New.Pieces()
	first := len(r.Changes)
	old, new := filled(len(a)), filled(len(b))
	r.matchPieces(a, b, old, new)
	for j := range b {
		i := new[j]
		if i == none {
			r.Changes = append(r.Changes, Change{Kind: CFI, What: Added, Old: none, New: int32(j), Part: none})
			continue
		}
		p, q := a[i], b[j]
		var what Aspect
		x, y := r.Old.in(p.RVA, p.Size), r.New.in(q.RVA, q.Size)
		if !sameRows(x, y, p.RVA, q.RVA, p.Size == q.Size) {
			what |= CFIChanged
		}
		if worse(r.Old.covered(p.RVA, p.Size), p.Size, r.New.covered(q.RVA, q.Size), q.Size) {
			what |= LostCFI
		}
		if p.Size != q.Size {
			what |= Resized
		}
		if what != 0 {
			r.Changes = append(r.Changes, Change{Kind: CFI, What: what, Old: i, New: int32(j), Part: none})
		}
	}
	for i, j := range old {
		if j == none {
			what := Removed
			if p := a[i]; r.Old.covered(p.RVA, p.Size) > 0 && r.New.covered(r.where.of(p.RVA), p.Size) == 0 {
				what |= LostCFI
			}
			r.Changes = append(r.Changes, Change{Kind: CFI, What: what, Old: int32(i), New: none, Part: none})
		}
	}
	changes := r.Changes[first:]
	slices.SortStableFunc(changes, func(x, y Change) int { return cmp.Compare(r.piecePlace(x), r.piecePlace(y)) })
	r.compareWins()
}

func (r *Result) piecePlace(c Change) uint64 {
	if c.New != none {
		return uint64(r.New.Pieces()[c.New].RVA)
	}
	return uint64(r.where.of(r.Old.Pieces()[c.Old].RVA))
}

// matchPieces matches pieces by the name of their PUBLIC, then by address, then
// those with the same rules in order.
func (r *Result) matchPieces(a, b []Piece, old, new []int32) {
	pair := func(i, j int32) { old[i], new[j] = j, i }
	byName := map[hash]int32{}
	for j := range b {
		if b[j].Name != 0 {
			byName[b[j].Name] = int32(j)
		}
	}
	for i := range a {
		if j, ok := byName[a[i].Name]; ok && a[i].Name != 0 && new[j] == none {
			pair(int32(i), j)
		}
	}
	place := map[symfmt.RVA]int32{}
	for j := range b {
		if new[j] == none && b[j].Name == 0 {
			place[b[j].RVA] = int32(j)
		}
	}
	for i := range a {
		if old[i] != none || a[i].Name != 0 {
			continue
		}
		if j, ok := place[r.where.of(a[i].RVA)]; ok && new[j] == none {
			pair(int32(i), j)
		}
	}
	waiting := map[hash][]int32{}
	for j := range b {
		if new[j] == none {
			k := rulesOf(r.New, b[j])
			waiting[k] = append(waiting[k], int32(j))
		}
	}
	for i := range a {
		if old[i] != none {
			continue
		}
		k := rulesOf(r.Old, a[i])
		if list := waiting[k]; len(list) > 0 {
			pair(int32(i), list[0])
			waiting[k] = list[1:]
		}
	}
}

// rulesOf is the hash of a piece's rules by their place in it.
func rulesOf(o *Outline, p Piece) hash {
	h := hash(p.Size)
	for _, s := range o.in(p.RVA, p.Size) {
		h = mix(mix(h, uint64(s.RVA-p.RVA)), uint64(s.Row))
	}
	return h
}

// winsIn are the STACK WINs of a piece of code.
func (o *Outline) winsIn(rva symfmt.RVA, size uint64) []Win {
	stop := rva + symfmt.RVA(size)
	if stop < rva {
		stop = math.MaxUint64
	}
	byRVA := func(w Win, rva symfmt.RVA) int { return cmp.Compare(w.RVA, rva) }
	i, _ := slices.BinarySearchFunc(o.Wins, rva, byRVA)
	j, _ := slices.BinarySearchFunc(o.Wins, stop, byRVA)
	return o.Wins[i:max(i, j)]
}

func (r *Result) sameWins(f, g *Func) bool {
	a, b := r.Old.winsIn(f.RVA, f.Size), r.New.winsIn(g.RVA, g.Size)
	return slices.EqualFunc(a, b, func(x, y Win) bool { return x.RVA-f.RVA == y.RVA-g.RVA && x.Contents == y.Contents })
}

// compareWins compares the STACK WINs that lie in no function that is matched.
func (r *Result) compareWins() {
	if len(r.Old.Wins) == 0 && len(r.New.Wins) == 0 {
		return
	}
	inA, inB := inFuncs(r.Old, r.funcs.old), inFuncs(r.New, r.funcs.new)
	type key struct {
		rva  symfmt.RVA
		what hash
	}
	left := map[key][]int32{}
	for j, w := range r.New.Wins {
		if !inB[j] {
			k := key{w.RVA, w.Contents}
			left[k] = append(left[k], int32(j))
		}
	}
	for i, w := range r.Old.Wins {
		if inA[i] {
			continue
		}
		k := key{r.where.of(w.RVA), w.Contents}
		if list := left[k]; len(list) > 0 {
			left[k] = list[1:]
			inB[list[0]] = true
			continue
		}
		r.Changes = append(r.Changes, Change{Kind: Wins, What: Removed | LostCFI, Old: int32(i), New: none, Part: none})
	}
	for j := range r.New.Wins {
		if !inB[j] {
			r.Changes = append(r.Changes, Change{Kind: Wins, What: Added, Old: none, New: int32(j), Part: none})
		}
	}
}

// inFuncs tells which STACK WINs lie in a matched function.
func inFuncs(o *Outline, other []int32) []bool {
	in := make([]bool, len(o.Wins))
	if len(o.Wins) == 0 {
		return in
	}
	for i := range o.Funcs {
		f := &o.Funcs[i]
		if other[i] == none {
			continue
		}
		wins := o.winsIn(f.RVA, f.Size)
		if len(wins) == 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(o.Wins, wins[0].RVA, func(w Win, rva symfmt.RVA) int { return cmp.Compare(w.RVA, rva) })
		for k := range wins {
			in[at+k] = true
		}
	}
	return in
}
