package lint

import (
	"fmt"
	"slices"
	"strings"

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
func Rules() []*Rule {
	list := checks()
	rules := make([]*Rule, len(list), len(list)+len(filter.Rules))
	for i, c := range list {
		rules[i] = c.Rule
	}
	return append(rules, filter.Rules...) // they report on the filter, not on a file
}

// checksOf returns the checks of the given rules, or all if rules is nil.
func checksOf(rules []*Rule) ([]*check.Rule, error) {
	all := checks()
	if rules == nil {
		return all, nil
	}
	list := make([]*check.Rule, 0, len(rules))
	for _, r := range rules {
		i, found := slices.BinarySearchFunc(all, r.ID, func(c *check.Rule, id string) int { return strings.Compare(c.ID, id) })
		switch {
		case found:
			c := *all[i]
			c.Rule = r
			list = append(list, &c)
		case !slices.Contains(filter.Rules, r):
			return nil, fmt.Errorf("unknown rule %q: want one of lint.Rules", r.ID)
		}
	}
	return list, nil
}

// RuleByID returns a rule, or nil if the ID is unknown.
func RuleByID(id string) *Rule {
	rules := Rules()
	if i := slices.IndexFunc(rules, func(r *Rule) bool { return r.ID == id }); i >= 0 {
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
	if strings.HasPrefix(word, "SYM") && slices.ContainsFunc(Rules(), func(r *Rule) bool { return strings.HasPrefix(r.ID, word) }) {
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
func SelectRules(selected, ignored []string) ([]*Rule, error) {
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
	rules := []*Rule{}
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
