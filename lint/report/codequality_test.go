package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/lint/finding"
)

// qualityIssues returns what GitLab reads: it requires these fields of each issue.
func qualityIssues(t *testing.T, r *Results) (list []qualityIssue) {
	t.Helper()
	if err := json.Unmarshal(written(t, WriteCodeQuality, r), &list); err != nil {
		t.Fatal(err)
	}
	prints := map[string]bool{}
	for _, issue := range list {
		if issue.Check == "" || issue.Description == "" || issue.Location.Lines.Begin < 1 || issue.Location.Path == "" ||
			strings.HasPrefix(issue.Location.Path, "./") || !slices.Contains([]string{"info", "minor", "major", "blocker"}, issue.Severity) {
			t.Errorf("%+v", issue)
		}
		prints[issue.Fingerprint] = true
	}
	if len(prints) != len(list) || prints[""] {
		t.Errorf("%d fingerprints of %d issues: GitLab keeps one of each", len(prints), len(list))
	}
	return list
}

func prints(list []qualityIssue) (prints []string) {
	for _, issue := range list {
		prints = append(prints, issue.Fingerprint)
	}
	slices.Sort(prints)
	return prints
}

// GitLab recognises new findings only by their fingerprints.
func TestCodeQualityFingerprints(t *testing.T) {
	text := moduleLine + "PUBLIC 2000 0 bad\x01\nPUBLIC 2010 0 bad\x01\nPUBLIC 2020 0 caf\xe9\n"
	moved := moduleLine + "PUBLIC 100 0 good\nPUBLIC 3000 0 bad\x01\nPUBLIC 3010 0 bad\x01\nPUBLIC 3020 0 caf\xe9\n"
	fixed := moduleLine + "PUBLIC 2010 0 bad\x01\nPUBLIC 2020 0 caf\xe9\n"
	issues := func(file, text string) []qualityIssue {
		return qualityIssues(t, &Results{Reports: []*finding.Report{namesOnly(t, file, text, nil, 0)}})
	}
	before := issues("app.sym/0123/app.sym", text)
	if len(before) != 3 {
		t.Fatalf("%+v", before)
	}
	if after := issues("app.sym/4567/app.sym", moved); !slices.Equal(prints(before), prints(after)) || after[0].Location.Lines.Begin != 3 {
		t.Errorf("another build: %+v, before %+v", after, before)
	}
	after := prints(issues("app.sym", fixed))
	if len(after) != 2 || slices.ContainsFunc(after, func(p string) bool { return !slices.Contains(prints(before), p) }) {
		t.Errorf("one finding less: %q, want a subset of %q", after, prints(before))
	}
	if other := prints(issues("other.sym", text)); slices.ContainsFunc(other, func(p string) bool { return slices.Contains(prints(before), p) }) {
		t.Error("findings of two files have one fingerprint")
	}
}

// The report covers many files, some with the same name, and findings that are only counted.
func TestCodeQualityCounts(t *testing.T) {
	if list := qualityIssues(t, goldenResults(t)); len(list) < 10 {
		t.Errorf("%d issues", len(list))
	}
	reports := manyReports(20, 3, 10)
	for i, rep := range reports {
		rep.File = fmt.Sprintf("./%d/a.sym", i/2)
		for j := range rep.Findings {
			rep.Findings[j].File = rep.File
		}
	}
	for range 2 {
		reports = append(reports, finding.Unreadable("./0/a.sym", errors.New("no")))
	}
	list := qualityIssues(t, &Results{Reports: reports})
	if len(list) != 62 || list[0].Severity != qualityUnread || list[61].Severity != qualitySeverities[reports[19].Findings[2].Severity] {
		t.Errorf("%d issues: %+v ... %+v", len(list), list[0], list[61])
	}
	if !strings.HasSuffix(list[2].Description, " (and 1 more findings of SYM601 in this file)") {
		t.Errorf("%q", list[2].Description)
	}
	if list := qualityIssues(t, &Results{Reports: manyReports(6000, 3, 10)}); len(list) != sarifResults {
		t.Errorf("%d issues of 18,000 findings, want %d", len(list), sarifResults)
	}
	if list := qualityIssues(t, &Results{}); list == nil || len(list) != 0 {
		t.Errorf("%+v, want an empty array", list)
	}
}
