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
	cxx, err := cxxProgram(testenv.Tool(t, "g++"), filepath.Join(testenv.Root(t), "golden", "input", "src", "templates.cc"))
	if err != nil {
		t.Fatal(err)
	}
	files["c++"] = cxx
	return files
}

// GoProgram builds a program of Go's own: what the linker makes of a test has no
// debug information.
var GoProgram = sync.OnceValues(func() (string, error) {
	return build("gofmt", func(out string) *exec.Cmd { return exec.Command("go", "build", "-o", out, "cmd/gofmt") })
})

var (
	cxxOnce sync.Once
	cxxPath string
	cxxErr  error
)

// cxxProgram builds the C++ program as the oracle tests do.
func cxxProgram(cxx, source string) (string, error) {
	cxxOnce.Do(func() {
		cxxPath, cxxErr = build("templates", func(out string) *exec.Cmd {
			return exec.Command(cxx, "-std=c++20", "-O2", "-g", "-gdwarf-5", "-o", out, source)
		})
	})
	return cxxPath, cxxErr
}

// tempDir is a folder that lives as long as the tests.
var tempDir string

func build(name string, cmd func(out string) *exec.Cmd) (string, error) {
	out := filepath.Join(tempDir, name)
	if text, err := cmd(out).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return out, nil
}

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
