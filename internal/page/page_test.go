package page

import (
	"errors"
	"html/template"
	"strings"
	"testing"
)

type word string

func (w word) String() string { return "<" + string(w) + ">" }

func TestPut(t *testing.T) {
	var b strings.Builder
	p := NewWriter(&b)
	p.Put(`<a href="#{}" title="{}">{}</a>`, "file0", `"a" & 'b'`, "<script>")
	p.Put("<i>{}{}</i>{}{}", 12, uint64(7), word("x"), 0.5)
	p.If(false, "<b>{}</b>", "no")
	p.If(true, "<b>{}</b>", "1+1")
	p.Put("<p>no place, no value</p>")
	p.Raw("<script>f = () => {}</script>")
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `<a href="#file0" title="&#34;a&#34; &amp; &#39;b&#39;">&lt;script&gt;</a><i>127</i>&lt;x&gt;0.5<b>1&#43;1</b><p>no place, no value</p><script>f = () => {}</script>`
	if b.String() != want {
		t.Errorf("got  %s\nwant %s", b.String(), want)
	}
}

// A value is what html/template makes of it, in text and in an attribute.
func FuzzText(f *testing.F) {
	two := template.Must(template.New("").Parse(`<p title="{{.}}">{{.}}</p>`))
	for _, s := range []string{"", "plain", `"<&>'+` + "`=/", "a\x00b", "\xff\xfe", "\uFFFD\uFDD0\uFFF0\uFFFF", "日本", "</script>", "{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want, got strings.Builder
		if err := two.Execute(&want, s); err != nil {
			t.Fatal(err)
		}
		p := NewWriter(&got)
		p.Put(`<p title="{}">{}</p>`, s, s)
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%q: %q, html/template: %q", s, got.String(), want.String())
		}
	})
}

// As many values as places.
func TestPlaces(t *testing.T) {
	for _, values := range [][]any{nil, {1}, {1, 2, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d values for 2 places", len(values))
				}
			}()
			NewWriter(&strings.Builder{}).Put("<p>{}{}</p>", values...)
		}()
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteError(t *testing.T) {
	p := NewWriter(full{})
	p.Put("<p>{}</p>", strings.Repeat("x", 1<<16))
	if err := p.Flush(); err == nil || err.Error() != "full" {
		t.Errorf("error %v, want: full", err)
	}
}
