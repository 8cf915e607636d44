package fetch

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// get asks a server for x/y.
func get(t testing.TB, c *Client, address string) (string, error) {
	t.Helper()
	servers, err := NewServers([]string{address})
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	err = c.Get(context.Background(), servers[0], servers[0].URL("x", "y"), nil, func(_ http.Header, body io.Reader) (err error) {
		text, err = io.ReadAll(body)
		return err
	})
	return string(text), err
}

// The servers use TLS, an unsigned certificate, and a redirect from TLS to plain HTTP.
func TestTLS(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "answer") }
	plain := serve(t, answer)
	down := false
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			http.Redirect(w, r, plain+r.URL.Path, http.StatusFound)
			return
		}
		answer(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer s.Close()
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.URL+r.URL.Path, http.StatusFound) })
	for _, c := range []struct {
		url     string
		trusted bool
		down    bool
		want    string
	}{
		{s.URL, false, false, "certificate"},
		{s.URL, true, false, ""},
		{up, true, false, ""},
		{s.URL, true, true, "refused to follow a redirection from https to http://"},
		{up, true, true, "refused to follow a redirection from https to http://"},
	} {
		down = c.down
		client := New(Limits{}, "", nil)
		if c.trusted {
			client.http.Transport = s.Client().Transport
		}
		text, err := get(t, client, c.url)
		if c.want == "" && (err != nil || text != "answer") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %q, %v", c, text, err)
		}
	}
}

// The file may be on another host, which does not get the password.
func TestOtherHost(t *testing.T) {
	var asked, password, referer string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked, referer = r.URL.Path, r.Referer()
		_, password, _ = r.BasicAuth()
		io.WriteString(w, "answer")
	})
	other = strings.Replace(other, "127.0.0.1", "localhost", 1)
	var first string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, first, _ = r.BasicAuth()
		http.Redirect(w, r, other+"/elsewhere", http.StatusTemporaryRedirect)
	})
	text, err := get(t, New(Limits{}, "", nil), strings.Replace(url, "//", "//me:secret@", 1))
	if err != nil || text != "answer" || asked != "/elsewhere" || first != "secret" {
		t.Errorf("%q, %v: asked for %q with %q", text, err, asked, first)
	}
	if password != "" || strings.Contains(referer, "secret") {
		t.Errorf("the other host got password %q, referer %q", password, referer)
	}
}

func TestRedirections(t *testing.T) {
	hops := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if hops--; hops < 0 {
			io.WriteString(w, "answer")
			return
		}
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	})
	for n, want := range map[int]string{0: "", maxRedirects: "", maxRedirects + 1: "more than 5 redirections"} {
		hops = n
		text, err := get(t, New(Limits{}, "", nil), url)
		if want == "" && (err != nil || text != "answer") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d: %q, %v", n, text, err)
		}
	}
}

// A cancelled call does not count against the server: the next call asks it.
func TestCallerGivesUp(t *testing.T) {
	var asked atomic.Int32
	arrived := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			close(arrived)
			<-r.Context().Done()
		}
	})
	servers, err := NewServers([]string{url})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }()
	c := New(Limits{Timeout: time.Minute}, "", nil)
	if err := c.Get(ctx, servers[0], servers[0].URL("x"), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	came := false
	err = c.Get(context.Background(), servers[0], servers[0].URL("x"), nil, func(http.Header, io.Reader) error { came = true; return nil })
	if err != nil || !came || asked.Load() != 2 {
		t.Errorf("the next one: error %v, asked %d times", err, asked.Load())
	}
}

// A server that was too slow is not asked again; one that refused a file is.
func TestGiveUp(t *testing.T) {
	var asked atomic.Int32
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request) { asked.Add(1); <-r.Context().Done() })
	servers, err := NewServers([]string{slow})
	if err != nil {
		t.Fatal(err)
	}
	c := New(Limits{Timeout: 20 * time.Millisecond}, "", nil)
	for _, want := range []string{"too slow: less than 102400 bytes in 20ms", "not asked again: too slow"} {
		err := c.Get(context.Background(), servers[0], servers[0].URL("x"), nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if asked.Load() > 1 { // on a busy machine, the first request may be late, too
		t.Errorf("asked %d times", asked.Load())
	}
	c = New(Limits{}, "", nil)
	for status, want := range map[int]error{404: ErrMissing, 410: ErrMissing, 403: ErrForbidden, 401: nil, 500: nil, 206: nil} {
		asked.Store(0)
		servers, err := NewServers([]string{serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(status) })})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err := c.Get(context.Background(), servers[0], servers[0].URL("x"), nil, nil)
			if err == nil || errors.Is(err, ErrMissing) != (want == ErrMissing) || errors.Is(err, ErrForbidden) != (want == ErrForbidden) {
				t.Errorf("%d: %v", status, err)
			}
		}
		if asked.Load() != 2 {
			t.Errorf("%d: asked %d times", status, asked.Load())
		}
	}
}

func TestNewServers(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://host/":           `"ftp://host/" is not an http: or https: URL`,
		"http:///x":             `"http:///x" names no server`,
		"host":                  `"host" is not an http: or https: URL`,
		"http://a:b@%zz":        `"http://a:b@%zz" is not a URL`,
		"gopher://me:word@host": `"gopher://me:xxxxx@host" is not an http: or https: URL`,
	} {
		if _, err := NewServers([]string{text}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Special characters in names are escaped in URLs.
func TestURL(t *testing.T) {
	servers, err := NewServers([]string{"http://me:secret@host/a%2fb/?q=1#f"})
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{
		"lib.so":      "lib.so",
		"a b":         "a%20b",
		"a/../../b":   "a%2F..%2F..%2Fb",
		"a%2fb":       "a%252fb",
		"a?b#c;d&e=f": "a%3Fb%23c%3Bd&e=f",
		"...":         "...",
		"größe":       "gr%C3%B6%C3%9Fe",
	} {
		if got := servers[0].URL(part, "0A").String(); got != "http://me:secret@host/a%2fb/"+want+"/0A" {
			t.Errorf("%q: %s", part, got)
		}
	}
	if got := servers[0].String(); got != "http://me:xxxxx@host/a%2fb/?q=1#f" {
		t.Error(got)
	}
}

// Many goroutines fill one place at once: each reader sees a whole file, or none.
func TestFillAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cache", "a", "b")
	text := strings.Repeat("0123456789", 1000)
	check := func(path string) error {
		data, err := os.ReadFile(path)
		if err == nil && string(data) != text {
			err = errors.New("another file")
		}
		return err
	}
	place := Place{Cache: filepath.Join(dir, "cache"), Path: path, Check: check}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			err := place.Fill(func(w io.Writer) error {
				if i%4 == 1 {
					return errors.New("cut")
				}
				for j := range 10 {
					io.WriteString(w, text[j*1000:][:1000])
					if i%4 == 2 && j == 5 {
						break // ends early, without an error
					}
				}
				return nil
			})
			if failed := i%4 == 1 || i%4 == 2; failed != (err != nil) {
				t.Errorf("%d: %v", i, err)
			}
			if _, err := os.Stat(path); err == nil && !place.Known() {
				t.Errorf("%d: the file is not complete", i)
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || !place.Known() {
		t.Errorf("%v, %v", entries, err)
	}
}

// Leftovers of a killed process are removed; files that another process is
// still writing are not.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"new.1": 25 * time.Hour, "new.2": time.Hour, "newer": 25 * time.Hour, "other": 25 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	place := Place{Cache: dir, Path: filepath.Join(dir, "file"), Check: func(string) error { return nil }}
	if err := place.Fill(func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != "file new.2 newer other" {
		t.Errorf("%s, %v", got, err)
	}
}

// Requests for missing files share one connection.
func TestConnectionIsKept(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := New(Limits{}, "test", nil)
	for range 5 {
		if _, err := get(t, c, s.URL); !errors.Is(err, ErrMissing) {
			t.Fatal(err)
		}
	}
	// The client drops a connection if its own goroutine that sent the request does not
	// report that within 50 ms.
	if n := connections.Load(); n > 2 {
		t.Errorf("%d connections for 5 requests, want 1, or 2 on a busy machine", n)
	}
}
