package symserver

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/symtool/symtool/resolve/store"
)

const (
	uploadID = "ABCDEF0123456789ABCDEF01234567890"
	uploadAt = "/a.so/" + uploadID + "/a.so.sym"
)

// hashed returns a line of a list of tokens.
func hashed(secret, role, name string) string {
	return fmt.Sprintf("%x %s %s\n", sha256.Sum256([]byte(secret)), role, name)
}

// tokens returns the tokens up, read and all, each with the role that its name suggests.
func tokens(t testing.TB) *Tokens {
	t.Helper()
	list, err := ReadTokens(strings.NewReader("# these\n\n" + hashed("up", "upload", "ci") + hashed("read", "read", "eyes") + hashed("all", "all", "root")))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// uploadServer returns a Server that accepts uploads, and its store.
func uploadServer(t testing.TB, cfg Config) (*Server, string) {
	t.Helper()
	dir := t.TempDir()
	cfg.Dirs, cfg.Tokens, cfg.AcceptUploads = []string{dir}, tokens(t), true
	s, _ := newServer(t, cfg)
	return s, dir
}

// contents returns the files of a folder with their contents.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestUploadPut puts files at their places, and elsewhere.
func TestUploadPut(t *testing.T) {
	text := symbolText("a.so", uploadID, 2000)
	other := symbolText("a.so", uploadID, 4000)
	long := symbolText("a.so", uploadID, 1<<20)
	for _, c := range []struct {
		name   string
		before []byte // what the store has
		path   string
		body   []byte
		fields []string
		status int
		want   string // in the answer
		stored []byte // what the store has then; nil for nothing
	}{
		{"new", nil, uploadAt, text, nil, 201, "added a.so/" + uploadID + "/a.so.sym", text},
		{"again", text, uploadAt, text, nil, 200, "same a.so/", text},
		{"other", text, uploadAt, other, nil, 409, "exists with other contents, and is kept", text},
		{"compressed", nil, uploadAt, gzipped(t, text), []string{"Content-Encoding", "gzip"}, 201, "added", text},
		{"compressed name", nil, uploadAt + ".gz", gzipped(t, text), nil, 201, "added", text},
		{"id in lower case", nil, strings.ToLower(uploadAt), text, nil, 201, "added a.so/" + uploadID, text},
		{"another module", nil, "/b.so/" + uploadID + "/b.so.sym", text, nil, 400, "MODULE is that of a.so/" + uploadID + ", want b.so/" + uploadID, nil},
		{"another id", nil, "/a.so/AB0/a.so.sym", text, nil, 400, "MODULE is that of", nil},
		{"no place", nil, "/a.so", text, nil, 405, "want GET or HEAD", nil},
		{"empty", nil, uploadAt, []byte{}, nil, 400, "is empty", nil},
		{"cut", nil, uploadAt, text[:len(text)-1], nil, 400, "the file ends inside this line: want a line feed", nil},
		{"damaged", nil, uploadAt, append(slices.Clone(text), "FUNC x\n"...), nil, 400, "1 record cannot be read: 125:6: FUNC", nil},
		{"not symbols", nil, uploadAt, []byte("<html>\n"), nil, 400, "record", nil},
		{"damaged gzip", nil, uploadAt, gzipped(t, text)[:100], nil, 400, "unexpected EOF", nil},
		{"a part", nil, uploadAt, text, []string{"Content-Range", "bytes 0-9/20"}, 400, "without Content-Range", nil},
		{"long", nil, uploadAt, long, nil, 413, "limit uploads to 100000 bytes", nil},
		{"long when decompressed", nil, uploadAt, gzipped(t, long), nil, 413, "limit uploads to 100000 bytes", nil},
		{"a program", nil, "/a.exe/AB0/a.exe", []byte("MZ"), nil, 405, "want GET or HEAD", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := uploadServer(t, Config{MaxUpload: 100_000})
			if c.before != nil {
				write(t, filepath.Join(dir, filepath.FromSlash(uploadAt)), c.before)
			}
			r := ask(t, s, "PUT", c.path, c.body, append([]string{"Authorization", "Bearer up"}, c.fields...)...)
			if got := body(t, r); r.StatusCode != c.status || !strings.Contains(got, c.want) {
				t.Errorf("PUT %s: %d, %q, want %d, %q", c.path, r.StatusCode, got, c.status, c.want)
			}
			want := map[string]string{}
			if c.stored != nil {
				want[strings.TrimPrefix(uploadAt, "/")] = string(c.stored)
			}
			if got := contents(t, dir); !maps.Equal(got, want) {
				t.Errorf("the store has %v, want %v", slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want)))
			}
		})
	}
}

// TestUploadCompressed checks that files are stored as Config says, and count as the same whether
// compressed or not.
func TestUploadCompressed(t *testing.T) {
	s, dir := uploadServer(t, Config{Compression: &store.Compressions[1]})
	text := symbolText("a.so", uploadID, 2000)
	for _, want := range []int{201, 200} {
		if r := ask(t, s, "PUT", uploadAt, text, "Auth-Token", "all"); r.StatusCode != want {
			t.Errorf("%s, want %d", r.Status, want)
		}
	}
	if got := slices.Collect(maps.Keys(contents(t, dir))); len(got) != 1 || got[0] != uploadAt[1:]+".zst" {
		t.Errorf("the store has %v", got)
	}
	if r := ask(t, s, "GET", uploadAt, nil); body(t, r) != string(text) {
		t.Errorf("GET: %s, another text", r.Status)
	}
}

// TestUploadProgram puts a program at the place of its id, and elsewhere.
func TestUploadProgram(t *testing.T) {
	s, dir := uploadServer(t, Config{ProgramID: func(r io.ReaderAt, size int64, path string) (string, error) {
		if size < 4 {
			return "", errors.New("is too short")
		}
		return "AB0", nil
	}})
	for path, want := range map[string]string{
		"/a.exe/ab0/a.exe": "201 added a.exe/AB0/a.exe\n",
		"/a.exe/AB1/a.exe": "400 its id is AB0, want AB1\n",
	} {
		r := ask(t, s, "PUT", path, []byte("MZ.."), "Authorization", "Bearer up")
		if got := fmt.Sprint(r.StatusCode, " ", body(t, r)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if r := ask(t, s, "PUT", "/b.exe/AB0/b.exe", []byte("MZ"), "Authorization", "Bearer up"); r.StatusCode != 400 {
		t.Errorf("damaged: %s", r.Status)
	}
	if got := contents(t, dir); len(got) != 1 || got["a.exe/AB0/a.exe"] != "MZ.." {
		t.Errorf("the store has %v", got)
	}
}

// TestUploadAccess asks with every token for everything, in a server that is private and in one that is not.
func TestUploadAccess(t *testing.T) {
	text := symbolText("a.so", uploadID, 2000)
	for _, c := range []struct {
		method, path  string
		open, private string // statuses with the tokens "", wrong, read, up and all
	}{
		{"PUT", uploadAt, "401 401 403 200 200", "401 401 403 200 200"},
		{"GET", uploadAt, "200 200 200 200 200", "401 401 200 403 200"},
		{"GET", "/", "200 200 200 200 200", "401 401 200 403 200"},
		{"GET", "/buildid/abcd/debuginfo", "404 404 404 404 404", "401 401 404 403 404"},
		{"GET", "/nothing", "404 404 404 404 404", "401 401 404 403 404"},
		{"GET", "/metrics", "200 200 200 200 200", "200 200 200 200 200"},
		{"GET", "/healthz", "200 200 200 200 200", "200 200 200 200 200"},
		{"POST", "/symbolicate/v5", "400 400 400 400 400", "401 401 400 403 400"},
		{"POST", "/upload", "401 401 403 415 415", "401 401 403 415 415"},
		{"POST", "/v1/uploads:create", "401 401 403 200 200", "401 401 403 200 200"},
		{"PUT", "/v1/uploads/abcd", "404 404 404 404 404", "404 404 404 404 404"},
		{"POST", "/v1/uploads/abcd:complete", "401 401 403 404 404", "401 401 403 404 404"},
		{"GET", "/v1/symbols/a.so/" + uploadID + ":checkStatus", "401 401 200 200 200", "401 401 200 200 200"},
		{"DELETE", uploadAt, "405 405 405 405 405", "405 405 405 405 405"},
	} {
		for _, private := range []bool{false, true} {
			s, dir := uploadServer(t, Config{Private: private})
			write(t, filepath.Join(dir, filepath.FromSlash(uploadAt)), text)
			var got []string
			for _, token := range []string{"", "wrong", "read", "up", "all"} {
				var in []byte
				if c.method != "GET" {
					in = text
				}
				r := ask(t, s, c.method, c.path, in, "Authorization", "Bearer "+token)
				got = append(got, fmt.Sprint(r.StatusCode))
				if challenge := r.Header.Values("WWW-Authenticate"); (r.StatusCode == 401) != (len(challenge) == 2) {
					t.Errorf("%s %s: %d, challenges %q", c.method, c.path, r.StatusCode, challenge)
				}
			}
			want := c.open
			if private {
				want = c.private
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s %s, private %v: %v, want %s", c.method, c.path, private, got, want)
			}
		}
	}
}

// TestSecretOf finds tokens where clients put them.
func TestSecretOf(t *testing.T) {
	basic := httptest.NewRequest("GET", "/", nil)
	basic.SetBasicAuth("anyone", "t1")
	bearer := httptest.NewRequest("GET", "/", nil)
	bearer.Header.Set("Authorization", "bearer t2")
	tecken := httptest.NewRequest("GET", "/", nil)
	tecken.Header.Set("Auth-Token", "t3")
	for want, r := range map[string]*http.Request{
		"t1": basic, "t2": bearer, "t3": tecken, "t4": httptest.NewRequest("GET", "/?key=t4", nil), "": httptest.NewRequest("GET", "/?q=x", nil),
	} {
		if got := secretOf(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestUploadForeign has a browser send a form that is on a page of another site.
func TestUploadForeign(t *testing.T) {
	contentType, form := multi(t, nil, "symbol_file", "a.so.sym", symbolText("a.so", uploadID, 100))
	for fetch, want := range map[string]int{"cross-site": 403, "same-origin": 200, "": 200} {
		s, dir := uploadServer(t, Config{})
		r := ask(t, s, "POST", "/upload", form, "Content-Type", contentType, "Auth-Token", "up", "Sec-Fetch-Site", fetch)
		if r.StatusCode != want || len(contents(t, dir)) != map[int]int{200: 1}[want] {
			t.Errorf("%q: %s, want %d", fetch, r.Status, want)
		}
	}
}

// TestReadTokens checks that errors name the line, and do not repeat what may be a token.
func TestReadTokens(t *testing.T) {
	good := hashed("x", "upload", "ci")
	for text, want := range map[string]string{
		"secret upload ci\n":                          "line 1: the first word is not a SHA-256, which has 64 hexadecimal digits",
		"# x\n" + strings.Repeat("0", 62) + " all x":  "line 2: the first word is not a SHA-256, which has 64 hexadecimal digits",
		strings.Replace(good, "upload", "write", 1):   "line 1: the second word is not a role: want read, upload or all",
		strings.Replace(good, " ci", "", 1):           "line 1: 2 words, want 3: the SHA-256 of the token, its role (read, upload or all) and its name",
		good + hashed("y", "read", "ci"):              `line 2: a second token "ci"`,
		good + strings.Repeat("x", 1<<20):             "line 2: bufio.Scanner: token too long",
		good + hashed("y", "read", "other") + "\n#x ": "",
	} {
		_, err := ReadTokens(strings.NewReader(text))
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error %q has the token", err)
		}
	}
}

// TestUploadRate sends files faster than the rate allows, and after a while again.
func TestUploadRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := uploadServer(t, Config{UploadRate: 3})
		text := symbolText("a.so", uploadID, 2000)
		put := func(secret string) *http.Response {
			return ask(t, s, "PUT", uploadAt, text, "Authorization", "Bearer "+secret)
		}
		for _, want := range []int{201, 200, 200, 429} {
			if r := put("up"); r.StatusCode != want {
				t.Fatalf("%s, want %d", r.Status, want)
			}
		}
		r := put("up")
		if got, after := body(t, r), r.Header.Get("Retry-After"); got != "please send at most 3 files a minute\n" || after != "20" {
			t.Errorf("got %q, Retry-After %q, want 20", got, after)
		}
		if r := put("all"); r.StatusCode != 200 {
			t.Errorf("another token: %s", r.Status)
		}
		time.Sleep(20 * time.Second)
		if r := put("up"); r.StatusCode != 200 {
			t.Errorf("after Retry-After: %s", r.Status)
		}
	})
}

// failing is a body that ends with an error.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// TestUploadBroken cuts uploads in the middle: nothing is stored, and no temporary file stays.
func TestUploadBroken(t *testing.T) {
	text := symbolText("a.so", uploadID, 20000)
	for _, n := range []int{0, 100, len(text) / 2, len(text)} {
		s, dir := uploadServer(t, Config{})
		r := httptest.NewRequest("PUT", uploadAt, &failing{bytes.NewReader(text[:n]), io.ErrUnexpectedEOF})
		r.Header.Set("Authorization", "Bearer up")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusRequestTimeout || len(contents(t, dir)) != 0 {
			t.Errorf("%d bytes: %d, the store has %v", n, w.Code, contents(t, dir))
		}
	}
}

// multi returns a form with fields, as names and values, and a file in the last of them.
func multi(t testing.TB, fields []string, name, fileName string, file []byte) (contentType string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile(name, fileName)
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// TestUploadForm sends forms as Breakpad's symupload does (src/common/linux/symbol_upload.cc), and others.
func TestUploadForm(t *testing.T) {
	text := symbolText("a.so", uploadID, 2000)
	fields := []string{"code_file", "a.so", "cpu", "x86_64", "debug_file", "a.so", "debug_identifier", uploadID, "os", "Linux"}
	for _, c := range []struct {
		name   string
		fields []string
		field  string
		file   []byte
		status int
		want   string
	}{
		{"symupload", fields, "symbol_file", text, 200, "added a.so/"},
		{"no fields", nil, "symbol_file", text, 200, "added a.so/"},
		{"another module", []string{"debug_file", "b.so", "debug_identifier", uploadID}, "symbol_file", text, 400, "MODULE is that of a.so"},
		{"a bad name", []string{"debug_file", "..", "debug_identifier", uploadID}, "symbol_file", text, 400, "debug_file and debug_identifier: name"},
		{"damaged", fields, "symbol_file", text[:100], 400, "the file ends inside this line: want a line feed"},
		{"another field", fields, "dump", text, 400, `the field "dump" has a file: want symbol_file, or a zip`},
		{"a long field", []string{"x", strings.Repeat("y", maxField+1)}, "symbol_file", text, 400, `the field "x" has over 65536 bytes`},
		{"many fields", slices.Repeat([]string{"x", "y"}, 200), "symbol_file", text, 200, "added"}, // of one name
	} {
		s, dir := uploadServer(t, Config{})
		contentType, in := multi(t, c.fields, c.field, "a.so.sym", c.file)
		r := ask(t, s, "POST", "/upload?key=up", in, "Content-Type", contentType)
		if got := body(t, r); r.StatusCode != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, r.StatusCode, got, c.status, c.want)
		}
		if got := len(contents(t, dir)); got != map[bool]int{true: 1}[c.status == 200] {
			t.Errorf("%s: the store has %d files", c.name, got)
		}
	}
	s, _ := uploadServer(t, Config{})
	for _, c := range []struct{ contentType, body, want string }{
		{"text/plain", "x", "415 want multipart/form-data with a symbol file in the field symbol_file, or a zip\n"},
		{"multipart/form-data; boundary=b", "--b--\r\n", "400 no file in the form: want the field symbol_file, or a zip\n"},
		{"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=x\r\n\r\ny", "400 unexpected EOF\n"},
	} {
		r := ask(t, s, "POST", "/upload", []byte(c.body), "Content-Type", c.contentType, "Auth-Token", "up")
		if got := fmt.Sprint(r.StatusCode, " ", body(t, r)); got != c.want {
			t.Errorf("%q: %q, want %q", c.body, got, c.want)
		}
	}
}

// TestUploadZip sends zips as Tecken's clients do.
func TestUploadZip(t *testing.T) {
	text := symbolText("a.so", uploadID, 2000)
	pack := func(files ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := 0; i < len(files); i += 2 {
			w, err := z.Create(files[i])
			if err == nil {
				_, err = w.Write([]byte(files[i+1]))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	b := string(symbolText("b.so", uploadID, 2000))
	for _, c := range []struct {
		name   string
		zip    []byte
		status int
		want   string // a pattern
		files  int
	}{
		{"two", pack(uploadAt[1:], string(text), "b.so/x/b.so.sym", b, "README", "x"), 201,
			`"user":"ci".*"added_keys":\["a.so/[^"]*","b.so/x/b.so.sym"\],"skipped_keys":\[\],"ignored_keys":\["README"\]`, 2},
		{"twice", pack(uploadAt[1:], string(text), "again.sym", string(text)), 201, `"skipped_keys":\["again.sym"\]`, 1},
		{"out of the folder", pack("../../a.so.sym", string(text)), 201, `"added_keys":\["../../a.so.sym"\]`, 1},
		{"damaged", pack(uploadAt[1:], string(text), "b.sym", b[:50]), 400, `^b.sym: 1:51: MODULE: the file ends inside this line: want a line feed`, 1},
		{"too long", pack("a.sym", string(symbolText("a.so", uploadID, 200_000))), 413, "limit uploads to 100000 bytes", 0},
		{"not a zip", []byte("PK"), 400, "the zip cannot be read: zip: not a valid zip file", 0},
		{"too many", pack(slices.Repeat([]string{"x", ""}, 20)...), 429, "please send at most 10 files a minute", 0},
	} {
		s, dir := uploadServer(t, Config{MaxUpload: 100_000, UploadRate: 10})
		contentType, in := multi(t, nil, "symbols.zip", "symbols.zip", c.zip)
		r := ask(t, s, "POST", "/upload/", in, "Content-Type", contentType, "Auth-Token", "up")
		if got := body(t, r); r.StatusCode != c.status || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %d, %q, want %d, %s", c.name, r.StatusCode, got, c.status, c.want)
		}
		if got := contents(t, dir); len(got) != c.files {
			t.Errorf("%s: the store has %v, want %d files", c.name, slices.Collect(maps.Keys(got)), c.files)
		}
	}
}

// TestUploadAPI goes through sym-upload-v2 as Breakpad's client does, which looks for its answers with these patterns, and
// whose JSON has names without quotation marks (src/common/linux/symbol_collector_client.cc).
func TestUploadAPI(t *testing.T) {
	s, dir := uploadServer(t, Config{Prefix: "/crash"})
	text := symbolText("a.so", uploadID, 2000)
	call := func(method, path, in string) (int, string) {
		t.Helper()
		r := ask(t, s, method, "/crash/v1/"+path+"?key=up", []byte(in))
		return r.StatusCode, body(t, r)
	}
	find := func(pattern, text string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no %s in %q", pattern, text)
		}
		return m[1]
	}
	for _, c := range []struct{ status, put, complete, result string }{
		{"MISSING", string(text), `{ symbol_id: {debug_file: "a.so", debug_id: "` + uploadID + `" }, symbol_upload_type: "BREAKPAD", use_async_processing: true }`, "OK"},
		{"FOUND", string(text), `{"symbol_id": {"debug_file": "a.so", "debug_id": "` + uploadID + `"}}`, "DUPLICATE_DATA"},
	} {
		_, got := call("GET", "symbols/a.so/"+uploadID+":checkStatus", "")
		if status := find(`"status": "([^"]+)"`, got); status != c.status {
			t.Errorf("checkStatus: %s, want %s", status, c.status)
		}
		_, got = call("POST", "uploads:create", "")
		url, key := find(`"uploadUrl": "([^"]+)"`, got), find(`"uploadKey": "([^"]+)"`, got)
		if url != "http://x/crash/v1/uploads/"+key {
			t.Errorf("uploadUrl %s, key %s", url, key)
		}
		if r := ask(t, s, "PUT", strings.TrimPrefix(url, "http://x"), []byte(c.put)); r.StatusCode != 200 {
			t.Errorf("PUT: %s", r.Status)
		}
		_, got = call("POST", "uploads/"+key+":complete", c.complete)
		if result := find(`"result": "([^"]+)"`, got); result != c.result {
			t.Errorf("complete: %s, want %s", result, c.result)
		}
		if status, got := call("POST", "uploads/"+key+":complete", c.complete); status != 404 {
			t.Errorf("complete again: %d, %s", status, got)
		}
	}
	if got := contents(t, dir); len(got) != 1 || got[uploadAt[1:]] != string(text) {
		t.Errorf("the store has %v", slices.Collect(maps.Keys(got)))
	}
}

// TestUploadAPIRefused makes each call of sym-upload-v2 fail.
func TestUploadAPIRefused(t *testing.T) {
	text := symbolText("a.so", uploadID, 2000)
	good := `{"symbol_id": {"debug_file": "a.so", "debug_id": "` + uploadID + `"}}`
	for _, c := range []struct {
		name     string
		put      []byte // nil to skip it
		complete string
		key      string // "" for the key from create
		token    string
		status   int
		want     string
	}{
		{"no file", nil, good, "", "up", 409, "the file was not sent to uploadUrl"},
		{"no key", text, good, "0123", "up", 404, "no upload has this key, or it is too old"},
		{"another token", text, good, "", "all", 403, "another token began this upload"},
		{"another module", text, strings.Replace(good, "a.so", "b.so", 1), "", "up", 400, "MODULE is that of a.so"},
		{"no module", text, `{}`, "", "up", 400, `symbol_id: name \"\": is empty`},
		{"another type", text, `{symbol_upload_type: "ELF"}`, "", "up", 400, `symbol_upload_type is \"ELF\", want BREAKPAD`},
		{"damaged", text[:50], good, "", "up", 400, "the file ends inside this line: want a line feed"},
	} {
		s, dir := uploadServer(t, Config{})
		create := body(t, ask(t, s, "POST", "/v1/uploads:create?key=up", nil))
		key := regexp.MustCompile(`"uploadKey": "([^"]+)"`).FindStringSubmatch(create)[1]
		if c.put != nil {
			ask(t, s, "PUT", "/v1/uploads/"+key, c.put)
		}
		if c.key != "" {
			key = c.key
		}
		r := ask(t, s, "POST", "/v1/uploads/"+key+":complete?key="+c.token, []byte(c.complete))
		if got := body(t, r); r.StatusCode != c.status || !strings.Contains(got, `{"error": {"code": `+fmt.Sprint(c.status)) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, r.StatusCode, got, c.status, c.want)
		}
		if got := contents(t, dir); len(got) != 0 {
			t.Errorf("%s: the store has %v", c.name, slices.Collect(maps.Keys(got)))
		}
	}
}

// TestUploadPending fills the list of incomplete uploads, which make room for others when they are
// too old.
func TestUploadPending(t *testing.T) {
	p := pending{all: map[string]*pendingUpload{}}
	now := time.Unix(1e9, 0)
	first := p.create("ci", now)
	for range maxPending - 1 {
		p.create("ci", now.Add(time.Minute))
	}
	if key := p.create("ci", now.Add(pendingTime)); key != "" {
		t.Errorf("%d uploads, and another", maxPending)
	}
	if key := p.create("ci", now.Add(pendingTime+1)); key == "" || p.get(first) != nil {
		t.Errorf("got %q, the old one is %v", key, p.get(first))
	}
	p.close()
}

// TestUploadsAtOnce sends the same file many times at once.
func TestUploadsAtOnce(t *testing.T) {
	s, dir := uploadServer(t, Config{})
	text := symbolText("a.so", uploadID, 200_000)
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			r := ask(t, s, "PUT", uploadAt, text, "Authorization", "Bearer up")
			mu.Lock()
			got[r.StatusCode]++
			mu.Unlock()
		})
	}
	all.Wait()
	if got[201] != 1 || got[200]+got[201]+got[503] != 30 || len(contents(t, dir)) != 1 {
		t.Errorf("statuses %v, the store has %d files", got, len(contents(t, dir)))
	}
}

// TestReadOnly checks that a server without uploads refuses them.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	for _, c := range []struct{ method, path string }{{"PUT", uploadAt}, {"POST", "/upload"}, {"POST", "/v1/uploads:create"}, {"PUT", "/v1/uploads/x"}} {
		r := ask(t, s, c.method, c.path, []byte("x"), "Authorization", "Bearer up")
		if got := body(t, r); r.StatusCode != 405 || !strings.HasPrefix(got, "this server is read-only") {
			t.Errorf("%s %s: %s, %q", c.method, c.path, r.Status, got)
		}
	}
	for name, cfg := range map[string]Config{
		"uploads without tokens": {Dirs: []string{dir}, AcceptUploads: true},
		"private without tokens": {Dirs: []string{dir}, Private: true},
		"uploads without store":  {DebugDirs: []string{dir}, AcceptUploads: true, Tokens: tokens(t)},
	} {
		if s, err := New(cfg); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
}
