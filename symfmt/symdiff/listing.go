package symdiff

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// compareListings compares the parts of two listings that a change says differ.
func compareListings(c Change, a, b *listing) (out []Section) {
	for _, s := range [...]struct {
		name     string
		what     Aspect
		old, new []string
	}{
		{"lines", LinesChanged | LinesShifted | PathsChanged, a.lines, b.lines},
		{"inlines", InlinesChanged | InlinesShifted | PathsChanged, a.inlines, b.inlines},
		{"STACK CFI", CFIChanged | LostCFI, a.cfi, b.cfi},
		{"STACK WIN", WinChanged, a.wins, b.wins},
	} {
		if c.What&(s.what|Added|Removed) == 0 || slices.Equal(s.old, s.new) {
			continue
		}
		section := Section{Name: s.name, Ops: differ(s.old, s.new)}
		if n := len(section.Ops); n > maxOps {
			section.Ops, section.Cut = section.Ops[:maxOps], n-maxOps
		}
		out = append(out, section)
	}
	return out
}

// differ tells how a becomes b. The library looks for the shortest way as long as
// that is not far.
func differ(a, b []string) (ops []Op) {
	emit := func(sign byte, lines []string) {
		for _, l := range lines {
			ops = append(ops, Op{sign, l})
		}
	}
	at := 0
	for _, d := range lcs.DiffLines(a, b) {
		emit(' ', a[at:d.Start])
		emit('-', a[d.Start:d.End])
		emit('+', b[d.ReplStart:d.ReplEnd])
		at = d.End
	}
	emit(' ', a[at:])
	return ops
}
