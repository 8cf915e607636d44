package dwarf2sym_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// The symbol file of each program of macOS and iOS with its dSYM, and the problems found, are as in
// golden/dwarf2sym/macho, with one worker and with several.
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

// Without tables, as in kernels, the rules come from the instructions: all code of these programs has rules except
// padding.
func TestMachOWithoutTables(t *testing.T) {
	for _, name := range []string{"macho-x86_64", "macho-arm64"} {
		path := filepath.Join(t.TempDir(), name)
		writeFile(t, path, testenv.ReadInput(t, name))
		file := symtest.Open(t, withoutTables(t, path))
		report, err := dwarf2sym.Read(t.Context(), file, dwarf2sym.Options{})
		if err != nil {
			t.Fatal(err)
		}
		covered := uint64(0)
		for _, b := range report.Module.CFI.Blocks {
			covered += b.Size
		}
		if text := file.Section("__text"); covered < text.MemSize*17/20 {
			t.Errorf("%s: rules for %d bytes, the code has %d", name, covered, text.MemSize)
		}
	}
}

// withoutTables returns a copy of a binary in which the tables of frames are renamed.
func withoutTables(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"__unwind_info", "__eh_frame"} {
		data = bytes.ReplaceAll(data, []byte(name+"\x00"), []byte("__x"+name[3:]+"\x00"))
	}
	writeFile(t, path+"-bare", data)
	return path + "-bare"
}

// A binary in a universal file gives the same symbol file as the same binary in a file of its own. This covers the
// committed files and the shared ones.
func TestMachOSlices(t *testing.T) {
	files := []string{testenv.Input(t, "macho-fat"), testenv.Input(t, "macho-fat.dSYM"), testenv.Input(t, "macho-fat64")}
	for _, path := range []string{"generated/fat/fat", "generated/fat/fat.dSYM", "generated/fat/fat64.dylib", "real/framehop/arm64-fp-libmozglue-fat.dylib",
		"real/go/fat-gcc-386-amd64-darwin-exec", "real/symbolic/Example.framework.dSYM"} {
		files = append(files, testenv.SharedGlob(t, "data", "macho", path)...)
	}
	for _, path := range files {
		whole, err := os.ReadFile(objfile.InBundle(path))
		if err != nil {
			t.Fatal(err)
		}
		for i, cpu := range objfile.CPUs(path) {
			thin := filepath.Join(t.TempDir(), filepath.Base(objfile.InBundle(path)))
			writeFile(t, thin, machoSlice(whole, i))
			_, got := dumpMachO(t, path, cpu, "", true)
			if _, want := dumpMachO(t, thin, "", "", true); !bytes.Equal(got, want) || len(want) < 100 {
				t.Errorf("%s of %s: %d bytes, want the %d of the file cut out of it", cpu, path, len(got), len(want))
			}
		}
	}
}

// machoSlice returns the ith binary of a universal file.
func machoSlice(whole []byte, i int) []byte {
	if whole[3] == 0xbf { // offsets of 64 bits
		entry := whole[8+32*i:]
		return whole[binary.BigEndian.Uint64(entry[8:]):][:binary.BigEndian.Uint64(entry[16:])]
	}
	entry := whole[8+20*i:]
	return whole[binary.BigEndian.Uint32(entry[8:]):][:binary.BigEndian.Uint32(entry[12:])]
}
