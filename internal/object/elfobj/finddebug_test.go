package elfobj

import (
	"bytes"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// debugPair makes a binary with a build-id and a debuglink, and a debug file.
func debugPair(id string, link string) (binary, debug []byte) {
	e := kinds[0].e
	e.secs = []testSec{
		{name: ".note.gnu.build-id", typ: stNote, data: e.note("GNU\x00", 3, []byte(id), 4)},
		{name: ".debug_info", typ: stProgbits, data: []byte("dwarf")},
	}
	if id == "" {
		e.secs = e.secs[1:]
	}
	debug = e.build()
	data := []byte(link + "\x00")
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	b := bytes.NewBuffer(data)
	e.u32(b, crc32.ChecksumIEEE(debug))
	e.secs = e.secs[:len(e.secs)-1]
	if link != "" {
		e.secs = append(e.secs, testSec{name: ".gnu_debuglink", typ: stProgbits, data: b.Bytes()})
	}
	return e.build(), debug
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFindDebug(t *testing.T) {
	const id = "\xab\xcd\xef\x01"
	const byID = ".build-id/ab/cdef01.debug"
	binary, debug := debugPair(id, "prog.debug")
	_, other := debugPair("\xab\xcd\xef\x02", "")
	damaged := append([]byte("\x7fELF\x09"), debug[5:]...)
	cases := map[string]struct {
		files map[string][]byte // below the test's folder; the binary is bin/prog
		want  string            // path found; "" if none
		tried []string          // parts of the lines of refusals, in order
		err   string
	}{
		"nothing": {want: "", tried: []string{"/one/" + byID + ": no such file", "/two/" + byID + ": no such file",
			"/bin/prog.debug: no such file", "/bin/.debug/prog.debug: no such file", "/one/", "/two/"}},
		"build-id":           {files: map[string][]byte{"two/" + byID: debug, "bin/prog.debug": debug}, want: "two/" + byID, tried: []string{"/one/" + byID}},
		"wrong id":           {files: map[string][]byte{"one/" + byID: other, "two/" + byID: debug}, want: "two/" + byID, tried: []string{"build-id abcdef02, want abcdef01"}},
		"beside":             {files: map[string][]byte{"bin/prog.debug": debug}, want: "bin/prog.debug", tried: []string{"one", "two"}},
		"in .debug":          {files: map[string][]byte{"bin/.debug/prog.debug": debug}, want: "bin/.debug/prog.debug", tried: []string{"", "", ""}},
		"CRC":                {files: map[string][]byte{"bin/prog.debug": other, "bin/.debug/prog.debug": debug}, want: "bin/.debug/prog.debug", tried: []string{"", "", "CRC-32 "}},
		"below the root":     {files: map[string][]byte{"two/ROOT/bin/prog.debug": debug}, want: "two/ROOT/bin/prog.debug", tried: make([]string, 5)},
		"damaged":            {files: map[string][]byte{"one/" + byID: damaged}, tried: []string{"offset 0x4: ELF class 9", "", "", "", "", ""}, err: "ELF class 9"},
		"damaged, then good": {files: map[string][]byte{"one/" + byID: damaged, "bin/prog.debug": debug}, want: "bin/prog.debug", tried: []string{"ELF class 9", ""}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			place := func(p string) string { return filepath.Join(dir, strings.Replace(p, "ROOT", dir, 1)) }
			writeFile(t, place("bin/prog"), binary)
			for p, data := range c.files {
				writeFile(t, place(p), data)
			}
			f, err := Open(place("bin/prog"), object.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, places, err := FindDebug(f, []string{place("one"), place("two")}, object.DefaultLimits())
			tried := object.Lines(places)
			if got != nil {
				defer got.Close()
			}
			checkFound(t, got, c.want, place)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if len(tried) != len(c.tried) {
				t.Fatalf("tried:\n%s\nwant %q", strings.Join(tried, "\n"), c.tried)
			}
			for i := range tried {
				if !strings.Contains(tried[i], c.tried[i]) {
					t.Errorf("tried %q, want %q", tried[i], c.tried[i])
				}
			}
		})
	}
}

func checkFound(t *testing.T, got *File, want string, place func(string) string) {
	t.Helper()
	switch {
	case got == nil && want != "":
		t.Errorf("not found, want %s", want)
	case got != nil && want == "":
		t.Errorf("found %s", got.Path)
	case got != nil && got.Path != place(want):
		t.Errorf("found %s, want %s", got.Path, place(want))
	case got != nil && !got.Object().HasDWARF():
		t.Error("found no DWARF")
	}
}

func TestFindDebugRefusesFoldersInLinks(t *testing.T) {
	for _, link := range []string{"../prog.debug", "/etc/passwd", "..", "a/b"} {
		dir := t.TempDir()
		binary, debug := debugPair("", link)
		writeFile(t, filepath.Join(dir, "bin/prog"), binary)
		writeFile(t, filepath.Join(dir, "prog.debug"), debug)
		f, err := Open(filepath.Join(dir, "bin/prog"), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		got, places, err := FindDebug(f, nil, object.DefaultLimits())
		tried := object.Lines(places)
		if got != nil || err != nil || len(tried) != 1 || !strings.Contains(tried[0], "is not a file name") {
			t.Errorf("%s: %v, %q, %v", link, got, tried, err)
		}
		f.Close()
	}
}

func TestFindDebugIsNotTheFileItself(t *testing.T) {
	dir := t.TempDir()
	binary, _ := debugPair("", "prog")
	writeFile(t, filepath.Join(dir, "prog"), binary)
	f, err := Open(filepath.Join(dir, "prog"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, places, err := FindDebug(f, nil, object.DefaultLimits())
	tried := object.Lines(places)
	if got != nil || err != nil || len(tried) != 2 || !strings.Contains(tried[0], "is the file itself") {
		t.Errorf("%v, %q, %v", got, tried, err)
	}
}

// TestFindDebugOfLibc finds the distribution's debug file.
func TestFindDebugOfLibc(t *testing.T) {
	libc := testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
	testenv.File(t, "/usr/lib/debug/.build-id", "libc6-dbg")
	f, err := Open(libc, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	debug, places, err := FindDebug(f, []string{"/usr/lib/debug"}, object.DefaultLimits())
	tried := object.Lines(places)
	if err != nil || debug == nil {
		t.Skipf("libc6-dbg of another version: %v, %q", err, tried)
	}
	defer debug.Close()
	if !debug.Object().HasDWARF() || !debug.Object().HasSymbols(object.Symtab) || debug.Section(".text").HasData() {
		t.Errorf("%s: DWARF %v, symtab %v", debug.Path, debug.Object().HasDWARF(), debug.Object().HasSymbols(object.Symtab))
	}
	if debug.LoadBase() != f.LoadBase() || len(debug.Object().ExecRanges()) != len(f.Object().ExecRanges()) {
		t.Errorf("base %#x, ranges %x", debug.LoadBase(), debug.Object().ExecRanges())
	}
}

// FILE.debug is searched for if nothing names a debug file; it must have the
// build-id.
func TestFindDebugByName(t *testing.T) {
	const id = "\xab\xcd\xef\x01"
	binary, debug := debugPair(id, "")
	linked, linkedDebug := debugPair(id, "other.debug")
	_, wrong := debugPair("\xab\xcd\xef\x02", "")
	noID, _ := debugPair("", "")
	for name, c := range map[string]struct {
		binary []byte
		files  map[string][]byte
		want   string
		tried  string // a part of the last line
		lines  int
	}{
		"beside":           {binary, map[string][]byte{"bin/prog.debug": debug}, "bin/prog.debug", "", 1},
		"in .debug":        {binary, map[string][]byte{"bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug", "bin/prog.debug: no such file", 2},
		"below the root":   {binary, map[string][]byte{"one/ROOT/bin/prog.debug": debug}, "one/ROOT/bin/prog.debug", "", 3},
		"another":          {binary, map[string][]byte{"bin/prog.debug": wrong, "bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug", "build-id abcdef02, want abcdef01", 2},
		"without build-id": {noID, map[string][]byte{"bin/prog.debug": debug}, "", "", 0},
		"the link first":   {linked, map[string][]byte{"bin/prog.debug": linkedDebug, "bin/other.debug": linkedDebug}, "bin/other.debug", "", 1},
		"after the link":   {linked, map[string][]byte{"bin/prog.debug": linkedDebug}, "bin/prog.debug", "", 4},
		"nothing in it":    {binary, map[string][]byte{"bin/prog.debug": binary}, "", "/one/", 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			place := func(p string) string { return filepath.Join(dir, strings.Replace(p, "ROOT", dir, 1)) }
			writeFile(t, place("bin/prog"), c.binary)
			for p, data := range c.files {
				writeFile(t, place(p), data)
			}
			f, err := Open(place("bin/prog"), object.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, places, err := FindDebug(f, []string{place("one")}, object.DefaultLimits())
			tried := object.Lines(places)
			if got != nil {
				defer got.Close()
			}
			checkFound(t, got, c.want, place)
			if err != nil || len(tried) != c.lines || c.lines > 0 && !strings.Contains(tried[c.lines-1], c.tried) {
				t.Errorf("%v, tried:\n%s\nwant %d, the last with %q", err, strings.Join(tried, "\n"), c.lines, c.tried)
			}
			if name == "nothing in it" && !strings.Contains(tried[1], "has neither debug information nor symbols") {
				t.Errorf("tried %q", tried[1])
			}
		})
	}
}
