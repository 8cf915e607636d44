package serve_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// soakVar is the variable with the duration of TestServeSoak: 30m in make nightly.
const soakVar = "SYMTOOL_SOAK"

// soak is mixed traffic to a server that is killed and restarted.
type soak struct {
	t       *testing.T
	dir     string
	args    []string
	modules [][2]string       // names and IDs of the modules that exist from the start
	texts   map[string]string // their symbol files by path; never changed
	end     chan struct{}

	mu         sync.Mutex
	server     *served
	generation int             // number of the server; odd while there is none
	stored     map[string]bool // paths of the files that the server accepted
	times      map[string][]time.Duration
	failures   []string
	uploads    atomic.Int64
}

// soakText returns a symbol file for a module, with funcs functions.
func soakText(name, id string, funcs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nFILE 0 /src/%s.c\n", id, name, name)
	for i := range funcs {
		fmt.Fprintf(&b, "FUNC %x 10 0 %s_%d\n%x 10 %d 0\n", 4096+16*i, name, i, 4096+16*i, i+1)
	}
	fmt.Fprintf(&b, "STACK CFI INIT 1000 %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 16*funcs)
	return b.String()
}

// TestServeSoak uploads files, requests symbols, stacks and pages, and disconnects in the middle, while the server
// is ended and killed. Every answer that arrives must be right, every accepted file must be there, and memory must
// not grow.
func TestServeSoak(t *testing.T) {
	if os.Getenv(soakVar) == "" {
		t.Skip("takes as long as " + soakVar + " says: make soak")
	}
	whole, err := time.ParseDuration(os.Getenv(soakVar))
	if err != nil {
		t.Fatal(err)
	}
	s := newSoak(t)
	began := time.Now()
	s.start()
	var clients sync.WaitGroup
	for _, client := range []func(*rand.Rand){s.get, s.get, s.put, s.symbolicate, s.abort, s.look} {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(1, 2))
			for s.going() {
				client(random)
			}
		})
	}
	for i := 0; time.Since(began) < whole*2/3; i++ {
		time.Sleep(min(whole/8, 20*time.Second))
		s.restart([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[i%2])
	}
	time.Sleep(time.Since(began) / 20) // until its caches are full
	before := s.memory()
	time.Sleep(whole - time.Since(began))
	after := s.memory()
	close(s.end)
	clients.Wait()
	s.check()
	if after > before+before/2+64<<20 {
		t.Errorf("memory grew from %d to %d bytes", before, after)
	}
	t.Logf("%v, %d restarts, %d uploads, %d to %d MB", whole, s.generation/2, s.uploads.Load(), before>>20, after>>20)
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, dir: filepath.Join(t.TempDir(), "store"), texts: map[string]string{}, stored: map[string]bool{}, times: map[string][]time.Duration{}, end: make(chan struct{}), generation: 1}
	for i := range 20 {
		name, id := fmt.Sprintf("lib%d.so", i), fmt.Sprintf("%X", 0xA0+i)
		path := filepath.Join(name, id, name+".sym")
		s.modules = append(s.modules, [2]string{name, id})
		s.texts[path], s.stored[path] = soakText(name, id, 100<<(i%6)), true
		testenv.WriteFile(t, filepath.Join(s.dir, path), s.texts[path])
	}
	tokens := filepath.Join(t.TempDir(), "tokens")
	testenv.WriteFile(t, tokens, tokenLine("up", "upload", "ci"))
	s.args = []string{"--accept-uploads", "--token-file", tokens, "--upload-rate", "1000000", "--max-requests", "64", s.dir}
	return s
}

// start starts a server.
func (s *soak) start() {
	server := startServe(s.t, s.args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = server
	s.generation++
}

// restart ends the server, and starts another one.
func (s *soak) restart(sig syscall.Signal) {
	s.mu.Lock()
	s.generation++
	server := s.server
	s.mu.Unlock()
	status := server.end(s.t, sig)
	if sig == syscall.SIGTERM && status != 0 {
		s.failf("SIGTERM: status %d: %s", status, server.Stderr.String())
	}
	s.start()
}

func (s *soak) going() bool {
	select {
	case <-s.end:
		return false
	default:
		return true
	}
}

func (s *soak) failf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) < 20 {
		s.failures = append(s.failures, fmt.Sprintf(format, args...))
	}
}

// now returns the server's URL and generation. It waits until there is a server.
func (s *soak) now() (string, int) {
	for {
		s.mu.Lock()
		url, generation := "", s.generation
		if generation%2 == 0 {
			url = s.server.URL
		}
		s.mu.Unlock()
		if url != "" {
			return url, generation
		}
		time.Sleep(time.Millisecond)
	}
}

// ask sends a request. It returns false if there is no answer, which is an error unless the server was ended in
// the meantime.
func (s *soak) ask(kind, method, path, body string) (status int, text string, ok bool) {
	url, generation := s.now()
	r, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0, "", false
	}
	if method == http.MethodPut {
		r.Header.Set("Authorization", "Bearer up")
	}
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	var read []byte
	if err == nil {
		read, err = io.ReadAll(answer.Body)
		answer.Body.Close()
	}
	took := time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.generation == generation && len(s.failures) < 20 {
			s.failures = append(s.failures, fmt.Sprintf("%s: %v", kind, err))
		}
		return 0, "", false
	}
	s.times[kind] = append(s.times[kind], took)
	return answer.StatusCode, string(read), true
}

func (s *soak) module(random *rand.Rand) (name, id string) {
	m := s.modules[random.IntN(len(s.modules))]
	return m[0], m[1]
}

// get requests a symbol file that may or may not exist.
func (s *soak) get(random *rand.Rand) {
	name, id := s.module(random)
	want, status := s.texts[filepath.Join(name, id, name+".sym")], 200
	if random.IntN(4) == 0 {
		id, want, status = id+"F", "no symbols of this module\n", 404
	}
	if got, text, ok := s.ask("symbols", http.MethodGet, "/"+name+"/"+id+"/"+name+".sym", ""); ok && (got != status || text != want) {
		s.failf("%s/%s: %d with %d bytes, want %d with %d", name, id, got, len(text), status, len(want))
	}
}

// put adds a symbol file: a new one, an existing one, or a different one for the same module.
func (s *soak) put(random *rand.Rand) {
	n := s.uploads.Add(1)
	name, id := "up.so", fmt.Sprintf("%X", 0xB000+n)
	again := n > 10 && random.IntN(4) == 0
	if again {
		id = fmt.Sprintf("%X", 0xB000+n-10)
	}
	text := soakText(name, id, 500)
	status, _, ok := s.ask("upload", http.MethodPut, "/"+name+"/"+id+"/"+name+".sym", text)
	if !ok {
		return
	}
	if status != 201 && status != 200 {
		s.failf("PUT %s: %d", id, status)
		return
	}
	s.mu.Lock()
	s.stored[filepath.Join(name, id, name+".sym.zst")] = true
	s.mu.Unlock()
}

// symbolicate requests a stack.
func (s *soak) symbolicate(random *rand.Rand) {
	name, id := s.module(random)
	i := random.IntN(100)
	body := fmt.Sprintf(`{"jobs": [{"memoryMap": [[%q, %q]], "stacks": [[[0, %d]]]}]}`, name, id, 4096+16*i)
	status, text, ok := s.ask("symbolicate", http.MethodPost, "/symbolicate/v5", body)
	if ok && (status != 200 || !strings.Contains(text, fmt.Sprintf(`"function": "%s_%d"`, name, i))) {
		s.failf("symbolicate %s: %d, %s", name, status, text)
	}
}

// abort disconnects in the middle of an upload or of an answer.
func (s *soak) abort(random *rand.Rand) {
	url, _ := s.now()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return
	}
	defer c.Close()
	name, id := s.module(random)
	if random.IntN(2) == 0 {
		fmt.Fprintf(c, "GET /%s/%s/%s.sym HTTP/1.1\r\nHost: x\r\n\r\n", name, id, name)
		_, _ = io.ReadFull(c, make([]byte, 10))
		return
	}
	fmt.Fprintf(c, "PUT /gone.so/AB0/gone.so.sym HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer up\r\nContent-Length: 100000\r\n\r\nMODULE Linux x86_64 AB0 gone.so\n%s", strings.Repeat("FUNC 1000 10 0 f\n", random.IntN(2000)))
}

// look requests the page.
func (s *soak) look(random *rand.Rand) {
	status, text, ok := s.ask("page", http.MethodGet, "/?q=lib&page="+strconv.Itoa(random.IntN(3)), "")
	if ok && (status != 200 || !strings.HasSuffix(text, "</html>\n")) {
		s.failf("the page: %d, %d bytes", status, len(text))
	}
	time.Sleep(20 * time.Millisecond)
}

// memory returns the server's resident memory in bytes.
func (s *soak) memory() int64 {
	s.mu.Lock()
	pid := s.server.Process.Pid
	s.mu.Unlock()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// check ends the server, and compares the store with what was sent.
func (s *soak) check() {
	if status := s.server.end(s.t, syscall.SIGTERM); status != 0 {
		s.t.Errorf("at the end: status %d: %s", status, s.server.Stderr.String())
	}
	for _, f := range s.failures {
		s.t.Error(f)
	}
	for _, args := range [][]string{{"gc"}, {"verify"}} {
		if out, err := exec.Command(testenv.Symtool(s.t), "store", args[0], s.dir).CombinedOutput(); err != nil {
			s.t.Errorf("store %s: %v: %s", args[0], err, out)
		}
	}
	missing := 0
	for path := range s.stored {
		if _, err := os.Stat(filepath.Join(s.dir, path)); errors.Is(err, os.ErrNotExist) {
			missing++
		}
	}
	if missing > 0 {
		s.t.Errorf("%d of %d files that were taken are not there", missing, len(s.stored))
	}
	if out, err := exec.Command(testenv.Symtool(s.t), "store", "ls", s.dir).CombinedOutput(); err != nil || bytes.Contains(out, []byte("gone.so")) {
		s.t.Errorf("store ls: %v, or an upload that was given up is there", err)
	}
	for _, kind := range []string{"symbols", "upload", "symbolicate", "page"} {
		all := s.times[kind]
		slices.Sort(all)
		if len(all) == 0 {
			s.t.Errorf("no answer to %s", kind)
			continue
		}
		s.t.Logf("%s: %d answers, p50 %v, p99 %v, longest %v", kind, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	}
}
