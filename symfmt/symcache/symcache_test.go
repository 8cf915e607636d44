package symcache

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

const example = `MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF1 prog
FILE 0 /src/a.c
FILE 1 /src/b.c
INLINE_ORIGIN 0 trigger_crash
FUNC 1 49 0 main
INLINE 0 10 0 0 1 49
1 2e 12 1
2f 1b 13 1
PUBLIC 60 0 _fini
`

func parse(t testing.TB, text string) *symfmt.Module {
	t.Helper()
	m, err := symfmtRead(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func symfmtRead(text string) (*symfmt.Module, error) {
	m, _, err := symfmt.Read(strings.NewReader(text), symfmt.ReadOptions{Tolerant: true})
	return m, err
}

func write(t testing.TB, m *symfmt.Module, version uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, Options{Version: version}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte) (*symfmt.Module, []bin.Problem, error) {
	return Read(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "x.symcache", OS: "Linux", Name: "prog"})
}

// text is a module as Breakpad's text without its MODULE line.
func text(t testing.TB, m *symfmt.Module) string {
	t.Helper()
	var b strings.Builder
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(b.String(), "\n")
	return body
}

// The example of symbolic-symcache's documentation, byte for byte.
func TestWriteBytes(t *testing.T) {
	const want = `
53594d43 08000000
0123456789abcdef0123456789abcdef 01000000 0000000000000000000000 00
c9000000 02000000 03000000 05000000 04000000 26000000
00000000000000000000000000000000
ffffffff 05000000 0a000000  ffffffff 05000000 1c000000
00000000 ffffffff 01000000 00000000
0e000000 ffffffff ffffffff 00000000
20000000 ffffffff 60000000 ffffffff
01000000 0a000000 00000000 ffffffff
00000000 0c000000 01000000 00000000
00000000 0d000000 01000000 00000000
ffffffff ffffffff ffffffff ffffffff
ffffffff 00000000 02000000 ffffffff
01000000 2f000000 4a000000 60000000
`
	got := write(t, parse(t, example), 0)
	head := got[:len(got)-0x26]
	wantHead, err := hex.DecodeString(strings.Join(strings.Fields(want), ""))
	if err != nil {
		t.Fatal(err)
	}
	// Strings in order of first use, with their lengths.
	const wantStrings = "\x04main\x04/src\x03b.c\x0dtrigger_crash\x03a.c\x05_fini"
	gotStrings := string(got[len(head):])
	if gotStrings != wantStrings {
		t.Errorf("strings %q, want %q", gotStrings, wantStrings)
	}
	if !bytes.Equal(head, wantHead) {
		t.Errorf("sections\n%s\nwant\n%s", hex.Dump(head), hex.Dump(wantHead))
	}
}

// In version 7 strings have a u32 before them, in 9 files have six fields.
func TestVersions(t *testing.T) {
	m := parse(t, example)
	v7, v8, v9 := write(t, m, 7), write(t, m, 8), write(t, m, 9)
	if n := len(v7) - len(v8); n != 6*3 {
		t.Errorf("version 7 is %d bytes longer than 8, want 3 for each of 6 strings", n)
	}
	if n := len(v9) - len(v8); n != 2*12 {
		t.Errorf("version 9 is %d bytes longer than 8, want 12 for each of 2 files", n)
	}
	m.Canonicalize()
	for _, data := range [][]byte{v7, v8, v9} {
		got, problems, err := read(data)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		if got.Canonicalize(); text(t, got) != text(t, m) {
			t.Errorf("version %d:\n%swant\n%s", data[4], text(t, got), text(t, m))
		}
		if got.ID != m.ID || got.Arch != m.Arch {
			t.Errorf("version %d: %s %s", data[4], got.Arch, got.ID)
		}
	}
	for _, v := range []uint32{6, 10} {
		if err := Write(io.Discard, m, Options{Version: v}); err == nil || !strings.Contains(err.Error(), "7 to 9 are written") {
			t.Errorf("version %d: %v", v, err)
		}
	}
}

// Each module is what is read of the symcache that is written of it.
func TestRoundTrip(t *testing.T) {
	const files = "FILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 in\nINLINE_ORIGIN 1 deep\n"
	for name, body := range map[string]string{
		"nothing":               "",
		"gaps":                  files + "FUNC 0 10 0 f\n0 4 1 0\n8 4 2 0\nFUNC 20 10 0 g\n",
		"adjacent":              "FUNC 0 10 0 f\nFUNC 10 10 0 g\n",
		"nested":                files + "FUNC 0 100 0 f\n0 40 1 0\n50 b0 1 0\nFUNC 40 10 0 g\n40 4 7 1\n48 8 7 1\nFUNC 44 4 0 h\n44 4 8 1\n",
		"two ranges of a call":  files + "FUNC 0 100 0 f\nINLINE 0 3 0 0 10 10 40 10\nINLINE 1 4 0 1 10 8 40 8\n0 100 1 0\n",
		"line 0":                files + "FUNC 0 100 0 f\n0 100 0 0\n",
		"PUBLICs":               "FUNC 0 10 0 f\nPUBLIC 10 0 p\nPUBLIC 20 0 q\n",
		"to the end of 4 GB":    "FUNC ffff0000 10000 0 f\n",
		"up to the last FUNC":   "PUBLIC 10 0 p\nFUNC 20 10 0 f\n",
		"paths":                 "FILE 0 a.c\nFILE 1 /a.c\nFILE 2 //h/a.c\nFILE 3 c:\\x\\a.c\nFILE 4 c:/x/a.c\nFILE 5 /x/\nFILE 6 <stdin>\nFILE 7 x/<stdin>\nFUNC 0 10 0 f\n0 1 1 0\n1 1 1 1\n2 1 1 2\n3 1 1 3\n4 1 1 4\n5 1 1 5\n6 1 1 6\n7 1 1 7\n",
		"one call of two lines": files + "FUNC 0 10 0 f\nINLINE 0 5 0 0 0 8\nINLINE 0 6 0 0 8 8\n0 10 1 0\n",
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, "MODULE Linux x86_64 0 x\n"+body)
			m.Canonicalize()
			got, problems, err := read(write(t, m, 0))
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			got.Canonicalize()
			if text(t, got) != text(t, m) {
				t.Errorf("read\n%swant\n%s", text(t, got), text(t, m))
			}
		})
	}
}

func TestDebugID(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"0123456789ABCDEF0123456789ABCDEF0", "0123456789ABCDEF0123456789ABCDEF0"},
		{"0123456789ABCDEF0123456789ABCDEFFFFFFFFF", "0123456789ABCDEF0123456789ABCDEFFFFFFFFF"},
		{"4EB3FB091", "4EB3FB091"}, // PDB 2.0
		{"4EB3FB09FFFFFFFF", "4EB3FB09FFFFFFFF"},
		{"4EB3FB09", nilID}, // no age
		{"0123456789ABCDEF0123456789ABCDEF", nilID},
		{"0123456789ABCDEF0123456789ABCDEF123456789", nilID},
		{"X123456789ABCDEF0123456789ABCDEF0", nilID},
		{"", nilID},
	} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			b, ok := encodeDebugID(c.id, order)
			if got := decodeDebugID(b[:], order); got != c.want || ok != (c.want != nilID) {
				t.Errorf("%s: %s, %v, want %s", c.id, got, ok, c.want)
			}
		}
	}
}

const nilID = "000000000000000000000000000000000"

func TestMatch(t *testing.T) {
	for head, want := range map[string]bool{
		"SYMC\x08\x00\x00\x00": true, "CMYS\x00\x00\x00\x07": true, "SYMC\x01\x00\x00\x00": true,
		"SYMC": false, "": false, "MODULE Linux": false, "\x7fELF\x02\x01\x01\x00": false,
	} {
		if Match([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
}

// Every number of a symcache of the other byte order is swapped.
func TestReadBigEndian(t *testing.T) {
	for _, version := range []uint32{7, 8, 9} {
		data := write(t, parse(t, example), version)
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
		want := parse(t, example)
		want.Canonicalize()
		if got.Canonicalize(); text(t, got) != text(t, want) || got.ID != want.ID || got.Arch != want.Arch {
			t.Errorf("version %d: %s %s\n%s", version, got.Arch, got.ID, text(t, got))
		}
	}
}

func TestReadNothing(t *testing.T) {
	data := write(t, parse(t, example), 8)
	old := slices.Clone(data)
	old[4] = 6
	many := slices.Clone(data)
	many[56] = 200
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, `x.symcache: no symcache: the file begins with "", not "SYMC"`},
		{[]byte("MODULE Linux"), `x.symcache: no symcache: the file begins with "MODU", not "SYMC"`},
		{data[:79], "x.symcache: offset 0x4f: the file ends in its header, which has 80 bytes"},
		{old, "x.symcache: offset 0x4: symcache version 6: 7 to 9 are read"},
		{many, "x.symcache: offset 0x38: 200 ranges, but 5 source locations: each range has one"},
		{data[:0xea], "x.symcache: offset 0xe8: the file ends before its 4 ranges"},
	} {
		m, _, err := read(c.data)
		if m != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	_, _, err := Read(failing{}, 100, ReadOptions{File: "x.symcache"})
	if err == nil || err.Error() != "x.symcache: read error: disk on fire" {
		t.Error(err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk on fire") }

// A file that was cut off is read as far as it goes.
func TestReadCut(t *testing.T) {
	data := write(t, parse(t, example), 8)
	got, problems, err := read(data[:len(data)-0x26+5]) // "main" is there
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems,
		`x.symcache: offset 0xfd: the file ends here, behind 5 of 38 bytes of strings (lost: 33 bytes of strings)`,
		`x.symcache: offset 0xfd: a string behind the 5 bytes of strings (lost: 6 names)`)
	wantText(t, got, "FILE 0 <unknown>\nFILE 1 <unknown>\nINLINE_ORIGIN 1 ?\nFUNC 1 49 0 main\nINLINE 0 10 1 1 1 49\n1 2e 12 0\n2f 1b 13 0\nPUBLIC 60 0 ?\n")

	got, problems, err = read(data[:0xf0]) // two ranges are there
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems,
		`x.symcache: offset 0xf0: the file ends here, behind 2 of 4 ranges (lost: 2 ranges)`,
		`x.symcache: offset 0xf8: the file ends here, behind 0 of 38 bytes of strings (lost: 38 bytes of strings)`,
		`x.symcache: offset 0xf8: a string behind the 0 bytes of strings (lost: 6 names)`)
	if len(got.Funcs) != 1 || got.Funcs[0].Size != addressEnd-1 {
		t.Errorf("%+v", got.Funcs)
	}
}

func wantProblems(t *testing.T, problems []bin.Problem, want ...string) {
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

// One number of the example is wrong.
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
			"x.symcache: offset 0x68: a source location names function 9 of 3 (lost: 1 names of functions)", ""},
		"file": {location + 16, 9,
			"x.symcache: offset 0x50: a source location names file 9 of 2 (lost: 1 names of files)", ""},
		"order": {ranges + 4, 0,
			"x.symcache: offset 0xec: a range at 0x0 behind one at 0x1: they ascend (lost: 1 ranges)", ""},
		"string": {function, 35,
			"x.symcache: offset 0x11b: a string that ends behind the 38 bytes of strings (lost: 1 names)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := write(t, parse(t, example), 8)
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

// What symbolic writes otherwise than we do: compilation directories, a symbol
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
	m, problems, err := Read(bytes.NewReader(b), int64(len(b)), ReadOptions{
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

// A call whose file is not known has the FILE of that, and is written without one.
func TestCallWithoutFile(t *testing.T) {
	data := write(t, parse(t, example), 8)
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
	data := write(t, parse(t, "MODULE Linux riscv64 0 x\n"), 8)
	m, _, err := Read(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "a/libx.so.symcache"})
	if err != nil || m.OS != "unknown" || m.Arch != "unknown" || m.Name != "libx.so" {
		t.Errorf("%+v, %v", m, err)
	}
	m, _, err = Read(bytes.NewReader(data), int64(len(data)), ReadOptions{Arch: "riscv64"})
	if err != nil || m.Name != "unknown" || m.Arch != "riscv64" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestArches(t *testing.T) {
	for _, a := range arches {
		name := archName(a.number)
		if archNumber(name)/100 != a.number/100 {
			t.Errorf("%s %d: named %q, which is %d", a.name, a.number, name, archNumber(name))
		}
	}
	if archName(0) != "" || archNumber("riscv64") != 0 {
		t.Error("unknown CPUs have a number")
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ path, dir, name string }{
		{"/src/a.c", "/src", "a.c"}, {"src/a.c", "src", "a.c"}, {"a.c", "", "a.c"}, {"/a.c", "", "/a.c"},
		{`c:\s\a.c`, `c:\s`, "a.c"}, {"c:/a.c", "", "c:/a.c"}, {"/x/", "", "/x/"}, {"/x//y", "", "/x//y"},
		{"//h/y", "", "//h/y"}, {"/x/<y>", "", "/x/<y>"}, {"", "", ""}, {`\x\y`, `\x`, "y"}, {"x/c:", "", "x/c:"},
	} {
		dir, name := splitPath(c.path)
		if dir != c.dir || name != c.name || joinPath(dir, name) != c.path {
			t.Errorf("%q: %q, %q, joined %q", c.path, dir, name, joinPath(dir, name))
		}
	}
}

func TestLosses(t *testing.T) {
	m := parse(t, `MODULE Linux riscv64 XYZ prog
INFO CODE_ID 00
FILE 0 a.c
INLINE_ORIGIN 0 in
FUNC 10 10 8 f
INLINE 0 1 0 0 50 4
10 10 1 0
40 4 1 0
FUNC m 10 10 0 same
FUNC 30 0 0 empty
FUNC 100000000 10 0 far
PUBLIC 0 0 zero
PUBLIC 12 0 inside
PUBLIC 40 4 good
PUBLIC 40 0 second
PUBLIC 100000000 0 far
STACK WIN 4 10 10 0 0 0 0 0 0 0 0
STACK CFI INIT 10 10 .cfa: sp
STACK CFI 12 .cfa: fp
`)
	deep := symfmt.BodyBuilder{}
	deep.Reset(0x80)
	for d := range uint32(maxDepth + 3) {
		deep.AddInline(&symfmt.Inline{Depth: d, Ranges: []symfmt.Range{{RVA: 0x80, Size: 1}}})
	}
	m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0x80, Size: 1, Name: "deep", Body: deep.Finish(new(symfmt.Arena))})
	var got []string
	for _, l := range Losses(m, Options{}) {
		got = append(got, fmt.Sprintf("%d %s: %s", l.Count, l.What, l.Why))
	}
	want := strings.Split(`1 operating systems and names of the MODULE: a symcache has only the id and the CPU
1 CPUs of the MODULE: symbolic has no number for riscv64
1 ids of the MODULE: neither a UUID nor a time stamp with an age
1 INFO records: a symcache has no place for them
1 STACK CFI INIT records: a symcache has no call frame information
1 STACK CFI records: a symcache has no call frame information
1 STACK WIN records: a symcache has no call frame information
2 sizes of parameters: a symcache has none
1 marks "m" of code with several symbols: a symcache has none
1 FUNC records of size 0: a function is there by its code
1 FUNC records outside of 4 GB: addresses have 32 bits, from the base on
1 PUBLIC records outside of 4 GB: addresses have 32 bits, from the base on
1 PUBLIC records at address 0: they speak for no address
1 FUNC records that others hide: an address is in one function
1 PUBLIC records that others hide: an address has one symbol
1 line records outside of their FUNC: they speak for no address
3 INLINE records nested deeper than 1024: such chains are not followed
1 ranges of INLINE records outside of their FUNC: they speak for no address`, "\n")
	if !slices.Equal(got, want) {
		t.Errorf("losses\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again, problems, err := read(write(t, m, 0)) // the deepest chain can be read
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	for _, l := range Losses(again, Options{}) {
		if strings.Contains(l.What, "record") {
			t.Errorf("%d %s are still lost", l.Count, l.What)
		}
	}
}

// The base is taken from addresses, and added again.
func TestBase(t *testing.T) {
	const base = 0xffffffff81000000
	m := parse(t, `MODULE Linux x86_64 0 vmlinux
FILE 0 a.c
INLINE_ORIGIN 0 in
FUNC ffffffff81000000 40 0 startup
INLINE 0 3 0 0 ffffffff81000010 10
ffffffff81000000 40 7 0
FUNC ffffffff81000100 7eff0000 0 last
PUBLIC ffffffff80ffffff 0 before
PUBLIC ffffffff81000050 0 p
`)
	data := write(t, m, 0)
	if n := binary.LittleEndian.Uint32(data[56:]); n != 0 {
		t.Errorf("%d ranges without a base", n)
	}
	var b bytes.Buffer
	if err := Write(&b, m, Options{Base: base}); err != nil {
		t.Fatal(err)
	}
	got, problems, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), ReadOptions{Base: base})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	m.Publics = m.Publics[1:]
	m.Canonicalize()
	if got.Canonicalize(); text(t, got) != text(t, m) {
		t.Errorf("read\n%swant\n%s", text(t, got), text(t, m))
	}
	for o, want := range map[Options]string{
		{}:           "2 FUNC records outside of 4 GB",
		{Base: base}: "",
	} {
		var far string
		for _, l := range Losses(m, o) {
			if strings.Contains(l.What, "FUNC records outside of 4 GB") {
				far = fmt.Sprintf("%d %s", l.Count, l.What)
			}
		}
		if far != want {
			t.Errorf("%+v: %q, want %q", o, far, want)
		}
	}
}

// A module stays as it is, and its order does not matter.
func TestWriteOrder(t *testing.T) {
	m, same := parse(t, example), parse(t, example)
	write(t, m, 8)
	if !m.Equal(same) {
		t.Error("Write changes the module")
	}
	for i := range 3 {
		m = parse(t, "MODULE Linux x86_64 0 x\nFUNC 30 10 0 c\nFUNC 0 10 0 a\nFUNC 10 8 0 b\nPUBLIC 44 0 q\nPUBLIC 42 0 p\n")
		sorted := write(t, m, 8)
		m.Funcs[0], m.Funcs[i] = m.Funcs[i], m.Funcs[0]
		slices.Reverse(m.Publics)
		if !bytes.Equal(write(t, m, 8), sorted) {
			t.Error("the order of records shows")
		}
	}
	var failed failingWriter
	if err := Write(&failed, parse(t, example), Options{}); err == nil || err.Error() != "disk full" {
		t.Error(err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
