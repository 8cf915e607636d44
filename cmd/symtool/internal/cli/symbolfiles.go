package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve/store"
)

// StandardInput is the name in messages of the operand "-".
const StandardInput = "<stdin>"

// IsFolder reports whether path is a folder.
func IsFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// CheckStore returns an error if dir, which should be the folder of a store, is a file. instead says
// what to do with a file, or is "".
func CheckStore(dir, instead string) error {
	if st, err := os.Stat(dir); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	if instead != "" {
		instead = ": " + instead
	}
	return fmt.Errorf("%s is a file, want the folder of a store%s", dir, instead)
}

// StoreFolder returns a condition that requires the folder of a store, which need not exist. instead
// says what to do with a file.
func StoreFolder(instead string) Condition {
	return func(c *Context, flag string) error {
		if err := CheckStore(c.String(flag), instead); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		return nil
	}
}

// SymbolSuffixes are the suffixes of symbol files in a store.
var SymbolSuffixes = []string{".sym", ".sym.gz", ".sym.zst"}

// HasSymbolSuffix reports whether path ends in one of SymbolSuffixes.
func HasSymbolSuffix(path string) bool {
	return slices.ContainsFunc(SymbolSuffixes, func(s string) bool { return strings.HasSuffix(path, s) })
}

// HasVariableSuffix reports whether a path has the suffix of a file of variables in a store.
func HasVariableSuffix(path string) bool {
	return slices.ContainsFunc(SymbolSuffixes, func(s string) bool {
		return strings.HasSuffix(path, strings.Replace(s, ".sym", ".vars", 1))
	})
}

// HasSymbols reports whether the store in dir has a symbol file at p.
func HasSymbols(dir string, p store.Place) bool {
	return slices.ContainsFunc(SymbolSuffixes, func(ext string) bool {
		st, err := os.Stat(filepath.Join(dir, p.Path(ext)))
		return err == nil && st.Mode().IsRegular()
	})
}

// ModuleHead is how many bytes of a symbol file are searched for its MODULE record.
const ModuleHead = 4 << 10

// StoreOptions returns the options for writing to a store.
func StoreOptions(noSync bool) store.Options {
	return store.Options{NoSync: noSync, Temporary: func(path string, exists bool) {
		if exists {
			Temporaries.Add(path)
		} else {
			Temporaries.Forget(path)
		}
	}}
}

// CreateStore opens a store, creating it if it does not exist.
func CreateStore(dir string, noSync bool) (*store.Store, error) {
	s, err := store.Create(dir, StoreOptions(noSync))
	return s, OutputError(dir, err)
}

// OtherContents returns the error for a file in a store that already exists with other contents than
// those to be written.
func OtherContents(path, name string) error {
	return &StatusError{Status: StatusOutput, Err: fmt.Errorf("%s: exists with other contents than those of %s: it is not replaced; remove it to make room", path, name)}
}

// CompressionWords returns the words that select how a file is compressed.
func CompressionWords() []Word[*store.Compression] {
	words := []Word[*store.Compression]{{"none", nil}}
	for i := range store.Compressions {
		words = append(words, Word[*store.Compression]{store.Compressions[i].Name, &store.Compressions[i]})
	}
	return words
}

// CompressionOf returns the compression that --gzip or --zstd selects, or nil.
func CompressionOf(gzip, zstd bool) *store.Compression {
	on := map[string]bool{"gzip": gzip, "zstd": zstd}
	for _, w := range CompressionWords() {
		if on[w.Text] {
			return w.Means
		}
	}
	return nil
}
