package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestFile checks that a file can be written and read, and has no name that would outlive the process.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	f, err := File(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("bytes"), 3); err != nil {
		t.Fatal(err)
	}
	var got [8]byte
	if _, err := f.ReadAt(got[:], 0); err != nil || string(got[:]) != "\x00\x00\x00bytes" {
		t.Errorf("read %q, %v; want three zeros and the bytes written", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("folder has %v, %v; want no name", left, err)
	}
	if _, err := File(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing folder: %v, want that it does not exist", err)
	}
}
