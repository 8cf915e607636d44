package resolve

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/resolve"
)

// testFilter knows an address of "app" and one of "Web Content".
func testFilter() *logFilter {
	return &logFilter{
		find: func(p *place, at *resolve.Location) (uint64, bool) {
			m := suppliers.ParseModule(p.name)
			at.Source, at.Start = resolve.Func, 0x1000
			at.Frames = append(at.Frames[:0], resolve.Frame{Function: "f of " + m.String()})
			return p.addr, p.addr == 0x1000 && (m.Name == "app" || m.Name == "Web Content")
		},
		names: func() []string { return []string{"app", "Web Content", "", "no\nline"} },
	}
}

func filtered(t testing.TB, log string, oneByte bool) string {
	t.Helper()
	var in io.Reader = strings.NewReader(log)
	if oneByte {
		in = iotest.OneByteReader(in)
	}
	var out bytes.Buffer
	stdout := cli.NewStdout(&out)
	if err := testFilter().run(context.Background(), in, stdout); err != nil {
		t.Fatal(err)
	}
	if err := stdout.Commit(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A log that arrives in pieces gives the same output as one that arrives at once, wherever a
// piece ends.
func TestFilterInPieces(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"", ""},
		{"+", "+"},
		{"+0x1000", "+0x1000"},
		{"(+0x1000)", "(+0x1000)"},
		{"app+0x1000", "f of app"},
		{"app + 0x1000", "f of app"},
		{"a app(+0x1000) b\n", "a app(f of app) b\n"},
		{"x Web Content+0x1000\nWeb Content + 0x1000 Web Content(+0x1000)", "x f of Web Content\nf of Web Content Web Content(f of Web Content)"},
		{"app+0x1000app+0x1000 app+0x1000+0x1000", "app+0x1000app+0x1000 app+0x1000+0x1000"},
		{"app +\n0x1000 app\n+ 0x1000 Web\nContent+0x1000", "app +\n0x1000 app\n+ 0x1000 Web\nContent+0x1000"},
		{strings.Repeat("x", 9000) + " Web Content+0x1000 " + strings.Repeat("y", 9000), strings.Repeat("x", 9000) + " f of Web Content " + strings.Repeat("y", 9000)},
		{strings.Repeat("x", 9000) + "Web Content+0x1000 " + strings.Repeat("app + 0x1000 ", 900), strings.Repeat("x", 9000) + "Web Content+0x1000 " + strings.Repeat("f of app ", 900)},
		{strings.Repeat("myapp+0x1000 x.app + 0x1000 ", 600), strings.Repeat("myapp+0x1000 x.app + 0x1000 ", 600)},
	} {
		for _, oneByte := range []bool{false, true} {
			if got := filtered(t, c.log, oneByte); got != c.want {
				t.Errorf("%.60q (in pieces: %v): %.200q, want %.200q", c.log, oneByte, got, c.want)
			}
		}
	}
}

// Any bytes give the same output, in pieces or at once.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"app+0x1000", "Web Content + 0x1000\n", "app(+0x1000)", "Web Content/5A9832E5287241C1838ED98914E9B7FF1+0x1000", "\x00\xff+0x", "a+b+0x1000app +"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		if whole, pieces := filtered(t, log, false), filtered(t, log, true); whole != pieces {
			t.Errorf("%q, in pieces %q", whole, pieces)
		}
	})
}
