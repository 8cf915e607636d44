package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// text returns the text of a file that may be compressed.
func text(b []byte) io.Reader {
	r, _, err := symfmt.Decompress(bytes.NewReader(b))
	if err != nil {
		return bytes.NewReader(b)
	}
	return r
}

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Create(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func list(t *testing.T, s *Store) *Listing {
	t.Helper()
	l, err := s.List(time.Now())
	if err != nil || len(l.Problems) > 0 {
		t.Fatal(err, l.Problems)
	}
	return l
}

// A file that is being written is not a leftover, however old it is.
func TestWritingStays(t *testing.T) {
	s := open(t)
	p, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(symbols("a", "A0", 100)); err != nil || p.Flush() != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-100 * time.Hour)
	if err := os.Chtimes(s.Path(p.name), long, long); err != nil {
		t.Fatal(err)
	}
	if l := list(t, s); len(l.Writing) != 1 || len(l.Leftovers) != 0 {
		t.Errorf("%+v", l)
	}
	if c, err := s.Collect(context.Background(), Policy{MaxSize: 0}, time.Now()); err != nil || c.Files != 0 {
		t.Errorf("%v %+v", err, c)
	}
	if o, _, err := p.Publish(filepath.Join("a", "A0", "a.sym")); o != Added || err != nil {
		t.Error(o, err)
	}
	if f := findings(t, s.Dir); len(f) != 0 {
		t.Error(f)
	}
}

// Temporary files that are not locked count as leftovers once they are old.
func TestLeftoverAge(t *testing.T) {
	for _, network := range []bool{false, true} {
		s := open(t)
		s.network = network
		for name, age := range map[string]time.Duration{".symtool-1.idx": 0, ".symtool-2.tmp": 2 * time.Hour, ".symtool-3.new": 0, ".symtool-4.new": 2 * time.Hour} {
			if err := os.WriteFile(s.Path(name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-age)
			if err := os.Chtimes(s.Path(name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		var left []string
		for _, e := range list(t, s).Leftovers {
			left = append(left, e.Path)
		}
		want := ".symtool-2.tmp .symtool-3.new .symtool-4.new"
		if network {
			want = ".symtool-2.tmp .symtool-4.new"
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("network %v: %s, want %s", network, got, want)
		}
	}
}

// If folders cannot be locked, a file that belongs to the store is.
func TestNetworkLock(t *testing.T) {
	s := open(t)
	s.network = true
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path(lockName)); err != nil {
		t.Error(err)
	}
	if f := findings(t, s.Dir); len(f) != 0 {
		t.Error(f)
	}
	unlock, err := s.lock(true)
	if err != nil {
		t.Fatal(err)
	}
	added := make(chan error)
	go func() {
		_, err := s.Add(bytes.NewReader(symbols("b", "B0", 100)), AddOptions{})
		added <- err
	}()
	select {
	case err := <-added:
		t.Errorf("added while another has the lock: %v", err)
	case <-time.After(50 * time.Millisecond): // nothing signals that nothing happens; on a slow machine the test may miss a mistake, but does not fail
	}
	unlock()
	if err := <-added; err != nil {
		t.Error(err)
	}
}

// On a full disk no part of a new file is left, and existing files stay.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs can be mounted here: %s", out)
	}
	defer func() { _ = exec.Command("umount", dir).Run() }()
	s, err := Create(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 200e3)), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, how := range []*Compression{nil, &Compressions[0], &Compressions[1]} {
		_, err := s.Add(bytes.NewReader(symbols("b", "B0", 3e6)), AddOptions{Compression: how})
		var writing *WriteError
		if !errors.As(err, &writing) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v: %v", how, err)
		}
	}
	if l := list(t, s); len(l.Versions) != 1 || len(l.Leftovers)+len(l.Writing)+len(l.Empty) != 0 {
		t.Errorf("%+v", l)
	}
	p, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Write(symbols("a", "A0", 1e6))
	if err = errors.Join(err, p.Replace(filepath.Join("a", "A0", "a.sym"))); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if f := findings(t, dir); len(f) != 0 {
		t.Error(f)
	}
	if got, err := os.ReadFile(s.Path("a/A0/a.sym")); err != nil || !bytes.Equal(got, symbols("a", "A0", 200e3)) {
		t.Error("an existing file is changed", err)
	}
}

// Files are added while others are collected, including folders.
func TestAddWhileCollecting(t *testing.T) {
	s := open(t)
	const enough = 50
	var added, removed atomic.Int64
	limit := time.Now().Add(5 * time.Minute)
	busy := func() bool { return (added.Load() < enough || removed.Load() < enough) && time.Now().Before(limit) }
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i := 0; busy(); i++ {
				b := symbols(fmt.Sprint("lib", i%3), fmt.Sprintf("%X0", i%5), 500)
				a, err := s.Add(bytes.NewReader(b), AddOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				if a.Outcome == Added {
					added.Add(1)
				}
			}
		})
	}
	wg.Go(func() {
		for busy() {
			c, err := s.Collect(context.Background(), Policy{MaxSize: 0}, time.Now())
			if err != nil || len(c.Problems) > 0 {
				t.Errorf("%v, %v", err, c)
				return
			}
			removed.Add(int64(c.Versions))
		}
	})
	wg.Wait()
	if added.Load() < enough || removed.Load() < enough {
		t.Errorf("only %d added and %d removed", added.Load(), removed.Load())
	}
	if f := findings(t, s.Dir); len(f) > 0 {
		t.Error(f)
	}
}

// awaitLock waits until something in this process waits for a lock of a file.
func awaitLock(t *testing.T) {
	t.Helper()
	waits := regexp.MustCompile(fmt.Sprintf(`(?m)-> FLOCK .* %d `, os.Getpid()))
	testenv.Until(t, "somebody to wait for the lock", func() bool {
		locks, err := os.ReadFile("/proc/locks")
		return err != nil || waits.Match(locks)
	})
}

// Two forms of one file are published at once: the second waits, and finds the first.
func TestPublishOneByOne(t *testing.T) {
	s := open(t)
	other, err := Open(s.Dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var wg sync.WaitGroup
	s.step = func(what string) {
		if what != "mkdir" {
			return
		}
		wg.Go(func() {
			a, err := other.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{Compression: &Compressions[0]})
			if err != nil || a.Outcome != Same {
				t.Errorf("%+v, %v", a, err)
			}
		})
		awaitLock(t)
	}
	if a, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); err != nil || a.Outcome != Added {
		t.Errorf("%+v, %v", a, err)
	}
	wg.Wait()
}

// Without hard links a file is renamed, and still replaces nothing.
func TestNoLinks(t *testing.T) {
	for _, no := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EXDEV} {
		s := open(t)
		s.link = func(old, new string) error { return &os.LinkError{Op: "linkat", Old: old, New: new, Err: no} }
		for i, want := range []Outcome{Added, Differs, Same} {
			a, err := s.Add(bytes.NewReader(symbols("a", "A0", 100+500*(i%2))), AddOptions{})
			if err != nil || a.Outcome != want {
				t.Errorf("%v: %+v, %v, want %v", no, a, err, want)
			}
		}
		if f := findings(t, s.Dir); len(f) > 0 {
			t.Error(f)
		}
	}
	s := open(t)
	s.link = func(string, string) error { return syscall.EIO }
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if l := list(t, s); len(l.Versions)+len(l.Leftovers)+len(l.Writing) != 0 {
		t.Errorf("%+v", l)
	}
}

// A finished file waits for its name with little memory, and can still be written to.
func TestFinished(t *testing.T) {
	s := open(t)
	text := symbols("a", "A0", 100)
	p, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	p.Write(text[:50])
	if err := p.Finish(); err != nil || p.Size() >= writeBuffer {
		t.Errorf("a buffer of %d bytes, error %v", p.Size(), err)
	}
	p.Write(text[50:])
	if err := p.Replace("a/A0/a.sym"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(s.Path("a/A0/a.sym")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, error %v", got, err)
	}
}

// A file replaces an existing one, and takes its permissions.
func TestReplace(t *testing.T) {
	s := open(t)
	place := filepath.Join("a", "A0", "a.sym")
	for i, mode := range []os.FileMode{0o640, 0o604} {
		p, err := s.Begin()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p, i)
		if err := p.Replace(place); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(s.Path(place))
		if err != nil || i > 0 && st.Mode().Perm() != 0o640 {
			t.Error(st.Mode(), err)
		}
		if err := os.Chmod(s.Path(place), mode&0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(s.Path(place)); string(got) != "1" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if l := list(t, s); len(l.Leftovers)+len(l.Writing) != 0 {
		t.Errorf("%+v", l)
	}
}

// Lists of modules in the forms that servers write.
func TestReadWanted(t *testing.T) {
	const in = "\ufeff# comment\n\nlibxul.so/ABC0\nlib x/ABC0/lib x.sym\ndebug_file,debug_id,code_file,code_id\n" +
		"xul.pdb,abc1,xul.dll,5F\r\n\"libq.so\",\"AB5\",\"/ab/libq.so\",1\nlibs.so,AB6,/ab/cd/libs.so,\na,b.so/AB7/a,b.so.sym\nlibt.so , AB8 , x\nlibc.so.6  ABC2\na b\tABC3\nMODULE Linux x86_64 ABC4 my lib\n"
	var got []string
	err := ReadWanted(strings.NewReader(in), func(p Place) error {
		got = append(got, p.Name+"|"+p.ID)
		return nil
	})
	want := "libxul.so|ABC0 lib x|ABC0 xul.pdb|abc1 libq.so|AB5 libs.so|AB6 a,b.so|AB7 libt.so|AB8 libc.so.6|ABC2 a b|ABC3 my lib|ABC4"
	if strings.Join(got, " ") != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for in, want := range map[string]string{
		"x": `line 1: "x": want NAME/ID or NAME ID`, "\n../../x": `line 2: name "..": is not`, "a/xyz": "line 1: id", `"",ABC0`: `line 1: name "": is empty`, `",ABC0`: "", "MODULE a": `line 1: "MODULE a": want MODULE OS`,
		strings.Repeat("x", 1e5): "line 1: more than 65536 bytes",
	} {
		err := ReadWanted(strings.NewReader(in), func(Place) error { return nil })
		if want == "" && err == nil {
			continue
		}
		if err == nil || want == "" || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}

// With Restat an unchanged file keeps its time.
func TestRestat(t *testing.T) {
	s := open(t)
	place := filepath.Join("a", "A0", "a.sym")
	for i, want := range []bool{false, true, false} {
		p, err := s.Begin()
		if err != nil {
			t.Fatal(err)
		}
		p.Restat = true
		fmt.Fprint(p, i/2)
		if err := p.Replace(place); err != nil || p.Unchanged != want {
			t.Errorf("%d: unchanged is %v, %v", i, p.Unchanged, err)
		}
	}
	if l := list(t, s); len(l.Leftovers)+len(l.Writing) != 0 {
		t.Errorf("%+v", l)
	}
}

// A file that is added again counts as new: a collector that has already listed it for its
// age does not remove it.
func TestAddedAgainStays(t *testing.T) {
	s := open(t)
	other, err := Open(s.Dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	text := symbols("a", "A0", 100)
	add := func(to *Store, want Outcome) {
		a, err := to.Add(bytes.NewReader(text), AddOptions{})
		if err != nil || a.Outcome != want {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	add(s, Added)
	path := s.Path(filepath.Join("a", "A0", "a.sym"))
	age := func(d time.Duration) {
		at := time.Now().Add(-d)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	age(100 * 24 * time.Hour)
	policy := Policy{OlderThan: 24 * time.Hour, MaxSize: -1, Keep: func(*Version) bool { add(other, Same); return false }}
	c, err := s.Collect(context.Background(), policy, time.Now())
	if err != nil || c.Versions != 0 || c.Left != int64(len(text)) {
		t.Errorf("%+v, %v", c, err)
	}
	policy.Keep = nil
	if c, err := s.Collect(context.Background(), policy, time.Now()); err != nil || c.Versions != 0 {
		t.Errorf("the next one: %+v, %v", c, err)
	}
	// The time of a new file stays, so that nothing that depends on it is built again.
	age(freshAge / 2)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	add(s, Same)
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v, %v: %v", before.ModTime(), after.ModTime(), err)
	}
	// A file that differs is not touched.
	age(2 * freshAge)
	text = symbols("a", "A0", 300)
	add(s, Differs)
	if st, err := os.Stat(path); err != nil || time.Since(st.ModTime()) < 2*freshAge {
		t.Error(st.ModTime(), err)
	}
}

// A folder in which a writer is about to put its file is not reported as empty.
func TestVerifyWhileAdding(t *testing.T) {
	s := open(t)
	other, err := Open(s.Dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var wg sync.WaitGroup
	s.step = func(what string) {
		if what == "mkdir" {
			wg.Go(func() {
				r, err := other.Verify(context.Background(), 1, time.Now())
				if err != nil || len(r.Findings) > 0 {
					t.Errorf("%+v, %v", r, err)
				}
			})
			awaitLock(t)
		}
	}
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err := os.MkdirAll(s.Path("b/B0/c"), 0o777); err != nil {
		t.Fatal(err)
	}
	if f := findings(t, s.Dir); strings.Join(f, " ") != "empty b empty b/B0 empty b/B0/c" {
		t.Error(f)
	}
}

// Files of other layouts are distinguished from files that do not belong in a store.
func TestLayoutOf(t *testing.T) {
	module := File{OS: "Linux", Name: "lib.so", ID: "ABCDEF0", BuildID: "00aabbccdd", Ext: ".sym"}
	for _, layout := range Layouts() {
		for _, contents := range []Contents{Symbols, Executable, DebugInfo} {
			f := module
			f.Contents = contents
			path, err := PathIn(layout, &f)
			if err != nil {
				continue
			}
			want := layout
			if layout == "breakpad" {
				want = ""
			}
			if got := layoutOf(path); got != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	}
	for _, path := range []string{"a", ".build-id/0/aa", ".build-id/00/x.debug", ".build-id/00/aa/b", "buildid/xy/executable", "buildid/ab/source", "zz/aabb/breakpad", "aa/bb/other", "abc/dd/breakpad", ""} {
		if got := layoutOf(filepath.FromSlash(path)); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// The extension of a file shows how it is compressed.
func TestAddExtension(t *testing.T) {
	for _, how := range append([]Compression{{}}, Compressions...) {
		s := open(t)
		o := AddOptions{}
		if how.Name != "" {
			o.Compression = &how
		}
		a, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), o)
		if want := filepath.Join("a", "A0", "a.sym"+how.Ext); err != nil || a.Path != want {
			t.Errorf("%+v, %v, want %s", a, err, want)
		}
		f, err := os.Open(s.Path(a.Path))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, is, err := symfmt.Decompress(f); is != how.Name || err != nil {
			t.Errorf("%s is %q, %v", a.Path, is, err)
		}
	}
}

// The permissions of files are compared with those of the store's folder.
func TestVerifyModes(t *testing.T) {
	s := open(t)
	if _, err := s.Add(bytes.NewReader(symbols("a", "A0", 100)), AddOptions{}); err != nil {
		t.Fatal(err)
	}
	path := s.Path(filepath.Join("a", "A0", "a.sym"))
	for _, c := range []struct {
		root, file os.FileMode
		want       string
	}{
		{0o755, 0o644, ""}, {0o755, 0o600, "others may read the store, but not this: mode 0600"}, {0o750, 0o600, "the group may read the store, but not this: mode 0600"},
		{0o700, 0o600, ""}, {0o750, 0o640, ""}, {0o755, 0o646, "anyone may write to it: mode 0646"}, {0o777, 0o646, ""}, {0o711, 0o600, ""},
	} {
		if err := errors.Join(os.Chmod(s.Dir, c.root), os.Chmod(path, c.file), os.Chmod(s.Path("a"), c.root|0o500), os.Chmod(s.Path("a/A0"), c.root|0o500)); err != nil {
			t.Fatal(err)
		}
		r, err := s.Verify(context.Background(), 1, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range r.Findings {
			if f.Kind == "permissions" && strings.HasSuffix(f.Path, ".sym") {
				got += f.Message
			}
		}
		if got != c.want {
			t.Errorf("%04o in %04o: %q, want %q", c.file, c.root, got, c.want)
		}
	}
}
