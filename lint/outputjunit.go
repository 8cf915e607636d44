package lint

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// JUnit's XML, as readers of test results take it.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []junitCase
	}
	junitCase struct {
		XMLName   xml.Name `xml:"testcase"`
		Name      string   `xml:"name,attr"`
		ClassName string   `xml:"classname,attr"`
		Error     *junitError
		Failure   *junitFailure
		Output    *junitOutput
	}
	junitFailure struct {
		XMLName xml.Name `xml:"failure"`
		Message string   `xml:"message,attr"`
		Type    string   `xml:"type,attr"`
		Text    string   `xml:",chardata"`
	}
	junitError struct {
		XMLName xml.Name `xml:"error"`
		Message string   `xml:"message,attr"`
		Type    string   `xml:"type,attr"`
	}
	junitOutput struct {
		XMLName xml.Name `xml:"system-out"`
		Text    string   `xml:",chardata"`
	}
)

// WriteJUnit writes the results as JUnit XML: a suite for each file with a test
// for each rule. Errors and warnings are failures; notes are the output of tests
// that pass. A file that could not be read is an error.
func WriteJUnit(w io.Writer, r *Results) error {
	doc := junitSuites{Name: "symtool lint"}
	for i, rep := range r.all() {
		rules := r.rules()
		if i >= len(r.Reports) { // of the filter
			rules = suppressRules()
		}
		s := newJUnitSuite(rep, rules)
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Suites = append(doc.Suites, s)
	}
	bw := bufio.NewWriter(w)
	bw.WriteString(xml.Header)
	enc := xml.NewEncoder(bw)
	enc.Indent("", "  ")
	if err := enc.Encode(&doc); err != nil {
		return err
	}
	bw.WriteByte('\n')
	return bw.Flush()
}

func newJUnitSuite(rep *Report, rules []*Rule) junitSuite {
	s := junitSuite{Name: printable(rep.File)}
	if text := rep.UnreadText(); text != "" {
		s.Tests, s.Errors = 1, 1
		s.Cases = append(s.Cases, junitCase{Name: "the file can be read", ClassName: s.Name, Error: &junitError{Message: text, Type: "input"}})
	}
	if rep.Err != nil {
		return s
	}
	counts := map[string]RuleCount{}
	for _, c := range rep.ByRule() {
		counts[c.Rule.ID] = c
	}
	for _, rule := range rules {
		c, broken := counts[rule.ID]
		if rule.Family().Name == "lint" && !broken {
			continue // it is not about the file
		}
		test := junitCase{Name: rule.ID + " " + rule.Title, ClassName: s.Name}
		if broken && c.Severity == Note {
			test.Output = &junitOutput{Text: junitText(rep, rule, c.Count)}
		} else if broken {
			test.Failure = &junitFailure{Message: plural(c.Count, "finding"), Type: c.Severity.String(), Text: junitText(rep, rule, c.Count)}
			s.Failures++
		}
		s.Tests++
		s.Cases = append(s.Cases, test)
	}
	return s
}

// junitText lists the findings of a rule.
func junitText(rep *Report, rule *Rule, count int) string {
	var b bytes.Buffer
	for i := range rep.Findings {
		if f := &rep.Findings[i]; f.Rule.ID == rule.ID {
			fmt.Fprintf(&b, "%s\n", printable(f.String()))
			count--
		}
	}
	if count > 0 {
		fmt.Fprintf(&b, "%d more\n", count)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
