package check

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/lint/follow"
)

// Report holds the findings in a file.
type Report struct {
	File     string
	Err      error          // why the file could not be read at all; see Unreadable
	Damage   error          // damage of compressed data, which ended the reading, or nil
	Findings []Finding      // sorted by place
	Counts   map[string]int // findings by rule, including those not kept
	Totals   [Error + 1]int // findings by severity, including those not kept
	Facts    *facts.Facts
	Coverage *coverage.Coverage
	Bytes    int64 // length of the text
	Lines    int
	Followed *follow.Stats // what STACK CFI was compared with; nil without a binary

	Suppressed int // number of findings removed by the configuration
	Known      int // number of findings removed by the baseline

	rules []*Rule // rules that were enabled
}

// Found returns the number of findings, including those that were only counted.
func (r *Report) Found() int {
	n := 0
	for _, t := range r.Totals {
		n += t
	}
	return n
}

// Worst returns the highest severity among the findings; ok is false if there are none.
func (r *Report) Worst() (worst Severity, ok bool) {
	for i := range r.Findings {
		worst, ok = max(worst, r.Findings[i].Severity), true
	}
	return worst, ok
}

// RuleCount is the number of a rule's findings.
type RuleCount struct {
	Rule     *Rule
	Severity Severity
	Count    int
}

// NotKept returns the number of findings that were only counted, by rule.
func (r *Report) NotKept() []RuleCount {
	kept := map[string]int{}
	for i := range r.Findings {
		kept[r.Findings[i].Rule.ID]++
	}
	var list []RuleCount
	for _, c := range r.ByRule() {
		if c.Count -= kept[c.Rule.ID]; c.Count > 0 {
			list = append(list, c)
		}
	}
	return list
}

// ByRule returns the number of findings of each rule that has any, by ID.
func (r *Report) ByRule() []RuleCount {
	severities := map[*Rule]Severity{}
	for _, rule := range r.rules {
		severities[rule] = rule.Severity
	}
	for i := range r.Findings {
		severities[r.Findings[i].Rule] = r.Findings[i].Severity
	}
	var list []RuleCount
	for rule, severity := range severities {
		if n := r.Counts[rule.ID]; n > 0 {
			list = append(list, RuleCount{rule, severity, n})
		}
	}
	slices.SortFunc(list, func(a, b RuleCount) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	return list
}

// Sort sorts the findings by place.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
}

// Unreadable returns the report of a file that could not be read.
func Unreadable(file string, err error) *Report {
	return &Report{File: file, Err: err, Counts: map[string]int{}}
}

// Unread returns the error that ended reading before the end of the file, or nil.
func (r *Report) Unread() error {
	if r.Err != nil {
		return r.Err
	}
	return r.Damage
}

// UnreadText returns the message of Unread without the file's name, or "" if the whole file was
// read.
func (r *Report) UnreadText() string {
	err := r.Unread()
	if err == nil {
		return ""
	}
	why := bin.Bare(err, r.File)
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) && pathErr.Path == r.File {
		why = pathErr.Err.Error()
	}
	what := "not read: "
	if r.Err == nil {
		what = "not read to its end: "
	}
	return what + text.Printable(why)
}
