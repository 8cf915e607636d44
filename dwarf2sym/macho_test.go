package dwarf2sym_test

import (
	"bytes"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// The symbol file of each program of macOS and iOS with its dSYM, and the problems met, are as in
// golden/dwarf2sym/macho; with one worker and with several.
func TestGoldenMachO(t *testing.T) {
	readme := testenv.ReadInput(t, "README.md")
	for _, name := range []string{"macho-x86_64", "macho-x86_64-nofp", "macho-arm64", "macho-arm64-nofp", "macho-names"} {
		path := testenv.Input(t, name)
		text := dumpText(t, fixture{name: name, file: path, debug: path + ".dSYM"}, 1)
		testenv.Golden(t).Assert(t, "macho/"+name+".sym", text)
		if again := dumpText(t, fixture{name: name, file: path, debug: path + ".dSYM"}, 4); !bytes.Equal(again, text) {
			t.Errorf("%s: 4 workers write something else than one", name)
		}
		if !bytes.Contains(readme, []byte("`"+name+"`")) {
			t.Errorf("golden/input/README.md does not say what %s is for", name)
		}
	}
}
