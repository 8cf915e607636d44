package symserver

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// buildIDOf returns the build-id of an ELF file.
func buildIDOf(t testing.TB, path string) string {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return fmt.Sprintf("%x", f.BuildID())
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// elfFolder returns a folder with a program and its debug file in a layout. wholeID is the
// id of a program that was not stripped.
func elfFolder(t testing.TB, layout string) (dir, id, wholeID string) {
	t.Helper()
	dir = t.TempDir()
	program, debug, whole := testenv.Input(t, "pair.elf"), testenv.Input(t, "pair.debug"), testenv.Input(t, "gcc-dwarf5.elf")
	id, wholeID = buildIDOf(t, debug), buildIDOf(t, whole)
	for from, to := range map[string]string{
		program: map[string]string{"build-id": ".build-id/%s/%s", "debuginfod": "buildid/%s%s/executable", "unified": "%s/%s/executable"}[layout],
		debug:   map[string]string{"build-id": ".build-id/%s/%s.debug", "debuginfod": "buildid/%s%s/debuginfo", "unified": "%s/%s/debuginfo"}[layout],
	} {
		write(t, filepath.Join(dir, fmt.Sprintf(to, id[:2], id[2:])), read(t, from))
		if from == program {
			write(t, filepath.Join(dir, fmt.Sprintf(to, wholeID[:2], wholeID[2:])), read(t, whole))
		}
	}
	return dir, id, wholeID
}

func TestBuildID(t *testing.T) {
	for _, layout := range []string{"build-id", "debuginfod", "unified"} {
		dir, id, whole := elfFolder(t, layout)
		write(t, filepath.Join(dir, "buildid", id, "source", "src", "a b.c"), []byte("int x;\n"))
		s, notes := newServer(t, Config{DebugDirs: []string{dir}})
		program, debug := read(t, testenv.Input(t, "pair.elf")), read(t, testenv.Input(t, "pair.debug"))
		for path, want := range map[string][]byte{
			"/buildid/" + id + "/executable":                 program,
			"/buildid/" + id + "/debuginfo":                  debug,
			"/buildid/" + strings.ToUpper(id) + "/debuginfo": debug,
			"/buildid/" + whole + "/executable":              read(t, testenv.Input(t, "gcc-dwarf5.elf")),
			"/buildid/" + whole + "/debuginfo":               read(t, testenv.Input(t, "gcc-dwarf5.elf")),
			"/buildid/" + id + "/source/src/a%20b.c":         []byte("int x;\n"),
			"/buildid/" + id + "/source//x/../src/./a%20b.c": []byte("int x;\n"),
			"/buildid/" + id + "/section/.text":              sectionOf(t, program, ".text"),
			"/buildid/" + id + "/section/.debug_info":        sectionOf(t, debug, ".debug_info"),
			"/buildid/" + whole + "/section/.debug_line":     sectionOf(t, read(t, testenv.Input(t, "gcc-dwarf5.elf")), ".debug_line"),
			"/buildid/" + id + "/section/.note.gnu.build-id": sectionOf(t, debug, ".note.gnu.build-id"),
		} {
			r := ask(t, s, "GET", path, nil)
			got := body(t, r)
			if r.StatusCode != 200 || got != string(want) || r.Header.Get("X-Debuginfod-Size") != fmt.Sprint(len(want)) || r.Header.Get("X-Debuginfod-Archive") != "" ||
				r.Header.Get("Content-Type") != "application/octet-stream" || strings.Contains(r.Header.Get("X-Debuginfod-File"), dir) || r.Header.Get("X-Debuginfod-File") == "" {
				t.Errorf("%s: %s: %d, %d bytes, want %d: %v", layout, path, r.StatusCode, len(got), len(want), r.Header)
			}
			if r := ask(t, s, "GET", path, nil, "Range", "bytes=1-3"); r.StatusCode != 206 || body(t, r) != string(want[1:4]) {
				t.Errorf("%s: part of %s: %d", layout, path, r.StatusCode)
			}
			if r := ask(t, s, "GET", path, nil, "If-None-Match", r.Header.Get("ETag")); r.StatusCode != 304 {
				t.Errorf("%s: %s again: %d", layout, path, r.StatusCode)
			}
			if r := ask(t, s, "GET", path, nil, "If-Match", `"x"`); r.StatusCode != 412 || r.Header.Get("ETag") != "" {
				t.Errorf("%s: %s of another: %d %v", layout, path, r.StatusCode, r.Header)
			}
			if r := ask(t, s, "GET", path, nil, "If-Match", `"x"`, "If-Match", r.Header.Get("ETag")); r.StatusCode != 200 {
				t.Errorf("%s: %s of this or another: %d", layout, path, r.StatusCode)
			}
		}
		for _, path := range []string{"/buildid/abcdef/debuginfo", "/buildid/abcdef/executable", "/buildid/abcdef/section/.text", "/buildid/" + id + "/section/.nothing",
			"/buildid/" + id + "/section/.bss", "/buildid/" + id + "/source/src/b.c", "/buildid/" + id + "/source/src", "/a/ABC0/a.sym"} {
			if r := ask(t, s, "GET", path, nil); r.StatusCode != 404 {
				t.Errorf("%s: %s: %d", layout, path, r.StatusCode)
			}
		}
		if notes.String() != "" {
			t.Error(notes)
		}
	}
}

// sectionOf returns a section as debug/elf reads it.
func sectionOf(t testing.TB, data []byte, name string) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(io.NewSectionReader(bytes.NewReader(data), int64(f.Section(name).Offset), int64(f.Section(name).FileSize)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A file that only looks like ELF costs only the answers from it.
func TestBuildIDDamaged(t *testing.T) {
	dir := t.TempDir()
	program := read(t, testenv.Input(t, "pair.elf"))
	for i, data := range [][]byte{nil, []byte("no ELF"), program[:100], program[:len(program)/2], append(bytes.Clone(program[:40]), bytes.Repeat([]byte{0xff}, 4000)...)} {
		write(t, filepath.Join(dir, ".build-id", "ab", fmt.Sprintf("%04x", i)), data)
		s, _ := newServer(t, Config{Dirs: []string{dir}})
		id := fmt.Sprintf("ab%04x", i)
		if r := ask(t, s, "GET", "/buildid/"+id+"/executable", nil); r.StatusCode != 200 || body(t, r) != string(data) {
			t.Errorf("%d: executable: %d", i, r.StatusCode)
		}
		for _, path := range []string{"/debuginfo", "/section/.debug_info", "/section/.text"} {
			if r := ask(t, s, "GET", "/buildid/"+id+path, nil); r.StatusCode != 404 && r.StatusCode != 500 {
				t.Errorf("%d: %s: %d", i, path, r.StatusCode)
			}
		}
	}
}

// A file that cannot be opened is not reported as missing, as caches would keep the answer.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{".build-id/ab/cdef", ".build-id/ab/cdef.debug", "buildid/abcdef/source/a.c", "a/AB0/a.sym"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", path) // open(2) refuses sockets
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
	}
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	for _, path := range []string{"/buildid/abcdef/executable", "/buildid/abcdef/debuginfo", "/buildid/abcdef/section/.text", "/buildid/abcdef/source/a.c", "/a/AB0/a.sym"} {
		if r := ask(t, s, "GET", path, nil); r.StatusCode != 500 || r.Header.Get("Cache-Control") != "no-store" || !strings.Contains(body(t, r), "exists, but cannot be read") {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	if !strings.Contains(notes.String(), "no such device or address") {
		t.Error(notes)
	}
}

// A client that is gone, or reads slowly, costs only its own connection.
func TestSlowClients(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "lib.so", "ABC0", ".sym", symbolText("lib.so", "ABC0", 40<<20))
	done := make(chan *Access, 10)
	s, _ := newServer(t, Config{Dirs: []string{dir}, Stall: 200e6, Access: func(a *Access) { done <- a }})
	live := httptest.NewServer(s)
	defer live.Close()
	for _, request := range []string{
		"GET /lib.so/ABC0/lib.so.sym HTTP/1.1\r\nHost: x\r\n\r\n",                            // and reads nothing
		"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"jobs\":", // and sends no more
		"GET /lib.so/ABC1/lib.so.sym HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc", // a body that is never read
	} {
		c := dial(t, live)
		fmt.Fprint(c, request)
		a := <-done
		if a.Bytes > 39<<20 || a.Millis > 5000 {
			t.Errorf("%q: %+v", request, a)
		}
		c.Close()
	}
	if n := s.InFlight(); n != 0 {
		t.Errorf("%d requests are still running", n)
	}
}
