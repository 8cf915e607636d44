// Package config reads the files in which a project configures lint: its configuration, in TOML,
// and the baseline of its known findings, in JSON.
package config

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/pattern"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// maxConfig is the maximum size of a configuration in bytes.
const maxConfig = 1 << 20

// Error is an error in a configuration or a baseline.
type Error struct {
	File      string
	Line, Col int // from 1; 0 if unknown
	Msg       string
}

// Error returns a message such as "a.toml:3:1: unknown key".
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
	}
	if e.Col > 0 {
		place += fmt.Sprintf(":%d", e.Col)
	}
	return place + ": " + text.Printable(e.Msg)
}

// Read reads a configuration, in TOML; file is its name in messages. If the configuration is
// malformed, the error is an *Error.
//
//	preset = "stripped"          # one of lint.PresetNames
//	select = ["all"]             # IDs, prefixes of IDs, families
//	ignore = ["SYM606"]
//	min-cfi = 99.0               # percent of the code
//	min-lines = 90.0
//
//	[severity]
//	SYM607 = "error"             # for an ID, a prefix or a family
//
//	[[suppress]]
//	rule = "SYM603"
//	file = "libold.so.sym"       # pattern; without it, all files
//	function = "^Legacy::"       # regular expression; without it, all
//	message = "control"          # regular expression; without it, all
//	reason = "names come from a vendor's object, see BUG-12"
//	expires = 2027-01-31         # the last day; without it, never
func Read(in io.Reader, file string) (*filter.Config, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxConfig {
		return nil, &Error{File: file, Msg: fmt.Sprintf("more than %d bytes: not a configuration", maxConfig)}
	}
	text, wrong := parse(data)
	if wrong != nil {
		wrong.File = file
		return nil, wrong
	}
	b := builder{config: &filter.Config{File: file, Severities: map[string]finding.Severity{}}, lines: keyLines(data)}
	b.preset(text.Preset)
	b.selection(text)
	b.thresholds(text)
	b.severity(text.Severity)
	b.suppressions(text)
	if b.err != nil {
		return nil, b.err
	}
	return b.config, nil
}

// builder checks what the TOML decoder does not, and keeps the first error.
type builder struct {
	patterns pattern.Compiler

	config *filter.Config
	lines  map[string]int
	err    error
}

func (b *builder) fail(key, format string, args ...any) {
	if b.err == nil {
		b.err = &Error{File: b.config.File, Line: b.line(key), Msg: fmt.Sprintf(format, args...)}
	}
}

// line returns the line of a key or, if that is unknown, of its table.
func (b *builder) line(key string) int {
	line := b.lines[key]
	for line == 0 && strings.Contains(key, ".") {
		key = key[:strings.LastIndexByte(key, '.')]
		line = b.lines[key]
	}
	return line
}

func (b *builder) preset(name string) {
	if _, ok := lint.PresetByName(name); !ok && name != "" {
		b.fail("preset", "preset is %q, want %s", name, strings.Join(lint.PresetNames(), ", "))
	}
	b.config.Preset = name
}

func (b *builder) selection(text *fileText) {
	for key, words := range map[string][]string{"select": text.Select, "ignore": text.Ignore} {
		if _, err := lint.SelectRules(words, nil); err != nil {
			b.fail(key, "%s: %v", key, err)
		}
	}
	b.config.Select, b.config.Ignore = text.Select, text.Ignore
}

func (b *builder) thresholds(text *fileText) {
	b.config.MinCFI, b.config.MinLines = text.MinCFI, text.MinLines
	b.percentage("min-cfi", text.MinCFI)
	b.percentage("min-lines", text.MinLines)
}

func (b *builder) percentage(key string, value *float64) {
	if value != nil && !(*value >= 0 && *value <= 100) {
		b.fail(key, "%s is %v, want 0 to 100 percent", key, *value)
	}
}

func (b *builder) severity(words map[string]string) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		prefix, err := lint.RulePrefix(word)
		if err != nil {
			b.fail("severity."+word, "severity: %v", err)
			continue
		}
		severity, ok := finding.SeverityByName(words[word])
		if !ok {
			b.fail("severity."+word, "severity of %s is %q, want %v, %v, %v; ignore = [%q] leaves the rule out", word, words[word], finding.Note, finding.Warning, finding.Error, word)
			continue
		}
		b.config.Severities[prefix] = severity
	}
}

func (b *builder) suppressions(text *fileText) {
	for i := range text.Suppress {
		t := &text.Suppress[i]
		key := fmt.Sprintf("suppress.%d", i)
		s := filter.Suppression{File: t.File, Reason: strings.TrimSpace(t.Reason), Line: b.line(key)}
		if t.Expires != nil {
			s.Expires = t.Expires.String()
		}
		if t.Rule == "" {
			b.fail(key, "suppress: rule is missing: want an ID, or a family")
		} else if prefix, err := lint.RulePrefix(t.Rule); err != nil {
			b.fail(key+".rule", "suppress: %v", err)
		} else {
			s.Rule = prefix
		}
		if s.Reason == "" {
			b.fail(key, "suppress: reason is missing: say why %s is suppressed", t.Rule)
		}
		s.Function = b.regexp(key, "function", t.Function)
		s.Message = b.regexp(key, "message", t.Message)
		b.config.Suppressions = append(b.config.Suppressions, s)
	}
}

func (b *builder) regexp(key, name, text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	re, err := b.patterns.Compile(text)
	if err != nil {
		b.fail(key+"."+name, "suppress: %s: %v", name, err)
	}
	return re
}
