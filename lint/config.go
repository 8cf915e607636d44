package lint

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
)

// Config is a project's configuration of lint: a TOML file, by convention ConfigName.
//
//	select = ["all"]             # IDs, beginnings of IDs, families
//	ignore = ["SYM606"]
//	min-cfi = 99.0               # percent of the code
//	min-lines = 90.0
//
//	[severity]
//	SYM607 = "error"             # of an ID, a beginning or a family
//
//	[[suppress]]
//	rule = "SYM603"
//	file = "libold.so.sym"       # pattern; without it, all files
//	function = "^Legacy::"       # regular expression; without it, all
//	message = "control"          # regular expression; without it, all
//	reason = "names come from a vendor's object, see BUG-12"
//	expires = 2027-01-31         # the last day; without it, for ever
type Config struct {
	File           string   // its name, for messages
	Select, Ignore []string // see SelectRules
	// MinCFI and MinLines are percentages, nil where none is demanded.
	MinCFI, MinLines *float64
	Suppressions     []Suppression

	severities map[string]Severity // by beginning of an ID
}

// ConfigName is the name of configuration files.
const ConfigName = ".symlint.toml"

// maxConfig is the limit on the size of a configuration, in bytes.
const maxConfig = 1 << 20

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

// ConfigError is an error in a configuration or a baseline.
type ConfigError struct {
	File      string
	Line, Col int // from 1, 0 if not known
	Msg       string
}

// Error prints "a.toml:3:1: unknown key".
func (e *ConfigError) Error() string {
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
	}
	if e.Col > 0 {
		place += fmt.Sprintf(":%d", e.Col)
	}
	return place + ": " + text.Printable(e.Msg)
}

// ReadConfig reads a configuration; file is its name for messages. A malformed configuration is a
// *ConfigError.
func ReadConfig(file string, in io.Reader) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxConfig {
		return nil, &ConfigError{File: file, Msg: fmt.Sprintf("more than %d bytes: not a configuration", maxConfig)}
	}
	text, wrong := parseConfig(data)
	if wrong != nil {
		wrong.File = file
		return nil, wrong
	}
	b := configBuilder{config: &Config{File: file, severities: map[string]Severity{}}, lines: keyLines(data)}
	b.selection(text)
	b.thresholds(text)
	b.severity(text.Severity)
	b.suppressions(text)
	if b.err != nil {
		return nil, b.err
	}
	return b.config, nil
}

// configBuilder checks what TOML does not. It keeps the first error.
type configBuilder struct {
	config *Config
	lines  map[string]int
	err    error
}

func (b *configBuilder) fail(key, format string, args ...any) {
	if b.err == nil {
		b.err = &ConfigError{File: b.config.File, Line: b.line(key), Msg: fmt.Sprintf(format, args...)}
	}
}

// line returns the line of a key, or of the table that it is in.
func (b *configBuilder) line(key string) int {
	line := b.lines[key]
	for line == 0 && strings.Contains(key, ".") {
		key = key[:strings.LastIndexByte(key, '.')]
		line = b.lines[key]
	}
	return line
}

func (b *configBuilder) selection(text *configText) {
	for key, words := range map[string][]string{"select": text.Select, "ignore": text.Ignore} {
		if _, err := selectors(words); err != nil {
			b.fail(key, "%s: %v", key, err)
		}
	}
	b.config.Select, b.config.Ignore = text.Select, text.Ignore
}

func (b *configBuilder) thresholds(text *configText) {
	b.config.MinCFI, b.config.MinLines = text.MinCFI, text.MinLines
	b.percentage("min-cfi", text.MinCFI)
	b.percentage("min-lines", text.MinLines)
}

func (b *configBuilder) percentage(key string, value *float64) {
	if value != nil && !(*value >= 0 && *value <= 100) {
		b.fail(key, "%s is %v, want 0 to 100 percent", key, *value)
	}
}

func (b *configBuilder) severity(words map[string]string) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		prefix, err := selector(word)
		if err != nil {
			b.fail("severity."+word, "severity: %v", err)
			continue
		}
		i := slices.Index(severityNames[:], words[word])
		if i < 0 {
			b.fail("severity."+word, "severity of %s is %q, want %s", word, words[word], strings.Join(severityNames[:], ", "))
			continue
		}
		b.config.severities[prefix] = Severity(i)
	}
}

func (b *configBuilder) suppressions(text *configText) {
	for i := range text.Suppress {
		t := &text.Suppress[i]
		key := fmt.Sprintf("suppress.%d", i)
		s := Suppression{File: t.File, Reason: strings.TrimSpace(t.Reason), Line: b.line(key), glob: globRegexp(t.File)}
		if t.Expires != nil {
			s.Expires = t.Expires.String()
		}
		if t.Rule == "" {
			b.fail(key, "suppress: there is no rule: want an ID, or a family")
		} else if prefix, err := selector(t.Rule); err != nil {
			b.fail(key+".rule", "suppress: %v", err)
		} else {
			s.Rule = prefix
		}
		if s.Reason == "" {
			b.fail(key, "suppress: there is no reason: tell why %s is suppressed", t.Rule)
		}
		s.Function = b.regexp(key, "function", t.Function)
		s.Message = b.regexp(key, "message", t.Message)
		b.config.Suppressions = append(b.config.Suppressions, s)
	}
}

func (b *configBuilder) regexp(key, name, text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		b.fail(key+"."+name, "suppress: %s: %v", name, err)
	}
	return re
}

// Rules returns the rules that the configuration selects, by ID.
func (c *Config) Rules() ([]*Rule, error) { return SelectRules(c.Select, c.Ignore) }

// severity is a rule's severity: the entry with the longest prefix of its ID decides.
func (c *Config) severity(r *Rule) Severity {
	severity, length := r.Severity, 0
	for prefix, s := range c.severities {
		if len(prefix) > length && strings.HasPrefix(r.ID, prefix) {
			severity, length = s, len(prefix)
		}
	}
	return severity
}
