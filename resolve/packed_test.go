package resolve

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/symtool/symtool/symfmt"
)

func TestSlotSize(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); unsafe.Sizeof(uintptr(0)) == 8 && size != 32 {
		t.Errorf("a slot has %d bytes, want 32", size)
	}
}

// shaped returns a text with one function of size bytes. It has lines in that many files,
// numbered from firstLine on, and inlined functions.
func shaped(size, lines, files, inlines, firstLine int, param string) string {
	rng := rand.New(rand.NewPCG(uint64(size), uint64(lines)))
	var b strings.Builder
	b.WriteString(head)
	for i := range files {
		fmt.Fprintf(&b, "FILE %d file%d\n", i, i)
	}
	for i := range inlines {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d inlined%d\n", i, i)
	}
	fmt.Fprintf(&b, "FUNC m 1000 %x %s function\n", size, param)
	step := size / lines
	for i := range inlines {
		at := 0x1000 + i*size/inlines
		fmt.Fprintf(&b, "INLINE 0 %d %d %d %x %x\n", firstLine+i, rng.IntN(files), i, at, size/inlines-1)
		fmt.Fprintf(&b, "INLINE 1 %d %d %d %x %x\n", firstLine+i, rng.IntN(files), i/2, at, size/inlines/2)
	}
	for i := range lines {
		fmt.Fprintf(&b, "%x %x %d %d\n", 0x1000+i*step, step, firstLine+i, rng.IntN(files))
	}
	return b.String()
}

// Functions of each shape, at and beyond the limits of narrow shapes, give the same answers
// as a search through all records.
func TestShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, c := range []struct {
		name                              string
		size, lines, files, inlines, line int
		param                             string
		want                              shape
	}{
		{"one line", 16, 1, 1, 1, 1, "0", isMultiple},
		{"offsets of 1 byte", 255, 17, 3, 5, 1, "0", isMultiple},
		{"offsets of 2 bytes", 256, 16, 3, 4, 1, "0", isMultiple | 1},
		{"offsets of 2 bytes, long", 65535, 51, 3, 5, 1, "0", isMultiple | 1},
		{"offsets of 4 bytes", 65536, 64, 3, 8, 1, "0", isMultiple | 2},
		{"parameters", 1 << 20, 64, 3, 8, 1, "1234567890", isMultiple | hasParams | 2},
		{"255 files", 65535, 255, 255, 1, 1, "0", isMultiple | 1},
		{"many files", 65535, 3000, 300, 1, 1, "0", isMultiple | wide | 1},
		{"many calls", 1 << 20, 100, 3, 128, 1, "8", isMultiple | hasParams | wide | 2},
		{"long file", 255, 5, 3, 2, 65531, "0", isMultiple},
		{"longer file", 255, 5, 3, 2, 65532, "0", isMultiple | wide},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := shaped(c.size, c.lines, c.files, c.inlines, c.line, c.param)
			r := openString(t, text)
			var at Location
			if _, err := r.Find(t.Context(), 0x1000, &at); err != nil {
				t.Fatal(err)
			}
			if got := r.cache.Load().slot(0).shape; got != c.want {
				t.Errorf("shape %b, want %b", got, c.want)
			}
			compareNaive(t, r, readNaive(t, text))
		})
	}
}

// The arena grows over chunks of all sizes, and keeps its contents.
func TestArena(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a arena
	type kept struct {
		ref  uint32
		data []byte
		head int
	}
	var all []kept
	for i := range 3000 {
		f := packed{data: make([]byte, 4*(1+rng.IntN(1000)))}
		if i%500 == 499 {
			f.data = make([]byte, chunkSize-4+8*rng.IntN(2))
		}
		for k := range f.data {
			f.data[k] = byte(i + k)
		}
		f.place = 4 * rng.IntN(min(len(f.data)/4, 256))
		ref, err := a.add(f)
		if err != nil || ref == 0 {
			t.Fatal(ref, err)
		}
		all = append(all, kept{ref, f.data, f.place})
	}
	for i, k := range all {
		chunk, place := a.at(k.ref)
		if got := chunk[place-k.head:][:len(k.data)]; string(got) != string(k.data) {
			t.Fatalf("%d: bytes differ from those that were put in", i)
		}
	}
}

// A function around others that were already read is found after them, and their addresses
// remain theirs.
func TestKnownAndAround(t *testing.T) {
	text := head + "FILE 0 a\nFUNC 1000 1000 4 outer\n1000 1000 1 0\nFUNC 1100 10 0 inner\n1100 10 2 0\nFUNC 8000 100001000 8 huge\n8000 1000 3 0\n"
	r := openString(t, text)
	n := readNaive(t, text)
	for range 2 {
		compareNaive(t, r, n)
	}
	for rva, want := range map[symfmt.RVA]string{0x110f: "inner a:2", 0x1110: "outer a:1", 0x100008000: "huge"} {
		var at Location
		if _, err := r.Find(t.Context(), rva, &at); err != nil || text2line(&at) != want {
			t.Errorf("%#x: %q, %v, want %q", uint64(rva), text2line(&at), err, want)
		}
	}
}
