package upload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// The variables of a process that is to be killed: the server, the list, the files.
const (
	killURL   = "UPLOAD_KILL_URL"
	killList  = "UPLOAD_KILL_LIST"
	killFiles = "UPLOAD_KILL_FILES"
	killJobs  = 3
)

func TestMain(m *testing.M) {
	if url := os.Getenv(killURL); url != "" {
		os.Exit(victim(url))
	}
	os.Exit(m.Run())
}

// victim sends files until it is killed.
func victim(url string) int {
	list, err := OpenResume(os.Getenv(killList))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	u, err := New(Options{Protocol: V1, URL: url, Resume: list, Jobs: killJobs})
	if err == nil {
		err = u.Run(context.Background(), strings.Split(os.Getenv(killFiles), "\n"), func(r *Result) {
			if r.Err != nil {
				fmt.Fprintln(os.Stderr, r.Err)
			}
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A run that is killed at any time can be continued: in the end each file is there, and only
// files that were in transit are sent again.
func TestKilled(t *testing.T) {
	const files, kills = 60, 12
	s := newCrashServer(t)
	var mu sync.Mutex
	sent := map[string]int{}
	var begun atomic.Int64
	s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		begun.Add(1)
		time.Sleep(5 * time.Millisecond) // lets runs be killed between their requests; any moment will do
		fields, err := readForm(r)
		if err != nil {
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		sent[fields["debug_file"]]++
		return true
	}
	list := filepath.Join(t.TempDir(), "done")
	paths := symbols(t, files)
	// A run is killed some milliseconds after so many requests, however long
	// the process takes to begin; 0 is never.
	run := func(requests int64) error {
		end := begun.Load() + requests
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killURL+"="+s.URL, killList+"="+list, killFiles+"="+strings.Join(paths, "\n"))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if requests == 0 {
			return cmd.Wait()
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		testenv.Until(t, "the requests of a run", func() bool { return begun.Load() >= end || len(ended) > 0 })
		time.Sleep(rand.N(10 * time.Millisecond)) // another moment each time; any will do
		cmd.Process.Kill()
		return <-ended
	}
	done := func() int {
		text, _ := os.ReadFile(list)
		return strings.Count(string(text), "\n")
	}
	killed := 0
	for range kills {
		if done() >= files-10 {
			break
		}
		if run(1+rand.Int64N(6)) != nil {
			killed++
		}
		if done() > 0 && rand.N(2) == 0 { // a write that was interrupted
			f, _ := os.OpenFile(list, os.O_WRONLY|os.O_APPEND, 0)
			f.WriteString("uploaded\thttp://127.0.0.1/cut")
			f.Close()
		}
	}
	if err := run(0); err != nil {
		t.Fatal(err)
	}
	again := 0
	for i := range files {
		mu.Lock()
		n := sent[fmt.Sprintf("lib%d.so", i)]
		mu.Unlock()
		if n == 0 {
			t.Errorf("file %d is not there", i)
		}
		again += n - 1
	}
	if killed == 0 || again > killed*killJobs {
		t.Errorf("killed %d times, %d files were sent again", killed, again)
	}
	t.Logf("killed %d times, %d files were sent again", killed, again)
	asked := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.asked)
	}
	before := asked()
	if err := run(0); err != nil || asked() != before {
		t.Errorf("%v, asked %d times more", err, asked()-before)
	}
}

// A list is read as it was written. A file that is not a list is reported; a truncated
// line is ignored.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	a, b := &file{text: [32]byte{1}}, &file{text: [32]byte{2}}
	r, err := OpenResume(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.add(Uploaded, "http://h/a", a); err != nil {
		t.Fatal(err)
	}
	if err := r.add(Present, "http://h/b", b); err != nil {
		t.Fatal(err)
	}
	r.Close()
	text := read(t, path)
	for cut := range len(text) + 1 {
		write(t, path, text[:cut])
		r, err := OpenResume(path)
		if err != nil {
			t.Fatalf("cut after %d: %v", cut, err)
		}
		first, second := strings.IndexByte(text, '\n')+1, len(text)
		// The end of a line alone may be missing.
		if r.has("http://h/a", a) != (cut >= first-1) && cut != first-1 || r.has("http://h/b", b) != (cut >= second) && cut != second-1 {
			t.Errorf("cut after %d: %v, %v", cut, r.has("http://h/a", a), r.has("http://h/b", b))
		}
		if r.has("http://h/a", b) || r.has("http://h/c", a) {
			t.Error("another file")
		}
		if err := r.add(Uploaded, "http://h/c", b); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if r, err = OpenResume(path); err != nil || !r.has("http://h/c", b) {
			t.Errorf("cut after %d: the added entry is lost: %v", cut, err)
		}
		r.Close()
	}
	for _, text := range []string{"hello\n", "\x7fELF\n", strings.Repeat("x", longestLine+1)} {
		write(t, path, text)
		if _, err := OpenResume(path); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	if _, err := OpenResume(t.TempDir()); err == nil {
		t.Error("a folder is accepted as a list")
	}
}
