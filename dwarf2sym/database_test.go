package dwarf2sym_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// Like symtool dump, ReadFile also reads the PDB of a Windows binary, and reports where it looked if there is none.
func TestReadFileWithPDB(t *testing.T) {
	dir := t.TempDir()
	program, database := filepath.Join(dir, "pdb-x64.exe"), filepath.Join(dir, "symbols", "pdb-x64.pdb")
	write := func(path string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := gzip.NewReader(bytes.NewReader(testenv.ReadInput(t, "pdb-x64.pdb.gz")))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	write(program, testenv.ReadInput(t, "pdb-x64.exe"))
	write(database, unpacked)

	o := dwarf2sym.Options{Demangle: true}
	alone, err := dwarf2sym.ReadFile(t.Context(), program, o)
	if err != nil || len(alone.Module.Funcs) > 0 || !alone.NoDebugInfo || len(alone.Tried) == 0 || alone.Tried[0].Place != filepath.Join(dir, "pdb-x64.pdb") {
		t.Fatalf("without the PDB: %v, tried %v", err, alone.Tried)
	}
	o.DebugDirs = []string{filepath.Dir(database)}
	both, err := dwarf2sym.ReadFile(t.Context(), program, o)
	if err != nil {
		t.Fatal(err)
	}
	if both.NoDebugInfo || both.Stats.Funcs == 0 || both.Stats.Lines == 0 || len(both.Module.CFI.Blocks) != len(alone.Module.CFI.Blocks) {
		t.Errorf("with the PDB: %+v", both.Stats)
	}

	o.PrefixMap, o.Vars.Locals = []srcmap.Prefix{{Old: both.Module.Files[0].Name, New: "there"}}, true
	mapped, err := dwarf2sym.ReadFile(t.Context(), program, o)
	if err != nil || mapped.Module.Files[0].Name != "there" || len(mapped.Problems) != 1 || mapped.Problems[0].Lost != "variables" {
		t.Errorf("with a prefix map and variables: %v, %v", err, mapped.Problems)
	}
	o.Mapping = &srcmap.Mapping{}
	if _, err := dwarf2sym.ReadFile(t.Context(), program, o); err == nil || !strings.Contains(err.Error(), "mapping") {
		t.Errorf("with a mapping: %v", err)
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, both.Module, symfmt.WriteOptions{}); err != nil || !bytes.Contains(text.Bytes(), []byte("STACK CFI INIT ")) {
		t.Errorf("no rules for the stack: %v", err)
	}
}
