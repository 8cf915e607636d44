package symserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// cachingProxy is nginx with a cache that keeps what the server lets it keep.
const cachingProxy = `daemon off;
master_process off;
error_log DIR/error.log;
pid DIR/pid;
events {}
http {
	access_log off;
	client_body_temp_path DIR/tmp;
	proxy_temp_path DIR/tmp;
	proxy_cache_path DIR/cache keys_zone=z:1m use_temp_path=off;
	server {
		listen 127.0.0.1:PORT;
		location / {
			proxy_pass URL;
			proxy_cache z;
			proxy_cache_valid any 10m;
			add_header X-Cache $upstream_cache_status always;
		}
	}
}
`

// startProxy starts nginx in front of a server, and returns its URL.
func startProxy(t *testing.T, url string) string {
	t.Helper()
	dir, port := t.TempDir(), fmt.Sprint(testenv.FreePort(t))
	if err := errorsOf(os.Mkdir(filepath.Join(dir, "tmp"), 0o777), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	config := write(t, filepath.Join(dir, "conf"), []byte(strings.NewReplacer("DIR", dir, "PORT", port, "URL", url).Replace(cachingProxy)))
	c := exec.Command(testenv.Tool(t, "nginx"), "-c", config, "-p", dir, "-e", filepath.Join(dir, "error.log"))
	var log strings.Builder
	c.Stderr = &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() { _ = c.Process.Kill(); <-ended })
	base := "http://127.0.0.1:" + port
	testenv.Until(t, "nginx", func() bool {
		if len(ended) > 0 {
			ended <- <-ended
			t.Fatalf("nginx does not start: %s", log.String())
		}
		r, err := http.Get(base + "/healthz")
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	})
	return base
}

// fetch returns the answer to a request with a token.
func fetch(t *testing.T, method, url, token string, fields ...string) *http.Response {
	t.Helper()
	q, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		q.Header.Set(fields[i], fields[i+1])
	}
	r, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r
}

// TestOraclePrivateCache has a client with a token and one without ask for the same through nginx's cache. The
// cache keeps an open server's answers, so it would also give a private server's answers to the second client.
func TestOraclePrivateCache(t *testing.T) {
	testenv.Oracle(t)
	for _, private := range []bool{false, true} {
		server := httptest.NewServer(guardedServer(t, Config{Private: private}))
		defer server.Close()
		base := startProxy(t, server.URL)
		hits := 0
		for k, paths := range guardedRoutes {
			if kind(k) == form || kind(k) == uploadAPI || kind(k) == symbolicate {
				continue // not for GET
			}
			for _, path := range paths {
				first := fetch(t, "GET", base+path, "read")
				for _, method := range []string{"GET", "HEAD"} {
					for _, fields := range guardedRequests[:8] {
						r := fetch(t, method, base+path, "", fields...)
						if r.Header.Get("X-Cache") == "HIT" {
							hits++
						}
						if open := kind(k) == metricsPage || kind(k) == health; private && !open && r.StatusCode != 401 {
							t.Errorf("%s %s %q: %s after %s, X-Cache %s", method, path, fields, r.Status, first.Status, r.Header.Get("X-Cache"))
						}
						if !private && r.StatusCode == 401 {
							t.Errorf("%s %s: %s", method, path, r.Status)
						}
					}
				}
				if again := fetch(t, "GET", base+path, "read"); again.StatusCode != first.StatusCode {
					t.Errorf("%s: %s, then %s", path, first.Status, again.Status)
				}
			}
		}
		if private != (hits == 0) {
			t.Errorf("private %v: %d answers came from the cache", private, hits)
		}
	}
}
