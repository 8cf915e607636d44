package fleet

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/pattern"
)

// action says what a frame does to a signature.
type action uint8

const (
	actKeep   action = iota // it is the last frame in the signature
	actSkip                 // it is left out
	actPrefix               // it is in the signature, and so is its caller
	actTrim                 // like actPrefix; without a function, only its module's name; equal names in a row become one
	actStart                // like actPrefix; frames above it are left out
	actReset                // it is left out, and so are the frames above it, unless one of them has ended the signature
	actOOM                  // it is left out, and the process was out of memory
)

var actionNames = map[string]action{"keep": actKeep, "skip": actSkip, "reset": actReset, "prefix": actPrefix, "trim": actTrim, "start": actStart, "oom": actOOM}

// rule is one line of a rules file.
type rule struct {
	action  action
	pattern *regexp.Regexp // from the start of a name
}

// Rules is an ordered list of rules. The first rule whose pattern matches the start of a frame's name
// decides what the frame does to the signature. A frame that no rule matches ends the signature.
type Rules struct {
	list     []rule
	hasStart bool
}

//go:embed default.rules
var defaultText string

// defaultRules compiles the rules when they are first needed, because most programs that link them walk
// only one dump.
var defaultRules = sync.OnceValue(func() *Rules {
	r, err := ParseRules(strings.NewReader(defaultText), "default.rules")
	if err != nil {
		panic(err)
	}
	return r
})

// DefaultRules returns the rules for frames that say nothing about a crash: functions that raise signals and
// exceptions, allocate and copy memory, wait, or handle crashes.
func DefaultRules() *Rules { return defaultRules() }

// The limits of a file of rules.
const (
	maxRules    = 10_000
	maxRuleLine = 64 << 10 // bytes
)

// A RuleError describes a line of a rules file that is not a rule.
type RuleError struct {
	File string
	Line int
	Text string // what was found and expected
}

func (e *RuleError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// ParseRules reads rules. Each line has an action and a regular expression in Go's syntax. Empty lines and
// lines that begin with # are comments. The error for a malformed line is a *RuleError; file is its name
// in the error.
func ParseRules(in io.Reader, file string) (*Rules, error) {
	rules := &Rules{}
	var patterns pattern.Compiler
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxRuleLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		r, problem := parseRule(&patterns, line)
		if problem == "" && len(rules.list) == maxRules {
			problem = fmt.Sprintf("more than %d rules", maxRules)
		}
		if problem != "" {
			return nil, &RuleError{file, n, problem}
		}
		rules.list = append(rules.list, r)
		rules.hasStart = rules.hasStart || r.action == actStart
	}
	if lines.Err() == bufio.ErrTooLong {
		return nil, &RuleError{file, n + 1, fmt.Sprintf("line of more than %d bytes", maxRuleLine)}
	}
	if lines.Err() != nil {
		return nil, fmt.Errorf("%s: %w", file, lines.Err())
	}
	return rules, nil
}

// parseRule parses a line; problem is "" if it is a rule.
func parseRule(c *pattern.Compiler, line string) (r rule, problem string) {
	word, expr := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		word, expr = line[:i], strings.TrimSpace(line[i:])
	}
	act, ok := actionNames[word]
	switch {
	case !ok:
		return r, fmt.Sprintf("rule %q: want skip, reset, prefix, trim, start, oom or keep", word)
	case expr == "":
		return r, word + " without a pattern: want a regular expression of the names of frames"
	}
	if err := c.Check(expr); err != nil { // by itself: the text around it could balance its brackets
		return r, fmt.Sprintf("%s %q: %v", word, expr, err)
	}
	re, err := regexp.Compile(`\A(?:` + expr + `)`)
	if err != nil {
		return r, fmt.Sprintf("%s %q: %v", word, expr, err)
	}
	return rule{act, re}, ""
}

// Before returns the rules of r followed by those of other.
func (r *Rules) Before(other *Rules) *Rules {
	return &Rules{list: append(r.list[:len(r.list):len(r.list)], other.list...), hasStart: r.hasStart || other.hasStart}
}

// action returns what a frame of this name does to a signature.
func (r *Rules) action(name string) action {
	for i := range r.list {
		if r.list[i].pattern.MatchString(name) {
			return r.list[i].action
		}
	}
	return actKeep
}
