package elfobj

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
)

// supLink is .debug_sup (DWARF 5, 7.3.6).
func (e *testELF) supLink(version uint16, supplementary byte, name string, id []byte) testSec {
	b := new(bytes.Buffer)
	e.u16(b, version)
	b.WriteByte(supplementary)
	b.WriteString(name + "\x00")
	b.WriteByte(byte(len(id)))
	b.Write(id)
	return testSec{name: ".debug_sup", typ: stProgbits, data: b.Bytes()}
}

func TestDebugSup(t *testing.T) {
	id := []byte{1, 2, 3}
	each(t, func(t *testing.T, e *testELF) {
		e.secs = []testSec{e.supLink(5, 0, "common", id)}
		l, err := openBytes(t, e.build()).Supplement()
		if err != nil || l == nil || l.Section != ".debug_sup" || l.Name != "common" || !bytes.Equal(l.ID, id) {
			t.Errorf("%v, %v", l, err)
		}
		e.secs = []testSec{e.supLink(5, 1, "", id)}
		if l, err := openBytes(t, e.build()).Supplement(); l != nil || err != nil {
			t.Errorf("a supplementary file has the link %v, %v", l, err)
		}
	})
	e := kinds[0].e
	for name, sec := range map[string]testSec{
		"version 6": e.supLink(6, 0, "x", id),
		"no id":     e.supLink(5, 0, "x", nil),
		"cut":       {name: ".debug_sup", typ: stProgbits, data: []byte{5, 0, 0, 'x'}},
	} {
		e.secs = []testSec{sec}
		if l, err := openBytes(t, e.build()).Supplement(); l != nil || err == nil || !strings.Contains(err.Error(), ".debug_sup") {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}

// A supplementary file is found by its path, relative to the file or to the target of
// its symbolic link, and by its build-id. It must have the id in the link.
func TestFindSupplement(t *testing.T) {
	e := kinds[0].e
	id := []byte{0xab, 0xcd, 0xef}
	write := func(path string, secs ...testSec) {
		t.Helper()
		e.secs = secs
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, e.build(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	link := testSec{name: ".gnu_debugaltlink", typ: stProgbits, data: append([]byte("../dwz/common\x00"), id...)}
	write(at("bin", "prog"), link)
	write(at("dwz", "common"), e.supLink(5, 1, "", []byte{9, 9}))
	if err := os.Symlink(at("bin", "prog"), at("link")); err != nil {
		t.Fatal(err)
	}
	find := func(path string) (string, []string) {
		t.Helper()
		f, err := Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		l, err := f.Supplement()
		if err != nil {
			t.Fatal(err)
		}
		sup, places, err := FindSupplement(f, l, []string{at("debug")}, object.DefaultLimits())
		tried := object.Lines(places)
		if err != nil {
			t.Error(err)
		}
		if sup == nil {
			return "", tried
		}
		defer sup.Close()
		return sup.Path, tried
	}
	if got, tried := find(at("bin", "prog")); got != "" || !slices.ContainsFunc(tried, func(s string) bool {
		return strings.HasPrefix(s, at("dwz", "common")) && strings.HasSuffix(s, "id 0909, want abcdef")
	}) {
		t.Errorf("found %q; %q", got, tried)
	}
	byID := at("debug", ".build-id", "ab", "cdef.debug")
	write(byID, e.supLink(5, 1, "", id))
	if got, tried := find(at("bin", "prog")); got != byID {
		t.Errorf("found %q, want the one by build-id; %q", got, tried)
	}
	write(at("dwz", "common"), e.supLink(5, 1, "", id))
	for _, path := range []string{at("bin", "prog"), at("link")} {
		if got, tried := find(path); got != at("dwz", "common") {
			t.Errorf("%s: found %q; %q", path, got, tried)
		}
	}
}

// A supplementary file is also found below folders of debug files: by its path from .dwz on, as GDB looks for it, and by its
// absolute path.
func TestFindSupplementBelowFolders(t *testing.T) {
	e, id := kinds[0].e, []byte{0xab, 0xcd, 0xef}
	write := func(path string, secs ...testSec) {
		t.Helper()
		e.secs = secs
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, e.build(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		link, place string
		hermetic    bool
	}{
		{"/nosuch/debug/.dwz/common", ".dwz/common", false},
		{"/nosuch/debug/.dwz/common", ".dwz/common", true},
		{"/nosuch/debug/.dwz/more/common", ".dwz/more/common", false},
		{"../../.dwz/common", ".dwz/common", true},
		{"/nosuch/debug/.dwz/common", "nosuch/debug/.dwz/common", false},
		{"/nosuch/common", "nosuch/common", false},
	} {
		dir := t.TempDir()
		want, program := filepath.Join(dir, "debug", c.place), filepath.Join(dir, "prog")
		write(program, testSec{name: ".gnu_debugaltlink", typ: stProgbits, data: append([]byte(c.link+"\x00"), id...)})
		write(want, e.supLink(5, 1, "", id))
		f, err := Open(program, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Supplement()
		if err != nil {
			t.Fatal(err)
		}
		lim := object.DefaultLimits()
		lim.Hermetic = c.hermetic
		sup, tried, err := FindSupplement(f, l, []string{filepath.Join(dir, "none"), filepath.Join(dir, "debug")}, lim)
		if sup == nil || err != nil || sup.Path != want {
			t.Errorf("%s, hermetic %t: not found at %s: %v %q", c.link, c.hermetic, c.place, err, object.Lines(tried))
		}
		if sup != nil {
			sup.Close()
		}
		f.Close()
	}
}
