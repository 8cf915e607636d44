package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/internal/resolvetest"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

func newServers(t testing.TB, cfg Servers) *serverSupplier {
	t.Helper()
	if cfg.Cache == "" {
		cfg.Cache = filepath.Join(t.TempDir(), "cache")
	}
	s, err := NewServers(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*serverSupplier)
}

// filesBelow lists the files below a folder, with their sizes and without the hashes in
// their names.
func filesBelow(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err == nil && !st.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			if at := strings.Index(rel, "/missing-"); at > 0 {
				rel = rel[:at+len("/missing-")]
			}
			out = append(out, fmt.Sprintf("%s %d", rel, st.Size()))
		}
		return nil
	})
	return strings.Join(out, "\n")
}

var testModule = resolve.Module{Name: "my app", DebugID: resolvetest.ID}

// A server is asked for the symbol file, then for a compressed one. The result is kept as
// text, in the layout of a store, and not requested again.
func TestServer(t *testing.T) {
	sym := resolvetest.SymbolFile("my app", resolvetest.ID, "found")
	for name, c := range map[string]struct {
		served  map[string]string // by extension
		encoded bool
		asked   string
	}{
		"plain":        {map[string]string{".sym": sym}, false, ".sym"},
		"encoded":      {map[string]string{".sym": testenv.Gzip(t, sym)}, true, ".sym"},
		"gzip":         {map[string]string{".sym.gz": testenv.Gzip(t, sym)}, false, ".sym .sym.gz"},
		"gzip as sym":  {map[string]string{".sym": testenv.Gzip(t, sym)}, false, ".sym"},
		"zstd as sym":  {map[string]string{".sym": testenv.Zstd(t, sym)}, false, ".sym"},
		"gzip encoded": {map[string]string{".sym.gz": testenv.Gzip(t, testenv.Gzip(t, sym))}, true, ".sym .sym.gz"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			const prefix = "/prefix/my%20app/" + resolvetest.ID + "/my%20app"
			url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				ext, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
				if !ok || r.UserAgent() != "test/1" {
					t.Errorf("asked for %s by %s", r.URL.EscapedPath(), r.UserAgent())
				}
				asked = append(asked, ext)
				data, ok := c.served[ext]
				if !ok {
					http.NotFound(w, r)
					return
				}
				if c.encoded {
					w.Header().Set("Content-Encoding", "gzip")
				}
				io.WriteString(w, data)
			})
			var requested []string
			cfg := Servers{URLs: []string{url + "/prefix/?x=1"}, UserAgent: "test/1", Cache: filepath.Join(t.TempDir(), "a", "b"), Log: func(u string) { requested = append(requested, u) }}
			for range 2 {
				a := resolvetest.Ask(t, newServers(t, cfg), testModule)
				if a.Function != "found" || a.Err != "" {
					t.Errorf("%+v", a)
				}
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked for %s, want %s", got, c.asked)
			}
			if len(requested) != len(asked) || requested[0] != url+prefix+".sym" {
				t.Errorf("requested %q", requested)
			}
			path := filepath.Join("my app", resolvetest.ID, "my app.sym")
			if got, want := filesBelow(t, cfg.Cache), fmt.Sprintf("%s %d", path, len(sym)); got != want {
				t.Errorf("the cache has %q, want %q", got, want)
			}
			// The cache is a store.
			resolvetest.Ask(t, newSymbols(t, cfg.Cache), testModule).Check(t, "as a folder", foundOnly)
		})
	}
}

var foundOnly = resolvetest.Answer{Function: "found"}

// Each fault of a server is reported with the URL; only misses are left in the cache.
func TestServerFaults(t *testing.T) {
	sym := resolvetest.SymbolFile("my app", resolvetest.ID, "found")
	big := sym + strings.Repeat("1000 1 1 0\n", 10<<20/11)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, sym, code) }
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
	}
	encoded := func(how, s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", how)
			io.WriteString(w, s)
		}
	}
	hijack := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			io.WriteString(conn, answer)
			conn.Close()
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	const quiet = "quiet: " // listed as tried, but not as an error
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		cfg     Servers
		want    string // after the URL
		missing bool
	}{
		"not found":    {handler: status(404), want: quiet + "404 Not Found", missing: true},
		"gone":         {handler: status(410), want: quiet + "410 Gone", missing: true},
		"forbidden":    {handler: status(403), want: quiet + "403 Forbidden"},
		"unauthorized": {handler: status(401), want: "401 Unauthorized"},
		"broken":       {handler: status(500), want: "500 Internal Server Error"},
		"unavailable":  {handler: status(503), want: "503 Service Unavailable"},
		"partial":      {handler: status(206), want: "206 Partial Content"},
		"empty":        {handler: text(""), want: `not a symbol file: it begins with ""`},
		"a page":       {handler: text("<!DOCTYPE html>\n<title>log in</title>"), want: `not a symbol file: it begins with "<!DOCTYPE html>"`},
		"binary":       {handler: text("\x7fELF\x02\x01\x00\x1b[2J"), want: `not a symbol file: it begins with "\x7fELF\x02\x01\x00\x1b[2J"`},
		"no MODULE":    {handler: text("FUNC 1000 10 0 f\n" + sym), want: `not a symbol file: it begins with "FUNC 1000 10 0 f"`},
		"other id":     {handler: text(resolvetest.SymbolFile("my app", resolvetest.OtherID, "other")), want: `not used: the file has the symbols of "my app" ` + resolvetest.OtherID + ", want my app " + resolvetest.ID},
		"other id, without end": {handler: func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.OtherID, "other"))
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil {
					return
				}
			}
		}, cfg: Servers{MaxTime: 2 * time.Minute}, want: `not used: the file has the symbols of "my app" ` + resolvetest.OtherID},
		"ends early": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(sym)+1))
			io.WriteString(w, sym)
		}, want: fmt.Sprintf("after %d bytes: unexpected EOF", len(sym))},
		"ends early, later": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(big)))
			io.WriteString(w, big[:1<<20])
		}, want: "bytes: unexpected EOF"},
		"ends in a chunk":     {handler: hijack("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" + sym), want: "unexpected EOF"},
		"more than announced": {handler: hijack("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + sym), want: `not a symbol file: it begins with "MODUL"`},
		"negative size":       {handler: hijack("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + sym), want: "bad Content-Length"},
		"hangs up":            {handler: hijack(""), want: "EOF"},
		"no HTTP":             {handler: hijack("SSH-2.0-x\r\n"), want: "malformed HTTP response"},
		"endless head": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}, want: "response headers exceeded 65536 bytes"},
		"no answer": {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, cfg: Servers{Timeout: 50 * time.Millisecond}, want: "too slow: less than 102400 bytes in 50ms"},
		"no end": {handler: func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, sym)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, cfg: Servers{Timeout: 50 * time.Millisecond}, want: "too slow: less than 102400 bytes in 50ms"},
		"drips": {handler: func(w http.ResponseWriter, r *http.Request) {
			for i := range big {
				if _, err := io.WriteString(w, big[i:i+1]); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond) // the pace of a real connection, which the client measures
			}
		}, cfg: Servers{Timeout: 100 * time.Millisecond}, want: "too slow: less than 102400 bytes in 100ms"},
		"too long": {handler: func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, sym)
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil {
					return
				}
			}
		}, cfg: Servers{MaxTime: 100 * time.Millisecond}, want: "took more than 100ms"},
		"too large":           {handler: text(big), cfg: Servers{MaxSize: 1 << 20}, want: "bytes or more, want at most 1048576"},
		"size is announced":   {handler: hijack("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n" + sym), want: "5000000000 bytes or more, want at most 4294967296"},
		"bomb":                {handler: encoded("gzip", testenv.Gzip(t, big)), cfg: Servers{MaxSize: 1 << 20}, want: "bytes or more, want at most 1048576"},
		"bomb in a file":      {handler: text(testenv.Gzip(t, big)), cfg: Servers{MaxSize: 1 << 20}, want: "bytes or more, want at most 1048576"},
		"bomb of zstd":        {handler: text(testenv.Zstd(t, big)), cfg: Servers{MaxSize: 1 << 20}, want: "bytes decompress to more than 1048576"},
		"bomb in a bomb":      {handler: encoded("gzip", testenv.Gzip(t, testenv.Gzip(t, big))), cfg: Servers{MaxSize: 1 << 20}, want: "bytes or more, want at most 1048576"},
		"damaged gzip":        {handler: encoded("gzip", testenv.Gzip(t, big)[:500]), want: "unexpected EOF"},
		"damaged gzip file":   {handler: text(testenv.Gzip(t, big)[:500]), want: "gzip data: unexpected EOF"},
		"damaged at its end":  {handler: text(testenv.Gzip(t, sym)[:len(testenv.Gzip(t, sym))-4]), want: "gzip data: unexpected EOF"},
		"other coding":        {handler: encoded("br", sym), want: `Content-Encoding "br" was not requested`},
		"redirected for ever": {handler: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, want: "more than 5 redirections"},
		"redirected to file":  {handler: redirect("file:///etc/passwd"), want: "refused to follow a redirection from http to file:///etc/passwd"},
		"redirected to ftp":   {handler: redirect("ftp://localhost/x"), want: "refused to follow a redirection from http to ftp://localhost/x"},
		"redirected nowhere":  {handler: redirect("http://%zz"), want: "failed to parse Location header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testenv.Serve(t, c.handler)
			c.cfg.URLs = []string{url}
			s := newServers(t, c.cfg)
			start := time.Now()
			r, places, err := s.Symbols(context.Background(), testModule)
			tried := symfmt.TriedLines(places)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			want, isQuiet := strings.CutPrefix(c.want, quiet)
			where := url + "/my%20app/" + resolvetest.ID + "/my%20app.sym: "
			if r != nil || len(tried) == 0 || !strings.HasPrefix(tried[0], where) || !strings.Contains(tried[0][len(where):], want) {
				t.Errorf("%v, tried %q, want %q", r, tried, where+want)
			}
			switch {
			case isQuiet && err != nil, !isQuiet && (err == nil || err.Error() != tried[0]):
				t.Errorf("error %v", err)
			case !isQuiet && len(tried) != 1:
				t.Errorf("tried %q", tried)
			}
			cached := ""
			if c.missing {
				cached = "my app/" + resolvetest.ID + "/missing- 0"
			}
			if got := filesBelow(t, s.cache); got != cached {
				t.Errorf("the cache has %q, want %q", got, cached)
			}
		})
	}
}

// A redirection to another host is followed.
func TestServerElsewhere(t *testing.T) {
	other := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.ID, r.URL.Path[1:]))
	})
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other, "127.0.0.1", "localhost", 1)+"/elsewhere", http.StatusFound)
	})
	resolvetest.Ask(t, newServers(t, Servers{URLs: []string{url}}), testModule).Check(t, "elsewhere", resolvetest.Answer{Function: "elsewhere"})
}

// No name or id in a dump leads to requests or files outside the layout.
func TestServerRefuses(t *testing.T) {
	requests := 0
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		io.WriteString(w, resolvetest.SymbolFile("a", resolvetest.ID, "hostile"))
	})
	dir := t.TempDir()
	s := newServers(t, Servers{URLs: []string{url}, Cache: filepath.Join(dir, "x", "cache")})
	for _, c := range []struct{ name, id, want string }{
		{"..", resolvetest.ID, `module name "..": is not the name of a file: not looked for`},
		{`..\..`, resolvetest.ID, `module name "..": is not the name of a file`},
		{"a\nb", resolvetest.ID, `has the control character U+000A`},
		{"a", "../x", `module id "../X": is not hexadecimal`},
		{"a", "12\x0034", `is not hexadecimal`},
		{"a", strings.Repeat("0", 256), `256 digits, want at most 255`},
	} {
		resolvetest.Ask(t, s, resolve.Module{Name: c.name, DebugID: c.id}).Check(t, c.want, resolvetest.Answer{Tried: c.want, Err: c.want})
	}
	resolvetest.Ask(t, s, resolve.Module{Name: "a"}).Check(t, "no id", resolvetest.Answer{Tried: "the module has no id"})
	if requests > 0 || filesBelow(t, dir) != "" {
		t.Errorf("%d requests; the cache has %q", requests, filesBelow(t, dir))
	}
	for name, path := range map[string]string{"a?b=c": "/a%3Fb=c/", "a#b": "/a%23b/", "%2e%2e": "/%252e%252e/", "a%2fb": "/a%252fb/", "...": "/.../", "a;b": "/a%3Bb/"} {
		var got string
		url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.RequestURI; http.NotFound(w, r) })
		resolvetest.Ask(t, newServers(t, Servers{URLs: []string{url}}), resolve.Module{Name: name, DebugID: resolvetest.ID})
		if !strings.HasPrefix(got, path+resolvetest.ID+"/") {
			t.Errorf("%q: asked for %s", name, got)
		}
	}
}

// A missing file is not requested again from the same server until the miss expires; other
// servers are asked.
func TestServerMisses(t *testing.T) {
	var asked [2]int
	found := false
	var urls []string
	for i := range asked {
		urls = append(urls, testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			if asked[i]++; !found {
				http.NotFound(w, r)
				return
			}
			io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.ID, "found"))
		}))
	}
	cache := t.TempDir()
	s := newServers(t, Servers{URLs: urls[:1], Cache: cache})
	now := time.Now()
	s.now = func() time.Time { return now }
	step := func(want0, want1 int, function, tried string) {
		t.Helper()
		a := resolvetest.Ask(t, s, testModule)
		if asked[0] != want0 || asked[1] != want1 || a.Function != function || !strings.Contains(a.Tried, tried) || a.Err != "" {
			t.Errorf("asked %d times, want %d and %d: %+v", asked, want0, want1, a)
		}
	}
	step(2, 0, "", "my%20app.sym.gz: 404 Not Found")
	now = now.Add(missAge - time.Second)
	step(2, 0, "", "my%20app.sym: the server did not have it 9m5")
	s.servers = newServers(t, Servers{URLs: urls}).servers // one more server
	step(2, 2, "", "404 Not Found")
	step(2, 2, "", "the server did not have it 0s ago")
	now = now.Add(2 * time.Second)
	step(4, 2, "", "404 Not Found")
	now = now.Add(missAge)
	found = true
	step(5, 2, "found", "")
	found = false
	step(5, 2, "found", "")
}

// A server that is down is reported and not asked again; the others are still asked.
func TestServersInTurn(t *testing.T) {
	away := "http://" + testenv.ClosedPort(t)
	missing := testenv.Serve(t, http.NotFound)
	good := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.ID, "found"))
	})
	s := newServers(t, Servers{URLs: []string{missing, away, good}})
	a := resolvetest.Ask(t, s, testModule)
	a.Check(t, "good", resolvetest.Answer{Function: "found", Tried: "404 Not Found", Err: "connection refused"})
	if lines := strings.Split(a.Tried, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[2], away) {
		t.Errorf("tried %q", lines)
	}
	a = resolvetest.Ask(t, s, resolve.Module{Name: "other", DebugID: resolvetest.ID})
	if !strings.Contains(a.Err, "not asked again: ") {
		t.Errorf("%+v", a)
	}
}

// A cached file that is damaged, or belongs to another module, is fetched again.
func TestServerDamagedCache(t *testing.T) {
	sym := resolvetest.SymbolFile("my app", resolvetest.ID, "found")
	requests := 0
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) { requests++; io.WriteString(w, sym) })
	for i, bad := range []string{"", "x", sym[:12], resolvetest.SymbolFile("my app", resolvetest.OtherID, "other"), "<html>"} {
		cache := testenv.WriteFiles(t, "my app/"+resolvetest.ID+"/my app.sym", bad)
		resolvetest.Ask(t, newServers(t, Servers{URLs: []string{url}, Cache: cache}), testModule).Check(t, bad, resolvetest.Answer{Function: "found"})
		if requests != i+1 {
			t.Errorf("%q: %d requests", bad, requests)
		}
	}
}

// A folder that cannot be written, a file instead of a folder, and a cancelled call.
func TestServerFails(t *testing.T) {
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.ID, "found"))
	})
	file := filepath.Join(testenv.WriteFiles(t, "file", ""), "file")
	resolvetest.Ask(t, newServers(t, Servers{URLs: []string{url}, Cache: file}), testModule).Check(t, "no folder", resolvetest.Answer{Tried: "not a directory", Err: file + ": not a directory"})
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	s := newServers(t, Servers{URLs: []string{url}})
	if r, _, err := s.Symbols(ctx, testModule); r != nil || err == nil || err.Error() != "enough" {
		t.Errorf("%v, %v", r, err)
	}
	resolvetest.Ask(t, s, testModule).Check(t, "later", resolvetest.Answer{Function: "found"}) // a cancelled call does not count against the server
	if _, err := NewServers(Servers{URLs: []string{url}}); err == nil {
		t.Error("no cache, no error")
	}
	if _, err := NewServers(Servers{URLs: []string{"ftp://x"}, Cache: file}); err == nil || err.Error() != `"ftp://x" is not an http: or https: URL` {
		t.Error(err)
	}
}

// fillVar makes TestFillCache one of the processes of TestProcesses.
const fillVar = "SYMTOOL_TEST_FILL_CACHE"

// Goroutines of several processes fill one cache at once: each sees whole files.
func TestProcesses(t *testing.T) {
	var requests atomic.Int32
	lines := strings.Repeat("1000 10 7 0\n", 50000)
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		name := strings.Split(r.URL.Path, "/")[1]
		if name == "none" {
			http.NotFound(w, r)
			return
		}
		for _, part := range []string{resolvetest.SymbolFile(name, resolvetest.ID, name), lines} {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	})
	cache := filepath.Join(t.TempDir(), "cache")
	var wg sync.WaitGroup
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFillCache$")
		cmd.Env = append(os.Environ(), fillVar+"="+url+" "+cache)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	size := len(resolvetest.SymbolFile("m0", resolvetest.ID, "m0")) + len(lines)
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("m%d/%s/m%d.sym %d", i, resolvetest.ID, i, size))
	}
	want = append(want, "none/"+resolvetest.ID+"/missing- 0")
	if got := filesBelow(t, cache); got != strings.Join(want, "\n") {
		t.Errorf("the cache has\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	// No file is requested more often than there are goroutines that need it.
	if n := requests.Load(); n < 7 || n > 4*8*7 {
		t.Errorf("%d requests", n)
	}
}

func TestFillCache(t *testing.T) {
	url, cache, ok := strings.Cut(os.Getenv(fillVar), " ")
	if !ok {
		t.Skip("a part of TestProcesses")
	}
	var wg sync.WaitGroup
	for range 8 {
		s := newServers(t, Servers{URLs: []string{url}, Cache: cache})
		wg.Go(func() {
			for _, name := range []string{"m0", "m1", "m2", "none", "m3", "m4"} {
				a := resolvetest.Ask(t, s, resolve.Module{Name: name, DebugID: resolvetest.ID})
				if found := name != "none"; found && a.Function != name || !found && a.Function != "" || a.Err != "" {
					t.Errorf("%s: %+v", name, a)
				}
			}
		})
	}
	wg.Wait()
}

// The stores of Breakpad and rust-minidump, served by a server that compresses.
func TestServerOfOthers(t *testing.T) {
	for dir, want := range map[string]int{"breakpad": 7, "rust-minidump": 2} {
		root := testenv.Shared(t, "data", "minidumps", dir, "symbols")
		url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(r.URL.Path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, testenv.Gzip(t, string(data)))
		})
		s := newServers(t, Servers{URLs: []string{url}})
		folder := newSymbols(t, root)
		files, err := filepath.Glob(filepath.Join(root, "*", "*", "*.sym"))
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for _, file := range files {
			name, id, err := supplier.FileModule(file)
			if err != nil {
				t.Fatal(err)
			}
			m := resolve.Module{DebugFile: name, DebugID: id}
			a, _, err := s.Symbols(context.Background(), m)
			b, _, err2 := folder.Symbols(context.Background(), m)
			if err != nil || err2 != nil || (a == nil) != (b == nil) {
				t.Errorf("%s: %v, %v; %v, %v", file, a, err, b, err2)
				continue
			}
			if a == nil {
				continue
			}
			got, err := os.ReadFile(a.Identity().Path)
			data, err2 := os.ReadFile(b.Identity().Path)
			if err != nil || err2 != nil || !bytes.Equal(got, data) || a.Identity().Path == b.Identity().Path {
				t.Errorf("%s: %d bytes, want %d", a.Identity().Path, len(got), len(data))
			}
			same++
		}
		if same != want {
			t.Errorf("%s: %d files, want %d", dir, same, want)
		}
	}
}

// Symbols of another build are recognised; the error is an OtherIDError.
func TestServerOtherID(t *testing.T) {
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.OtherID, "other"))
	})
	r, tried, err := newServers(t, Servers{URLs: []string{url}}).Symbols(context.Background(), testModule)
	var other *resolve.OtherIDError
	if r != nil || len(resolve.OtherModules(tried)) != 1 || !errors.As(err, &other) || other.ID != resolvetest.OtherID || other.Want.DebugID != resolvetest.ID {
		t.Errorf("%v, %q, %v", r, tried, err)
	}
}

// Fetched files are opened with the Opener of the Supplier.
func TestServerOpener(t *testing.T) {
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, resolvetest.SymbolFile("my app", resolvetest.ID, "found"))
	})
	cache := t.TempDir()
	opened := ""
	open := func(_ context.Context, path string) (resolve.Symbols, error) {
		opened = path
		return nil, errors.New("refused")
	}
	if a := resolvetest.Ask(t, newServers(t, Servers{URLs: []string{url}, Cache: cache, Open: open}), testModule); a.Err != "refused" || opened != filepath.Join(cache, "my app", resolvetest.ID, "my app.sym") {
		t.Errorf("opened %s: %+v", opened, a)
	}
}

// NAME.vars is requested after the symbol file if variables are wanted, and kept beside it. If a server does
// not have it, that is remembered, and the symbols are still used.
func TestServerVariables(t *testing.T) {
	sym := resolvetest.SymbolFile("my app", resolvetest.ID, "found")
	vars := fmt.Sprintf("MODULE Linux x86_64 %s my app\nINFO VAR 1 all full\n", resolvetest.ID)
	for _, tt := range []struct {
		wanted bool
		has    string // extension that the server has
		asked  string
	}{
		{false, ".vars", ".sym"}, {true, ".vars", ".sym .vars"}, {true, ".vars.gz", ".sym .vars .vars.gz"}, {true, "", ".sym .vars .vars.gz"},
	} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ext := strings.TrimPrefix(r.URL.Path, "/my app/"+resolvetest.ID+"/my app")
			asked = append(asked, ext)
			switch {
			case ext == ".sym":
				w.Write([]byte(sym))
			case ext == tt.has && ext == ".vars":
				w.Write([]byte(vars))
			case ext == tt.has:
				zip := gzip.NewWriter(w)
				zip.Write([]byte(vars))
				zip.Close()
			default:
				http.NotFound(w, r)
			}
		}))
		defer server.Close()
		s := newServers(t, Servers{URLs: []string{server.URL}, Variables: tt.wanted})
		for range 2 { // the second time, nothing is requested
			r, tried, err := s.Symbols(t.Context(), testModule)
			if r == nil || err != nil || len(tried) > 0 {
				t.Fatalf("%+v: %v %v %v", tt, r, tried, err)
			}
		}
		if got := strings.Join(asked, " "); got != tt.asked {
			t.Errorf("%+v: asked for %s", tt, got)
		}
		path := filepath.Join(s.cache, "my app", resolvetest.ID, "my app.vars")
		got, _ := os.ReadFile(path)
		if want := tt.wanted && tt.has != ""; want != (string(got) == vars) {
			t.Errorf("%+v: %q in the cache", tt, got)
		}
	}
}

func newSymbols(t testing.TB, path string) resolve.Supplier {
	t.Helper()
	s, err := supplier.NewSymbols(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
