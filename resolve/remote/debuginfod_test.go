package remote

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/internal/resolvetest"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// Files that are not in the folders are fetched by build-id: the binary, if a dump has its id, and the
// debug file. The symbols are the same as those from the files themselves.
func TestBinaryFetched(t *testing.T) {
	binary, debug := testenv.Input(t, "pair.elf"), testenv.Input(t, "pair.debug")
	m := resolvetest.ModuleOf(t, binary)
	whole, _, err := newBinaries(t, binary, debug).Symbols(context.Background(), m)
	if err != nil || whole == nil {
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
		{"debug file", testenv.Copy(t, binary, t.TempDir(), "alone"), []string{"debuginfo"}},
		{"both", t.TempDir(), []string{"executable", "debuginfo"}},
		{"neither", filepath.Dir(binary), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked = nil
			cache := t.TempDir()
			client, err := NewDebuginfod(Debuginfod{URLs: []string{url}, Getenv: func(name string) string {
				return map[string]string{"DEBUGINFOD_CACHE_PATH": cache, "DEBUGINFOD_URLS": "http://not.asked"}[name]
			}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := supplier.NewBinaries([]string{c.root}, supplier.BinaryOptions{Fetcher: client})
			if err != nil {
				t.Fatal(err)
			}
			r, tried, err := s.Symbols(context.Background(), m)
			if r == nil || err != nil {
				t.Fatalf("%v, %q, %v", r, tried, err)
			}
			if want := answers(t, whole); len(want) < 100 || !slices.Equal(answers(t, r), want) {
				t.Error("symbols differ from those of the files")
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

func newBinaries(t testing.TB, roots ...string) resolve.Supplier {
	t.Helper()
	s, err := supplier.NewBinaries(roots, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answers returns the answers for all addresses.
func answers(t testing.TB, r resolve.Symbols) (all []string) {
	t.Helper()
	for rva := symfmt.RVA(0); rva <= r.Last(t.Context()); rva++ {
		var at resolve.Location
		found, err := resolve.Find(t.Context(), r, rva, &at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(found, at))
	}
	return all
}
