package debuginfod

import (
	elfobj "github.com/symtool/symtool/internal/object/elfobj"

	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// sample returns a debug file and its build-id.
func sample(t testing.TB) (data, id []byte) {
	t.Helper()
	path := testenv.Input(t, "pair.debug")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfobj.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return data, f.BuildID()
}

func newClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	if cfg.Cache == "" {
		cfg.Cache = filepath.Join(t.TempDir(), "cache")
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// left lists the files below a folder, with their sizes.
func left(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err == nil && !st.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			out = append(out, fmt.Sprintf("%s %d %v", rel, st.Size(), st.Mode()))
		}
		return nil
	})
	return strings.Join(out, "\n")
}

func TestFetch(t *testing.T) {
	data, id := sample(t)
	var asked []string
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.UserAgent()+" "+r.Header.Get("X-Debuginfod-Maxsize"))
		w.Write(data)
	})
	var logged []string
	c := newClient(t, Config{URLs: []string{url + "/prefix/?x=1"}, UserAgent: "test/1", MaxSize: 1 << 20, Timeout: time.Minute, MaxTime: time.Minute,
		Log: func(u string) { logged = append(logged, u) }})
	for _, kind := range []string{Debuginfo, Executable, Debuginfo} {
		path, tried, err := c.Fetch(context.Background(), kind, id)
		want := filepath.Join(c.cfg.Cache, fmt.Sprintf("%x", id), string(kind))
		if err != nil || len(tried) > 0 || path != want {
			t.Fatalf("%s, %q, %v, want %s", path, tried, err, want)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	hex := fmt.Sprintf("%x", id)
	wantAsked := fmt.Sprintf("/prefix/buildid/%s/debuginfo test/1 1048576\n/prefix/buildid/%s/executable test/1 1048576", hex, hex)
	if got := strings.Join(asked, "\n"); got != wantAsked {
		t.Errorf("asked\n%s\nwant\n%s", got, wantAsked)
	}
	if len(logged) != 2 || logged[0] != url+"/prefix/buildid/"+hex+"/debuginfo" {
		t.Errorf("logged %q", logged)
	}
	want := fmt.Sprintf("%s/debuginfo %d -r--------\n%s/executable %d -r--------", hex, len(data), hex, len(data))
	if got := left(t, c.cfg.Cache); got != want {
		t.Errorf("the cache has\n%s\nwant\n%s", got, want)
	}
}

// Each fault of a server is reported with the URL. Only misses are remembered in
// the cache.
func TestFaults(t *testing.T) {
	data, id := sample(t)
	other := testenv.ReadInput(t, "gcc-dwarf5.elf")
	encoded := func(how string, b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", how)
			w.Write(b)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "reason", code) }
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		cfg     Config
		want    string // of the error after the URL; "" if there is none
	}{
		"not found":       {handler: status(404), want: "404 Not Found"},
		"refused":         {handler: status(403), want: "403 Forbidden"},
		"broken":          {handler: status(500), want: "500 Internal Server Error"},
		"unavailable":     {handler: status(503), want: "503 Service Unavailable"},
		"too large there": {handler: status(406), want: "406 Not Acceptable"},
		"no contents":     {handler: status(204), want: "204 No Content"},
		"nothing":         {handler: func(http.ResponseWriter, *http.Request) {}, want: `the answer is not an ELF file: it begins with ""`},
		"a page":          {handler: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>log in</html>") }, want: `the answer is not an ELF file: it begins with "<htm"`},
		"a stub":          {handler: func(w http.ResponseWriter, _ *http.Request) { w.Write(data[:10]) }, want: "the answer is not an ELF file: "},
		"cut":             {handler: func(w http.ResponseWriter, _ *http.Request) { w.Write(data[:1000]) }, want: "the answer "},
		"other file":      {handler: func(w http.ResponseWriter, _ *http.Request) { w.Write(other) }, want: "the answer has build-id "},
		"ends early": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:5000])
		}, want: "after 5000 bytes: unexpected EOF"},
		"hangs up": {handler: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}, want: "EOF"},
		"no HTTP": {handler: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			io.WriteString(conn, "SSH-2.0-x\r\n")
			conn.Close()
		}, want: "net/http: HTTP/1.x transport connection broken: malformed HTTP response"},
		"endless head": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}, want: "net/http: server response headers exceeded 65536 bytes"},
		"no answer": {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, cfg: Config{Timeout: 50 * time.Millisecond}, want: "too slow: less than 102400 bytes in 50ms"},
		"no end": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.Write(data[:1000])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, cfg: Config{Timeout: 50 * time.Millisecond}, want: "too slow: less than 102400 bytes in 50ms"},
		"drips": {handler: func(w http.ResponseWriter, r *http.Request) {
			for i := range data {
				if _, err := w.Write(data[i : i+1]); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond) // the pace of a real connection, which the client measures
			}
		}, cfg: Config{Timeout: 100 * time.Millisecond}, want: "too slow: less than 102400 bytes in 100ms"},
		"too long": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.Write(data[:1000])
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, cfg: Config{Timeout: time.Minute, MaxTime: 100 * time.Millisecond}, want: "took more than 100ms"},
		"too large": {handler: func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }, cfg: Config{MaxSize: 1000}, want: "bytes or more, want at most 1000"},
		"larger than announced": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(data)
		}, cfg: Config{MaxSize: 1000}, want: "bytes or more, want at most 1000"},
		"size is announced": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Debuginfod-Size", "5000")
			w.(http.Flusher).Flush()
		}, cfg: Config{MaxSize: 1000}, want: "5000 bytes or more, want at most 1000"},
		"bomb":         {handler: encoded("gzip", testenv.Gzip(t, append(bytes.Clone(data), make([]byte, 10<<20)...))), cfg: Config{MaxSize: 1 << 20}, want: "bytes or more, want at most 1048576"},
		"damaged gzip": {handler: encoded("gzip", testenv.Gzip(t, data)[:500]), want: "unexpected EOF"},
		"other coding": {handler: encoded("zstd", data), want: `Content-Encoding "zstd" was not requested`},
		"redirected to itself": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, want: "more than 5 redirections"},
		"redirected to a file": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, want: "refused to follow a redirection from http to file:///etc/passwd"},
		"gzip": {handler: encoded("gzip", testenv.Gzip(t, data))},
		"redirected": {handler: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("again") == "" {
				http.Redirect(w, r, r.URL.Path+"?again=1", http.StatusMovedPermanently)
				return
			}
			w.Write(data)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testenv.Serve(t, c.handler)
			c.cfg.URLs = []string{url}
			client := newClient(t, c.cfg)
			start := time.Now()
			path, tried, err := client.Fetch(context.Background(), Debuginfo, id)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if c.want == "" {
				if err != nil || len(tried) > 0 || path == "" {
					t.Errorf("%q, %q, %v", path, tried, err)
				}
				return
			}
			where := fmt.Sprintf("%s/buildid/%x/debuginfo: ", url, id)
			if err == nil || len(tried) != 1 || !strings.HasPrefix(tried[0], where) || !strings.Contains(tried[0][len(where):], c.want) {
				t.Errorf("%v, tried %q, want %q", err, tried, where+c.want)
			}
			cached := ""
			if missing := name == "not found"; missing != errors.Is(err, ErrNotFound) {
				t.Errorf("%v: ErrNotFound: %v", err, !missing)
			} else if missing {
				cached = fmt.Sprintf("%x/debuginfo 0 -rw-r--r--", id)
			} else if err.Error() != "debuginfod: "+tried[0] {
				t.Errorf("%v, want %q", err, tried[0])
			}
			if got := left(t, client.cfg.Cache); got != cached {
				t.Errorf("the cache has %q, want %q", got, cached)
			}
		})
	}
}

// The first server that has the file is used. A server that is down is not asked
// again; the answers of all others are still reported.
func TestSeveralServers(t *testing.T) {
	data, id := sample(t)
	var asked atomic.Int32
	missing := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); http.Error(w, "", http.StatusNotFound) })
	good := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	away := "http://" + testenv.ClosedPort(t)

	c := newClient(t, Config{URLs: []string{missing, away, good}})
	path, tried, err := c.Fetch(context.Background(), Debuginfo, id)
	if err != nil || path == "" || len(tried) != 2 || !strings.Contains(tried[0], ": 404 Not Found") || !strings.Contains(tried[1], ": connection refused") {
		t.Errorf("%q, %q, %v", path, tried, err)
	}

	c = newClient(t, Config{URLs: []string{missing, away}})
	for i, want := range []string{": dial tcp", ": not asked again: dial tcp"} {
		_, tried, err := c.Fetch(context.Background(), Debuginfo, []byte{1, 2, byte(i)})
		if err == nil || errors.Is(err, ErrNotFound) || len(tried) != 2 || !strings.Contains(tried[1], want) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, %v, want %q", tried, err, want)
		}
	}
	if asked.Load() != 3 || left(t, c.cfg.Cache) != "" {
		t.Errorf("asked %d times; %q", asked.Load(), left(t, c.cfg.Cache))
	}
}

// A file that no server has is not requested again until the miss has expired.
func TestMisses(t *testing.T) {
	data, id := sample(t)
	asked, found := 0, false
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; !found {
			http.Error(w, "", http.StatusNotFound)
			return
		}
		w.Write(data)
	})
	c := newClient(t, Config{URLs: []string{url}})
	now := time.Now()
	c.now = func() time.Time { return now }
	fetch := func(wantAsked int, wantErr bool, tried string) {
		t.Helper()
		_, lines, err := c.Fetch(context.Background(), Debuginfo, id)
		if asked != wantAsked || wantErr != errors.Is(err, ErrNotFound) || !strings.Contains(strings.Join(lines, "\n"), tried) {
			t.Errorf("asked %d times, want %d: %q, %v", asked, wantAsked, lines, err)
		}
	}
	fetch(1, true, "404")
	now = now.Add(599 * time.Second)
	fetch(1, true, "/debuginfo: no server had it 9m5")
	now = now.Add(2 * time.Second)
	fetch(2, true, "404")
	now = now.Add(590 * time.Second)
	fetch(2, true, "no server had it 9m")
	os.WriteFile(filepath.Join(c.cfg.Cache, "cache_miss_s"), []byte("60\n"), 0o644)
	fetch(3, true, "404")
	os.WriteFile(filepath.Join(c.cfg.Cache, "cache_miss_s"), []byte("0"), 0o644)
	found = true
	fetch(4, false, "")
	found = false
	fetch(4, false, "")
}

// A cached file that is damaged, or has another build-id, is fetched again.
func TestDamagedCache(t *testing.T) {
	data, id := sample(t)
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	c := newClient(t, Config{URLs: []string{url}})
	e, err := c.entry(Debuginfo, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(e.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{data[:100], []byte("x"), bytes.Replace(data, id, make([]byte, len(id)), 1)} {
		os.Remove(e.Path)
		if err := os.WriteFile(e.Path, bad, 0o400); err != nil {
			t.Fatal(err)
		}
		path, _, err := c.Fetch(context.Background(), Debuginfo, id)
		if err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %v", len(got), err)
		}
	}
}

// Several clients, standing for several processes, fetch one file at once.
func TestAtOnce(t *testing.T) {
	data, id := sample(t)
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	cache := t.TempDir()
	var wg sync.WaitGroup
	for range 16 {
		c := newClient(t, Config{URLs: []string{url}, Cache: cache})
		wg.Go(func() {
			path, _, err := c.Fetch(context.Background(), Debuginfo, id)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	if got := left(t, cache); strings.Count(got, "\n") != 0 {
		t.Errorf("the cache has\n%s", got)
	}
}

func TestFetchRefuses(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		id   []byte
		want string
	}{
		{Config{URLs: []string{"http://127.0.0.1"}, Cache: "x"}, nil, "a build-id of 0 bytes, want 1 to 64"},
		{Config{URLs: []string{"http://127.0.0.1"}, Cache: "x"}, make([]byte, 65), "a build-id of 65 bytes"},
		{Config{Cache: "x"}, []byte{0xab}, "debuginfo of build-id ab: no server is configured"},
		{Config{URLs: []string{"http://127.0.0.1"}}, []byte{1}, "no cache folder: set DEBUGINFOD_CACHE_PATH, XDG_CACHE_HOME or HOME"},
	} {
		client, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := client.Fetch(context.Background(), Debuginfo, c.id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for text, want := range map[string]string{
		"ftp://host/":           `"ftp://host/" is not an http: or https: URL`,
		"http:///x":             `"http:///x" names no server`,
		"host":                  `"host" is not an http: or https: URL`,
		"http://a:b@%zz":        `"http://a:b@%zz" is not a URL`,
		"gopher://me:word@host": `"gopher://me:xxxxx@host" is not an http: or https: URL`,
	} {
		if _, err := New(Config{URLs: []string{text}}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The folder cannot be written, or the call is cancelled.
func TestFetchFails(t *testing.T) {
	data, id := sample(t)
	url := testenv.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	_, tried, err := newClient(t, Config{URLs: []string{url}, Cache: file}).Fetch(context.Background(), Debuginfo, id)
	if err == nil || !strings.Contains(err.Error(), file+": not a directory") || len(tried) != 1 {
		t.Errorf("%q, %v", tried, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	if _, _, err := newClient(t, Config{URLs: []string{url}}).Fetch(ctx, Debuginfo, id); err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

// A password in a URL is used, but not reported.
func TestPassword(t *testing.T) {
	_, id := sample(t)
	var user, word string
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, word, _ = r.BasicAuth()
		http.Error(w, "", http.StatusUnauthorized)
	})
	_, tried, err := newClient(t, Config{URLs: []string{strings.Replace(url, "//", "//me:secret@", 1)}}).Fetch(context.Background(), Debuginfo, id)
	if user != "me" || word != "secret" || err == nil || strings.Contains(err.Error()+strings.Join(tried, ""), "secret") {
		t.Errorf("%s %s: %v, %q", user, word, err, tried)
	}
}

// A source file is requested by its path in the debug information, and may be
// any text.
func TestFetchSource(t *testing.T) {
	_, id := sample(t)
	asked := ""
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked += r.URL.EscapedPath() + "\n"
		switch {
		case strings.HasSuffix(r.URL.Path, "/large.c"):
			w.Write(make([]byte, maxSource+1))
		case strings.HasSuffix(r.URL.Path, "/a b.c"):
			io.WriteString(w, "int main;\n")
		default:
			http.NotFound(w, r)
		}
	})
	c := newClient(t, Config{URLs: []string{url}})
	for _, x := range []struct{ path, want string }{
		{"/usr/src/a b.c", "int main;\n"}, {"/usr/src/a b.c", "int main;\n"},
		{"/usr/src/none.c", "no server has it"}, {"/usr/src/large.c", "16777217 bytes or more, want at most 16777216"},
	} {
		got := ""
		path, _, err := c.Fetch(context.Background(), Source+x.path, id)
		if err != nil {
			got = err.Error()
		} else if data, err := os.ReadFile(path); err != nil {
			t.Error(err)
		} else {
			got = string(data)
		}
		if !strings.HasSuffix(got, x.want) {
			t.Errorf("%s: got %q, want %q at the end", x.path, got, x.want)
		}
	}
	base := fmt.Sprintf("/buildid/%x/source/usr/src/", id)
	if want := base + "a%20b.c\n" + base + "none.c\n" + base + "large.c\n"; asked != want {
		t.Errorf("asked for\n%swant\n%s", asked, want)
	}
}
