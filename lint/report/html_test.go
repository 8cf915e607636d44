package report

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
)

// hostileName would be markup or script, or would end them, if it were not escaped.
const hostileName = "</script><script>window.hostile=1</script><img src=x onerror=\"window.hostile=1\">'\"&`\x00\x1b[31m\xff\u202e\u2028{{.}}"

// hostilePage returns the page about two files with such names everywhere.
func hostilePage(t testing.TB) string {
	t.Helper()
	text := "FILE 0 " + hostileName + "\nMODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 " + hostileName + "\n" +
		"FUNC 1000 100 0 " + hostileName + "\n1000 80 1 0\nFUNC 2000 80 0 plain\n2040 40 1 0\nFUNC 8000 4000 0 long\n8000 4000 1 0\n" +
		"FUNC 3000 0 0 empty\nPUBLIC 9000 0 " + hostileName + "\n" +
		"STACK CFI INIT 2000 80 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI INIT 8000 4000 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nFUNC zz 0 0 " + hostileName + "\n"
	results := &Results{Version: "test"}
	maps := map[*finding.Report]*lint.Map{}
	for i := range 2 {
		m, r := mapText(t, text)
		r.File = hostileName
		if i == 1 {
			r.File = "second.sym"
		}
		for i := range r.Findings {
			r.Findings[i].Message += hostileName
			r.Findings[i].Function = hostileName
		}
		results.Reports = append(results.Reports, r)
		maps[r] = m
	}
	var page strings.Builder
	if err := WriteHTML(&page, results, maps); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// File names appear as text, whatever they contain, and the page loads nothing.
func TestHTMLHostile(t *testing.T) {
	page := hostilePage(t)
	for _, bad := range []string{"<script>window", "<img", "</script><script>w", "\x00", "\x1b", "\u202e", "src=\"", "http:", "https:", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 2*3+1 {
		t.Errorf("%d scripts, want the data of two files and the program", n)
	}
	if !utf8.ValidString(page) {
		t.Error("the page is not UTF-8")
	}
	if !strings.Contains(page, "&lt;/script&gt;") || !strings.Contains(page, `\x00`) {
		t.Error("the name does not appear as text")
	}
}

// The worst file comes first, and the summary has the coverage of each.
func TestHTMLWorstFirst(t *testing.T) {
	const module = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFILE 0 a.c\n"
	results := &Results{Version: "test"}
	for _, f := range []struct{ name, text string }{
		{"good.sym", module + "FUNC 1000 100 0 f\n1000 100 1 0\nSTACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},
		{"half.sym", module + "FUNC 1000 100 0 f\n1000 80 1 0\nSTACK CFI INIT 1000 80 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},
		{"bad.sym", module + "FUNC zz 100 0 f\nFUNC 1000 100 0 g\n"},
	} {
		_, r := mapText(t, f.text)
		r.File = f.name
		results.Reports = append(results.Reports, r)
	}
	results.Reports = append(results.Reports, finding.Unreadable("none.sym", errors.New("no such file")))
	var b strings.Builder
	if err := WriteHTML(&b, results, nil); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	var got []string
	for _, row := range regexp.MustCompile(`<tr><td><a href="#file\d+">([a-z.]+)</a>`).FindAllStringSubmatch(page, -1) {
		got = append(got, row[1])
	}
	if want := "none.sym bad.sym half.sym good.sym"; strings.Join(got, " ") != want {
		t.Errorf("the order is %v, want %s", got, want)
	}
	for _, want := range []string{"<title>symtool lint: 4 files, ", `<span class="good">good for unwinding</span></td><td class="n">100 %</td><td class="n">100 %</td>`, `</span></td><td class="n">50.00 %</td><td class="n">50.00 %</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
