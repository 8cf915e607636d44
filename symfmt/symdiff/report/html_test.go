package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// hostilePage returns a page with hostile names everywhere: in a module, in a folder, as
// a failure.
func hostilePage(t testing.TB) string {
	head := &Head{File: hostileName, OS: hostileName, CPU: hostileName, ID: hostileName, Name: hostileName}
	folders := &Folders{Old: hostileName, New: "b", Modules: 4}
	modules := []*Module{twoFiles(hostileResult(t)), {Old: head}, {Old: head, New: head, Failed: hostileName}, twoFiles(shapes(t, symdiff.Options{}))}
	return string(written(t, "html", folders, modules, Options{Version: "test"}))
}

// Names are shown as text, whatever they contain, and the page loads nothing.
func TestHTMLHostile(t *testing.T) {
	page := hostilePage(t)
	for _, bad := range []string{"<script>window", "<img", "</script><script>w", "\x00", "\x1b", "\u202e", "src=\"", "http:", "https:", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts, want 1", n)
	}
	if !utf8.ValidString(page) {
		t.Error("the page is not UTF-8")
	}
	if n := strings.Count(page, "&lt;/script&gt;"); n < 20 {
		t.Errorf("the name is there as text %d times", n)
	}
}

var (
	pageChange = regexp.MustCompile(`<(?:details|div) class="change[^"]*" data-kind="([^"]*)" data-what="([^"]*)">(?:<summary>)?<b class="\w+">([^<]*)</b> <code class="at">(\w+)</code>`)
	pageCell   = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	pageTag    = regexp.MustCompile(`<[^>]*>`)
)

// The page has the changes of the JSON document, except those that moved together,
// and its lines are those of the document.
func TestHTMLIsTheJSON(t *testing.T) {
	r := shapes(t, symdiff.Options{})
	page := string(written(t, "html", nil, []*Module{twoFiles(r)}, Options{}))
	var doc struct {
		Modules []struct {
			Changes []jsonChange
			Counts  []jsonCount
		}
	}
	if err := json.Unmarshal(written(t, "json", nil, []*Module{twoFiles(r)}, Options{Detail: true}), &doc); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	rows := 0
	for _, c := range doc.Modules[0].Changes {
		sign, s := "~", c.After
		if c.After == nil {
			sign, s = "\u2212", c.Before
		} else if c.Before == nil {
			sign = "+"
		}
		want = append(want, strings.Join([]string{c.Kind, strings.Join(c.What, " "), sign, s.RVA}, "|"))
		if c.Before != nil && c.After != nil {
			for _, s := range c.Sections {
				rows += len(s.Rows)
			}
		}
	}
	for _, m := range pageChange.FindAllStringSubmatch(page, -1) {
		got = append(got, strings.Join([]string{m[1], m[2], html.UnescapeString(m[3]), m[4]}, "|"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("changes of the page\n%s\nof the document\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sides := 0
	for _, class := range []string{"same", "gone", "new", "other"} {
		n := strings.Count(page, `<tr class="`+class+`"><td>`)
		if class == "other" {
			n *= 2 // one on each side
		}
		sides += n
	}
	for _, m := range regexp.MustCompile(`<td colspan="2">(\d+) alike`).FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[1])
		sides += n
	}
	if sides != rows || rows == 0 {
		t.Errorf("%d lines in the page, %d in the document", sides, rows)
	}
	tables := strings.SplitAfter(page, "</table>")
	for i, c := range doc.Modules[0].Counts {
		if c.Before == 0 && c.After == 0 {
			continue // there is no row
		}
		cells := pageCell.FindAllStringSubmatch(strings.Split(tables[0], "<tr>")[2+i], -1)
		var numbers []string
		for _, cell := range cells[1:] {
			numbers = append(numbers, pageTag.ReplaceAllString(cell[1], ""))
		}
		var of []string
		for _, n := range []int{c.Before, c.After, c.Same, c.By["added"], c.By["removed"], c.By["renamed"], c.By["moved"], c.By["resized"], c.Regressions} {
			of = append(of, strconv.Itoa(n))
		}
		if !slices.Equal(numbers, of) {
			t.Errorf("%s: %v in the page, %v in the document", c.Kind, numbers, of)
		}
	}
}

func TestUnlike(t *testing.T) {
	for _, c := range []struct{ a, b, x, y string }{
		{"abc", "abc", "abc[]", "abc[]"},
		{"a1c", "a22c", "a[1]c", "a[22]c"},
		{"", "x", "[]", "[x]"},
		{"aa", "a", "a[a]", "a[]"},
		{"é", "è", "[é]", "[è]"},
		{"xé", "xè!", "x[é]", "x[è!]"},
		{"\u00e9b", "\u0109b", "[\u00e9]b", "[\u0109]b"}, // one last byte
		{"fé", "f", "f[é]", "f[]"},
	} {
		x, y := unlike(c.a, c.b)
		if got := x.Head + "[" + x.Mid + "]" + x.Tail; got != c.x {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.x)
		}
		if got := y.Head + "[" + y.Mid + "]" + y.Tail; got != c.y {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.y)
		}
	}
}

var programHash = regexp.MustCompile(`&#39;sha256-[^ "]*&#39;`)

// withScript lets a page run another script after its own, which its policy forbids.
func withScript(t *testing.T, page, script string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(script))
	if n := len(programHash.FindAllString(page, -1)); n != 1 {
		t.Fatalf("%d hashes in the policy", n)
	}
	page = programHash.ReplaceAllStringFunc(page, func(s string) string { return s + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'" })
	return strings.Replace(page, "</body>", "<script>"+script+"</script></body>", 1)
}

// The page is filtered and opened in a browser.
func TestOracleHTML(t *testing.T) {
	testenv.Oracle(t)
	user := testdata(t, "page_user.js")
	r := shapes(t, symdiff.Options{})
	dom := testenv.DOM(t, withScript(t, string(written(t, "html", nil, []*Module{twoFiles(r)}, Options{})), user))
	m := regexp.MustCompile(`(?s)<pre id="reported">(.*?)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the scripts did not run:\n%.3000s", dom)
	}
	testenv.Golden(t).Assert(t, "browser.txt", []byte(html.UnescapeString(m[1])))
}

// A hostile name runs nothing, nor does a script other than the page's own.
// Without scripts, all changes are shown, and no control that would have no
// effect.
func TestOracleHTMLHostile(t *testing.T) {
	testenv.Oracle(t)
	page := strings.Replace(hostilePage(t), "</body>", "<script>document.documentElement.dataset.ready = 'hostile'</script></body>", 1)
	dom := testenv.DOM(t, page)
	if !strings.Contains(dom, `<html lang="en" class="on">`) || strings.Contains(dom, "data-ready") {
		t.Errorf("the page's script did not run, or another did: %.200s", dom)
	}
	dom = testenv.DOM(t, withScript(t, hostilePage(t), "document.documentElement.dataset.hostile = String(window.hostile) + document.images.length"))
	if !strings.Contains(dom, `data-hostile="undefined0"`) {
		t.Errorf("a name ran: %.200s", dom)
	}
	// Headless Chromium prints nothing with scripts switched off: the policy stops them.
	dom = testenv.DOM(t, programHash.ReplaceAllString(page, "'none'"))
	if strings.Contains(dom, `class="on"`) {
		t.Fatal("a script ran")
	}
	if !regexp.MustCompile(`html:not\(\.on\) \.scripted \{ display: none; \}`).MatchString(dom) {
		t.Error("controls are seen")
	}
	if n, want := len(pageChange.FindAllString(dom, -1)), len(pageChange.FindAllString(page, -1)); n != want || n == 0 {
		t.Errorf("%d changes without scripts, want %d", n, want)
	}
}

// What does not fit on the page is counted, and its names can be found.
func TestHTMLUnlisted(t *testing.T) {
	m := twoFiles(shapes(t, symdiff.Options{}))
	whole, _, err := newHTMLModule(m, 0, maxPage, maxUnlisted)
	if err != nil || len(whole.Unlisted) != 0 || whole.Left.Any() {
		t.Fatalf("%d names, %+v, %v", len(whole.Unlisted), whole.Left, err)
	}
	none, _, err := newHTMLModule(m, 0, 0, maxUnlisted)
	if err != nil || len(none.Lists) != 0 || len(none.Unlisted) != none.Left.Changes || none.Left.Changes != len(m.Result.Changes) {
		t.Errorf("%d names of %d changes, %v", len(none.Unlisted), none.Left.Changes, err)
	}
	if slices.Contains(none.Unlisted, "") {
		t.Errorf("a name is empty: %q", none.Unlisted)
	}
	few, _, err := newHTMLModule(m, 0, 0, 10)
	if n := len(few.Unlisted); err != nil || n == 0 || n >= len(none.Unlisted) || few.Left.Changes != none.Left.Changes {
		t.Errorf("%d names in 10 bytes, %v", n, err)
	}
}
