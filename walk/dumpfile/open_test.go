package dumpfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	data := testenv.ReadInput(t, "mini-linux.dmp")
	temp := t.TempDir()
	for name, contents := range map[string][]byte{"plain": data, "gzip": testenv.Gzip(t, data)} {
		d, err := Open(t.Context(), writeFile(t, name, contents), Options{TempDir: temp})
		if err != nil || len(d.Problems) > 0 {
			t.Fatal(name, err, d)
		}
		if d.Process.ID != 42 || len(d.Memory.Bytes(0x10000, 32)) != 32 {
			t.Errorf("%s: process %d, %d bytes of stack", name, d.Process.ID, len(d.Memory.Bytes(0x10000, 32)))
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("the second time: %v", err)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// The memory of a closed dump is reused for another dump, but not the memory of an open one.
func TestOpenSideBySide(t *testing.T) {
	data := testenv.ReadInput(t, "mini-linux.dmp")
	open := func(data []byte) (*dump.Dump, func()) {
		file, err := Open(t.Context(), writeFile(t, "dump", data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := file.Dump
		return d, func() { file.Close() }
	}
	for range 3 {
		_, close := open(data)
		close()
		first, close := open(data)
		want := bytes.Clone(first.Memory.Bytes(0x10000, 32))
		other := bytes.Clone(data)
		place := bytes.Index(other, want)
		clear(other[place : place+len(want)])
		second, closeSecond := open(other)
		if got := first.Memory.Bytes(0x10000, 32); !bytes.Equal(got, want) {
			t.Errorf("after another dump was opened: %x, want %x", got, want)
		}
		if got := second.Memory.Bytes(0x10000, 32); !bytes.Equal(got, make([]byte, 32)) {
			t.Errorf("the other dump has %x", got)
		}
		close()
		closeSecond()
	}
}

func TestOpenErrors(t *testing.T) {
	data := testenv.ReadInput(t, "mini-linux.dmp")
	bomb := testenv.Gzip(t, append([]byte("MDMP"), make([]byte, 1<<20)...))
	for _, c := range []struct {
		name     string
		contents []byte
		o        Options
		want     string
	}{
		{"empty", nil, Options{}, "not a dump"},
		{"other", []byte("MODULE Linux x86_64 0 a\n"), Options{}, "not a dump"},
		{"packed other", testenv.Gzip(t, []byte("text")), Options{}, "not a dump"},
		{"bomb", bomb, Options{MaxUnpacked: 1 << 19}, "gzip data: more than 524288 bytes when unpacked"},
		{"no gzip", []byte("\x1f\x8b\x08"), Options{}, "gzip data: unexpected EOF"},
		{"no folder", testenv.Gzip(t, data), Options{TempDir: "/does/not/exist"}, "no such file or directory"},
	} {
		path := writeFile(t, "a.dmp", c.contents)
		d, err := Open(t.Context(), path, c.o)
		if err == nil || d != nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Count(err.Error(), path) != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	// At the limit it is read.
	if d, err := Open(t.Context(), writeFile(t, "b.dmp", testenv.Gzip(t, data)), Options{MaxUnpacked: int64(len(data))}); err != nil {
		t.Error(err)
	} else {
		d.Close()
	}
}

// A file that shrinks while it is read is an error, not the end of the process.
func TestFileShrinks(t *testing.T) {
	if !bin.CanMap {
		t.Skip("this system maps no files")
	}
	data := testenv.ReadInput(t, "mini-linux.dmp")
	path := writeFile(t, "a.dmp", append(data, make([]byte, 1<<20)...))
	c, err := load(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	d, err := Read(c.data, path, Options{})
	if err == nil || d != nil || !strings.Contains(err.Error(), "the file was truncated") {
		t.Errorf("%v, %v", d, err)
	}
}

// A panic other than a memory fault is a bug, and is not hidden.
func TestOtherPanics(t *testing.T) {
	old := formats
	defer func() {
		formats = old
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	formats = []format{{sniff: func([]byte) bool { panic("bug") }}}
	var d *dump.Dump
	d, err := Read([]byte("x"), "x", Options{})
	t.Error(d, err)
}
