package symserver

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// In each form, the answer to a failed precondition has no body and no fields that describe
// one; otherwise the connection would be closed.
func TestPreconditions(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "plain", "AA0", ".sym", symbolText("plain", "AA0", 4000))
	keep(t, dir, "small", "AA0", ".sym.gz", symbolText("small", "AA0", 4000))
	s, _ := newServer(t, Config{Dirs: []string{dir}, Gzip: true})
	h := httptest.NewServer(s)
	defer h.Close()
	for _, c := range []struct{ what, path, accept string }{
		{"as it is", "/plain/AA0/plain.sym", "identity"},
		{"packed", "/plain/AA0/plain.sym", "gzip"},
		{"unpacked", "/small/AA0/small.sym", "identity"},
		{"encoded", "/small/AA0/small.sym", "gzip"},
		{"the archive", "/small/AA0/small.sym.gz", "identity"},
	} {
		t.Run(c.what, func(t *testing.T) {
			get := func(fields ...string) *http.Response {
				t.Helper()
				q, err := http.NewRequest(http.MethodGet, h.URL+c.path, nil)
				if err != nil {
					t.Fatal(err)
				}
				q.Header.Set("Accept-Encoding", c.accept)
				for i := 0; i < len(fields); i += 2 {
					q.Header.Add(fields[i], fields[i+1])
				}
				r, err := h.Client().Do(q)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Fatalf("%v: %s: %v", fields, r.Status, err)
				}
				return r
			}
			etag := get().Header.Get("ETag")
			strong := strings.TrimPrefix(etag, "W/") == etag
			if strong == (c.what == "packed") {
				t.Errorf("ETag %s: want a weak one, as another version of gzip makes other bytes", etag)
			}
			long := time.Now().Add(-1000 * time.Hour).UTC().Format(http.TimeFormat)
			for _, q := range []struct {
				status int
				fields []string
			}{
				{412, []string{"If-Match", `"other"`}},
				{412, []string{"If-Match", "W/" + strings.TrimPrefix(etag, "W/")}},
				{map[bool]int{true: 200, false: 412}[strong], []string{"If-Match", `"x", ` + etag}},
				{map[bool]int{true: 200, false: 412}[strong], []string{"If-Match", `"x"`, "If-Match", etag, "If-Match", `"y"`}},
				{304, []string{"If-None-Match", `"x"`, "If-None-Match", etag, "If-None-Match", `"y"`}},
				{200, []string{"If-Match", "*"}},
				{412, []string{"If-Unmodified-Since", long}},
				{200, []string{"If-Unmodified-Since", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}},
				{304, []string{"If-None-Match", `"x", ` + etag}},
				{304, []string{"If-None-Match", "W/" + strings.TrimPrefix(etag, "W/")}},
				{200, []string{"If-None-Match", `"x"`, "If-Modified-Since", time.Now().UTC().Format(http.TimeFormat)}},
				{304, []string{"If-Modified-Since", time.Now().UTC().Format(http.TimeFormat)}},
			} {
				r := get(q.fields...)
				if r.StatusCode != q.status {
					t.Errorf("%v: status %d, want %d", q.fields, r.StatusCode, q.status)
				}
				if name := "Content-Encoding"; q.status == 304 && r.Header.Get(name) != "" {
					t.Errorf("%v: 304 with %s: %s", q.fields, name, r.Header.Get(name))
				}
				if q.status != 412 {
					continue
				}
				for _, name := range []string{"Content-Encoding", "Last-Modified"} {
					if v := r.Header.Get(name); v != "" {
						t.Errorf("%v: 412 with %s: %s", q.fields, name, v)
					}
				}
				if v := r.Header.Get("Cache-Control"); v != "no-store" {
					t.Errorf("%v: 412 with Cache-Control %q", q.fields, v)
				}
			}
		})
	}
}

// RFC 9110, 14.1 and 14.2.
func TestOddRanges(t *testing.T) {
	dir := t.TempDir()
	text := symbolText("plain", "AA0", 4000)
	keep(t, dir, "plain", "AA0", ".sym", text)
	keep(t, dir, "small", "AA0", ".sym.gz", text)
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	plain, encoded := "/plain/AA0/plain.sym", "/small/AA0/small.sym"
	for _, c := range []struct {
		path, field string
		status      int
		content     string // Content-Range, or the type of several
	}{
		{plain, "bytes=0-3", 206, fmt.Sprintf("bytes 0-3/%d", len(text))},
		{plain, "bytes=-0", 416, fmt.Sprintf("bytes */%d", len(text))},
		{plain, "bytes=-00, -0", 416, fmt.Sprintf("bytes */%d", len(text))},
		{plain, "bytes=-0, 1-2", 206, fmt.Sprintf("bytes 1-2/%d", len(text))},
		{plain, fmt.Sprintf("bytes=-%d", len(text)+5), 206, fmt.Sprintf("bytes 0-%d/%d", len(text)-1, len(text))},
		{plain, fmt.Sprintf("bytes=%d-", len(text)), 416, fmt.Sprintf("bytes */%d", len(text))},
		{plain, "lines=0-3", 200, ""},
		{plain, "rubbish", 200, ""},
		{plain, "bytes=0-1,4-5", 206, "multipart"},
		{encoded, "bytes=0-3", 206, ""},
		// Each part would be a piece of a gzip file, while the whole is declared as gzip.
		{encoded, "bytes=0-1,4-5", 200, ""},
	} {
		r := ask(t, s, http.MethodGet, c.path, nil, "Range", c.field, "Accept-Encoding", "gzip")
		got := r.Header.Get("Content-Range")
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/byteranges") {
			got = "multipart"
		}
		if r.StatusCode != c.status || c.content != "" && got != c.content || got == "multipart" && c.content != got {
			t.Errorf("%s %s: %d %q, want %d %q", c.path, c.field, r.StatusCode, got, c.status, c.content)
		}
		if r.StatusCode == 200 && c.path == encoded && unpacked(t, r) != string(text) {
			t.Errorf("%s %s: other bytes", c.path, c.field)
		}
	}
}

// HEAD for a file that is converted while it is sent is answered with 200, also on a
// connection that was idle for long.
func TestHeadOfWhatIsMadeOnTheWay(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "plain", "AA0", ".sym", symbolText("plain", "AA0", 4000))
	keep(t, dir, "small", "AA0", ".sym.gz", symbolText("small", "AA0", 4000))
	testenv.Longer(t, 200*time.Millisecond, func(stall time.Duration) string {
		seen := make(chan int, 10)
		s, _ := newServer(t, Config{Dirs: []string{dir}, Gzip: true, Stall: stall, Access: func(a *Access) { seen <- a.Status }})
		h := httptest.NewServer(s)
		defer h.Close()
		c := dial(t, h)
		in := bufio.NewReader(c)
		for _, q := range []struct{ path, accept string }{{"/healthz", "identity"}, {"/plain/AA0/plain.sym", "gzip"}, {"/small/AA0/small.sym", "identity"}} {
			fmt.Fprintf(c, "HEAD %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\n", q.path, q.accept)
			r, err := http.ReadResponse(in, &http.Request{Method: http.MethodHead})
			if err != nil {
				return fmt.Sprintf("HEAD %s on a connection that was idle: %v", q.path, err)
			}
			if status := <-seen; status != 200 || r.StatusCode != 200 {
				return fmt.Sprintf("HEAD %s: status %d, counted as %d", q.path, r.StatusCode, status)
			}
			time.Sleep(stall + stall/2) // the server's own timer is what is tested: Longer tries again with more
		}
		return ""
	})
}

// A client that announces a body and does not send it does not keep its connection, whatever it requests.
func TestBodyThatDoesNotCome(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}, Stall: 200 * time.Millisecond})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	for _, line := range []string{"PUT /symbolicate/v5", "GET /symbolicate/v4", "POST /symbolicate/v5", "POST /healthz", "GET /x/AA0/x.sym"} {
		for _, length := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
			t.Run(line+" "+length, func(t *testing.T) {
				t.Parallel()
				c := dial(t, h)
				fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", line, length)
				_ = c.SetReadDeadline(time.Now().Add(time.Minute))
				if _, err := io.ReadAll(c); err != nil {
					t.Errorf("the connection is still open: %v", err)
				}
			})
		}
	}
}
