package symdiff

import "github.com/symtool/symtool/symfmt"

// sameRows reports whether two pieces of code are unwound alike. Where they differ in
// size, code was put in or taken out: then the rules must only come in the same
// order.
func sameRows(a, b []Span, startA, startB symfmt.RVA, places bool) bool {
	i, _ := firstRow(a, b, startA, startB, places)
	return i < 0
}

// firstRow returns the first span of a that has no equal in b, or behind the last one
// where b goes on; -1 if there is none. j is where it should be in b.
func firstRow(a, b []Span, startA, startB symfmt.RVA, places bool) (i, j int) {
	if !places {
		a, b = orders(a), orders(b)
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return i, i
		}
		if a[i].Row != b[i].Row || places && (a[i].RVA-startA != b[i].RVA-startB || a[i].Size != b[i].Size) {
			return i, i
		}
	}
	return -1, -1
}

// orders leaves out spans with the row of the span before.
func orders(s []Span) []Span {
	out := make([]Span, 0, len(s))
	for _, x := range s {
		if len(out) == 0 || out[len(out)-1].Row != x.Row {
			out = append(out, x)
		}
	}
	return out
}
