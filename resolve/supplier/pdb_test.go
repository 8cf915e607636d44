package supplier

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// windowsID is the id of pdb-x64.exe and its PDB.
const windowsID = "C79F281A4AFB46AD4C4C44205044422E1"

// place copies a file of golden/input.
func place(t *testing.T, input, to string) {
	t.Helper()
	data := []byte(nil)
	if strings.HasSuffix(input, ".gz") {
		data = testenv.Gunzip(t, testenv.Input(t, input))
	} else {
		var err error
		if data, err = os.ReadFile(testenv.Input(t, input)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A Windows binary has the functions of its PDB, which lies beside it, elsewhere below the folder, or in the layout
// of symbol servers. Without the binary, there are no rules for the stack.
func TestProgramDatabases(t *testing.T) {
	const program, database = "pdb-x64.exe", "pdb-x64.pdb.gz"
	for _, c := range []struct {
		name   string
		files  map[string]string
		detail resolve.Detail
		rules  bool
	}{
		{"beside", map[string]string{"a/p.exe": program, "a/pdb-x64.pdb": database}, resolve.LineDetail, true},
		{"elsewhere", map[string]string{"a/p.exe": program, "b/renamed.pdb": database}, resolve.LineDetail, true},
		{"server", map[string]string{"p.exe": program, "pdb-x64.pdb/" + windowsID + "/pdb-x64.pdb": database}, resolve.LineDetail, true},
		{"alone", map[string]string{"pdb-x64.pdb": database}, resolve.LineDetail, false},
		{"without", map[string]string{"p.exe": program}, resolve.PublicDetail, true},
		{"other", map[string]string{"p.exe": program, "pdb-x64.pdb": "pdb-x86.pdb.gz"}, resolve.PublicDetail, true},
	} {
		dir := t.TempDir()
		for to, input := range c.files {
			place(t, input, filepath.Join(dir, to))
		}
		r, tried, err := newBinaries(t, dir).Symbols(t.Context(), resolve.Module{DebugFile: "pdb-x64.pdb", DebugID: windowsID})
		if r == nil || err != nil {
			t.Errorf("%s: %v %v", c.name, tried, err)
			continue
		}
		if r.Detail(t.Context()) != c.detail {
			t.Errorf("%s: detail %d, want %d", c.name, r.Detail(t.Context()), c.detail)
		}
		rules, err := r.Rules(t.Context(), 0x1001, cfi.NewNames(nil))
		if err != nil || (rules != nil) != c.rules {
			t.Errorf("%s: rules %v, %v", c.name, rules, err)
		}
		if other := len(tried) > 0 && tried[0].Kind == symfmt.OtherPDB; other != (c.name == "other") {
			t.Errorf("%s: tried %v", c.name, tried)
		}
	}
}

// A PDB is used for a module about which nothing or only the name is known, if it is the only PDB.
func TestOnlyPDB(t *testing.T) {
	dir := t.TempDir()
	place(t, "pdb-x64.pdb.gz", filepath.Join(dir, "x.pdb"))
	only := filepath.Join(dir, "x.pdb")
	find := func(roots []string, m resolve.Module) bool {
		r, _, err := newBinaries(t, roots...).Symbols(t.Context(), m)
		if err != nil {
			t.Error(err)
		}
		var at resolve.Location
		if r != nil {
			if found, err := resolve.Find(t.Context(), r, symfmt.RVA(0x1001), &at); !found || err != nil {
				t.Error("no function", err)
			}
		}
		return r != nil
	}
	if !find([]string{only}, resolve.Module{}) || !find([]string{dir}, resolve.Module{DebugFile: `C:\X.PDB`}) {
		t.Error("the only PDB was not found")
	}
	if find([]string{dir}, resolve.Module{DebugFile: "other.pdb"}) || find([]string{only}, resolve.Module{DebugID: strings.Repeat("0", 33)}) {
		t.Error("a PDB of another module was taken")
	}
	place(t, "pdb-x86.pdb.gz", filepath.Join(dir, "y.pdb"))
	if find([]string{only, filepath.Join(dir, "y.pdb")}, resolve.Module{}) {
		t.Error("one of two PDBs was taken")
	}
}
