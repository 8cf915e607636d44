package logs

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

const (
	ipsHeader = `{"app_name":"a","bug_type":"309"}` + "\n"
	ipsImages = `"usedImages" : [{"source":"P","base":4096,"uuid":"5A9832E5-2872-41C1-838E-D98914E9B7FF","path":"\/x\/b \"}{ c","name":"n"},` +
		`{"base":0,"uuid":"00000000-0000-0000-0000-000000000000"},{"uuid":"5a9832e5-2872-41c1-838e-d98914e9b7ff","name":"n"},{},` +
		`{"uuid":"5a9832e5-2872-41c1-838e-d98914e9b7ff","name":"n","size":16}]`
)

// framing answers with two functions, which describe the place. Addresses above 0xff are unknown.
func framing() *Filter {
	f := describing()
	f.Frames = func(p *Place) ([]Frame, bool) {
		where := fmt.Sprintf("%s %x %t %t", p.Name, p.Addr, p.Caller, p.Sure)
		return []Frame{{Function: "<in>", File: "a.c", Line: 7}, {Function: where, File: "b.c", Offset: 5}}, p.Addr <= 0xff
	}
	return f
}

// TestJSONReports checks that the frames of a crash report get functions, files and lines. Frames that are unknown
// or already have them, and everything else, stay byte for byte.
func TestJSONReports(t *testing.T) {
	const id = "5A9832E5287241C1838ED98914E9B7FF0"
	inlined := `{"symbol":"<in>","inline":true,"imageIndex":2,"imageOffset":16,"sourceLine":7,"sourceFile":"a.c"},`
	for _, c := range []struct{ frames, want string }{
		{`{"imageOffset":16,"imageIndex":2}`, inlined + `{"imageOffset":16,"imageIndex":2,"symbol":"n/` + id + ` 10 false true","symbolLocation":5}`},
		{` {"imageOffset" : 16, "symbol":"x","x" : [1, {}],"symbolLocation":1,"imageIndex":2}`,
			` ` + inlined + `{"imageOffset":16,"x":[1,{}],"imageIndex":2,"symbol":"n/` + id + ` 10 false true","symbolLocation":5}`},
		{`{"imageOffset":256,"imageIndex":2} , {"imageOffset":16,"imageIndex":2}`,
			`{"imageOffset":256,"imageIndex":2} , ` + inlined + `{"imageOffset":16,"imageIndex":2,"symbol":"n/` + id + ` 10 true true","symbolLocation":5}`},
		{`{"imageOffset":1,"imageIndex":1}`, ""},
		{`{"imageOffset":1,"imageIndex":3}`, ""},
		{`{"imageOffset":16,"imageIndex":4}`, ""}, // past the end of the image
		{`{"imageOffset":1,"imageIndex":5}`, ""},
		{`{"imageOffset":1,"imageIndex":-1}`, ""},
		{`{"imageOffset":-1,"imageIndex":0}`, ""},
		{`{"imageOffset":1}`, ""},
		{`{"imageIndex":0}`, ""},
		{`7, "x", null, [{"imageOffset":1,"imageIndex":0}]`, ""},
		{`{"imageOffset":1,"imageIndex":0,"sourceLine":7}`, ""},
		{`{"imageOffset":1,"imageIndex":0,"inline":true}`, ""},
	} {
		for _, form := range []string{
			ipsHeader + "{\n  \"threads\" : [{\"id\":1,\"frames\":[%s]},null,{}],\n  " + ipsImages + "\n}\n",
			"{" + ipsImages + `,"lastExceptionBacktrace":[{},%s],"asi":"app 0x1 } \" {"}`,
			" \n" + ipsHeader + "{" + ipsImages + `, "threads":[{"frames":{"frames":[]}},{"frames":[%s]}]}` + "\n\n" + ipsHeader,
		} {
			log, want := fmt.Sprintf(form, c.frames), fmt.Sprintf(form, c.frames)
			if c.want != "" {
				want = fmt.Sprintf(form, c.want)
			}
			if strings.Contains(form, "Backtrace") {
				want = strings.ReplaceAll(want, " false ", " true ")
			}
			f := framing()
			if got := filter(t, f, log); got != want {
				t.Errorf("%s:\n got %s\nwant %s", log, got, want)
			} else if replaced := strings.Count(c.want, "<in>"); f.Replaced != replaced {
				t.Errorf("%s: %d were replaced, want %d", log, f.Replaced, replaced)
			}
		}
	}
	f := framing()
	filter(t, f, "{"+ipsImages+`,"threads":[{"frames":[{"imageOffset":256,"imageIndex":0}]}]}`)
	if want := `b "}{ c/` + id; len(f.Missed) != 1 || f.Missed[0] != want {
		t.Errorf("missed %q, want %q", f.Missed, want)
	}
}

// TestNotJSONReports checks that a text that is not a report is treated as a log from its first byte on, and is not
// held back.
func TestNotJSONReports(t *testing.T) {
	place := "app+0x10\n"
	for _, c := range []struct {
		log string
		bad bool
	}{
		{"", false},
		{" \n" + place, false},
		{"}" + place, false},
		{"{" + place, false},
		{`{"x":"` + place, false},
		{`{"a":1}` + place, false},
		{`{"usedImages":7}` + place, false},
		{ipsHeader + place, true},
		{ipsHeader + `{"usedImages":[]` + place, true},
		{ipsHeader + `{"usedImages":[],}` + place, true},
		{ipsHeader + `{"a":[1}` + place, true},
		{ipsHeader + "{" + ipsImages + "}\n" + place, false},
		{"{" + strings.Repeat(" ", MostReport) + "}" + place, false},
	} {
		f := framing()
		got, want := filter(t, f, c.log), strings.ReplaceAll(c.log, "app+0x10", "FromStart app 10")
		if got != want || f.BadReport != c.bad {
			t.Errorf("%.200s: got %.200s, bad: %t", c.log, got, f.BadReport)
		}
	}
	failed := errors.New("failed")
	for _, log := range []string{"", "{", ipsHeader} {
		err := framing().Run(t.Context(), io.MultiReader(strings.NewReader(log), iotest.ErrReader(failed)), cli.NewStdout(io.Discard))
		if !errors.Is(err, failed) {
			t.Errorf("%q: %v, want %v", log, err, failed)
		}
	}
}

func FuzzJSONReports(f *testing.F) {
	f.Add(ipsHeader + "{" + ipsImages + `,"threads":[{"frames":[{"imageOffset":1,"imageIndex":0}]}]}`)
	f.Add(ipsHeader + `{"usedImages":[{"uuid":1}],"threads":[[[`)
	f.Fuzz(func(t *testing.T, log string) {
		known := framing()
		answered := filter(t, known, log)
		if known.Replaced == 0 && answered != log {
			t.Errorf("%q changed to %q", log, answered)
		}
	})
}
