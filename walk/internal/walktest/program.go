package walktest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// Program is the walk-sources program, which keeps frame pointers and has
// .eh_frame and .sframe.
type Program struct {
	T            *testing.T
	Binary, Core string
	Store        string // contains its symbol file
	Dir          string // paths below it begin with "DIR" in texts
}

// NewProgram returns the program with a new store.
func NewProgram(t *testing.T) *Program {
	x := &Program{T: t, Binary: testenv.Input(t, "walk-sources.elf"), Core: testenv.Input(t, "walk-sources.core.gz"), Dir: t.TempDir()}
	x.Store = filepath.Join(x.Dir, "store")
	if err := WriteSymbols(x.Binary, x.Store); err != nil {
		t.Fatal(err)
	}
	return x
}

// ChangedStore returns a store whose symbol file was changed by f.
func (x *Program) ChangedStore(name string, f func(*symfmt.Module)) string {
	x.T.Helper()
	m, err := SymbolsOf(x.Binary)
	if err != nil {
		x.T.Fatal(err)
	}
	f(m)
	dir := filepath.Join(x.Dir, name)
	if err := WriteModule(m, dir); err != nil {
		x.T.Fatal(err)
	}
	return dir
}

// EditedStore returns a store in whose symbol file a text was replaced.
func (x *Program) EditedStore(name, old, with string) string {
	x.T.Helper()
	dir := x.ChangedStore(name, func(*symfmt.Module) {})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.sym"))
	if err != nil || len(files) != 1 {
		x.T.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		x.T.Fatal(err)
	}
	if n := bytes.Count(text, []byte(old)); n != 1 {
		x.T.Fatalf("%q is there %d times", old, n)
	}
	if err := os.WriteFile(files[0], bytes.Replace(text, []byte(old), []byte(with), 1), 0o644); err != nil {
		x.T.Fatal(err)
	}
	return dir
}

// NoRules removes the STACK CFI of a module.
func NoRules(m *symfmt.Module) { m.CFI = symfmt.CFITable{} }

// OtherModule changes the name and id of a module.
func OtherModule(m *symfmt.Module) { m.Name, m.ID = "other", strings.Repeat("1", 33) }

// BareBinary returns the program without the sections that have rules.
func (x *Program) BareBinary() string {
	x.T.Helper()
	data, err := os.ReadFile(x.Binary)
	if err != nil {
		x.T.Fatal(err)
	}
	for _, name := range []string{"\x00.eh_frame\x00", "\x00.sframe\x00"} {
		if bytes.Count(data, []byte(name)) != 1 {
			x.T.Fatalf("%q is not there once", name)
		}
		data = bytes.Replace(data, []byte(name), bytes.Replace([]byte(name), []byte("frame"), []byte("other"), 1), 1)
	}
	path := filepath.Join(x.Dir, "bare.elf")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		x.T.Fatal(err)
	}
	return path
}
