package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
	"github.com/symtool/symtool/walk/source"
)

// The source of a program by clang, whose line tables have digests.
func TestSources(t *testing.T) {
	ctx := context.Background()
	s := walks.BinarySources(t, testenv.Input(t, "crashes", "calls-x86_64.elf"))
	r := walks.Dump(t, testenv.Input(t, "crashes", "calls-x86_64.core.gz"), s, walk.Config{})
	changed := testenv.WriteFiles(t, "calls.c", "/* \x1b[2J */ changed\n")
	for _, c := range []struct {
		dir              string
		text, json, page []string
	}{
		{testenv.Input(t, "crashes", "src"), []string{
			"\n    > 91  static inline __attribute__((always_inline)) long inner(long *p, long x) { return p[x]; }\n",
			"\n      94  {\n    > 95          return inner(p, x * 2) + 1;\n      96  }\n",
		}, []string{
			`"source":{"check":"digest","file":"`, `"first":94,"lines":["{","\treturn inner(p, x * 2) + 1;","}"]}`,
			`"symtool":{"source":{"check":"digest"`, // of an inlined function
		}, []string{`  94  {\n\u003e 95          return inner(p, x * 2) + 1;\n  96  }`}},
		{changed, []string{
			"    No source: " + changed + "/calls.c: not the file that was compiled: its MD5 is ",
		}, []string{`"source":{"why":"` + changed + `/calls.c: not the file that was compiled: its MD5 is `}, []string{`"sources":["","not shown: ` + changed + `/calls.c: not the file`}},
	} {
		sources := func() *Sources {
			return NewSources(ctx, r, &source.Finder{Roots: []source.Root{{Old: "/src", New: c.dir}}}, 1)
		}
		var text, doc bytes.Buffer
		if err := WriteText(&text, r, TextOptions{Sources: sources()}); err != nil {
			t.Fatal(err)
		}
		if err := NewDocument(r, DocumentOptions{Sources: sources()}).Write(&doc, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		validate(t, documentSchema(t), NewDocument(r, DocumentOptions{Dump: "app.core", Sources: sources()}))
		page := pageOf(t, r, HTMLOptions{Sources: sources()})
		for _, form := range []struct {
			name, got string
			want      []string
		}{{"text", text.String(), c.text}, {"JSON", doc.String(), c.json}, {"page", page, c.page}} {
			for _, want := range form.want {
				if !strings.Contains(form.got, want) {
					t.Errorf("%s with %s: got\n%s\nwant %q in it", form.name, c.dir, form.got, want)
				}
			}
			if strings.Contains(form.got, "\x1b") {
				t.Errorf("%s with %s has an escape character", form.name, c.dir)
			}
		}
		if n := strings.Count(text.String(), "No source:"); n > 1 {
			t.Errorf("the reason is written %d times, want once", n)
		}
	}
}

// Without a digest, the file is named together with what is known about it. The lines of all frames together
// are limited.
func TestUnverifiedSources(t *testing.T) {
	s := walks.BinarySources(t, testenv.Input(t, "walk-sources.elf"))
	r := walks.Dump(t, testenv.Input(t, "walk-sources.core.gz"), s, walk.Config{})
	names := map[string]bool{}
	for i := range r.Stacks {
		for k := range r.Stacks[i].Frames {
			for _, f := range r.Stacks[i].Frames[k].Names {
				names[f.File] = f.File != ""
			}
		}
	}
	var files []string
	for name, has := range names {
		if has {
			files = append(files, name, strings.Repeat("\x1b[31m line\n", 1000))
		}
	}
	dir := testenv.WriteFiles(t, files...)
	sources := NewSources(context.Background(), r, &source.Finder{Roots: []source.Root{{New: dir}}}, 1)
	sources.left = 150
	var text bytes.Buffer
	if err := WriteText(&text, r, TextOptions{Sources: sources}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{": not verified: the symbols have no checksum of it\n", `  \x1b[31m line` + "\n", "No source: not shown: the frames before it have "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", &text, want)
		}
	}
}
