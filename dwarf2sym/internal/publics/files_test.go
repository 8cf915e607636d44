package publics

import (
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// Symbols of .gnu_debugdata are added to those of .dynsym, but not if there is a .symtab.
func TestMiniDebugPublics(t *testing.T) {
	f := symtest.Open(t, testenv.Input(t, "minidebug.elf"))
	dyn, _ := Read(f.Base, filesOf(f))
	files, lost, err := object.Companions(f, nil)
	if err != nil || len(files) != 2 || len(lost) > 0 {
		t.Fatalf("%d files, %v, %v", len(files), err, lost)
	}
	both, problems := Read(f.Base, files)
	mini, _ := Read(f.Base, []object.Companion{files[1]})
	names := map[symfmt.RVA][]string{}
	for _, p := range append(dyn, mini...) {
		names[p.RVA] = append(names[p.RVA], p.Name)
	}
	if len(problems) > 0 || len(dyn) < 10 || len(mini) < 10 || len(both) != len(names) {
		t.Errorf("%d of .dynsym and %d of .gnu_debugdata make %d, want %d: %v", len(dyn), len(mini), len(both), len(names), problems)
	}
	for _, p := range both {
		// Of two names at an address, the one in .dynsym is global.
		if names[p.RVA][0] != p.Name {
			t.Errorf("%x is %q, want one of %q", p.RVA, p.Name, names[p.RVA])
		}
	}
	whole := &object.File{Container: &withMini{mini: files[1].File}}
	beside, _, err := object.Companions(whole, &object.File{Container: &withMini{symtab: true}})
	if err != nil || len(beside) != 2 || beside[1].Mini {
		t.Errorf("beside a .symtab: %d files, %v", len(beside), err)
	}
}

// withMini is a container that has a .symtab, or a .gnu_debugdata.
type withMini struct {
	object.SectionsOnly
	symtab bool
	mini   *object.File
}

func (c *withMini) HasSymbols(t object.Table) bool  { return t == object.Symtab && c.symtab }
func (c *withMini) Embedded() (*object.File, error) { return c.mini, nil }
