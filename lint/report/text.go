// Package report writes the results of lint as text, JSON, SARIF, JUnit and HTML, and in the
// forms that GitHub and GitLab show beside a change.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// Results is the input of all outputs. Equal results give equal outputs: files are in the given order, and a file's
// findings are sorted by position.
type Results struct {
	Version string // of symtool
	Reports []*finding.Report
	Rules   []*finding.Rule // rules that were checked; nil for all
	// Filter is the filter that the files were checked with, or nil; its own report follows the
	// files.
	Filter *filter.Filter
	// Source returns the path that documents use for a source file, given its name in a FILE record, or "" if it is
	// unknown. If Source is nil, documents use the name in the record.
	Source func(name string) string
}

func (r *Results) rules() []*finding.Rule {
	if r.Rules == nil {
		return lint.Rules()
	}
	return r.Rules
}

// known returns all rules that may have findings: those of lint, and the program's own.
func (r *Results) known() []*finding.Rule {
	list := lint.Rules()
	for _, rule := range r.Rules {
		if rule.Check != nil {
			list = append(list, rule)
		}
	}
	return list
}

// all returns the reports of the files and of the filter.
func (r *Results) all() []*finding.Report {
	list := slices.Clone(r.Reports)
	if r.Filter != nil {
		if own := r.Filter.Report(r.rules()); own.Found() > 0 {
			list = append(list, own)
		}
	}
	return list
}

// WriteFindings writes the findings of a file, one a line, and the number of those that were only
// counted. WriteSummary ends the text.
func WriteFindings(w io.Writer, rep *finding.Report) error {
	bw := bufio.NewWriter(w)
	for i := range rep.Findings {
		fmt.Fprintf(bw, "%s\n", text.Printable(rep.Findings[i].String()))
	}
	for _, n := range rep.NotKept() {
		fmt.Fprintf(bw, "%s: %s %v: %d more\n", text.Printable(rep.File), n.Rule.ID, n.Severity, n.Count)
	}
	return bw.Flush()
}

// WriteSummary writes the text that follows the findings of all files.
func WriteSummary(w io.Writer, r *Results) error {
	all := r.all()
	if own := all[len(r.Reports):]; len(own) > 0 {
		if err := WriteFindings(w, own[0]); err != nil {
			return err
		}
	}
	return writeSummary(w, r, all)
}

func writeSummary(w io.Writer, r *Results, all []*finding.Report) error {
	bw := bufio.NewWriter(w)
	s := summarize(all)
	fmt.Fprintf(bw, "%s", s.inFiles(r))
	if rules := s.byRule(); rules != "" {
		fmt.Fprintf(bw, " (%s)", rules)
	}
	if s.hidden > 0 {
		fmt.Fprintf(bw, "; %d of them not shown", s.hidden)
	}
	if s.known > 0 {
		fmt.Fprintf(bw, "; %d in the baseline", s.known)
	}
	fmt.Fprintln(bw)
	if r.Filter != nil {
		for _, a := range r.Filter.Applied() {
			if a.Findings > 0 {
				fmt.Fprintf(bw, "%s of %s suppressed: %s\n", text.Count(a.Findings, "finding"), a.Rule, text.Printable(a.Reason))
			}
		}
	}
	return bw.Flush()
}

// summary is the sum of reports.
type summary struct {
	totals     [finding.Error + 1]int
	rules      map[string]int
	found      int
	hidden     int // number of findings that were only counted
	suppressed int
	known      int
}

func summarize(reports []*finding.Report) *summary {
	s := &summary{rules: map[string]int{}}
	for _, rep := range reports {
		for i, n := range rep.Totals {
			s.totals[i] += n
		}
		for id, n := range rep.Counts {
			s.rules[id] += n
		}
		s.found += rep.Found()
		s.hidden += rep.Found() - len(rep.Findings)
		s.suppressed += rep.Suppressed
		s.known += rep.Known
	}
	return s
}

// inFiles describes the number of findings of each severity, and the number of files with findings.
func (s *summary) inFiles(r *Results) string {
	unread := unreadable(r.Reports)
	line := fmt.Sprintf("%s in %s", s.severities(), text.Count(len(r.Reports)-unread, "file"))
	if unread > 0 {
		line += fmt.Sprintf("; %s could not be read", text.Count(unread, "file"))
	}
	return line
}

func (s *summary) severities() string {
	return fmt.Sprintf("%s, %s, %s", text.Count(s.totals[finding.Error], "error"), text.Count(s.totals[finding.Warning], "warning"), text.Count(s.totals[finding.Note], "note"))
}

// byRule lists the rules, those with the most findings first.
func (s *summary) byRule() string {
	ids := slices.SortedFunc(maps.Keys(s.rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.rules[b], s.rules[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, id := range ids {
		if s.rules[id] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", id, s.rules[id]))
		}
	}
	return strings.Join(parts, ", ")
}

// unreadable returns the number of files about which nothing is known.
func unreadable(reports []*finding.Report) (n int) {
	for _, rep := range reports {
		if rep.Err != nil {
			n++
		}
	}
	return n
}
