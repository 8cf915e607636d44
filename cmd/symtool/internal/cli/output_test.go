package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// holds checks the contents of a file, and that its folder contains no
// temporary file.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", path, got, err, want)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".symtool*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func create(t *testing.T, path string) Output {
	t.Helper()
	out, err := CreateOutput(path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sym")
	out := create(t, path)
	long := strings.Repeat("x", 3*OutputBuffer+1)
	if _, err := io.WriteString(out, long); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Commit: %v", err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	out.Abort()
	holds(t, path, long)
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != fs.FileMode(0o666&^umask) {
		t.Errorf("mode %v, %v; want 0666 less the umask", st.Mode(), err)
	}
}

func TestAbortKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sym")
	write(t, path, "old", 0o640)
	out := create(t, path)
	if _, err := io.WriteString(out, "new"); err != nil {
		t.Fatal(err)
	}
	out.Abort()
	holds(t, path, "old")
}

func TestReplacedFileKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sym")
	write(t, path, "old", 0o640)
	out := create(t, path)
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want 0640", st.Mode(), err)
	}
}

func TestLinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.sym"), filepath.Join(dir, "link.sym")
	write(t, real, "old", 0o644)
	if err := os.Symlink("real.sym", link); err != nil {
		t.Fatal(err)
	}
	out := create(t, link)
	if _, err := io.WriteString(out, "new"); err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, real, "new")
	if target, err := os.Readlink(link); err != nil || target != "real.sym" {
		t.Errorf("link to %q, %v", target, err)
	}
}

func TestRemoveAllTemporaries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sym")
	out := create(t, path)
	Temporaries.removeAll()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	out.Abort()
}

func TestStandardOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	out := NewStdout(w)
	_, err = io.WriteString(out, strings.Repeat("x", 2*OutputBuffer))
	if !errors.Is(err, ErrReaderGone) {
		t.Errorf("write to a pipe without a reader: %v", err)
	}
	if err := OutputError("standard output", err); err != nil {
		t.Errorf("is an error: %v", err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	out = NewStdout(full)
	if _, err := io.WriteString(out, "x"); err != nil {
		t.Errorf("not buffered: %v", err)
	}
	err = OutputError(out.Name(), out.Commit())
	var status *StatusError
	if !errors.As(err, &status) || status.Status != StatusOutput || err.Error() != "standard output: no space left on device" {
		t.Errorf("full disk: %v", err)
	}
}

func TestSameContents(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	long := strings.Repeat("x", OutputBuffer)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"", "x", false}, {"x", "x", true}, {"x", "y", false},
		{long, long, true}, {long, long + "x", false}, {long + "x", long, false}, {long + "x", long + "x", true},
	} {
		write(t, a, c.a, 0o644)
		write(t, b, c.b, 0o644)
		if got, err := SameContents(a, b); err != nil || got != c.want {
			t.Errorf("%d and %d bytes: %v, %v; want %v", len(c.a), len(c.b), got, err, c.want)
		}
	}
}
