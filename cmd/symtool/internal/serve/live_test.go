package serve_test

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/symserver"
)

// served is a running symtool serve.
type served struct {
	*exec.Cmd
	URL    string
	Stderr testenv.Buffer
	stdout *bufio.Reader
}

// startServe starts symtool serve, which ends at the latest with the test.
func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	// Children ignore the signals that this process ignores, as under nohup or in the background of a
	// script, but not the signals that it handles.
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			handled := make(chan os.Signal, 1)
			signal.Notify(handled, sig)
			t.Cleanup(func() { signal.Ignore(sig) })
		}
	}
	s := &served{Cmd: exec.Command(testenv.Symtool(t), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	s.Cmd.Stderr = &s.Stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill(); _ = s.Wait() })
	s.stdout = bufio.NewReader(out)
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		_ = s.Wait()
		t.Fatalf("%v: %s", err, s.Stderr.String())
	}
	s.URL = strings.TrimSpace(line)
	return s
}

// end sends a signal, and returns the server's exit status.
func (s *served) end(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := s.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return s.status(t)
}

// takesNone waits until the server accepts no more connections.
func (s *served) takesNone(t *testing.T) {
	t.Helper()
	testenv.Until(t, "the server to take no connections", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

func (s *served) status(t *testing.T) int {
	t.Helper()
	err := s.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.ProcessState.ExitCode()
}

// serveStore returns a store with the symbols of two programs, one compressed.
func serveStore(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	testenv.Output(t, 0, "dump", "--quiet", "--store", dir, testenv.Input(t, "gcc-dwarf5.elf"))
	testenv.Output(t, 0, "dump", "--quiet", "--gzip", "--store", dir, testenv.Input(t, "walk-sources.elf"))
	return dir
}

// TestServeVariables checks that variables are stored beside the symbols by store add, served, fetched
// only with --vars, and checked by store verify.
func TestServeVariables(t *testing.T) {
	dumped, dir := filepath.Join(t.TempDir(), "dumped"), t.TempDir()
	testenv.Output(t, 0, "dump", "--quiet", "--vars", "all", "--store", dumped, testenv.Input(t, "walk-sources.elf"))
	store, cache := filepath.Join(dir, "store"), filepath.Join(dir, "cache")
	testenv.Output(t, 0, "store", "add", "--compress", "zstd", store, dumped)
	if got := testenv.Output(t, 0, "store", "ls", store); !strings.HasSuffix(got, "\twalk-sources.elf.sym.zst walk-sources.elf.vars.zst\n") {
		t.Errorf("store ls: %q", got)
	}
	testenv.Output(t, 0, "store", "verify", "--quiet", store)
	missing := filepath.Join(dir, "missing")
	s := startServe(t, "--missing", missing, store)
	core := filepath.Join(dir, "core")
	if err := os.WriteFile(core, testenv.PlainInput(t, "walk-sources.core.gz"), 0o666); err != nil {
		t.Fatal(err)
	}
	walk := func(args ...string) string {
		return testenv.Output(t, 0, append([]string{"walk", "--brief", core}, args...)...)
	}
	walk("--symbol-url", s.URL, "--symbol-cache", cache)
	kept, err := filepath.Glob(filepath.Join(cache, "*", "*", "*.vars"))
	if err != nil || len(kept) > 0 {
		t.Errorf("without --vars: %q, %v", kept, err)
	}
	want := walk("--vars", "all", "--symbols", dumped)
	if got := walk("--vars", "all", "--symbol-url", s.URL, "--symbol-cache", cache); got != want || !strings.Contains(got, "sum = 0") {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if status := s.end(t, syscall.SIGTERM); status != 0 {
		t.Errorf("status %d: %s", status, s.Stderr.String())
	}
	if got, err := os.ReadFile(missing); err != nil || strings.Contains(string(got), "walk-sources") {
		t.Errorf("missing: %q, %v", got, err)
	}
	if got := walk("--vars", "all", "--symbols", cache); got != want { // the cache is a store, too
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestServeOwnClients checks that the program's own clients find the same through a server as in the
// folder.
func TestServeOwnClients(t *testing.T) {
	store, dir := serveStore(t), t.TempDir()
	missing, log := filepath.Join(dir, "missing"), filepath.Join(dir, "log")
	if err := os.WriteFile(missing, []byte("old.so/AB0"), 0o666); err != nil { // as left by a killed writer
		t.Fatal(err)
	}
	s := startServe(t, "--missing", missing, "--access-log", log, "--verbose", "--prefix", "/v1", "--gzip", store)
	addrs := []string{"gcc-dwarf5.elf+480", "gcc-dwarf5.elf+481", "walk-sources.elf+180"}
	names := map[string]string{}
	for name := range strings.SplitSeq(testenv.Output(t, 0, "store", "ls", store), "\n") {
		if f := strings.Split(name, "\t"); len(f) > 1 {
			names[f[0]] = f[0] + "/" + f[1]
		}
	}
	for i, a := range addrs {
		name, addr, _ := strings.Cut(a, "+")
		addrs[i] = names[name] + "+" + addr
	}
	want := testenv.Output(t, 0, append([]string{"resolve", "--symbols", store}, addrs...)...)
	got := testenv.Output(t, 0, append([]string{"resolve", "--symbol-url", s.URL + "/v1", "--symbol-cache", filepath.Join(dir, "a")}, addrs...)...)
	if got != want || !strings.Contains(got, " at ") {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	core := filepath.Join(dir, "core")
	if err := os.WriteFile(core, testenv.PlainInput(t, "walk-sources.core.gz"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"libc.so.6", "ld-linux-x86-64.so.2", "libc.so.6"} {
		testenv.Output(t, 1, "resolve", "--symbol-url", s.URL+"/v1", "--symbol-cache", t.TempDir(), module+"/000000000000000000000000000000AB0+10")
	}
	want = testenv.Output(t, 0, "walk", "--symbols", store, core)
	if got := testenv.Output(t, 0, "walk", "--symbol-url", s.URL+"/v1", "--symbol-cache", filepath.Join(dir, "b"), core); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if status := s.end(t, syscall.SIGTERM); status != 0 {
		t.Errorf("status %d: %s", status, s.Stderr.String())
	}
	checkMissing(t, store, missing)
	checkAccessLog(t, log)
	if !strings.Contains(s.Stderr.String(), "symtool: no symbols of libc.so.6/") {
		t.Error(s.Stderr.String())
	}
}

// checkMissing checks the list that a server has written.
func checkMissing(t *testing.T, store, missing string) {
	t.Helper()
	list, err := os.ReadFile(missing)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	seen := map[string]bool{}
	for _, l := range lines {
		if seen[l] {
			t.Errorf("%s is there twice", l)
		}
		seen[l] = true
	}
	if lines[0] != "old.so/AB0" || len(lines) < 3 || !strings.Contains(string(list), "libc.so.6/") {
		t.Errorf("%s", list)
	}
	if got := testenv.Output(t, 1, "store", "ls", "--missing", missing, store); strings.Count(got, "\n") != len(lines) {
		t.Errorf("ls --missing:\n%s\nof\n%s", got, list)
	}
}

func checkAccessLog(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found, absent := 0, 0
	for line := range strings.Lines(string(text)) {
		var a symserver.Access
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Kind != "symbols" || a.Method != "GET" || !strings.HasPrefix(a.Path, "/v1/") || a.Time.IsZero() {
			t.Errorf("%v: %s", err, line)
		}
		switch {
		case a.Status == 200 && a.Bytes > 0:
			found++
		case a.Status == 404:
			absent++
		}
	}
	if found < 3 || absent < 2 {
		t.Errorf("%d found, %d not:\n%s", found, absent, text)
	}
}

// slowFile requests a file of 40 MB and reads only the beginning.
func slowFile(t *testing.T, s *served) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, "GET /big.so/ABC0/big.so.sym HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	return c
}

func bigStore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	place := filepath.Join(dir, "big.so", "ABC0")
	text := append([]byte("MODULE Linux x86_64 ABC0 big.so\n"), bytes.Repeat([]byte("PUBLIC 10 0 some_function_with_a_name\n"), 40<<20/38)...)
	if err := errors.Join(os.MkdirAll(place, 0o777), os.WriteFile(filepath.Join(place, "big.so.sym"), text, 0o666)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestServeEnds checks that after a signal the server ends as soon as its requests are answered, or
// --drain is over.
func TestServeEnds(t *testing.T) {
	store := bigStore(t)
	for sig, wait := range map[syscall.Signal]time.Duration{syscall.SIGTERM: 1200 * time.Millisecond, syscall.SIGINT: 100 * time.Millisecond} {
		s := startServe(t, "--drain", "5m", store)
		c := slowFile(t, s)
		if err := s.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait) // another process gives no event to wait for; the longer time exceeds the grace of other commands
		s.takesNone(t)
		n, err := io.Copy(io.Discard, c)
		if err != nil || n < 39<<20 {
			t.Errorf("%v: %d bytes, %v", sig, n, err)
		}
		c.Close()
		if status := s.status(t); status != 0 || s.Stderr.String() != "" {
			t.Errorf("%v: status %d: %s", sig, status, s.Stderr.String())
		}
	}
	s := startServe(t, "--drain", "100ms", store)
	slowFile(t, s)
	if status := s.end(t, syscall.SIGTERM); status != 1 || !strings.Contains(s.Stderr.String(), "symtool: 1 request cut off after --drain 100ms") {
		t.Errorf("status %d: %s", status, s.Stderr.String())
	}
	s = startServe(t, "--drain", "5m", store)
	slowFile(t, s)
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.takesNone(t)
	_ = s.Process.Signal(syscall.SIGTERM) // the second one ends it at once
	if err := s.Wait(); err == nil || s.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("%v", err)
	}
}

// TestServePortTaken checks that a port in use is reported at once.
func TestServePortTaken(t *testing.T) {
	store := serveStore(t)
	s := startServe(t, store)
	c := exec.Command(testenv.Symtool(t), "serve", "--listen", strings.TrimPrefix(s.URL, "http://"), store)
	out, _ := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 4 || !strings.HasSuffix(string(out), ": address already in use\n") {
		t.Errorf("%d: %s", c.ProcessState.ExitCode(), out)
	}
}

// TestServeTLS checks HTTPS, with HTTP/2, and the log on standard output.
func TestServeTLS(t *testing.T) {
	store, dir := bigStore(t), t.TempDir()
	cert, key, roots := certificate(t, dir)
	s := startServe(t, "--tls-cert", cert, "--tls-key", key, store)
	for _, two := range []bool{false, true} {
		client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: two, TLSClientConfig: &tls.Config{RootCAs: roots}}}
		r, err := client.Get(s.URL + "/big.so/ABC0/big.so.sym")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if err != nil || n != r.ContentLength || n < 39<<20 || (r.ProtoMajor == 2) != two {
			t.Errorf("%s: %d bytes, %v", r.Proto, n, err)
		}
	}
	if status := s.end(t, syscall.SIGTERM); status != 0 {
		t.Errorf("status %d: %s", status, s.Stderr.String())
	}
	c := exec.Command(testenv.Symtool(t), "serve", "--listen", "127.0.0.1:0", "--access-log", "-", store)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "symtool: serving ")
	if !ok {
		t.Fatal(line)
	}
	r, err := http.Get(url + "/nothing%1b")
	if err != nil || r.StatusCode != 404 {
		t.Errorf("%v %v", r, err)
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	_ = c.Wait()
	var a symserver.Access
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || a.Path != "/nothing%1B" && a.Path != "/nothing%1b" || a.Status != 404 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// certificate makes a certificate for 127.0.0.1.
func certificate(t *testing.T, dir string) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pemCert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(os.WriteFile(cert, pemCert, 0o666), os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600)); err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(pemCert)
	return cert, key, roots
}
