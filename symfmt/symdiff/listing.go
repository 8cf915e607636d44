package symdiff

import (
	"fmt"
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// The aspects that each section of a listing shows.
const (
	inLines    = LinesChanged | LinesShifted | PathsChanged
	inInlines  = InlinesChanged | InlinesShifted | PathsChanged
	inCFI      = CFIChanged | LostCFI
	inSections = inLines | inInlines | inCFI | WinChanged
)

// compareListings compares the parts of two listings that differ according to a change.
func compareListings(c Change, a, b *listing) (out []Section) {
	for _, s := range [...]struct {
		name     string
		what     Aspect
		old, new []item
	}{
		{"lines", inLines, a.lines, b.lines},
		{"inlines", inInlines, a.inlines, b.inlines},
		{"STACK CFI", inCFI, a.cfi, b.cfi},
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

// differ returns the operations that turn a into b. The library searches for the
// shortest edit as long as that is cheap. If the two differ in sizes alone, sizes
// are compared, too.
func differ(a, b []item) (ops []Op) {
	x, y := texts(a, false), texts(b, false)
	if slices.Equal(x, y) {
		x, y = texts(a, true), texts(b, true)
	}
	return DiffLines(x, y)
}

// DiffLines returns the operations that turn the lines x into y.
func DiffLines(x, y []string) (ops []Op) {
	emit := func(sign byte, lines []string) {
		for _, l := range lines {
			ops = append(ops, Op{sign, l})
		}
	}
	at := 0
	for _, d := range lcs.DiffLines(x, y) {
		emit(' ', x[at:d.Start])
		emit('-', x[d.Start:d.End])
		emit('+', y[d.ReplStart:d.ReplEnd])
		at = d.End
	}
	emit(' ', x[at:])
	return ops
}

// texts returns the lines of a listing, with or without sizes.
func texts(items []item, sizes bool) []string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = x.text
		if sizes && x.size > 0 {
			out[i] = fmt.Sprintf("%s (%#x bytes)", x.text, x.size)
		}
	}
	return out
}
