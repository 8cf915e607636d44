package upload

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file that is listed twice shares the result of the first upload. If that failed, the
// file does not count as done, and a later run with the same list sends it.
func TestTwiceFailed(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "a.sym"), symbolText("a", "AB1", 3))
	b := write(t, filepath.Join(dir, "b.sym"), symbolText("a", "AB1", 3))
	for _, protocol := range Protocols[:4] {
		for _, jobs := range []int{1, 3} {
			t.Run(fmt.Sprint(protocol, jobs), func(t *testing.T) {
				list := filepath.Join(t.TempDir(), "list")
				s := newCrashServer(t)
				broken := true
				s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
					if broken && r.Method != http.MethodHead {
						w.WriteHeader(http.StatusForbidden)
					}
					return broken && r.Method != http.MethodHead
				}
				run := func() string {
					resume, err := OpenResume(list)
					if err != nil {
						t.Fatal(err)
					}
					defer resume.Close()
					return outcomes(send(t, Options{Protocol: protocol, URL: s.URL + protocolPaths[protocol], Jobs: jobs, Resume: resume}, a, b))
				}
				got := strings.Split(run(), "\n")
				if !strings.HasPrefix(got[0], "failed: ") || got[1] != "failed: "+a+", which has the same text, failed" {
					t.Errorf("%q", got)
				}
				if text := read(t, list); text != "" {
					t.Errorf("the list has %q", text)
				}
				broken = false
				if got := run(); got != "uploaded\npresent" || len(s.files) != 1 {
					t.Errorf("%s, %d files", got, len(s.files))
				}
			})
		}
	}
}

// never is a time longer than the client waits.
const never = -1

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		text, server string // Retry-After, Date
		want         time.Duration
	}{
		{"", "", 0}, {"soon", "", 0}, {"-5", "", 0}, {"1.5", "", 0}, {"0", "", 0}, {" 7 ", "", 7 * time.Second},
		{"99999999999", "", never}, {strings.Repeat("9", 400), "", never}, {"2147483648", "", never},
		{date(time.Minute), "", time.Minute}, {date(-time.Minute), "", 0},
		// The clocks of client and server differ; the server's counts.
		{date(time.Hour + 5*time.Second), date(time.Hour), 5 * time.Second},
		{date(-time.Hour + 5*time.Second), date(-time.Hour), 5 * time.Second},
		{date(time.Minute), "yesterday", time.Minute},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "", never},
		{"Mon, 01 Jan 0001 00:00:00 GMT", "", 0},
	} {
		h := http.Header{"Retry-After": {c.text}}
		if c.server != "" {
			h.Set("Date", c.server)
		}
		got := retryAfter(h, now)
		if c.want == never && got > maxRetryAfter {
			continue
		}
		if got != c.want {
			t.Errorf("%q, Date %q: %v, want %v", c.text, c.server, got, c.want)
		}
	}
}

// A secret that a server echoes is hidden even if the message is cut in the middle of it,
// and in the encoding of the header.
func TestHiddenWhereItIsCut(t *testing.T) {
	const token, password = "t0ken-which-is-long", "passw0rd"
	basic := base64.StdEncoding.EncodeToString([]byte("me:" + password))
	path := symbols(t, 1)[0]
	for n := range 40 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, "%s %s%s", basic, strings.Repeat("x", maxSays-40-len(basic)+n), token)
		}))
		u := strings.Replace(s.URL, "//", "//me:"+password+"@", 1)
		got := outcomes(send(t, Options{Protocol: V1, URL: u, Token: token, Jobs: 1}, path))
		s.Close()
		if strings.Contains(got, token[:3]) || strings.Contains(got, basic) {
			t.Fatalf("%d: %s", n, got)
		}
	}
}

// A named pipe is refused, and does not block until its other end is opened.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "a.sym")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	result := make(chan string, 1)
	go func() { result <- outcomes(send(t, Options{Protocol: Put, URL: "http://127.0.0.1:1/"}, pipe)) }()
	select {
	case got := <-result:
		if !strings.HasPrefix(got, "rejected: not a regular file") {
			t.Error(got)
		}
	case <-time.After(time.Minute):
		t.Fatal("upload blocks")
	}
}

// Answers from the server of an uploadUrl do not count for the symbol server: its 401 does
// not end the run, and its Retry-After does not delay other requests.
func TestForeignFailures(t *testing.T) {
	paths := symbols(t, 3)
	s := newCrashServer(t)
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "k1") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parked[strings.TrimPrefix(r.URL.Path, "/parked/")] = "x"
	}))
	t.Cleanup(bucket.Close)
	s.uploadURL = func(key string) string { return bucket.URL + "/parked/" + key }
	got := strings.Split(outcomes(send(t, Options{Protocol: V2, URL: s.URL + "/api", Jobs: 1}, paths...)), "\n")
	if !strings.HasPrefix(got[0], "failed: ") || got[1] != "uploaded" || got[2] != "uploaded" {
		t.Errorf("%q", got)
	}
}

// The user's own User-Agent is sent.
func TestUserAgent(t *testing.T) {
	s := newCrashServer(t)
	path := symbols(t, 1)[0]
	send(t, Options{Protocol: Put, URL: s.URL, UserAgent: "symtool", Header: http.Header{"User-Agent": {"mine/1"}}}, path)
	if got := s.heads[0].Get("User-Agent"); got != "mine/1" {
		t.Error(got)
	}
}

// An answer with 200 to the list of parts is not a success unless it has a result: a proxy
// may truncate it, or answer by itself. The multipart upload is then aborted.
func TestPartsAnswer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the secret")
	path := symbols(t, 1)[0]
	for _, c := range []struct{ answer, want string }{
		{"<CompleteMultipartUploadResult><ETag>\"x-1\"</ETag></CompleteMultipartUploadResult>", "uploaded"},
		{"<?xml version=\"1.0\"?>\n\n <CompleteMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>", "uploaded"},
		{" \n<Error><Code>InternalError</Code><Message>try</Message></Error>", "failed: InternalError: try"},
		{"", "failed: the answer to the list of parts is not a CompleteMultipartUploadResult"},
		{"   ", "failed: the answer to the list of parts is not a CompleteMultipartUploadResult"},
		{"<html>log in</html>", "failed: the answer to the list of parts is not a CompleteMultipartUploadResult"},
		{"<CompleteMultipartUploadResult><ETag>", "failed: the answer to the list of parts is not a CompleteMultipartUploadResult"},
	} {
		aborted := false
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			switch query := r.URL.Query(); {
			case r.Method == http.MethodHead:
				w.WriteHeader(http.StatusNotFound)
			case query.Has("uploads"):
				fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>a+b/c=</UploadId></InitiateMultipartUploadResult>")
			case query.Get("uploadId") != "a+b/c=":
				w.WriteHeader(http.StatusNotFound)
			case r.Method == http.MethodPost:
				fmt.Fprint(w, c.answer)
			case r.Method == http.MethodDelete:
				aborted = true
				w.WriteHeader(http.StatusNoContent)
			}
		}))
		o := Options{Protocol: S3, URL: "s3://bucket", Endpoint: s.URL, Jobs: 1, partThreshold: 10, partSize: 64}
		results, err := trySend(context.Background(), t, o, path)
		s.Close()
		if got := outcomes(results); err != nil || got != c.want || aborted == (c.want == "uploaded") {
			t.Errorf("%q: %s, aborted %v, %v; want %s", c.answer, got, aborted, err, c.want)
		}
	}
}

// A panic while one file is handled ends the run, which does not hang.
func TestPanic(t *testing.T) {
	u, err := New(Options{Protocol: Put, URL: "http://127.0.0.1:1/", Gzip: true, Jobs: 3, Temporary: func(_ string, exists bool) {
		if exists {
			panic("by a test")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "none") // comes after those that panic
	ended := make(chan error, 1)
	go func() { ended <- u.Run(context.Background(), append(symbols(t, 1), bad, bad), func(*Result) {}) }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "by a test") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("upload blocks")
	}
}

// A list that ends in zeros, as after a power failure, is continued after them.
func TestResumeZeros(t *testing.T) {
	s := newCrashServer(t)
	paths := symbols(t, 2)
	list := filepath.Join(t.TempDir(), "list")
	run := func(paths ...string) string {
		resume, err := OpenResume(list)
		if err != nil {
			t.Fatal(err)
		}
		defer resume.Close()
		return outcomes(send(t, Options{Protocol: V1, URL: s.URL + "/v1form", Resume: resume}, paths...))
	}
	if got := run(paths[0]); got != "uploaded" {
		t.Fatal(got)
	}
	write(t, list, read(t, list)+strings.Repeat("\x00", 5000))
	if got := run(paths...); got != "resumed\nuploaded" {
		t.Error(got)
	}
	if got := run(paths...); got != "resumed\nresumed" {
		t.Error(got)
	}
}
