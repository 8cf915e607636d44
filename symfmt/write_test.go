package symfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// build packs inlines and lines.
func build(rva RVA, ins []Inline, lines []Line) Body {
	var b BodyBuilder
	var a Arena
	b.Reset(rva)
	for i := range ins {
		b.AddInline(&ins[i])
	}
	for _, l := range lines {
		b.AddLine(l)
	}
	return b.Finish(&a)
}

// everyRecord returns a module with all kinds of records, in no order.
func everyRecord() *Module {
	m := &Module{
		OS: "Linux", Arch: "x86_64", ID: "D3096ED4", Name: "my prog",
		Infos:   []Info{{"CODE_ID", "D49E 0D3"}, {"GENERATOR", ""}},
		Files:   []File{{7, "/src/b.c"}, {2, "/src/a b.c"}, {2, "never"}},
		Origins: []InlineOrigin{{ID: 9, Name: "ns::inl(int)"}, {ID: 1, Name: "g"}},
		Funcs: []Func{
			{RVA: 0x2000, Size: 0x10, Name: "second"},
			{RVA: 0x1000, Size: 0x20, ParamSize: 0x1f, Name: "first(int, char)", Multiple: true},
		},
		Publics: []Public{{0x4000, 0, "z", false}, {0x3000, 0x10, "y", true}},
		Wins: []StackWin{
			{Type: 4, RVA: 0x1000, CodeSize: 0x20, PrologueSize: 1, EpilogueSize: 2, ParameterSize: 3, SavedRegisterSize: 4, LocalSize: 5, MaxStackSize: 6, HasProgram: true, Program: "$eip 4 + ^ ="},
			{Type: 0, RVA: 0x1000, CodeSize: 0x20, AllocatesBasePtr: true},
			{Type: 4, RVA: 0xfff, HasProgram: true},
			{Type: 3, RVA: 0xabc},
		},
	}
	m.Funcs[0].Body = build(0x2000, nil, []Line{{0x2000, 8, 0, 7}, {0x2008, 8, 12, 2}})
	m.Funcs[1].Body = build(0x1000, []Inline{{Depth: 0, CallLine: 5, CallFile: 2, Origin: 9, Ranges: []Range{{0x1000, 4}, {0x1010, 0xa}}},
		{Depth: 1, CallLine: 6, CallFile: 7, Origin: 1, Ranges: []Range{{0x1000, 2}}}}, []Line{{0x1000, 0x20, 4, 2}})
	t := &m.CFI
	rule := func(s string) RuleID { return t.Rules.Parse([]byte(s)) }
	t.Rows = []CFIRow{{0x2004, rule(".cfa: $rsp 24 +"), 0}, {0x2002, rule("$rbx: .cfa -16 + ^"), 0}, {0x1001, rule(".cfa:  $rsp 16 + "), 0}, {0x1002, rule(""), 0}}
	t.Blocks = []CFIBlock{{0x2000, 0x10, rule(".cfa: $rsp 8 + .ra: .cfa -8 + ^"), 0, 2, 0}, {0x1000, 0x20, rule(".cfa: $rsp 8 + .ra: .cfa -8 + ^"), 2, 2, 0}}
	return m
}

const everyRecordText = `MODULE Linux x86_64 D3096ED4 my prog
INFO CODE_ID D49E 0D3
INFO GENERATOR
FILE 2 /src/a b.c
FILE 7 /src/b.c
INLINE_ORIGIN 1 g
INLINE_ORIGIN 9 ns::inl(int)
FUNC m 1000 20 1f first(int, char)
INLINE 0 5 2 9 1000 4 1010 a
INLINE 1 6 7 1 1000 2
1000 20 4 2
FUNC 2000 10 0 second
2000 8 0 7
2008 8 12 2
PUBLIC m 3000 10 y
PUBLIC 4000 0 z
STACK WIN 3 abc 0 0 0 0 0 0 0 0 0
STACK WIN 0 1000 20 0 0 0 0 0 0 0 1
STACK WIN 4 1000 20 1 2 3 4 5 6 1 $eip 4 + ^ =
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
STACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 2002 $rbx: .cfa -16 + ^
STACK CFI 2004 .cfa: $rsp 24 +
`

func TestWrite(t *testing.T) {
	m := everyRecord()
	for _, jobs := range []int{0, 1, 2, 17} {
		if got := string(mustWrite(t, m, jobs)); got != everyRecordText {
			t.Errorf("jobs %d: got\n%s", jobs, got)
		}
	}
	if got := string(mustWrite(t, mustRead(t, []byte(everyRecordText)), 1)); got != everyRecordText {
		t.Errorf("write(read(b)): got\n%s", got)
	}
}

// TestWriteOldForm pins the old form of INLINE and INLINE_ORIGIN, and that it
// is used only when no INLINE has a call file.
func TestWriteOldForm(t *testing.T) {
	m := &Module{OS: "Linux", Arch: "x86", ID: "1", Name: "a", Files: []File{{0, "a.c"}},
		Origins: []InlineOrigin{{ID: 0, HasFile: true, Name: "f"}, {ID: 1, Name: "g"}}}
	old := Inline{CallLine: 3, NoFile: true, Ranges: []Range{{1, 1}}}
	m.Funcs = []Func{{RVA: 1, Size: 9, Name: "h", Body: build(1, []Inline{old}, nil)}}
	const head = "MODULE Linux x86 1 a\nFILE 0 a.c\n"
	want := head + "INLINE_ORIGIN 0 0 f\nINLINE_ORIGIN 1 -1 g\nFUNC 1 9 0 h\nINLINE 0 3 0 1 1\n"
	if got := string(mustWrite(t, m, 1)); got != want {
		t.Errorf("old: got\n%swant\n%s", got, want)
	}
	mustRead(t, []byte(want))
	m.Funcs[0].Body = build(1, []Inline{old, {CallLine: 4, Ranges: []Range{{2, 1}}}}, nil)
	want = head + "FILE 1 <unknown>\nINLINE_ORIGIN 0 f\nINLINE_ORIGIN 1 g\nFUNC 1 9 0 h\nINLINE 0 3 1 0 1 1\nINLINE 0 4 0 0 2 1\n"
	if got := string(mustWrite(t, m, 1)); got != want {
		t.Errorf("both: got\n%swant\n%s", got, want)
	}
	mustRead(t, []byte(want))
}

// TestWriteEmpty pins what is written for missing names.
func TestWriteEmpty(t *testing.T) {
	m := &Module{Infos: []Info{{}}, Files: []File{{0, "\r\n"}}, Origins: []InlineOrigin{{Name: " "}}, Publics: []Public{{}}, Funcs: []Func{{}}}
	want := "MODULE unknown unknown " + strings.Repeat("0", 33) + " unknown\nINFO UNKNOWN\nFILE 0 <unknown>\n" +
		"INLINE_ORIGIN 0 <name omitted>\nFUNC 0 0 0 <name omitted>\nPUBLIC 0 0 <name omitted>\n"
	if got := string(mustWrite(t, m, 1)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	mustRead(t, []byte(want))
}

// TestWriteHuge writes FUNCs that are cut into pieces, beside ones that are not.
func TestWriteHuge(t *testing.T) {
	var want bytes.Buffer
	want.WriteString("MODULE Linux x86_64 1 a\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 i\n")
	for f := range 5 {
		rva := 0x1000000 * (f + 1)
		fmt.Fprintf(&want, "FUNC %x ffffff 0 f%d\n", rva, f)
		for i := range []int{3, 5000, 0, 2048, 1}[f] {
			fmt.Fprintf(&want, "INLINE 0 %d %d 0 %x 7 %x 3\n", i, i%2, rva+i*30, rva+i*30+15)
		}
		for i := range []int{200_000, 0, 10, 3 * hugeLines, 70_000}[f] {
			fmt.Fprintf(&want, "%x 3 %d %d\n", rva+i*4, i*7%1000, i/1000%2)
		}
	}
	m := mustRead(t, want.Bytes())
	for _, jobs := range []int{1, 2, 5} {
		if got := mustWrite(t, m, jobs); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("jobs %d: text differs", jobs)
		}
	}
	largest := 0
	w := newWriter(m, WriteOptions{Passed: func() {}})
	for i := range w.chunks {
		largest = max(largest, len(w.append(nil, &w.chunks[i])))
	}
	if largest > 8*chunkText {
		t.Errorf("piece of %d bytes: memory is to be bounded by pieces of about %d", largest, chunkText)
	}
}

// limited fails after n bytes.
type limited struct {
	n   int
	err error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		n := l.n
		l.n = 0
		return n, l.err
	}
	l.n -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	m := mustRead(t, mediumText())
	full := errors.New("no space left on device")
	for _, jobs := range []int{1, 3} {
		err := Write(&limited{3 << 20, full}, m, WriteOptions{Jobs: jobs})
		if want := "symbols of vmlinux: write after 3145728 bytes: no space left on device"; !errors.Is(err, full) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if err := Write(&limited{100, nil}, m, WriteOptions{Jobs: jobs}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("error %v, want a short write", err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := Write(w, m, WriteOptions{}); !errors.Is(err, os.ErrClosed) && !strings.Contains(fmt.Sprint(err), "broken pipe") {
		t.Errorf("closed pipe: error %v", err)
	}
}

// TestWriteMedium checks that the benchmark's text is canonical except for
// its numbers.
func TestWriteMedium(t *testing.T) {
	text := mediumText()
	m := mustRead(t, text)
	if got := mustWrite(t, m, 2); !bytes.Equal(got, text) {
		t.Error("write(read(b)) differs from b")
	}
}
