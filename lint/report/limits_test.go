package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
)

// manyReports has findings of all severities in many files.
func manyReports(files, perFile, length int) []*finding.Report {
	rules := []*finding.Rule{lint.RuleByID("SYM601"), lint.RuleByID("SYM603"), lint.RuleByID("SYM613")}
	var list []*finding.Report
	for i := range files {
		rep := &finding.Report{File: fmt.Sprintf("%d.sym", i), Counts: map[string]int{}}
		for j := range perFile {
			rule := rules[j%3]
			rep.Findings = append(rep.Findings, finding.Finding{
				Rule: rule, Severity: rule.Severity, File: rep.File, Line: j + 1,
				Message: fmt.Sprintf("%s n%dth", strings.Repeat("x", length), j),
			})
			rep.Counts[rule.ID] += 2 // one more that was not kept
			rep.Totals[rule.Severity] += 2
		}
		list = append(list, rep)
	}
	return list
}

// GitHub accepts the document whatever the number of findings, and it contains the total number.
func TestSARIFLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	for _, c := range []struct{ files, perFile, length, want int }{
		{1, 30, 10, 30},
		{1, 6000, 10, 4001}, // 2,000 notes become one
		{1, 9000, 10, 3002}, // the warnings, too
		{1, 30000, 10, 3},   // all
		{40, 300, 10, 4080}, // of 12,000 findings, the notes and warnings by file
		{6000, 3, 10, 5000}, // still too many: the most severe remain
		{1, 300, 50000, 3},  // 15 MB of messages
	} {
		reports := manyReports(c.files, c.perFile, c.length)
		out := written(t, WriteSARIF, &Results{Reports: reports})
		doc, err := sarif.FromBytes(out)
		if err != nil {
			t.Fatal(err)
		}
		results := doc.Runs[0].Results
		if len(results) != c.want || len(out) > 10<<20 {
			t.Errorf("%+v: %d results, %d bytes", c, len(results), len(out))
		}
		count, errs := 0, 0
		prints := map[string]bool{}
		for _, r := range results {
			n := 1
			if r.OccurrenceCount != nil {
				n = *r.OccurrenceCount
			}
			count += n
			if r.Level == "error" {
				errs += n
			}
			prints[*r.Locations[0].PhysicalLocation.ArtifactLocation.URI+r.PartialFingerprints["symtoolLint/v1"]] = true
		}
		if len(prints) != len(results) {
			t.Errorf("%+v: %d fingerprints of %d results", c, len(prints), len(results))
		}
		if all := c.files * c.perFile * 2; count != all && c.files != 6000 || errs != all/3 && c.files != 6000 {
			t.Errorf("%+v: results stand for %d findings of %d, %d errors", c, count, all, errs)
		}
		if c.files == 6000 && errs != 2*len(results) {
			t.Errorf("%d errors in %d results: they are the most severe", errs, len(results))
		}
	}
}

// There are at most 10 annotations of each severity, which together account for all findings.
func TestGitHubLimits(t *testing.T) {
	for _, c := range []struct{ files, perFile, want int }{{1, 30, 3}, {10, 30, 30}, {11, 30, 3}} {
		out := string(written(t, WriteGitHub, &Results{Reports: manyReports(c.files, c.perFile, 10)}))
		if n := strings.Count(out, "::error ") + strings.Count(out, "::warning ") + strings.Count(out, "::notice "); n != c.want {
			t.Errorf("%+v: %d annotations", c, n)
		}
		if want := fmt.Sprintf("%d errors, %d warnings, %d notes", c.files*20, c.files*20, c.files*20); !strings.Contains(out, want) {
			t.Errorf("%+v: missing %q in %s", c, want, out)
		}
	}
	many := &finding.Report{File: "a.sym", Counts: map[string]int{}}
	for _, rule := range lint.Rules() {
		many.Findings = append(many.Findings, finding.Finding{Rule: rule, Severity: finding.Error, File: "a.sym", Line: 1, Message: "m"})
		many.Counts[rule.ID] = 3
		many.Totals[finding.Error] += 3
	}
	out := string(written(t, WriteGitHub, &Results{Reports: []*finding.Report{many}}))
	want := fmt.Sprintf("%d more findings of ", 3*(len(lint.Rules())-9))
	if strings.Count(out, "::error ") != 10 || !strings.Contains(out, want) {
		t.Errorf("missing %q among 10 annotations: %s", want, out)
	}
}
