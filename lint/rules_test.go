package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// lintText checks a text with all rules.
func lintText(t testing.TB, text string) *finding.Report {
	t.Helper()
	return lintWith(t, text, nil)
}

// lintWith is lintText with other options.
func lintWith(t testing.TB, text string, with func(*Options)) *finding.Report {
	t.Helper()
	o := Options{File: "a.sym"}
	if with != nil {
		with(&o)
	}
	r, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// passOfText is like lintText, and returns the pass with the state of the rules.
func passOfText(t testing.TB, text string) *check.Pass {
	t.Helper()
	p, err := run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), Options{File: "a.sym"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// limitsOf returns the options that a rule's examples are checked with.
func limitsOf(rule *finding.Rule) func(*Options) {
	return func(o *Options) {
		all := checks()
		if i := slices.IndexFunc(all, func(c *check.Rule) bool { return c.Rule == rule && c.With != nil }); i >= 0 {
			var with check.Options
			all[i].With(&with)
			o.MinCFI, o.MinLines = with.MinCFI, with.MinLines
		}
	}
}

// Every rule is documented, and its documentation is true: Bad gives the finding at the
// right line and no other of the family, and Good gives none. The messages and columns of
// Bad's findings are in a golden file.
func TestRules(t *testing.T) {
	rules := Rules()
	if !slices.IsSortedFunc(rules, func(a, b *finding.Rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the rules are not in order of their IDs")
	}
	seen := map[string]bool{}
	var reported strings.Builder // position and message of each
	for _, rule := range rules {
		t.Run(rule.ID, func(t *testing.T) {
			if seen[rule.ID] {
				t.Error("there are two rules with this ID")
			}
			seen[rule.ID] = true
			if rule.Since > strings.TrimSuffix(version.Version, "-dev") {
				t.Errorf("since %s, which is after %s", rule.Since, version.Version)
			}
			if rule.Title == "" || rule.Doc == "" || rule.Spec == "" || rule.Since == "" {
				t.Error("title, doc, spec or since are missing")
			}
			family := rule.Family()
			if family.Name == "binary" || family.Name == "lint" {
				return
			}
			if rule.Bad == "" || rule.Good == "" {
				t.Fatal("no example")
			}
			var lines []int
			for _, f := range lintWith(t, rule.Bad, limitsOf(rule)).Findings {
				if f.Rule == rule {
					lines = append(lines, f.Line)
					fmt.Fprintln(&reported, f.String())
				} else if f.Rule.Family() == family && !(rule.ID == "SYM702" && f.Rule.ID == "SYM706") {
					t.Errorf("Bad: %v", f.String())
				}
			}
			if !slices.Equal(lines, []int{rule.At}) {
				t.Errorf("Bad: findings at lines %v, want %d", lines, rule.At)
			}
			for _, f := range lintWith(t, rule.Good, limitsOf(rule)).Findings {
				if f.Rule.Family() == family {
					t.Errorf("Good: %v", f.String())
				}
			}
		})
	}
	if len(seen) == len(rules) { // -run may leave some out
		testenv.Golden(t).Assert(t, "examples.txt", []byte(reported.String()))
	}
}
