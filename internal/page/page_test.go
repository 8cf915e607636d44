package page

import (
	"errors"
	"html/template"
	"io/fs"
	"strings"
	"testing"
)

const hostile = "</script><script>alert(1)</script>'\"&+\x00"

func TestWrite(t *testing.T) {
	kind := New(`{{define "body"}}<p title="{{shout .}}">{{.}}</p>
{{end}}`, template.FuncMap{"shout": strings.ToUpper}, "changes.js")
	var b strings.Builder
	if err := kind.Write(&b, Head{Heading: "symtool test", Title: hostile, Generator: "symtool 1"}, hostile); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"<title>symtool test: &lt;/script&gt;",
		`<meta name="generator" content="symtool 1">`,
		"script-src &#39;sha256-",
		"<style>/* Every page. */\n:root {",
		"<h1>symtool test</h1>\n<p title=\"&lt;/SCRIPT&gt;",
		"<script>\"use strict\";\n(() => {\n",
		"</script>\n</body>\n</html>\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "alert(1)</script>") || strings.Contains(page, "\x00") {
		t.Error("a value is not escaped")
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts, want 1", n)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteError(t *testing.T) {
	for _, size := range []int{1, 1 << 16} {
		err := New(`{{define "body"}}{{.}}{{end}}`, nil).Write(full{}, Head{}, strings.Repeat("x", size))
		if err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("%d bytes: error %v, want: full", size, err)
		}
	}
}

// A page loads nothing, and its scripts do not turn text into markup.
func TestParts(t *testing.T) {
	scripts, err := fs.Glob(files, "script/*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, error %v", len(scripts), err)
	}
	for _, name := range append(scripts, "style.css") {
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch(", "XMLHttp", "setTimeout(\"", "http:", "https:", "@import", "url("} {
			if strings.Contains(read(name), bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
}
