package dwarf2sym

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// largeFiles returns large binaries with debug information by name: a Go program and,
// in comparisons with other tools, libc's debug file and a C++ program of many templates.
func largeFiles(t testing.TB) map[string]string {
	t.Helper()
	program, err := GoProgram()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"go": program}
	if !testenv.Comparing() {
		return files
	}
	if path := libcDebug(); path != "" {
		files["libc"] = path
	} else {
		t.Error("no debug file of libc: apt-get install libc6-dbg")
	}
	files["c++"] = testenv.Templates(t)
	return files
}

// GoProgram builds one of Go's own programs: the binary of a test has no debug
// information.
var GoProgram = sync.OnceValues(func() (string, error) {
	out := filepath.Join(tempDir, "gofmt")
	if text, err := exec.Command("go", "build", "-o", out, "cmd/gofmt").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return out, nil
})

// tempDir is a folder that lives as long as the tests.
var tempDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "dwarf2sym-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	tempDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
