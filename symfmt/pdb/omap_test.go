package pdb

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// stretched is an image in which the code at 0x1000 was stretched by 0x10 bytes in the middle, the code
// at 0x1100 was cut into two parts that changed places, and the code at 0x1200 occurs twice.
func stretched() *layout {
	l := &layout{}
	l.add(0x1000, 0x2000, 0x20)
	l.add(0x1020, 0x2030, 0x20)
	l.add(0x1120, 0x2050, 0x10)
	l.add(0x1100, 0x2060, 0x20)
	l.add(0x1200, 0x3000, 0x10)
	l.add(0x1200, 0x4000, 0x10)
	l.index()
	return l
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		lo, hi symfmt.RVA
		want   []symfmt.Range
	}{
		{0x1000, 0x1040, []symfmt.Range{{RVA: 0x2000, Size: 0x50}}},
		{0x1010, 0x1030, []symfmt.Range{{RVA: 0x2010, Size: 0x30}}},
		{0x1000, 0x1020, []symfmt.Range{{RVA: 0x2000, Size: 0x20}}},
		{0x1024, 0x1028, []symfmt.Range{{RVA: 0x2034, Size: 4}}},
		{0x1100, 0x1130, []symfmt.Range{{RVA: 0x2050, Size: 0x30}}},
		{0x1110, 0x1128, []symfmt.Range{{RVA: 0x2050, Size: 8}, {RVA: 0x2070, Size: 0x10}}},
		{0x1200, 0x1208, []symfmt.Range{{RVA: 0x3000, Size: 8}, {RVA: 0x4000, Size: 8}}},
		{0x1020, 0x1020, nil}, {0x1040, 0x1100, nil}, {0x1300, 0x1400, nil}, {0, 0x1000, nil},
	} {
		if got := stretched().image(c.lo, c.hi); !slices.Equal(got, c.want) {
			t.Errorf("%#x to %#x: %x, want %x", c.lo, c.hi, got, c.want)
		}
	}
}

// In each of its pieces, a function has the piece's lines and inlined calls; PUBLICs and frames are split
// likewise.
func TestTranslate(t *testing.T) {
	const linked = `MODULE windows x86 000000000000000000000000000000000 x.pdb
FILE 0 a.c
INLINE_ORIGIN 0 callee
FUNC 1000 40 8 stretched
INLINE 0 3 0 0 1018 10
1000 18 1 0
1018 10 2 0
1028 18 4 0
FUNC 1108 28 0 moved
1108 28 7 0
PUBLIC 1200 0 twice
STACK WIN 4 1000 40 10 0 8 0 0 0 1 $eip
STACK WIN 4 1108 28 10 0 0 0 0 0 1 $esp
STACK WIN 4 1300 8 1 0 0 0 0 0 1 $gone
`
	const image = `MODULE windows x86 000000000000000000000000000000000 x.pdb
FILE 0 a.c
INLINE_ORIGIN 0 callee
FUNC 2000 50 8 stretched
INLINE 0 3 0 0 2018 20
2000 18 1 0
2018 20 2 0
2038 18 4 0
FUNC 2050 10 0 moved
2050 10 7 0
FUNC 2068 18 0 moved
2068 18 7 0
PUBLIC 3000 0 twice
PUBLIC 4000 0 twice
STACK WIN 4 2000 50 10 0 8 0 0 0 1 $eip
STACK WIN 4 2050 10 0 0 0 0 0 0 1 $esp
STACK WIN 4 2068 10 10 0 0 0 0 0 1 $esp
STACK WIN 4 2078 8 0 0 0 0 0 0 1 $esp
`
	m := readText(t, linked)
	if !stretched().translate(m, []section{{rva: 0x1000, size: 0x1000, exec: true}}) {
		t.Error("not all was translated")
	}
	slices.SortFunc(m.Wins, func(a, b symfmt.StackWin) int { return int(a.RVA) - int(b.RVA) })
	if !m.Equal(readText(t, image)) {
		var got bytes.Buffer
		_ = symfmt.Write(&got, m, symfmt.WriteOptions{})
		t.Errorf("%s\nwant\n%s", &got, image)
	}
}

func readText(t *testing.T, text string) *symfmt.Module {
	t.Helper()
	r, err := symfmt.Read(t.Context(), strings.NewReader(text), symfmt.ReadOptions{})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	return r.Module
}

// A table that claims the same code for every block costs no more than the bound.
func TestLayoutIsBounded(t *testing.T) {
	l := &layout{}
	for i := range symfmt.RVA(1000) {
		l.add(0x1000, i<<12, 0x1000)
	}
	l.index()
	var m symfmt.Module
	for i := range symfmt.RVA(4096) {
		m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0x1000 + i, Size: 1, Name: "f"})
	}
	if l.translate(&m, nil) || len(m.Funcs) > 1<<18 {
		t.Errorf("%d functions, and no problem", len(m.Funcs))
	}
}

// Functions and frames of reordered images are those of Breakpad's files, with one exception: Breakpad ends
// a piece at injected code that has more bytes than the rest of the function.
func TestReordered(t *testing.T) {
	for _, name := range []string{"omap_reorder_bbs", "omap_stretched", "dump_syms_regtest"} {
		path := filepath.Join(testenv.Shared(t, "data", "pe", "real", "breakpad"), name)
		data, err := os.ReadFile(path + ".pdb")
		if err != nil {
			t.Fatal(err)
		}
		result := read(t, data, filepath.Base(path)+".pdb", 2)
		if len(result.Problems) > 0 {
			t.Error(result.Problems)
		}
		got := result.Module
		want := readText(t, strings.ReplaceAll(string(testenv.Gunzip(t, path+".sym.gz")), "\r", ""))
		same := map[symfmt.Range]bool{}
		for _, f := range want.Funcs {
			same[symfmt.Range{RVA: f.RVA, Size: f.Size}] = true
		}
		other := 0
		for _, f := range got.Funcs {
			if same[symfmt.Range{RVA: f.RVA, Size: f.Size}] || isThunk(want, f.RVA) {
				continue
			}
			other++
			in := slices.DeleteFunc(slices.Clone(want.Funcs), func(w symfmt.Func) bool {
				return w.RVA < f.RVA || w.RVA >= f.RVA+symfmt.RVA(f.Size)
			})
			last := len(in) - 1
			if last < 1 || in[0].RVA != f.RVA || in[last].RVA+symfmt.RVA(in[last].Size) != f.RVA+symfmt.RVA(f.Size) {
				t.Errorf("%s: FUNC %x %x %s", name, f.RVA, f.Size, f.Name)
			}
		}
		t.Logf("%s: %d functions, %d of them in more pieces there", name, len(got.Funcs), other)
		checkFrames(t, name, got, want)
	}
}

// isThunk reports whether m has only a public symbol at an address.
func isThunk(m *symfmt.Module, rva symfmt.RVA) bool {
	return slices.ContainsFunc(m.Publics, func(p symfmt.Public) bool { return p.RVA == rva })
}

// checkFrames compares frames where the functions are the same.
func checkFrames(t *testing.T, name string, got, want *symfmt.Module) {
	t.Helper()
	all := map[symfmt.StackWin]bool{}
	for _, w := range want.Wins {
		w.Program = strings.TrimSpace(w.Program)
		all[w] = true
	}
	same := 0
	for _, w := range got.Wins {
		if all[w] {
			same++
			continue
		}
		var first, last symfmt.RVA
		for _, o := range want.Wins {
			if o.RVA >= w.RVA && o.RVA < w.RVA+symfmt.RVA(w.CodeSize) && o.SavedRegisterSize == w.SavedRegisterSize {
				if first == 0 {
					first = o.RVA
				}
				last = max(last, o.RVA+symfmt.RVA(o.CodeSize))
			}
		}
		if first != w.RVA || last != w.RVA+symfmt.RVA(w.CodeSize) {
			t.Errorf("%s: STACK WIN %x %x %x: %x to %x", name, w.RVA, w.CodeSize, w.PrologueSize, first, last)
		}
	}
	t.Logf("%s: %d of %d frames are the same", name, same, len(got.Wins))
	if same*10 < len(got.Wins)*8 {
		t.Errorf("%s: %d of %d frames", name, same, len(got.Wins))
	}
}

// reordered returns a PDB for an image in which a tool moved the first n bytes of the first section behind
// the rest.
func reordered(t testing.TB, data []byte, n uint32) []byte {
	t.Helper()
	d, err := openDatabase(bytes.NewReader(data), int64(len(data)), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.readSections(); err != nil {
		t.Fatal(err)
	}
	var streams [][]byte
	for i := range d.streams {
		s, err := d.stream(i).all()
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	start, end := d.parts[0].rva, d.parts[0].rva+d.parts[0].size
	words := func(values ...uint32) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	opt := streams[debugStream][len(streams[debugStream])-2*optHeaders:]
	binary.LittleEndian.PutUint16(opt[2*optOMAPTo:], uint16(len(streams)))
	binary.LittleEndian.PutUint16(opt[2*optOMAPFrom:], uint16(len(streams)+1))
	binary.LittleEndian.PutUint16(opt[2*optLinked:], uint16(d.opt[optSections]))
	to := words(0, 0, start, start+n, end-n, start, end, end)
	from := words(0, 0, start, end-n, start+n, start, end, end)
	return container512(append(streams, to, from))
}

// container512 returns a file of streams in blocks of 512 bytes.
func container512(streams [][]byte) []byte {
	const size = 512
	file := make([]byte, 3*size) // the superblock, and two maps of free blocks
	put := func(b []byte) (blocks []byte) {
		for ; len(b) > 0; b = b[min(size, len(b)):] {
			blocks = binary.LittleEndian.AppendUint32(blocks, uint32(len(file)/size))
			file = append(file, make([]byte, size)...)
			copy(file[len(file)-size:], b)
		}
		return blocks
	}
	directory := binary.LittleEndian.AppendUint32(nil, uint32(len(streams)))
	var blocks []byte
	for _, s := range streams {
		directory = binary.LittleEndian.AppendUint32(directory, uint32(len(s)))
		blocks = append(blocks, put(s)...)
	}
	directory = append(directory, blocks...)
	place := put(put(directory))
	copy(file, magic)
	for i, v := range []uint32{size, 1, uint32(len(file) / size), uint32(len(directory)), 0, binary.LittleEndian.Uint32(place)} {
		binary.LittleEndian.PutUint32(file[len(magic)+4*i:], v)
	}
	return file
}

// In a file for a reordered image, each function is where it was moved to.
func TestReorderedFile(t *testing.T) {
	const n = 0x30 // the bytes of the two functions that are moved
	data := testenv.Gunzip(t, testenv.Input(t, "pdb-x64.pdb.gz"))
	before, after := read(t, data, "x", 1), read(t, reordered(t, data, n), "x", 1)
	if len(after.Problems) > 0 || len(after.Module.Funcs) != len(before.Module.Funcs) {
		t.Fatalf("%d functions, want %d; %v", len(after.Module.Funcs), len(before.Module.Funcs), after.Problems)
	}
	for i := range before.Module.Funcs {
		b := &before.Module.Funcs[i]
		at := b.RVA - n
		if b.RVA < 0x1000+n {
			at = b.RVA + symfmt.RVA(databaseOf(t, data, "x").parts[0].size) - n
		}
		k, found := functionAt(after.Module.Funcs, at)
		if !found || after.Module.Funcs[k].Name != b.Name || after.Module.Funcs[k].Size != b.Size {
			t.Errorf("%s at %#x is not at %#x", b.Name, uint64(b.RVA), uint64(at))
		}
	}
}

// FuzzLayout translates a module by any table. Nothing may end up at an address that no entry maps to, and no
// table may make more records than there is room for.
func FuzzLayout(f *testing.F) {
	f.Add([]byte{0x00, 0x10, 0x00, 0x20, 0x40, 0x20, 0x10, 0x00, 0x30, 0x08})
	f.Add([]byte{0x00, 0x11, 0x00, 0x20, 0x10, 0x10, 0x11, 0x50, 0x20, 0x20, 0x00, 0x11, 0x00, 0x40, 0x08})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &layout{}
		in := func(rva symfmt.RVA) bool {
			return slices.ContainsFunc(l.blocks, func(b block) bool { return rva >= b.image && rva < b.image+b.size })
		}
		for ; len(data) >= 5; data = data[5:] {
			if size := symfmt.RVA(data[4]); size > 0 {
				l.add(symfmt.RVA(u16(data)), symfmt.RVA(u16(data[2:])), size)
			}
		}
		l.index()
		m := readText(t, fuzzedText)
		l.translate(m, []section{{rva: 0x1000, size: 0x1000, exec: true}})
		for _, f := range m.Funcs {
			if !in(f.RVA) {
				t.Errorf("FUNC at %#x", f.RVA)
			}
			for l := range f.Lines() {
				if l.RVA < f.RVA || l.RVA+symfmt.RVA(l.Size) > f.RVA+symfmt.RVA(f.Size) {
					t.Errorf("line at %#x, in FUNC %#x %#x", l.RVA, f.RVA, f.Size)
				}
			}
		}
		if n := len(m.Funcs) + len(m.Publics) + len(m.Wins); n > (minSteps+stepsRatio*(len(l.blocks)+20))/pieceSteps {
			t.Errorf("%d records of %d entries", n, len(l.blocks))
		}
	})
}

const fuzzedText = `MODULE windows x86 000000000000000000000000000000000 x.pdb
FILE 0 a.c
INLINE_ORIGIN 0 callee
FUNC 1000 40 8 stretched
INLINE 0 3 0 0 1018 10
INLINE 1 3 0 0 1018 8
1000 18 1 0
1018 10 2 0
1028 18 4 0
FUNC 1108 28 0 moved
INLINE 0 3 0 0 1108 8 1118 10
1108 28 7 0
PUBLIC 1200 0 twice
STACK WIN 4 1000 40 10 0 8 0 0 0 1 $eip
STACK WIN 4 1108 28 10 0 0 0 0 0 1 $esp
`
