package symserver

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzPath requests any path: the answer is one of the files that are served, and reveals nothing
// else.
func FuzzPath(f *testing.F) {
	top, err := os.MkdirTemp("", "symserver")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(top) })
	dir := filepath.Join(top, "store")
	write(f, filepath.Join(top, "secret.sym"), []byte("secret"))
	write(f, filepath.Join(dir, ".symtool-lock"), []byte("secret"))
	write(f, filepath.Join(dir, "a", "AB", "a.sym.idx"), []byte("secret"))
	write(f, filepath.Join(dir, "buildid", "abcd", "secret"), []byte("secret"))
	served := map[string]string{}
	for path, text := range map[string]string{
		"a/AB/a.sym": "text of a", "b.pdb/AC/b.sym": "text of b", ".build-id/ab/cd": "text of abcd", ".build-id/ab/cd.debug": "debug of abcd",
		"buildid/abcd/source/x/y.c": "source of y", "buildid/abcd/source/secret": "source of secret",
	} {
		write(f, filepath.Join(dir, path), []byte(text))
		served[text] = path
	}
	for _, link := range []string{"c/AB/c.sym", "buildid/abcd/source/up"} {
		if err := errorsOf(os.MkdirAll(filepath.Join(dir, filepath.Dir(link)), 0o777), os.Symlink(filepath.Join(top, "secret.sym"), filepath.Join(dir, link))); err != nil {
			f.Fatal(err)
		}
	}
	s, _ := newServer(f, Config{Dirs: []string{dir}})
	for _, path := range []string{
		"/a/AB/a.sym", "/b.pdb/AC/b.sym", "/B.pdb/ac/B.sym", "/c/AB/c.sym", "/buildid/abcd/debuginfo", "/buildid/abcd/executable", "/buildid/abcd/section/.text",
		"/buildid/abcd/source/x/../x//y.c", "/buildid/abcd/source/../secret", "/buildid/abcd/source/%2e%2e/secret", "/buildid/abcd/source/up", "/a/AB/a.sym.idx",
		"/..%2fsecret.sym", "/%2e%2e/secret.sym", "/a/AB/..%5c..%5csecret.sym", "/a%00/AB/a.sym", "//a/AB/a.sym", "/.symtool-lock", "/a/AB/../../../secret.sym",
		"/metrics", "/readyz", "/symbolicate/v5", "/%", "/%zz/AB/x.sym",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := httptest.NewRequest("GET", "http://x/", nil)
		r.URL = &url.URL{Scheme: "http", Host: "x", Path: path}
		if plain, err := url.PathUnescape(path); err == nil {
			r.URL.Path, r.URL.RawPath = plain, path
		}
		to := route("", r.URL.EscapedPath())
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		text := w.Body.String()
		if strings.HasPrefix(text, "secret") || strings.Contains(text, top) {
			t.Fatalf("%q: %s", path, text)
		}
		switch {
		case w.Code == 200 && served[text] == "" && !strings.HasPrefix(text, "ok\n") && !strings.HasPrefix(text, "# HELP "):
			t.Fatalf("%q: %q", path, text)
		case w.Code != 200 && w.Code != 404 && w.Code != 405 && !(w.Code == 500 && to.kind == section): // these files are not ELF
			t.Fatalf("%q: %d %s", path, w.Code, text)
		case w.Code == 200 && to.kind == unknown:
			t.Fatalf("%q is unknown, but answered", path)
		}
	})
}

// FuzzSymbolicate sends any body: the answer is JSON, with a frame for each in the request,
// or an error.
func FuzzSymbolicate(f *testing.F) {
	s := inlineServer(f)
	for _, body := range []string{
		`{"memoryMap":[["app.pdb","ABC1"]],"stacks":[[[0,31303],[0,-1]]]}`, `{"jobs":[{"memoryMap":[["libc.so","ABD0"],["x","AB"]],"stacks":[[[0,4096],[1,1]],[]]}]}`,
		`{"jobs":[]}`, `{}`, `[]`, `{"jobs":[{"stacks":[[[-1,18446744073709551615]]],"memoryMap":[]}]}`, `{"memoryMap":[["../x","AB"]],"stacks":[[[0,1e5]]]}`,
		`{"stacks":[[[0,-0],[0,0]]],"memoryMap":[["a\u0000\ud800","AB"]],"stacks":[[]]}`, `{"jobs":[{"memoryMap":[["app.pdb","ABC1"]],"stacks":[[[0,31303]]]},`,
	} {
		f.Add([]byte(body), false)
		f.Add([]byte(body), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, v4 bool) {
		path := "/symbolicate/v5"
		if v4 {
			path = "/symbolicate/v4"
		}
		r := ask(t, s, "POST", path, data)
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			v5Answer
			Title   string
			Stacks4 [][]string `json:"symbolicatedStacks"`
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatalf("%d: %v: %s", r.StatusCode, err, text)
		}
		switch {
		case r.StatusCode == 200:
			checkCounts(t, data, v4, &answer.v5Answer, answer.Stacks4)
		case r.StatusCode != 400 && r.StatusCode != 413 || answer.Title == "":
			t.Fatalf("%d: %s", r.StatusCode, text)
		}
	})
}

// checkCounts compares the shape of an answer with that of the request, which
// encoding/json reads.
func checkCounts(t *testing.T, data []byte, v4 bool, v5 *v5Answer, stacks4 [][]string) {
	t.Helper()
	type jobJSON struct {
		Stacks [][][]json.Number `json:"stacks"`
	}
	var asked struct {
		jobJSON
		Jobs *[]jobJSON `json:"jobs"`
	}
	// It accepts names in any case, and merges duplicate members.
	if lower := strings.ToLower(string(data)); strings.Count(lower, `"stacks"`) != strings.Count(string(data), `"stacks"`) ||
		strings.Count(lower, "stacks") > 1+strings.Count(string(data), `"memoryMap"`) || strings.Count(lower, "jobs") > 1 || strings.Contains(lower, `\u`) {
		return
	}
	if json.Unmarshal(data, &asked) != nil {
		return
	}
	jobs := []jobJSON{asked.jobJSON}
	if asked.Jobs != nil && !v4 {
		jobs = *asked.Jobs
	}
	var got, want []int
	for _, j := range jobs {
		for _, s := range j.Stacks {
			want = append(want, len(s))
		}
	}
	for _, r := range v5.Results {
		for _, s := range r.Stacks {
			got = append(got, len(s))
		}
	}
	for _, s := range stacks4 {
		got = append(got, len(s))
	}
	if len(got) != len(want) {
		t.Fatalf("stacks of %v frames, want %v: %s", got, want, data)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("stacks of %v frames, want %v: %s", got, want, data)
		}
	}
}
