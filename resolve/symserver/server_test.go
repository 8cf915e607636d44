package symserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/store"
)

// noted collects what a Server logs.
type noted struct {
	mu    sync.Mutex
	lines []string
}

func (n *noted) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *noted) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, "\n")
}

// newServer returns a Server of a folder; what it logs goes to notes, unless cfg has its own.
func newServer(t testing.TB, cfg Config) (*Server, *noted) {
	t.Helper()
	notes := &noted{}
	if cfg.Warn == nil {
		cfg.Warn = notes.add
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, notes
}

func write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// symbolText returns a symbol file of at least size bytes.
func symbolText(name, id string, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nFILE 0 /src/%s.c\n", id, name, name)
	line := []byte(nil)
	for i := 0; i == 0 || b.Len() < size; i++ {
		at := strconv.FormatInt(int64(4096+16*i), 16)
		line = append(append(append(line[:0], "FUNC "...), at...), " 10 0 f"...)
		line = append(append(append(strconv.AppendInt(line, int64(i), 10), '\n'), at...), " 10 "...)
		b.Write(append(strconv.AppendInt(line, int64(i+1), 10), " 0\n"...))
	}
	return b.Bytes()
}

// ask sends a request to a Server. The path is sent unchanged, however odd.
func ask(t testing.TB, h http.Handler, method, path string, body []byte, fields ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://x/", bytes.NewReader(body))
	if body == nil {
		r = httptest.NewRequest(method, "http://x/", nil)
	}
	u, err := r.URL.Parse("http://x" + path)
	if err == nil {
		r.URL = u
	} else {
		r.URL.Path, r.URL.RawPath = path, path
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t testing.TB, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRoute(t *testing.T) {
	const id = "ABCDEF0123456789ABCDEF01234567890"
	long := strings.Repeat("x", 300)
	for path, want := range map[string]string{
		"/lib.so/" + id + "/lib.so.sym":           "symbols lib.so " + id + " .sym",
		"/lib.so/" + id + "/lib.so.sym.gz":        "symbols lib.so " + id + " .sym.gz",
		"/lib.so/" + id + "/lib.so.sym.zst":       "symbols lib.so " + id + " .sym.zst",
		"/a.pdb/" + id + "/a.sym":                 "symbols a.pdb " + id + " .sym",
		"/A.PDB/" + id + "/A.sym":                 "symbols A.PDB " + id + " .sym",
		"/lib%2bx+y%20z/" + id + "/lib+x+y z.sym": "symbols lib+x+y z " + id + " .sym",
		"/a.sym/" + id + "/a.sym.sym":             "symbols a.sym " + id + " .sym",
		"/.hidden/" + id + "/.hidden.sym":         "symbols .hidden " + id + " .sym",
		"/buildid/abcd/debuginfo":                 "debuginfo abcd",
		"/buildid/ABCD/debuginfo":                 "debuginfo abcd",
		"/buildid/abcd/executable":                "executable abcd",
		"/buildid/abcd/section/.text":             "section abcd .text",
		"/buildid/abcd/section/a/b":               "section abcd a/b",
		"/buildid/abcd/source/usr/include/a.h":    "source abcd usr/include/a.h",
		"/buildid/abcd/source//zoo//../b/./c":     "source abcd b/c",
		"/buildid/abcd/source/../../../etc/x":     "source abcd etc/x",
		"/buildid/abcd/source/%2e%2e%2f..%2fe":    "source abcd e",
		"/buildid/ABC0/buildid.sym":               "symbols buildid ABC0 .sym",
		"/lib.so/ABC0/lib.so.vars":                "symbols lib.so ABC0 .vars",
		"/a.pdb/ABC0/a.vars.zst":                  "symbols a.pdb ABC0 .vars.zst",
		"/a.pdb/" + id + "/a.pdb":                 "program a.pdb " + id,
		"/A.exe/" + id + "/a.EXE":                 "program A.exe " + id,
		"/symbolicate/v5":                         "symbolicate v5",
		"/symbolicate/v4":                         "symbolicate v4",
		"/metrics":                                "metrics",
		"/healthz":                                "health healthz",
		"/readyz":                                 "health readyz",
		"/":                                       "page",
		"/upload":                                 "form",
		"/upload/":                                "form",
		"/v1/uploads:create":                      "api create",
		"/v1/uploads/abcd":                        "api abcd put",
		"/v1/uploads/abcd:complete":               "api abcd complete",
		"/v1/symbols/a.so/AB0:checkStatus":        "api checkStatus",

		"": "unknown", "/v1/uploads:drop": "unknown", "/v1/uploads/a/b": "unknown", "/v1/symbols/..%2fa/AB0:checkStatus": "unknown", "/upload/x": "unknown", "//": "unknown", "///": "unknown", "/favicon.ico": "unknown",
		"lib.so/" + id + "/lib.so.sym":                        "unknown",
		"/lib.so/" + id + "/lib.so.sym/":                      "unknown",
		"//lib.so/" + id + "/lib.so.sym":                      "unknown",
		"/lib.so/" + id + "/other.sym":                        "unknown",
		"/lib.so/" + id + "/lib.so.sym.idx":                   "unknown",
		"/lib.so/" + id + "/lib.so.pdb":                       "unknown",
		"/a.pdb/" + id + "/a.pdb.sym":                         "unknown",
		"/lib.so/xyz/lib.so.sym":                              "unknown",
		"/lib.so//lib.so.sym":                                 "unknown",
		"/../" + id + "/...sym":                               "unknown",
		"/%2e%2e/" + id + "/...sym":                           "unknown",
		"/%2e%2e%2fetc/" + id + "/etc.sym":                    "unknown",
		"/etc%2fpasswd/" + id + "/passwd.sym":                 "unknown",
		"/etc%5cpasswd/" + id + "/passwd.sym":                 "unknown",
		"/a\\b/" + id + "/b.sym":                              "unknown",
		"/a%00b/" + id + "/a%00b.sym":                         "unknown",
		"/a%0ab/" + id + "/a%0ab.sym":                         "unknown",
		"/a%ffb/" + id + "/a%ffb.sym":                         "unknown",
		"/a%zzb/" + id + "/a%zzb.sym":                         "unknown",
		"/.symtool-1.new/" + id + "/.symtool-1.new.sym":       "unknown",
		"/.symtool-lock":                                      "unknown",
		"/" + long + "/" + id + "/" + long + ".sym":           "unknown",
		"/" + strings.Repeat("a/", 4000):                      "unknown",
		"/buildid/ab/debuginfo":                               "unknown",
		"/buildid/abc/debuginfo":                              "unknown",
		"/buildid/abcd/debuginfo/":                            "unknown",
		"/buildid/..%2f..%2fetc/debuginfo":                    "unknown",
		"/buildid/" + long + "/debuginfo":                     "unknown",
		"/buildid/" + strings.Repeat("ab", 65) + "/debuginfo": "unknown",
		"/buildid/" + strings.Repeat("ab", 64) + "/debuginfo": "debuginfo " + strings.Repeat("ab", 64),
		"/buildid/abcd/section/":                              "unknown",
		"/buildid/abcd/source/":                               "unknown",
		"/buildid/abcd/source/..":                             "unknown",
		"/buildid/abcd/source/a%00":                           "unknown",
		"/buildid/abcd/other":                                 "unknown",
		"/symbolicate/v6":                                     "unknown",
		"/symbolicate/v5/":                                    "unknown",
		"/Metrics":                                            "unknown",
	} {
		if got := describe(route("", path)); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
		if got := describe(route("/v1", "/v1"+path)); want != "unknown" && !strings.HasPrefix(want, "metrics") && !strings.HasPrefix(want, "health") && got != want {
			t.Errorf("/v1%q is %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"/symbolicate/v5", "/v1symbolicate/v5", "/v1", "/buildid/abcd/debuginfo"} {
		if got := route("/v1", path); got.kind != unknown {
			t.Errorf("%q is %v without the prefix", path, got.kind)
		}
	}
	source := "/buildid/abcd/source/"
	source += strings.Repeat("a", maxPath-len(source))
	if got := route("", source); got.kind.String() != "source" {
		t.Errorf("%d bytes are %v", len(source), got.kind)
	}
	if got := route("", source+"a"); got.kind != unknown {
		t.Errorf("%d bytes are %v", len(source)+1, got.kind)
	}
	if got := route("/v1", "/metrics"); got.kind != metricsPage {
		t.Errorf("/metrics is %v", got.kind)
	}
}

func describe(to target) string {
	if to.kind == symbols || to.kind == program {
		return strings.TrimSpace(strings.Join([]string{to.kind.String(), to.place.Name, to.place.ID, to.text + to.zip}, " "))
	}
	return strings.Join(strings.Fields(strings.Join([]string{to.kind.String(), to.id, to.name}, " ")), " ")
}

func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		field     string
		gzip, zst bool
	}{
		{"", false, false},
		{"gzip", true, false},
		{"GZIP", true, false},
		{"x-gzip", true, false},
		{"gzip, deflate, br, zstd", true, true},
		{"gzip;q=0", false, false},
		{"gzip;q=0.001, zstd; q=0.0", true, false},
		{"gzip;Q=0", false, false},
		{"gzip;q=x", false, false},
		{"*", true, true},
		{"*;q=0, gzip", true, false},
		{"gzip;q=0, *", false, true},
		{"identity", false, false},
		{"gzipped", false, false},
		{",,;;q,", false, false},
	} {
		if g, z := accepts(c.field, "gzip"), accepts(c.field, "zstd"); g != c.gzip || z != c.zst {
			t.Errorf("%q: gzip %v, zstd %v", c.field, g, z)
		}
	}
}

// keep puts a symbol file into a folder, in a form.
func keep(t testing.TB, dir, name, id, ext string, text []byte) string {
	t.Helper()
	p, err := store.NewPlace(name, id)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(ext) {
	case ".gz":
		text = testenv.Gzip(t, text)
	case ".zst":
		text = testenv.Zstd(t, text)
	}
	return write(t, filepath.Join(dir, p.Path(ext)), text)
}

// unpacked returns the body of an answer as the client understands it.
func unpacked(t testing.TB, r *http.Response) string {
	t.Helper()
	var in io.Reader = r.Body
	switch e := r.Header.Get("Content-Encoding"); e {
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		in = z
	case "":
	default:
		t.Fatalf("Content-Encoding %q", e)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestForms asks for a symbol file that is kept in each form, with each of several
// Accept-Encodings, with GET, HEAD, conditions and ranges.
func TestForms(t *testing.T) {
	text := symbolText("lib.so", "ABC0", 3000)
	for _, packing := range []bool{false, true} {
		for forms := 1; forms < 8; forms++ {
			dir := t.TempDir()
			var exts []string
			for i, ext := range []string{".sym", ".sym.gz", ".sym.zst"} {
				if forms&(1<<i) != 0 {
					keep(t, dir, "lib.so", "ABC0", ext, text)
					exts = append(exts, ext)
				}
			}
			s, notes := newServer(t, Config{Dirs: []string{dir}, Gzip: packing})
			tags := map[string]string{}
			for accept, encodings := range map[string]string{"": "", "gzip": "gzip", "zstd": "zstd", "br": "", "gzip, zstd": "gzip zstd", "gzip;q=0": ""} {
				what := fmt.Sprintf("%q kept, %q accepted, gzip %v", exts, accept, packing)
				got := ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept)
				h := got.Header
				if got.StatusCode != 200 || unpacked(t, got) != string(text) {
					t.Errorf("%s: %d", what, got.StatusCode)
				}
				encoding := h.Get("Content-Encoding")
				if encoding != "" && !strings.Contains(encodings, encoding) {
					t.Errorf("%s: Content-Encoding %q", what, encoding)
				}
				if h.Get("Vary") != "Accept-Encoding" || h.Get("Cache-Control") != "public, "+cacheLasting || h.Get("Content-Type") != textType ||
					h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Last-Modified") == "" {
					t.Errorf("%s: %v", what, h)
				}
				tag := h.Get("ETag")
				if old, ok := tags[tag]; ok && old != encoding || !strings.HasPrefix(strings.TrimPrefix(tag, "W/"), `"`) {
					t.Errorf("%s: tag %s is that of another encoding", what, tag)
				}
				tags[tag] = encoding
				head := ask(t, s, "HEAD", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept)
				if head.StatusCode != 200 || head.Header.Get("ETag") != tag || head.Header.Get("Content-Encoding") != encoding ||
					head.Header.Get("Content-Length") != h.Get("Content-Length") || body(t, head) != "" {
					t.Errorf("%s: HEAD: %d %v", what, head.StatusCode, head.Header)
				}
				for name, value := range map[string]string{"If-None-Match": `"x", W/` + strings.TrimPrefix(tag, "W/"), "If-Modified-Since": h.Get("Last-Modified")} {
					same := ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept, name, value)
					if same.StatusCode != 304 || body(t, same) != "" || same.Header.Get("ETag") != tag {
						t.Errorf("%s: %s: %d %v", what, name, same.StatusCode, same.Header)
					}
				}
				other := ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept, "If-None-Match", `"x"`, "If-Modified-Since", h.Get("Last-Modified"))
				if other.StatusCode != 200 {
					t.Errorf("%s: another tag: %d", what, other.StatusCode)
				}
				checkRange(t, s, what, accept, h)
			}
			for _, ext := range []string{".sym.gz", ".sym.zst"} {
				got := ask(t, s, "GET", "/lib.so/ABC0/lib.so"+ext, nil, "Accept-Encoding", "gzip, zstd")
				want := 404
				if strings.Contains(strings.Join(exts, " ")+" ", ext+" ") {
					want = 200
				}
				if got.StatusCode != want || want == 200 && (got.Header.Get("Content-Encoding") != "" || got.Header.Get("Content-Type") != contentTypes[strings.TrimPrefix(ext, ".sym")]) {
					t.Errorf("%q kept: %s: %d %v", exts, ext, got.StatusCode, got.Header)
				}
			}
			if notes.String() != "" {
				t.Error(notes)
			}
		}
	}
}

// checkRange requests a range: the answer is that part of the bytes, or all of them.
func checkRange(t *testing.T, s *Server, what, accept string, h http.Header) {
	t.Helper()
	got := ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept, "Range", "bytes=10-19", "If-Range", h.Get("ETag"))
	if h.Get("Accept-Ranges") == "none" {
		if got.StatusCode != 200 {
			t.Errorf("%s: part: %d", what, got.StatusCode)
		}
		return
	}
	whole := body(t, ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept))
	if got.StatusCode != 206 || body(t, got) != whole[10:20] || got.Header.Get("Content-Encoding") != h.Get("Content-Encoding") ||
		got.Header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", len(whole)) || fmt.Sprint(len(whole)) != h.Get("Content-Length") {
		t.Errorf("%s: part: %d %v", what, got.StatusCode, got.Header)
	}
	got = ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept, "Range", "bytes=10-19", "If-Range", `"x"`)
	if got.StatusCode != 200 {
		t.Errorf("%s: part of another: %d", what, got.StatusCode)
	}
	got = ask(t, s, "GET", "/lib.so/ABC0/lib.so.sym", nil, "Accept-Encoding", accept, "Range", "bytes=1000000-")
	if got.StatusCode != 416 {
		t.Errorf("%s: part after the end: %d", what, got.StatusCode)
	}
}

// Ids in either case, names of Windows, several folders.
func TestFind(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	keep(t, a, "lib.so", "ABC0", ".sym", []byte("MODULE Linux x86_64 ABC0 lib.so\n"))
	keep(t, b, "lib.so", "ABC0", ".sym", []byte("MODULE Linux x86_64 ABC0 lib.so\nINFO second\n"))
	keep(t, b, "lib.so", "abd0", ".sym.gz", []byte("MODULE Linux x86_64 ABD0 lib.so\n"))
	keep(t, b, "app.pdb", "ABE1", ".sym", []byte("MODULE windows x86_64 ABE1 App.pdb\n"))
	s, _ := newServer(t, Config{Dirs: []string{a, b}, Prefix: "v1/"})
	for path, want := range map[string]int{
		"/lib.so/ABC0/lib.so.sym": 200, "/lib.so/abc0/lib.so.sym": 200, "/lib.so/aBc0/lib.so.sym": 200, "/Lib.so/ABC0/Lib.so.sym": 404,
		"/lib.so/ABD0/lib.so.sym": 200, "/lib.so/ABD0/lib.so.sym.zst": 404,
		"/App.pdb/ABE1/App.sym": 200, "/app.pdb/abe1/app.sym": 200, "/lib.so/AB00/lib.so.sym": 404,
	} {
		if got := ask(t, s, "GET", "/v1"+path, nil); got.StatusCode != want {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if got := body(t, ask(t, s, "GET", "/v1/lib.so/ABC0/lib.so.sym", nil)); strings.Contains(got, "second") {
		t.Error("the second folder has precedence over the first")
	}
}

// TestStaysInside has files that an attacker, or a careless operator, may put into a folder:
// none of them is served.
func TestStaysInside(t *testing.T) {
	top := t.TempDir()
	secret := write(t, filepath.Join(top, "secret.sym"), []byte("MODULE Linux x86_64 ABC0 secret\nsecret\n"))
	dir := filepath.Join(top, "store")
	text := symbolText("ok", "ABC0", 100)
	keep(t, dir, "ok", "ABC0", ".sym", text)
	write(t, filepath.Join(dir, ".symtool-0123.new"), []byte("secret"))
	write(t, filepath.Join(dir, ".symtool-lock"), []byte("secret"))
	write(t, filepath.Join(dir, "ok", "ABC0", "ok.sym.idx"), []byte("secret"))
	write(t, filepath.Join(dir, "ok", "ABC0", ".symtool-1.sym"), []byte("secret"))
	write(t, filepath.Join(dir, "list.txt"), []byte("secret"))
	for link, to := range map[string]string{
		"out/ABC0/out.sym": secret, "up/ABC0/up.sym": "../../../secret.sym", "in/ABC0/in.sym": "../../ok/ABC0/ok.sym",
		"folder": top, "loop/ABC0/loop.sym": "loop.sym", "buildid/abcd/debuginfo": secret, "buildid/abcd/source/a.c": secret, ".build-id/ab/cd": secret,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(link)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"dir/ABC0/dir.sym", "buildid/abce/executable"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	pipe(t, filepath.Join(dir, "pipe", "ABC0", "pipe.sym"))
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	live := httptest.NewServer(s)
	defer live.Close()
	for _, path := range []string{
		"/out/ABC0/out.sym", "/up/ABC0/up.sym", "/loop/ABC0/loop.sym", "/dir/ABC0/dir.sym", "/pipe/ABC0/pipe.sym", "/folder/secret.sym", "/folder/ABC0/folder.sym",
		"/.symtool-0123.new", "/.symtool-lock", "/ok/ABC0/ok.sym.idx", "/ok/ABC0/.symtool-1.sym", "/list.txt", "/ok/ABC0", "/ok/", "/ok/ABC0/",
		"/../secret.sym", "/%2e%2e/secret.sym", "/ok/ABC0/../../../secret.sym", "/ok/ABC0/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret.sym", "/..%2fsecret/ABC0/secret.sym",
		"/..%5csecret/ABC0/secret.sym", "/" + strings.Trim(secret, "/"), "//" + secret, "/%00/ABC0/x.sym", "/ok%00/ABC0/ok.sym",
		"/buildid/abcd/debuginfo", "/buildid/abcd/executable", "/buildid/abce/executable", "/buildid/abcd/source/a.c", "/buildid/abcd/source/../../../../secret.sym",
		"/buildid/abcd/source/%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret.sym", "/buildid/abcd/source/..%2f..%2f..%2f..%2fsecret.sym", "/buildid/abcd/section/../../../secret.sym",
	} {
		for _, got := range []*http.Response{ask(t, s, "GET", path, nil), raw(t, live, path)} {
			if text := body(t, got); got.StatusCode != 404 && got.StatusCode != 400 || strings.Contains(text, "secret") || strings.Contains(text, top) {
				t.Errorf("%s: %d %q", path, got.StatusCode, text)
			}
		}
	}
	for _, path := range []string{"/in/ABC0/in.sym", "/ok/ABC0/ok.sym"} {
		if got := ask(t, s, "GET", path, nil); got.StatusCode != 200 || body(t, got) != string(text) {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	for _, want := range []string{"out/ABC0/out.sym: not served: path escapes from parent", "pipe.sym: not served: not a regular file", "loop.sym: not served"} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("%q is not logged:\n%s", want, notes)
		}
	}
	// Nor are symbols outside the folder used for addresses.
	for _, name := range []string{"out", "up", "pipe", "../secret", "/etc/passwd"} {
		got := body(t, ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[["`+name+`","ABC0"]],"stacks":[[[0,4096]]]}`)))
		if !strings.Contains(got, "false}") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// An unreadable file is not reported as missing, and a damaged one is not sent as if it were
// complete.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	text := symbolText("lib.so", "ABC0", 300000)
	for id, data := range map[string][]byte{"ABC0": testenv.Gzip(t, text), "ABD0": testenv.Zstd(t, text)} {
		ext := map[string]string{"ABC0": ".sym.gz", "ABD0": ".sym.zst"}[id]
		write(t, filepath.Join(dir, "lib.so", id, "lib.so"+ext), data[:len(data)-5])
		write(t, filepath.Join(dir, "bad.so", id, "bad.so"+ext), data[:3])
	}
	var mu sync.Mutex
	var log []Access
	s, notes := newServer(t, Config{Dirs: []string{dir}, Access: func(a *Access) { mu.Lock(); log = append(log, *a); mu.Unlock() }})
	live := httptest.NewServer(s)
	defer live.Close()
	for _, id := range []string{"ABC0", "ABD0"} {
		q, _ := http.NewRequest("GET", live.URL+"/bad.so/"+id+"/bad.so.sym", nil)
		q.Header.Set("Accept-Encoding", "identity")
		r, err := http.DefaultClient.Do(q)
		if err != nil || r.StatusCode != 500 || r.Header.Get("ETag") != "" || !strings.HasPrefix(body(t, r), "the symbol file is damaged") {
			t.Errorf("%s: %v %v", id, r, err)
		}
		q, _ = http.NewRequest("GET", live.URL+"/lib.so/"+id+"/lib.so.sym", nil)
		q.Header.Set("Accept-Encoding", "identity")
		if r, err = http.DefaultClient.Do(q); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		if err == nil {
			t.Errorf("%s: got %d of %d bytes, and no error", id, len(got), len(text))
		}
	}
	// The client has the answer before the server has logged it.
	testenv.Until(t, "4 lines in the log", func() bool { mu.Lock(); defer mu.Unlock(); return len(log) >= 4 })
	if n := strings.Count(notes.String(), "\n") + 1; n != 4 {
		t.Errorf("%d lines were logged:\n%s", n, notes)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(log) != 4 {
		t.Errorf("%d lines in the log, want 4", len(log))
	}
}

func TestMethods(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}, AllowOrigin: "https://profiler.firefox.com"})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/a/AB/a.sym", 405, "GET, HEAD"},
		{"PUT", "/a/AB/a.sym", 405, "GET, HEAD"},
		{"DELETE", "/buildid/abcd/debuginfo", 405, "GET, HEAD"},
		{"GET", "/symbolicate/v5", 405, "POST"},
		{"HEAD", "/symbolicate/v4", 405, "POST"},
		{"POST", "/metrics", 405, "GET, HEAD"},
		{"POST", "/", 405, "GET, HEAD"},
		{"PUT", "/a/b/c/d.sym", 405, "GET, HEAD"},
		{"GET", "/nothing", 404, ""},
		{"OPTIONS", "/symbolicate/v5", 204, ""},
		{"HEAD", "/metrics", 200, ""},
		{"HEAD", "/readyz", 200, ""},
	} {
		r := ask(t, s, c.method, c.path, nil)
		if r.StatusCode != c.status || r.Header.Get("Allow") != c.allow || r.Header.Get("Access-Control-Allow-Origin") != "https://profiler.firefox.com" ||
			(c.method == "HEAD" || c.status == 204) && body(t, r) != "" || c.status == 404 && r.Header.Get("Content-Type") != textType || c.status == 405 && r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d %v", c.method, c.path, r.StatusCode, r.Header)
		}
	}
	if text := body(t, ask(t, s, "PUT", "/a/AB/a.sym", nil)); text != "this server is read-only: want GET or HEAD; symtool store add puts files into its folders\n" {
		t.Errorf("%q", text)
	}
	plain, _ := newServer(t, Config{Dirs: []string{t.TempDir()}})
	if r := ask(t, plain, "OPTIONS", "/symbolicate/v5", nil); r.StatusCode != 405 || r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("OPTIONS without an origin: %d %v", r.StatusCode, r.Header)
	}
}

func TestReady(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	status := func() int { return ask(t, s, "GET", "/readyz", nil).StatusCode }
	if got := status(); got != 200 {
		t.Errorf("%d", got)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != 503 {
		t.Errorf("without its folder: %d", got)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != 503 {
		t.Errorf("with another folder: %d", got)
	}
	if err := errorsOf(os.Remove(dir), os.Rename(dir+".old", dir)); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != 200 {
		t.Errorf("with its folder again: %d", got)
	}
	s.Drain()
	if got := status(); got != 503 {
		t.Errorf("about to end: %d", got)
	}
	if got := ask(t, s, "GET", "/healthz", nil).StatusCode; got != 200 {
		t.Errorf("healthz: %d", got)
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A missing folder, or no folder, is an error of New.
func TestNewErrors(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "file"), nil)
	for _, cfg := range []Config{{}, {Dirs: []string{file}}, {Dirs: []string{file + "x"}}, {DebugDirs: []string{file + "x"}}} {
		if s, err := New(cfg); err == nil || s != nil {
			t.Errorf("%q %q: %v", cfg.Dirs, cfg.DebugDirs, err)
		}
	}
}
