package lint

import (
	"regexp"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// suppressRules are about lint itself. They are reported by Filter.Report.
var suppressRules = []*Rule{
	{
		ID:       "SYM901",
		Title:    "suppression that matches nothing",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "symtool lint --config",
		Doc: `A suppression stays behind when the defect is gone, and hides the next one. Remove
it, or correct its pattern. Suppressions of rules that are not checked are left
alone.`,
		Check: noCheck,
	},
	{
		ID:       "SYM902",
		Title:    "entry of the baseline that is gone",
		Severity: Note,
		Since:    "0.1",
		Spec:     "symtool lint --baseline",
		Doc: `A finding of the baseline is no more, or there are fewer of it. Write the baseline
again with --write-baseline: what it still holds would hide the same finding
later. Entries of files and rules that are not checked are left alone.`,
		Check: noCheck,
	},
	{
		ID:       "SYM903",
		Title:    "suppression that has expired",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "symtool lint --config",
		Doc: `The last day of a suppression, expires, is over: what it took away is reported
again. Mend the defect, or write another day and why.`,
		Check: noCheck,
	},
}

func noCheck(*Pass) (func(*symfmt.Record), func()) { return nil, nil }

// matches reports whether a finding is suppressed in a file that the pattern matches.
func (s *Suppression) matches(f *Finding) bool {
	return s.matchesBesides(f) && (s.Function == nil || s.Function.MatchString(f.Function))
}

// matchesBesides is matches but for the function.
func (s *Suppression) matchesBesides(f *Finding) bool {
	return strings.HasPrefix(f.Rule.ID, s.Rule) && (s.Message == nil || s.Message.MatchString(f.Message))
}

// matchesFile reports whether the pattern matches a file.
func (s *Suppression) matchesFile(file string) bool {
	return s.glob == nil || s.glob.MatchString(strings.ReplaceAll(file, `\`, "/"))
}

// globRegexp makes a regular expression of a pattern for paths: "*" and "?" do
// not match "/", "**" does. The pattern is that of the path's end, from a folder
// on: "a/*.sym" matches x/a/b.sym, too. One that ends in "/" is of all that is below.
func globRegexp(glob string) *regexp.Regexp {
	if glob == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString(`(?s)(?:^|/)`)
	glob = strings.ReplaceAll(glob, `\`, "/")
	for strings.HasPrefix(glob, "./") {
		glob = glob[2:]
	}
	glob = strings.TrimPrefix(glob, "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	for len(glob) > 0 {
		n := 1
		switch {
		case strings.HasPrefix(glob, "**/"):
			b.WriteString(`(?:.*/)?`)
			n = 3
		case strings.HasPrefix(glob, "**"):
			b.WriteString(`.*`)
			n = 2
		case glob[0] == '*':
			b.WriteString(`[^/]*`)
		case glob[0] == '?':
			b.WriteString(`[^/]`)
		default:
			n = max(1, strings.IndexAny(glob, "*?"))
			if !strings.ContainsAny(glob, "*?") {
				n = len(glob)
			}
			b.WriteString(regexp.QuoteMeta(glob[:n]))
		}
		glob = glob[n:]
	}
	b.WriteString(`$`)
	return regexp.MustCompile(b.String())
}
