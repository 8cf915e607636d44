package serve_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestServeReopensLogs checks that no line is lost if logs are renamed under load, and
// SIGHUP opens new ones.
func TestServeReopensLogs(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	if err := os.Mkdir(store, 0o777); err != nil {
		t.Fatal(err)
	}
	log, missing := filepath.Join(dir, "log"), filepath.Join(dir, "missing")
	s := startServe(t, "--access-log", log, "--missing", missing, store)
	asked := 0
	ask := func() {
		var wait sync.WaitGroup
		for range 40 {
			asked++
			url := fmt.Sprintf("%s/a%d/AB1/a%d.sym", s.URL, asked, asked)
			wait.Go(func() {
				r, err := http.Get(url)
				if err != nil {
					t.Error(err)
					return
				}
				r.Body.Close()
			})
		}
		wait.Wait()
	}
	hangup := func() {
		if err := s.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	for i := range 3 {
		for _, name := range []string{log, missing} {
			if err := os.Rename(name, fmt.Sprintf("%s.%d", name, i)); err != nil {
				t.Fatal(err)
			}
		}
		hangup()
		ask()
		testenv.Until(t, "new logs", func() bool { return exists(log) && exists(missing) })
		ask()
	}
	// If a new file cannot be created, the server keeps the old one.
	if err := os.Rename(log, log+".3"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o777); err != nil {
		t.Fatal(err)
	}
	hangup()
	testenv.Until(t, "the failure", func() bool { return strings.Contains(s.Stderr.String(), log+": is a directory") })
	ask()
	if status := s.end(t, syscall.SIGTERM); status != 0 {
		t.Errorf("status %d: %s", status, s.Stderr.String())
	}
	for _, name := range []string{log, missing} {
		lines := 0
		files, err := filepath.Glob(name + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil {
				lines += bytes.Count(text, []byte("\n"))
			}
		}
		if lines != asked || len(files) < 4 {
			t.Errorf("%s: %d lines in %d files, want %d", name, lines, len(files), asked)
		}
	}
}

// TestServeEndsAtHangup checks that without a log SIGHUP ends the server, like other
// commands.
func TestServeEndsAtHangup(t *testing.T) {
	s := startServe(t, t.TempDir())
	if status := s.end(t, syscall.SIGHUP); status != 0 {
		t.Errorf("status %d: %s", status, s.Stderr.String())
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
