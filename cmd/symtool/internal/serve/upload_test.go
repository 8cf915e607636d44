package serve_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// tokenLine returns a line of a list of tokens.
func tokenLine(secret, role, name string) string {
	return fmt.Sprintf("%x %s %s\n", sha256.Sum256([]byte(secret)), role, name)
}

// TestServeUploads sends symbol files with each protocol of symtool upload to a server, whose tokens change.
func TestServeUploads(t *testing.T) {
	dir := t.TempDir()
	from, tokens, log := filepath.Join(dir, "from"), filepath.Join(dir, "tokens"), filepath.Join(dir, "log")
	for i, name := range []string{"a.so", "b b.so"} {
		path := filepath.Join(from, name, "AB0", name+".sym")
		text := fmt.Sprintf("MODULE Linux x86_64 AB0 %s\nFUNC 1000 10 0 f\n1000 10 %d 0\nFILE 0 a.c\n", name, i+1)
		testenv.WriteFile(t, path, text)
	}
	testenv.WriteFile(t, tokens, tokenLine("old", "upload", "ci"))
	for _, protocol := range []string{"put", "sym-upload-v1", "sym-upload-v2", "zip"} {
		to := filepath.Join(dir, protocol)
		if err := os.Mkdir(to, 0o777); err != nil {
			t.Fatal(err)
		}
		s := startServe(t, "--accept-uploads", "--token-file", tokens, "--access-log", log, to)
		url := s.URL
		if protocol == "sym-upload-v1" || protocol == "zip" {
			url += "/upload"
		}
		for _, want := range []string{"2 files uploaded", "2 already there"} {
			out, status := runUpload(t, "old", protocol, url, from)
			if protocol == "sym-upload-v1" || protocol == "put" { // these cannot ask, or cannot tell whether a compressed file is the same
				want = "2 files uploaded"
			}
			if status != 0 || !strings.Contains(out, want) {
				t.Errorf("%s: status %d, %q, want %q", protocol, status, out, want)
			}
		}
		if out, status := runUpload(t, "wrong", protocol, url, from); status == 0 || !strings.Contains(out, "the token is not known here") {
			t.Errorf("%s with another token: status %d, %q", protocol, status, out)
		}
		if status := s.end(t, syscall.SIGTERM); status != 0 || s.Stderr.String() != "" {
			t.Errorf("%s: status %d: %s", protocol, status, s.Stderr.String())
		}
		out, err := exec.Command(testenv.Symtool(t), "store", "verify", to).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "2 files with") {
			t.Errorf("%s: store verify: %v, %s", protocol, err, out)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("old")) || !bytes.Contains(text, []byte(`"token":"ci"`)) {
		t.Errorf("the log has a token, or no name of one: %s", text)
	}
}

// runUpload runs symtool upload with a token.
func runUpload(t *testing.T, token, protocol, url, from string) (out string, status int) {
	t.Helper()
	c := exec.Command(testenv.Symtool(t), "upload", "--retries", "0", "--protocol", protocol, url, from)
	c.Env = append(os.Environ(), "SYMTOOL_UPLOAD_TOKEN="+token)
	text, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// TestServeReadsTokensAgain changes the tokens of a server. A list that cannot be read must change nothing.
func TestServeReadsTokensAgain(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	testenv.WriteFile(t, tokens, tokenLine("old", "all", "ci"))
	s := startServe(t, "--private", "--token-file", tokens, dir)
	status := func(secret string) int {
		r, err := http.NewRequest("GET", s.URL+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("me", secret)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := status("old"); got != 200 {
		t.Errorf("the first token: %d", got)
	}
	testenv.WriteFile(t, tokens, tokenLine("new", "read", "ci"))
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, "the new token", func() bool { return status("new") == 200 && status("old") == 401 })
	testenv.WriteFile(t, tokens, "nonsense\n")
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, "a message", func() bool { return strings.Contains(s.Stderr.String(), tokens+": line 1: 1 words, want 3") })
	if got := status("new"); got != 200 {
		t.Errorf("after a list that cannot be read: %d", got)
	}
}

// TestServeKilledUploads kills servers in the middle of uploads. Every file in the store must be whole.
func TestServeKilledUploads(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	dir := t.TempDir()
	tokens, to := filepath.Join(dir, "tokens"), filepath.Join(dir, "store")
	testenv.WriteFile(t, tokens, tokenLine("up", "upload", "ci"))
	if err := os.Mkdir(to, 0o777); err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("FUNC 1000 10 0 f\n", 64)
	for i := range rounds {
		s := startServe(t, "--accept-uploads", "--token-file", tokens, "--compress", "none", to)
		in, out := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, err := http.NewRequest("PUT", fmt.Sprintf("%s/a.so/A%X/a.so.sym", s.URL, i), in)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer up")
			if answer, err := http.DefaultClient.Do(r); err == nil {
				answer.Body.Close()
			}
		}()
		fmt.Fprintf(out, "MODULE Linux x86_64 A%X a.so\n", i)
		for range i * 40 { // up to 800 KB
			if _, err := io.WriteString(out, line); err != nil {
				break
			}
		}
		if err := s.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.Wait()
		out.CloseWithError(io.ErrUnexpectedEOF)
		<-done
	}
	if out, err := exec.Command(testenv.Symtool(t), "store", "gc", to).CombinedOutput(); err != nil {
		t.Fatalf("store gc: %v: %s", err, out)
	}
	out, err := exec.Command(testenv.Symtool(t), "store", "verify", to).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "0 files with 0 bytes, 0 findings") {
		t.Errorf("store verify: %v, %s", err, out)
	}
}
