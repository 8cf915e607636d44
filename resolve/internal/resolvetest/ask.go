// Package resolvetest provides what the tests of suppliers share: symbol files, questions and answers.
package resolvetest

import (
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// ID and OtherID are ids of two builds of a module.
const (
	ID      = "5A9832E5287241C1838ED98914E9B7FF1"
	OtherID = "6A9832E5287241C1838ED98914E9B7FF1"
)

// SymbolFile returns a symbol file with one function, called function, at 0x1000.
func SymbolFile(name, id, function string) string {
	return "MODULE windows x86 " + id + " " + name + "\nFILE 0 a.c\nFUNC 1000 10 0 " + function + "\n1000 10 7 0\n"
}

// ModuleOf returns the module of a binary as a dump describes it.
func ModuleOf(t testing.TB, path string) resolve.Module {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return resolve.Module{Name: "any", DebugID: f.ID(), BuildID: f.BuildID()}
}

// Answer is what a supplier returns for a module.
type Answer struct {
	Function string // at 0x1000, "" without symbols
	Tried    string // lines
	Err      string
}

// Ask asks a supplier for a module.
func Ask(t testing.TB, s resolve.Supplier, m resolve.Module) Answer {
	t.Helper()
	r, tried, err := s.Symbols(context.Background(), m)
	a := Answer{Function: functionAt(t, r, 0x1000), Tried: strings.Join(symfmt.TriedLines(tried), "\n")}
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

// Check compares an answer with the wanted one, which may have only parts of Tried and Err.
func (a Answer) Check(t testing.TB, what string, want Answer) {
	t.Helper()
	if a.Function != want.Function || (want.Tried == "") != (a.Tried == "") || !strings.Contains(a.Tried, want.Tried) ||
		(want.Err == "") != (a.Err == "") || !strings.Contains(a.Err, want.Err) {
		t.Errorf("%s: %+v\nwant %+v", what, a, want)
	}
}

func functionAt(t testing.TB, r resolve.Symbols, rva symfmt.RVA) string {
	t.Helper()
	if r == nil {
		return ""
	}
	var at resolve.Location
	ok, err := resolve.Find(t.Context(), r, rva, &at)
	if err != nil || !ok || len(at.Frames) == 0 {
		t.Errorf("%s: %#x: %v, %v", r.Identity().Path, rva, ok, err)
		return ""
	}
	return at.Frames[len(at.Frames)-1].Function
}
