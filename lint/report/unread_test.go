package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/lint/finding"
)

// A file that was not read appears in every output.
func TestOutputsReportUnreadFiles(t *testing.T) {
	cut := namesOnly(t, "cut.sym", moduleLine, nil, 0)
	cut.Damage = &bin.Error{File: "cut.sym", Err: errors.New("gzip data: unexpected EOF")} // in the form of a Reader
	r := &Results{Reports: []*finding.Report{
		finding.Unreadable("none.sym", &os.PathError{Op: "open", Path: "none.sym", Err: errors.New("no such file")}), cut, namesOnly(t, "clean.sym", moduleLine, nil, 0),
	}}
	html := func(w io.Writer, r *Results) error { return WriteHTML(w, r, nil) }
	for name, want := range map[string][]string{
		"text":        {"0 notes in 2 files; 1 file could not be read\n"},
		"json":        {`"error":"not read: no such file","file":"none.sym"`, `"error":"not read to its end: gzip data: unexpected EOF","file":"cut.sym"`},
		"sarif":       {`"executionSuccessful": false`, `"text": "not read: no such file"`, `"text": "not read to its end: gzip data: unexpected EOF"`},
		"junit":       {` errors="2">`, `<error message="not read: no such file" type="input">`, `<error message="not read to its end: gzip data: unexpected EOF" type="input">`},
		"github":      {"::error file=none.sym,title=symtool lint::not read: no such file\n", "::error file=cut.sym,title=symtool lint::not read to its end: gzip data: unexpected EOF\n"},
		"codequality": {`"description":"not read: no such file"`, `"path":"cut.sym"},"severity":"blocker"}`},
		"html":        {`not read: no such file</p>`, `not read to its end: gzip data: unexpected EOF</p>`},
	} {
		write := map[string]func(io.Writer, *Results) error{"text": writeText, "json": WriteJSON, "sarif": WriteSARIF, "junit": WriteJUnit, "github": WriteGitHub, "codequality": WriteCodeQuality, "html": html}[name]
		out := string(written(t, write, r))
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: missing %q in\n%.3000s", name, w, out)
			}
		}
	}
	many := &Results{Reports: manyReports(11, 30, 10)}
	for i := range 30 {
		many.Reports = append(many.Reports, finding.Unreadable(fmt.Sprintf("%d.none", i), errors.New("no")))
	}
	out := string(written(t, WriteGitHub, many))
	if !strings.HasPrefix(out, "::error file=0.none,title=symtool lint::not read: no (the first of 30 files that could not be read)\n") {
		t.Errorf("%.200s", out)
	}
}
