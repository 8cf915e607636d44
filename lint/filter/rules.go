package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
)

// Rules are the rules about lint itself, reported by Filter.Report.
var Rules = []*finding.Rule{
	{
		ID:       "SYM901",
		Title:    "suppression that matches nothing",
		Severity: finding.Warning,
		Since:    "0.1",
		Spec:     "symtool lint --config",
		Doc: `A suppression stays when the defect is gone, and hides the next one. Remove it, or
correct its pattern. Suppressions of rules that are not checked are left alone.`,
	},
	{
		ID:       "SYM902",
		Title:    "baseline entry that no longer occurs",
		Severity: finding.Note,
		Since:    "0.1",
		Spec:     "symtool lint --baseline",
		Doc: `A finding of the baseline no longer occurs, or occurs less often. Write the baseline
again with --write-baseline: what is left in it would hide the same finding later.
Entries of files and rules that are not checked are left alone.`,
	},
	{
		ID:       "SYM903",
		Title:    "suppression that has expired",
		Severity: finding.Warning,
		Since:    "0.1",
		Spec:     "symtool lint --config",
		Doc: `The last day of a suppression, expires, has passed: its findings are reported again.
Fix the defect, or enter another day and the reason.`,
	},
}

// Report returns the findings about the filter itself after all files have been checked with these
// rules: suppressions that match nothing, and baseline entries that no longer occur.
func (f *Filter) Report(rules []*finding.Rule) *finding.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := &Filter{config: f.config} // a filter that suppresses nothing
	p := check.New(check.Options{File: f.config.File, Rules: described(rules)})
	p.Sieve = own.File("")
	checked := func(prefix string) bool {
		return slices.ContainsFunc(rules, func(r *finding.Rule) bool { return strings.HasPrefix(r.ID, prefix) })
	}
	for i := range f.suppressions {
		s := &f.suppressions[i]
		expired := f.expired(s)
		switch {
		case !checked(s.Rule):
		case expired:
			p.As("SYM903", func() {
				p.ReportLine(s.Line, "suppression of %s has expired: its last day was %s (reason: %s)", s.Rule, s.Expires, s.Reason)
			})
		case f.suppressed[i] == 0 && !slices.ContainsFunc(f.unread, s.matchesFile):
			p.As("SYM901", func() { p.ReportLine(s.Line, "%s", f.idle(i)) })
		}
	}
	if p.Result.Found() == 0 {
		p.Result.File = ""
	}
	if f.baseline != nil && checked("SYM902") {
		p.Options.File = f.baseline.File
		p.Result.File = cmp.Or(p.Result.File, f.baseline.File)
		for _, e := range f.baseline.Sorted() {
			if n := f.seen[e.key()]; f.names[e.File] && n < e.Count && checked(e.Rule) && !slices.ContainsFunc(f.unread, e.isOf) {
				p.As("SYM902", func() {
					p.ReportLine(0, "%s: %s of %q is gone %s (the baseline has %d): write it again", e.File, e.Rule, e.example(), times(e.Count-n), e.Count)
				})
			}
		}
	}
	return p.Result
}

// described wraps the rules in check rules.
func described(rules []*finding.Rule) []*check.Rule {
	list := make([]*check.Rule, len(rules))
	for i, r := range rules {
		list[i] = &check.Rule{Rule: r}
	}
	return list
}

// idle returns the reason why a suppression matched nothing.
func (f *Filter) idle(i int) string {
	s := &f.suppressions[i]
	if f.matched[i] == 0 {
		return fmt.Sprintf("suppression of %s matches nothing: none of %s is %q (reason: %s)", s.Rule, text.Count(f.files, "file"), s.File, s.Reason)
	}
	return fmt.Sprintf("suppression of %s matches no finding in %s (reason: %s)", s.Rule, text.Count(f.matched[i], "file"), s.Reason)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
