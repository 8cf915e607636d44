package supplier

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
)

// OtherModules recognises what every Supplier reports about another id, and nothing else.
func TestOtherModules(t *testing.T) {
	const wanted, other = "000102030405060708090A0B0C0D0E0F0", "FF0102030405060708090A0B0C0D0E0F0"
	text := "MODULE Linux x86_64 " + other + " prog\nPUBLIC 10 0 f\n"
	dir := t.TempDir()
	for _, name := range []string{"alone/prog.sym", "store/prog/" + other + "/prog.sym", "wrong/prog/" + wanted + "/prog.sym"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	binary := testenv.ReadInput(t, "walk-sources.elf")
	for _, name := range []string{"bin/prog", "elsewhere/old/prog"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, binary, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	symbols := func(path string) resolve.Supplier {
		s, err := NewSymbols(filepath.Join(dir, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	binaries := func(path string) resolve.Supplier {
		s, err := NewBinaries([]string{filepath.Join(dir, path)}, BinaryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	m := resolve.Module{Name: "prog", DebugFile: "prog", DebugID: wanted, Path: "/prog", BuildID: []byte{1, 2}}
	for name, s := range map[string]resolve.Supplier{
		"file": symbols("alone/prog.sym"), "store": symbols("store"), "wrong place": symbols("wrong"),
		"binary": binaries("bin"), "binary elsewhere": binaries("elsewhere"), "binary alone": binaries("elsewhere/old/prog"),
	} {
		r, tried, _ := s.Symbols(context.Background(), m)
		if r != nil || len(resolve.OtherModules(tried)) != 1 {
			t.Errorf("%s: %v of %q", name, resolve.OtherModules(tried), tried)
		}
	}
	for _, s := range []resolve.Supplier{symbols("store"), symbols("alone")} {
		none := resolve.Module{Name: "nothere", DebugFile: "nothere", DebugID: wanted}
		if _, tried, _ := s.Symbols(context.Background(), none); len(resolve.OtherModules(tried)) != 0 || len(tried) == 0 {
			t.Errorf("%q", tried)
		}
	}
}
