package testenv

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// WriteFiles writes path, contents, path, contents... below a new folder.
func WriteFiles(t testing.TB, files ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(files); i += 2 {
		writeFile(t, filepath.Join(dir, files[i]), []byte(files[i+1]), 0o666)
	}
	return dir
}

// Copy copies a file into a folder, which it makes, and returns its path there.
func Copy(t testing.TB, from string, to ...string) string {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to...)
	writeFile(t, path, data, 0o777)
	return path
}

func writeFile(t testing.TB, path string, data []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

// Gzip returns a text compressed with gzip.
func Gzip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Zstd returns a text compressed with zstd.
func Zstd(t testing.TB, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}
