package lint

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// JUnit's XML, as readers of test results take it.
type (
	junitSuites struct {
		tests, failures, errors int
		suites                  []junitSuite
	}
	junitSuite struct {
		name                    string
		tests, failures, errors int
		cases                   []junitCase
	}
	junitCase struct {
		name string
		kind string // of the element in it: "error", "failure", "system-out", or "" for none
		// message and level are attributes of errors and failures.
		message, level, text string
	}
)

// WriteJUnit writes the results as JUnit XML: a suite for each file with a test
// for each rule. Errors and warnings are failures; notes are the output of tests
// that pass. A file that could not be read is an error.
func WriteJUnit(w io.Writer, r *Results) error {
	var doc junitSuites
	for i, rep := range r.all() {
		rules := r.rules()
		if i >= len(r.Reports) { // of the filter
			rules = suppressRules
		}
		s := newJUnitSuite(rep, rules)
		doc.tests += s.tests
		doc.failures += s.failures
		doc.errors += s.errors
		doc.suites = append(doc.suites, s)
	}
	bw := bufio.NewWriter(w)
	doc.write(bw)
	return bw.Flush()
}

func (d *junitSuites) write(w *bufio.Writer) {
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"symtool lint\" tests=\"%d\" failures=\"%d\" errors=\"%d\">", d.tests, d.failures, d.errors)
	for i := range d.suites {
		d.suites[i].write(w)
	}
	if len(d.suites) > 0 {
		w.WriteByte('\n')
	}
	w.WriteString("</testsuites>\n")
}

func (s *junitSuite) write(w *bufio.Writer) {
	fmt.Fprintf(w, "\n  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"0\">", xmlText(s.name), s.tests, s.failures, s.errors)
	for i := range s.cases {
		s.cases[i].write(w, s.name)
	}
	if len(s.cases) > 0 {
		w.WriteString("\n  ")
	}
	w.WriteString("</testsuite>")
}

func (c *junitCase) write(w *bufio.Writer, suite string) {
	fmt.Fprintf(w, "\n    <testcase name=\"%s\" classname=\"%s\">", xmlText(c.name), xmlText(suite))
	if c.kind != "" {
		fmt.Fprintf(w, "\n      <%s", c.kind)
		if c.kind != "system-out" {
			fmt.Fprintf(w, " message=\"%s\" type=\"%s\"", xmlText(c.message), xmlText(c.level))
		}
		fmt.Fprintf(w, ">%s</%s>\n    ", xmlText(c.text), c.kind)
	}
	w.WriteString("</testcase>")
}

// xmlText is text between tags, or in an attribute; what is in no XML document, as
// most control characters, becomes U+FFFD.
func xmlText(s string) string {
	return xmlEscaper.Replace(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, s))
}

var xmlEscaper = strings.NewReplacer(`"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;")

func newJUnitSuite(rep *Report, rules []*Rule) junitSuite {
	s := junitSuite{name: printable(rep.File)}
	if text := rep.UnreadText(); text != "" {
		s.tests, s.errors = 1, 1
		s.cases = append(s.cases, junitCase{name: "the file can be read", kind: "error", message: text, level: "input"})
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
		test := junitCase{name: rule.ID + " " + rule.Title}
		if broken && c.Severity == Note {
			test.kind, test.text = "system-out", junitText(rep, rule, c.Count)
		} else if broken {
			test.kind, test.text = "failure", junitText(rep, rule, c.Count)
			test.message, test.level = plural(c.Count, "finding"), c.Severity.String()
			s.failures++
		}
		s.tests++
		s.cases = append(s.cases, test)
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
