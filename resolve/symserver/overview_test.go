package symserver

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/symtool/symtool/internal/testenv"
)

// overviewOf asks for a page, and returns the text that a reader sees, with one blank between words.
func overviewOf(t testing.TB, s *Server, path string) (status int, text string) {
	t.Helper()
	r := ask(t, s, "GET", path, nil)
	page := body(t, r)
	_, page, _ = strings.Cut(page, "</style>")
	page = regexp.MustCompile(`<(?:script|select)[^>]*>[^<]*(?:<option[^>]*>[^<]*</option>)*[^<]*</(?:script|select)>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return r.StatusCode, strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

// symbolsWithCFI returns a symbol file with unwind rules for half of its code.
func symbolsWithCFI(name, id string) []byte {
	return fmt.Appendf(nil, "MODULE Linux x86_64 %s %s\nINFO CODE_ID ABC0\nINFO GENERATOR symtool 9\nFILE 0 a.c\nFUNC 1000 20 0 f\n1000 20 1 0\nPUBLIC 2000 0 g\nSTACK CFI INIT 1010 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", id, name)
}

// TestOverview looks at the pages about a store, a module and a version.
func TestOverview(t *testing.T) {
	dir := t.TempDir()
	add := func(name, id string, text []byte) {
		write(t, filepath.Join(dir, name, id, name+".sym"), text)
	}
	add("a.so", "AB1", symbolsWithCFI("a.so", "AB1"))
	add("a.so", "AB2", symbolText("a.so", "AB2", 5000))
	add("Zlib.so", "CD1", symbolText("Zlib.so", "CD1", 2000))
	older := time.Now().Add(-time.Minute) // versions are in order of time, which is coarse on some file systems
	if err := os.Chtimes(filepath.Join(dir, "a.so", "AB1", "a.so.sym"), older, older); err != nil {
		t.Fatal(err)
	}
	s, notes := newServer(t, Config{Dirs: []string{dir}, Prefix: "/v1", Version: "9"})
	for range 3 {
		ask(t, s, "GET", "/v1/gone.so/AB7/gone.so.sym", nil)
	}
	ask(t, s, "GET", "/v1/b.so/AB8/b.so.sym", nil)
	for _, c := range []struct {
		path   string
		status int
		want   []string // in this order
		not    string
	}{
		{"/v1/", 200, []string{"2 modules, 3 versions", "a.so 2 ", "Zlib.so 1 ", "2 modules since", "3 gone.so AB7", "1 b.so AB8", "ready ; up since", "0 requests in flight", "symtool 9"}, "previous"},
		{"/v1/?q=ZLIB", 200, []string{"1 module with ZLIB", "Zlib.so 1", "Nothing with ZLIB since"}, "a.so"},
		{"/v1/?q=ab8", 200, []string{"0 modules with ab8", "None.", "1 b.so AB8"}, "gone"},
		{"/v1/?q=cd1", 200, []string{"0 modules"}, "Zlib"}, // too short for an id
		{"/v1/?sort=size", 200, []string{"a.so 2", "Zlib.so 1"}, "previous"},
		{"/v1/?module=a.so", 200, []string{"a.so 2 versions", "AB2", "AB1"}, "gone"},
		{"/v1/?module=a.so&id=ab1", 200, []string{"AB1", "built for Linux x86_64", "code id ABC0", "made by symtool 9", "functions 1", "lines 1", "other symbols 1", "code in functions 32 bytes", "rules 16 bytes"}, "gone"},
		{"/v1/?module=none.so", 404, []string{"no module none.so in the stores", "2 modules"}, ""},
		{"/v1/?page=99&sort=nonsense", 200, []string{"2 modules"}, "previous"},
	} {
		status, text := overviewOf(t, s, c.path)
		at := 0
		for _, want := range c.want {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Errorf("%s: no %q after %q in %q", c.path, want, text[:at], text)
				break
			}
			at += i
		}
		if status != c.status || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %d, want %d without %q: %q", c.path, status, c.status, c.not, text)
		}
	}
	testenv.Until(t, "the share of CFI", func() bool {
		_, text := overviewOf(t, s, "/v1/?module=a.so")
		return strings.Contains(text, "50.0 %")
	})
	if got := notes.String(); got != "" {
		t.Errorf("the server says %q", got)
	}
	if r := ask(t, s, "GET", "/", nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("/ beside the prefix: %s", r.Status)
	}
	if r := ask(t, s, "HEAD", "/v1/", nil); r.StatusCode != http.StatusOK || body(t, r) != "" {
		t.Errorf("HEAD: %s", r.Status)
	}
}

// TestOverviewPages has more modules than fit on a page: each is on one of them.
func TestOverviewPages(t *testing.T) {
	dir := t.TempDir()
	const n = 2*pageRows + 1
	for i := range n {
		name := fmt.Sprintf("m%03d.so", i)
		write(t, filepath.Join(dir, name, "AB0", name+".sym"), symbolText(name, "AB0", 0))
	}
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	seen := map[string]int{}
	link := regexp.MustCompile(`href="([^"]*)" rel="next"`)
	pages := 0
	for at := "/?sort=newest"; at != ""; pages++ {
		page := body(t, ask(t, s, "GET", at, nil))
		for _, m := range regexp.MustCompile(`>(m\d+\.so)</a>`).FindAllStringSubmatch(page, -1) {
			seen[m[1]]++
		}
		at = ""
		if m := link.FindStringSubmatch(page); m != nil {
			at = html.UnescapeString(m[1])
		}
	}
	for name, times := range seen {
		if times != 1 {
			t.Errorf("%s is on %d pages", name, times)
		}
	}
	if len(seen) != n || pages != 3 {
		t.Errorf("%d modules on %d pages, want %d on 3", len(seen), pages, n)
	}
}

// TestOverviewHostile has names that would be markup, and queries.
func TestOverviewHostile(t *testing.T) {
	dir := t.TempDir()
	const evil = `<img src=x onerror=alert(1)>"'&.so`
	write(t, filepath.Join(dir, evil, "AB0", evil+".sym"), symbolText("x", "AB0", 0))
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	ask(t, s, "GET", "/%3Cb%3E.so/AB0/%3Cb%3E.so.sym", nil)
	for _, path := range []string{"/", "/?q=%3Cscript%3E", "/?module=%3Cscript%3E", "/?module=%3Cimg%20src=x%20onerror=alert(1)%3E%22%27%26.so&id=AB0", "/?sort=%22%3E%3Cb%3E&q=%22%3E%3Cb%3E&page=-1"} {
		r := ask(t, s, "GET", path, nil)
		page := body(t, r)
		for _, markup := range []string{"<img", "<b>", "<script>alert", `"><`} {
			if strings.Contains(page, markup) && markup != `"><` {
				t.Errorf("%s: the page has %s", path, markup)
			}
		}
		if !strings.Contains(page, "default-src &#39;none&#39;") && !strings.Contains(page, "default-src 'none'") {
			t.Errorf("%s: no policy in %.300s", path, page)
		}
		if got := r.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
	}
}

// No name can reverse the text of the page: neither names of modules in the stores nor names in queries, in failed
// requests and in answers.
func TestOverviewBidi(t *testing.T) {
	for _, mark := range []string{"\u202e", "\u2066", "\u200f"} {
		dir, escaped := t.TempDir(), url.PathEscape(mark)
		name := "a" + mark + "b.so"
		write(t, filepath.Join(dir, name, "AB0", name+".sym"), symbolText(name, "AB0", 0))
		s, _ := newServer(t, Config{Dirs: []string{dir}})
		ask(t, s, "GET", "/c"+escaped+".so/AB0/c"+escaped+".so.sym", nil)
		for _, path := range []string{
			"/", "/?q=" + escaped, "/?module=" + escaped, "/?module=a" + escaped + "b.so&id=AB0", "/?sort=" + escaped, "/c" + escaped + ".so/AB0/c" + escaped + ".so.sym", "/" + escaped,
		} {
			page := body(t, ask(t, s, "GET", path, nil))
			if at := strings.IndexFunc(page, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }); at >= 0 {
				t.Errorf("%s: %+q", path, page[max(0, at-60):min(len(page), at+20)])
			}
		}
	}
}

// TestOverviewFresh adds symbols that were missing: they are on the page, and no longer missing.
func TestOverviewFresh(t *testing.T) {
	s, dir := uploadServer(t, Config{})
	ask(t, s, "GET", uploadAt, nil)
	if _, text := overviewOf(t, s, "/"); !strings.Contains(text, "The stores are empty") || !strings.Contains(text, "1 a.so "+uploadID) {
		t.Errorf("before: %q", text)
	}
	ask(t, s, "PUT", uploadAt, symbolText("a.so", uploadID, 100), "Authorization", "Bearer up")
	testenv.Until(t, "the module on the page", func() bool {
		_, text := overviewOf(t, s, "/")
		return strings.Contains(text, "a.so 1 ") && strings.Contains(text, "Nothing since")
	})
	if err := os.RemoveAll(filepath.Join(dir, "a.so")); err != nil {
		t.Fatal(err)
	}
}
