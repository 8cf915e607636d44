package testenv

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What is made for all packages is made again after its source or its compiler changed, and only then.
func TestNewer(t *testing.T) {
	dir := t.TempDir()
	source, made := filepath.Join(dir, "source"), filepath.Join(dir, "made")
	if writeFile(t, source, nil, 0o666); newer(made, source) {
		t.Error("a file that is not there is newer")
	}
	writeFile(t, made, nil, 0o666)
	now := time.Now()
	for _, c := range []struct {
		age  time.Duration
		want bool
	}{{-time.Minute, true}, {0, false}, {time.Minute, false}} {
		if err := os.Chtimes(source, now, now.Add(c.age)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(made, now, now); err != nil {
			t.Fatal(err)
		}
		if got := newer(made, source); got != c.want {
			t.Errorf("made %v after its source: newer %v", -c.age, got)
		}
	}
	if newer(made, filepath.Join(dir, "missing")) {
		t.Error("newer than a file that is not there")
	}
}
