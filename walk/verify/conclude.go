package verify

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// conclude groups and sorts the findings, and writes the conclusion.
func (v *verifier) conclude() {
	c := v.verdict
	v.group()
	sortFindings(c.Findings)
	errs := v.omitted
	for i := range c.Findings {
		if c.Findings[i].Severity == SeverityError {
			errs++
		}
	}
	c.Holds = errs == 0
	if !c.Holds {
		c.Blame = c.Findings[0].Blame
		c.Conclusion = c.Findings[0].conclusion(errs - 1)
		return
	}
	lost := ""
	if n := v.lostBehindAllowed(); n > 0 {
		lost = "; " + count(n, "stack is", "stacks are") + " lost after modules that may be missing"
	}
	if c.Counted == 0 {
		c.Conclusion = "nothing contradicts the symbols: no stack has a caller after a module with symbols" + lost
		return
	}
	c.Conclusion = fmt.Sprintf("the symbols hold: %d of %s by CFI", c.CountedCFI, count(c.Counted, "caller frame", "caller frames")) + lost
}

// lostBehindAllowed returns the number of stacks that did not reach their end after modules whose
// symbols may be missing, which is not an error.
func (v *verifier) lostBehindAllowed() int {
	stacks := map[int]bool{}
	for i, d := range v.broken {
		for s := range d.broken {
			if v.module(i).Allowed {
				stacks[s] = true
			}
		}
	}
	return len(stacks)
}

// A conclusion is short enough for a log to show it whole; the findings have the rest.
const (
	maxConclusion = 119 // runes
	maxShownName  = 32  // runes of the name of a function or module in it
)

// conclusion formats the finding as the conclusion of a verdict. more is the number of further
// errors.
func (x *Finding) conclusion(more int) string {
	who := "not decided"
	if x.Blame != NoBlame {
		who = string(x.Blame) + " to blame"
	}
	end := ""
	if more > 0 {
		end = fmt.Sprintf(" (and %s)", count(more, "more error", "more errors"))
	}
	short := *x
	short.Module, short.Function = clip(x.Module, maxShownName), clip(x.Function, maxShownName)
	if x.brief != "" {
		short.Text = x.brief
	}
	text := who + ": " + short.sentence()
	return clip(text, maxConclusion-utf8.RuneCountInString(end)) + end
}

// clip cuts a text to n runes.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n-3]
	return strings.TrimRight(string(r), " ,;:(") + "..."
}
