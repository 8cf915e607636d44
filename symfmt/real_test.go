package symfmt

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// symbolFiles returns symbol files of this project and, if present, of others, by path.
func symbolFiles(t testing.TB) map[string][]byte {
	t.Helper()
	golden, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(golden) < 100 {
		t.Fatalf("%d symbol files, want 100 or more: %v", len(golden), err)
	}
	paths := append(golden, testenv.Input(t, "crashes", "win.sym"))
	paths = append(paths, testenv.SharedGlob(t, "data", "symfiles", "*.sym")...)
	paths = append(paths, testenv.SharedGlob(t, "data", "minidumps", "*", "symbols", "*", "*", "*.sym")...)
	files := make(map[string][]byte)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(text, []byte("\n# ")); i >= 0 { // notes in a golden file
			text = text[:i+1]
		}
		if !bytes.HasSuffix(text, []byte("\n")) { // one of Breakpad's tests
			text = append(text, '\n')
		}
		files[path] = text
	}
	return files
}

func mustRead(t testing.TB, text []byte) *Module {
	t.Helper()
	m, report, err := read(bytes.NewReader(text), ReadOptions{File: "t.sym"})
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
