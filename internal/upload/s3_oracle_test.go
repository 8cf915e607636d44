package upload

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/symtool/symtool/internal/testenv"
)

// A server like S3, which checks signatures with AWS's signer: uploaded files, files that
// exist already, parts, another region, a wrong key, and damage in transit.
func TestOracleS3(t *testing.T) {
	testenv.Oracle(t)
	const region = "eu-north-7"
	endpoint := startS3(t, "symbols", region, "AKID", "s3cr3t/key+")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t/key+")
	t.Setenv("AWS_SESSION_TOKEN", "")
	dir := t.TempDir()
	id := strings.Repeat("AB", 16) + "0"
	small := write(t, filepath.Join(dir, "small.sym"), symbolText("lib é+&=(1)~*'!.so", id, 500))
	large := write(t, filepath.Join(dir, "large.sym"), symbolText("large.so", id, 100_000))
	if st, err := os.Stat(large); err != nil || st.Size() <= 2<<20 {
		t.Fatalf("%v %v", st.Size(), err)
	}
	o := Options{Protocol: S3, URL: "s3://symbols/a b/c", Endpoint: endpoint, Retries: 1, NoRole: true, partThreshold: 500_000, partSize: 300_000}
	for _, gz := range []bool{false, true} {
		o.Gzip = gz
		results := send(t, o, small, large)
		if got := outcomes(results); got != "uploaded\nuploaded" {
			t.Fatalf("gzip %v: %s", gz, got)
		}
		for i, path := range []string{small, large} {
			if got := object(t, o, results[i], gz); got != read(t, path) {
				t.Errorf("gzip %v: %s: %d bytes that differ", gz, path, len(got))
			}
		}
		if got := outcomes(send(t, o, small, large)); got != "present\npresent" {
			t.Errorf("gzip %v, again: %s", gz, got)
		}
	}
	o.Gzip = false
	write(t, small, strings.Replace(read(t, small), "_499\n", "_49x\n", 1)) // the size stays
	if got := outcomes(send(t, o, small)); got != "uploaded" {
		t.Errorf("changed: %s", got)
	}
	o.Force = true
	if got := outcomes(send(t, o, small)); got != "uploaded" {
		t.Errorf("by force: %s", got)
	}
	o.URL = "s3://elsewhere"
	if got := outcomes(send(t, o, small)); !strings.HasPrefix(got, "failed: 404 Not Found: NoSuchBucket") {
		t.Errorf("no bucket: %s", got)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong-key")
	if got := outcomes(send(t, o, small)); !strings.HasPrefix(got, "failed: 403 Forbidden: SignatureDoesNotMatch") || strings.Contains(got, "wrong-key") {
		t.Errorf("wrong key: %s", got)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write(t, filepath.Join(dir, "credentials"), "[ci]\naws_access_key_id = AKID\naws_secret_access_key = s3cr3t/key+\n"))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "none"))
	o.URL = "s3://symbols"
	if got := outcomes(send(t, o, small)); !strings.HasPrefix(got, "failed: no credentials: set AWS_ACCESS_KEY_ID") {
		t.Errorf("no key: %s", got)
	}
	t.Setenv("AWS_PROFILE", "ci")
	if got := outcomes(send(t, o, small)); got != "uploaded" {
		t.Errorf("profile: %s", got)
	}
}

// object reads an object with AWS's signature, without our own client.
func object(t *testing.T, o Options, r *Result, gz bool) string {
	t.Helper()
	u, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b := u.target.(*bucket)
	b.region = "eu-north-7"
	key := b.prefix + r.Place.Name + "/" + r.Place.ID + "/" + r.Place.Stem + ".sym"
	req, err := http.NewRequest(http.MethodGet, b.object(key).String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	if req, err = b.sign(context.Background(), req, nil, b.region); err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if (resp.Header.Get("Content-Encoding") == "gzip") != gz || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != textType {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	in := io.Reader(resp.Body)
	if gz {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// startS3 builds and starts the server, which is a module of its own.
func startS3(t *testing.T, args ...string) (endpoint string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "s3server")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("testdata", "s3server")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return start(t, exec.Command(program, args...))
}

// start starts a server that prints its address, until the test ends.
func start(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	timer := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", cmd.Path, err))
	}
	return strings.TrimSpace(line)
}
