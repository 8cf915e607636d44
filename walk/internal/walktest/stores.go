package walktest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// CrashCases are the crashes in the shared test data.
var CrashCases = []string{"coldsplit", "cxxtmpl", "deeprec", "inlines", "nullcall", "omitfp", "sharedlib", "sighandler", "threads"}

// CrashStore returns a folder with symbol files of all binaries of the crash
// cases, in the layout of a symbol store. It is written once for all tests.
func CrashStore(t testing.TB) string {
	t.Helper()
	shared := testenv.Shared(t, "data", "crashes")
	crashSymbols.Do(func() {
		crashSymbols.dir, crashSymbols.err = os.MkdirTemp("", "walk-test-")
		if crashSymbols.err == nil {
			crashSymbols.err = writeCrashStore(shared, crashSymbols.dir)
		}
	})
	if crashSymbols.err != nil {
		t.Fatal(crashSymbols.err)
	}
	return crashSymbols.dir
}

// writeCrashStore dumps every binary in the folders below from.
func writeCrashStore(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*", "*"))
	if err != nil {
		return err
	}
	for _, path := range files {
		head, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".debug" || filepath.Base(path) == "core" || !bytes.HasPrefix(head, []byte("\x7fELF")) {
			continue
		}
		if err := WriteSymbols(path, to); err != nil {
			return err
		}
	}
	return nil
}

// WriteSymbols writes the symbols of a binary to a store.
func WriteSymbols(path, to string) error {
	m, err := SymbolsOf(path)
	if err != nil {
		return err
	}
	return WriteModule(m, to)
}

// WriteModule writes the symbols of a module to a store.
func WriteModule(m *symfmt.Module, to string) error {
	name, err := store.Path(m, ".sym")
	if err != nil {
		return err
	}
	name = filepath.Join(to, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// SymbolsOf reads a binary and the debug file beside it.
func SymbolsOf(path string) (*symfmt.Module, error) {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var debug *object.File
	if _, err := os.Stat(path + ".debug"); err == nil {
		if debug, err = objfile.Open(path+".debug", object.DefaultLimits()); err != nil {
			return nil, err
		}
		defer debug.Close()
	}
	result, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{Debug: debug, Demangle: true})
	if err != nil {
		return nil, err
	}
	return result.Module, nil
}

var crashSymbols struct {
	sync.Once
	dir string
	err error
}

// RunTests runs the tests of a package that uses CrashStore, removes the store and returns the
// exit status.
func RunTests(m *testing.M) int {
	status := m.Run()
	if crashSymbols.dir != "" {
		os.RemoveAll(crashSymbols.dir)
	}
	return status
}

// Folders returns a supplier that asks folders of symbol files in turn.
func Folders(t testing.TB, dirs ...string) resolve.Supplier {
	t.Helper()
	var all []resolve.Supplier
	for _, dir := range dirs {
		s, err := supplier.NewSymbols(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return supplier.NewChain(all...)
}

// Binaries returns a supplier of binaries only.
func Binaries(t testing.TB, paths ...string) *supplier.Binaries {
	t.Helper()
	b, err := supplier.NewBinaries(paths, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
