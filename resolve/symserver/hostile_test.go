package symserver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stacks returns a request with n frames in a missing module.
func stacks(name string, n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"memoryMap": [[%q, "AB0"]], "stacks": [[[0, 0]`, name)
	for range n - 1 {
		b.WriteString(", [0, 1]")
	}
	b.WriteString("]]}")
	return b.Bytes()
}

// Clients that do not read their answers do not delay others.
func TestSlowReadersOfAnswers(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}})
	h := httptest.NewServer(s)
	t.Cleanup(h.CloseClientConnections)
	request := stacks(strings.Repeat("n", 1000), 20_000)
	for range cap(s.answers) {
		c := dial(t, h)
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(c, "POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(request))
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 100)); err != nil { // the answer has begun
			t.Fatal(err)
		}
	}
	// Clients that do not read get a minute.
	client := &http.Client{Timeout: 50 * time.Second}
	r, err := client.Post(h.URL+"/symbolicate/v5", "application/json", bytes.NewReader(stacks("a", 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
}

// deadlines counts how often a client gets more time.
type deadlines struct {
	*httptest.ResponseRecorder
	n int
}

func (d *deadlines) SetWriteDeadline(time.Time) error { d.n++; return nil }

// A client gets more time for each MiB that it reads, not for each piece.
func TestTimeToRead(t *testing.T) {
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	w := &recorder{ResponseWriter: d, control: http.NewResponseController(d), stall: time.Minute}
	if err := w.copy(io.LimitReader(zeros{}, 4*piece)); err != nil || w.bytes != 4*piece {
		t.Fatal(w.bytes, err)
	}
	if d.n < 4 || d.n > 6 {
		t.Errorf("deadline extended %d times for 4 MiB", d.n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A name is in the answer once for each of its frames.
func TestLongNames(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}})
	for n, want := range map[int]int{maxModuleText: 200, maxModuleText + 1: 400} {
		for _, request := range [][]byte{
			stacks(strings.Repeat("n", n), 2),
			[]byte(fmt.Sprintf(`{"memoryMap": [["a", "%s"]], "stacks": [[[0, 0]]]}`, strings.Repeat("A", n))),
		} {
			if r := ask(t, s, http.MethodPost, "/symbolicate/v5", request); r.StatusCode != want {
				t.Errorf("%d bytes: %d %s, want %d", n, r.StatusCode, body(t, r), want)
			}
		}
	}
}

// A module that exists only in another form is not missing: the client requests that form next.
func TestMissingForm(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a.so", "AB0", ".sym", symbolText("a.so", "AB0", 10))
	var missing []string
	s, _ := newServer(t, Config{Dirs: []string{dir}, Missing: func(name, id string) { missing = append(missing, name+"/"+id) }})
	for _, path := range []string{"/a.so/AB0/a.so.sym.gz", "/a.so/AB0/a.so.sym.zst", "/b.so/AB0/b.so.sym.gz"} {
		if r := ask(t, s, http.MethodGet, path, nil); r.StatusCode != 404 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	for _, path := range []string{"/a.so/AB0/a.so.vars", "/a.so/AB0/a.so.vars.gz"} { // few modules have variables
		if r := ask(t, s, http.MethodGet, path, nil); r.StatusCode != 404 || !strings.Contains(body(t, r), "no variables") {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	keep(t, dir, "a.so", "AB0", ".vars.gz", []byte("MODULE Linux x86_64 AB0 a.so\nINFO VAR 1 all full\n"))
	if r := ask(t, s, http.MethodGet, "/a.so/AB0/a.so.vars", nil); r.StatusCode != 200 || !strings.HasSuffix(body(t, r), "\nINFO VAR 1 all full\n") {
		t.Errorf("variables: %d", r.StatusCode)
	}
	if len(missing) != 1 || missing[0] != "b.so/AB0" {
		t.Errorf("%q", missing)
	}
	if got := body(t, ask(t, s, http.MethodGet, "/metrics", nil)); !strings.Contains(got, "\nsymtool_modules_missing_total 1\n") {
		t.Error("number of missing modules differs")
	}
}

// The name of a source file may have any characters, a header may not.
func TestOddSourceName(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "buildid", "abcd12", "source", "b c.c"), []byte("text"))
	write(t, filepath.Join(dir, "buildid", "abcd12", "source", "~!"), []byte("text"))
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	for path, want := range map[string]string{
		"/buildid/abcd12/source/b%20c.c":                              "buildid/abcd12/source/b c.c",
		"/buildid/abcd12/source/~!":                                   "buildid/abcd12/source/~!",
		"/buildid/abcd12/source/a%0D%0ASet-Cookie:%20x%01%20%C3%A9.c": "",
	} {
		if want == "" {
			write(t, filepath.Join(dir, "buildid", "abcd12", "source", "a\r\nSet-Cookie: x\x01 é.c"), []byte("text"))
			want = "buildid/abcd12/source/a%0D%0ASet-Cookie:%20x%01%20%C3%A9.c"
		}
		r := ask(t, s, http.MethodGet, path, nil)
		if got := r.Header.Get("X-DEBUGINFOD-FILE"); r.StatusCode != 200 || got != want {
			t.Errorf("%s: %d %q, want %q", path, r.StatusCode, got, want)
		}
	}
}

// A compressed request is refused because of its encoding, not as malformed JSON.
func TestCompressedRequest(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}})
	for encoding, want := range map[string]int{"gzip": 415, "identity": 200, "": 200} {
		r := ask(t, s, http.MethodPost, "/symbolicate/v5", stacks("a", 1), "Content-Encoding", encoding)
		if r.StatusCode != want || (want == 415) != (r.Header.Get("Accept-Encoding") == "identity") {
			t.Errorf("%q: %d %v", encoding, r.StatusCode, r.Header)
		}
	}
}

// A prefix is compared with paths as they are sent.
func TestPrefixCharacters(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a.so", "AB0", ".sym", symbolText("a.so", "AB0", 10))
	s, _ := newServer(t, Config{Dirs: []string{dir}, Prefix: "/sümbols and more"})
	if r := ask(t, s, http.MethodGet, "/s%C3%BCmbols%20and%20more/a.so/AB0/a.so.sym", nil); r.StatusCode != 200 {
		t.Error(r.Status)
	}
}
