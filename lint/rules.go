package lint

import "slices"

// Rules returns all rules, by ID.
func Rules() []*Rule {
	return slices.Concat(
		orderRules, moduleRules, textRules, limitRules, // 1xx
		refRules, useRules, formRules, moduleIDRules, // 2xx
		rangeRules, lineRules, inlineRules, publicRules, []*Rule{orphanRule, isaBitRule}, // 3xx
		cfiRules, winRules, // 4xx
		binaryRules,              // 5xx
		nameRules, fileNameRules, // 6xx
		coverageRules, // 7xx
		suppressRules, // 9xx
	)
}

// RuleByID returns a rule, or nil if the ID is unknown.
func RuleByID(id string) *Rule {
	rules := Rules()
	if i := slices.IndexFunc(rules, func(r *Rule) bool { return r.ID == id }); i >= 0 {
		return rules[i]
	}
	return nil
}
