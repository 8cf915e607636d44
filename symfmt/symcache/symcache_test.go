package symcache

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
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

func symfmtRead(text string) (*symfmt.Module, error) {
	result, err := symfmt.Read(context.Background(), strings.NewReader(text), symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		return nil, err
	}
	return result.Module, nil
}

func write(t testing.TB, m *symfmt.Module, version uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, Options{Version: version}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte) (*symfmt.Module, []symfmt.Problem, error) {
	return readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "x.symcache", OS: "Linux", Name: "prog"})
}

// text returns a module as Breakpad's text without its MODULE line.
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
	got := write(t, symtest.Module(t, example), 0)
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

// In version 7, a u32 precedes each string; in version 9, files have six
// fields.
func TestVersions(t *testing.T) {
	m := symtest.Module(t, example)
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
		if err := Write(io.Discard, m, Options{Version: v}); err == nil || !strings.Contains(err.Error(), "want 7 to 9") {
			t.Errorf("version %d: %v", v, err)
		}
	}
}

// Each module is read back as it was written to a symcache.
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
			m := symtest.Module(t, "MODULE Linux x86_64 0 x\n"+body)
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
	m := symtest.Module(t, `MODULE Linux riscv64 XYZ prog
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
	for d := range uint32(symfmt.MaxInlineDepth + 3) {
		deep.AddInline(&symfmt.Inline{Depth: d, Ranges: []symfmt.Range{{RVA: 0x80, Size: 1}}})
	}
	m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0x80, Size: 1, Name: "deep", Body: deep.Finish(new(symfmt.Arena))})
	var got []string
	for _, l := range Losses(m, Options{}) {
		got = append(got, fmt.Sprintf("%d %s: %s", l.Count, l.What, l.Why))
	}
	want := strings.Split(`1 MODULE records: a symcache has the id and the CPU only
1 CPUs of the MODULE: symbolic has no number for riscv64
1 ids of the MODULE: neither a UUID nor a time stamp, with an age
1 INFO records: a symcache has no place for them
1 STACK CFI INIT records: a symcache has no call frame information
1 STACK CFI records: a symcache has no call frame information
1 STACK WIN records: a symcache has no call frame information
2 sizes of parameters: a symcache has none
1 "m" marks: a symcache has none
1 FUNC records of size 0: functions exist only through their code
1 FUNC records outside 4 GB: addresses have 32 bits, from the base 0x0
1 PUBLIC records outside 4 GB: addresses have 32 bits, from the base 0x0
1 PUBLIC records at address 0: they belong to no address
1 FUNC records that others hide: an address is in one function
1 PUBLIC records that others hide: an address has one symbol
1 line records outside their FUNC: they belong to no address
3 INLINE records nested deeper than 1024: such chains are not followed
1 ranges of INLINE records outside their FUNC: they belong to no address`, "\n")
	if !slices.Equal(got, want) {
		t.Errorf("losses\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again, problems, err := read(write(t, m, 0)) // the deepest chain can be read
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	for _, l := range Losses(again, Options{}) {
		if strings.Contains(l.What, "record") && l.What != "MODULE records" {
			t.Errorf("%d %s are still lost", l.Count, l.What)
		}
	}
}

// The base is subtracted from addresses, and added again.
func TestBase(t *testing.T) {
	const base = 0xffffffff81000000
	m := symtest.Module(t, `MODULE Linux x86_64 0 vmlinux
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
	got, problems, err := readAll(bytes.NewReader(b.Bytes()), int64(b.Len()), ReadOptions{Base: base})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	m.Publics = m.Publics[1:]
	m.Canonicalize()
	if got.Canonicalize(); text(t, got) != text(t, m) {
		t.Errorf("read\n%swant\n%s", text(t, got), text(t, m))
	}
	for o, want := range map[Options]string{
		{}:           "2 FUNC records outside 4 GB",
		{Base: base}: "",
	} {
		var far string
		for _, l := range Losses(m, o) {
			if strings.Contains(l.What, "FUNC records outside 4 GB") {
				far = fmt.Sprintf("%d %s", l.Count, l.What)
			}
		}
		if far != want {
			t.Errorf("%+v: %q, want %q", o, far, want)
		}
	}
}

// Writing does not change a module, and the order of its records does not
// matter.
func TestWriteOrder(t *testing.T) {
	m, same := symtest.Module(t, example), symtest.Module(t, example)
	write(t, m, 8)
	if !m.Equal(same) {
		t.Error("Write changes the module")
	}
	for i := range 3 {
		m = symtest.Module(t, "MODULE Linux x86_64 0 x\nFUNC 30 10 0 c\nFUNC 0 10 0 a\nFUNC 10 8 0 b\nPUBLIC 44 0 q\nPUBLIC 42 0 p\n")
		sorted := write(t, m, 8)
		m.Funcs[0], m.Funcs[i] = m.Funcs[i], m.Funcs[0]
		slices.Reverse(m.Publics)
		if !bytes.Equal(write(t, m, 8), sorted) {
			t.Error("the order of records shows")
		}
	}
	if err := Write(&testenv.FullWriter{}, symtest.Module(t, example), Options{}); !errors.Is(err, testenv.ErrFull) {
		t.Error(err)
	}
}

// readAll is Read, for tests.
func readAll(r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Module, []symfmt.Problem, error) {
	result, err := Read(context.Background(), r, size, o)
	if err != nil {
		return nil, nil, err
	}
	return result.Module, result.Problems, nil
}

// A cancelled context also stops the work after the file was read.
func TestReadCancelled(t *testing.T) {
	data := write(t, symtest.Module(t, "MODULE Linux x86_64 0 a\nFUNC 10 10 0 f\n"), 8)
	ctx, cancel := context.WithCancel(context.Background())
	in := testenv.CancelingReader{ReaderAt: bytes.NewReader(data), Cancel: cancel}
	if _, err := Read(ctx, in, int64(len(data)), ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
