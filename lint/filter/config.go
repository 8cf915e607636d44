package filter

import (
	"regexp"
	"strings"

	"github.com/symtool/symtool/lint/finding"
)

// Config is a project's configuration of lint. Package lint/config reads it from a file.
type Config struct {
	File           string   // used in messages
	Preset         string   // the name of a preset, or ""
	Select, Ignore []string // see SelectRules
	// MinCFI and MinLines are percentages, or nil for no limit.
	MinCFI, MinLines *float64
	Suppressions     []Suppression

	Severities map[string]finding.Severity // by prefix of an ID; the longest prefix decides
}

// Suppression drops findings.
type Suppression struct {
	Rule     string         // prefix of the rules' IDs
	File     string         // pattern with *, ** and ?; "" for all files
	Function *regexp.Regexp // nil for all
	Message  *regexp.Regexp // nil for all
	Reason   string
	Expires  string // the last day, "2027-01-31"; "" for none
	Line     int    // in the configuration, 0 if unknown

	glob *regexp.Regexp
}

// Severity returns the severity of a rule: the entry with the longest prefix of the rule's ID
// decides.
func (c *Config) Severity(r *finding.Rule) finding.Severity {
	severity, length := r.Severity, 0
	for prefix, s := range c.Severities {
		if len(prefix) > length && strings.HasPrefix(r.ID, prefix) {
			severity, length = s, len(prefix)
		}
	}
	return severity
}

// matches reports whether s suppresses a finding in a file that its pattern matches.
func (s *Suppression) matches(f *finding.Finding) bool {
	return s.matchesBesides(f) && (s.Function == nil || s.Function.MatchString(f.Function))
}

// matchesBesides is like matches but ignores the function.
func (s *Suppression) matchesBesides(f *finding.Finding) bool {
	return strings.HasPrefix(f.Rule.ID, s.Rule) && (s.Message == nil || s.Message.MatchString(f.Message))
}

// matchesFile reports whether the pattern matches a file.
func (s *Suppression) matchesFile(file string) bool {
	return s.glob == nil || s.glob.MatchString(strings.ReplaceAll(file, `\`, "/"))
}

// globRegexp converts a path pattern to a regular expression: "*" and "?" do not
// match "/", "**" does. The pattern matches the end of the path, starting at a
// folder: "a/*.sym" matches x/a/b.sym, too. A pattern that ends in "/" matches
// everything below.
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
