package remote

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

const (
	testID  = "5A9832E5287241C1838ED98914E9B7FF1"
	otherOf = "6A9832E5287241C1838ED98914E9B7FF1"
)

// answered is a Supplier's answer for a module: function, tried and error.
type answered struct {
	function string // at 0x1000
	tried    string // lines
	err      string
}

// testSym returns a symbol file with one function, called function, at 0x1000.
func testSym(name, id, function string) string {
	return "MODULE windows x86 " + id + " " + name + "\nFILE 0 a.c\nFUNC 1000 10 0 " + function + "\n1000 10 7 0\n"
}

func newSymbols(t testing.TB, path string) resolve.Supplier {
	t.Helper()
	s, err := supplier.NewSymbols(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func functionAt(t testing.TB, r resolve.Symbols, rva symfmt.RVA) string {
	t.Helper()
	if r == nil {
		return ""
	}
	var at resolve.Location
	ok, err := r.Find(rva, &at)
	if err != nil || !ok || len(at.Frames) == 0 {
		t.Errorf("%s: %#x: %v, %v", r.Identity().Path, rva, ok, err)
		return ""
	}
	return at.Frames[len(at.Frames)-1].Function
}

func askFor(t testing.TB, s resolve.Supplier, m resolve.Module) answered {
	t.Helper()
	r, tried, err := s.Symbols(context.Background(), m)
	a := answered{functionAt(t, r, 0x1000), strings.Join(resolve.Lines(tried), "\n"), ""}
	if err != nil {
		a.err = err.Error()
	}
	return a
}

func (a answered) check(t testing.TB, what string, want answered) {
	t.Helper()
	if a.function != want.function || (want.tried == "") != (a.tried == "") || !strings.Contains(a.tried, want.tried) ||
		(want.err == "") != (a.err == "") || !strings.Contains(a.err, want.err) {
		t.Errorf("%s: %+v\nwant %+v", what, a, want)
	}
}

func newBinaries(t testing.TB, roots ...string) resolve.Supplier {
	t.Helper()
	s, err := supplier.NewBinaries(roots, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func binaryModule(t testing.TB, path string) resolve.Module {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return resolve.Module{Name: "any", DebugID: f.ID(), BuildID: f.BuildID()}
}

// answers returns the answers for all addresses.
func answers(t testing.TB, r resolve.Symbols) (all []string) {
	t.Helper()
	for rva := symfmt.RVA(0); rva <= r.Last(); rva++ {
		var at resolve.Location
		found, err := r.Find(rva, &at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(found, at))
	}
	return all
}
