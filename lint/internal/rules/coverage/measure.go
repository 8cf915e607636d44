// Package coverage measures how much of a module's code has call frame information and lines, and
// implements the rules of the family coverage.
package coverage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// maxGaps is the number of functions in the lists Worst and WorstLines.
const maxGaps = 20

// Measure measures what the symbol file covers, with the binary if there is one. unreadable means
// that no reader accepts the file's encoding.
func Measure(p *check.Pass, unreadable bool) *coverage.Coverage {
	c := &coverage.Coverage{Functions: p.Functions.Len(), Publics: p.Publics.Len(), Blocks: p.Blocks.Len(), WinBlocks: p.Wins.Len()}
	c.Known = p.Covered()
	for _, fn := range p.Functions.All {
		countFunction(c, fn)
	}
	for _, pub := range p.Publics.All {
		add(&c.Public, coderange.In(c.Known, pub.RVA, 1), 1)
	}
	if !unreadable {
		measureCode(p, c)
	}
	for _, gaps := range [][]coverage.Gap{c.Worst, c.WorstLines} {
		sortGaps(gaps)
		for i := range gaps {
			gaps[i].Address = fmt.Sprintf("%x", gaps[i].RVA)
		}
	}
	c.Worst, c.WorstLines = worstOf(c.Worst), worstOf(c.WorstLines)
	judge(c, p.Facts, p.Options.MinCFI, p.Options.MinLines)
	return c
}

// measureCode measures the code, byte by byte.
func measureCode(p *check.Pass, c *coverage.Coverage) {
	for _, s := range p.Startup {
		if s.Size > 0 {
			add(&c.Startup, coderange.In(c.Known, s.RVA, 1), 1)
		}
	}
	m := codeShare(p, c.Known, func(g *coverage.Gap) {
		c.Worst = addGap(c.Worst, *g)
		if g.Kind != coverage.GapFunc {
			c.Unnamed++
		}
	})
	c.All = m.share
	c.NoCode = m.noCode()
	if m.share.Of == coverage.CodeOfBinary {
		c.Calls = countCalls(p, m.counted, c.Known)
		m.image.Exclude(m.excluded)
	}
}

// Gaps calls found for each FUNC, PUBLIC, and piece of code outside both that lacks call frame
// information. known is the code that has call frame information.
func Gaps(p *check.Pass, known []symfmt.Range, found func(*coverage.Gap)) { codeShare(p, known, found) }

// countFunction adds a FUNC to the counts.
func countFunction(c *coverage.Coverage, fn *facts.Func) {
	covered := coderange.In(c.Known, fn.RVA, fn.Size)
	add(&c.Code, covered, fn.Size)
	add(&c.Entries, coderange.In(c.Known, fn.RVA, 1), 1)
	add(&c.Lines, fn.Covered, fn.Size)
	add(&c.WithLines, min(uint64(fn.Lines), 1), 1)
	lines := uint64(fn.Lines)
	switch {
	case covered == fn.Size:
		add(&c.LineEnds.Share, lines, lines)
	case covered > 0:
		c.LineEnds.Unsure += lines
		fallthrough
	default:
		add(&c.LineEnds.Share, 0, lines)
	}
	c.WorstLines = addGap(c.WorstLines, coverage.Gap{RVA: fn.RVA, Kind: coverage.GapFunc, Line: int(fn.Line), Size: fn.Size, Missing: fn.Size - fn.Covered})
}

// addGap adds g to the list of the functions that lack most.
func addGap(gaps []coverage.Gap, g coverage.Gap) []coverage.Gap {
	if g.Missing == 0 {
		return gaps
	}
	gaps = append(gaps, g)
	if len(gaps) == 16*maxGaps {
		sortGaps(gaps)
		gaps = gaps[:maxGaps]
	}
	return gaps
}

func sortGaps(gaps []coverage.Gap) {
	slices.SortFunc(gaps, func(a, b coverage.Gap) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Line, b.Line))
	})
}

func worstOf(gaps []coverage.Gap) []coverage.Gap { return slices.Clip(gaps[:min(len(gaps), maxGaps)]) }
