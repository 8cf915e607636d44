package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// outputs are the functions that write the results, by name of the output.
var outputs = map[string]func(io.Writer, *Results) error{
	"findings.txt": writeText, "findings.json": WriteJSON, "findings.sarif": WriteSARIF,
	"findings.github": WriteGitHub, "findings.junit.xml": WriteJUnit, "findings.codequality.json": WriteCodeQuality,
}

const (
	goodID     = "0123456789ABCDEF0123456789ABCDEF0"
	moduleLine = "MODULE Linux x86_64 " + goodID + " a\n"
)

// nameText has findings of several rules: some once, and one rule more often than findings are
// kept.
const nameText = "MODULE Linux x86_64 " + goodID + " lib/a.so\n" +
	"FILE 0 src/a.c\nFILE 1 /home/joe/a/a/b.c\nINLINE_ORIGIN 0  \n" +
	"FUNC 1000 10 0 foo::bar(int)\n1000 10 1 0\nFUNC 1010 10 0 _ZN3foo3bazEv\n1010 10 1 0\n" +
	"PUBLIC 2000 0 bad\x1b[31m\nPUBLIC 2010 0 bad\x07\nPUBLIC 2020 0 bad\x01\nPUBLIC m 2030 0 caf\xe9\n"

// hostileText has names that attack the outputs: the terminal, the ends of text in XML and for
// GitHub, and the outputs' escapes.
const hostileText = "MODULE Linux x86_64 " + goodID + " \"><a>]]>&amp;/../x\n" +
	"PUBLIC 10 0 \x1b]0;title\x07\x00::error file=a::b%0A\r::set-output name=x::y\n" +
	"PUBLIC 20 0 ]]>\x01</failure><x y=\"'&#0;\n" +
	"PUBLIC 30 0 \u202e\ufeff\u2028\u2029\u0085\n" +
	"PUBLIC 40 0 \xff\xfe\xed\xa0\x80\xf4\x90\x80\x80{{}}\\u0000\n" +
	"PUBLIC 50 0 \U000e0041\uffff\ufffe\U0001f600\x7f\n"

// namesOnly checks a text with the rules of names.
func namesOnly(t testing.TB, file, text string, filter *filter.Filter, limit int) *finding.Report {
	t.Helper()
	rules, err := lint.SelectRules([]string{"names"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lint.Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), lint.Options{File: file, Rules: rules, Filter: filter, MaxPerRule: limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written returns an output's bytes.
func written(t testing.TB, write func(io.Writer, *Results) error, r *Results) []byte {
	t.Helper()
	var b, again bytes.Buffer
	if err := errors.Join(write(&b, r), write(&again, r)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("two calls give different outputs")
	}
	return b.Bytes()
}

// goldenResults returns three files, with the effects of a configuration.
func goldenResults(t testing.TB) *Results {
	rules, err := lint.SelectRules([]string{"names", "lint"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := filter.New(&filter.Config{
		File:       "a.toml",
		Severities: map[string]finding.Severity{"SYM607": finding.Error, "SYM613": finding.Warning},
		Suppressions: []filter.Suppression{
			{Rule: "SYM604", File: "hostile.sym", Reason: "of a vendor", Line: 6},
			{Rule: "SYM6", Function: regexp.MustCompile("^none$"), Reason: "was fixed", Line: 11},
		},
	}, nil)
	return &Results{Version: "1.2.3", Filter: f, Rules: rules, Reports: []*finding.Report{
		namesOnly(t, "dir/a b,c:1.sym", nameText, f, 2),
		namesOnly(t, "/abs/hostile.sym", hostileText, f, 2),
		namesOnly(t, "clean.sym", moduleLine, f, 2),
	}}
}

func TestOutputs(t *testing.T) {
	r := goldenResults(t)
	for name, write := range outputs {
		t.Run(name, func(t *testing.T) { testenv.Golden(t).Assert(t, name, written(t, write, r)) })
	}
}

// Nothing in an input that affects a terminal, is invisible or is not UTF-8 gets into an
// output.
func TestOutputsArePrintable(t *testing.T) {
	r := goldenResults(t)
	for i := range r.Reports {
		r.Reports[i].Findings = append(r.Reports[i].Findings, finding.Finding{
			Rule: lint.RuleByID("SYM101"), File: "a\x1b\n::error::\u202e.sym", Line: 9, Message: hostileText, Function: hostileText,
		})
		r.Reports[i].Counts["SYM101"]++
		r.Reports[i].Totals[finding.Note]++
	}
	r.Reports[0].File = "a\x1b\n::error::\u202e.sym"
	for name, write := range outputs {
		out := written(t, write, r)
		if !utf8.Valid(out) {
			t.Errorf("%s is not UTF-8", name)
		}
		for i, c := range string(out) {
			if c != '\n' && (c < ' ' || c == 0x7f || c >= 0x80 && text.Invisible(c)) {
				t.Errorf("%s: %U at %d: %q", name, c, i, out[max(0, i-40):min(len(out), i+40)])
			}
		}
	}
}

// A name in an input neither begins nor ends a GitHub command.
func TestGitHubCommands(t *testing.T) {
	for line := range strings.Lines(string(written(t, WriteGitHub, goldenResults(t)))) {
		level, rest, ok := strings.Cut(strings.TrimPrefix(line, "::"), " ")
		if !strings.HasPrefix(line, "::") {
			continue
		}
		properties, message, data := strings.Cut(rest, "::")
		if !ok || !data || level != "error" && level != "warning" && level != "notice" {
			t.Errorf("not a command: %q", line)
		}
		for _, p := range strings.Split(properties, ",") {
			key, value, ok := strings.Cut(p, "=")
			if !ok || key != "file" && key != "line" && key != "title" || strings.ContainsAny(value, ":,") {
				t.Errorf("property %q of %q", p, line)
			}
		}
		if strings.Count(message, "%") != strings.Count(message, "%25") {
			t.Errorf("bare percent sign: %q", line)
		}
	}
}

func TestJSONIsOfTheSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	schema, err := c.Compile(filepath.Join(testenv.Root(t), "golden", "lint", "report", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	decode := func(r *Results) any {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, WriteJSON, r)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, r := range []*Results{goldenResults(t), {}, {Reports: []*finding.Report{namesOnly(t, "a", "", nil, 0)}}} {
		if err := schema.Validate(decode(r)); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(doc, file, finding map[string]any){
		"another key":     func(doc, _, _ map[string]any) { doc["more"] = 1 },
		"no counts":       func(_, file, _ map[string]any) { delete(file, "counts") },
		"a bare address":  func(_, _, finding map[string]any) { finding["address"] = 16 },
		"another grade":   func(_, _, finding map[string]any) { finding["severity"] = "fatal" },
		"line 0":          func(_, _, finding map[string]any) { finding["line"] = 0 },
		"another version": func(doc, _, _ map[string]any) { doc["symtool"].(map[string]any)["schema"] = 2 },
	} {
		doc := decode(goldenResults(t)).(map[string]any)
		file := doc["files"].([]any)[0].(map[string]any)
		if change(doc, file, file["findings"].([]any)[0].(map[string]any)); schema.Validate(doc) == nil {
			t.Errorf("%s matches the schema", name)
		}
	}
}

// junitCounts is what a reader of JUnit's XML sees.
type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Suites   []struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Failure []string `xml:"failure"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnitCounts(t *testing.T) {
	var doc junitCounts
	if err := xml.Unmarshal(written(t, WriteJUnit, goldenResults(t)), &doc); err != nil {
		t.Fatal(err)
	}
	tests, failures := 0, 0
	for _, s := range doc.Suites {
		failed := 0
		for _, c := range s.Cases {
			failed += len(c.Failure)
		}
		if len(s.Cases) != s.Tests || failed != s.Failures {
			t.Errorf("%d tests, %d failures: it says %d and %d", len(s.Cases), failed, s.Tests, s.Failures)
		}
		tests, failures = tests+s.Tests, failures+s.Failures
	}
	if tests != doc.Tests || failures != doc.Failures || failures == 0 || len(doc.Suites) != 4 {
		t.Errorf("%d tests, %d failures in %d suites: it says %d and %d", tests, failures, len(doc.Suites), doc.Tests, doc.Failures)
	}
}

// xmllint accepts the XML, whatever the names contain.
func TestOracleXMLLint(t *testing.T) {
	testenv.Oracle(t)
	xmllint := testenv.Tool(t, "xmllint")
	path := filepath.Join(t.TempDir(), "a.xml")
	if err := os.WriteFile(path, written(t, WriteJUnit, goldenResults(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(xmllint, "--noout", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	want := fmt.Sprint(len(goldenResults(t).Reports) + 1)
	if out, err := exec.Command(xmllint, "--xpath", "count(//testsuite)", path).Output(); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%v: %s suites, want %s", err, out, want)
	}
}

func TestOutputsReportErrors(t *testing.T) {
	r := goldenResults(t)
	for name, write := range outputs {
		for _, n := range []int{0, 20} {
			if err := write(&testenv.FullWriter{Left: n}, r); !errors.Is(err, testenv.ErrFull) {
				t.Errorf("%s, %d bytes: error %v", name, n, err)
			}
		}
	}
}

// The parts that are written file by file make up the whole text.
func TestTextInParts(t *testing.T) {
	r := goldenResults(t)
	var b bytes.Buffer
	for _, rep := range r.Reports {
		if err := WriteFindings(&b, rep); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteSummary(&b, r); err != nil {
		t.Fatal(err)
	}
	if want := written(t, writeText, r); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s\nwant\n%s", b.Bytes(), want)
	}
}

// The outputs have every finding: JSON has those that are kept, and the numbers of all.
func TestJSONRoundTrip(t *testing.T) {
	r := goldenResults(t)
	var doc struct{ Files []jsonFile }
	if err := json.Unmarshal(written(t, WriteJSON, r), &doc); err != nil {
		t.Fatal(err)
	}
	for i, rep := range r.Reports {
		f := doc.Files[i]
		if len(f.Findings) != len(rep.Findings) || fmt.Sprint(f.Counts) != fmt.Sprint(rep.Counts) || f.Suppressed != rep.Suppressed {
			t.Errorf("%s: %+v", rep.File, f)
		}
		for j, x := range f.Findings {
			y := rep.Findings[j]
			if x.Rule != y.Rule.ID || x.Line != y.Line || x.Column != y.Col || x.Message != text.Printable(y.Message) || x.Severity != y.Severity.String() {
				t.Errorf("%+v, want %+v", x, y)
			}
		}
	}
}

// writeText writes the findings of all files, one a line, and a summary.
func writeText(w io.Writer, r *Results) error {
	all := r.all()
	for _, rep := range all {
		if err := WriteFindings(w, rep); err != nil {
			return err
		}
	}
	return writeSummary(w, r, all)
}
