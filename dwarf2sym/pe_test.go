package dwarf2sym_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// The symbol file of each PE file, and the problems found, are as in golden/dwarf2sym/pe, with
// one worker and with several. The README describes each file.
func TestGoldenPE(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "pe-*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("golden/input: %d PE files: %v", len(files), err)
	}
	readme := testenv.ReadInput(t, "README.md")
	for _, path := range files {
		name := filepath.Base(path)
		text := dumpText(t, fixture{name: name, file: path}, 1)
		testenv.Golden(t).Assert(t, "pe/"+name+".sym", text)
		if again := dumpText(t, fixture{name: name, file: path}, 4); !bytes.Equal(again, text) {
			t.Errorf("%s: 4 workers write something else than one", name)
		}
		if !bytes.Contains(readme, []byte("`"+name+"`")) {
			t.Errorf("golden/input/README.md does not say what %s is for", name)
		}
	}
}
