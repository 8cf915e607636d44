package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// GitHub's limits for code scanning: it rejects a file with more than 20 runs, more than 25,000
// results in a run, or more than 10 MB of gzip, and shows the first 5,000 results by severity. The
// document has one run and at most as many results as GitHub shows, and stays below the size limit
// even uncompressed.
const (
	sarifResults = 5000
	sarifBytes   = 9 << 20
)

// sarifGroup is a result: a finding, or all findings of a rule in a file.
type sarifGroup struct {
	first *finding.Finding
	count int // number of findings
	again int // number of earlier results with its fingerprint
}

// sarifGroups turns each finding into a result. A rule whose findings were only counted, or do not
// fit, gets one result per file. Notes are joined first, errors last.
func sarifGroups(reports []*finding.Report, maxResults, maxBytes int) []sarifGroup {
	for merged := finding.Note; ; merged++ {
		groups, size := sarifGroupsBelow(reports, merged)
		if merged > finding.Error || len(groups) <= maxResults && size <= maxBytes {
			if len(groups) > maxResults || size > maxBytes {
				groups = sarifCut(groups, maxResults, maxBytes)
			}
			return groups
		}
	}
}

// sarifCut keeps the most severe results if there are too many files.
func sarifCut(groups []sarifGroup, maxResults, maxBytes int) []sarifGroup {
	slices.SortStableFunc(groups, func(a, b sarifGroup) int { return cmp.Compare(b.first.Severity, a.first.Severity) })
	size := 0
	for i := range groups {
		if size += groups[i].size(); i == maxResults || size > maxBytes {
			return groups[:i]
		}
	}
	return groups
}

// sarifGroupsBelow joins the findings of severities below merged.
func sarifGroupsBelow(reports []*finding.Report, merged finding.Severity) (groups []sarifGroup, size int) {
	for _, rep := range reports {
		groups = append(groups, fileGroups(rep, merged)...)
	}
	for i := range groups {
		size += groups[i].size()
	}
	return groups, size
}

func fileGroups(rep *finding.Report, merged finding.Severity) (groups []sarifGroup) {
	at := map[string]int{}   // result of a rule with joined findings
	last := map[string]int{} // last result of a rule
	seen := map[string]int{} // number of results with a fingerprint
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if g, joined := at[f.Rule.ID]; joined {
			groups[g].count++
			continue
		}
		if f.Severity < merged {
			at[f.Rule.ID] = len(groups)
		}
		last[f.Rule.ID] = len(groups)
		print := filter.Fingerprint(f)
		groups = append(groups, sarifGroup{f, 1, seen[print]})
		seen[print]++
	}
	for _, n := range rep.NotKept() {
		if g, ok := last[n.Rule.ID]; ok {
			groups[g].count += n.Count
		}
	}
	return groups
}

// sarifOverhead is roughly the size in bytes of a result without its texts.
const sarifOverhead = 1400

func (g *sarifGroup) size() int {
	return sarifOverhead + 2*(len(g.first.Message)+len(g.first.Function)+len(g.first.File)+len(g.first.FuncStart.File))
}

func (g *sarifGroup) message() string {
	text := text.Printable(g.first.Message)
	if g.count > 1 {
		text += fmt.Sprintf(" (and %d more findings of %s in this file)", g.count-1, g.first.Rule.ID)
	}
	return text
}
