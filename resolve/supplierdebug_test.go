package resolve

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/internal/testenv"
)

// What is not in the folders is fetched by its build-id: the binary, if a dump has
// told that, and the debug file. The symbols are those from the files themselves.
func TestBinaryFetched(t *testing.T) {
	binary, debug := testenv.Input(t, "pair.elf"), testenv.Input(t, "pair.debug")
	m := binaryModule(t, binary)
	whole, _, err := newBinaries(t, binary, debug).Symbols(context.Background(), m)
	if err != nil || !whole.hasFunctions() {
		t.Fatal(whole, err)
	}
	var asked []string
	url := testenv.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		switch r.URL.Path {
		case fmt.Sprintf("/buildid/%x/executable", m.BuildID):
			http.ServeFile(w, r, binary)
		case fmt.Sprintf("/buildid/%x/debuginfo", m.BuildID):
			http.ServeFile(w, r, debug)
		default:
			http.NotFound(w, r)
		}
	})
	for _, c := range []struct {
		name  string
		root  string
		asked []string
	}{
		{"debug file", copyTo(t, binary, t.TempDir(), "alone"), []string{"debuginfo"}},
		{"both", t.TempDir(), []string{"executable", "debuginfo"}},
		{"neither", filepath.Dir(binary), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked = nil
			client, err := debuginfod.New(debuginfod.Config{URLs: []string{url}, Cache: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			s, err := NewFetchingBinaries([]string{c.root}, nil, client)
			if err != nil {
				t.Fatal(err)
			}
			r, tried, err := s.Symbols(context.Background(), m)
			if r == nil || err != nil {
				t.Fatalf("%v, %q, %v", r, tried, err)
			}
			got, want := strings.Split(wholeText(t, r), "\n"), strings.Split(wholeText(t, whole), "\n")
			if !slices.Equal(got[1:], want[1:]) { // MODULE has the name of the file
				t.Error("other symbols than from the files")
			}
			if len(asked) != len(c.asked) {
				t.Fatalf("asked for %q, want %q", asked, c.asked)
			}
			for i, kind := range c.asked {
				if !strings.HasSuffix(asked[i], "/"+kind) {
					t.Errorf("asked for %q, want %q", asked, c.asked)
				}
			}
		})
	}
}

// A module of which nothing is known gets the only binary, not one of several, and
// none of a folder.
func TestLoneBinary(t *testing.T) {
	lone, other, debug := testenv.Input(t, "pair.elf"), testenv.Input(t, "gcc-dwarf5.elf"), testenv.Input(t, "pair.debug")
	folder := t.TempDir()
	copyTo(t, lone, folder, "lone")
	for _, c := range []struct {
		roots []string
		found bool
		tried string
	}{
		{[]string{lone}, true, ""},
		{[]string{lone, lone}, true, ""},
		{[]string{debug, lone}, true, ""},
		{[]string{lone, other}, false, "several builds, and no id that says which: "},
		{[]string{folder}, false, "binaries: not searched: nothing is known of the module"},
		{[]string{lone, folder}, false, "binaries: not searched: nothing is known of the module"},
		{[]string{testenv.Input(t, "README.md")}, false, "no binary of module; there are 0 ELF files"},
	} {
		r, tried, err := newBinaries(t, c.roots...).Symbols(context.Background(), Module{})
		if (r != nil) != c.found || err != nil || !strings.Contains(strings.Join(tried, "\n"), c.tried) {
			t.Errorf("%q: %v, %q, %v", c.roots, r, tried, err)
		}
		if r != nil && (r.Path != lone || r.Index().Name != "pair.elf") {
			t.Errorf("%q: %s of %s", c.roots, r.Index().Name, r.Path)
		}
	}
}

// Suppliers list the names of what is at hand.
func TestNames(t *testing.T) {
	store := writeFiles(t, "my app/"+testID+"/my app.sym", testSym("my app", testID, "f"))
	file := filepath.Join(store, "my app", testID, "my app.sym")
	bin := t.TempDir()
	copyTo(t, testenv.Input(t, "pair.elf"), bin, "in", "a b")
	copyTo(t, testenv.Input(t, "pair.debug"), bin, "a.debug")
	all := NewChain(newSymbols(t, store), newSymbols(t, file), newBinaries(t, bin), newServers(t, Servers{}))
	if got := all.Names(context.Background()); !slices.Equal(got, []string{"my app", "my app", "a b"}) {
		t.Errorf("%q", got)
	}
}
