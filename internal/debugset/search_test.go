package debugset

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// section is a section of an ELF file built by a test.
type section struct {
	name string
	typ  uint32
	data []byte
}

const (
	progbits = 1
	strtab   = 3
	note     = 7
)

// elfOf builds an ELF file for x86-64 with sections (gABI chapter 4). It shares no code with the
// reader.
func elfOf(sections ...section) []byte {
	const header, entry = 64, 64
	le := binary.LittleEndian
	names := []byte{0}
	for _, s := range sections {
		names = append(append(names, s.name...), 0)
	}
	sections = append(sections, section{"", strtab, names})
	var body, table []byte
	table = append(table, make([]byte, entry)...)
	name := uint32(1)
	for _, s := range sections {
		h := make([]byte, entry)
		le.PutUint32(h, name)
		le.PutUint32(h[4:], s.typ)
		le.PutUint64(h[24:], uint64(header+len(body)))
		le.PutUint64(h[32:], uint64(len(s.data)))
		table, body, name = append(table, h...), append(body, s.data...), name+uint32(len(s.name))+1
	}
	h := make([]byte, header)
	copy(h, "\x7fELF\x02\x01\x01")
	le.PutUint16(h[16:], 2)
	le.PutUint16(h[18:], 62)
	le.PutUint32(h[20:], 1)
	le.PutUint64(h[40:], uint64(header+len(body)))
	le.PutUint16(h[52:], header)
	le.PutUint16(h[58:], entry)
	le.PutUint16(h[60:], uint16(len(sections)+1))
	le.PutUint16(h[62:], uint16(len(sections)))
	return append(append(h, body...), table...)
}

// debugPair builds a binary with a build-id and a debuglink, and its debug file.
func debugPair(id, link string) (program, debug []byte) {
	var ids []section
	if id != "" {
		data := binary.LittleEndian.AppendUint32([]byte{4, 0, 0, 0}, uint32(len(id)))
		data = append(append(data, 3, 0, 0, 0), "GNU\x00"+id...)
		ids = []section{{".note.gnu.build-id", note, data}}
	}
	debug = elfOf(append(ids[:len(ids):len(ids)], described)...)
	if link == "" {
		return elfOf(ids...), debug
	}
	data := []byte(link + "\x00")
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.ChecksumIEEE(debug))
	return elfOf(append(ids, section{".gnu_debuglink", progbits, data})...), debug
}

// find completes the set of the binary at path.
func find(t *testing.T, path string, dirs []string, hermetic bool) (s *Set, tried []string) {
	t.Helper()
	s = &Set{Binary: open(t, path)}
	f := Finder{Dirs: dirs, Hermetic: hermetic, Limits: object.DefaultLimits()}
	if err := f.Complete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, symfmt.TriedLines(s.Tried)
}

// problemOf returns the error of a file that was found but cannot be read, or nil.
func problemOf(s *Set) error {
	if len(s.Problems) == 0 {
		return nil
	}
	return s.Problems[0].Err
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
	program, debug := debugPair(id, "prog.debug")
	_, other := debugPair("\xab\xcd\xef\x02", "")
	damaged := append([]byte("\x7fELF\x09"), debug[5:]...)
	cases := map[string]struct {
		files map[string][]byte // below the test's folder; the binary is bin/prog
		want  string            // path found; "" if none
		tried []string          // parts of the lines about rejected files, in order
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
			writeFile(t, place("bin/prog"), program)
			for p, data := range c.files {
				writeFile(t, place(p), data)
			}
			set, tried := find(t, place("bin/prog"), []string{place("one"), place("two")}, false)
			got, err := set.Debug, problemOf(set)
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

func checkFound(t *testing.T, got *object.File, want string, place func(string) string) {
	t.Helper()
	switch {
	case got == nil && want != "":
		t.Errorf("not found, want %s", want)
	case got != nil && want == "":
		t.Errorf("found %s", got.Path)
	case got != nil && got.Path != place(want):
		t.Errorf("found %s, want %s", got.Path, place(want))
	case got != nil && !got.HasDWARF():
		t.Error("found no DWARF")
	}
}

func TestFindDebugRefusesFoldersInLinks(t *testing.T) {
	for _, link := range []string{"../prog.debug", "/etc/passwd", "..", "a/b"} {
		dir := t.TempDir()
		program, debug := debugPair("", link)
		writeFile(t, filepath.Join(dir, "bin/prog"), program)
		writeFile(t, filepath.Join(dir, "prog.debug"), debug)
		set, tried := find(t, filepath.Join(dir, "bin/prog"), nil, false)
		got, err := set.Debug, problemOf(set)
		if got != nil || err != nil || len(tried) != 1 || !strings.Contains(tried[0], "is not a file name") {
			t.Errorf("%s: %v, %q, %v", link, got, tried, err)
		}
	}
}

func TestFindDebugIsNotTheFileItself(t *testing.T) {
	dir := t.TempDir()
	program, _ := debugPair("", "prog")
	writeFile(t, filepath.Join(dir, "prog"), program)
	set, tried := find(t, filepath.Join(dir, "prog"), nil, false)
	got, err := set.Debug, problemOf(set)
	if got != nil || err != nil || len(tried) != 2 || !strings.Contains(tried[0], "is the file itself") {
		t.Errorf("%v, %q, %v", got, tried, err)
	}
}

// TestFindDebugOfLibc finds the distribution's debug file.
func TestFindDebugOfLibc(t *testing.T) {
	libc := testenv.File(t, "/lib/x86_64-linux-gnu/libc.so.6", "libc6")
	testenv.File(t, "/usr/lib/debug/.build-id", "libc6-dbg")
	set, tried := find(t, libc, []string{"/usr/lib/debug"}, false)
	debug, err := set.Debug, problemOf(set)
	if err != nil || debug == nil {
		t.Skipf("libc6-dbg of another version: %v, %q", err, tried)
	}
	if !debug.HasDWARF() || !debug.HasSymbols(object.Symtab) || debug.Section(".text").HasData() {
		t.Errorf("%s: DWARF %v, symtab %v", debug.Path, debug.HasDWARF(), debug.HasSymbols(object.Symtab))
	}
	if f := set.Binary; debug.Base != f.Base || len(debug.ExecRanges()) != len(f.ExecRanges()) {
		t.Errorf("base %#x, ranges %x", debug.Base, debug.ExecRanges())
	}
}

// FILE.debug is searched for if nothing names a debug file. It must have the
// build-id.
func TestFindDebugByName(t *testing.T) {
	const id = "\xab\xcd\xef\x01"
	program, debug := debugPair(id, "")
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
		"beside":           {program, map[string][]byte{"bin/prog.debug": debug}, "bin/prog.debug", "", 1},
		"in .debug":        {program, map[string][]byte{"bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug", "bin/prog.debug: no such file", 2},
		"below the root":   {program, map[string][]byte{"one/ROOT/bin/prog.debug": debug}, "one/ROOT/bin/prog.debug", "", 3},
		"another":          {program, map[string][]byte{"bin/prog.debug": wrong, "bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug", "build-id abcdef02, want abcdef01", 2},
		"without build-id": {noID, map[string][]byte{"bin/prog.debug": debug}, "", "", 0},
		"the link first":   {linked, map[string][]byte{"bin/prog.debug": linkedDebug, "bin/other.debug": linkedDebug}, "bin/other.debug", "", 1},
		"after the link":   {linked, map[string][]byte{"bin/prog.debug": linkedDebug}, "bin/prog.debug", "", 4},
		"nothing in it":    {program, map[string][]byte{"bin/prog.debug": program}, "", "/one/", 4},
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
			set, tried := find(t, place("bin/prog"), []string{place("one")}, false)
			got, err := set.Debug, problemOf(set)
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
