package debuginfod

import (
	elfobj "github.com/symtool/symtool/internal/object/elfobj"

	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// elfutils' client and ours get the same bytes and the same misses from
// elfutils' server, for each build-id of this repository's pairs and of libc.
// Each client finds in the cache what the other stored there.
func TestOracleDebuginfod(t *testing.T) {
	testenv.Oracle(t)
	find := testenv.Tool(t, "debuginfod-find")
	files := t.TempDir()
	ids := populate(t, files)
	url := startServer(t, testenv.Tool(t, "debuginfod"), files)

	theirs, ours := t.TempDir(), t.TempDir()
	ask := func(cache, url string, kind string, id []byte) ([]byte, bool) {
		cmd := exec.Command(find, string(kind), fmt.Sprintf("%x", id))
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+url, "DEBUGINFOD_CACHE_PATH="+cache)
		out, err := cmd.Output()
		if err != nil {
			return nil, false
		}
		data, err := os.ReadFile(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatal(err)
		}
		return data, true
	}
	fetch := func(cache, url string, kind string, id []byte) ([]byte, bool) {
		c := newClient(t, Config{URLs: []string{url}, Cache: cache, Timeout: time.Minute})
		path, tried, err := c.Fetch(context.Background(), kind, id)
		if errors.Is(err, ErrNotFound) {
			return nil, false
		}
		if err != nil {
			t.Fatalf("%x: %q: %v", id, tried, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data, true
	}
	got, missed := 0, 0
	away := "http://" + testenv.ClosedPort(t)
	for _, id := range append(ids, []byte("\x01\x23\x45\x67\x89\xab\xcd\xef")) {
		for _, kind := range []string{Debuginfo, Executable} {
			want, there := ask(theirs, url, kind, id)
			for _, c := range []struct {
				name       string
				get        func(cache, url string, kind string, id []byte) ([]byte, bool)
				cache, url string
			}{
				{"ours", fetch, ours, url},
				{"ours, of their cache", fetch, theirs, away},
				{"theirs, of our cache", ask, ours, away},
				{"ours, of our cache", fetch, ours, away},
			} {
				if data, ok := c.get(c.cache, c.url, kind, id); ok != there || !bytes.Equal(data, want) {
					t.Errorf("%s of %x: %s: %v, %d bytes, want %v, %d bytes", kind, id, c.name, ok, len(data), there, len(want))
				}
			}
			if there {
				got++
			} else {
				missed++
			}
		}
	}
	t.Logf("%d files, %d misses", got, missed)
	if got < 6 || missed < 2 {
		t.Errorf("%d files, %d misses: too few for a comparison", got, missed)
	}
	// Both store the same files for misses.
	if a, b := misses(t, ours), misses(t, theirs); a != b {
		t.Errorf("misses of ours\n%s\nof theirs\n%s", a, b)
	}
}

func misses(t *testing.T, cache string) string {
	var out []string
	for _, line := range strings.Split(left(t, cache), "\n") {
		if strings.Contains(line, " 0 ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// populate fills the server's folder and returns the build-ids in it.
func populate(t *testing.T, dir string) (ids [][]byte) {
	t.Helper()
	paths := []string{}
	for _, name := range []string{"pair.elf", "pair.debug", "eu-strip.elf", "eu-strip.debug", "moved.elf", "moved.debug", "nodebug.elf", "minidebug.elf"} {
		paths = append(paths, testenv.Input(t, name))
	}
	if libc, err := filepath.Glob("/lib/*-linux-gnu*/libc.so.6"); err == nil {
		paths = append(paths, libc...)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := elfobj.Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if id := f.BuildID(); !seen[string(id)] {
			seen[string(id)] = true
			ids = append(ids, id)
		}
		f.Close()
	}
	return ids
}

// startServer runs a server of dir until the test ends. It returns when the server
// has scanned all files.
func startServer(t *testing.T, program, dir string) string {
	t.Helper()
	port := fmt.Sprint(testenv.FreePort(t))
	url := "http://127.0.0.1:" + port
	var log bytes.Buffer
	cmd := exec.Command(program, "-F", dir, "-d", ":memory:", "-p", port, "-c", "2")
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	// debuginfod does not report the end of its scan, and is briefly idle between two files.
	idle := 0
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !scanned(url) {
			idle = 0
		} else if idle++; idle == 3 {
			return url
		}
	}
	t.Fatalf("debuginfod: %s was not scanned within five minutes:\n%s", dir, log.String())
	return ""
}

// scanned reports whether the server has scanned all files.
func scanned(url string) bool {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil {
		return false
	}
	return strings.Contains(text.String(), "thread_work_total{role=\"traverse\"} 1") &&
		strings.Contains(text.String(), "thread_work_pending{role=\"scan\"} 0") &&
		strings.Contains(text.String(), "thread_busy{role=\"scan\"} 0")
}
