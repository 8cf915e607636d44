package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// openFiles counts the files that the process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd")
	}
	return len(all)
}

// Whatever happens to a file, nothing that was opened for it stays open: an open file would
// stay locked.
func TestFilesAreClosed(t *testing.T) {
	s := open(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would close forgotten files
	place := filepath.Join("a", "A0", "a.sym")
	replace := func(text []byte, restat bool) error {
		p, err := s.Begin()
		if err != nil {
			return err
		}
		p.Restat = restat
		if _, err := p.Write(text); err != nil {
			return err
		}
		return p.Replace(place)
	}
	text := symbols("a", "A0", 300)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"add", func() error { _, err := s.Add(bytes.NewReader(text), AddOptions{}); return err }},
		{"add the same", func() error { _, err := s.Add(bytes.NewReader(text), AddOptions{}); return err }},
		{"add another", func() error { _, err := s.Add(bytes.NewReader(symbols("a", "A0", 500)), AddOptions{}); return err }},
		{"add what is damaged", func() error {
			if _, err := s.Add(strings.NewReader("x"), AddOptions{}); err == nil {
				return errors.New("added")
			}
			return nil
		}},
		{"replace", func() error { return replace(text, false) }},
		{"replace by the same", func() error { return replace(text, true) }},
		{"give up", func() error {
			p, err := s.Begin()
			if err == nil {
				p.Abort()
			}
			return err
		}},
		{"leftover", func() error { return os.WriteFile(s.Path(".symtool-1.new"), nil, 0o666) }},
		{"list", func() error { _, err := s.List(time.Now()); return err }},
		{"verify", func() error { _, err := s.Verify(context.Background(), 2, time.Now()); return err }},
		{"collect", func() error { _, err := s.Collect(context.Background(), Policy{MaxSize: 0}, time.Now()); return err }},
	} {
		before := openFiles(t)
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("%s: %d files are open, before it %d", c.name, after, before)
		}
	}
}

// A process that ends early knows which files are being written.
func TestTemporary(t *testing.T) {
	var calls []string
	s, err := Create(t.TempDir(), Options{Temporary: func(path string, exists bool) {
		_, err := os.Lstat(path)
		calls = append(calls, fmt.Sprint(filepath.Ext(path), exists, err == nil))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(strings.NewReader("x"), AddOptions{}); err == nil {
		t.Fatal("added")
	}
	if want := []string{".newtrue true", ".newfalse false", ".newtrue true", ".newfalse false"}; fmt.Sprint(calls) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", calls, want)
	}
}

// An error of reading a file does not count as damage.
func TestUnlessDamaged(t *testing.T) {
	unread := &fs.PathError{Op: "read", Path: "a", Err: errors.New("input/output error")}
	for _, c := range []struct{ in, want error }{{nil, nil}, {io.ErrUnexpectedEOF, nil}, {unread, unread}, {fmt.Errorf("x: %w", unread), unread}} {
		if got := unlessDamaged(c.in); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
	s := open(t)
	half := io.MultiReader(bytes.NewReader(symbols("a", "A0", 100)), iotest.ErrReader(unread))
	if _, err := s.Add(half, AddOptions{Damaged: true}); !errors.Is(err, unread) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	// A damaged existing file counts as different, neither as the same nor as a failure.
	path := s.Path(filepath.Join("a", "A0", "a.sym.gz"))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("\x1f\x8b\x08damaged"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); err != nil || a.Outcome != Differs {
		t.Errorf("%+v, %v", a, err)
	}
}

// Findings are in the order of paths, whatever found them.
func TestFindingsOrder(t *testing.T) {
	s := open(t)
	for _, name := range []string{"z", "b/B0/b.sym", "a/A0/a.sym.idx", ".symtool-1.new", "a/x", "a.sym", "a/a.sym", "a/B0/d/a.sym"} {
		path := s.Path(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.Path("c"), 0o777); err != nil {
		t.Fatal(err)
	}
	want := "leftover .symtool-1.new, other a.sym, leftover a/A0/a.sym.idx, other a/B0/d/a.sym, other a/a.sym, other a/x, truncated b/B0/b.sym, empty c, other z"
	if got := strings.Join(findings(t, s.Dir), ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Verify reports a finding of each kind and no others; two forms of one text are not a
// finding.
func TestKinds(t *testing.T) {
	s := open(t)
	good := string(symbols("a", "A0", 100))
	if err := os.Chmod(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a/A0/a.sym": good, "a/A0/a.sym.gz": testenv.Gzip(t, good),
		"a/A1/a.sym": strings.Replace(good, " A0 ", " A1 ", 1), "a/A1/a.sym.gz": testenv.Gzip(t, strings.Replace(good, " A0 ", " A1 ", 1)+"PUBLIC 1 0 other\n"),
		"b/A0/b.sym": good, "c/A0/c.sym": strings.Replace(good, " a\n", " c\n", 1) + "FUNC what\n", "d/A0/d.sym": "", ".symtool-1.new": "", "e": "", "f/A0/f.sym": strings.Replace(good, " a\n", " f\n", 1),
		"h/A0/h.sym": strings.Replace(good, " a\n", " h\n", 1), "i/A0/i.sym": strings.Replace(good, " a\n", " i\n", 1),
	} {
		path := s.Path(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(s.Path("g"), 0o755), os.Chmod(s.Path("f"), 0o754), os.Chmod(s.Path("f/A0/f.sym"), 0o600)); err != nil {
		t.Fatal(err)
	}
	soon, later := time.Now().Add(clockSlack/2), time.Now().AddDate(10, 0, 0)
	if err := errors.Join(os.Chtimes(s.Path("i/A0/i.sym"), soon, soon), os.Chtimes(s.Path("h/A0/h.sym"), later, later)); err != nil {
		t.Fatal(err)
	}
	all := findings(t, s.Dir)
	want := "leftover .symtool-1.new, differs a/A1/a.sym.gz, misplaced b/A0/b.sym, damaged c/A0/c.sym, truncated d/A0/d.sym, other e, permissions f, permissions f/A0/f.sym, empty g, future h/A0/h.sym"
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, kind := range Kinds {
		if !strings.Contains(", "+strings.Join(all, ", "), ", "+kind+" ") {
			t.Errorf("no finding of the kind %q", kind)
		}
	}
	if n := len(Kinds); n != 9 {
		t.Errorf("%d kinds", n)
	}
}

// What cannot be written is an error of the store; what has no place is an error of the
// file.
func TestNoPlace(t *testing.T) {
	s := open(t)
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	var writing *WriteError
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); !errors.As(err, &writing) {
		t.Errorf("without its folder: %v", err)
	}
	for _, module := range []string{"MODULE Linux x86_64 AB0 ..\n", "MODULE Linux x86_64 AB0 a\x01b\n"} {
		_, inspected := Inspect(strings.NewReader(module), io.Discard, InspectOptions{})
		_, added := open(t).Add(strings.NewReader(module), AddOptions{})
		if inspected == nil || added == nil || inspected.Error() != added.Error() || !strings.HasPrefix(added.Error(), "MODULE name ") {
			t.Errorf("%q: %v, %v", module, inspected, added)
		}
	}
}
