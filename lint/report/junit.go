package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// JUnit's XML, in the form that readers of test reports accept.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Error   *junitResult `xml:"error"`
		Failure *junitResult `xml:"failure"`
		Output  *junitResult `xml:"system-out"`
	}
	junitResult struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the results as JUnit XML: a suite for each file, with a test for each family of rules.
// Errors and warnings are failures; notes are the output of tests that pass. A file that could not be read is an
// error.
func WriteJUnit(w io.Writer, r *Results) error {
	doc := junitSuites{Name: "symtool lint"}
	for i, rep := range r.all() {
		rules := r.rules()
		if i >= len(r.Reports) { // the filter's report
			rules = filter.Rules
		}
		s := newJUnitSuite(rep, rules)
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(&doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func newJUnitSuite(rep *finding.Report, rules []*finding.Rule) junitSuite {
	s := junitSuite{Name: text.Printable(rep.File)}
	if text := rep.UnreadText(); text != "" {
		s.Tests, s.Errors = 1, 1
		s.Cases = append(s.Cases, junitCase{Name: "the file can be read", Class: s.Name, Error: &junitResult{Message: text, Type: "input"}})
	}
	if rep.Err != nil {
		return s
	}
	broken := rep.ByRule()
	for _, family := range finding.Families {
		ofFamily := func(r *finding.Rule) bool { return r.Family() == family }
		found := slices.DeleteFunc(slices.Clone(broken), func(c finding.RuleCount) bool { return !ofFamily(c.Rule) })
		if len(found) == 0 && (family.Name == "lint" || !slices.ContainsFunc(rules, ofFamily)) {
			continue // does not report on files, or was not selected
		}
		s.add(rep, family, found)
	}
	return s
}

// add adds the test for a family, with the rules of the family that have findings.
func (s *junitSuite) add(rep *finding.Report, family finding.Family, found []finding.RuleCount) {
	test := junitCase{Name: family.Name + ": " + family.Title, Class: s.Name}
	worst, n := finding.Note, 0
	var failed []string
	var texts []string
	for _, c := range found {
		texts = append(texts, junitText(rep, c.Rule, c.Count))
		if c.Severity != finding.Note {
			failed = append(failed, c.Rule.ID)
			n += c.Count
			worst = max(worst, c.Severity)
		}
	}
	result := &junitResult{Text: strings.Join(texts, "\n")}
	switch {
	case len(failed) > 0:
		result.Message, result.Type = text.Count(n, "finding")+": "+strings.Join(failed, ", "), worst.String()
		test.Failure = result
		s.Failures++
	case len(found) > 0:
		test.Output = result
	}
	s.Tests++
	s.Cases = append(s.Cases, test)
}

// junitText lists the findings of a rule.
func junitText(rep *finding.Report, rule *finding.Rule, count int) string {
	var b strings.Builder
	for i := range rep.Findings {
		if f := &rep.Findings[i]; f.Rule.ID == rule.ID {
			fmt.Fprintf(&b, "%s\n", text.Printable(f.String()))
			count--
		}
	}
	if count > 0 {
		fmt.Fprintf(&b, "%d more\n", count)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
