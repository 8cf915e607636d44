package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// Symtool returns the path of the program, built from the sources. The tests of all packages
// share it: the go command does not link it again if it is up to date.
func Symtool(t testing.TB) string {
	t.Helper()
	path, err := symtool()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var symtool = sync.OnceValues(func() (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "build", "test", "symtool")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	lock, err := os.Create(path + ".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	// By the profile, all packages would be compiled once more.
	cmd := exec.Command("go", "build", "-pgo=off", "-o", path, "./cmd/symtool")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// Compile builds a program of one source file, whose extension is ext, and returns its path.
func Compile(t testing.TB, tool, source, ext string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "prog"+ext), filepath.Join(dir, "prog")
	writeFile(t, src, []byte(source), 0o666)
	args := append(slices.Clone(flags), "-o", out, src)
	cmd := exec.Command(Tool(t, tool), args...)
	cmd.Env = append(os.Environ(), "RUSTC_BOOTSTRAP=1") // a stable rustc has the old mangling among its unstable options
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", tool, args, err, msg)
	}
	return out
}
