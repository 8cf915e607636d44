package symlist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

const sample = `MODULE Linux x86_64 A27E41F938E3932E94FB8368AAFCB6300 sample
INFO CODE_ID F9417EA2E3382E9394FB8368AAFCB6302CDBD5B1
FILE 0 a.c
FUNC m 2000 0 0 empty
FUNC 1000 20 8 f(int, char const*)
1000 20 1 0
PUBLIC 1800 0 second  public
PUBLIC 1020 4 first public
PUBLIC 2000 0 last
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
`

func written(t testing.TB, m *symfmt.Module, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, m, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWrite(t *testing.T) {
	m := symtest.Module(t, sample)
	m32 := symtest.Module(t, strings.Replace(sample, "x86_64", "x86", 1))
	for _, c := range []struct {
		name string
		m    *symfmt.Module
		o    Options
		want string
	}{
		{"perf", m, Options{}, "1000 20 f(int, char const*)\n1020 7e0 first public\n1800 800 second  public\n2000 0 empty\n2000 1 last\n"},
		{"perf at a base", m, Options{Base: 0x7f0000000000}, "7f0000001000 20 f(int, char const*)\n7f0000001020 7e0 first public\n" +
			"7f0000001800 800 second  public\n7f0000002000 0 empty\n7f0000002000 1 last\n"},
		{"nm", m, Options{Format: NM}, "0000000000001000 0000000000000020 T f(int, char const*)\n0000000000001020 T first public\n" +
			"0000000000001800 T second  public\n0000000000002000 T empty\n0000000000002000 T last\n"},
		{"nm of 32 bits", m32, Options{Format: NM, Base: 0x8000000}, "08001000 00000020 T f(int, char const*)\n08001020 T first public\n" +
			"08001800 T second  public\n08002000 T empty\n08002000 T last\n"},
	} {
		if got := written(t, c.m, c.o); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// A name takes one line, whatever it contains.
func TestWriteNames(t *testing.T) {
	m := &symfmt.Module{Arch: "x86_64", Funcs: []symfmt.Func{
		{RVA: 1, Size: 1, Name: "a\nb\r\n\x1b[31m"}, {RVA: 2, Size: 1}, {RVA: 3, Size: 1, Name: " \t "}, {RVA: 4, Size: 1, Name: "\xff"},
		{RVA: 5, Size: 1, Name: "10 T x"},
	}}
	const want = "1 1 a b [31m\n2 1 <name omitted>\n3 1 <name omitted>\n4 1 \ufffd\n5 1 10 T x\n"
	if got := written(t, m, Options{}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, f := range []Format{PerfMap, NM} {
		text := written(t, m, Options{Format: f})
		back, problems, err := read(strings.NewReader(text), int64(len(text)), ReadOptions{Format: f})
		if err != nil || len(problems) > 0 || len(back.Funcs) != 5 || back.Funcs[4].Name != "10 T x" {
			t.Errorf("%v: %v %v %v", f, back, problems, err)
		}
	}
}

func TestLosses(t *testing.T) {
	m := symtest.Module(t, sample)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "MODULE records 1, INFO records 1, FILE records 1, line records 1, STACK CFI INIT records 1, sizes of parameters 2, \"m\" marks 1, " +
			"marks that a symbol is PUBLIC 3"},
		{Options{Format: NM, Base: ^uint64(0) - 0x1fff}, "MODULE records 1, INFO records 1, FILE records 1, line records 1, STACK CFI INIT records 1, " +
			"FUNC records 1, PUBLIC records 1, sizes of parameters 2, \"m\" marks 1"},
		{Options{Format: NM}, "MODULE records 1, INFO records 1, FILE records 1, line records 1, STACK CFI INIT records 1, sizes of parameters 2, \"m\" marks 1, " +
			"FUNC records of size 0 1"},
	} {
		var got []string
		for _, l := range Losses(m, c.o) {
			got = append(got, fmt.Sprintf("%s %d", l.What, l.Count))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%+v: %s\nwant %s", c.o, s, c.want)
		}
	}
}

// The output is read back.
func TestRoundTrip(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if len(paths) < 100 {
		t.Fatalf("%d symbol files", len(paths))
	}
	symbols := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ = bytes.Cut(text, []byte("\n# "))
		m := symtest.Module(t, string(text))
		if len(m.Funcs)+len(m.Publics) == 0 {
			continue
		}
		for _, o := range []Options{{PerfMap, 0x10000}, {NM, 0}, {NM, 0x400000}} {
			list := written(t, m, o)
			back, problems, err := read(strings.NewReader(list), int64(len(list)),
				ReadOptions{Format: o.Format, Base: o.Base, Module: symfmt.Module{Arch: m.Arch}})
			if err != nil || len(problems) > 0 {
				t.Fatalf("%s: %v %v", path, problems, err)
			}
			if again := written(t, back, o); again != list {
				t.Errorf("%s: %+v: another list when it is read and written again", path, o)
			}
			if o.Format == NM && (len(back.Funcs) != len(m.Funcs) || len(back.Publics) != len(m.Publics)) {
				t.Errorf("%s: %d FUNC, %d PUBLIC, want %d, %d", path, len(back.Funcs), len(back.Publics), len(m.Funcs), len(m.Publics))
			}
			symbols += len(back.Funcs) + len(back.Publics)
		}
	}
	t.Logf("%d symbols", symbols)
}

func TestReadDamage(t *testing.T) {
	long := strings.Repeat("x", symfmt.MaxLine)
	for _, c := range []struct {
		name, text string
		o          ReadOptions
		want       []string // FUNC and PUBLIC
		problems   []string
	}{
		{"perf", "10 2 a\r\n\n0x20 2 b\n30 zz c\n40 2\n50 2 d e \n5 1 f\n", ReadOptions{Base: 0x10}, []string{"0 2 a", "40 2 d e"}, []string{
			`x+offset 0x9: START is "0x20", want a hexadecimal number of up to 64 bits`,
			`x+offset 0x12: SIZE is "zz", want a hexadecimal number of up to 64 bits`,
			`x+offset 0x1a: found "40 2", want START SIZE name`,
			`x+offset 0x29: address 0x5 is before the base address 0x10`}},
		{"perf of 64 bits", "ffffffffffffffff 2 a\n10000000000000000 1 b\n1 1 c\n", ReadOptions{}, []string{"1 1 c"}, []string{
			`x+offset 0x0: code at 0xffffffffffffffff of 0x2 bytes ends beyond 64 bits`,
			`x+offset 0x15: START is "10000000000000000", want a hexadecimal number of up to 64 bits`}},
		{"perf, long", "1 1 " + long + "\n2 1 b\n", ReadOptions{}, []string{"2 1 b"}, []string{
			fmt.Sprintf(`x+offset 0x0: line is over %d bytes long`, symfmt.MaxLine)}},
		{"perf, cut off", "1 1 a\n2 1 bc", ReadOptions{}, []string{"1 1 a"}, []string{`x+offset 0x6: the file ends inside this line: want a line feed`}},
		{"nm, cut off", "0000000000001000 T a\n0000000000002000 D da", ReadOptions{Format: NM}, []string{"1000 a"}, []string{
			`x+offset 0x15: the file ends inside this line: want a line feed`}},
		{"nm", "0000000000001000 0000000000000010 T a b\n                 U puts\n0000000000002000 D data\n" +
			"0000000000001020 t c\n0000000000001030 W d\nx.o:\n0000000000001040 zz T e\n0000000000001050 T\n", ReadOptions{Format: NM},
			[]string{"1000 10 a b", "1020 c", "1030 d"}, []string{
				`x+offset 0x82: found "x.o:", want ADDRESS [SIZE] TYPE name`,
				`x+offset 0x87: found "zz", want a size or a type`,
				`x+offset 0x9f: found "0000000000001050 T", want ADDRESS [SIZE] TYPE name`}},
	} {
		c.o.File = "x"
		m, problems, err := read(strings.NewReader(c.text), int64(len(c.text)), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got, bad []string
		for _, f := range m.Funcs {
			got = append(got, fmt.Sprintf("%x %x %s", uint64(f.RVA), f.Size, f.Name))
		}
		for _, p := range m.Publics {
			got = append(got, fmt.Sprintf("%x %s", uint64(p.RVA), p.Name))
		}
		for _, p := range problems {
			bad = append(bad, strings.Replace(p.Err.Error(), "x: ", "x+", 1))
		}
		for i, p := range c.problems { // an offset of 0 is not printed
			c.problems[i] = strings.Replace(p, "offset 0x0: ", "", 1)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(bad, c.problems) {
			t.Errorf("%s: %q %q\nwant %q %q", c.name, got, bad, c.want, c.problems)
		}
	}
}

func TestReadNothing(t *testing.T) {
	_, _, err := read(strings.NewReader("hello\n"), 6, ReadOptions{File: "x"})
	if want := "x: no symbol in 1 lines: not a perf map (START SIZE name)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, _, err = read(strings.NewReader("1 1 a"), 5, ReadOptions{File: "x"})
	if want := "x: the file ends inside this line: want a line feed"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	text := strings.Repeat("bad\n", 1000) + "1 1 a\n"
	_, problems, err := read(strings.NewReader(text), int64(len(text)), ReadOptions{})
	if err != nil || len(problems) != maxProblems+1 || problems[maxProblems].Lost != "900 more lines" {
		t.Errorf("%d problems, %v, %v", len(problems), problems[len(problems)-1], err)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		head     string
		perf, nm bool
	}{
		{"7f10 20 f\n", true, false},
		{"0000000000001000 0000000000000020 T f(int)\n", false, true},
		{"0000000000001000 T f\n", false, true},
		{"00001000 t f", false, true},
		{"ffffffff81000000 20 f\n", true, false},
		{"MODULE Linux x86_64 0 x\n", false, false},
		{"\x7fELF\x02\x01", false, false},
		{"", false, false},
		{"10 20\n", false, false},
		{"1000 10 5 0\n1010 4 6 0\n", false, false}, // of a symbol file
		{"1000 10 5\n", true, false},
		{"1000 10 5 0 f\n", true, false},
		{"1000 10 f 0\n", true, false},
	} {
		if perf, nm := MatchPerfMap([]byte(c.head)), MatchNM([]byte(c.head)); perf != c.perf || nm != c.nm {
			t.Errorf("%q: perf map %v, nm %v", c.head, perf, nm)
		}
	}
}

// The written nm list equals nm's output for the same binary.
func TestOracleNM(t *testing.T) {
	testenv.Oracle(t)
	lines := 0
	files, _ := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "input", "*.elf"))
	for _, file := range files {
		cmd := exec.Command(testenv.Tool(t, "nm"), "-S", "-n", "--defined-only", file)
		out, err := cmd.Output()
		if err != nil || len(out) == 0 {
			continue // formats that this nm does not read, and files without symbols
		}
		m, problems, err := read(bytes.NewReader(out), int64(len(out)), ReadOptions{Format: NM})
		if err != nil || len(problems) > 0 {
			if !bytes.Contains(out, []byte(" T ")) && !bytes.Contains(out, []byte(" t ")) {
				continue
			}
			t.Errorf("%s: %v %v", file, problems, err)
			continue
		}
		var want, got []string
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			if s := codeLine.FindStringSubmatch(line); s != nil {
				want = append(want, s[1]+"T"+strings.TrimRight(s[3], " ")) // the assembler's ".L0 ": names have no blanks at the end
			}
		}
		if len(out) > 16 && out[8] == ' ' {
			m.Arch = "x86"
		}
		got = strings.Split(strings.TrimSpace(written(t, m, Options{Format: NM})), "\n")
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d", file, len(got), len(want))
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("%s: %q, want %q", file, got[i], want[i])
					break
				}
			}
		}
		lines += len(want)
	}
	t.Logf("%d lines", lines)
	if lines < 1000 {
		t.Errorf("%d lines only", lines)
	}
}

var codeLine = regexp.MustCompile(`^([0-9a-f]+ (?:[0-9a-f]+ )?)([TtWwi])( .*)$`)

func TestWriteError(t *testing.T) {
	m := &symfmt.Module{Funcs: make([]symfmt.Func, 1<<14)}
	if err := Write(failing{}, m, Options{}); err != io.ErrClosedPipe {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func FuzzRead(f *testing.F) {
	m := symtest.Module(f, sample)
	for _, o := range []Options{{}, {Format: NM}, {Format: NM, Base: 0x400000}} {
		f.Add([]byte(written(f, m, o)), uint8(o.Format), o.Base)
	}
	f.Add([]byte("                 U puts\n0000000000002000 D data\n"), uint8(1), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, format uint8, base uint64) {
		o := ReadOptions{Format: Format(format % 2), Base: base}
		back, _, err := read(bytes.NewReader(data), int64(len(data)), o)
		if err != nil {
			return
		}
		w := Options{Format: o.Format, Base: base}
		list := written(t, back, w)
		again, problems, err := read(strings.NewReader(list), int64(len(list)), o)
		if err != nil || len(problems) > 0 || written(t, again, w) != list {
			t.Fatalf("%q: %v %v", list, problems, err)
		}
	})
}

// read calls Read and returns the parts of its result.
func read(r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Module, []symfmt.Problem, error) {
	result, err := Read(context.Background(), r, size, o)
	if err != nil {
		return nil, nil, err
	}
	return result.Module, result.Problems, nil
}

func TestReadCancelled(t *testing.T) {
	const text = "0000000000001000 0000000000000024 T main\n"
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, strings.NewReader(text), int64(len(text)), ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
