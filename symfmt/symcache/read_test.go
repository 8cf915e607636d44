package symcache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
)

// All numbers of a symcache in the other byte order are swapped.
func TestReadBigEndian(t *testing.T) {
	for _, version := range []uint32{7, 8, 9} {
		data := write(t, symtest.Module(t, example), version)
		le := binary.LittleEndian
		strs := len(data) - int(le.Uint32(data[60:]))
		for at := 0; at < strs; at += 4 {
			if at >= 8 && at < 24 || at >= 28 && at < 40 { // bytes of the debug id
				continue
			}
			slices.Reverse(data[at : at+4])
		}
		for at := strs; version == 7 && at < len(data); {
			n := int(le.Uint32(data[at:]))
			slices.Reverse(data[at : at+4])
			at += 4 + n
		}
		if !Match(data) {
			t.Error("no match")
		}
		got, problems, err := read(data)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		want := symtest.Module(t, example)
		want.Canonicalize()
		if got.Canonicalize(); text(t, got) != text(t, want) || got.ID != want.ID || got.Arch != want.Arch {
			t.Errorf("version %d: %s %s\n%s", version, got.Arch, got.ID, text(t, got))
		}
	}
}

func TestReadNothing(t *testing.T) {
	data := write(t, symtest.Module(t, example), 8)
	old := slices.Clone(data)
	old[4] = 6
	many := slices.Clone(data)
	many[56] = 200
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, `x.symcache: not a symcache: the file begins with "", want "SYMC"`},
		{[]byte("MODULE Linux"), `x.symcache: not a symcache: the file begins with "MODU", want "SYMC"`},
		{data[:79], "x.symcache: offset 0x4f: the file ends inside its header of 80 bytes"},
		{old, "x.symcache: offset 0x4: symcache version 6, want 7 to 9"},
		{many, "x.symcache: offset 0x38: 200 ranges, but only 5 source locations: want one per range"},
		{data[:0xea], "x.symcache: offset 0xe8: the file ends before its 4 ranges"},
	} {
		m, _, err := read(c.data)
		if m != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	_, _, err := readAll(failing{}, 100, ReadOptions{File: "x.symcache"})
	if err == nil || err.Error() != "x.symcache: read error: disk on fire" {
		t.Error(err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk on fire") }

// A truncated file is read as far as possible.
func TestReadCut(t *testing.T) {
	data := write(t, symtest.Module(t, example), 8)
	got, problems, err := read(data[:len(data)-0x26+5]) // "main" is there
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems,
		`x.symcache: offset 0xfd: the file ends here, after 5 of 38 bytes of strings (lost: 33 bytes of strings)`,
		`x.symcache: offset 0xfd: a string beyond the 5 bytes of strings (lost: 6 names)`)
	wantText(t, got, "FILE 0 <unknown>\nFILE 1 <unknown>\nINLINE_ORIGIN 1 ?\nFUNC 1 49 0 main\nINLINE 0 10 1 1 1 49\n1 2e 12 0\n2f 1b 13 0\nPUBLIC 60 0 ?\n")

	got, problems, err = read(data[:0xf0]) // two ranges are there
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems,
		`x.symcache: offset 0xf0: the file ends here, after 2 of 4 ranges (lost: 2 ranges)`,
		`x.symcache: offset 0xf8: the file ends here, after 0 of 38 bytes of strings (lost: 38 bytes of strings)`,
		`x.symcache: offset 0xf8: a string beyond the 0 bytes of strings (lost: 6 names)`)
	if len(got.Funcs) != 1 || got.Funcs[0].Size != addressEnd-1 {
		t.Errorf("%+v", got.Funcs)
	}
}

func wantProblems(t *testing.T, problems []symfmt.Problem, want ...string) {
	t.Helper()
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func wantText(t *testing.T, m *symfmt.Module, want string) {
	t.Helper()
	if got := text(t, m); got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
}

// Each case changes one number of the example.
func TestReadDamage(t *testing.T) {
	const function, location, ranges = 0x68, 0x98, 0xe8
	for name, c := range map[string]struct {
		at            int
		value         uint32
		problem, text string
	}{
		"circle": {location + 12, 1, // main is inlined into its own inlined function
			"x.symcache: offset 0xa8: source location 1 is inlined more than 1024 times (lost: 2 ranges)",
			"PUBLIC 60 0 _fini\n"},
		"inlined into nothing": {location + 16 + 12, 77,
			"x.symcache: offset 0xb4: source location 1 is inlined into 77 of 5 (lost: 1 functions that others are inlined into)",
			""},
		"function": {location + 8, 9,
			"x.symcache: offset 0x68: a source location refers to function 9 of 3 (lost: 1 names of functions)", ""},
		"file": {location + 16, 9,
			"x.symcache: offset 0x50: a source location refers to file 9 of 2 (lost: 1 names of files)", ""},
		"order": {ranges + 4, 0,
			"x.symcache: offset 0xec: a range at 0x0 after one at 0x1: want ascending ranges (lost: 1 ranges)", ""},
		"string": {function, 35,
			"x.symcache: offset 0x11b: a string that ends beyond the 38 bytes of strings (lost: 1 names)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := write(t, symtest.Module(t, example), 8)
			binary.LittleEndian.PutUint32(data[c.at:], c.value)
			m, problems, err := read(data)
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems, c.problem)
			if c.text != "" {
				wantText(t, m, c.text)
			}
			if len(m.Publics) != 1 {
				t.Error("the rest is not kept")
			}
		})
	}
}

// What symbolic writes differently from us: compilation directories, a symbol
// with a known end, functions without code, a file without a line.
func TestReadOfSymbolic(t *testing.T) {
	s := stringTable{version: 9, offsets: make(map[string]uint32)}
	b := []byte("SYMC\x09\x00\x00\x00")
	le := binary.LittleEndian
	words := func(words ...uint32) {
		for _, w := range words {
			b = le.AppendUint32(b, w)
		}
	}
	files := [][6]uint32{
		{s.add("/build"), s.add("../src"), s.add("a.c"), s.add("a.c"), s.add("depot"), s.add("42")},
		{s.add("/build"), none, s.add("/abs/b.c"), none, none, none},
	}
	functions := [][4]uint32{
		{s.add("f"), none, 0x10, 2}, {s.add("unused"), none, 0x10, 2},
		{s.add("sized"), none, 0x40, none}, {none, none, 0x60, 0},
	}
	locations := []location{{0, 3, 0, none}, {none, 0, 2, none}, unknown, {1, 0, 3, none}, unknown}
	starts := []uint32{0x10, 0x40, 0x50, 0x60, 0x70}
	b = append(b, make([]byte, 32)...)
	words(401, uint32(len(files)), uint32(len(functions)), uint32(len(locations)), uint32(len(starts)), uint32(len(s.data)))
	words(1, 0, 0, 0) // variables follow
	for _, f := range files {
		words(f[:]...)
	}
	for _, f := range functions {
		words(f[:]...)
	}
	for _, l := range locations {
		words(l.file, l.line, l.function, l.into)
	}
	words(starts...)
	words(0) // padding
	b = append(append(b, s.data...), "anything about variables"...)
	var dropped []string
	m, problems, err := readAll(bytes.NewReader(b), int64(len(b)), ReadOptions{
		Dropped: func(l symfmt.Loss) { dropped = append(dropped, fmt.Sprintf("%d %s", l.Count, l.What)) },
	})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if want := []string{
		"1 languages of functions", "1 functions without code", "1 places of files on source servers", "1 sections about variables",
	}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	wantText(t, m, "FILE 0 /build/../src/a.c\nFILE 1 /abs/b.c\nFUNC 10 30 0 f\n10 30 3 0\nFUNC 40 10 0 sized\nFUNC 60 10 0 ?\n60 10 0 1\n")
	if m.Arch != "arm64" {
		t.Error(m.Arch)
	}
}

// A call whose file is unknown gets the FILE <unknown>, and is written without a file.
func TestCallWithoutFile(t *testing.T) {
	data := write(t, symtest.Module(t, example), 8)
	binary.LittleEndian.PutUint32(data[0x98:], none) // of the first source location
	m, problems, err := read(data)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	wantText(t, m, "FILE 0 /src/b.c\nFILE 2 <unknown>\nINLINE_ORIGIN 1 trigger_crash\nFUNC 1 49 0 main\nINLINE 0 10 2 1 1 49\n1 2e 12 0\n2f 1b 13 0\nPUBLIC 60 0 _fini\n")
	again := write(t, m, 8)
	if at := headSize + 16 + 3*functionSize; binary.LittleEndian.Uint32(again[at:]) != none { // behind one file, padded
		t.Errorf("the call is written with file %d", binary.LittleEndian.Uint32(again[at:]))
	}
}

func TestNamesOfModule(t *testing.T) {
	data := write(t, symtest.Module(t, "MODULE Linux riscv64 0 x\n"), 8)
	m, _, err := readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "a/libx.so.symcache"})
	if err != nil || m.OS != "unknown" || m.Arch != "unknown" || m.Name != "libx.so" {
		t.Errorf("%+v, %v", m, err)
	}
	m, _, err = readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{Arch: "riscv64"})
	if err != nil || m.Name != "unknown" || m.Arch != "riscv64" {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestLongNames pins that many functions with one long name have names up to a limit
// that depends on the size of the file, and that the rest is reported.
func TestLongNames(t *testing.T) {
	m := symtest.LongNames()
	var b bytes.Buffer
	if err := Write(&b, m, Options{}); err != nil {
		t.Fatal(err)
	}
	read, problems, err := readAll(bytes.NewReader(b.Bytes()), int64(b.Len()), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, f := range read.Funcs {
		names += len(f.Name)
	}
	if limit := freeText + namesPerByte*b.Len(); names < limit/2 || names > limit+len(m.Funcs) {
		t.Errorf("names of %d bytes in a file of %d, want up to %d", names, b.Len(), limit)
	}
	if len(problems) == 0 || !strings.Contains(problems[0].Err.Error(), "names take") {
		t.Errorf("problems %v", problems)
	}
}
