package symdiff

// count counts changes by kind.
func (r *Result) count() {
	of := func(k Kind, before, after int) {
		r.Counts[k] = &Count{Before: before, After: after, Same: after, By: map[Aspect]int{}}
	}
	of(Functions, len(r.Old.Funcs), len(r.New.Funcs))
	of(Publics, len(r.Old.Publics), len(r.New.Publics))
	of(CFI, len(r.Old.Pieces()), len(r.New.Pieces()))
	of(Wins, len(r.Old.Wins), len(r.New.Wins))
	for _, c := range r.Changes {
		n := r.Counts[c.Kind]
		if c.New != None {
			n.Same--
		}
		if c.What.Regression() {
			n.Regressions++
		}
		for bit := Added; bit <= Lost; bit <<= 1 {
			if c.What&bit != 0 {
				n.By[bit]++
			}
		}
	}
}
