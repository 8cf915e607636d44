// Package walks walks dumps for the tests of the packages above walk.
package walks

import (
	"context"
	"testing"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// SymbolSources returns the symbol files of stores.
func SymbolSources(t testing.TB, dirs ...string) *walk.SymbolSet {
	t.Helper()
	return &walk.SymbolSet{Symbols: walktest.Folders(t, dirs...)}
}

// BinarySources returns binaries only.
func BinarySources(t testing.TB, paths ...string) *walk.SymbolSet {
	t.Helper()
	s := &walk.SymbolSet{Binaries: walktest.Binaries(t, paths...)}
	t.Cleanup(func() { s.Close() })
	return s
}

// BothSources returns a store's symbols, and binaries.
func BothSources(t testing.TB, store string, binaries ...string) *walk.SymbolSet {
	t.Helper()
	s := BinarySources(t, binaries...)
	s.Symbols = walktest.Folders(t, store)
	return s
}

// Dump walks the dump at path.
func Dump(t testing.TB, path string, s *walk.SymbolSet, c walk.Config) *walk.Result {
	t.Helper()
	r, err := walk.NewWalker(s, c).Walk(context.Background(), walktest.Opened(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// AssembledSources returns the symbol files of an assembled dump's modules.
func AssembledSources(a *walktest.Assembler) *walk.SymbolSet {
	return &walk.SymbolSet{Symbols: a.Supplier()}
}

// Assembled walks an assembled dump.
func Assembled(a *walktest.Assembler, c walk.Config) *walk.Result {
	a.T.Helper()
	r, err := walk.NewWalker(AssembledSources(a), c).Walk(context.Background(), a.Build())
	if err != nil {
		a.T.Fatal(err)
	}
	return r
}
