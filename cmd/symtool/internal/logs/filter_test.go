package logs

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
)

const id = "5A9832E5287241C1838ED98914E9B7FF1"

// testFilter returns a filter that knows an address in "app" and one in "Web Content".
func testFilter() *Filter {
	maps, err := ReadMaps(strings.NewReader(testMaps))
	if err != nil {
		panic(err)
	}
	return &Filter{
		Maps: maps,
		Answer: func(dst []byte, p *Place) ([]byte, bool) {
			name := text.Base(p.Name)
			if name == id {
				name = text.Base(strings.TrimSuffix(p.Name, "/"+name))
			}
			if p.Addr != 0x1000 || name != "app" && name != "Web Content" {
				return dst, false
			}
			return append(append(dst, "f of "...), name...), true
		},
		Names: func() []string { return []string{"app", "Web Content", "", "no\nline"} },
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
	if err := testFilter().Run(context.Background(), in, stdout); err != nil {
		t.Fatal(err)
	}
	if err := stdout.Commit(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestFilterInPieces checks that a log that arrives in pieces gives the same output as one
// that arrives at once, wherever a piece ends.
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

// TestFilterAllocations checks that text that looks like a place but is not one costs no
// memory, since logs have much of it.
func TestFilterAllocations(t *testing.T) {
	for _, text := range []string{"app[12]: + (+) ", "+0x", "x + 0x", "a +0x1 ", "[0x1]", "#1 000] 0x1 +0x1/ pc ", "1 a 0x1 + ", "#1 0x1 a ( + 0x", "Module  dumped core "} {
		f := &Filter{Answer: func(dst []byte, _ *Place) ([]byte, bool) { return dst, false }}
		for _, log := range []string{strings.Repeat(text, 9000), strings.Repeat(text+"\n", 9000)} {
			var dst []byte
			if n := testing.AllocsPerRun(1, func() { dst, _ = f.replace(dst[:0], []byte(log), 0, len(log)) }); n > 100 {
				t.Errorf("%q, 9000 times: %v allocations, want at most 100", text, n)
			} else if string(dst) != log {
				t.Errorf("%q, 9000 times: not the same: %.60q", text, dst)
			}
		}
	}
}

// FuzzFilter checks that any bytes give the same output, in pieces or at once.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"app+0x1000", "Web Content + 0x1000\n", "app(+0x1000)", "Web Content/" + id + "+0x1000", "\x00\xff+0x", testMaps, " in app[1000,1+1000]\n", " ip 1000 in app[0+1000]", "app+0x1000/0x2000 [app]", "#1 pc 1000 app (f+1)", "\t1000 f+0x1 (app)",
		"PERF_RECORD_MMAP2 1/1: [0x1000(0x2000) @ 0x1000 fe:00 1 2]: r-xp app\n\t1010 [unknown] (app)\n", "app(f+0x1000)", "app!f+0x1000", "pc=0x1000", "a+b+0x1000app +", testReport + "x\n" + testReport, "Module app with build-id 0a\n#0 0x1 f (app + 0x1000)\n dumped core.\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		if whole, pieces := filtered(t, log, false), filtered(t, log, true); whole != pieces {
			t.Errorf("%q, in pieces %q", whole, pieces)
		}
	})
}
