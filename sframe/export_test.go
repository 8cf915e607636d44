package sframe

// MaxFindings is for tests.
const MaxFindings = maxFindings

// RuleIDs returns the profiles in which each rule applies.
func RuleIDs() map[string][]Profile {
	m := map[string][]Profile{}
	for _, r := range rules {
		for p := Spec; p <= Kernel; p++ {
			if r.in.at(p) != 0 {
				m[r.id] = append(m[r.id], p)
			}
		}
	}
	return m
}

// RuleCount returns the number of rules.
func RuleCount() int { return len(rules) }
