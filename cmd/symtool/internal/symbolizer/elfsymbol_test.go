package symbolizer

import (
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// A name is looked for once: threads that wait at the same place do not read the symbol table each.
func TestNamesAreKept(t *testing.T) {
	f, err := objfile.Open(testenv.Input(t, "realign-x86_64.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var main uint64
	if err := f.Symbols(object.Symtab, func(s *object.Symbol) {
		if string(s.Name) == "main" {
			main = s.Addr
		}
	}); err != nil {
		t.Fatal(err)
	}
	table := &symbolTable{module: &dump.Module{}, file: f, table: object.Symtab, names: map[uint64]string{}}
	if got := table.name(main); main == 0 || got != "main" {
		t.Fatalf("%#x is %q, want main", main, got)
	}
	table.file = nil
	if got := table.name(main); got != "main" {
		t.Errorf("asked again: %q, want main", got)
	}
}
