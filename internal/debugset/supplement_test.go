package debugset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// described is a section that stands for debug information.
var described = section{".debug_info", progbits, []byte("dwarf")}

func write(t *testing.T, path string, sections ...section) {
	t.Helper()
	writeFile(t, path, elfOf(sections...))
}

// debugSup is the section of a supplementary file with an id (DWARF 5, 7.3.6).
func debugSup(id []byte) section {
	return section{".debug_sup", progbits, append([]byte{5, 0, 1, 0, byte(len(id))}, id...)}
}

// A supplementary file is found by its path, relative to the file or to the target of
// its symbolic link, and by its build-id. It must have the id in the link.
func TestFindSupplement(t *testing.T) {
	id := []byte{0xab, 0xcd, 0xef}
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	link := section{".gnu_debugaltlink", progbits, append([]byte("../dwz/common\x00"), id...)}
	write(t, at("bin", "prog"), described, link)
	write(t, at("dwz", "common"), debugSup([]byte{9, 9}))
	if err := os.Symlink(at("bin", "prog"), at("link")); err != nil {
		t.Fatal(err)
	}
	found := func(path string) (string, []string) {
		t.Helper()
		set, tried := find(t, path, []string{at("debug")}, false)
		if err := problemOf(set); err != nil {
			t.Error(err)
		}
		if set.Supplement == nil {
			return "", tried
		}
		return set.Supplement.Path, tried
	}
	if got, tried := found(at("bin", "prog")); got != "" || !slices.ContainsFunc(tried, func(s string) bool {
		return strings.HasPrefix(s, at("dwz", "common")) && strings.HasSuffix(s, "id 0909, want abcdef")
	}) {
		t.Errorf("found %q; %q", got, tried)
	}
	byID := at("debug", ".build-id", "ab", "cdef.debug")
	write(t, byID, debugSup(id))
	if got, tried := found(at("bin", "prog")); got != byID {
		t.Errorf("found %q, want the one by build-id; %q", got, tried)
	}
	write(t, at("dwz", "common"), debugSup(id))
	for _, path := range []string{at("bin", "prog"), at("link")} {
		if got, tried := found(path); got != at("dwz", "common") {
			t.Errorf("%s: found %q; %q", path, got, tried)
		}
	}
}

// A supplementary file is also found below folders of debug files: by its path from .dwz on, as in GDB, and by its
// absolute path.
func TestFindSupplementBelowFolders(t *testing.T) {
	id := []byte{0xab, 0xcd, 0xef}
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
		write(t, program, described, section{".gnu_debugaltlink", progbits, append([]byte(c.link+"\x00"), id...)})
		write(t, want, debugSup(id))
		set, tried := find(t, program, []string{filepath.Join(dir, "none"), filepath.Join(dir, "debug")}, c.hermetic)
		if sup := set.Supplement; sup == nil || sup.Path != want || len(set.Problems) > 0 {
			t.Errorf("%s, hermetic %t: not found at %s: %v %q", c.link, c.hermetic, c.place, set.Problems, tried)
		}
	}
}
