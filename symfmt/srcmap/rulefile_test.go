package srcmap

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/symtool/symtool/internal/text"
)

// mozillaJSON is like the output of Mozilla's build: rules for lists of files after those
// for all files, and variables.
const mozillaJSON = `{
  "variables": {"rev": "abc", "host": "hg.example.org/tree"},
  "mappings": [
    {"source": "^/home/worker/(.*)$", "destination": "hg:{host}:{1}:{rev}", "files": []},
    {"source": "^/cargo/(?:[^/]+)/([^/]+)-([0-9.]+)/(.*)$", "destination": "https://doc.rs/{2}/{1}/{3}.html"},
    {"source": "([^/]+)$", "destination": "s3:bucket:{1}:", "files": ["/home/worker/obj/a.h", "./gen/b.h"]},
    {"source": "x=(.*)", "destination": "eq:{1}"}
  ]
}`

func TestReadRules(t *testing.T) {
	text := "\ufeff# rules\r\n\r\n  \t\n^/src/(.*)$=hg:{1}:{rev}\r\nrust\n"
	for _, c := range []struct{ name, rules, path, want string }{
		{"a line", text, "/src/a.c", "hg:a.c:cmd"},
		{"a preset", text, "/rustc/f3e1a954d2ead4e2fc197c7da7d71e6c61bad196/a.rs", "git:github.com/rust-lang/rust:a.rs:f3e1a954d2ead4e2fc197c7da7d71e6c61bad196"},
		{"blanks belong to a rule", " a=b ", "x a", "b "},
		{"for all files", mozillaJSON, "/home/worker/a/b.c", "hg:hg.example.org/tree:a/b.c:cmd"},
		{"without files", mozillaJSON, "/cargo/r/backtrace-0.3.40/src/print.rs", "https://doc.rs/0.3.40/backtrace/src/print.rs.html"},
		{"for these files, though it is behind another", mozillaJSON, "/home/worker/obj/a.h", "s3:bucket:a.h:"},
		{"as the debug information has the name", mozillaJSON, "./gen/b.h", "s3:bucket:b.h:"},
		{"with the expression for that name", `{"mappings":[{"source":"^./gen/(.*)","destination":"g:{1}","files":["./gen/b.h"]}]}`, "./gen/b.h", "g:b.h"},
		{"not for others", mozillaJSON, "/gen/b.h", "/gen/b.h"},
		{"not for others, with an expression for anything", `{"mappings":[{"source":".*","destination":"g","files":["/b.h"]}]}`, "/gen/b.h", "/gen/b.h"},
		{"= in an expression", mozillaJSON, "x=1", "eq:1"},
		{"a variable of the file", strings.Replace(mozillaJSON, `"rev"`, `"other"`, 1), "/home/worker/b.c", "hg:hg.example.org/tree:b.c:cmd"},
	} {
		rules, err := ReadRules(strings.NewReader(c.rules), "f", map[string]string{"rev": "cmd"})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := (&Mapping{Rules: rules}).Map(nil, c.path, ""); got.Name != c.want || got.Err != nil {
			t.Errorf("%s: %s, want %s", c.name, got.Name, c.want)
		}
	}
	// Paths in a list also match after the prefix map.
	rules, err := ReadRules(strings.NewReader(mozillaJSON), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	prefixes := []Prefix{{"/b", "/home/worker/obj"}}
	if got := (&Mapping{Rules: rules}).Map(prefixes, "/b/./a.h", ""); got.Name != "s3:bucket:a.h:" {
		t.Errorf("after the prefix map: %s", got.Name)
	}
	if got := (&Mapping{Rules: rules}).Map(nil, "/home/worker/b.c", ""); got.Name != "hg:hg.example.org/tree:b.c:abc" {
		t.Errorf("variables of the file: %s", got.Name)
	}
}

func TestReadRulesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "f: no rule: want REGEX=TEMPLATE on each line, or the JSON of Mozilla's --mapping-file",
		"# only\n":                           "f: no rule: want REGEX=TEMPLATE on each line, or the JSON of Mozilla's --mapping-file",
		"a=b\n\nxyz\n":                       "f:3: want REGEX=TEMPLATE, or rust",
		"a={rev}":                            "f:1: {rev} is neither a group of the regular expression nor a variable",
		"{":                                  "f: offset 0x1: not JSON: unexpected end of JSON input",
		" {} x":                              "f: offset 0x4: not JSON: invalid character 'x' after top-level value",
		"{}":                                 "f: no rule: want REGEX=TEMPLATE on each line, or the JSON of Mozilla's --mapping-file",
		`{"mappings":1}`:                     "f: offset 0xd: mappings is a number, want what Mozilla's --mapping-file has",
		`{"mappings":[{"source":"a"}]}`:      "f: mappings[0]: want a source and a destination",
		`{"mappings":[{"destination":"a"}]}`: "f: mappings[0]: want a source and a destination",
		`{"mappings":[{"source":"a","destination":"b"},{}]}`:          "f: mappings[1]: want a source and a destination",
		`{"mappings":[{"source":"(","destination":"b"}]}`:             "f: mappings[0]: error parsing regexp: missing closing ): `(`",
		`{"mappings":[{"source":"a","destination":"{1}"}]}`:           "f: mappings[0]: {1}: the regular expression has groups up to {0}",
		`{"mappings":[{"source":"a","destination":"\u001b"}]}`:        "f: mappings[0]: the template contains control characters",
		`{"variables":{"a-b":"c"}}`:                                   `f: variables: the name "a-b" has other characters than letters, digits and _`,
		`{"variables":{"a":"\n"}}`:                                    `f: variables: the value "\n" contains control characters`,
		`{"variables":{"a":1}}`:                                       "f: offset 0x13: variables is a number, want what Mozilla's --mapping-file has",
		`{"mappings":[{"source":"a","destination":"b","files":"x"}]}`: "f: offset 0x38: mappings.files is a string, want what Mozilla's --mapping-file has",
	} {
		_, err := ReadRules(strings.NewReader(text), "f", nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadRules(endless{}, "f", nil); err == nil || err.Error() != "f: offset 0x0: more than 67108864 bytes: not a list of rules" && err.Error() != "f: more than 67108864 bytes: not a list of rules" {
		t.Errorf("endless: %v", err)
	}
	if _, err := ReadRules(io.MultiReader(strings.NewReader("a=b\n"), iotest.ErrReader(errors.New("gone"))), "f", nil); err == nil || err.Error() != "gone" {
		t.Errorf("read error: %v", err)
	}
}

// A file of the largest size is read.
func TestReadRulesSize(t *testing.T) {
	rule := "\na=b\n"
	text := "#" + strings.Repeat(" ", maxRuleFile-1-len(rule)) + rule
	if rules, err := ReadRules(strings.NewReader(text), "f", nil); err != nil || len(rules) != 1 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}

// endless is a reader that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// Files that the kernel generates as they are read are not source files: the next
// message of /proc/kmsg may never come.
func TestMapDigestOfNoFile(t *testing.T) {
	done := make(chan *File)
	go func() { done <- mapping(t, nil, `kmsg$|version$={digest}`).Map(nil, "/proc/kmsg", "") }()
	select {
	case f := <-done:
		if f.Err == nil && !strings.HasPrefix(f.Name, "cf83e1357eefb8bd") {
			t.Errorf("/proc/kmsg: %+v", f)
		}
	case <-time.After(time.Minute):
		t.Fatal("/proc/kmsg is waited for")
	}
	f := mapping(t, nil, `version$={digest}`).Map(nil, "/proc/version", "")
	if f.Err == nil && !strings.HasPrefix(f.Name, "cf83e1357eefb8bd") {
		t.Errorf("/proc/version: %+v, want the digest of nothing", f)
	}
}

// Any file gives rules, or an error with its name.
func FuzzMapRules(f *testing.F) {
	f.Add(mozillaJSON, "/home/worker/obj/a.h")
	f.Add("# a\na=b\nrust\n", "a")
	f.Add(`{"mappings":[{"source":"(a)?","destination":"{1}{{","files":["a"]}]}`, "a")
	f.Fuzz(func(t *testing.T, file, path string) {
		rules, err := ReadRules(strings.NewReader(file), "f", map[string]string{"rev": "1"})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("no name: %v", err)
			}
			return
		}
		if len(rules) == 0 {
			t.Error("no rules and no error")
		}
		m := &Mapping{Rules: rules}
		if m.ReadsFiles() {
			return
		}
		if got := m.Map(nil, path, ""); got.Err != nil && !text.IsPrintable(got.Err.Error()) {
			t.Errorf("%q: %v", path, got.Err)
		}
	})
}
