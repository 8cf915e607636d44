package remote

import (
	"encoding/binary"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/cfi"
)

// A program and its PDB.
const (
	programID = "6CB5B4E37000"
	pdbID     = "C79F281A4AFB46AD4C4C44205044422E1"
	exePath   = "/p.exe/" + programID + "/p.exe"
	pdbPath   = "/pdb-x64.pdb/" + pdbID + "/pdb-x64.pdb"
)

var windowsModule = resolve.Module{Name: "p.exe", DebugFile: "pdb-x64.pdb", DebugID: pdbID, CodeID: strings.ToLower(programID)}

// packed returns a cabinet with a file, which is not compressed.
func packed(data []byte) []byte {
	const block = 32 << 10
	le := binary.LittleEndian
	n := (len(data) + block - 1) / block
	b := make([]byte, 36+8+16+2)
	copy(b, "MSCF")
	le.PutUint32(b[16:], 44)
	le.PutUint16(b[26:], 1)
	le.PutUint16(b[28:], 1)
	le.PutUint32(b[36:], uint32(len(b)))
	le.PutUint16(b[40:], uint16(n))
	le.PutUint32(b[44:], uint32(len(data)))
	b[60] = 'x'
	for part := range slices.Chunk(data, block) {
		b = append(b, 0, 0, 0, 0)
		b = le.AppendUint16(b, uint16(len(part)))
		b = append(le.AppendUint16(b, uint16(len(part))), part...)
	}
	return b
}

// TestPrograms gets the symbols of a Windows module from its PDB and its program, in the layout of Microsoft's
// symbol servers.
func TestPrograms(t *testing.T) {
	exe := testenv.ReadInput(t, "pdb-x64.exe")
	database := testenv.Gunzip(t, testenv.Input(t, "pdb-x64.pdb.gz"))
	other := testenv.Gunzip(t, testenv.Input(t, "pdb-x86.pdb.gz"))
	under := func(path string) string { return path[:len(path)-1] + "_" }
	for name, c := range map[string]struct {
		served map[string][]byte
		detail resolve.Detail
		rules  bool
		asked  []string // after the symbol files
		err    string
	}{
		"both":     {map[string][]byte{exePath: exe, pdbPath: database}, resolve.LineDetail, true, []string{pdbPath, exePath}, ""},
		"pdb":      {map[string][]byte{pdbPath: database}, resolve.LineDetail, false, []string{pdbPath, exePath, under(exePath)}, ""},
		"program":  {map[string][]byte{exePath: exe}, resolve.PublicDetail, true, []string{pdbPath, under(pdbPath), exePath}, ""},
		"cabinets": {map[string][]byte{under(exePath): packed(exe), under(pdbPath): packed(database)}, resolve.LineDetail, true, []string{pdbPath, under(pdbPath), exePath, under(exePath)}, ""},
		"other":    {map[string][]byte{exePath: exe, pdbPath: other}, resolve.PublicDetail, true, []string{pdbPath, exePath}, "of another build"},
		"damaged":  {map[string][]byte{exePath: exe, under(pdbPath): packed(database)[:5000]}, resolve.PublicDetail, true, []string{pdbPath, under(pdbPath), exePath}, "the cabinet ends early"},
	} {
		var asked []string
		url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, ".sym") {
				asked = append(asked, r.URL.Path)
			}
			data, ok := c.served[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			w.Write(data)
		})
		cache := filepath.Join(t.TempDir(), "cache")
		for range 2 { // the second time from the cache
			s := newServers(t, Servers{URLs: []string{url}, Cache: cache})
			r, tried, err := s.Symbols(t.Context(), windowsModule)
			if r == nil || r.Detail(t.Context()) != c.detail || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%s: %v, %v, tried %v", name, r, err, tried)
			}
			if rules, err := r.Rules(t.Context(), 0x1050, cfi.NewNames(nil)); err != nil || (rules != nil) != c.rules {
				t.Errorf("%s: rules %v, %v", name, rules, err)
			}
			if c.err != "" {
				break // asked again
			}
		}
		if !slices.Equal(asked, c.asked) {
			t.Errorf("%s: asked for %q, want %q", name, asked, c.asked)
		}
	}
}
