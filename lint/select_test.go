package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/finding"
)

func TestSelectRules(t *testing.T) {
	all := len(Rules())
	names := 0
	for _, r := range Rules() {
		if r.Family().Name == "names" {
			names++
		}
	}
	for _, c := range []struct {
		selected, ignored string
		want              int
		has, lacks        string
	}{
		{"", "", all, "SYM101", ""},
		{"all", "", all, "SYM101", ""},
		{"names", "", names, "SYM601", "SYM101"},
		{"SYM6", "", names, "SYM601", "SYM101"},
		{"SYM601 SYM101", "", 2, "SYM601", "SYM602"},
		{"", "names", all - names, "SYM101", "SYM601"},
		{"", "all", 0, "", "SYM101"},
		{"SYM601", "names", 1, "SYM601", "SYM602"},
		{"names", "SYM601", names - 1, "SYM602", "SYM601"},
		{"SYM601", "SYM601", 0, "", "SYM601"},
		{"names", "all", names, "SYM601", "SYM101"},
		{"sym6", "Sym602", names - 1, "SYM601", "SYM602"},
	} {
		rules, err := SelectRules(strings.Fields(c.selected), strings.Fields(c.ignored))
		if err != nil {
			t.Fatal(err)
		}
		has := func(id string) bool {
			return slices.ContainsFunc(rules, func(r *finding.Rule) bool { return r.ID == id })
		}
		if len(rules) != c.want || c.has != "" && !has(c.has) || c.lacks != "" && has(c.lacks) || rules == nil {
			t.Errorf("select %q, ignore %q: %d rules, want %d", c.selected, c.ignored, len(rules), c.want)
		}
	}
	for _, word := range []string{"", "S", "sy", "sym699", "Names", "SYM6011", "names,cfi"} {
		if _, err := SelectRules([]string{word}, nil); err == nil {
			t.Errorf("%q selects rules", word)
		}
		if _, err := SelectRules(nil, []string{word}); err == nil {
			t.Errorf("%q ignores rules", word)
		}
	}
}
