package symserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/store"
)

// childVar makes this program add symbol files to a store until it is killed.
const childVar = "SYMTOOL_TEST_SYMSERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// killedText returns the symbol file with an id. Its size is 1 MB and a number of bytes that
// depends on the id.
func killedText(id string) []byte {
	n := 0
	fmt.Sscanf(id, "A%x", &n)
	return symbolText("lib.so", id, 1<<20+n)
}

// child adds the files whose ids it reads, and prints each id first.
func child(dir string) {
	s, err := store.Create(dir, store.Options{})
	if err != nil {
		panic(err)
	}
	ids := bufio.NewScanner(os.Stdin)
	for n := 0; ids.Scan(); n++ {
		text := killedText(ids.Text())
		o := store.AddOptions{}
		if n%2 == 1 {
			o.Compression = &store.Compressions[0]
		}
		fmt.Println("now")
		if _, err := s.Add(bytes.NewReader(text), o); err != nil {
			panic(err)
		}
	}
}

// TestKilledWriters kills writers in the middle of their work, 30 or 200 times, while a
// client asks for their files: each is whole, or not there.
func TestKilledWriters(t *testing.T) {
	rounds := 30
	switch {
	case testing.Short():
		rounds = 3
	case testenv.Comparing():
		rounds = 200
	}
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	live := httptest.NewServer(s)
	defer live.Close()
	var id atomic.Value
	id.Store("A0")
	ctx, cancel := context.WithCancel(t.Context())
	var whole, absent atomic.Int64
	done := make(chan error, 2)
	for _, encoding := range []string{"identity", "gzip"} {
		go func() { done <- pollKilled(ctx, live.URL, encoding, &id, &whole, &absent) }()
	}
	// One writer finishes, which shows how long it takes on this machine, and its file must have been
	// read before the first kill. Each further writer that finishes updates the time, as machines have
	// slow moments.
	n := 1
	_, took := runWriter(t, dir, &id, &n, time.Hour)
	testenv.Until(t, "a whole answer", func() bool { return whole.Load() > 0 || len(done) > 0 })
	kills := 0
	for tries := 0; tries < 100*rounds && kills < rounds; tries++ {
		killed, last := runWriter(t, dir, &id, &n, rand.N(took))
		if killed {
			kills++
		} else {
			took = last
		}
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if kills < rounds || whole.Load() == 0 || absent.Load() == 0 || notes.String() != "" {
		t.Errorf("%d kills, %d whole answers, %d times missing: %s", kills, whole.Load(), absent.Load(), notes)
	}
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	report, err := st.Verify(t.Context(), 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, f := range report.Findings {
		if left++; f.Kind != "leftover" && f.Kind != "empty" {
			t.Errorf("%s %s", f.Kind, f.Path)
		}
	}
	t.Logf("%d kills, %d whole answers, %d times still missing, %d leftovers", kills, whole.Load(), absent.Load(), left)
}

// runWriter starts a writer of one or two files, and kills it at time kill after it began with the
// last, unless it has finished. It reports whether the writer was killed, and how long the last file
// took.
func runWriter(t *testing.T, dir string, id *atomic.Value, n *int, kill time.Duration) (killed bool, took time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVar+"="+dir)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 1 + rand.IntN(2) { // the second is compressed
		name := fmt.Sprintf("A%X", *n)
		*n++
		id.Store(name)
		fmt.Fprintln(in, name)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	in.Close()
	begun := time.Now()
	timer := time.AfterFunc(kill, func() { _ = c.Process.Kill() })
	_, _ = io.Copy(io.Discard, lines)
	err = c.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true, time.Since(begun)
	}
	if err != nil {
		t.Fatal(err)
	}
	return false, time.Since(begun)
}

// pollKilled requests the newest file repeatedly.
func pollKilled(ctx context.Context, url, encoding string, id *atomic.Value, whole, absent *atomic.Int64) error {
	last, want := "", []byte(nil)
	for ctx.Err() == nil {
		name := id.Load().(string)
		if name != last {
			last, want = name, killedText(name)
		}
		r, err := http.NewRequest("GET", url+"/lib.so/"+name+"/lib.so.sym", nil)
		if err != nil {
			return err
		}
		if encoding == "identity" {
			r.Header.Set("Accept-Encoding", encoding)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(a.Body)
		a.Body.Close()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case a.StatusCode == 404 && strings.HasPrefix(string(text), "no symbols"):
			absent.Add(1)
			runtime.Gosched()
		case a.StatusCode == 200 && bytes.Equal(text, want):
			whole.Add(1)
		default:
			return fmt.Errorf("%s: status %d, %d bytes, want %d", name, a.StatusCode, len(text), len(want))
		}
	}
	return nil
}
