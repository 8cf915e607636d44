package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

// JUnit's XML, as test report readers accept it.
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

// WriteJUnit writes the results as JUnit XML: a suite for each file, with a test
// for each rule. Errors and warnings are failures; notes are the output of tests
// that pass. A file that could not be read is an error.
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

func newJUnitSuite(rep *lint.Report, rules []*lint.Rule) junitSuite {
	s := junitSuite{Name: text.Printable(rep.File)}
	if text := rep.UnreadText(); text != "" {
		s.Tests, s.Errors = 1, 1
		s.Cases = append(s.Cases, junitCase{Name: "the file can be read", Class: s.Name, Error: &junitResult{Message: text, Type: "input"}})
	}
	if rep.Err != nil {
		return s
	}
	counts := map[string]finding.RuleCount{}
	for _, c := range rep.ByRule() {
		counts[c.Rule.ID] = c
	}
	for _, rule := range rules {
		c, broken := counts[rule.ID]
		if rule.Family().Name == "lint" && !broken {
			continue // not about the file
		}
		test := junitCase{Name: rule.ID + " " + rule.Title, Class: s.Name}
		if broken && c.Severity == lint.Note {
			test.Output = &junitResult{Text: junitText(rep, rule, c.Count)}
		} else if broken {
			test.Failure = &junitResult{text.Count(c.Count, "finding"), c.Severity.String(), junitText(rep, rule, c.Count)}
			s.Failures++
		}
		s.Tests++
		s.Cases = append(s.Cases, test)
	}
	return s
}

// junitText lists the findings of a rule.
func junitText(rep *lint.Report, rule *lint.Rule, count int) string {
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
