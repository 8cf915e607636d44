package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve/store"
)

// standardInput is the name of operand - in messages.
const standardInput = "<stdin>"

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// symbolSuffixes are the names of symbol files in a store.
var symbolSuffixes = []string{".sym", ".sym.gz", ".sym.zst"}

func hasSymbolSuffix(path string) bool {
	return slices.ContainsFunc(symbolSuffixes, func(s string) bool { return strings.HasSuffix(path, s) })
}

// hasSymbols reports whether a store has a symbol file at a place.
func hasSymbols(dir string, p store.Place) bool {
	return slices.ContainsFunc(symbolSuffixes, func(ext string) bool {
		st, err := os.Stat(filepath.Join(dir, p.Path(ext)))
		return err == nil && st.Mode().IsRegular()
	})
}

// moduleHead is how much of a symbol file is looked at for its MODULE record.
const moduleHead = 4 << 10
