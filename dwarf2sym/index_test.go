package dwarf2sym

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/lookup"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// indexed is a program of three units, all listed in its .debug_aranges, main's unit first.
const indexed = "cpu-arm64.elf"

// TestIndexIsNotBelieved checks that the contents of .debug_aranges never change the functions, whether .debug_info is
// stored or inflated as units are needed. The index is used as long as it is right.
func TestIndexIsNotBelieved(t *testing.T) {
	image, err := os.ReadFile(filepath.Join(testenv.Input(t), indexed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(sets [][]byte)
		// The number of functions, out of 9, that are found by the index alone.
		stored, compressed int
	}{
		{"as it is", func([][]byte) {}, 9, 9},
		{"a unit is missing", func(sets [][]byte) { join(sets[0], sets[1]) }, 9, 4},
		{"no unit at the offset", func(sets [][]byte) { sets[1][6]++ }, 9, 4},
		{"no such offset", func(sets [][]byte) { sets[2][9] = 0xff }, 9, 6},
		{"a hole", func(sets [][]byte) { sets[0][24] = 4 }, 5, 5},
		{"too much", func(sets [][]byte) { sets[0][25] = 0xff }, 9, 9},
		{"all code", func(sets [][]byte) { clear(sets[2][16:24]); sets[2][28] = 1 }, 9, 9},
		{"another unit's code", func(sets [][]byte) { copy(sets[1][16:32], sets[2][16:32]) }, 5, 5},
		{"two sets", func(sets [][]byte) { copy(sets[1][6:10], sets[2][6:10]) }, 0, 0},
		{"a version", func(sets [][]byte) { sets[1][4] = 3 }, 0, 0},
	} {
		changed := slices.Clone(image)
		c.change(arangesOf(t, changed))
		if used := lookUpEach(t, c.name+", stored", changed, Options{}); used != c.stored {
			t.Errorf("%s: %d functions are found by the index, want %d", c.name, used, c.stored)
		}
		if used := lookUpEach(t, c.name+", compressed", compressSections(t, changed, ".debug_info", ".debug_abbrev"), Options{}); used != c.compressed {
			t.Errorf("%s, compressed: %d functions are found by the index, want %d", c.name, used, c.compressed)
		}
	}
}

// TestIndexOfSplitUnits checks that skeletons with split units are found when .debug_info is compressed and has an index.
func TestIndexOfSplitUnits(t *testing.T) {
	for _, name := range []string{"split-gcc4.elf", "split-gcc5.elf", "split-dwp-gcc4.elf"} {
		image, err := os.ReadFile(filepath.Join(testenv.Input(t), name))
		if err != nil {
			t.Fatal(err)
		}
		lookUpEach(t, name, compressSections(t, image, ".debug_info", ".debug_abbrev"), Options{DwoDirs: []string{testenv.Input(t)}})
	}
}

// arangesOf returns the sets of an image's .debug_aranges.
func arangesOf(t *testing.T, image []byte) (sets [][]byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".debug_aranges")
	for rest := image[s.Offset:][:s.Size]; len(rest) > 0; {
		n := 4 + binary.LittleEndian.Uint32(rest)
		sets, rest = append(sets, rest[:n]), rest[n:]
	}
	if len(sets) != 3 {
		t.Fatalf("%d sets, want 3", len(sets))
	}
	return sets
}

// join extends the length of a set so that it contains the next one, after the end of its ranges.
func join(set, next []byte) { binary.LittleEndian.PutUint32(set, uint32(len(set)+len(next)-4)) }

// compressSections returns a 64-bit image in which some sections are compressed, at its end.
func compressSections(t *testing.T, image []byte, names ...string) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	packed := slices.Clone(image)
	for i, s := range f.Sections {
		if !slices.Contains(names, s.Name) {
			continue
		}
		start := uint64(len(packed))
		out := bytes.NewBuffer(packed)
		binary.Write(out, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: s.Size, Addralign: 1})
		z := zlib.NewWriter(out)
		z.Write(image[s.Offset:][:s.Size])
		z.Close()
		packed = out.Bytes()
		header := packed[binary.LittleEndian.Uint64(image[40:])+64*uint64(i):]
		binary.LittleEndian.PutUint64(header[8:], uint64(s.Flags|elf.SHF_COMPRESSED))
		binary.LittleEndian.PutUint64(header[24:], start)
		binary.LittleEndian.PutUint64(header[32:], uint64(len(packed))-start)
	}
	return packed
}

// lookUpEach looks up each function in a new Lookup, and compares it with the same function in the whole file. It
// returns the number of functions for which the index sufficed.
func lookUpEach(t *testing.T, name string, image []byte, o Options) (byIndexAlone int) {
	t.Helper()
	o.Demangle = true
	whole, err := Read(t.Context(), openSpilling(t, image, 1<<30), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole.Module.Funcs {
		want := &whole.Module.Funcs[i]
		l, err := OpenLookup(t.Context(), openSpilling(t, image, 100), o)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := funcAt(t, l, want.RVA), describeFunc(want, want.Name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if l.unitIndex.Load().Origin == lookup.Listed && l.index != nil {
			byIndexAlone++
		}
		l.Close()
	}
	return byIndexAlone
}

func describeFunc(f *symfmt.Func, name string) string {
	inlines, lines := f.Body.Counts()
	return fmt.Sprintf("%x %x %s, %d inlines, %d lines", uint64(f.RVA), f.Size, name, inlines, lines)
}

// funcAt looks up the function that starts at an address.
func funcAt(t *testing.T, l *Lookup, rva symfmt.RVA) string {
	for {
		areas := l.Areas(t.Context(), rva, rva)
		if len(areas) == 0 {
			return "none"
		}
		if m, ok := l.Read(t.Context(), areas[0].Group); ok {
			if want := l.Module(); m.ID != want.ID || m.Arch != want.Arch {
				return "another MODULE"
			}
			for i := range m.Funcs {
				if f := &m.Funcs[i]; f.RVA == rva {
					return describeFunc(f, l.Name(f.Name))
				}
			}
			return "none there"
		}
	}
}
