package serve_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// soon is less than the time that a server waits for the head of a request, 10 s: a faster
// answer did not wait until other connections timed out.
const soon = 5 * time.Second

// dialAll opens connections that each send the beginning of a request.
func dialAll(t *testing.T, s *served, n int, head string) (all []net.Conn) {
	t.Helper()
	_, addr, _ := strings.Cut(s.URL, "://")
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, head)
		all = append(all, c)
	}
	return all
}

// TestServeSilentConnections checks that connections that send nothing, or half a request, do
// not lock others out, with or without TLS.
func TestServeSilentConnections(t *testing.T) {
	store := serveStore(t)
	cert, key, roots := certificate(t, t.TempDir())
	plain := startServe(t, "--max-requests", "4", store)
	secure := startServe(t, "--max-requests", "4", "--tls-cert", cert, "--tls-key", key, store)
	for _, s := range []*served{plain, secure} {
		for _, head := range []string{"", "G", "GET /healthz HTTP/1.1\r\nHost: x\r\nA: "} {
			began := time.Now()
			dialAll(t, s, 40, head) // more than the 16 that may be open
			client := &http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
			for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
				r, err := client.Get(s.URL + path)
				if err != nil {
					t.Fatalf("%s behind connections that sent %q: %v", path, head, err)
				}
				r.Body.Close()
				if r.StatusCode != 200 {
					t.Errorf("%s behind connections that sent %q: %s", path, head, r.Status)
				}
			}
			if took := time.Since(began); took > soon {
				t.Errorf("behind connections that sent %q it took %v", head, took)
			}
		}
	}
}

// TestServeKeepsBusyConnections checks that a connection is never closed while its request is
// being answered.
func TestServeKeepsBusyConnections(t *testing.T) {
	s := startServe(t, "--max-requests", "4", bigStore(t))
	c := slowFile(t, s)
	dialAll(t, s, 40, "")
	if n, err := io.CopyN(io.Discard, c, 39<<20); err != nil {
		t.Errorf("%d bytes: %v", n, err)
	}
}

// TestServeSlowBodies checks that slow bodies take up the slots of requests, but not the slots of
// health checks.
func TestServeSlowBodies(t *testing.T) {
	s := startServe(t, "--max-requests", "4", "--stall", "1s", serveStore(t))
	slow := dialAll(t, s, 4, "POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	client := &http.Client{Timeout: soon}
	for _, path := range []string{"/healthz", "/readyz"} {
		r, err := client.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != 200 {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	for _, c := range slow {
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, " 408 ") {
			t.Errorf("%q, %v: want status 408 after --stall", line, err)
		}
	}
}

// TestServeExpectContinue checks that a client that asks before it sends a body that is too
// large is rejected.
func TestServeExpectContinue(t *testing.T) {
	s := startServe(t, "--max-body", "1M", serveStore(t))
	for length, want := range map[string]string{
		"99000000000":         "HTTP/1.1 413 Request Entity Too Large\r\n",
		"1048577":             "HTTP/1.1 413 Request Entity Too Large\r\n",
		"1048576":             "HTTP/1.1 100 Continue\r\n",
		"9223372036854775808": "HTTP/1.1 400 Bad Request\r\n",
	} {
		c := dialAll(t, s, 1, "POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "+length+"\r\n\r\n")[0]
		_ = c.SetReadDeadline(time.Now().Add(soon))
		if line, err := bufio.NewReader(c).ReadString('\n'); line != want {
			t.Errorf("%s bytes: %q, %v, want %q", length, line, err, want)
		}
	}
	// A body without a declared length is cut off at the limit.
	c := dialAll(t, s, 1, "POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")[0]
	go func() {
		for range 40 {
			fmt.Fprintf(c, "10000\r\n%s\r\n", strings.Repeat(" ", 1<<16))
		}
	}()
	_ = c.SetReadDeadline(time.Now().Add(soon))
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 413 ") {
		t.Errorf("%q, %v, want 413", line, err)
	}
}

// TestServeAsksNobody checks that a server of symbols does not forward requests: it ignores URLs
// in the environment and in requests.
func TestServeAsksNobody(t *testing.T) {
	asked := make(chan string, 100)
	other := testenv.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	t.Setenv("DEBUGINFOD_URLS", other)
	t.Setenv("HTTP_PROXY", other)
	s := startServe(t, serveStore(t))
	for _, path := range []string{
		"/buildid/0123456789abcdef0123456789abcdef01234567/debuginfo", "/a.so/ABC0/a.so.sym", "/" + other + "/ABC0/x.sym", "//" + strings.TrimPrefix(other, "http://") + "/x",
	} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	r, err := http.Post(s.URL+"/symbolicate/v5", "application/json", strings.NewReader(`{"memoryMap": [["`+other+`/x.so", "ABC0"]], "stacks": [[[0, 1]]]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	select {
	case path := <-asked:
		t.Errorf("another server was asked for %s", path)
	default:
	}
}

// TestServeOldTLS checks that TLS 1.1 and older are refused.
func TestServeOldTLS(t *testing.T) {
	cert, key, roots := certificate(t, t.TempDir())
	s := startServe(t, "--tls-cert", cert, "--tls-key", key, serveStore(t))
	for most, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: most})
		if (err == nil) != want {
			t.Errorf("%s: %v", tls.VersionName(most), err)
		}
		if err == nil {
			c.Close()
		}
	}
}
