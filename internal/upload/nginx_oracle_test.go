package upload

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

const nginxConfig = `daemon off;
master_process off;
error_log DIR/error.log;
pid DIR/pid;
events {}
http {
	access_log off;
	client_body_temp_path DIR/tmp;
	client_max_body_size 20m;
	server {
		listen 127.0.0.1:PORT;
		root DIR/root;
		location /dav/ {
			dav_methods PUT MKCOL;
			create_full_put_path on;
		}
		location /closed/ {
			auth_basic x;
			auth_basic_user_file DIR/users;
			dav_methods PUT;
			create_full_put_path on;
		}
		location /limited/ {
			client_max_body_size 1k;
			dav_methods PUT;
			create_full_put_path on;
		}
		location /readonly/ { }
	}
}
`

// nginx with WebDAV stores the bytes that are sent, under the intended names, and
// answers queries for them.
func TestOracleNginx(t *testing.T) {
	testenv.Oracle(t)
	program := testenv.Tool(t, "nginx")
	dir := t.TempDir()
	port := fmt.Sprint(testenv.FreePort(t))
	for _, d := range []string{"root", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(dir, 0o777)
	write(t, filepath.Join(dir, "users"), "me:{PLAIN}passw0rd\n")
	config := write(t, filepath.Join(dir, "conf"), strings.NewReplacer("DIR", dir, "PORT", port).Replace(nginxConfig))
	server := exec.Command(program, "-c", config, "-p", dir, "-e", filepath.Join(dir, "error.log"))
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	base := "http://127.0.0.1:" + port
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() { server.Process.Kill(); <-ended })
	testenv.Until(t, "nginx", func() bool {
		if len(ended) > 0 {
			t.Fatalf("nginx does not start: %s", log.String())
		}
		resp, err := http.Get(base + "/")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	id := strings.Repeat("0F", 16) + "2"
	var paths []string
	for i, name := range []string{"plain.so", "b é+&=%41;?#x.so", "c.pdb", "empty functions"} {
		paths = append(paths, write(t, filepath.Join(dir, fmt.Sprint(i, ".sym")), symbolText(name, id, 30_000*i+1)))
	}
	o := Options{Protocol: Put, URL: base + "/dav/", Retries: 1, Timeout: time.Minute}
	for i, r := range send(t, o, paths...) {
		got := read(t, filepath.Join(dir, "root", "dav", r.Place.Path(".sym")))
		if r.Err != nil || r.Outcome != Uploaded || got != read(t, paths[i]) {
			t.Errorf("%s: %v %v, %d bytes", r.Place.Name, r.Outcome, r.Err, len(got))
		}
	}
	if got := outcomes(send(t, o, paths...)); got != "present\npresent\npresent\npresent" {
		t.Errorf("again: %s", got)
	}
	for path, want := range map[string]string{
		"/limited/":  "failed: 413 Request Entity Too Large",
		"/readonly/": "failed: 405 Method Not Allowed",
		"/closed/":   "failed: 401 Unauthorized",
	} {
		o.URL = base + path
		if got := outcomes(send(t, o, paths[1])); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	o.URL = strings.Replace(base, "//", "//me:passw0rd@", 1) + "/closed/"
	if got := outcomes(send(t, o, paths[1])); got != "uploaded" {
		t.Errorf("with a password: %s", got)
	}
}

// Python's MIME reader parses our forms as intended; Python's zipfile and unzip -t accept our
// zips.
func TestOraclePython(t *testing.T) {
	testenv.Oracle(t)
	python := testenv.Tool(t, "python3")
	var posts [][]byte
	s := newCrashServer(t)
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		var b bytes.Buffer
		fmt.Fprintf(&b, "Content-Type: %s\r\n\r\n", r.Header.Get("Content-Type"))
		b.ReadFrom(r.Body)
		posts = append(posts, b.Bytes())
		return true
	}
	path := write(t, filepath.Join(t.TempDir(), "a.sym"), symbolText("lib é \"x\".so", "ABC1", 500))
	fields := []Field{{"version", "1.2"}, {"text", "two\r\nlines --- é"}, {"empty", ""}}
	send(t, Options{Protocol: V1, URL: s.URL, Fields: fields}, path)
	send(t, Options{Protocol: Zip, URL: s.URL, Fields: fields}, path)
	const script = `
import email, email.policy, hashlib, io, sys, zipfile
m = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.HTTP)
assert m.is_multipart() and not m.defects, m.defects
for p in m.iter_parts():
    assert not p.defects, p.defects
    name, text = p.get_param("name", header="content-disposition"), p.get_payload(decode=True)
    if name == "symbols.zip":
        z = zipfile.ZipFile(io.BytesIO(text))
        assert z.testzip() is None
        for i in z.infolist():
            print("zip", i.filename, i.date_time, hashlib.sha256(z.read(i)).hexdigest())
    elif name == "symbol_file":
        print(name, p.get_filename(), hashlib.sha256(text).hexdigest())
    else:
        print(name, repr(text.decode()))
`
	sum := fmt.Sprintf("%x", newDigestOf(read(t, path)))
	tail := "version '1.2'\ntext 'two\\r\\nlines --- é'\nempty ''\n"
	want := []string{
		"os 'Linux'\ncpu 'x86_64'\ndebug_file 'lib é \"x\".so'\ndebug_identifier 'ABC1'\ncode_file 'lib é \"x\".so'\ncode_identifier 'abc1'\n" + tail +
			"symbol_file lib é %22x%22.so.sym " + sum + "\n",
		tail + "zip lib é \"x\".so/ABC1/lib é \"x\".so.sym (1980, 1, 1, 0, 0, 0) " + sum + "\n",
	}
	for i, post := range posts {
		cmd := exec.Command(python, "-c", script)
		cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8", "PYTHONUTF8=1")
		cmd.Stdin = bytes.NewReader(post)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want[i] {
			t.Errorf("%v\n%s\nwant\n%s", err, out, want[i])
		}
	}
	if len(posts) != 2 {
		t.Errorf("%d forms", len(posts))
	}
}

func newDigestOf(text string) [32]byte { return bytesBody([]byte(text)).sha }
