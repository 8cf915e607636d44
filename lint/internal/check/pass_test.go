package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// checked runs a pass over a symbol file.
func checked(t *testing.T, p *Pass, in string) *finding.Report {
	t.Helper()
	p.Begin()
	for rd := symfmt.NewReader(strings.NewReader(in), symfmt.ReadOptions{}); ; {
		r, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p.See(r)
	}
	p.EndRecords()
	p.EndRules()
	p.Result.Sort()
	return p.Result
}

const publics = Head + "PUBLIC 2000 0 g\nPUBLIC 1000 0 f\nPUBLIC 3000 0 h\n"

func public(id string, check Func) *Rule {
	return &Rule{Rule: &finding.Rule{ID: id, Severity: finding.Warning}, On: []symfmt.Kind{symfmt.KindPublic}, Check: check}
}

// messages returns the messages of the findings, with rule and position.
func messages(r *finding.Report) string {
	var list []string
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s:%d:%d %s", f.Rule.ID, f.Line, f.Col, f.Message))
	}
	return strings.Join(list, "; ")
}

// counter is state that rules of a test share.
type counter struct{ n int }

// Rules share one value in each pass; another pass has its own.
func TestState(t *testing.T) {
	add := PerRecord(func(p *Pass, _ *symfmt.Record) { State[counter](p).n++ })
	rules := []*Rule{public("SYM101", add), public("SYM102", add)}
	for range 2 {
		p := New(Options{Rules: rules})
		checked(t, p, publics)
		if n := State[counter](p).n; n != 6 {
			t.Errorf("two rules counted %d, want 6", n)
		}
	}
}

// Inside As, findings belong to the rule that it names, if that rule is checked. Afterwards the running
// rule is current again.
func TestAs(t *testing.T) {
	rule := public("SYM101", PerRecord(func(p *Pass, r *symfmt.Record) {
		p.As("SYM102", func() { p.Report(r, 1, "a") })
		p.As("SYM103", func() { t.Error("SYM103 is not checked") })
		p.Report(r, -1, "b")
	}))
	r := checked(t, New(Options{Rules: []*Rule{rule, {Rule: &finding.Rule{ID: "SYM102"}}}}), Head+"PUBLIC 1000 0 f\n")
	if got, want := messages(r), "SYM101:2:1 b; SYM102:2:8 a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Rules that share an examination run it once, whichever of them are checked.
func TestSharedAtEnd(t *testing.T) {
	looks := 0
	look := SharedAtEnd(func(p *Pass) {
		looks++
		for _, id := range []string{"SYM101", "SYM102"} {
			p.As(id, func() { p.ReportLine(1, "found") })
		}
	})
	first, second := &Rule{Rule: &finding.Rule{ID: "SYM101"}, Check: look}, &Rule{Rule: &finding.Rule{ID: "SYM102"}, Check: look}
	for want, rules := range map[string][]*Rule{
		"SYM101:1:0 found; SYM102:1:0 found": {first, second}, "SYM101:1:0 found": {first}, "SYM102:1:0 found": {second},
	} {
		looks = 0
		if got := messages(checked(t, New(Options{Rules: rules}), publics)); got != want || looks != 1 {
			t.Errorf("%s in %d looks, want %s in 1", got, looks, want)
		}
	}
}

// A watcher gets each record before the rules do, and only records of its kinds.
func TestWatch(t *testing.T) {
	var order []string
	p := New(Options{Rules: []*Rule{public("SYM101", PerRecord(func(_ *Pass, r *symfmt.Record) { order = append(order, "rule "+string(r.Name)) }))}})
	p.Watch(func(r *symfmt.Record) { order = append(order, "watch "+string(r.Name)) }, symfmt.KindPublic)
	checked(t, p, Head+"FUNC 500 10 0 e\nPUBLIC 1000 0 f\nPUBLIC 2000 0 g\n")
	if got, want := strings.Join(order, ", "), "watch f, rule f, watch g, rule g"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// dropper is a Sieve that keeps findings with a word.
type dropper struct {
	word   string
	unseen int
}

func (dropper) Severity(*finding.Rule) finding.Severity { return finding.Error }
func (d dropper) Keep(f *finding.Finding) bool          { return strings.Contains(f.Message, d.word) }
func (d dropper) KeepUnseen(_ *finding.Rule, n int) int { return min(n, d.unseen) }
func (d dropper) NeedsWords() bool                      { return d.word != "" }

// Findings beyond the limit of a rule are counted, as the sieve decides.
func TestLimit(t *testing.T) {
	rule := public("SYM101", PerRecord(func(p *Pass, r *symfmt.Record) { p.Report(r, -1, "name %s", r.Name) }))
	for _, c := range []struct {
		name     string
		max      int
		sieve    Sieve
		want     string
		count    int
		severity finding.Severity
	}{
		{"all", 0, nil, "SYM101:2:1 name g; SYM101:3:1 name f; SYM101:4:1 name h", 3, finding.Warning},
		{"two are kept", 2, nil, "SYM101:2:1 name g; SYM101:3:1 name f", 3, finding.Warning},
		{"one counts", 0, dropper{word: "f"}, "SYM101:3:1 name f", 1, finding.Error},
		{"of those not in words none counts", 1, dropper{}, "SYM101:2:1 name g", 1, finding.Error},
		{"of those not in words one counts each time", 1, dropper{unseen: 1}, "SYM101:2:1 name g", 3, finding.Error},
	} {
		p := New(Options{Rules: []*Rule{rule}, MaxPerRule: c.max})
		p.Sieve = c.sieve
		r := checked(t, p, publics)
		if got := messages(r); got != c.want || r.Counts["SYM101"] != c.count || r.Totals[c.severity] != c.count || r.Found() != c.count {
			t.Errorf("%s: %s, counts %v and %v, want %s, %d", c.name, got, r.Counts, r.Totals, c.want, c.count)
		}
		if all := r.ByRule(); len(all) != 1 || all[0] != (finding.RuleCount{Rule: rule.Rule, Severity: c.severity, Count: c.count}) {
			t.Errorf("%s: by rule %v", c.name, all)
		}
	}
}

// ReportAt returns the finding if it is kept.
func TestReportAt(t *testing.T) {
	var kept []bool
	rule := &Rule{Rule: &finding.Rule{ID: "SYM101"}, Check: AtEnd(func(p *Pass) {
		for range 3 {
			f := p.ReportAt(2, 0x2000, "m")
			kept = append(kept, f != nil)
			if f != nil {
				f.Function = "known"
			}
		}
	})}
	r := checked(t, New(Options{Rules: []*Rule{rule}, MaxPerRule: 2}), publics)
	if !slices.Equal(kept, []bool{true, true, false}) || len(r.Findings) != 2 || r.Findings[1].Function != "known" || !r.Findings[0].Late {
		t.Errorf("kept %v: %v", kept, r.Findings)
	}
	if own := r.Findings[0].Owner; own != (finding.Owner{Line: 2, Public: true}) {
		t.Errorf("owner %v, want the first PUBLIC", own)
	}
}

// The order of addresses is reported once.
func TestAscending(t *testing.T) {
	r := checked(t, New(Options{Rules: []*Rule{public("SYM101", Ascending)}}), publics)
	if got, want := messages(r), "SYM101:3:0 PUBLIC 1000 after 2000; 1 address below the one before"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
