package symserver

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestPrograms asks for Windows programs and PDBs, whose names and ids are in any case, and for a file
// that is neither.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	pe := testenv.ReadInput(t, "pdb-x64.exe")
	write(t, filepath.Join(dir, "p.exe", "6CB5B4E37000", "p.exe"), pe)
	write(t, filepath.Join(dir, "lib.so", "ABCD", "lib.so"), []byte("\x7fELF"))
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	for path, want := range map[string]int{
		"/p.exe/6CB5B4E37000/p.exe": http.StatusOK,
		"/P.EXE/6CB5B4E37000/p.exe": http.StatusOK,
		"/p.exe/6cb5b4e37000/P.exe": http.StatusOK,
		"/p.exe/6CB5B4E37001/p.exe": http.StatusNotFound,
		"/p.exe/6CB5B4E37000/q.exe": http.StatusNotFound,
		"/lib.so/ABCD/lib.so":       http.StatusNotFound,
	} {
		r := ask(t, s, "GET", path, nil)
		if r.StatusCode != want || want == http.StatusOK && body(t, r) != string(pe) {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	r := ask(t, s, "GET", "/p.exe/6CB5B4E37000/p.exe", nil, "Range", "bytes=0-1")
	if got := body(t, r); r.StatusCode != http.StatusPartialContent || got != "MZ" {
		t.Errorf("range: %s, %q", r.Status, got)
	}
	if r := ask(t, s, "HEAD", "/p.exe/6CB5B4E37000/p.exe", nil); !strings.HasPrefix(r.Header.Get("Cache-Control"), "public") {
		t.Errorf("HEAD: %s, %v", r.Status, r.Header)
	}
}
