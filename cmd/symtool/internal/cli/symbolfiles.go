package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve/store"
)

// StandardInput is the name of operand - in messages.
const StandardInput = "<stdin>"

func IsFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// SymbolSuffixes are the names of symbol files in a store.
var SymbolSuffixes = []string{".sym", ".sym.gz", ".sym.zst"}

func HasSymbolSuffix(path string) bool {
	return slices.ContainsFunc(SymbolSuffixes, func(s string) bool { return strings.HasSuffix(path, s) })
}

// HasSymbols reports whether a store has a symbol file at a place.
func HasSymbols(dir string, p store.Place) bool {
	return slices.ContainsFunc(SymbolSuffixes, func(ext string) bool {
		st, err := os.Stat(filepath.Join(dir, p.Path(ext)))
		return err == nil && st.Mode().IsRegular()
	})
}

// ModuleHead is how much of a symbol file is looked at for its MODULE record.
const ModuleHead = 4 << 10
