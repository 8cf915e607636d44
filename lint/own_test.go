package lint

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

const ownText = "MODULE Linux x86_64 000000000000000000000000000000010 a\nFILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\nFUNC 1010 10 0 g\n"

// A rule of a program's own is called for its kinds of records only, knows the module and the functions, and its
// findings are counted like others.
func TestOwnRule(t *testing.T) {
	var kinds []symfmt.Kind
	var functions []finding.Function
	rule := &finding.Rule{
		ID: "APP301", Severity: finding.Warning, On: []symfmt.Kind{symfmt.KindFunc, symfmt.KindLine},
		Check: func(p *finding.Pass) (func(*symfmt.Record), func()) {
			if p.Module() != nil || p.Binary != nil || p.File != "a.sym" {
				t.Errorf("at the beginning: module %v, binary %v, file %q", p.Module(), p.Binary, p.File)
			}
			return func(r *symfmt.Record) {
					kinds = append(kinds, r.Kind)
					if r.Kind == symfmt.KindFunc {
						p.Report(r, 1, "%s of %s", r.Name, p.Module().Name)
					}
				}, func() {
					for f := range p.Functions() {
						functions = append(functions, f)
					}
					p.ReportLine(0, "the file")
					p.ReportAt(5, 0x1010, "the end")
				}
		},
	}
	report, err := Run(t.Context(), symfmt.TextRecords(strings.NewReader(ownText)), Options{File: "a.sym", Rules: []*finding.Rule{rule}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range report.Findings {
		got = append(got, report.Findings[i].String())
	}
	const want = "a.sym: APP301 warning: the file|a.sym:3:6: APP301 warning: f of a|a.sym:5: APP301 warning: the end|a.sym:5:6: APP301 warning: g of a"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if len(kinds) != 3 || len(functions) != 2 || functions[0] != (finding.Function{RVA: 0x1000, Size: 16, Line: 3, Lines: 1, Covered: 8}) {
		t.Errorf("records %v, functions %v", kinds, functions)
	}
	if report.Counts["APP301"] != 4 || report.Totals[finding.Warning] != 4 {
		t.Errorf("counts %v, totals %v", report.Counts, report.Totals)
	}
}

// IDs identify rules in configurations and outputs, so that each has a family and no other rule has it.
func TestOwnRuleID(t *testing.T) {
	check := func(*finding.Pass) (func(*symfmt.Record), func()) { return nil, nil }
	for _, c := range []struct {
		ids []string
		err string
	}{
		{[]string{"APP301", "APP302"}, ""},
		{[]string{"SYM301"}, "three capital letters other than SYM"},
		{[]string{"SYM999"}, "three capital letters other than SYM"},
		{[]string{"APP001"}, "the digit of a family"},
		{[]string{""}, "three capital letters"},
		{[]string{"APP301", "APP301"}, "given twice"},
	} {
		var rules []*finding.Rule
		for _, id := range c.ids {
			rules = append(rules, &finding.Rule{ID: id, Check: check})
		}
		_, err := Run(t.Context(), symfmt.TextRecords(strings.NewReader(ownText)), Options{Rules: rules})
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: error %v, want %q", c.ids, err, c.err)
		}
	}
}
