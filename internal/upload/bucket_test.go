package upload

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// keys sets AWS's environment variables, and provides no credentials in files.
func keys(t *testing.T, id, secret string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": id, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "", "AWS_ACCESS_KEY": "", "AWS_SECRET_KEY": "",
		"AWS_PROFILE": "", "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_CONFIG_FILE": none,
	} {
		t.Setenv(name, value)
	}
}

// The addresses of objects.
func TestBucketAddresses(t *testing.T) {
	f := &file{Inspected: store.Inspected{Ext: ".sym", Place: store.Place{Name: "a b.pdb", ID: "AB0", Stem: "a b"}}}
	for _, c := range []struct {
		o           Options
		object, url string // the address of an object, and the URL in messages
	}{
		{Options{URL: "s3://symbols"}, "https://symbols.s3.us-east-1.amazonaws.com/a%20b.pdb/AB0/a%20b.sym", "s3://symbols/a%20b.pdb/AB0/a%20b.sym"},
		{Options{URL: "s3://symbols//x/y+/", Region: "eu-west-1"}, "https://symbols.s3.eu-west-1.amazonaws.com/x/y%2B/a%20b.pdb/AB0/a%20b.sym", "s3://symbols/x/y+/a%20b.pdb/AB0/a%20b.sym"},
		{Options{URL: "s3://symbols", Region: "cn-north-1"}, "https://symbols.s3.cn-north-1.amazonaws.com.cn/a%20b.pdb/AB0/a%20b.sym", "s3://symbols/a%20b.pdb/AB0/a%20b.sym"},
		{Options{URL: "s3://my.symbols"}, "https://s3.us-east-1.amazonaws.com/my.symbols/a%20b.pdb/AB0/a%20b.sym", "s3://my.symbols/a%20b.pdb/AB0/a%20b.sym"},
		{Options{URL: "s3://Symbols"}, "https://s3.us-east-1.amazonaws.com/Symbols/a%20b.pdb/AB0/a%20b.sym", "s3://Symbols/a%20b.pdb/AB0/a%20b.sym"},
		{Options{URL: "s3://symbols/x", Endpoint: "http://h:9000/s3/"}, "http://h:9000/s3/symbols/x/a%20b.pdb/AB0/a%20b.sym", "http://h:9000/s3/symbols/x/a%20b.pdb/AB0/a%20b.sym"},
	} {
		c.o.Protocol = S3
		u, err := New(c.o)
		if err != nil {
			t.Errorf("%s: %v", c.o.URL, err)
			continue
		}
		b := u.target.(*bucket)
		if got := b.object(b.key(f)).String(); got != c.object || b.url(f) != c.url {
			t.Errorf("%s: %s and %s, want %s and %s", c.o.URL, got, b.url(f), c.object, c.url)
		}
	}
	for _, c := range []struct{ url, region, endpoint, want string }{
		{"s3:/symbols", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"}, {"s3://", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"}, {"http://symbols", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"},
		{"s3://u:p@symbols", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"}, {"s3://symbols?a", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"}, {"s3://symbols#a", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"},
		{"s3://s", "", "", `"s" is not the name of a bucket`}, {"s3://sym..bols", "", "", `"sym..bols" is not the name of a bucket`}, {"s3://sym_%2f", "", "", "want s3://BUCKET or s3://BUCKET/PREFIX"},
		{"s3://symbols/a/../b", "", "", `".." in s3://BUCKET/PREFIX is not the name of a folder`}, {"s3://symbols/a//b", "", "", `"" in s3://BUCKET/PREFIX is not the name of a folder`}, {"s3://symbols/.", "", "", `"." in s3://BUCKET/PREFIX is not the name of a folder`},
		{"s3://symbols", "eu/x", "", `"eu/x" is not the name of a region`}, {"s3://symbols", "", "ftp://h", `endpoint: "ftp://h" is not an http: or https: URL`},
	} {
		if _, err := New(Options{Protocol: S3, URL: c.url, Region: c.region, Endpoint: c.endpoint}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.url, err, c.want)
		}
	}
}

// fakeBucket answers HEAD and PUT as configured.
type fakeBucket struct {
	mu    sync.Mutex
	head  func(h http.Header) int
	put   http.Header
	asked []string
}

func (b *fakeBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r.Method)
	if !strings.Contains(r.Header.Get("Authorization"), "Credential=AKID/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(b.head(w.Header()))
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	for name, values := range b.put {
		w.Header()[name] = values
	}
}

// An object counts as the file if its SHA-256 is equal or, without one, its MD5 if the tag is
// one, and if the size is equal.
func TestBucketHas(t *testing.T) {
	keys(t, "AKID", "secret")
	path := symbols(t, 1)[0]
	text := read(t, path)
	sha, sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text))), fmt.Sprintf("%x", md5.Sum([]byte(text)))
	size, other := fmt.Sprint(len(text)), strings.Repeat("0", 32)
	for _, c := range []struct {
		name   string
		status int
		fields []string
		want   string
	}{
		{"by SHA-256", 200, []string{"Content-Length", size, shaKey, sha}, "present"},
		{"by SHA-256, whatever its tag", 200, []string{"Content-Length", size, shaKey, sha, "ETag", `"` + other + `"`}, "present"},
		{"another SHA-256", 200, []string{"Content-Length", size, shaKey, strings.Repeat("0", 64), "ETag", `"` + sum + `"`}, "uploaded"},
		{"by MD5", 200, []string{"Content-Length", size, "ETag", `"` + strings.ToUpper(sum) + `"`}, "present"},
		{"another MD5", 200, []string{"Content-Length", size, "ETag", `"` + other + `"`}, "uploaded"},
		{"encrypted", 200, []string{"Content-Length", size, "ETag", `"` + other + `"`, kmsKey, "k"}, "present"},
		{"in parts", 200, []string{"Content-Length", size, "ETag", `"` + other + `-2"`}, "present"},
		{"another size", 200, []string{"Content-Length", size + "0", "ETag", `"` + sum + `"`}, "uploaded"},
		{"another size, by SHA-256", 200, []string{"Content-Length", size + "0", shaKey, sha}, "uploaded"},
		{"not there", 404, nil, "uploaded"},
		{"no right to list", 403, nil, "uploaded"},
		{"no right at all", 401, nil, "failed: 401 Unauthorized"},
		{"not now", 500, nil, "failed: 500 Internal Server Error"},
	} {
		b := &fakeBucket{head: func(h http.Header) int {
			for i := 0; i < len(c.fields); i += 2 {
				h.Set(c.fields[i], c.fields[i+1])
			}
			return c.status
		}}
		h := httptest.NewServer(b)
		o := Options{Protocol: S3, URL: "s3://symbols", Endpoint: h.URL, NoRole: true}
		if got := outcomes(send(t, o, path)); got != c.want {
			t.Errorf("%s: %s, want %s (%q)", c.name, got, c.want, b.asked)
		}
		o.Force = true
		if got := outcomes(send(t, o, path)); got != "uploaded" {
			t.Errorf("%s: by force: %s", c.name, got)
		}
		h.Close()
	}
	// The uploaded object is compared, too.
	for tag, want := range map[string]string{`"` + sum + `"`: "uploaded", `"` + other + `"`: "failed: ", `"` + other + `" encrypted`: "uploaded", `"` + other + `-1"`: "uploaded", "": "uploaded"} {
		b := &fakeBucket{head: func(http.Header) int { return 404 }, put: http.Header{}}
		tag, encrypted := strings.CutSuffix(tag, " encrypted")
		if b.put.Set("ETag", tag); encrypted {
			b.put.Set(kmsKey, "k")
		}
		h := httptest.NewServer(b)
		results := send(t, Options{Protocol: S3, URL: "s3://symbols", Endpoint: h.URL, NoRole: true}, path)
		if got := outcomes(results); !strings.HasPrefix(got, want) || !strings.HasPrefix(results[0].Target, h.URL+"/symbols/") {
			t.Errorf("answered by tag %s: %s to %s, want %s", tag, got, results[0].Target, want)
		}
		h.Close()
	}
}

// A body whose file changes has the old bytes, or ends early.
func TestBodyReader(t *testing.T) {
	for _, c := range []struct {
		now, want string
		changed   bool
	}{
		{"01234", "01234", false}, {"0123456789", "01234", false}, {"0123", "", true}, {"", "", true}, {"01235", "", true}, {"012350", "", true},
	} {
		b := bytesBody([]byte("01234"))
		b.open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.now)), nil }
		var progress []int64
		in, err := b.reader(func(sent int64) { progress = append(progress, sent) })
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if errors.Is(err, errChanged) != c.changed || !c.changed && (err != nil || string(got) != c.want || fmt.Sprint(progress) != "[5]") || c.changed && len(got) == 5 {
			t.Errorf("%q: %q, %v, progress %v", c.now, got, err, progress)
		}
		if _, again := in.Read(make([]byte, 1)); c.changed && !errors.Is(again, errChanged) || !c.changed && again != io.EOF {
			t.Errorf("%q: read again: %v", c.now, again)
		}
	}
}

// If the server asks to wait, all requests wait; if another server does, only the request to it
// waits.
func TestWaitOfAll(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		u, err := New(Options{Protocol: Put, URL: "http://h/"})
		if err != nil {
			t.Fatal(err)
		}
		w, err := u.client.backOff(0, &statusError{code: 503, after: 30 * time.Second}, foreign)
		if err != nil || w.d != 30*time.Second {
			t.Errorf("%+v, %v", w, err)
		}
		if all := time.Until(u.client.notBefore); foreign != (all <= 0) || all > 30*time.Second || !foreign && all < 20*time.Second {
			t.Errorf("of another %v: all wait %v", foreign, all)
		}
		before := u.client.notBefore
		if w, err = u.client.backOff(0, &statusError{code: 503, after: time.Second}, foreign); err != nil || !u.client.notBefore.Equal(before) || w.d < time.Second {
			t.Errorf("a shorter wait: %+v, %v, %v", w, u.client.notBefore.Sub(before), err)
		}
	}
}

// Without credentials nothing is asked for, and the reasons are reported.
func TestNoCredentials(t *testing.T) {
	keys(t, "", "")
	asked := 0
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer h.Close()
	o := Options{Protocol: S3, URL: "s3://symbols", Endpoint: h.URL, NoRole: true, Jobs: 1}
	const want = "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for AWS's files"
	results := send(t, o, symbols(t, 2)...)
	if got := outcomes(results); got != "failed: "+want+"\nfailed: "+want || asked > 0 {
		t.Errorf("%s; %d requests", got, asked)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write(t, filepath.Join(t.TempDir(), "credentials"), "[default\n"))
	if got := outcomes(send(t, o, symbols(t, 1)...)); !strings.HasPrefix(got, "failed: "+want+" (AWS's files: ") {
		t.Error(got)
	}
}

// What is meant for a server is sent to it, also over https.
func TestSameServer(t *testing.T) {
	for _, c := range []struct {
		to, base string
		want     bool
	}{
		{"http://h/x", "http://h/y", true}, {"http://h:80/", "http://h/", true}, {"https://h:443/", "https://h/", true}, {"http://h:81/", "http://h/", false}, {"http://g/", "http://h/", false},
		{"https://h/", "http://h/", true}, {"https://h:443/", "http://h:80/", true}, {"https://h:444/", "http://h/", false}, {"https://h/", "http://h:81/", false},
		{"http://h/", "https://h/", false}, {"http://h:443/", "https://h/", false}, {"https://h:80/", "http://h/", false},
	} {
		to, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		base, err := url.Parse(c.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameServer(to, base); got != c.want {
			t.Errorf("%s for %s: %v", c.to, c.base, got)
		}
	}
}

func TestDOSTime(t *testing.T) {
	for in, want := range map[string]string{
		"1970-01-01T00:00:00Z": "1980-01-01 00:00:00", "1979-12-31T23:59:59Z": "1980-01-01 00:00:00", "1980-01-01T00:00:03Z": "1980-01-01 00:00:02", "1980-06-07T08:09:10Z": "1980-06-07 08:09:10",
		"2024-02-29T23:59:59+01:00": "2024-02-29 22:59:58", "2107-12-31T01:02:03Z": "2107-12-31 01:02:02", "2108-01-01T00:00:00Z": "2107-12-31 23:59:58",
	} {
		at, err := time.Parse(time.RFC3339, in)
		if err != nil {
			t.Fatal(err)
		}
		d, c := dosTime(at)
		if got := fmt.Sprintf("%d-%02d-%02d %02d:%02d:%02d", d>>9+1980, d>>5&15, d&31, c>>11, c>>5&63, c&31*2); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// The longest secret is hidden first: one that is the beginning of another would leave the rest.
func TestSecretInSecret(t *testing.T) {
	for _, order := range [][]string{{"abcd", "abcdEFGH"}, {"abcdEFGH", "abcd"}} {
		s := &secrets{}
		for _, secret := range order {
			s.add(secret)
		}
		if got := s.redact("x abcdEFGH abcd"); got != "x [hidden] [hidden]" {
			t.Errorf("%q: %s", order, got)
		}
	}
}

// A file that is removed before it is sent, a malformed key, incomplete answers, and a
// file that a server has in another form.
func TestHalves(t *testing.T) {
	path := symbols(t, 1)[0]
	s := newCrashServer(t)
	if got := outcomes(send(t, Options{Protocol: V2, URL: s.URL + "/api"}, path)); got != "uploaded" || strings.Contains(strings.Join(s.asked, " "), "key=") {
		t.Errorf("without a key: %s, %q", got, s.asked)
	}
	for _, answer := range []string{`{}`, `{"uploadUrl": "` + s.URL + `/parked/x"}`, `{"uploadKey": "x"}`} {
		s := newCrashServer(t)
		s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/uploads:create") {
				io.WriteString(w, answer)
				return true
			}
			return false
		}
		if got := outcomes(send(t, Options{Protocol: V2, URL: s.URL + "/api"}, path)); got != "failed: create: the answer has no uploadUrl and uploadKey" {
			t.Errorf("%s: %s", answer, got)
		}
	}
	size := fmt.Sprint(len(read(t, path)))
	for coding, want := range map[string]string{"": "present", "identity": "present", "gzip": "uploaded", "br": "uploaded"} {
		s := newCrashServer(t)
		s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				w.Header().Set("Content-Length", size)
				if coding != "" {
					w.Header().Set("Content-Encoding", coding)
				}
			}
			return r.Method == http.MethodHead
		}
		if got := outcomes(send(t, Options{Protocol: Put, URL: s.URL + "/sym"}, path)); got != want {
			t.Errorf("in the form %q: %s, want %s", coding, got, want)
		}
	}
	s = newCrashServer(t)
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			os.Remove(path)
		}
		return false
	}
	got := outcomes(send(t, Options{Protocol: Put, URL: s.URL + "/sym"}, path))
	if !strings.HasPrefix(got, "failed: open ") || !strings.HasSuffix(got, ": no such file or directory") || len(s.files) > 0 {
		t.Errorf("a file that is gone: %s", got)
	}
}

// The longest names, and longer ones.
func TestLengthsOfNames(t *testing.T) {
	for n, is := range map[int]func(string) bool{255: isBucket, 64: isRegion} {
		if name := strings.Repeat("a", n); !is(name) || is(name+"a") {
			t.Errorf("names of %d and %d bytes: want only the first accepted", n, n+1)
		}
	}
}
