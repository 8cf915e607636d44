package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/closest"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/rules/binary"
	"github.com/symtool/symtool/lint/internal/rules/cfi"
	"github.com/symtool/symtool/lint/internal/rules/coverage"
	"github.com/symtool/symtool/lint/internal/rules/grammar"
	"github.com/symtool/symtool/lint/internal/rules/names"
	"github.com/symtool/symtool/lint/internal/rules/ranges"
	"github.com/symtool/symtool/lint/internal/rules/references"
	"github.com/symtool/symtool/lint/internal/rules/variables"
)

// checks returns all rules that check a file, in order of ID.
func checks() []*check.Rule {
	return slices.Concat(grammar.Rules, references.Rules, ranges.Rules, cfi.Rules, binary.Rules, names.Rules, coverage.Rules, variables.Rules)
}

// Rules returns all rules in order of ID.
func Rules() []*finding.Rule {
	list := checks()
	rules := make([]*finding.Rule, len(list), len(list)+len(filter.Rules))
	for i, c := range list {
		rules[i] = c.Rule
	}
	return append(rules, filter.Rules...) // they report on the filter, not on a file
}

// checksOf returns the checks of the given rules, or all if rules is nil.
func checksOf(rules []*finding.Rule) ([]*check.Rule, error) {
	all := checks()
	if rules == nil {
		return all, nil
	}
	list := make([]*check.Rule, 0, len(rules))
	for _, r := range rules {
		i, found := slices.BinarySearchFunc(all, r.ID, func(c *check.Rule, id string) int { return strings.Compare(c.ID, id) })
		switch {
		case r.Check != nil:
			if err := validOwn(r, rules); err != nil {
				return nil, err
			}
			list = append(list, check.Own(r))
		case found:
			c := *all[i]
			c.Rule = r
			list = append(list, &c)
		case !slices.Contains(filter.Rules, r):
			return nil, fmt.Errorf("unknown rule %q: want one of lint.Rules, or a Check", r.ID)
		}
	}
	return list, nil
}

// ownID is the form of the IDs of rules of a program's own.
var ownID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]{3}[1-9][0-9]{2}$`) })

// validOwn checks the ID of a rule of the caller's own, one of rules. Configurations and outputs identify rules by it.
func validOwn(r *finding.Rule, rules []*finding.Rule) error {
	if !ownID().MatchString(r.ID) || strings.HasPrefix(r.ID, "SYM") {
		return fmt.Errorf("rule %q: want an ID of three capital letters other than SYM, the digit of a family, and two digits", r.ID)
	}
	if slices.ContainsFunc(rules, func(other *finding.Rule) bool { return other != r && other.ID == r.ID }) {
		return fmt.Errorf("rule %s is given twice", r.ID)
	}
	return nil
}

// RuleByID returns a rule, or nil if the ID is unknown.
func RuleByID(id string) *finding.Rule {
	rules := Rules()
	if i := slices.IndexFunc(rules, func(r *finding.Rule) bool { return r.ID == id }); i >= 0 {
		return rules[i]
	}
	return nil
}

// selectAll names all rules.
const selectAll = "all"

// RulePrefix returns the prefix of IDs that word, from --select, --ignore or a configuration,
// stands for. A word is an ID (SYM401), a prefix of IDs (SYM4), the name of a family (cfi), or all.
func RulePrefix(word string) (prefix string, err error) {
	word = strings.TrimSpace(word)
	if upper := strings.ToUpper(word); strings.HasPrefix(upper, "SYM") {
		word = upper
	}
	if word == selectAll {
		return "SYM", nil
	}
	for _, f := range finding.Families {
		if word == f.Name {
			return fmt.Sprintf("SYM%d", f.Hundred), nil
		}
	}
	if strings.HasPrefix(word, "SYM") && slices.ContainsFunc(Rules(), func(r *finding.Rule) bool { return strings.HasPrefix(r.ID, word) }) {
		return word, nil
	}
	names := make([]string, len(finding.Families))
	for i, f := range finding.Families {
		names[i] = f.Name
	}
	return "", fmt.Errorf("unknown rule %q: want an ID (SYM101), a prefix (SYM1), all, or a family (%s)%s", word, strings.Join(names, ", "), closest.Meant(word, names))
}

// SelectRules returns, in order of ID, the rules that words in selected stand for and words in
// ignored do not. An empty selected stands for all rules. If both lists have a word for a rule, the
// longer prefix of its ID decides, and ignored wins if both are equally long: selecting SYM401 and
// ignoring cfi leaves one rule of the family.
func SelectRules(selected, ignored []string) ([]*finding.Rule, error) {
	if len(selected) == 0 {
		selected = []string{selectAll}
	}
	wanted, err := selectors(selected)
	if err != nil {
		return nil, err
	}
	unwanted, err := selectors(ignored)
	if err != nil {
		return nil, err
	}
	rules := []*finding.Rule{}
	for _, r := range Rules() {
		if longest(wanted, r.ID) > longest(unwanted, r.ID) {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

func selectors(words []string) ([]string, error) {
	prefixes := make([]string, 0, len(words))
	for _, w := range words {
		p, err := RulePrefix(w)
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, p)
	}
	return prefixes, nil
}

// longest returns the length of the longest prefix of id among prefixes, or 0.
func longest(prefixes []string, id string) int {
	n := 0
	for _, p := range prefixes {
		if strings.HasPrefix(id, p) {
			n = max(n, len(p))
		}
	}
	return n
}
