// Package walks walks dumps for the tests of the packages above walk.
package walks

import (
	"context"
	"testing"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// SymbolSources returns the symbol files of stores.
func SymbolSources(t testing.TB, dirs ...string) *walk.Sources {
	t.Helper()
	return &walk.Sources{Symbols: walktest.Folders(t, dirs...)}
}

// BinarySources returns binaries only.
func BinarySources(t testing.TB, paths ...string) *walk.Sources {
	t.Helper()
	s := &walk.Sources{Binaries: walktest.Binaries(t, paths...)}
	t.Cleanup(func() { s.Close() })
	return s
}

// BothSources returns a store's symbols, and binaries.
func BothSources(t testing.TB, store string, binaries ...string) *walk.Sources {
	t.Helper()
	s := BinarySources(t, binaries...)
	s.Symbols = walktest.Folders(t, store)
	return s
}

// Dump walks the dump at path.
func Dump(t testing.TB, path string, s *walk.Sources, c walk.Config) *walk.Result {
	t.Helper()
	r, err := walk.NewWalker(s, c).Walk(context.Background(), walktest.Opened(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// AssembledSources returns the symbol files of an assembled dump's modules.
func AssembledSources(a *walktest.Assembler) *walk.Sources {
	return &walk.Sources{Symbols: a.Supplier()}
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
