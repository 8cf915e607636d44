package dwarf2sym_test

import (
	"bytes"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// Android's packed relocations change the file's identity and the addresses
// of its sections, but nothing else in the output.
func TestPackedRelocations(t *testing.T) {
	for _, cpu := range []string{"arm", "arm64"} {
		var texts [2][]byte
		for i, pack := range []string{"none", "android"} {
			path := testenv.Input(t, "pack-"+pack+"-"+cpu+".elf")
			f := symtest.Open(t, path)
			packed := f.Section(".relr.dyn") != nil
			if packed != (pack == "android") {
				t.Fatalf("%s: .relr.dyn: %v", path, packed)
			}
			text := dumpText(t, fixture{name: pack, file: path}, 1)
			_, texts[i], _ = bytes.Cut(text, []byte("\nFILE "))
		}
		if len(texts[0]) == 0 || !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: got\n%s\nwant\n%s", cpu, texts[1], texts[0])
		}
	}
}
