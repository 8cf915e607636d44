package symfmt

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedData is where the test data is, if it is there.
func sharedData() string {
	dir := os.Getenv("SYMTOOL_SHARED")
	if dir == "" {
		dir = "../shared"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", dir) // it is relative to the repository's root
	}
	return filepath.Join(dir, "data")
}

// shared is the folder of test data; the test is skipped where it is absent.
func shared(t testing.TB) string {
	dir := sharedData()
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no test data: %v (set SYMTOOL_SHARED)", err)
	}
	return dir
}

func readShared(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(sharedData(), name))
}

// symbolFiles are the real symbol files, by path below the test data.
func symbolFiles(t testing.TB) map[string][]byte {
	dir := shared(t)
	files := make(map[string][]byte)
	for _, sub := range []string{"symfiles", "minidumps"} {
		err := filepath.WalkDir(filepath.Join(dir, sub), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".sym") {
				return err
			}
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			files[filepath.ToSlash(name)] = data
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 10 {
		t.Fatalf("%d symbol files below %s, want 10 or more", len(files), dir)
	}
	return files
}

func mustRead(t testing.TB, text []byte) *Module {
	t.Helper()
	m, report, err := Read(bytes.NewReader(text), ReadOptions{File: "t.sym"})
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if len(report.Problems) != 0 || report.Dropped != 0 {
		t.Fatalf("strict reader reports %v", report)
	}
	return m
}

func mustWrite(t testing.TB, m *Module, jobs int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, WriteOptions{Jobs: jobs}); err != nil {
		t.Fatalf("write: %v", err)
	}
	return b.Bytes()
}
