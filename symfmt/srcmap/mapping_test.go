package srcmap

import (
	"crypto/sha512"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/pattern"
)

// mapping returns a Mapping of rules in the syntax of --map.
func mapping(t testing.TB, vars map[string]string, rules ...string) *Mapping {
	t.Helper()
	m := &Mapping{}
	for _, text := range rules {
		r, err := ParseRule(text, vars)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		m.Rules = append(m.Rules, r)
	}
	return m
}

func writeFile(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMap(t *testing.T) {
	vars := map[string]string{"rev": "abc", "brace": "{1}", "host": "hg.mozilla.org/mozilla-central"}
	for _, c := range []struct {
		name     string
		rules    []string
		prefixes []Prefix
		md5      string
		path     string
		want     string
	}{
		{name: "number and variable", rules: []string{`^/home/worker/(.*)$=hg:{host}:{1}:{rev}`}, path: "/home/worker/a/b.cpp", want: "hg:hg.mozilla.org/mozilla-central:a/b.cpp:abc"},
		{name: "named group", rules: []string{`^/w/(?P<repo>[^/]+)/(?<rest>.*)$=git:github.com/x/{repo}:{rest}:{rev}`}, path: "/w/r/a.c", want: "git:github.com/x/r:a.c:abc"},
		{name: "whole match", rules: []string{`[^/]+$={0}`}, path: "/a/b.c", want: "b.c"},
		{name: "any part matches, the whole path goes", rules: []string{`worker/(.*)=x:{1}`}, path: "/home/worker/a.c", want: "x:a.c"},
		{name: "the first rule counts", rules: []string{`^/a/=1`, `^/a/b=2`, `^/a/b$=3`}, path: "/a/b", want: "1"},
		{name: "the next rule", rules: []string{`^/no/=1`, `^/a/b=2`}, path: "/a/b", want: "2"},
		{name: "no rule", rules: []string{`^/no/=1`}, path: "/a/../b", want: "/a/../b"},
		{name: "a group that took no part: the next rule", rules: []string{`^/a(/x)?/(.*)$={1}:{2}`, `^/a/(.*)$=2:{1}`}, path: "/a/b", want: "2:b"},
		{name: "a first group that took no part", rules: []string{`^/a(/x)?/b$={1}`, `b$=2`}, path: "/a/b", want: "2"},
		{name: "text that is not at the beginning", rules: []string{`^/no/=1`, `[a-z]/b=2`, `b=3`}, path: "/a/b", want: "2"},
		{name: "the beginning or text", rules: []string{`^|a=1`}, path: "/b", want: "1"},
		{name: "an empty group", rules: []string{`^/a(x*)/(.*)$=<{1}>{2}`}, path: "/a/b", want: "<>b"},
		{name: "values are not looked through", rules: []string{`^/(.*)$={brace}{1}`}, path: "/{rev}", want: "{1}{rev}"},
		{name: "braces", rules: []string{`(.)$={{{1}}}{{}}`}, path: "/a", want: "{a}{}"},
		{name: "= in the template", rules: []string{`^/(.*)$=https://h/?p={1}&r={rev}`}, path: "/a.c", want: "https://h/?p=a.c&r=abc"},
		{name: "= in the expression", rules: []string{`^/a\x3d(.*)$={1}`}, path: "/a=b", want: "b"},
		{name: "after the prefix map", rules: []string{`^/src/(.*)$=hg:{1}`}, prefixes: []Prefix{{"/build/1", "/src"}}, path: "/build/1/a.c", want: "hg:a.c"},
		{name: "not before it", rules: []string{`^/build/(.*)$=hg:{1}`}, prefixes: []Prefix{{"/build/1", "/src"}}, path: "/build/1/a.c", want: "/src/a.c"},
		{name: "dots", rules: []string{`^/src/(.*)$=hg:{1}`}, path: "/src/obj/./../lib//a.c", want: "hg:lib/a.c"},
		{name: "dots lead out", rules: []string{`^/src/(.*)$=hg:{1}`}, path: "/src/../etc/a.c", want: "/src/../etc/a.c"},
		{name: "relative", rules: []string{`^lib/(.*)$=hg:{1}`}, path: "./x/../lib/a.c", want: "hg:a.c"},
		{name: "Windows", rules: []string{`^[cC]:\\b\\(.*)$=hg:h:{1}:r`}, path: `C:\b\dom\base\.\a.cpp`, want: `hg:h:dom\base\a.cpp:r`},
		{name: "Windows, both separators", rules: []string{`^d:[\\/]b[\\/](.*)$={1}`}, path: `d:/b\x/..\a.cpp`, want: `a.cpp`},
		{name: "not the whole expression", rules: []string{`^/a|^/b=x`}, path: "/b", want: "x"},
		{name: "any case", rules: []string{`(?i)^/SRC/(.*)=x{1}`}, path: "/src/a", want: "xa"},
		{name: "not UTF-8 at the start", rules: []string{"^\ufffd(.*)=x{1}"}, path: "\xffa", want: "xa"},
		{name: "optional", rules: []string{`^/?a=x`}, path: "a", want: "x"},
		{name: "not UTF-8", rules: []string{`^/(.*)\.c$={1}`}, path: "/\xff\xfe.c", want: "\xff\xfe"},
		{name: "md5", rules: []string{`^/(.*)$=s3:b:{md5}/{1}:`}, path: "/a.c", md5: "00ff", want: "s3:b:00ff/a.c:"},
		{name: "Rust", rules: []string{"rust"}, path: "/rustc/f3e1a954d2ead4e2fc197c7da7d71e6c61bad196/library/core/src/str/pattern.rs",
			want: "git:github.com/rust-lang/rust:library/core/src/str/pattern.rs:f3e1a954d2ead4e2fc197c7da7d71e6c61bad196"},
		{name: "Rust of Windows", rules: []string{"rust"}, path: `/rustc/f3e1a954d2ead4e2fc197c7da7d71e6c61bad196\library\std\src\rt.rs`,
			want: `git:github.com/rust-lang/rust:library\std\src\rt.rs:f3e1a954d2ead4e2fc197c7da7d71e6c61bad196`},
		{name: "Rust's LLVM", rules: []string{"rust"}, path: "/rustc/llvm/src/a.cpp", want: "/rustc/llvm/src/a.cpp"},
		{name: "Rust in a folder", rules: []string{"rust"}, path: "/x/rustc/f3e1a954d2ead4e2fc197c7da7d71e6c61bad196/a.rs", want: "/x/rustc/f3e1a954d2ead4e2fc197c7da7d71e6c61bad196/a.rs"},
		{name: "longest path", rules: []string{`^/(.*)$=x`}, path: "/" + strings.Repeat("a", maxPath-1), want: "x"},
	} {
		f := mapping(t, vars, c.rules...).Map(c.prefixes, c.path, c.md5)
		if f.Name != c.want || f.Err != nil || f.Path != c.path || f.File != "" {
			t.Errorf("%s: %+v, want %s", c.name, f, c.want)
		}
	}
}

func TestMapRuleErrors(t *testing.T) {
	vars := map[string]string{"rev": "1", "name": "2"}
	for rule, want := range map[string]string{
		"":                      "want REGEX=TEMPLATE, or rust",
		"rusty":                 "want REGEX=TEMPLATE, or rust",
		"=x":                    "want REGEX=TEMPLATE, or rust",
		"x=":                    "want REGEX=TEMPLATE, or rust",
		"(=x":                   "error parsing regexp: missing closing ): `(`",
		"(?!a)b=x":              "error parsing regexp: invalid or unsupported Perl syntax: `(?!`",
		`(a)\1=x`:               "error parsing regexp: invalid escape sequence: `\\1`",
		"a{1001}=x":             "error parsing regexp: invalid repeat count: `{1001}`",
		"(?:(?:a{100}){100})=x": "error parsing regexp: invalid repeat count: `{100}`",
		"(?:[a-z]?){900}b{900}" + "(?:[a-z]?){900}(?:[a-z]?){900}(?:[a-z]?){900}(?:[a-z]?){900}(?:[a-z]?){900}=x": "the regular expression has 11702 instructions, want at most 10000: use smaller repetition counts",
		"(a)(b)={3}":               "{3}: the regular expression has groups up to {2}",
		"a={99999999999999999999}": "{99999999999999999999}: the regular expression has groups up to {0}",
		"a={-1}":                   "{-1} is neither a group of the regular expression nor a variable",
		"a={}":                     "{} is neither a group of the regular expression nor a variable",
		"a={Rev}":                  "{Rev} is neither a group of the regular expression nor a variable",
		"(?P<name>a)={name}":       "{name} is both a group of the regular expression and a variable",
		"a={rev":                   "{ without } in the template: write {{ for a brace",
		"a=rev}":                   "} without { in the template: write }} for a brace",
		"a={1}}":                   "{1}: the regular expression has groups up to {0}",
		"a=b\nc":                   "the template contains control characters",
	} {
		if _, err := ParseRule(rule, vars); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", rule, err, want)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"rev", "", ""}, {"_a1", "é", ""},
		{"", "x", `the name "" has other characters than letters, digits and _`},
		{"1", "x", `the name "1" has other characters than letters, digits and _`},
		{"a-b", "x", `the name "a-b" has other characters than letters, digits and _`},
		{"digest", "x", "{digest} is reserved for the source file"},
		{"md5", "x", "{md5} is reserved for the source file"},
		{"rev", "\t", `the value "\t" contains control characters`},
		{"rev", "a\nb", `the value "a\nb" contains control characters`},
	} {
		err := CheckVar(c.name, c.value)
		if got := ""; err != nil {
			got = err.Error()
			if got != c.want {
				t.Errorf("%q: %s, want %s", c.name, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%q: no error, want %s", c.name, c.want)
		}
	}
}

// If something that a template needs is missing, only that path is not mapped,
// which is reported. The next rule, which would match, is not tried.
func TestMapWithoutFile(t *testing.T) {
	dir := t.TempDir()
	good := writeFile(t, filepath.Join(dir, "good.c"), "int a;\n")
	const goodMD5 = "0ba6a1dc0a9eb8ea4ec5d9a9a3e3a1d0"
	tab := writeFile(t, filepath.Join(dir, "a\tb.c"), "")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	huge := writeFile(t, filepath.Join(dir, "huge.c"), "")
	if err := os.Truncate(huge, maxSource+1); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone.c")
	digest := []string{`^(.*)$=s3:b:{digest}{1}:`, `^(.*)$=hg:{1}`}
	for _, c := range []struct {
		name      string
		rules     []string
		prefixes  []Prefix
		path, md5 string
		want      string
	}{
		{name: "missing", rules: digest, path: gone, want: "{digest}: " + gone + ": no such file or directory"},
		{name: "missing at both places", rules: digest, path: gone, prefixes: []Prefix{{dir, "/nowhere"}},
			want: "{digest}: " + gone + ": no such file or directory; /nowhere/gone.c: no such file or directory"},
		{name: "folder", rules: digest, path: dir, want: "{digest}: " + dir + ": not a regular file"},
		{name: "pipe", rules: digest, path: pipe, want: "{digest}: " + pipe + ": not a regular file"},
		{name: "device", rules: digest, path: "/dev/zero", want: "{digest}: /dev/zero: not a regular file"},
		{name: "NUL", rules: digest, path: "/a\x00b", want: `{digest}: /a\x00b: invalid argument`},
		{name: "below a file", rules: digest, path: good + "/x", want: "{digest}: " + good + "/x: not a directory"},
		{name: "too large", rules: digest, path: huge, want: "{digest}: " + huge + ": more than 1073741824 bytes: not a source file"},
		{name: "tab", rules: digest, path: tab, want: "{digest}: " + filepath.Join(dir, `a\tb.c`) + ": the name has tabs or line ends"},
		{name: "another file", rules: digest, path: good, md5: goodMD5,
			want: "{digest}: " + good + " is not the file that was compiled: its MD5 is 1ccb9ebc08e51c65b99fa5f74657100a, the debug information has " + goodMD5},
		{name: "no MD5", rules: []string{`^(.*)$={md5}`}, path: good, want: "{md5}: the debug information has none for this file"},
		{name: "tab from the prefix map", rules: digest, path: good, prefixes: []Prefix{{dir, "/\t"}}, want: "{digest}: the name that its rule yields has tabs or line ends"},
		{name: "empty name", rules: []string{`^/([a-z]*)={1}`}, path: "/1", want: "the name that its rule yields is empty"},
		{name: "long", rules: []string{`.=x`}, path: "/" + strings.Repeat("a", maxPath), want: "path of 4097 bytes, want at most 4096"},
	} {
		f := mapping(t, nil, c.rules...).Map(c.prefixes, c.path, c.md5)
		if f.Err == nil || f.Err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, f.Err, c.want)
		}
		if f.Name != ReplacePrefix(c.prefixes, c.path) || f.File != "" || f.SHA512 != "" {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// The file is read under the name in the debug information or, if it does not
// exist there, under the name after the prefix map.
func TestMapDigest(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, filepath.Join(dir, "a.c"), "int a;\n")
	sum := sha512.Sum512([]byte("int a;\n"))
	want := hex.EncodeToString(sum[:])
	for _, c := range []struct {
		rule     string
		prefixes []Prefix
		path     string
		want     string
	}{
		{`([^/]*)$=s3:b:{digest}/{1}:`, nil, file, "s3:b:" + want + "/a.c:"},
		{`([^/]*)$={DIGEST}`, nil, file, strings.ToUpper(want)},
		{`^/src/(.*)$={digest}{1}`, []Prefix{{dir, "/src"}}, file, want + "a.c"},
		{`([^/]*)$={digest}{1}`, []Prefix{{"/src", dir}}, "/src/./a.c", want + "a.c"},
	} {
		f := mapping(t, nil, c.rule).Map(c.prefixes, c.path, "")
		if f.Err != nil || f.Name != c.want || f.SHA512 != want || filepath.Clean(f.File) != file {
			t.Errorf("%s %s: %+v, want %s", c.rule, c.path, f, c.want)
		}
	}
}

// Many goroutines use a Mapping; each path is mapped once, each file read once.
func TestMapOnce(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "a.c"), "int a;\n")
	m := mapping(t, nil, `^(.*)$={digest}`)
	var all [8]*File
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = m.Map(nil, file, "") })
	}
	wg.Wait()
	for _, f := range all {
		if f != all[0] || f.Err != nil {
			t.Fatalf("%+v and %+v", f, all[0])
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if f := m.Map([]Prefix{}, file, ""); f != all[0] {
		t.Errorf("read again: %+v", f)
	}
	// The MD5 matters only if a rule uses it.
	plain, sums := mapping(t, nil, `^(.*)$=x`), mapping(t, nil, `^(.*)$={md5}`)
	if plain.Map(nil, "/a", "00") != plain.Map(nil, "/a", "01") || sums.Map(nil, "/a", "00") == sums.Map(nil, "/a", "01") {
		t.Error("the MD5 of files counts for other rules, or not for its own")
	}
}

// What rules read from files.
func TestMappingReads(t *testing.T) {
	for rule, want := range map[string][2]bool{"a={0}": {}, "a={digest}": {true, false}, "a={DIGEST}": {true, false}, "a={md5}": {false, true}, "a={md5}{digest}": {true, true}} {
		m := mapping(t, nil, "b=x", rule)
		if m.ReadsFiles() != want[0] || m.ReadsMD5() != want[1] {
			t.Errorf("%s: files %v, MD5 %v", rule, m.ReadsFiles(), m.ReadsMD5())
		}
	}
}

// Most rules fail at the text that they require at the beginning, without
// evaluating their expressions.
func TestAnchoredPrefix(t *testing.T) {
	for expr, want := range map[string]string{
		`^/home/worker/(.*)$`: "/home/worker/", `^/a`: "/a", `\A/a/b$`: "/a/b", `^/a?b`: "/", `^(/a)`: "", "/a": "", `[a-z]/a`: "", `^|/a`: "", `^/a|^/b`: "", `(?i)^/a`: "",
		`(?m)^/a`: "", "^\ufffda": "", `^`: "", `^[ab]c`: "",
	} {
		if got := mapping(t, nil, expr+"=x").Rules[0].prefix; got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// A file that the build put somewhere is mapped like the file that it came from.
// Manifests come before links; each is consulted with the path in the debug
// information, whose origin the prefix map then applies to, or with the result
// of the prefix map.
func TestMapOrigin(t *testing.T) {
	dir := t.TempDir()
	target := writeFile(t, filepath.Join(dir, "tree/a.h"), "")
	for _, link := range []string{"a.h", "b.h"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	none, err := ReadManifest(strings.NewReader(manifestText("1")), "m", dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := ReadManifest(strings.NewReader(manifestText("1", "1|b.h|/tree/b.h")), "m", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		links     bool
		manifests []*Manifest
		prefixes  []Prefix
		path      string
		want      string
	}{
		{name: "neither", path: dir + "/b.h", want: dir + "/b.h"},
		{name: "link", links: true, path: dir + "/b.h", want: target},
		{name: "no link", links: true, path: dir + "/none.h", want: dir + "/none.h"},
		{name: "not listed", manifests: []*Manifest{manifest}, path: dir + "/a.h", want: dir + "/a.h"},
		{name: "listed", manifests: []*Manifest{none, manifest}, path: dir + "/b.h", want: "/tree/b.h"},
		{name: "listed, and a link", links: true, manifests: []*Manifest{manifest}, path: dir + "/b.h", want: "/tree/b.h"},
		{name: "a link that is not listed", links: true, manifests: []*Manifest{manifest}, path: dir + "/a.h", want: target},
		{name: "the prefix map applies to the origin", manifests: []*Manifest{manifest}, prefixes: []Prefix{{"/tree", "/t"}}, path: dir + "/b.h", want: "/t/b.h"},
		{name: "the prefix map applies to both", manifests: []*Manifest{manifest}, prefixes: []Prefix{{"/tree", "/t"}, {dir, "/d"}}, path: dir + "/b.h", want: "/t/b.h"},
		{name: "listed where the prefix map puts it", manifests: []*Manifest{manifest}, prefixes: []Prefix{{"/tree", "/t"}, {"/d", dir}}, path: "/d/b.h", want: "/tree/b.h"},
		{name: "a link where the prefix map puts it", links: true, prefixes: []Prefix{{"/d", dir}}, path: "/d/b.h", want: target},
		{name: "at no place", links: true, manifests: []*Manifest{manifest}, prefixes: []Prefix{{"/d", "/none"}}, path: "/d/b.h", want: "/none/b.h"},
	} {
		m := mapping(t, nil, `^(.*)$=<{1}>`)
		m.Links, m.Manifests = c.links, c.manifests
		if f := m.Map(c.prefixes, c.path, ""); f.Name != "<"+c.want+">" || f.Err != nil {
			t.Errorf("%s: %+v, want %s", c.name, f, c.want)
		}
	}
}

// Files are closed after they are read, whatever they are.
func TestMapFilesAreClosed(t *testing.T) {
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Skip("no /proc/self/fd here")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would close forgotten files
	dir := t.TempDir()
	m := mapping(t, nil, `^(.*)$={digest}`)
	m.Links = true
	for _, path := range []string{writeFile(t, filepath.Join(dir, "a.c"), "int a;\n"), writeFile(t, filepath.Join(dir, "empty.c"), ""), dir, "/dev/null", "/proc/version"} {
		before, _ := os.ReadDir("/proc/self/fd")
		m.Map(nil, path, "")
		if after, _ := os.ReadDir("/proc/self/fd"); len(after) != len(before) {
			t.Errorf("%s: %d files are open, before it %d", path, len(after), len(before))
		}
	}
}

// The largest expression.
func TestMapRuleSize(t *testing.T) {
	for n, want := range map[int]bool{pattern.MaxEach - 2: true, pattern.MaxEach - 1: false} { // with an end and a failure
		if _, err := ParseRule(strings.Repeat("a", n)+"=x", nil); (err == nil) != want {
			t.Errorf("%d letters: %v", n, err)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{
		"": "", ".": ".", "/": "/", "/..": "/", "..": "..", "../a": "../a", "../../a": "../../a", "a/..": "a/..", "a/../..": "..",
		"/a/b/../../../c": "/c", "./a.c": "a.c", "/a//b/./c": "/a/b/c", "//a/b": "//a/b", "a/./b/": "a/b/", "/a/..b/...": "/a/..b/...",
		`C:\a\..\b`: `C:\b`, `C:\..\b`: `C:\b`, `C:/a\.\b/../c`: `C:/a\c`, `\\server\x\..\y`: `\\server\y`, `a\..\..\b`: `..\b`,
		"<built-in>": "<built-in>",
	} {
		if got := cleanPath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
