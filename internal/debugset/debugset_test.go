package debugset

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// fetched is a Fetcher that answers every request with the same file.
type fetched struct {
	path string
	err  error
}

func (f fetched) Fetch(context.Context, string, []byte) (string, []string, error) {
	return f.path, []string{"server: 404"}, f.err
}

func open(t *testing.T, path string) *object.File {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// copied copies a fixture to a new folder.
func copied(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, testenv.ReadInput(t, name), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A debug file is searched for here, then by its id, and fetched last. A file of another build is reported only if
// the right one is missing, and a file that does not belong to the binary is a problem.
func TestDebugOrder(t *testing.T) {
	debug := testenv.Input(t, "pair.debug")
	for _, c := range []struct {
		name           string
		beside         string // the fixture beside the binary as pair.debug, or ""
		byID           string
		fetcher        Fetcher
		found          bool
		others, losses int
	}{
		{name: "nowhere"},
		{name: "beside", beside: "pair.debug", byID: "missing", found: true},
		{name: "by id", beside: "eu-strip.debug", byID: debug, found: true},
		{name: "fetched", beside: "eu-strip.debug", fetcher: fetched{path: debug}, found: true},
		{name: "another build", beside: "eu-strip.debug", fetcher: fetched{err: fs.ErrNotExist}, others: 1},
		{name: "not its own", byID: testenv.Input(t, "cpu-arm64.elf"), fetcher: fetched{err: errors.New("503")}, losses: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			binary := open(t, copied(t, "pair.elf"))
			if c.beside != "" {
				if err := os.WriteFile(filepath.Join(filepath.Dir(binary.Path), "pair.debug"), testenv.ReadInput(t, c.beside), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			f := Finder{Limits: object.DefaultLimits(), Fetcher: c.fetcher}
			if c.byID != "" {
				f.ByID = func(_ context.Context, id string) ([]string, error) {
					if id != hex.EncodeToString(binary.BuildID()) {
						t.Errorf("asked for %s", id)
					}
					return []string{c.byID}, nil
				}
			}
			s := Set{Binary: binary}
			defer s.Close()
			if err := f.Complete(t.Context(), &s); err != nil {
				t.Fatal(err)
			}
			others := 0
			for _, tried := range s.Tried {
				if tried.Kind == symfmt.OtherDebug {
					others++
				}
			}
			if found := s.Debug != nil && s.Debug.HasDWARF(); found != c.found || others != c.others || len(s.Problems) != c.losses {
				t.Errorf("found %t, %d of other builds, problems %v; want %t, %d, %d", found, others, s.Problems, c.found, c.others, c.losses)
			}
		})
	}
}

// The program of a file in a dSYM is beside the bundle, named like the bundle or the file.
func TestBundlePrograms(t *testing.T) {
	for path, want := range map[string][]string{
		"/x/a.dSYM/Contents/Resources/DWARF/b":     {"/x/a", "/x/b"},
		"/x/a.dSYM/Contents/Resources/DWARF/a":     {"/x/a"},
		"/x/a.dSYM":                                {"/x/a"},
		"/x/A.app.dSYM/Contents/Resources/DWARF/A": {"/x/A.app", "/x/A"},
		"/x/a.debug":                               nil,
	} {
		got := bundlePrograms(path)
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", path, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	}
}
