package upload

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/fetch"
)

// Malformed addresses, and how messages show the others.
func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"http://": `"http:" names no server`, "https:///x": `"https:///x" names no server`, "http://:80/": `"http://:80/" names no server`,
		"ftp://h/?token=x": `"ftp://h/" is not an http: or https: URL`, "h": `"h" is not an http: or https: URL`, "http://h/%zz?token=x": "invalid URL",
	} {
		if _, err := New(Options{Protocol: Put, URL: in}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Protocol: Put, URL: "https://u:p@h/x?token=y#z"}, "https://h/x"}, {Options{Protocol: S3, URL: "s3://symbols/x", Endpoint: "http://h/"}, "s3://symbols/x"},
	} {
		u, err := New(c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Shown(); got != c.want {
			t.Errorf("%s: %s, want %s", c.o.URL, got, c.want)
		}
	}
}

// Transient errors are tried again.
func TestTransient(t *testing.T) {
	status := func(code int) error { return fmt.Errorf("x: %w", &statusError{code: code}) }
	for _, c := range []struct {
		err  error
		want bool
	}{
		{io.ErrUnexpectedEOF, true}, {&refusal{io.EOF}, false}, {&bodyError{errChanged}, false},
		{&net.DNSError{IsNotFound: true}, false}, {&net.DNSError{IsTemporary: true}, true}, {&net.DNSError{}, true},
		{status(408), true}, {status(425), true}, {status(429), true}, {status(500), true}, {status(502), true}, {status(503), true}, {status(504), true}, {status(599), true},
		{status(400), false}, {status(401), false}, {status(403), false}, {status(404), false}, {status(409), false}, {status(501), false}, {status(505), false}, {status(507), false},
		{status(508), false}, {status(510), false}, {status(511), false}, {status(499), false},
	} {
		if got := transient(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// Servers' explanations in JSON, text and HTML.
func TestReadable(t *testing.T) {
	for in, want := range map[string]string{
		`{"error":"e","message":"m"}`: "e", `{"message":"m","detail":"d"}`: "m", `{"detail":"d"}`: "d", `{"error":{"message":"g","code":1}}`: "g", `{"error":{"code":1},"detail":"d"}`: "d",
		`{"other":"x"}`: `{"other":"x"}`, "two\n lines ": "two lines", "<html>page": "", "": "", `"text"`: `"text"`,
	} {
		a := &answer{text: []byte(in), hidden: &secrets{}}
		if got := a.readable(); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// Reads by the transport after the request has ended do not count as a failure of the
// body, and nothing is closed twice.
func TestGuarded(t *testing.T) {
	closed := 0
	b := bytesBody([]byte("01234"))
	b.open = func() (io.ReadCloser, error) {
		return closeCounter{strings.NewReader("01234"), &closed}, nil
	}
	in, err := b.reader(nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{in: in, w: fetch.NewWatch(0, 1, nil)}
	if n, err := g.Read(make([]byte, 2)); n != 2 || err != nil {
		t.Error(n, err)
	}
	for range 3 {
		if err := g.failure(); err != nil {
			t.Error(err)
		}
		if n, err := g.Read(make([]byte, 2)); n != 0 || err != io.ErrClosedPipe {
			t.Errorf("read after the end: %d, %v", n, err)
		}
	}
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

type closeCounter struct {
	io.Reader
	n *int
}

func (c closeCounter) Close() error {
	if *c.n++; *c.n > 1 {
		return errors.New("closed twice")
	}
	return nil
}

// The server is asked before a large body is sent, and not before a small one.
func TestExpect(t *testing.T) {
	for size, want := range map[int]string{100: "", expectSize + 1000: "100-continue"} {
		s := newCrashServer(t)
		path := write(t, t.TempDir()+"/a.sym", symbolText("a", "AB0", 1)+strings.Repeat("PUBLIC 1 0 x\n", size/13))
		if got := outcomes(send(t, Options{Protocol: Put, URL: s.URL + "/sym", Force: true}, path)); got != "uploaded" || len(s.heads) != 1 || s.heads[0].Get("Expect") != want {
			t.Errorf("%d bytes: %s, %v", size, got, s.heads)
		}
	}
}

// An answer to the last request of sym-upload-v2 that is not JSON.
func TestCompleteAnswer(t *testing.T) {
	s := newCrashServer(t)
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, ":complete") {
			io.WriteString(w, "done")
			return true
		}
		return false
	}
	if got := outcomes(send(t, Options{Protocol: V2, URL: s.URL + "/api"}, symbols(t, 1)...)); got != "failed: complete: the answer is not the expected JSON: done" {
		t.Error(got)
	}
}

// Each part of an object is compared with what the server received.
func TestParts(t *testing.T) {
	keys(t, "AKID", "secret")
	path := write(t, t.TempDir()+"/a.sym", symbolText("a", "AB0", 100))
	for bad := 0; bad <= 3; bad++ {
		parts, aborted := 0, 0
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			switch query := r.URL.Query(); {
			case r.Method == http.MethodHead:
				w.WriteHeader(http.StatusNotFound)
			case query.Has("uploads"):
				io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>")
			case r.Method == http.MethodPut:
				if parts++; parts == bad {
					text = append(text, 'x')
				}
				w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(text)))
			case r.Method == http.MethodDelete:
				aborted++
			default:
				io.WriteString(w, "<CompleteMultipartUploadResult/>")
			}
		}))
		o := Options{Protocol: S3, URL: "s3://symbols", Endpoint: h.URL, NoRole: true, partThreshold: 1000, partSize: 1000}
		results := send(t, o, path)
		got := outcomes(results)
		if bad == 0 && (got != "uploaded" || parts != 3 || aborted != 0 || results[0].Tries != 1) || bad > 0 && (!strings.HasPrefix(got, fmt.Sprintf("failed: part %d: ", bad)) || parts != bad || aborted != 1) {
			t.Errorf("part %d is damaged: %s, %d parts, %d aborted, %d tries", bad, got, parts, aborted, results[0].Tries)
		}
		h.Close()
	}
}
