package symserver

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/store"
)

const guardedBuildID = "0123456789abcdef"

// guardedRoutes has paths of every kind that the router knows.
var guardedRoutes = [kinds][]string{
	unknown:     {"/nothing", "/a/b/c/d", "/buildid/xyz/debuginfo"},
	symbols:     {uploadAt, uploadAt + ".gz", uploadAt + ".zst", "/gz.so/AB0/gz.so.sym", "/gz.so/AB0/gz.so.sym.gz", "/gz.so/AB0/gz.so.sym.zst", "/bad.so/AB0/bad.so.sym", "/b.so/AB0/b.so.sym", "/b.so/AB0/b.so.vars", "/b.so/AB0/b.so.sym.gz"},
	program:     {"/a.exe/AB0/a.exe", "/b.exe/AB0/b.exe", "/a.pdb/AB0/a.pdb"},
	debuginfo:   {"/buildid/" + guardedBuildID + "/debuginfo", "/buildid/abcd/debuginfo"},
	executable:  {"/buildid/" + guardedBuildID + "/executable", "/buildid/abcd/executable"},
	section:     {"/buildid/" + guardedBuildID + "/section/.text", "/buildid/" + guardedBuildID + "/section/.none"},
	source:      {"/buildid/" + guardedBuildID + "/source/src/a.c", "/buildid/abcd/source/src/a.c"},
	symbolicate: {"/symbolicate/v4", "/symbolicate/v5"},
	metricsPage: {"/metrics"},
	health:      {"/healthz", "/readyz"},
	form:        {"/upload", "/upload/"},
	uploadAPI:   {"/v1/uploads:create", "/v1/uploads/abcd", "/v1/uploads/abcd:complete", "/v1/symbols/a.so/" + uploadID + ":checkStatus"},
	overview:    {"/", "/?module=a.so", "/?module=none", "/?q=a"},
}

// guardedServer returns a server with something to find for every kind of path.
func guardedServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, dir := uploadServer(t, cfg)
	write(t, filepath.Join(dir, filepath.FromSlash(uploadAt)), symbolText("a.so", uploadID, 2000))
	keep(t, dir, "gz.so", "AB0", ".sym.gz", symbolText("gz.so", "AB0", 2000))
	write(t, filepath.Join(dir, "bad.so", "AB0", "bad.so.sym.gz"), []byte("no gzip"))
	for _, name := range []string{"a.exe", "a.pdb"} {
		file := []byte("MZ..")
		if name == "a.pdb" {
			file = []byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00")
		}
		write(t, filepath.Join(dir, name, "AB0", name), file)
	}
	elf, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "input", "gcc-dwarf5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []store.Contents{store.Executable, store.DebugInfo} {
		write(t, filepath.Join(dir, elfPaths(k, guardedBuildID)[0]), elf)
	}
	write(t, filepath.Join(dir, "buildid", guardedBuildID, "source", "src", "a.c"), []byte("int a;\n"))
	return s
}

// guardedRequests are header fields that lead to other answers.
var guardedRequests = [][]string{
	{},
	{"Accept-Encoding", "gzip, zstd"},
	{"Range", "bytes=0-3"},
	{"Range", "bytes=99999999-"},
	{"If-None-Match", "*"},
	{"If-Match", `"other"`},
	{"If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"},
	{"If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"},
	{"Content-Encoding", "gzip"},
}

// TestPrivateCaching asks for everything that the router knows, with and without a token. An answer that depends on a
// token is never for shared caches, and every answer has a policy.
func TestPrivateCaching(t *testing.T) {
	seen := map[string]bool{}
	for _, private := range []bool{false, true} {
		s := guardedServer(t, Config{Private: private, Gzip: true, AllowOrigin: "*"})
		for k, paths := range guardedRoutes {
			if len(paths) == 0 {
				t.Errorf("no path of kind %v", kind(k))
			}
			for _, path := range paths {
				plain, _, _ := strings.Cut(path, "?")
				if got := route("", plain).kind; got != kind(k) {
					t.Errorf("%s: kind %v, want %v", path, got, kind(k))
				}
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
					for _, token := range []string{"", "wrong", "read", "up", "all"} {
						for _, fields := range guardedRequests {
							all := append([]string{"Authorization", "Bearer " + token}, fields...)
							r := ask(t, s, method, path, nil, all...)
							guarded := s.needs(&http.Request{Method: method}, route("", plain)) != 0
							checkCaching(t, r, guarded, strings.Join(append(all, method, path), " "))
							seen[r.Header.Get("Cache-Control")] = true
						}
					}
				}
				if open := kind(k) == metricsPage || kind(k) == health; private && !open && s.needs(&http.Request{Method: "GET"}, route("", plain)) == 0 && path != "/v1/uploads/abcd" {
					t.Errorf("%s: needs no token", path)
				}
			}
		}
	}
	for _, want := range []string{"no-store", "public, " + cacheLasting, "private, " + cacheLasting, "public, " + cacheAbsent, "private, " + cacheAbsent} {
		if !seen[want] {
			t.Errorf("no answer has Cache-Control %q", want)
		}
		delete(seen, want)
	}
	for other := range seen {
		t.Errorf("Cache-Control %q", other)
	}
}

// checkCaching checks the fields by which caches decide.
func checkCaching(t *testing.T, r *http.Response, guarded bool, what string) {
	t.Helper()
	control := r.Header.Get("Cache-Control")
	if guarded && strings.Contains(control, "public") || !guarded && strings.Contains(control, "private") {
		t.Errorf("%s: %d with Cache-Control %q", what, r.StatusCode, control)
	}
	if vary := strings.Join(r.Header.Values("Vary"), ", "); guarded != strings.HasSuffix(vary, "Authorization, Auth-Token") || len(r.Header.Values("Vary")) > 1 {
		t.Errorf("%s: %d with Vary %q", what, r.StatusCode, vary)
	}
	if keeps := control != cacheNothing; keeps && r.StatusCode != 200 && r.StatusCode != 206 && r.StatusCode != 304 && r.StatusCode != 404 {
		t.Errorf("%s: %d with Cache-Control %q", what, r.StatusCode, control)
	}
}

// TestTooManyCaching checks that a request that is refused before anything else has a policy.
func TestTooManyCaching(t *testing.T) {
	s := guardedServer(t, Config{Private: true, MaxRequests: 1})
	s.requests <- struct{}{}
	r := ask(t, s, "GET", uploadAt, nil)
	if checkCaching(t, r, true, "refused"); r.StatusCode != 503 || r.Header.Get("Cache-Control") != cacheNothing {
		t.Errorf("%s: %v", r.Status, r.Header)
	}
}
