package lint

import "slices"

// Rules returns all rules, by ID.
func Rules() []*Rule {
	return slices.Concat(grammarRules, cfiRules, winRules, binaryRules, nameRules, fileNameRules, coverageRules, suppressRules)
}

// RuleByID returns a rule, nil if there is none.
func RuleByID(id string) *Rule {
	rules := Rules()
	if i := slices.IndexFunc(rules, func(r *Rule) bool { return r.ID == id }); i >= 0 {
		return rules[i]
	}
	return nil
}
