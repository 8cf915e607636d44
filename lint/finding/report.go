package finding

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

// Report holds the findings in a file.
type Report struct {
	File     string
	Err      error            // why the file could not be read at all; see Unreadable
	Damage   error            // damage to compressed data that ended the reading, or nil
	Lost     []symfmt.Problem // parts of the file that readers leave out, whatever the rules; at most 1,000 or MaxPerRule
	Findings []Finding        // sorted by position
	Counts   map[string]int   // findings by rule, including those not kept
	Totals   [Error + 1]int   // findings by severity, including those not kept
	Module   *Module          // the MODULE record, or nil
	Coverage *coverage.Coverage
	Bytes    int64 // length of the text in bytes
	Lines    int

	Suppressed int // number of findings removed by the configuration
	Known      int // number of findings removed by the baseline

	Rules []*Rule // the rules that were checked
}

// Module is the contents of a MODULE record.
type Module struct{ Name, ID, OS, CPU string }

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

// ByRule returns, in order of ID, the number of findings of each rule that has any.
func (r *Report) ByRule() []RuleCount {
	severities := map[*Rule]Severity{}
	for _, rule := range r.Rules {
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

// Sort sorts the findings by position.
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

// ReadNames reads a symbol file a second time, and sets the functions of findings whose names were
// no longer known when the findings were made.
func (r *Report) ReadNames(in io.Reader) error {
	want := map[int][]*Finding{}
	last := 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Owner.Line > 0 {
			want[f.Owner.Line] = append(want[f.Owner.Line], f)
			last = max(last, f.Owner.Line)
		}
	}
	if last == 0 {
		return nil
	}
	rd := symfmt.NewReader(in, symfmt.ReadOptions{Tolerant: true, MaxProblems: 1})
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Kind != symfmt.KindFunc && rec.Kind != symfmt.KindPublic {
			continue
		}
		line := rec.Pos().Line
		for _, f := range want[line] {
			f.Function = string(rec.Name[:min(len(rec.Name), MaxFunction)])
		}
		if line >= last {
			return nil
		}
	}
}

// NamesWanted reports whether ReadNames has anything to do.
func (r *Report) NamesWanted() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Owner.Line > 0 })
}
