package upload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// faults are ways to answer wrongly, or not at all.
var faults = map[string]func(w http.ResponseWriter, r *http.Request){
	"500": func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); http.Error(w, "oops", 500) },
	"502 at once": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
	},
	"503": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
	"429": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) },
	"408": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(408) },
	"hangs": func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		stop(r)
	},
	"hangs up": func(w http.ResponseWriter, _ *http.Request) { hijack(w).Close() },
	"resets": func(w http.ResponseWriter, _ *http.Request) {
		c := hijack(w)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	},
	"half closed": func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		c := hijack(w)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c) // until the client is gone
		c.Close()
	},
	"half a status": func(w http.ResponseWriter, r *http.Request) { say(w, r, "HTTP/1.1 20") },
	"no HTTP":       func(w http.ResponseWriter, r *http.Request) { say(w, r, "SSH-2.0-OpenSSH\r\n") },
	"truncated": func(w http.ResponseWriter, r *http.Request) {
		say(w, r, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":")
	},
	"drips, then stops": func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(200)
		for range 3 {
			w.Write([]byte(" "))
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond) // lets the bytes arrive one by one; the result does not depend on it
		}
		stop(r)
	},
}

// stop waits until the client has gone.
func stop(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(2 * time.Minute):
	}
}

func hijack(w http.ResponseWriter) net.Conn {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return c
}

func say(w http.ResponseWriter, r *http.Request, text string) {
	io.Copy(io.Discard, r.Body)
	c := hijack(w)
	io.WriteString(c, text)
	c.Close()
}

var protocolPaths = map[Protocol]string{V1: "/v1form", V2: "/api", Put: "/sym", Zip: "/zip"}

// Transient faults are retried: each request of each protocol meets one twice, and the file is
// there in the end. Permanent faults are reported, and no file is there. (put and zip are tested
// with a few faults.)
func TestFaults(t *testing.T) {
	path := symbols(t, 1)[0]
	for name, fault := range faults {
		for protocol, where := range protocolPaths {
			rare := protocol == Zip || protocol == Put
			if rare && name != "500" && name != "hangs up" && name != "truncated" || testing.Short() && protocol != V2 {
				continue // what they share with the others is tested there
			}
			t.Run(name+"/"+string(protocol), func(t *testing.T) {
				t.Parallel()
				// Only faults that hang wait for the time-out, which also limits good
				// answers.
				first := time.Minute
				if hangs[name] {
					first = 100 * time.Millisecond
				}
				testenv.Longer(t, first, func(limit time.Duration) string {
					o := Options{Protocol: protocol, URL: where, Timeout: limit}
					return cmp.Or(faultPasses(t, o, path, name, fault), faultStays(t, o, path, name, fault))
				})
			})
		}
	}
}

// hangs are the faults that only a time-out ends.
var hangs = map[string]bool{"hangs": true, "drips, then stops": true}

// faultPasses returns a failure, or "", where each request meets a fault twice.
func faultPasses(t *testing.T, o Options, path, name string, fault http.HandlerFunc) string {
	s := newCrashServer(t)
	seen := map[string]int{}
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead && !answersHead(name) {
			return false // the answer to HEAD has no body to lose
		}
		s.mu.Lock()
		seen[r.Method+r.URL.Path]++
		n := seen[r.Method+r.URL.Path]
		s.mu.Unlock()
		if n <= 2 {
			fault(w, r)
		}
		return n <= 2
	}
	o.URL, o.Retries = s.URL+o.URL, 2
	got := outcomes(send(t, o, path))
	s.mu.Lock()
	defer s.mu.Unlock()
	if got != "uploaded" || len(s.files) != 1 {
		return fmt.Sprintf("%s, %d files", got, len(s.files))
	}
	return ""
}

// faultStays returns a failure, or "", where each request meets a fault.
func faultStays(t *testing.T, o Options, path, name string, fault http.HandlerFunc) string {
	s := newCrashServer(t)
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead && !answersHead(name) {
			return false
		}
		fault(w, r)
		return true
	}
	o.URL, o.Retries = s.URL+o.URL, 1
	got := outcomes(send(t, o, path))
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(got, "failed: ") || !strings.HasSuffix(got, " (in the last of 2 tries)") || strings.Contains(got, "\n") || len(s.files) > 0 {
		return fmt.Sprintf("%q", got)
	}
	return ""
}

// answersHead reports whether an answer without a body can have a fault, too.
func answersHead(fault string) bool { return fault != "truncated" && fault != "drips, then stops" }

// Permanent failures are not retried, and their reports have the server's words.
func TestRefusals(t *testing.T) {
	path := symbols(t, 1)[0]
	text := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		protocol Protocol
		answer   http.HandlerFunc
		want     string
	}{
		"400":          {V1, text(400, "text/plain", "no\x1b[31m\nversion"), "400 Bad Request: no\x1b[31m version"},
		"403":          {Zip, text(403, "application/json", `{"error": "no valid bucket"}`), "403 Forbidden: no valid bucket"},
		"413":          {Put, text(413, "text/html", "<html><h1>413</h1></html>"), "413 Request Entity Too Large"},
		"501":          {Put, text(501, "text/plain", ""), "501 Not Implemented"},
		"long":         {V1, text(400, "text/plain", strings.Repeat("é", 1000)), "400 Bad Request: " + strings.Repeat("é", 150) + "..."},
		"Google's":     {V2, text(403, "application/json", `{"error": {"code": 403, "message": "API key not valid"}}`), "checkStatus: 403 Forbidden: API key not valid"},
		"garbage":      {V2, text(200, "text/html", "<html>log in</html>"), "checkStatus: the answer is not the expected JSON: 19 bytes"},
		"other JSON":   {V2, text(200, "", `[]`), "checkStatus: the answer is not the expected JSON: []"},
		"other status": {V2, text(200, "", `{"status": "PERHAPS"}`), `checkStatus: status "PERHAPS", want FOUND or MISSING`},
		"no uploadUrl": {V2, text(200, "", `{"status": "MISSING"}`), "create: the answer has no uploadUrl and uploadKey"},
		"a file":       {V2, text(200, "", `{"status": "MISSING", "uploadUrl": "file:///etc/passwd", "uploadKey": "k"}`), `create: uploadUrl leads to "file:///etc/passwd", which is not an http: or https: URL`},
		"endless":      {V2, text(200, "", strings.Repeat(" ", maxJSON+1)), "checkStatus: the answer has more than 33554432 bytes"},
		"302": {V1, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login?next=secret", http.StatusFound)
		}, "302 Found, to SERVER/login: with this status a POST becomes a GET, which uploads nothing; unless it is a login page, use that address"},
		"301": {Put, onlyPut(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/new/", http.StatusMovedPermanently)
		}), "301 Moved Permanently, to SERVER/new/: with this status a PUT becomes a GET, which uploads nothing; unless it is a login page, use that address"},
		"307 to itself": {V1, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}, "more than 5 redirections"},
		"307 to a file": {V1, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusTemporaryRedirect)
		}, `307 Temporary Redirect, to "file:///etc/passwd", which is not an http: or https: URL`},
		"307 to nowhere": {V1, text(307, "", ""), "307 Temporary Redirect, without an address to redirect to"},
		"later": {V1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(503)
		}, "503 Service Unavailable; it asks to come again in 24h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); c.answer(w, r) }))
			defer s.Close()
			got := outcomes(send(t, Options{Protocol: c.protocol, URL: s.URL, Retries: 3}, path))
			if want := "failed: " + strings.ReplaceAll(c.want, "SERVER", s.URL); got != want {
				t.Errorf("%q\nwant %q", got, want)
			}
			if n := asked.Load(); n > 2 && name != "307 to itself" {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// onlyPut answers other methods with 404.
func onlyPut(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			w.WriteHeader(404)
			return
		}
		h(w, r)
	}
}

// 307 and 308 are followed with the body. Secrets are sent to the server only, even if it
// redirects to another, names another as uploadUrl, or echoes them.
func TestSecrets(t *testing.T) {
	const token, header, password = "t0ken/+&=", "h3ader", "passw0rd"
	path := symbols(t, 1)[0]
	for _, protocol := range Protocols[:4] {
		for _, code := range []int{307, 308} {
			for _, away := range []bool{false, true} {
				other, first := newCrashServer(t), newCrashServer(t)
				target := first
				first.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
					if strings.HasPrefix(r.URL.Path, "/go/") {
						to := "" // itself
						if away {
							to = strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
						}
						q := r.URL.Query()
						q.Del("key") // the server may pass it on; we do not
						http.Redirect(w, r, to+strings.TrimPrefix(r.URL.Path, "/go")+"?"+q.Encode(), code)
						return true
					}
					return false
				}
				if away {
					target = other
				}
				base := strings.Replace(first.URL, "//", "//me:"+password+"@", 1) + "/go" + protocolPaths[protocol]
				o := Options{Protocol: protocol, URL: base, Token: token, Header: http.Header{"X-Key": {header}}}
				results := send(t, o, path)
				if got := outcomes(results); got != "uploaded" || len(target.files) != 1 {
					t.Fatalf("%s, %d, away %v: %s, %d files", protocol, code, away, got, len(target.files))
				}
				for i, h := range other.heads {
					all := fmt.Sprint(h, other.asked[i])
					for _, secret := range []string{token, url.QueryEscape(token), header, password, "Authorization", "Auth-Token", "key="} {
						if strings.Contains(all, secret) {
							t.Errorf("%s, %d: the other server got %s", protocol, code, all)
						}
					}
				}
				if h := first.heads[0]; h.Get("X-Key") != header {
					t.Errorf("%s: %v", protocol, h)
				}
			}
		}
	}
}

// uploadUrl may be of another host, which gets the file and nothing else.
func TestUploadURL(t *testing.T) {
	path := symbols(t, 1)[0]
	s, bucket := newCrashServer(t), newCrashServer(t)
	s.uploadURL = func(key string) string {
		return strings.Replace(bucket.URL, "127.0.0.1", "localhost", 1) + "/parked/" + key + "?X-Goog-Signature=abc%2Bd"
	}
	s.key = "the key"
	bucket.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		// Both are the same storage.
		text, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.parked[strings.TrimPrefix(r.URL.Path, "/parked/")] = string(text)
		s.mu.Unlock()
		return true
	}
	o := Options{Protocol: V2, URL: s.URL + "/api", Token: "the key", Header: http.Header{"X-Key": {"h3ader"}}}
	if got := outcomes(send(t, o, path)); got != "uploaded" {
		t.Fatal(got)
	}
	if len(bucket.asked) != 1 || bucket.asked[0] != "PUT /parked/k1?X-Goog-Signature=abc%2Bd" {
		t.Errorf("%q", bucket.asked)
	}
	if h := bucket.heads[0]; h.Get("X-Key") != "" || h.Get("Authorization") != "" || h.Get("Referer") != "" || strings.Contains(fmt.Sprint(h), "the key") {
		t.Errorf("%v", h)
	}
}

// Secrets that a server echoes are removed from quoted answers, and from the log of
// requests.
func TestHidden(t *testing.T) {
	const token, header, password, query = "t0ken/+&=", "Bearer h3ader", "passw0rd", "qu3ry"
	path := symbols(t, 1)[0]
	for _, code := range []int{400, 500} {
		for _, protocol := range Protocols[:4] {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(code)
				fmt.Fprintf(w, "wrong: %s %s %s %s h3ader %s", token, url.QueryEscape(token), header, password, r.URL.RequestURI())
			}))
			var logged []string
			u := strings.Replace(s.URL, "//", "//me:"+password+"@", 1) + "/?k=" + query
			o := Options{Protocol: protocol, URL: u, Token: token, Header: http.Header{"X-Key": {header}}, Retries: 1, Jobs: 1,
				Log: func(line string) { logged = append(logged, line) }}
			results := send(t, o, path)
			all := outcomes(results) + strings.Join(logged, "\n") + results[0].Target
			if !strings.Contains(all, "wrong: [hidden]") && !strings.Contains(all, "HEAD") {
				t.Errorf("%s", all)
			}
			for _, secret := range []string{token, url.QueryEscape(token), "h3ader", password, query} {
				if strings.Contains(all, secret) {
					t.Errorf("%s, %d: %s", protocol, code, all)
				}
			}
			s.Close()
		}
	}
}

// A redirection from TLS to plain HTTP, and an unsigned certificate.
func TestTLS(t *testing.T) {
	plain := newCrashServer(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer s.Close()
	path := symbols(t, 1)[0]
	got := outcomes(send(t, Options{Protocol: V1, URL: s.URL, Retries: 5}, path))
	if !strings.HasPrefix(got, "failed: tls: failed to verify certificate: ") || strings.Contains(got, "tries") {
		t.Error(got)
	}
	from, _ := url.Parse(s.URL)
	to, _ := url.Parse(plain.URL)
	if err := mayGo(from, to); err == nil || err.Error() != "from https to "+plain.URL {
		t.Error(err)
	}
}

// Retry-After applies to all requests.
func TestRetryAfter(t *testing.T) {
	s := newCrashServer(t)
	var early atomic.Int64
	var first time.Time
	s.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			first = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			return true
		}
		if time.Since(first) < 900*time.Millisecond {
			early.Add(1)
		}
		return false
	}
	results := send(t, Options{Protocol: V1, URL: s.URL + "/v1form", Retries: 1, Jobs: 1}, symbols(t, 3)...)
	if got := outcomes(results); got != "uploaded\nuploaded\nuploaded" || early.Load() > 0 {
		t.Errorf("%s, %d too early", got, early.Load())
	}
	for text, want := range map[string]time.Duration{"": 0, "x": 0, "-1": 0, "7": 7 * time.Second, "Sun, 06 Nov 1994 08:49:37 GMT": 37 * time.Second, "Sun, 06 Nov 1994 08:00:00 GMT": 0} {
		now := time.Date(1994, 11, 6, 8, 49, 0, 0, time.UTC)
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A server that is unreachable, or rejects the token, is not asked for each of many files.
func TestGiveUp(t *testing.T) {
	for code, want := range map[int]int32{500: 3 * 2, 401: 1} {
		var asked atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(code) }))
		results := send(t, Options{Protocol: V1, URL: s.URL, Retries: 1, Jobs: 1}, symbols(t, 50)...)
		s.Close()
		got := strings.Split(outcomes(results), "\n")
		if !strings.HasPrefix(got[49], fmt.Sprintf("failed: not tried: %d ", code)) || asked.Load() != want {
			t.Errorf("%d: %s, asked %d times", code, got[49], asked.Load())
		}
	}
}

// The answer to "complete" is lost: the server has accepted the file, and no longer knows
// the key.
func TestLostComplete(t *testing.T) {
	s := newCrashServer(t)
	lost := false
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if lost || !strings.HasSuffix(r.URL.Path, ":complete") {
			return false
		}
		lost = true
		s.api(httptest.NewRecorder(), r, strings.TrimPrefix(r.URL.Path, "/api/v1/"))
		hijack(w).Close()
		return true
	}
	if got := outcomes(send(t, Options{Protocol: V2, URL: s.URL + "/api", Retries: 2}, symbols(t, 1)...)); got != "uploaded" || !lost || len(s.files) != 1 {
		t.Errorf("%s, %d files", got, len(s.files))
	}
}

// A file that changes after it was checked is not completed on the server.
func TestChanged(t *testing.T) {
	for _, protocol := range Protocols[:3] {
		for name, change := range map[string]func(path, text string) error{
			"shorter": func(path, text string) error { return os.Truncate(path, int64(len(text)/2)) },
			"other": func(path, text string) error {
				return os.WriteFile(path, []byte(strings.Replace(text, "_19999\n", "_1999x\n", 1)), 0o666)
			},
		} {
			s := newCrashServer(t)
			path := write(t, filepath.Join(t.TempDir(), "a.sym"), symbolText("a", "AB", 20_000))
			text := read(t, path)
			o := Options{Protocol: protocol, URL: s.URL + protocolPaths[protocol], Retries: 3}
			once := false
			o.Log = func(line string) {
				if !once && !strings.HasPrefix(line, "HEAD") && !strings.HasPrefix(line, "GET") {
					once = true
					if err := change(path, text); err != nil {
						t.Error(err)
					}
				}
			}
			o.Jobs = 1
			got := outcomes(send(t, o, path))
			if !strings.HasSuffix(got, errChanged.Error()) || len(s.files) > 0 {
				t.Errorf("%s, %s: %s, %d files", protocol, name, got, len(s.files))
			}
		}
	}
}

// An upload ends soon after its context does, whatever it is waiting for.
func TestCancel(t *testing.T) {
	for _, protocol := range Protocols[:4] {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); stop(r) }))
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("enough")
		time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
		start := time.Now()
		_, err := trySend(ctx, t, Options{Protocol: protocol, URL: s.URL, Retries: 5}, symbols(t, 5)...)
		if took := time.Since(start); !errors.Is(err, why) || took > time.Minute { // the server waits for two
			t.Errorf("%s: %v after %v", protocol, err, took)
		}
		s.Close()
	}
}

// The client waits for a server that accepts a large body slowly, as long as there is progress.
// A refusal is noticed before the body is sent.
func TestLargeBody(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "a.sym"), symbolText("a", "AB", 250_000))
	testenv.Longer(t, 400*time.Millisecond, func(limit time.Duration) string {
		slow := newCrashServer(t)
		slow.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				buf := make([]byte, 1<<20)
				for {
					time.Sleep(limit / 7) // for 9 MB it is longer than the limit
					if _, err := io.ReadFull(r.Body, buf); err != nil {
						return true
					}
				}
			}
			return false
		}
		begun := time.Now()
		got := outcomes(send(t, Options{Protocol: Put, URL: slow.URL, Timeout: limit}, path))
		if took := time.Since(begun); took <= limit {
			return fmt.Sprintf("took %v", took)
		}
		return strings.TrimPrefix(got, "uploaded")
	})
	var read atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X") == "" && r.Header.Get("Expect") != "" && r.URL.Path == "/417" {
			w.WriteHeader(http.StatusExpectationFailed)
			return
		}
		if r.URL.Path == "/417" {
			n, _ := io.Copy(io.Discard, r.Body)
			read.Add(n)
			return
		}
		w.WriteHeader(403)
	}))
	defer s.Close()
	if got := outcomes(send(t, Options{Protocol: V1, URL: s.URL + "/403"}, path)); got != "failed: 403 Forbidden" || read.Load() > 0 {
		t.Errorf("%s, %d bytes read", got, read.Load())
	}
	if got := outcomes(send(t, Options{Protocol: V1, URL: s.URL + "/417"}, path)); got != "uploaded" || read.Load() < 1<<20 {
		t.Errorf("%s, %d bytes read", got, read.Load())
	}
}

// WebDAV requires a folder to exist before files are put into it.
func TestFolders(t *testing.T) {
	s := newCrashServer(t)
	folders := map[string]bool{"/dav": true}
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		name := strings.TrimSuffix(r.URL.Path, "/")
		parent := name[:strings.LastIndex(name, "/")]
		switch {
		case r.Method == "PUT" && !folders[parent], r.Method == "MKCOL" && !folders[parent]:
			w.WriteHeader(http.StatusConflict)
		case r.Method == "MKCOL" && folders[name]:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == "MKCOL":
			folders[name] = true
			w.WriteHeader(http.StatusCreated)
		default:
			return false
		}
		return true
	}
	if got := outcomes(send(t, Options{Protocol: Put, URL: s.URL + "/dav/", Jobs: 3}, symbols(t, 4)...)); got != "uploaded\nuploaded\nuploaded\nuploaded" || len(s.files) != 4 {
		t.Errorf("%s, %d files", got, len(s.files))
	}
}
