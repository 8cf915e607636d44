package dwarf2sym_test

import (
	"bytes"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
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
			// Rules of instructions are also for the procedure linkage table, which is at another address.
			report, err := dwarf2sym.Read(t.Context(), f, dwarf2sym.Options{Jobs: 1, CFI: dwarf2sym.CFIDWARF})
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := symfmt.Write(&text, report.Module, symfmt.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			_, texts[i], _ = bytes.Cut(text.Bytes(), []byte("\nFILE "))
		}
		if len(texts[0]) == 0 || !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: got\n%s\nwant\n%s", cpu, texts[1], texts[0])
		}
	}
}
