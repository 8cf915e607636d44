package upload

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// unpack unpacks a zip as Tecken does: NAME/HEX/FILE only. Existing files of the same
// size are skipped.
func (s *crashServer) unpack(text string) (skipped []string, err error) {
	z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	skipped = []string{}
	for _, f := range z.File {
		parts := strings.Split(f.Name, "/")
		if len(parts) != 3 || strings.Trim(parts[1], "0123456789abcdefABCDEF") != "" {
			return nil, fmt.Errorf("unrecognized file pattern %s", f.Name)
		}
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		got, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		if old, ok := s.files[f.Name]; ok && len(old) == len(got) {
			skipped = append(skipped, "v1/"+f.Name)
		}
		s.files[f.Name] = string(got)
		s.mu.Unlock()
	}
	return skipped, nil
}

// Each protocol uploads all bytes of plain, gzip and zstd files, and finds them on the server
// the second time.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		o     Options
		path  string // after the server's URL
		key   func(name, id string) string
		again string // the second outcome
		asks  string // the requests for one file
	}{
		{Options{Protocol: Put, Token: "s3cret"}, "/sym?x=1", func(n, i string) string { return "/sym/" + n + "/" + i + "/" + n + ".sym" }, "present",
			"HEAD /sym/N/I/N.sym?x=1, PUT /sym/N/I/N.sym?x=1"},
		{Options{Protocol: V1, Fields: []Field{{"version", "1.2"}, {"product", "p \"q\"\r\n"}}}, "/v1form?token=abc", func(n, i string) string { return n + "/" + i }, "uploaded",
			"POST /v1form?token=abc"},
		{Options{Protocol: V2, Token: "k&y 1"}, "/api/", func(n, i string) string { return n + "/" + i }, "present",
			"GET /api/v1/symbols/N/I:checkStatus?key=k%26y+1, POST /api/v1/uploads:create?key=k%26y+1, PUT /parked/k1, POST /api/v1/uploads/k1:complete?key=k%26y+1"},
		{Options{Protocol: Zip, Token: "s3cret"}, "/zip", func(n, i string) string { return n + "/" + i + "/" + n + ".sym" }, "present",
			"POST /zip"},
	} {
		t.Run(string(c.o.Protocol), func(t *testing.T) {
			s := newCrashServer(t)
			if c.o.Protocol == V2 {
				s.key = c.o.Token
			}
			paths, want := compressedSymbols(t, c.key)
			c.o.URL = s.URL + c.path
			first := send(t, c.o, paths[0])
			n, i := first[0].Place.Name, first[0].Place.ID
			asks := strings.Join(s.asked, ", ")
			asks = strings.ReplaceAll(strings.ReplaceAll(asks, url.PathEscape(n), "N"), i, "I")
			if got := outcomes(first); got != "uploaded" || asks != c.asks || first[0].Tries != 1 {
				t.Errorf("%s\n%s\nwant %s\n%d tries", got, asks, c.asks, first[0].Tries)
			}
			results := send(t, c.o, paths[1:]...)
			if got := outcomes(results); got != "uploaded\nuploaded" {
				t.Errorf("%s", got)
			}
			if !maps.Equal(s.files, want) {
				t.Errorf("the server has %d files %q, want %q", len(s.files), slices.Sorted(maps.Keys(s.files)), slices.Sorted(maps.Keys(want)))
			}
			results = send(t, c.o, paths...)
			if got := outcomes(results); got != strings.Join([]string{c.again, c.again, c.again}, "\n") {
				t.Errorf("again: %s", got)
			}
			if c.o.Protocol == Put && (s.heads[0].Get("Authorization") != "Bearer s3cret" || s.heads[0].Get("Accept-Encoding") != "identity") ||
				c.o.Protocol == Zip && s.heads[0].Get("Auth-Token") != "s3cret" {
				t.Errorf("headers %v", s.heads[0])
			}
		})
	}
}

// compressedSymbols returns three symbol files: plain, gzip, zstd. want are their texts.
func compressedSymbols(t *testing.T, key func(name, id string) string) (paths []string, want map[string]string) {
	dir, want := t.TempDir(), map[string]string{}
	pack := map[string]func(io.Writer) io.WriteCloser{
		".gz":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		".zst": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	}
	for i, ext := range []string{"", ".gz", ".zst"} {
		name, id := fmt.Sprintf("lib é%d.so", i), fmt.Sprintf("%032XA", i+1)
		text := symbolText(name, id, 2000)
		want[key(name, id)] = text
		var b bytes.Buffer
		if p := pack[ext]; p != nil {
			z := p(&b)
			io.WriteString(z, text)
			z.Close()
		} else {
			b.WriteString(text)
		}
		paths = append(paths, write(t, filepath.Join(dir, "file.sym"+ext), b.String()))
	}
	return paths, want
}

// Names in requests are escaped, and forms have the same fields as Breakpad's.
func TestV1(t *testing.T) {
	s := newCrashServer(t)
	path := write(t, filepath.Join(t.TempDir(), "a.sym"), "MODULE windows x86 ABCDEF012 a b\"c.pdb\nINFO CODE_ID 5F a.dll\nPUBLIC 10 0 f\n")
	o := Options{Protocol: V1, URL: s.URL + "/v1form", Fields: []Field{{"version", "1.2.3"}, {"cpu", "mine"}}}
	if got := outcomes(send(t, o, path)); got != "uploaded" {
		t.Fatal(got)
	}
	want := map[string]string{
		"os": "windows", "cpu": "mine", "debug_file": "a b\"c.pdb", "debug_identifier": "ABCDEF012", "code_file": "a.dll", "code_identifier": "5F",
		"version": "1.2.3", "symbol_file": read(t, path), "filename symbol_file": "a b%22c.sym",
	}
	if !maps.Equal(s.forms[0], want) {
		t.Errorf("%q\nwant %q", s.forms[0], want)
	}
}

// The bytes, dates and sizes of zips do not depend on the order of work.
func TestZip(t *testing.T) {
	paths := symbols(t, 12)
	var first []string
	for _, jobs := range []int{1, 4} {
		for _, when := range []int64{0, 1234567890} {
			s := newCrashServer(t)
			o := Options{Protocol: Zip, URL: s.URL + "/zip", Jobs: jobs, ZipSize: 8000, ZipTime: time.Unix(when, 0)}
			results := send(t, o, paths...)
			for _, r := range results {
				if r.Err != nil {
					t.Error(r.Err)
				}
			}
			var zips []string
			for _, f := range s.forms {
				text := f["symbols.zip"]
				zips = append(zips, text)
				if len(text) > 8000 || f["filename symbols.zip"] != "symbols.zip" {
					t.Errorf("a zip of %d bytes, %q", len(text), f["filename symbols.zip"])
				}
				z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
				if err != nil {
					t.Fatal(err)
				}
				want := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
				if when > 0 {
					want = time.Unix(when, 0).UTC()
				}
				for _, f := range z.File {
					if !f.Modified.Equal(want) {
						t.Errorf("%s is of %v, want %v", f.Name, f.Modified, want)
					}
				}
			}
			slices.Sort(zips)
			if len(s.files) != 12 || len(zips) < 3 {
				t.Errorf("%d files in %d zips", len(s.files), len(zips))
			}
			if when == 0 && first == nil {
				first = zips
			} else if when == 0 && !slices.Equal(first, zips) {
				t.Errorf("zips differ with %d jobs", jobs)
			}
		}
	}
}

// The computed size is the zip's size.
func TestZipSize(t *testing.T) {
	paths := symbols(t, 3)
	s := newCrashServer(t)
	send(t, Options{Protocol: Zip, URL: s.URL + "/zip"}, paths...)
	exact := int64(len(s.forms[0]["symbols.zip"]))
	for limit, zips := range map[int64]int{exact: 1, exact - 1: 2} {
		s := newCrashServer(t)
		send(t, Options{Protocol: Zip, URL: s.URL + "/zip", ZipSize: limit}, paths...)
		if len(s.forms) != zips {
			t.Errorf("%d zips with a limit of %d, want %d", len(s.forms), limit, zips)
		}
	}
	s = newCrashServer(t)
	results := send(t, Options{Protocol: Zip, URL: s.URL + "/zip", ZipSize: 700}, paths...)
	got := outcomes(results)
	if !strings.HasPrefix(got, "uploaded\nfailed: in a zip it takes ") || !strings.Contains(got, " bytes, more than the limit of 700") {
		t.Error(got)
	}
}

// A file that cannot be sent is rejected alone, and no part of it is sent.
func TestRejected(t *testing.T) {
	dir := t.TempDir()
	good := symbols(t, 1)[0]
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "is empty"},
		"cut":       {"MODULE Linux x86_64 AB a\nFUNC 1000", "2:10: FUNC: the file ends inside this line: want a line feed"},
		"no module": {"FUNC 1000 10 0 f\n", "no complete MODULE record: its module is unknown"},
		"name":      {"MODULE Linux x86_64 AB ..\n", `MODULE name "..": is not the name of a file`},
		"id":        {"MODULE Linux x86_64 A/B a\n", `MODULE: id "A/B": want hexadecimal digits`},
		"terminal":  {"MODULE Linux x86_64 AB a\x1b[31m\n", `MODULE name "a\x1b[31m": has the control character U+001B`},
		"gzip":      {"\x1f\x8b\x08\x00 no gzip", "gzip"},
		"ELF":       {"\x7fELF\x02\x01\x01", ""},
	} {
		for _, p := range []Protocol{V1, V2, Put, Zip} {
			s := newCrashServer(t)
			bad := write(t, filepath.Join(dir, "bad.sym"), c.text)
			path := map[Protocol]string{V1: "/v1form", V2: "/api", Zip: "/zip"}[p]
			results := send(t, Options{Protocol: p, URL: s.URL + path, Gzip: p == Put}, bad, good, filepath.Join(dir, "nowhere"), dir)
			if r := results[0]; r.Outcome != Rejected || !strings.Contains(r.Err.Error(), c.want) {
				t.Errorf("%s, %s: %v %v, want %s", name, p, r.Outcome, r.Err, c.want)
			}
			if got := outcomes(results[1:]); !strings.HasPrefix(got, "uploaded\nrejected: open ") || !strings.HasSuffix(got, "\nrejected: not a regular file") {
				t.Errorf("%s, %s: %s", name, p, got)
			}
			if len(s.files) != 1 {
				t.Errorf("%s, %s: the server has %d files", name, p, len(s.files))
			}
		}
	}
}

// Files that go to the same place: the first one wins, with any number of jobs.
func TestTwice(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "a.sym"), symbolText("a", "AB1", 3))
	b := write(t, filepath.Join(dir, "b.sym"), symbolText("a", "AB1", 4))
	c := write(t, filepath.Join(dir, "c.sym"), symbolText("a", "AB1", 3))
	for range 20 {
		s := newCrashServer(t)
		got := outcomes(send(t, Options{Protocol: Put, URL: s.URL, Jobs: 3}, a, b, c))
		if want := "uploaded\nfailed: " + a + " goes to the same place and has another text\npresent"; got != want {
			t.Fatalf("%s\nwant %s", got, want)
		}
	}
}

func TestGzip(t *testing.T) {
	s := newCrashServer(t)
	path := symbols(t, 1)[0]
	o := Options{Protocol: Put, URL: s.URL, Gzip: true}
	r := send(t, o, path)[0]
	put := s.heads[1]
	z, err := gzip.NewReader(strings.NewReader(s.files["/lib0.so/"+r.Place.ID+"/lib0.so.sym"]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || string(text) != read(t, path) || put.Get("Content-Encoding") != "gzip" || put.Get("Content-Length") != fmt.Sprint(r.Bytes) {
		t.Errorf("%d bytes, %v, %v", len(text), err, put)
	}
}

// A dry run sends no requests.
func TestDryRun(t *testing.T) {
	for _, p := range []Protocol{V1, V2, Put, Zip} {
		s := newCrashServer(t)
		results := send(t, Options{Protocol: p, URL: s.URL, DryRun: true}, symbols(t, 2)...)
		if got := outcomes(results); got != "planned\nplanned" || len(s.asked) > 0 {
			t.Errorf("%s: %s, asked %q", p, got, s.asked)
		}
	}
}
