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
	return built("symtool", func(root, path string) error {
		// With the profile, all packages would be compiled once more.
		return runIn(root, "go", "build", "-pgo=off", "-o", path, "./cmd/symtool")
	})
})

// Templates returns the path of a C++ program with many templates, built by g++ -O2 with DWARF 5. Building it
// takes ten seconds: the tests of all packages share it, and must not change it.
func Templates(t testing.TB) string {
	t.Helper()
	gxx, source := Tool(t, "g++"), Input(t, "src", "templates.cc")
	path, err := built("templates", func(root, path string) error {
		if newer(path, source) && newer(path, gxx) {
			return nil
		}
		fresh := path + ".new"
		if err := runIn(filepath.Dir(source), gxx, "-std=c++20", "-O2", "-g", "-gdwarf-5", "-w", "-pthread", "-Wl,--build-id", "-o", fresh, filepath.Base(source)); err != nil {
			return err
		}
		return os.Rename(fresh, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newer reports whether a file exists and was written after another.
func newer(path, than string) bool {
	own, err := os.Stat(path)
	other, otherErr := os.Stat(than)
	return err == nil && otherErr == nil && own.ModTime().After(other.ModTime())
}

// built calls make to make a file of build/test, or bring it up to date, in one process at a time. It returns the
// file's path.
func built(name string, make func(root, path string) error) (path string, err error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "build", "test", name)
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
	return path, make(dir, path)
}

// runIn runs a program in a folder.
func runIn(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, out)
	}
	return nil
}

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
