package supplier

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/internal/resolvetest"
	"github.com/symtool/symtool/symfmt"
)

// A module about which nothing is known gets the binary if there is only one; it gets none
// of several, and none in a folder.
func TestLoneBinary(t *testing.T) {
	lone, other, debug := testenv.Input(t, "pair.elf"), testenv.Input(t, "gcc-dwarf5.elf"), testenv.Input(t, "pair.debug")
	folder := t.TempDir()
	testenv.Copy(t, lone, folder, "lone")
	for _, c := range []struct {
		roots []string
		found bool
		tried string
	}{
		{[]string{lone}, true, ""},
		{[]string{lone, lone}, true, ""},
		{[]string{debug, lone}, true, ""},
		{[]string{lone, other}, false, "several builds, and the module has no id: "},
		{[]string{folder}, false, "binaries: not searched: the module has no name and no id"},
		{[]string{lone, folder}, false, "binaries: not searched: the module has no name and no id"},
		{[]string{testenv.Input(t, "README.md")}, false, "no binary of module; of 1 file, 0 are binaries"},
	} {
		r, tried, err := newBinaries(t, c.roots...).Symbols(context.Background(), resolve.Module{})
		if (r != nil) != c.found || err != nil || !strings.Contains(strings.Join(symfmt.TriedLines(tried), "\n"), c.tried) {
			t.Errorf("%q: %v, %q, %v", c.roots, r, tried, err)
		}
		if r != nil && (r.Identity().Path != lone || r.Identity().Name != "pair.elf") {
			t.Errorf("%q: %s of %s", c.roots, r.Identity().Name, r.Identity().Path)
		}
	}
}

// Suppliers list the names of the modules that they have.
func TestNames(t *testing.T) {
	store := testenv.WriteFiles(t, "my app/"+resolvetest.ID+"/my app.sym", resolvetest.SymbolFile("my app", resolvetest.ID, "f"))
	file := filepath.Join(store, "my app", resolvetest.ID, "my app.sym")
	bin := t.TempDir()
	testenv.Copy(t, testenv.Input(t, "pair.elf"), bin, "in", "a b")
	testenv.Copy(t, testenv.Input(t, "pair.debug"), bin, "a.debug")
	all := NewChain(newSymbols(t, store), newSymbols(t, file), newBinaries(t, bin))
	if got := all.Names(context.Background()); !slices.Equal(got, []string{"my app", "my app", "a b"}) {
		t.Errorf("%q", got)
	}
}

// Variables include the ones in a separate debug file.
func TestVariables(t *testing.T) {
	folder := t.TempDir()
	testenv.Copy(t, testenv.Input(t, "pair.elf"), folder, "pair.elf")
	testenv.Copy(t, testenv.Input(t, "pair.debug"), folder, "pair.debug")
	m := resolve.Module{Name: "pair.elf", BuildID: []byte("\x2f\xff\xc1\x65\x01\x0e\xd5\x44\x08\x01\xa7\x28\x2d\x32\x7b\xef\x99\xc7\x47\xb9")}
	r, problems, err := newBinaries(t, folder).Variables(t.Context(), m)
	if r == nil || len(problems) > 0 || err != nil {
		t.Fatal(r, problems, err)
	}
	if info, err := r.Variables(); err != nil || info == nil || len(info.Funcs) == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if r, _, err := newBinaries(t, t.TempDir()).Variables(t.Context(), m); r != nil || err != nil {
		t.Errorf("without a binary: %v, %v", r, err)
	}
}
