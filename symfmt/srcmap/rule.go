package srcmap

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/pattern"
	"github.com/symtool/symtool/internal/text"
)

// Rule is one rule of a Mapping.
type Rule struct {
	expr   *regexp.Regexp
	prefix string // text after ^ in expr, or "". Most paths fail to match it
	parts  []part
	files  map[string]bool // the only paths that it applies to; nil means all
}

// subject returns the path that the rule's expression is matched with: a listed path as
// listed or, if no paths are listed, any origin.
func (r *Rule) subject(path, origin string) (s string, ok bool) {
	switch {
	case r.files == nil || r.files[origin]:
		return origin, true
	case r.files[path]:
		return path, true
	}
	return "", false
}

// match is expr.FindStringSubmatchIndex.
func (r *Rule) match(path string) []int {
	if !strings.HasPrefix(path, r.prefix) {
		return nil
	}
	return r.expr.FindStringSubmatchIndex(path)
}

// anchoredPrefix returns the text that every match of an expression begins with, if
// it is anchored at the start of the path.
func anchoredPrefix(re *regexp.Regexp) string {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	s := parsed.Simplify()
	if s.Op != syntax.OpConcat || len(s.Sub) < 2 || s.Sub[0].Op != syntax.OpBeginText {
		return ""
	}
	text := s.Sub[1]
	if text.Op != syntax.OpLiteral || text.Flags&syntax.FoldCase != 0 || slices.Contains(text.Rune, utf8.RuneError) {
		return "" // U+FFFD matches any invalid byte
	}
	return string(text.Rune)
}

// part is a piece of a template.
type part struct {
	kind  partKind
	text  string // for partText
	group int    // for partGroup
}

type partKind uint8

const (
	partText partKind = iota
	partGroup
	partDigest // SHA-512 of the source file
	partDIGEST // in upper case
	partMD5    // as in the debug information
)

// reserved are the names that cannot be variables in templates.
var reserved = map[string]partKind{"digest": partDigest, "DIGEST": partDIGEST, "md5": partMD5}

// presets are the named rules.
var presets = map[string]string{
	// rustc's own build replaces its folder by /rustc/ and the revision; on
	// Windows the rest has backslashes.
	"rust": `^/rustc/([0-9a-f]{40}(?:[0-9a-f]{24})?)[/\\](.+)$=git:github.com/rust-lang/rust:{2}:{1}`,
}

// presetNames returns the names of the preset rules.
func presetNames() (names []string) {
	for name := range presets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ParseRule reads "REGEX=TEMPLATE", or the name of a preset. REGEX is in the
// syntax of package regexp (RE2), and ends at the first "=" (\x3d is one in it).
// It matches any part of the path unless it has ^ and $. TEMPLATE is the whole
// name, in which these are replaced:
//
//	{0} {1} {name}     the match, and its groups
//	{var}              a variable
//	{digest} {DIGEST}  SHA-512 of the source file's content, hexadecimal
//	{md5}              its MD5, as in the debug information
//	{{ }}              braces
func ParseRule(text string, vars map[string]string) (Rule, error) {
	return parseRule(&pattern.Compiler{}, text, vars)
}

// parseRule is like ParseRule, for a rule from a file, whose expressions share a
// limit.
func parseRule(c *pattern.Compiler, text string, vars map[string]string) (Rule, error) {
	if preset, ok := presets[text]; ok {
		text = preset
	}
	expr, template, ok := strings.Cut(text, "=")
	if !ok || expr == "" || template == "" {
		return Rule{}, fmt.Errorf("want REGEX=TEMPLATE, or %s", strings.Join(presetNames(), ", "))
	}
	return newRule(c, expr, template, vars)
}

func newRule(c *pattern.Compiler, expr, template string, vars map[string]string) (Rule, error) {
	if hasControls(template) {
		return Rule{}, errors.New("the template contains control characters")
	}
	r := Rule{}
	var err error
	if r.expr, err = c.Compile(expr); err != nil {
		return Rule{}, err
	}
	r.prefix = anchoredPrefix(r.expr)
	r.parts, err = parseTemplate(template, r.expr, vars)
	return r, err
}

// parseTemplate splits a template at its braces.
func parseTemplate(s string, expr *regexp.Regexp, vars map[string]string) (parts []part, err error) {
	text := ""
	for s != "" {
		n := strings.IndexAny(s, "{}")
		if n < 0 {
			text += s
			break
		}
		text += s[:n]
		s = s[n:]
		if strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}") {
			text += s[:1]
			s = s[2:]
			continue
		}
		name, rest, ok := strings.Cut(s[1:], "}")
		if s[0] == '}' {
			return nil, errors.New("} without { in the template: write }} for a brace")
		}
		if !ok {
			return nil, errors.New("{ without } in the template: write {{ for a brace")
		}
		p, err := parseName(name, expr, vars)
		if err != nil {
			return nil, err
		}
		if p.kind == partText {
			text += p.text
		} else {
			parts = append(parts, part{kind: partText, text: text}, p)
			text = ""
		}
		s = rest
	}
	return append(parts, part{kind: partText, text: text}), nil
}

// parseName returns the meaning of a name in braces.
func parseName(name string, expr *regexp.Regexp, vars map[string]string) (part, error) {
	if kind, ok := reserved[name]; ok {
		return part{kind: kind}, nil
	}
	if isNumber(name) {
		n, err := strconv.Atoi(name)
		if most := expr.NumSubexp(); err != nil || n > most {
			return part{}, fmt.Errorf("{%s}: the regular expression has groups up to {%d}", name, most)
		}
		return part{kind: partGroup, group: n}, nil
	}
	group := -1
	if name != "" {
		group = expr.SubexpIndex(name)
	}
	value, isVar := vars[name]
	switch {
	case group >= 0 && isVar:
		return part{}, fmt.Errorf("{%s} is both a group of the regular expression and a variable", name)
	case group >= 0:
		return part{kind: partGroup, group: group}, nil
	case isVar:
		return part{kind: partText, text: value}, nil
	}
	return part{}, &NameError{name}
}

// NameError reports a name in a template that is neither a group nor a variable.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("{%s} is neither a group of the regular expression nor a variable", e.Name)
}

// hasControls reports whether a text contains characters that end fields or
// lines, or that a terminal would interpret.
func hasControls(s string) bool { return !text.IsPrintable(s) || strings.ContainsAny(s, tabsAndEnds) }

// tabsAndEnds are the characters that cannot occur in a list with one line per
// file and tab-separated fields.
const tabsAndEnds = "\t\n\r\x00"

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

var varName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckVar returns an error if name or value cannot be a variable of templates.
func CheckVar(name, value string) error {
	_, taken := reserved[name]
	switch {
	case !varName.MatchString(name):
		return fmt.Errorf("the name %q has other characters than letters, digits and _", name)
	case taken:
		return fmt.Errorf("{%s} is reserved for the source file", name)
	case hasControls(value):
		return fmt.Errorf("the value %q contains control characters", value)
	}
	return nil
}

func (r *Rule) has(kind partKind) bool {
	return slices.ContainsFunc(r.parts, func(p part) bool { return p.kind == kind })
}

// filled reports whether all groups of the template took part in a match.
func (r *Rule) filled(match []int) bool {
	return !slices.ContainsFunc(r.parts, func(p part) bool { return p.kind == partGroup && match[2*p.group] < 0 })
}

// name fills in the template.
func (r *Rule) name(path string, match []int, file *sourceFile, md5 string) string {
	var b strings.Builder
	for _, p := range r.parts {
		switch p.kind {
		case partText:
			b.WriteString(p.text)
		case partGroup:
			b.WriteString(path[match[2*p.group]:match[2*p.group+1]])
		case partDigest:
			b.WriteString(file.sha512)
		case partDIGEST:
			b.WriteString(strings.ToUpper(file.sha512))
		case partMD5:
			b.WriteString(md5)
		}
	}
	return b.String()
}
