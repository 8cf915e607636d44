package symcache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// Any bytes are read without a panic and in bounded memory, and the result can be written.
// After that, reading and writing again change nothing.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"clang-dwarf5.sym", "compressed-zlib.sym"} {
		t, err := os.ReadFile(filepath.Join(testenv.Root(f), "golden", "dwarf2sym", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(write(f, symtest.Module(f, string(t)), 8))
	}
	for _, version := range []uint32{7, 8, 9} {
		f.Add(write(f, symtest.Module(f, example), version))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems, err := read(data)
		if err != nil {
			if m != nil || len(problems) > 0 {
				t.Fatal("an error and a module")
			}
			return
		}
		if n := inlineRanges(m); n > nodesPerRange*(len(data)/rangeSize+symfmt.MaxInlineDepth) {
			t.Fatalf("%d ranges of INLINEs of %d bytes", n, len(data))
		}
		Losses(m, Options{})
		first := write(t, m, 8)
		again, problems, err := read(first)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		second := write(t, again, 8)
		last, _, err := read(second)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(write(t, last, 8), second) {
			t.Error("read and written, it is another file")
		}
	})
}

func inlineRanges(m *symfmt.Module) (n int) {
	for i := range m.Funcs {
		for in := range m.Funcs[i].Inlines() {
			n += len(in.Ranges)
		}
	}
	return n
}

// Any module read from Breakpad's text is written and read again.
func FuzzWrite(f *testing.F) {
	f.Add(example)
	f.Add("MODULE Linux x86_64 0 x\nFUNC 0 10 0 f\nFUNC 0 8 0 g\nFUNC 4 20 0 h\nPUBLIC 6 0 p\nPUBLIC 30 0 q\n")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := symfmtRead(s)
		if err != nil {
			return
		}
		Losses(m, Options{})
		first := write(t, m, 8)
		got, problems, err := read(first)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		second := write(t, got, 8)
		last, _, err := read(second)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(write(t, last, 8), second) {
			t.Error("read and written, it is another file")
		}
	})
}

// A small file each of whose ranges is inlined 1024 times, in two alternating chains,
// does not become a large module.
func TestReadManyInlines(t *testing.T) {
	const ranges = 2000
	data := []byte("SYMC\x08\x00\x00\x00")
	data = append(data, make([]byte, debugIDSize)...)
	words := func(words ...uint32) {
		for _, w := range words {
			data = byteOrder.AppendUint32(data, w)
		}
	}
	words(0, 0, 1, 2*symfmt.MaxInlineDepth+ranges, ranges, 0, 0, 0, 0, 0)
	words(none, none, 0, 0)
	for i := range uint32(2 * symfmt.MaxInlineDepth) { // two chains, over each other
		into := i - 2
		if i < 2 {
			into = none
		}
		words(none, i, 0, into)
	}
	for i := range uint32(ranges) {
		words(none, 1, 0, 2*symfmt.MaxInlineDepth-2+i%2)
	}
	for i := range uint32(ranges) {
		words(i)
	}
	m, problems, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	if n, most := inlineRanges(m), nodesPerRange*(ranges+symfmt.MaxInlineDepth); n != most {
		t.Errorf("%d ranges of INLINEs, want %d", n, most)
	}
	// 3024 x 64 steps are 189 chains of 1023, and 47 of those are 3024 x 16 ranges.
	if len(m.Funcs) != 1 || m.Funcs[0].Size != 189 {
		t.Errorf("%+v", m.Funcs)
	}
	wantProblems(t, problems,
		"x.symcache: offset 0x60: more than 16 inlined functions per range (lost: 142 ranges of INLINE records)",
		"x.symcache: offset 0x8c30: more than 64 source locations per range (lost: 1811 ranges)")
}

// Many files in one long directory do not become many long paths.
func TestReadLongPaths(t *testing.T) {
	const files, long = 20000, 1 << 16
	data := []byte("SYMC\x08\x00\x00\x00")
	data = append(data, make([]byte, debugIDSize)...)
	words := func(words ...uint32) {
		for _, w := range words {
			data = byteOrder.AppendUint32(data, w)
		}
	}
	words(0, files, 1, files, files, long+3, 0, 0, 0, 0)
	for i := range uint32(files) {
		words(none, 0, i)
	}
	words(none, none, 0, 0)
	for i := range uint32(files) {
		words(i, 1, 0, none)
	}
	for i := range uint32(files) {
		words(i)
	}
	data = append(append(data, 0x80, 0x80, 0x04), bytes.Repeat([]byte{1}, long)...)
	m, problems, err := read(data)
	if err != nil || len(problems) == 0 {
		t.Fatal(err, problems)
	}
	total := 0
	for _, file := range m.Files {
		total += len(file.Name)
	}
	if total > 32*len(data) {
		t.Errorf("%d bytes of paths of a file of %d", total, len(data))
	}
}
