package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

const moduleLine = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n"

// config returns a configuration, which must be valid.
func config(t testing.TB, text string) *filter.Config {
	t.Helper()
	c, err := Read(strings.NewReader(text), "a.toml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// namesOnly checks a text with the rules of names.
func namesOnly(t testing.TB, file, text string, filter *filter.Filter, limit int) *finding.Report {
	t.Helper()
	rules, err := lint.SelectRules([]string{"names"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lint.Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), lint.Options{File: file, Rules: rules, Filter: filter, MaxPerRule: limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// publics returns a file with n malformed names, the first at address first.
func publics(first, n int) string {
	var b strings.Builder
	b.WriteString(moduleLine)
	for i := range n {
		fmt.Fprintf(&b, "PUBLIC %x 0 f%d\x01\n", first+i*16, i)
	}
	return b.String()
}

// The limit of kept findings does not hide findings that are not suppressed.
func TestSuppressedBeforeLimit(t *testing.T) {
	f := filter.New(config(t, "[[suppress]]\nrule = 'SYM603'\nfunction = '^f[0-9]+\\x01$'\nreason = 'r'"), nil)
	r := namesOnly(t, "a.sym", publics(0, 1000)+"PUBLIC 9999999 0 other\x01\n", f, 5)
	if len(r.Findings) != 1 || r.Findings[0].Function != "other\x01" || r.Suppressed != 1000 || r.Counts["SYM603"] != 1 || r.Found() != 1 {
		t.Errorf("%d suppressed, counts %v, findings %v", r.Suppressed, r.Counts, r.Findings)
	}
	if own := f.Report(lint.Rules()); own.Found() != 0 {
		t.Errorf("%v", own.Findings)
	}
}

func TestSuppressions(t *testing.T) {
	const text = moduleLine + "FUNC 10 10 0 mine\n10 10 1 0\nPUBLIC 20 0 a\x01b\nPUBLIC 30 0 c\x02d\nFILE 1 x\xff\nPUBLIC 40 0 _ZN1aE\n"
	for _, c := range []struct {
		suppress   string
		left       string
		suppressed int
	}{
		{"rule = 'SYM603'", "SYM604 SYM606 SYM610", 2},
		{"rule = 'SYM60'", "SYM610", 4},
		{"rule = 'all'", "", 5},
		{"rule = 'names'", "", 5},
		{"rule = 'grammar'", "SYM603 SYM603 SYM604 SYM606 SYM610", 0},
		{"rule = 'SYM603'\nfile = 'a.sym'", "SYM604 SYM606 SYM610", 2},
		{"rule = 'SYM603'\nfile = 'b.sym'", "SYM603 SYM603 SYM604 SYM606 SYM610", 0},
		{"rule = 'SYM603'\nfunction = '^a'", "SYM603 SYM604 SYM606 SYM610", 1},
		{"rule = 'SYM603'\nmessage = '0x02'", "SYM603 SYM604 SYM606 SYM610", 1},
		{"rule = 'SYM603'\nfunction = '^a'\nmessage = '0x02'", "SYM603 SYM603 SYM604 SYM606 SYM610", 0},
	} {
		f := filter.New(config(t, "[[suppress]]\n"+c.suppress+"\nreason = 'r'"), nil)
		r := namesOnly(t, "dir/a.sym", text, f, 0)
		var left []string
		for _, x := range r.Findings {
			left = append(left, x.Rule.ID)
		}
		want := strings.Fields(c.left)
		slices.Sort(left)
		if !slices.Equal(left, want) || r.Suppressed != c.suppressed {
			t.Errorf("%q: left %v, %d suppressed", c.suppress, left, r.Suppressed)
		}
		idle := f.Report(lint.Rules()).Counts["SYM901"]
		if (idle == 1) != (c.suppressed == 0) {
			t.Errorf("%q: %d idle", c.suppress, idle)
		}
	}
}

// A suppression works on its last day, and is reported as expired from the next day on.
func TestExpiredSuppressions(t *testing.T) {
	c := config(t, "[[suppress]]\nrule = 'SYM603'\nreason = 'r'\nexpires = 2026-03-01\n")
	for day, want := range map[string]string{
		"2026-02-28": "", "2026-03-01": "", "2027-01-01": "SYM903",
		"2026-03-02": "SYM903", "": "",
	} {
		f := filter.New(c, nil)
		if day != "" {
			today, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			f.Today(today)
		}
		r := namesOnly(t, "a.sym", publics(0, 1), f, 0)
		own := f.Report(lint.Rules())
		var got []string
		for _, x := range own.Findings {
			got = append(got, x.Rule.ID)
		}
		if strings.Join(got, " ") != want || (r.Suppressed == 0) != (want != "") {
			t.Errorf("%s: %v, %d suppressed", day, own.Findings, r.Suppressed)
		}
	}
}

func TestIdleSuppressions(t *testing.T) {
	c := config(t, `
[[suppress]]
rule = "SYM603"
file = "none.sym"
reason = "one"
[[suppress]]
rule = "SYM605"
reason = "two"
[[suppress]]
rule = "SYM101"
reason = "not checked"
`)
	f := filter.New(c, nil)
	namesOnly(t, "a.sym", publics(0, 1), f, 0)
	rules, err := lint.SelectRules([]string{"names", "lint"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := f.Report(rules)
	var got []string
	for i := range own.Findings {
		got = append(got, own.Findings[i].String())
	}
	want := "[a.toml:2: SYM901 warning: suppression of SYM603 matches nothing: none of 1 file is \"none.sym\" (reason: one) " +
		"a.toml:6: SYM901 warning: suppression of SYM605 matches no finding in 1 file (reason: two)]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v\nwant\n%s", got, want)
	}
	if names, _ := lint.SelectRules([]string{"names"}, nil); f.Report(names).Found() != 0 {
		t.Error("SYM901 is reported, but not checked")
	}
}

func TestSeverities(t *testing.T) {
	f := filter.New(config(t, "[severity]\nSYM603 = 'error'\nlint = 'error'\n[[suppress]]\nrule = 'SYM601'\nreason = 'r'"), nil)
	r := namesOnly(t, "a.sym", publics(0, 7), f, 2)
	if worst, _ := r.Worst(); worst != finding.Error || r.Totals != [3]int{0, 0, 7} {
		t.Errorf("worst %v, totals %v", worst, r.Totals)
	}
	if own := f.Report(lint.Rules()); own.Totals != [3]int{0, 0, 1} {
		t.Errorf("own totals %v", own.Totals)
	}
}

// recorded returns a baseline of the findings in texts, written and read back.
func recorded(t testing.TB, texts map[string]string) *filter.Baseline {
	t.Helper()
	f := filter.New(nil, nil)
	f.Record()
	for file, text := range texts {
		namesOnly(t, file, text, f, 1)
	}
	var first, second bytes.Buffer
	if err := WriteBaseline(&first, f.Recorded()); err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline(bytes.NewReader(first.Bytes()), "base.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteBaseline(&second, b); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("read and written: %v\n%s\nwas\n%s", err, second.Bytes(), first.Bytes())
	}
	return b
}

func TestBaseline(t *testing.T) {
	b := recorded(t, map[string]string{"x/a.sym": publics(0x1000, 300)})
	for _, c := range []struct {
		name, file, text   string
		found, known, gone int
	}{
		{"the same", "a.sym", publics(0x1000, 300), 0, 300, 0},
		{"in another folder", "store/a.sym", publics(0x1000, 300), 0, 300, 0},
		{"moved", "a.sym", "", 0, 300, 0},
		{"of another file", "b.sym", publics(0x1000, 300), 300, 0, 0},
		{"one more", "a.sym", publics(0x1000, 300) + "PUBLIC ff 0 new\x01\n", 1, 300, 0},
		{"one more of the same", "a.sym", publics(0x1000, 300) + "PUBLIC ff 0 f7\x01\n", 1, 300, 0},
		{"another character", "a.sym", publics(0x1000, 300) + "PUBLIC ff 0 f7\x02\n", 1, 300, 0},
		{"less", "a.sym", publics(0x1000, 298), 0, 298, 2},
		{"another rule", "a.sym", publics(0x1000, 300) + "PUBLIC ff 0 f7\u202e\n", 1, 300, 0},
	} {
		if c.name == "moved" { // lines and addresses
			c.text = strings.Replace(publics(0x777770, 300), moduleLine, moduleLine+"INFO A b\nINFO C d\n", 1)
		}
		f := filter.New(nil, b)
		r := namesOnly(t, c.file, c.text, f, 1)
		own := f.Report(lint.Rules())
		if r.Found() != c.found || r.Known != c.known || own.Counts["SYM902"] != c.gone {
			t.Errorf("%s: %d findings, %d known, %d gone: %v", c.name, r.Found(), r.Known, own.Counts["SYM902"], r.Findings)
		}
	}
}

// Addresses in messages, and their number of digits, do not matter. A baseline also recognises
// findings beyond the number that is kept.
func TestBaselineBehindLimit(t *testing.T) {
	first := filter.New(nil, nil)
	first.Record()
	namesOnly(t, "a.sym", publics(0, 1000), first, 0)
	text := strings.Replace(publics(0, 1000), moduleLine, moduleLine+strings.Repeat("PUBLIC 9999999 0 other\x02\n", 7), 1)
	r := namesOnly(t, "a.sym", text, filter.New(nil, first.Recorded()), 5)
	if r.Known != 1000 || len(r.Findings) != 5 || r.Found() != 7 {
		t.Errorf("%d known, %d found: %v", r.Known, r.Found(), r.Findings)
	}
}

func TestFingerprint(t *testing.T) {
	rule := &finding.Rule{ID: "SYM603"}
	same := []string{"FUNC 1000 to 2fff overlaps", "FUNC ab to cd overlaps", "FUNC 0x1 to 0x7fffffffffff overlaps"}
	first := filter.Fingerprint(&finding.Finding{Rule: rule, Message: same[0], Line: 1})
	seen := map[string]bool{first: true}
	for _, m := range same {
		if got := filter.Fingerprint(&finding.Finding{Rule: rule, Message: m, Line: 7}); got != first {
			t.Errorf("%q: %s, want %s", m, got, first)
		}
	}
	for _, f := range []finding.Finding{
		{Rule: rule, Message: same[0], Function: "f"},
		{Rule: rule, Message: same[0], Function: "add"},
		{Rule: rule, Message: same[0], Function: "bad"},
		{Rule: rule, Message: "LINE 1000 to 2fff overlaps"},
		{Rule: rule, Message: "FUNC g1000 to 2fff overlaps"},
		{Rule: &finding.Rule{ID: "SYM604"}, Message: same[0]},
		{Rule: &finding.Rule{ID: "SYM603", PerFile: true}, Message: same[0]},
	} {
		if print := filter.Fingerprint(&f); seen[print] {
			t.Errorf("%+v has the same", f)
		} else {
			seen[print] = true
		}
	}
	whole := &finding.Rule{ID: "SYM606", PerFile: true}
	if filter.Fingerprint(&finding.Finding{Rule: whole, Message: "7 names, first f"}) != filter.Fingerprint(&finding.Finding{Rule: whole, Message: "a name g"}) {
		t.Error("the message of a rule about whole files affects the fingerprint")
	}
}

// A baseline has a bounded size, and also suppresses findings that it only counts.
func TestBaselineRest(t *testing.T) {
	const most = 1000 // different findings of a rule
	text := moduleLine
	for i := range most + 500 {
		text += fmt.Sprintf("PUBLIC %x 0 n%dx\x01\n", i, i)
	}
	b := recorded(t, map[string]string{"a.sym": text})
	if n := len(b.Sorted()); n != most+1 {
		t.Errorf("%d entries", n)
	}
	f := filter.New(nil, b)
	if r := namesOnly(t, "a.sym", text, f, 1); r.Found() != 0 || r.Known != most+500 {
		t.Errorf("%d findings, %d known", r.Found(), r.Known)
	}
	if r := namesOnly(t, "a.sym", text+"PUBLIC 1 0 more\x01\n", filter.New(nil, b), 1); r.Found() != 1 {
		t.Errorf("%d new findings", r.Found())
	}
}

// Malformed lines that the reader only counts are in baselines, too.
func TestBaselineOfDroppedLines(t *testing.T) {
	text := moduleLine + strings.Repeat("no record\n", 50)
	run := func(f *filter.Filter, text string) *finding.Report {
		rules, err := lint.SelectRules([]string{"SYM101"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := lint.Run(t.Context(), symfmt.TextRecords(strings.NewReader(text)), lint.Options{File: "a.sym", Rules: rules, Filter: f, MaxPerRule: 10})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	f := filter.New(nil, nil)
	f.Record()
	if r := run(f, text); r.Counts["SYM101"] != 50 || r.Totals[finding.Error] != 50 || len(r.Findings) != 10 {
		t.Errorf("%v", r.Counts)
	}
	b := f.Recorded()
	if r := run(filter.New(nil, b), text); r.Found() != 0 || r.Known != 50 {
		t.Errorf("%d findings, %d known", r.Found(), r.Known)
	}
	if r := run(filter.New(nil, b), text+"no record\n"); r.Counts["SYM101"] != 1 || r.Known != 50 {
		t.Errorf("%v, %d known", r.Counts, r.Known)
	}
}

// The findings about the filter itself do not depend on the order of files.
func TestFilterOrder(t *testing.T) {
	texts := map[string]string{"1/a.sym": publics(0, 10), "2/a.sym": publics(0, 7) + "PUBLIC ff 0 x\x01\n", "b.sym": publics(0, 3)}
	b := recorded(t, texts)
	want := ""
	for range 20 {
		f := filter.New(config(t, "[[suppress]]\nrule = 'SYM605'\nreason = 'r'"), b)
		f.Record()
		var wg sync.WaitGroup
		for file, text := range texts {
			wg.Go(func() { namesOnly(t, file, strings.Replace(text, "f5\x01", "ok", 1), f, 0) })
		}
		wg.Wait()
		var out bytes.Buffer
		for _, own := range f.Report(lint.Rules()).Findings {
			fmt.Fprintln(&out, own.String())
		}
		if err := WriteBaseline(&out, f.Recorded()); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = out.String()
		}
		if out.String() != want {
			t.Fatalf("%s\nwas\n%s", out.String(), want)
		}
	}
	if !strings.Contains(want, "SYM902") {
		t.Errorf("nothing is gone: %s", want)
	}
}

func TestBaselineErrors(t *testing.T) {
	const entry = `{"file": "a", "rule": "SYM601", "fingerprint": "f", "count": 1}`
	for _, c := range []struct{ text, want string }{
		{"", "b.json: not a baseline: EOF"},
		{"[]", "b.json: not a baseline: json: cannot unmarshal"},
		{"{}", "b.json: not a baseline: symtool_lint_baseline is missing"},
		{`{"symtool_lint_baseline": 2}`, "b.json: baseline of version 2, want 1"},
		{`{"symtool_lint_baseline": 1, "entries": [` + entry, "b.json: not a baseline: unexpected EOF"},
		{`{"symtool_lint_baseline": 1, "entries": [null]}`, "b.json: entry 1: file, rule, fingerprint or count is missing"},
		{`{"symtool_lint_baseline": 1, "entries": [` + entry + `, {"file": "a"}]}`, "b.json: entry 2: file, rule"},
		{`{"symtool_lint_baseline": 1, "entries": [{"rule": "r", "fingerprint": "f", "count": 1}]}`, "b.json: entry 1: file, rule"},
		{`{"symtool_lint_baseline": 1, "entries": [{"file": "a", "fingerprint": "f", "count": 1}]}`, "b.json: entry 1: file, rule"},
		{`{"symtool_lint_baseline": 1, "entries": [{"file": "a", "rule": "r", "count": 1}]}`, "b.json: entry 1: file, rule"},
		{`{"symtool_lint_baseline": 1, "entries": [{"file": "a", "rule": "r", "fingerprint": "f", "count": 0}]}`, "b.json: entry 1: file, rule"},
		{`{"symtool_lint_baseline": 1, "entries": [` + entry + "," + entry + "]}", "b.json: entry 2: has the same file"},
	} {
		_, err := ReadBaseline(strings.NewReader(c.text), "b.json")
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// Any bytes are a baseline or an error. A baseline that was read and written is the same
// when it is read and written again.
func FuzzBaseline(f *testing.F) {
	f.Add([]byte(`{"symtool_lint_baseline": 1, "entries": [{"file": "a", "rule": "SYM601", "fingerprint": "*", "count": 9}]}`))
	f.Add([]byte(`{"symtool_lint_baseline": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ReadBaseline(bytes.NewReader(data), "b.json")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "b.json:") || text.Printable(err.Error()) != err.Error() {
				t.Errorf("error %q", err)
			}
			return
		}
		var one, two bytes.Buffer
		if err := WriteBaseline(&one, b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadBaseline(bytes.NewReader(one.Bytes()), "b.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteBaseline(&two, again); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%v: %q, then %q", err, one.Bytes(), two.Bytes())
		}
		namesOnly(t, "a", publics(0x1000, 3), filter.New(nil, b), 0)
	})
}
