package gsym

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

func write(t testing.TB, m *symfmt.Module, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte, o ReadOptions) *symfmt.Module {
	t.Helper()
	m, problems, err := readAll(bytes.NewReader(data), int64(len(data)), o)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return m
}

// allOptions returns both versions in both byte orders.
func allOptions() (all []Options) {
	for _, version := range []int{1, 2} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			all = append(all, Options{Version: version, ByteOrder: order})
		}
	}
	return all
}

// hexBytes assembles bytes from text with blanks and with comments after #.
func hexBytes(t *testing.T, s string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// version2 is a file assembled by hand from HeaderV2.h and GlobalData.h.
const version2 = `
47 53 59 4d 0002 01 00           # GSYM, version 2, addresses of 1 byte, encoding 0
0000000000400000 00000002        # base, 2 addresses
00000006 00000000000000a0 0000000000000004 # UUID
00000001 00000000000000a4 0000000000000002 # addresses
00000002 00000000000000a8 0000000000000010 # offsets
00000004 00000000000000b8 0000000000000024 # files
00000003 00000000000000dc 000000000000001c # strings
00000005 00000000000000f8 0000000000000064 # functions
00000000 0000000000000000 0000000000000000
01020304                         # UUID
10 40 0000                       # addresses
0000000000000000 0000000000000050 # offsets, from the functions' start
00000002 0000000000000000 0000000000000000 0000000000000001 0000000000000006 # files
00 2f 73 72 63 00 61 2e 63 00 66 00 69 6e 00 70 75 62 00 00 00 00 00 00 00 00 00 00 # /src a.c f in pub
00000010 000000000000000a        # function f of 16 bytes
00000001 00000008 00 04 07 04 0e 02 08 00 # lines: 7 at +0, by a special opcode +2, by AdvancePC +10
00000002 0000001e           # inlined functions
01 00 10 01 000000000000000a 00 00 # root: [0,16) with children, f
01 04 04 00 000000000000000c 01 09 # [4,8): in, called from file 1 line 9
00 00                            # end of the list, and a byte of no meaning
00000000 00000000 000000000000   # end, up to a multiple of 4
00000000 000000000000000f        # symbol pub
00000000 00000000`

func TestVersion2ByHand(t *testing.T) {
	data := hexBytes(t, version2)
	m, problems, err := readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "dir/x.gsym", OS: "Linux", Arch: "ppc"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	const want = `MODULE Linux ppc 010203040000000000000000000000000 x
INFO CODE_ID 01020304
FILE 1 /src/a.c
INLINE_ORIGIN 0 in
FUNC 10 10 0 f
INLINE 0 9 1 0 14 4
10 2 7 1
12 8 7 1
1a 6 7 1
PUBLIC 40 0 pub
`
	if got := symtest.Text(t, m); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// holds returns the part of m that GSYM can hold.
func holds(m *symfmt.Module, id identity) {
	m.Infos = nil
	if id.uuid != nil {
		m.Infos = []symfmt.Info{{Key: codeID, Value: fmt.Sprintf("%X", id.uuid)}}
	}
	m.Wins, m.CFI = nil, symfmt.CFITable{}
	for i := range m.Funcs {
		m.Funcs[i].Multiple, m.Funcs[i].ParamSize = false, 0
	}
	for i := range m.Publics {
		m.Publics[i].Multiple, m.Publics[i].ParamSize = false, 0
	}
	m.Canonicalize()
}

// TestRoundTrip checks that a module is read as it was written, except, for compilers'
// files, the PUBLICs that are left out, and that the second round trip loses nothing.
func TestRoundTrip(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	same := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := symtest.Module(t, string(data))
		if len(m.Funcs)+len(m.Publics) == 0 {
			continue
		}
		before := symtest.Text(t, m)
		for _, o := range allOptions() {
			first := write(t, m, o)
			ro := ReadOptions{OS: m.OS, Arch: m.Arch, Name: m.Name}
			got := read(t, first, ro)
			if again := write(t, got, o); !bytes.Equal(again, first) {
				second := read(t, again, ro)
				got.Canonicalize()
				second.Canonicalize()
				if !second.Equal(got) {
					t.Errorf("%s, %+v: the second trip differs", filepath.Base(file), o)
				}
			}
			want := symtest.Module(t, string(data))
			holds(want, identify(want))
			got.Canonicalize()
			if inside := newPlan(m, 0).counts.insidePublics; inside > 0 {
				want.Publics = nil
				got.Publics = nil
			} else {
				same++
			}
			if got.ID != want.ID { // a GUID on a CPU that supports both byte orders
				got.ID, got.Infos = want.ID, want.Infos
			}
			if !got.Equal(want) {
				t.Errorf("%s, %+v:\n%s\nwant:\n%s", filepath.Base(file), o, cut(symtest.Text(t, got)), cut(symtest.Text(t, want)))
			}
		}
		if symtest.Text(t, m) != before {
			t.Errorf("%s: Write changed the module", file)
		}
	}
	if same < 400 {
		t.Errorf("%d comparisons only", same)
	}
}

func cut(s string) string { return s[:min(len(s), 3000)] }

const head = "MODULE Linux x86_64 0403020106050807090A0B0C0D0E0F100 x\nINFO CODE_ID 0102030405060708090A0B0C0D0E0F1011121314\n"

func TestForms(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"merged functions", "FUNC 10 10 0 a\n10 10 1 0\nFUNC 10 10 0 b\n10 10 2 0\nPUBLIC 10 0 c\n", ""},
		{"public at one address", "PUBLIC 10 0 a\nPUBLIC 10 0 b\n", ""},
		{"gap in lines", "FUNC 10 10 0 a\n12 2 1 0\n18 4 2 0\n", ""},
		{"line 0", "FUNC 10 10 0 a\n10 8 0 0\n18 8 2 0\n", ""},
		{"far lines", "FUNC 10 1000 0 a\n10 800 1 0\n810 7ff 4294967295 0\n100f 1 0 0\n", ""},
		{"inlines without lines", "FUNC 10 10 0 a\nINLINE 0 3 0 0 12 2\n", ""},
		{"ranges in ranges", "FUNC 10 20 0 a\nINLINE 0 3 0 0 12 4 20 4\nINLINE 1 4 0 1 13 1 21 2\nINLINE 0 5 0 1 18 4\n10 20 1 0\n", ""},
		{"a FUNC in a FUNC", "FUNC 10 40 0 a\n10 20 1 0\n30 20 2 0\nFUNC 20 8 0 b\n20 8 7 0\n", ""},
		{"FUNCs across", "FUNC 10 20 0 a\n10 20 1 0\nFUNC 20 20 0 b\n20 20 7 0\n", ""},
		{"FUNCs of one start", "FUNC 10 20 0 a\nFUNC 10 40 0 b\nFUNC 30 4 0 c\n", ""},
		{"lines out of order", "FUNC 10 10 0 a\n18 8 2 0\n10 8 1 0\n", "FUNC 10 10 0 a\n10 8 1 0\n18 8 2 0\n"},
		{"lines across", "FUNC 10 10 0 a\n10 10 2 0\n14 4 1 0\n", "FUNC 10 10 0 a\n10 4 2 0\n14 4 1 0\n"},
		{"lines outside", "FUNC 10 10 0 a\n8 10 2 0\n1c 8 1 0\n", "FUNC 10 10 0 a\n1c 4 1 0\n"},
		{"empty FUNC", "FUNC 10 0 0 a\nFUNC 20 1 0 b\n", "FUNC 20 1 0 b\n"},
		{"PUBLIC inside", "FUNC 10 10 0 a\nPUBLIC 18 0 b\nPUBLIC 20 0 c\n", "FUNC 10 10 0 a\nPUBLIC 20 0 c\n"},
		{"no tree", "FUNC 10 10 0 a\nINLINE 0 3 0 0 10 4\nINLINE 1 4 0 1 12 4\n10 10 1 0\n", "FUNC 10 10 0 a\nINLINE 0 3 0 0 10 4\nINLINE 1 4 0 1 12 2\n10 10 1 0\n"},
		{"far addresses", "FUNC ffffffff81000000 10 0 a\nffffffff81000000 10 1 0\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const names = "FILE 0 /src/a.c\nINLINE_ORIGIN 0 i\nINLINE_ORIGIN 1 j\n"
			if c.want == "" {
				c.want = c.in
			}
			want := symtest.Module(t, head+names+c.want)
			want.Canonicalize()
			for _, o := range allOptions() {
				got := read(t, write(t, symtest.Module(t, head+names+c.in), o), ReadOptions{OS: "Linux", Arch: "x86_64", Name: "x"})
				got.Canonicalize()
				if symtest.Text(t, got) != symtest.Text(t, want) {
					t.Errorf("%+v:\n%s\nwant:\n%s", o, symtest.Text(t, got), symtest.Text(t, want))
				}
			}
		})
	}
}

func TestLosses(t *testing.T) {
	m := symtest.Module(t, "MODULE windows x86 111111111111111111111111111111112 x.pdb\nINFO CODE_ID FFFFFFFF x.exe\nFILE 0 a.c\n"+
		"INLINE_ORIGIN 0 0 i\nFUNC m 10 10 4 a\nINLINE 0 3 0 12 2 40 1\n8 4 1 0\n10 0 2 0\n10 8 3 0\n14 10 4 0\n14 1 5 0\nFUNC 40 0 0 b\nFUNC 100 100000000 0 c\n"+
		"PUBLIC 14 4 p\nSTACK WIN 4 10 10 0 0 0 0 0 0 1 $eip 4 + ^ =\nSTACK CFI INIT 10 10 .cfa: $esp 4 +\nSTACK CFI 12 .cfa: $esp 8 +\n")
	var got []string
	for _, l := range Losses(m, Options{}) {
		got = append(got, fmt.Sprintf("%d %s", l.Count, l.What))
	}
	want := []string{
		"1 MODULE records", "1 ages in MODULE's id", "1 INFO records", "1 STACK WIN records",
		"1 STACK CFI INIT records", "1 STACK CFI records", "2 sizes of parameters", `1 "m" marks`, "1 files of INLINE_ORIGIN records",
		"1 FUNC records of size 0", "1 FUNC records larger than 4294967295 bytes", "1 PUBLIC records inside a FUNC", "1 line records of size 0",
		"1 line records outside their FUNC", "1 line records at the address of another", "2 line records cut short",
		"1 ranges of INLINE records outside their FUNC", "1 INLINE records without a call file",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if l := Losses(symtest.Module(t, head+"FUNC 10 10 0 a\n"), Options{}); len(l) != 1 {
		t.Errorf("losses of a plain module: %v", l)
	}
}

func TestWriteErrors(t *testing.T) {
	m := symtest.Module(t, head+"FUNC 10 10 0 a\n")
	if err := Write(io.Discard, m, Options{Version: 3}); err == nil || err.Error() != "GSYM of x: GSYM version 3, want 1 or 2" {
		t.Error(err)
	}
	if err := Write(io.Discard, symtest.Module(t, head+"FUNC 10 0 0 a\n"), Options{}); !errors.Is(err, errNothing) {
		t.Error(err)
	}
	if err := Write(limited{}, m, Options{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type limited struct{}

func (limited) Write(b []byte) (int, error) { return len(b) / 2, nil }

func TestSameForAnyJobs(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + "FILE 0 a.c\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "FUNC %x 10 0 f%d\n%x 10 %d 0\n", i*16, i%700, i*16, i)
	}
	m := symtest.Module(t, b.String())
	one := write(t, m, Options{Jobs: 1})
	for _, jobs := range []int{2, 7} {
		if !bytes.Equal(write(t, m, Options{Jobs: jobs}), one) {
			t.Errorf("%d jobs write otherwise", jobs)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct{ module, info, uuid, id string }{
		{"Linux x86_64 0403020106050807090A0B0C0D0E0F100", "", "0102030405060708090a0b0c0d0e0f10", ""},
		{"Linux s390x 0102030405060708090A0B0C0D0E0F100", "", "0102030405060708090a0b0c0d0e0f10", ""},
		{"mac arm64 0102030405060708090A0B0C0D0E0F100", "", "0102030405060708090a0b0c0d0e0f10", ""},
		{"Linux x86 040302010000000000000000000000000", "01020304", "01020304", ""},
		{"Linux x86_64 0403020106050807090A0B0C0D0E0F100", "FFFF", "0102030405060708090a0b0c0d0e0f10", ""}, // does not agree
		{"Linux x86_64 0403020106050807090A0B0C0D0E0F105", "", "0102030405060708090a0b0c0d0e0f10", "0403020106050807090A0B0C0D0E0F100"},
	} {
		text := "MODULE " + c.module + " x\n"
		if c.info != "" {
			text += "INFO CODE_ID " + c.info + "\n"
		}
		m := symtest.Module(t, text+"FUNC 0 1 0 a\n")
		if got := hex.EncodeToString(identify(m).uuid); got != c.uuid {
			t.Errorf("%s: UUID %s, want %s", c.module, got, c.uuid)
		}
		want := m.ID
		if c.id != "" {
			want = c.id
		}
		for _, o := range allOptions() {
			if got := read(t, write(t, m, o), ReadOptions{OS: m.OS, Arch: m.Arch}).ID; got != want {
				t.Errorf("%s, %+v: %s", c.module, o, got)
			}
		}
	}
}

func TestBase(t *testing.T) {
	data := write(t, symtest.Module(t, head+"FUNC 10 10 0 a\n"), Options{Base: 0x400000})
	zero, high := uint64(0), uint64(0x400011)
	for _, c := range []struct {
		base *uint64
		want symfmt.RVA
	}{{nil, 0x10}, {&zero, 0x400010}} {
		if m := read(t, data, ReadOptions{Base: c.base}); m.Funcs[0].RVA != c.want {
			t.Errorf("%#x, want %#x", m.Funcs[0].RVA, c.want)
		}
	}
	_, problems, err := readAll(bytes.NewReader(data), int64(len(data)), ReadOptions{Base: &high})
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), "address 0x400000+0x10, want 0x400011 or more") {
		t.Error(err, problems)
	}
}

func TestPaths(t *testing.T) {
	for path, dir := range map[string]string{
		"/a/b.c": "/a", "b.c": "", "/b.c": "", `C:\a\b.c`: `C:\a`, `C:\a/b.c`: "", "/a/": "", "": "", `/a/b\c.c`: "/a", `a\b/c\d`: "",
	} {
		gotDir, base := splitPath(path)
		if gotDir != dir || joinPath(gotDir, base) != path {
			t.Errorf("%q: %q and %q", path, gotDir, base)
		}
	}
	if got := joinPath("/", "x.c"); got != "/x.c" {
		t.Error(got)
	}
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		"GSYM\x00\x01": true, "MYSG\x02\x00": true, "GSYM\x01\x00": false, "GSYM": false, "": false, "MODULE": false, "MYSG\x03\x00": true,
	} {
		if Match([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// A call without a file gets the file of its function. That file is not searched for each
// call: a FUNC with many such calls takes time in proportion to their number.
func TestManyCallsWithoutFile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	const n = 300_000
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 0 a\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 1 f\nFUNC 0 %x 0 g\nINLINE 0 1 0 0 %x\n", 2*n, 2*n)
	for i := range n {
		fmt.Fprintf(&b, "INLINE 1 2 0 %x 1\n", 2*i)
	}
	watch := testenv.StartWatch()
	m := read(t, write(t, symtest.Module(t, b.String()), Options{}), ReadOptions{})
	files := m.FileNames()
	calls := 0
	for r := m.Funcs[0].InlineReader(); r.Next(); {
		if name, _ := files.Name(r.Inline.CallFile); r.Inline.Depth == 1 && name == "b.c" {
			calls++
		}
	}
	if took := watch.Took(); calls != n || took > 20*time.Second {
		t.Errorf("%d calls in b.c in %v, want %d in a second or so", calls, took, n)
	}
}

// The check whether INLINEs form a tree does not search all ranges of the enclosing one for
// each: a FUNC with many of both takes time in proportion to their number.
func TestManyInlinesInManyRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	const n = 300_000
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 f\nFUNC 0 %x 0 g\nINLINE 0 1 0 0", 2*n)
	for i := range n {
		fmt.Fprintf(&b, " %x 1", 2*i)
	}
	for i := range n {
		fmt.Fprintf(&b, "\nINLINE 1 2 0 0 %x 1", 2*i)
	}
	watch := testenv.StartWatch()
	m := read(t, write(t, symtest.Module(t, b.String()+"\n"), Options{}), ReadOptions{})
	depths := [2]int{}
	for r := m.Funcs[0].InlineReader(); r.Next(); {
		depths[r.Inline.Depth]++
	}
	if took := watch.Took(); depths != [2]int{1, n} || took > 20*time.Second {
		t.Errorf("%v inlined functions by depth in %v, want 1 and %d in a second or so", depths, took, n)
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
	data := write(t, symtest.Module(t, "MODULE Linux x86_64 0 a\nFUNC 10 10 0 f\n"), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	in := testenv.CancelingReader{ReaderAt: bytes.NewReader(data), Cancel: cancel}
	if _, err := Read(ctx, in, int64(len(data)), ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
