package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/symfmt"
)

// orphanCode is code with call frame information outside functions. It extends to the next
// FUNC, or the next PUBLIC that is in both files.
type orphanCode struct {
	RVA  symfmt.RVA
	Size uint64
	pair int32 // number of the matched PUBLIC at its start, or 0
}

// cut is where a piece begins or ends.
type cut struct {
	rva  symfmt.RVA
	end  symfmt.RVA // end of a function; 0 for a PUBLIC
	pair int32
}

// cuts returns the addresses where pieces end. pairs yields the PUBLICs that are in
// both files.
func (o *Outline) cuts(pairs func(yield func(i, pair int32) bool)) []cut {
	code := o.code()
	cuts := make([]cut, 0, len(code)+len(o.Publics))
	for _, c := range code {
		if c.Size > 0 {
			cuts = append(cuts, cut{rva: c.RVA, end: c.RVA + symfmt.RVA(c.Size)})
		}
	}
	for i, pair := range pairs {
		cuts = append(cuts, cut{rva: o.Publics[i].RVA, pair: pair})
	}
	slices.SortFunc(cuts, func(a, b cut) int {
		return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(b.end, a.end), cmp.Compare(b.pair, a.pair))
	})
	return cuts
}

func (o *Outline) cutPieces(cuts []cut) []orphanCode {
	var out []orphanCode
	at := symfmt.RVA(0) // up to here, code belongs to a FUNC or a piece
	pair := int32(0)
	for _, s := range o.CFI {
		at = max(at, s.RVA)
		for at < s.stop() {
			// Skip what begins at or before at.
			for len(cuts) > 0 && cuts[0].rva <= at {
				if cuts[0].end > 0 {
					at = max(at, cuts[0].end)
				} else if cuts[0].rva == at {
					pair = cuts[0].pair
				}
				cuts = cuts[1:]
			}
			if at >= s.stop() {
				break
			}
			end := s.stop()
			if len(cuts) > 0 {
				end = min(end, cuts[0].rva)
			}
			n := len(out)
			if n > 0 && pair == 0 && out[n-1].RVA+symfmt.RVA(out[n-1].Size) == at {
				out[n-1].Size += uint64(end - at)
			} else {
				out = append(out, orphanCode{RVA: at, Size: uint64(end - at), pair: pair})
			}
			at, pair = end, 0
		}
	}
	return out
}

// compareOutside compares STACK CFI and STACK WIN outside functions.
func (r *Result) compareOutside() {
	r.Old.pieces = r.Old.cutPieces(r.Old.cuts(func(yield func(i, pair int32) bool) {
		for j, i := range r.publics {
			if i != None && !yield(i, int32(j)+1) {
				return
			}
		}
	}))
	r.New.pieces = r.New.cutPieces(r.New.cuts(func(yield func(i, pair int32) bool) {
		for j, i := range r.publics {
			if i != None && !yield(int32(j), int32(j)+1) {
				return
			}
		}
	}))
	first := len(r.Changes)
	r.comparePieces()
	changes := r.Changes[first:]
	slices.SortStableFunc(changes, func(x, y Change) int { return cmp.Compare(r.piecePlace(x), r.piecePlace(y)) })
	r.compareWins()
}

// comparePieces finds the differences between matched pieces, and the pieces
// without a match. Code that is in a function of the other file, with the same
// rules, does not differ.
func (r *Result) comparePieces() {
	a, b := r.Old.pieces, r.New.pieces
	old, new := filled(len(a)), filled(len(b))
	r.matchPieces(a, b, old, new)
	back := r.where.back()
	for j, i := range new {
		switch {
		case r.thereToo(r.New, r.Old, back, b[j]) && (i == None || r.thereToo(r.Old, r.New, r.where, a[i])):
		case i == None:
			r.Changes = append(r.Changes, Change{Kind: CFI, What: Added, Old: None, New: int32(j), Part: None})
		default:
			if what := r.piecePair(a[i], b[j]); what != 0 {
				r.Changes = append(r.Changes, Change{Kind: CFI, What: what, Old: i, New: int32(j), Part: None})
			}
		}
	}
	for i, j := range old {
		if j != None || r.thereToo(r.Old, r.New, r.where, a[i]) {
			continue
		}
		what := Removed
		if p := a[i]; r.where.closed(p.RVA) == 0 && r.Old.Covered(p.RVA, p.Size) > 0 && r.New.Covered(r.where.of(p.RVA), p.Size) == 0 {
			what |= LostCFI
		}
		r.Changes = append(r.Changes, Change{Kind: CFI, What: what, Old: int32(i), New: None, Part: None})
	}
}

// thereToo reports whether the other file has the same rules for the code of a
// piece of o.
func (r *Result) thereToo(o, other *Outline, where shifts, p orphanCode) bool {
	rva := where.of(p.RVA)
	return sameRows(o.in(p.RVA, p.Size), other.in(rva, p.Size), p.RVA, rva, true)
}

func (r *Result) piecePair(p, q orphanCode) (what Aspect) {
	if !sameRows(r.Old.in(p.RVA, p.Size), r.New.in(q.RVA, q.Size), p.RVA, q.RVA, p.Size == q.Size) {
		what |= CFIChanged
	}
	if worse(r.Old.Covered(p.RVA, p.Size), p.Size, r.New.Covered(q.RVA, q.Size), q.Size) {
		what |= LostCFI
	}
	if p.Size != q.Size {
		what |= Resized
	}
	return what
}

func (r *Result) piecePlace(c Change) uint64 {
	if c.New != None {
		return uint64(r.New.pieces[c.New].RVA)
	}
	return uint64(r.where.of(r.Old.pieces[c.Old].RVA))
}

// matchPieces matches pieces by the PUBLIC at their start, then by address, then
// in order those with the same rules.
func (r *Result) matchPieces(a, b []orphanCode, old, new []int32) {
	left := func(pieces []orphanCode, other []int32, key func(orphanCode) hash) (out []keyed) {
		for i, p := range pieces {
			if other[i] == None {
				if k := key(p); k != 0 {
					out = append(out, keyed{k, int32(i)})
				}
			}
		}
		slices.SortFunc(out, func(x, y keyed) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.i, y.i)) })
		return out
	}
	step := func(keyA, keyB func(orphanCode) hash) {
		groups(left(a, old, keyA), left(b, new, keyB), func(as, bs []keyed) {
			for i := range min(len(as), len(bs)) {
				old[as[i].i], new[bs[i].i] = bs[i].i, as[i].i
			}
		})
	}
	pair := func(p orphanCode) hash { return hash(p.pair) }
	step(pair, pair)
	place := func(p orphanCode) hash { return hashNumber(uint64(p.RVA)) }
	step(func(p orphanCode) hash { return hashNumber(uint64(r.where.of(p.RVA))) }, place)
	step(place, place)
	step(func(p orphanCode) hash { return rulesOf(r.Old, p) }, func(p orphanCode) hash { return rulesOf(r.New, p) })
}

// rulesOf returns a hash of a piece's rules and their offsets.
func rulesOf(o *Outline, p orphanCode) hash {
	h := hash(p.Size)
	for _, s := range o.in(p.RVA, p.Size) {
		h = mix(mix(h, uint64(s.RVA-p.RVA)), uint64(s.Row))
	}
	return h
}

// winsIn returns the STACK WINs in a piece of code.
func (o *Outline) winsIn(rva symfmt.RVA, size uint64) []winEntry {
	stop := rva + symfmt.RVA(size)
	if stop < rva {
		stop = math.MaxUint64
	}
	byRVA := func(w winEntry, rva symfmt.RVA) int { return cmp.Compare(w.RVA, rva) }
	i, _ := slices.BinarySearchFunc(o.Wins, rva, byRVA)
	j, _ := slices.BinarySearchFunc(o.Wins, stop, byRVA)
	j = i + o.winLooks.allowed(max(j-i, 0), len(o.Wins))
	return o.Wins[i:j]
}

// sameWins reports whether two functions have the same STACK WINs, in any order.
func (r *Result) sameWins(f, g *funcEntry) bool {
	sum := func(o *Outline, f *funcEntry) (h hash) {
		for _, w := range o.winsIn(f.RVA, f.Size) {
			h += mix(w.Contents, uint64(w.RVA-f.RVA))
		}
		return h
	}
	return sum(r.Old, f) == sum(r.New, g)
}

// compareWins compares the STACK WINs outside functions. One that is also in the
// other file, inside a function or not, does not differ. Those of unmatched
// functions belong to those functions' changes.
func (r *Result) compareWins() {
	if len(r.Old.Wins) == 0 && len(r.New.Wins) == 0 {
		return
	}
	back := r.where.back()
	for _, i := range onlyHere(r.Old, r.New, r.where) {
		c := Change{Kind: Wins, What: Removed, Old: i, New: None, Part: None}
		if r.where.closed(r.Old.Wins[i].RVA) == 0 {
			c.What |= LostCFI
		}
		r.Changes = append(r.Changes, c)
	}
	for _, j := range onlyHere(r.New, r.Old, back) {
		r.Changes = append(r.Changes, Change{Kind: Wins, What: Added, Old: None, New: j, Part: None})
	}
}

// onlyHere returns the STACK WINs of o outside functions that the other file lacks.
func onlyHere(o, other *Outline, where shifts) (out []int32) {
	in := inFuncs(o)
	there := map[hash]int{}
	for _, w := range other.Wins {
		there[mix(w.Contents, uint64(w.RVA))]++
	}
	for i, w := range o.Wins {
		if in[i] {
			continue
		}
		if k := mix(w.Contents, uint64(where.of(w.RVA))); there[k] > 0 {
			there[k]--
			continue
		}
		out = append(out, int32(i))
	}
	return out
}

// inFuncs reports, for each STACK WIN, whether it lies in a function.
func inFuncs(o *Outline) []bool {
	in := make([]bool, len(o.Wins))
	code := o.code()
	for i, w := range o.Wins {
		in[i] = coderange.In(code, w.RVA, 1) > 0
	}
	return in
}
