package resolve

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

const head = "MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 test\n"

// openString returns a Resolver of a text.
func openString(t testing.TB, text string) *Resolver {
	t.Helper()
	r, err := openBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openBytes(data []byte) (*Resolver, error) {
	bom := uint64(0)
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		bom = 3
	}
	x, problems, err := build(bytes.NewReader(data[bom:]), bom, false, "test.sym", 0)
	if err != nil {
		return nil, err
	}
	return newTextResolver("test.sym", x, memoryText{bytes.NewReader(data)}, problems), nil
}

// show writes what is known of an address on one line, innermost function first.
func show(t testing.TB, r *Resolver, rva symfmt.RVA) string {
	t.Helper()
	var at Location
	ok, err := r.Nearest(t.Context(), rva, &at)
	if err != nil {
		t.Fatalf("%#x: %v", uint64(rva), err)
	}
	var sure Location
	if found, err := r.Find(t.Context(), rva, &sure); err != nil || found != (ok && !at.Guess) || found && !sameLocation(&at, &sure) || !found && len(sure.Frames) > 0 {
		t.Errorf("Find(%#x): %v %+v, %v; Nearest: %v %+v", uint64(rva), found, sure, err, ok, at)
	}
	if !ok {
		return "-"
	}
	return text2line(&at)
}

func text2line(at *Location) string {
	var b strings.Builder
	for i, f := range at.Frames {
		if i > 0 {
			b.WriteString(" < ")
		}
		b.WriteString(f.Function)
		if f.File != "" || f.Line != 0 {
			fmt.Fprintf(&b, " %s:%d", f.File, f.Line)
		}
	}
	if at.Multiple {
		b.WriteString(" m")
	}
	if at.Source == Public {
		b.WriteString(" public")
	}
	if at.Guess {
		b.WriteString("?")
	}
	return b.String()
}

// Each case is a text and the answers for addresses.
func TestFind(t *testing.T) {
	type answers map[symfmt.RVA]string
	for _, c := range []struct {
		name, text string
		want       answers
	}{
		{"lines and gaps", "FILE 1 a.c\nFILE 9 b.c\nFUNC 1000 30 0 f\n1000 10 1 1\n1018 8 2 9\n1020 4 0 1\n", answers{
			0xfff: "-", 0x1000: "f a.c:1", 0x100f: "f a.c:1", 0x1010: "f", 0x1018: "f b.c:2", 0x1020: "f a.c:0", 0x1024: "f", 0x102f: "f", 0x1030: "-",
		}},
		{"lines out of order, overlapping, of no size", "FILE 0 a\nFUNC 0 20 0 f\n10 10 3 0\n0 18 1 0\n0 0 7 0\n4 4 2 0\n", answers{
			0: "f a:1", 4: "f a:2", 8: "f", 0xf: "f", 0x10: "f a:3", 0x1f: "f a:3",
		}},
		{"lines of unknown files", "FUNC 10 10 0 f\n10 10 5 77\n", answers{0x10: "f :5"}},
		{"functions one in another", "FUNC 100 100 0 outer\nFUNC 120 10 0 inner\nFUNC 140 40 0 deep\nFUNC 150 8 0 deeper\n", answers{
			0x100: "outer", 0x11f: "outer", 0x120: "inner", 0x12f: "inner", 0x130: "outer", 0x14f: "deep", 0x150: "deeper", 0x158: "deep", 0x17f: "deep", 0x180: "outer", 0x1ff: "outer", 0x200: "-",
		}},
		{"functions of one start", "FUNC 100 10 0 first\nFUNC 100 20 0 second\nFUNC 100 30 0 third\nFUNC 100 8 0 fourth\n", answers{
			0x100: "first", 0x10f: "first", 0x110: "second", 0x120: "third", 0x130: "-",
		}},
		{"an empty function", "FUNC 100 10 0 f\nFUNC 108 0 0 empty\n108 8 1 0\nPUBLIC 105 0 p\nPUBLIC 120 0 q\n", answers{
			0x108: "f", 0x110: "p public?", 0x120: "q public",
		}},
		{"PUBLIC", "FUNC 100 10 0 f\nFUNC 200 10 0 g\nPUBLIC 0 0 none\nPUBLIC 80 0 early\nPUBLIC 100 0 at\nPUBLIC 108 0 in\nPUBLIC 180 4 between\nPUBLIC m 300 0 late\nPUBLIC 300 0 later\n", answers{
			0: "-", 0x7f: "-", 0x80: "early public", 0xff: "early public", 0x100: "f",
			0x110: "in public?", 0x17f: "in public?", 0x180: "between public", 0x1ff: "between public",
			0x200: "g", 0x210: "-", 0x2ff: "-", 0x300: "late m public", 0x102ff: "late m public", 0x10300: "late m public?", 1 << 40: "late m public?",
		}},
		{"PUBLIC behind the end of a function counts, in front of it not", "PUBLIC 100 0 p\nFUNC 100 10 0 f\n", answers{0x10f: "f", 0x110: "-", 0x1000: "-"}},
		{"a PUBLIC with rules ends with them", "PUBLIC 100 0 p\nSTACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI INIT 140 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nPUBLIC 148 0 inner\n", answers{
			0x100: "p public", 0x11f: "p public", 0x120: "p public?", 0x140: "p public?", 0x148: "inner public", 0x15f: "inner public", 0x160: "inner public?", 0x10147: "inner public?", 0x10148: "inner public?",
		}},
		{"a PUBLIC without rules ends where others begin", "PUBLIC 100 0 p\nSTACK CFI INIT 140 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", answers{
			0x100: "p public", 0x13f: "p public", 0x140: "p public?", 0x160: "p public?", 0x100ff: "p public?", 0x10100: "p public?",
		}},
		{"what lies far behind a PUBLIC", "PUBLIC 100 0 p\nFUNC 20000 10 0 f\nPUBLIC 20010 0 q\n", answers{
			0x100ff: "p public", 0x10100: "p public?", 0x1ffff: "p public?", 0x20000: "f", 0x20010: "q public", 0x3000f: "q public", 0x30010: "q public?", 1<<64 - 1: "q public?",
		}},
		{"the end of the module is that of any record", "PUBLIC 100 0 p\nSTACK WIN 4 90000 10 0 0 0 0 0 0 0 0\n", answers{0x8000f: "p public?", 0x9000f: "p public?", 0x90010: "p public?"}},
		{"a PUBLIC at the end of the address space", "PUBLIC ffffffffffffff00 0 p\n", answers{1<<64 - 2: "p public", 1<<64 - 1: "p public?"}},
		{"inlined functions", "FILE 0 a\nFILE 1 b\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 7 of 9\nFUNC 0 100 0 f\nINLINE 0 5 0 0 10 20 50 10\nINLINE 1 6 1 1 18 8\n0 100 9 1\n", answers{
			0xf: "f b:9", 0x10: "x b:9 < f a:5", 0x18: "7 of 9 b:9 < x b:6 < f a:5", 0x20: "x b:9 < f a:5", 0x30: "f b:9", 0x50: "x b:9 < f a:5",
		}},
		{"inlined functions without a line, file or name", "FILE 0 a\nFUNC 0 100 0 f\nINLINE 0 5 -1 9 10 10\nINLINE 0 6 7 9 30 10\n", answers{
			0x10: " < f :5", 0x30: " < f :6",
		}},
		{"a depth that is missing", "INLINE_ORIGIN 0 x\nFUNC 0 100 0 f\nINLINE 1 5 0 0 10 10\nINLINE 0 5 0 0 40 10\nINLINE 2 5 0 0 40 10\n", answers{
			0x10: "f", 0x40: "x < f :5",
		}},
		{"inlined functions out of order", "FILE 0 a\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 y\nFUNC 0 100 0 f\n0 100 9 0\nINLINE 1 6 0 1 18 8\nINLINE 0 5 0 0 10 20\n", answers{
			0x18: "y a:9 < x a:6 < f a:5",
		}},
		{"one inlined function into two", "FILE 0 a\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 y\nINLINE_ORIGIN 2 z\nFUNC 0 100 0 f\nINLINE 0 5 0 0 10 10\nINLINE 0 6 0 1 20 10\nINLINE 1 7 0 2 18 10\n", answers{
			0x18: "z < x a:7 < f a:5", 0x20: "z < y a:7 < f a:6", 0x28: "y < f a:6",
		}},
		// Calls have no file: the caller's is used instead, from its
		// INLINE_ORIGIN or from the function's own lines.
		{"the old form of INLINE", "FILE 0 a\nFILE 1 b\nFILE 2 c\nINLINE_ORIGIN 0 1 x\nINLINE_ORIGIN 1 -1 y\nINLINE_ORIGIN 2 2\nFUNC 0 100 0 f\nINLINE 0 5 0 10 20\nINLINE 1 6 1 18 8\nINLINE 2 7 2 1c 2\n10 10 1 1\n0 10 2 0\n18 8 9 2\n", answers{
			0: "f a:2", 0x10: "x b:1 < f a:5", 0x18: "y c:9 < x b:6 < f a:5", 0x1c: " c:9 < y :7 < x b:6 < f a:5", 0x20: "x < f a:5",
		}},
		{"several symbols share the code", "FUNC m 100 10 0 f\n", answers{0x100: "f m"}},
		{"the first and the last address", "FUNC 0 1 0 zero\nFUNC fffffffffffffff0 10 0 end\nfffffffffffffff8 8 4 0\nPUBLIC ffffffffffffff00 0 p\n", answers{
			0: "zero", 1: "-", 0xffffffffffffff00: "p public", 0xfffffffffffffff0: "end", 0xffffffffffffffff: "end :4",
		}},
		{"over 32 bits", "FUNC ffff800000001000 200000000 0 f\nffff800000001000 10 1 0\nffff800100001000 10 2 0\nffff8000fffffff8 10 3 0\nFUNC 10 8 0 low\n", answers{
			0x10: "low", 0xffff800000001008: "f :1", 0xffff800100001000: "f", 0xffff800100001008: "f", 0xffff8001ffffffff: "f", 0xffff8000fffffff8: "f :3", 0xffff800200001000: "-",
		}},
		{"all of 64 bits", "FUNC 1 ffffffffffffffff 0 f\nFUNC 0 ffffffffffffffff 0 g\n", answers{0: "g", 1: "f", 0xffffffffffffffff: "f"}},
		{"ends of lines, blanks, names with blanks", "FILE 0 a b.c \r\n\r\n  FUNC \t100 10 0  operator new (int) \r\n100 10 1 0\r\n \t\r\n", answers{0x100: "operator new (int) a b.c:1"}},
		{"cut off", "FUNC 100 10 0 f\n100 8 8 0\n108 8 9 0", answers{0x100: "f :8", 0x108: "f"}},
		{"upper case", "FUNC ABC 10 0 f\nABC 8 1 0\nFAC4 8 2 0\n", answers{0xabc: "f :1", 0xac4: "f"}},
		{"a record between lines", "FILE 0 a\nFUNC 100 20 0 f\n100 10 1 0\nPUBLIC 500 0 p\nSTACK CFI INIT 100 20 .cfa: $rsp 8 +\nFILE 1 b\n110 10 2 1\n", answers{0x110: "f b:2"}},
		{"damaged records", "FILE 0 a\nFUNC 100 20 0 f\n100 10 1 0\nrubbish\n110 10 x 0\n118 8 3 0\nFUNC 200 zz 0 lost\n200 10 9 0\nINLINE 0\nFUNC 300 10 0\n300 10 4 0\n", answers{
			0x100: "f a:1", 0x110: "f", 0x118: "f a:3", 0x200: "-", 0x300: " a:4",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, text := range []string{head + c.text, "\xef\xbb\xbf" + head + c.text} {
				r := openString(t, text)
				for rva, want := range c.want {
					if got := show(t, r, rva); got != want {
						t.Errorf("%#x: %q, want %q", uint64(rva), got, want)
					}
				}
				n := readNaive(t, text)
				compareNaive(t, r, n)
				compareWritten(t, n)
			}
		})
	}
}

// compareWritten compares the answers from a module with those from its text.
func compareWritten(t testing.TB, n *naive) {
	t.Helper()
	var text strings.Builder
	if err := symfmt.Write(&text, n.m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	written, r := openString(t, text.String()), FromModule(n.m, ModuleOptions{Path: "module"})
	names := cfi.NewNames(n.names().Arch())
	var want, got Location
	for _, rva := range n.edges() {
		wantOK, wantErr := written.Nearest(t.Context(), rva, &want)
		for i := range want.Frames {
			if want.Frames[i].File == symfmt.NoFile {
				want.Frames[i].File = "" // the text cannot leave it empty
			}
		}
		ok, err := r.Nearest(t.Context(), rva, &got)
		if ok != wantOK || (err == nil) != (wantErr == nil) || !sameLocation(&got, &want) {
			t.Fatalf("%#x: module %v %+v %v, its text %v %+v %v", uint64(rva), ok, got, err, wantOK, want, wantErr)
		}
		wantStart, wantOK, _ := written.LineStart(t.Context(), rva)
		if start, ok, err := r.LineStart(t.Context(), rva); start != wantStart || ok != wantOK || err != nil {
			t.Fatalf("%#x: line at %#x %v in the module, at %#x %v in its text", uint64(rva), uint64(start), ok, uint64(wantStart), wantOK)
		}
		wantRules, wantErr := written.Rules(t.Context(), rva, names)
		rules, err := r.Rules(t.Context(), rva, names)
		if rules != nil && wantRules != nil {
			rules.Records = wantRules.Records // rows at the same address are one in the module
		}
		if !sameRules(rules, wantRules) || (err == nil) != (wantErr == nil) {
			t.Fatalf("%#x: rules of the module %+v, %v, of its text %+v, %v", uint64(rva), rules, err, wantRules, wantErr)
		}
		wantWin, _ := written.Win(rva)
		if win, err := r.Win(rva); err != nil || !reflect.DeepEqual(win, wantWin) {
			t.Fatalf("%#x: STACK WIN of the module %+v, of its text %+v", uint64(rva), win, wantWin)
		}
	}
	if r.CodeFile() != written.CodeFile() || r.Last(t.Context()) != written.Last(t.Context()) {
		t.Errorf("%q up to %#x, its text %q up to %#x", r.CodeFile(), uint64(r.Last(t.Context())), written.CodeFile(), uint64(written.Last(t.Context())))
	}
}

// compareNaive asks for every edge.
func compareNaive(t testing.TB, r *Resolver, n *naive) (asked int) {
	t.Helper()
	var at Location
	for _, rva := range n.edges() {
		asked++
		ok, err := r.Nearest(t.Context(), rva, &at)
		if err != nil {
			t.Fatalf("%#x: %v", uint64(rva), err)
		}
		want, wantOK := n.find(rva)
		if ok != wantOK || !sameLocation(&at, &want) {
			t.Fatalf("%#x: %v %+v, want %v %+v", uint64(rva), ok, at, wantOK, want)
		}
		start, known, err := r.LineStart(t.Context(), rva)
		if err != nil || known != (n.line != nil) || known && start != n.line.RVA {
			t.Fatalf("LineStart(%#x): %#x %v, %v; want %+v", uint64(rva), start, known, err, n.line)
		}
		if rules, err := r.Rules(t.Context(), rva, cfi.NewNames(n.names().Arch())); !n.sameRules(rules, err, rva) {
			want, wantErr := n.rules(rva)
			t.Fatalf("Rules(%#x): %+v, %v; want %+v, %v", uint64(rva), rules, err, want, wantErr)
		}
		if win, err := r.Win(rva); err != nil || !reflect.DeepEqual(win, n.win(rva)) {
			t.Fatalf("Win(%#x): %+v, %v; want %+v", uint64(rva), win, err, n.win(rva))
		}
	}
	return asked
}

func sameLocation(a, b *Location) bool {
	x, y := *a, *b
	x.Frames, y.Frames = nil, nil
	if !reflect.DeepEqual(x, y) || len(a.Frames) != len(b.Frames) {
		return false
	}
	for i := range a.Frames {
		if a.Frames[i] != b.Frames[i] {
			return false
		}
	}
	return true
}

func TestStack(t *testing.T) {
	r := openString(t, head+`STACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 101 .cfa: $rsp 16 +
STACK CFI 180 .cfa: $rsp 99 +
STACK CFI 110 .cfa: $rsp 8 +
STACK CFI INIT 200 10 .cfa: $rsp 8 +
STACK WIN 4 1000 100 0 0 8 0 0 0 1 $eip .raSearch ^ =
STACK WIN 0 1000 80 0 0 c 0 0 0 0 1
STACK WIN 0 1040 10 0 0 4 0 0 0 0 0
STACK WIN 4 1080 20 0 0 10 0 0 0 1 $esp
STACK WIN 0 2000 20 0 0 14 0 0 0 0 0
STACK WIN 7 2008 4 0 0 14 0 0 0 0 0
`)
	names := cfi.NewNames(arch.X86_64)
	for rva, want := range map[symfmt.RVA]string{
		0x100: ".cfa: $rsp 8 + .ra: .cfa -8 + ^", 0x101: ".cfa: $rsp 16 + .ra: .cfa -8 + ^", 0x11f: ".cfa: $rsp 8 + .ra: .cfa -8 + ^",
	} {
		rules, err := r.Rules(t.Context(), rva, names)
		if err != nil || rules.Start != 0x100 || rules.Size != 0x20 || rules.Records != 3 || rules.Row.String() != want {
			t.Errorf("Rules(%#x): %+v %v, %v; want %s", uint64(rva), rules, &rules.Row, err, want)
		}
	}
	if rules, err := r.Rules(t.Context(), 0x120, names); rules != nil || err != nil {
		t.Errorf("Rules after a block: %+v, %v", rules, err)
	}
	for rva, want := range map[symfmt.RVA]uint64{0xfff: 0, 0x1000: 8, 0x1048: 8, 0x1080: 0x10, 0x10a0: 8, 0x1100: 0, 0x2008: 0x14} {
		win, err := r.Win(rva)
		if err != nil {
			t.Fatal(err)
		}
		if win == nil && want != 0 || win != nil && win.ParameterSize != want {
			t.Errorf("Win(%#x): %+v, want parameters of %#x bytes", uint64(rva), win, want)
		}
	}
}

func TestModule(t *testing.T) {
	r := openString(t, "INFO CODE_ID 00\n"+head+"MODULE Linux arm 00 other\nFUNC 1 1 0 f\n")
	if x := r.Identity(); x.OS != "Linux" || x.Arch != "x86_64" || x.ID != "D3096ED481217FD4C16B29CD9BC208BA0" || x.Name != "test" {
		t.Errorf("%s %s %s %s", x.OS, x.Arch, x.ID, x.Name)
	}
	// The MODULE record may be missing: a walker knows which module it has.
	if got := show(t, openString(t, "FUNC 1 1 0 f\n"), 1); got != "f" {
		t.Errorf("without MODULE: %q", got)
	}
	for _, text := range []string{"", "\n\n", "100 10 1 0\n", "<html>\n", "FILE 0 a\nINFO x y\n"} {
		if _, err := openBytes([]byte(text)); err == nil || !strings.Contains(err.Error(), "test.sym: not a symbol file") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestProblems(t *testing.T) {
	r := openString(t, head+"FUNC 200 zz 0 lost\nwhat is this\n"+strings.Repeat("PUBLIC\n", 200))
	if len(r.Damage()) != maxProblems {
		t.Fatalf("%d problems, want %d", len(r.Damage()), maxProblems)
	}
	for i, want := range []string{
		`test.sym:2:10: FUNC: size "zz": want hexadecimal digits (lost: FUNC)`,
		`test.sym:3:1: unknown record "what" (lost: line)`,
		`test.sym:4:7: PUBLIC: address is missing (lost: PUBLIC)`,
	} {
		if got := r.Damage()[i].String(); got != want {
			t.Errorf("problem %d: %s, want %s", i, got, want)
		}
	}
}

// A line over the limit is skipped, wherever a read ends.
func TestHugeLine(t *testing.T) {
	long := strings.Repeat("x", symfmt.MaxLine)
	text := head + "FUNC 100 10 0 f\n100 8 1 0\nPUBLIC 300 0 " + long + "\n108 8 2 0\nFUNC 200 10 0 " + long + long + "\n200 10 3 0\nFUNC 400 10 0 " + long[:symfmt.MaxLine-20] + "\n400 10 4 0\n"
	r := openString(t, text)
	for rva, want := range map[symfmt.RVA]string{0x100: "f :1", 0x108: "f :2", 0x200: "-", 0x300: "-"} {
		if got := show(t, r, rva); got != want {
			t.Errorf("%#x: %q, want %q", uint64(rva), got, want)
		}
	}
	if got := show(t, r, 0x400); !strings.HasSuffix(got, "xx :4") {
		t.Errorf("a line of just the size: ...%q", got[max(0, len(got)-10):])
	}
	if len(r.Damage()) != 2 || !strings.HasPrefix(r.Damage()[0].String(), fmt.Sprintf("test.sym:4:%d: PUBLIC: line is over %d bytes long", symfmt.MaxLine+1, symfmt.MaxLine)) {
		t.Errorf("problems: %v", r.Damage())
	}
}

// small is a text with all that Find returns.
const small = head + `FILE 0 a.c
FILE 1 b.h
INLINE_ORIGIN 0 callee
FUNC 1000 20 0 caller
INLINE 0 7 0 0 1008 8
1000 8 5 0
1008 8 99 1
1010 10 9 0
PUBLIC 2000 0 public
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
`

const smallAnswer = "callee b.h:99 < caller a.c:7"

func writeFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func openFile(t testing.TB, path string) *Resolver {
	t.Helper()
	r, err := openPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestOpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) // random, as it would be a bomb otherwise when compressed
	padding := strings.Builder{}
	for padding.Len() < heldText {
		fmt.Fprintf(&padding, "INFO padding %x\n", rng.Uint64())
	}
	long := small + padding.String() + "FUNC 3000 10 0 last\n"
	for name, data := range map[string][]byte{
		"plain": []byte(small), "bom": []byte("\xef\xbb\xbf" + small), "crlf": []byte(strings.ReplaceAll(small, "\n", "\r\n")),
		"gzip": testenv.Gzip(t, []byte(small)), "zstd": testenv.Zstd(t, []byte(small)), "gzip bom": testenv.Gzip(t, []byte("\xef\xbb\xbf"+small)),
		"long": []byte(long), "long gzip": testenv.Gzip(t, []byte(long)), "long zstd": testenv.Zstd(t, []byte(long)),
	} {
		r := openFile(t, writeFile(t, "x.sym", data))
		if got := show(t, r, 0x1008); got != smallAnswer {
			t.Errorf("%s: %q, want %q", name, got, smallAnswer)
		}
		if got := show(t, r, 0x2000); got != "public public" {
			t.Errorf("%s: %q", name, got)
		}
		if want := map[bool]string{true: "last", false: "public public"}[strings.HasPrefix(name, "long")]; show(t, r, 0x3000) != want {
			t.Errorf("%s: %q, want %q", name, show(t, r, 0x3000), want)
		}
	}
}

func TestOpenDamaged(t *testing.T) {
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none.sym"), OpenOptions{}); err == nil {
		t.Error("opened a missing file")
	}
	if _, err := Open(t.Context(), t.TempDir(), OpenOptions{}); err == nil {
		t.Error("opened a folder")
	}
	if _, err := Open(t.Context(), writeFile(t, "x.sym", []byte("\xff\xfeM\x00O\x00")), OpenOptions{}); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
	// What was read of damaged data is used, and the damage reported.
	data := testenv.Gzip(t, []byte(small+strings.Repeat("PUBLIC 3000 0 behind\n", 100000)))
	r := openFile(t, writeFile(t, "x.sym", data[:len(data)-100]))
	if got := show(t, r, 0x1008); got != smallAnswer {
		t.Errorf("cut: %q", got)
	}
	if len(r.Damage()) != 1 || r.Damage()[0].Lost != "the rest of the file" {
		t.Errorf("cut: problems %v", r.Damage())
	}
	if _, err := Open(t.Context(), writeFile(t, "x.sym", data[:20]), OpenOptions{}); err == nil {
		t.Error("opened a file without text")
	}
}

// A file that is replaced while it is open gives errors, not wrong answers.
func TestChangedFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"shorter": func(path string) error { return os.Truncate(path, int64(strings.Index(small, "1008 8 99"))+5) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"other": func(path string) error {
			return os.WriteFile(path, []byte(strings.ReplaceAll(strings.ReplaceAll(small, "C 1000 20", "C 1010 20"), "C 2000", "C 2001")), 0o644)
		},
	} {
		path := writeFile(t, "x.sym", []byte(small))
		r := openFile(t, path)
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		var at Location
		for _, rva := range []symfmt.RVA{0x1008, 0x2000} {
			if _, err := r.Find(t.Context(), rva, &at); err == nil || !strings.Contains(err.Error(), errChanged.Error()) && !strings.Contains(err.Error(), "where the index has one") {
				t.Errorf("%s: %#x: %q, error %v", name, uint64(rva), text2line(&at), err)
			}
		}
		if _, err := r.Rules(t.Context(), 0x1000, cfi.NewNames(nil)); err == nil && name != "other" {
			t.Errorf("%s: Rules: no error", name)
		}
	}
}

// Find allocates nothing once a function was read.
func TestFindAllocates(t *testing.T) {
	r := openString(t, small)
	var at Location
	for _, rva := range []symfmt.RVA{0x1008, 0x2000, 0x10} {
		if n := testenv.Allocations(100, func() { r.Find(t.Context(), rva, &at) }); n != 0 {
			t.Errorf("%#x: %v allocations", uint64(rva), n)
		}
	}
}

// The linkage name is known if the symbols have it instead of the source name.
func TestLinkage(t *testing.T) {
	for name, want := range map[string]bool{
		"_ZN1a1bEv": true, "_RNvC1a1b": true, "__ZN1a1bEv": true, "?b@a@@YAXXZ": true,
		"a::b()": false, "main": false, "_Z": false, "_Zone (of a kind)": false, "": false,
	} {
		f := Frame{Function: name}
		if got := f.Linkage(); (got == name && got != "") != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
