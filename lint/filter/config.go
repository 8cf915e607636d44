package filter

import (
	"regexp"
	"strings"

	"github.com/symtool/symtool/lint/check"
)

// Config is a project's configuration of lint. Package lint/config reads it from a file.
type Config struct {
	File           string   // its name, for messages
	Select, Ignore []string // see SelectRules
	// MinCFI and MinLines are percentages, nil where none is demanded.
	MinCFI, MinLines *float64
	Suppressions     []Suppression

	Severities map[string]check.Severity // by beginning of an ID; the longest decides
}

// Suppression drops findings.
type Suppression struct {
	Rule     string         // beginning of the rules' IDs
	File     string         // pattern: *, ** and ?; "" for all
	Function *regexp.Regexp // nil for all
	Message  *regexp.Regexp // nil for all
	Reason   string
	Expires  string // the last day, "2027-01-31"; "" for ever
	Line     int    // in the configuration, 0 if not known

	glob *regexp.Regexp
}

// Severity is a rule's severity: the entry with the longest prefix of its ID decides.
func (c *Config) Severity(r *check.Rule) check.Severity {
	severity, length := r.Severity, 0
	for prefix, s := range c.Severities {
		if len(prefix) > length && strings.HasPrefix(r.ID, prefix) {
			severity, length = s, len(prefix)
		}
	}
	return severity
}

// matches reports whether a finding is suppressed in a file that the pattern matches.
func (s *Suppression) matches(f *check.Finding) bool {
	return s.matchesBesides(f) && (s.Function == nil || s.Function.MatchString(f.Function))
}

// matchesBesides is matches but for the function.
func (s *Suppression) matchesBesides(f *check.Finding) bool {
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
