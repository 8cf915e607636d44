package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// The Code Quality report of GitLab: an array of issues, with their keys in order. GitLab stops
// reading at the first issue without a description, fingerprint, severity or location. If several
// have the same fingerprint, it keeps the last.
type (
	qualityIssue struct {
		Check       string            `json:"check_name"` // ID of the rule
		Description string            `json:"description"`
		Fingerprint string            `json:"fingerprint"`
		Location    qualityLocation   `json:"location"`
		Others      []qualityLocation `json:"other_locations,omitempty"` // the symbol file, if the location is in the source
		Severity    string            `json:"severity"`
	}
	qualityLocation struct {
		Lines qualityLines `json:"lines"`
		Path  string       `json:"path"` // relative to the repository's root, if lint was started there; no leading ./
	}
	qualityLines struct {
		Begin int `json:"begin"` // from 1
	}
)

// qualitySeverities are GitLab's names for the severities. A file that could not be read counts as
// the worst, because its defects were not found.
var qualitySeverities = [...]string{finding.Note: "info", finding.Warning: "minor", finding.Error: "major"}

const (
	qualityUnread      = "blocker"
	qualityUnreadCheck = "unreadable-file"
)

// WriteCodeQuality writes the results as a Code Quality report for GitLab, which compares it by
// fingerprint with the report of the target branch. If there are many findings, those of one rule
// in one file become one issue, as in WriteSARIF. Files that could not be read come first.
func WriteCodeQuality(w io.Writer, r *Results) error {
	q := qualityWriter{jsonEncoder: jsonEncoder{w: bufio.NewWriter(w)}, prints: map[string]int{}}
	all := r.all()
	q.raw("[")
	for _, rep := range all {
		if text := rep.UnreadText(); text != "" {
			q.issue(qualityIssue{
				Check: qualityUnreadCheck, Description: text, Fingerprint: q.fingerprint(rep.File, qualityUnreadCheck, ""),
				Location: newQualityLocation(position{rep.File, 0}), Severity: qualityUnread,
			})
		}
	}
	for _, g := range sarifGroups(all, sarifResults, sarifBytes) {
		f := g.first
		at, source := r.place(f)
		issue := qualityIssue{
			Check: f.Rule.ID, Description: f.Rule.ID + ": " + g.message(), Fingerprint: q.fingerprint(f.File, f.Rule.ID, filter.Fingerprint(f)),
			Location: newQualityLocation(at), Severity: qualitySeverities[f.Severity],
		}
		if source {
			issue.Others = []qualityLocation{newQualityLocation(position{f.File, f.Line})}
		}
		q.issue(issue)
	}
	q.raw("\n]\n")
	if q.err != nil {
		return q.err
	}
	return q.w.Flush()
}

type qualityWriter struct {
	jsonEncoder
	n      int
	prints map[string]int // number of issues with the same fingerprint, apart from the number in it
}

func (q *qualityWriter) issue(issue qualityIssue) {
	q.item(q.n, issue)
	q.n++
}

func newQualityLocation(p position) qualityLocation {
	return qualityLocation{qualityLines{max(1, p.line)}, text.Printable(path.Clean(p.file))}
}

// fingerprint returns a text that distinguishes a finding in a file from all others in the report.
// Like baselines, it uses only the file's base name, because a store's folders contain the ids of
// one build. Equal findings are numbered.
func (q *qualityWriter) fingerprint(file, check, print string) string {
	key := filter.BaseName(file) + "\x00" + check + "\x00" + print
	q.prints[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, q.prints[key]))
	return hex.EncodeToString(sum[:16])
}
