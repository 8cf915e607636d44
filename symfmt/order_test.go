package symfmt

import (
	"bytes"
	"slices"
	"testing"
)

func TestCanonicalizeNumbers(t *testing.T) {
	text := "MODULE Linux x86 12 a\nFILE 5 b.c\nFILE 3 unused.c\nFILE 9 a.c\nFILE 1 b.c\n" +
		"INLINE_ORIGIN 8 unused\nINLINE_ORIGIN 7 g\nINLINE_ORIGIN 2 i\nINLINE_ORIGIN 4 g\n" +
		"FUNC 20 10 0 second\n20 10 1 5\n" +
		"FUNC 10 10 0 first\n10 8 1 1\nINLINE 0 1 9 4 10 2\nINLINE 0 1 1 2 12 2\nINLINE 0 1 5 7 14 2\n18 8 1 9\n"
	want := "MODULE Linux x86 12 a\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 g\nINLINE_ORIGIN 1 i\n" +
		"FUNC 10 10 0 first\nINLINE 0 1 0 0 10 2\nINLINE 0 1 1 1 12 2\nINLINE 0 1 1 0 14 2\n10 8 1 1\n18 8 1 0\n" +
		"FUNC 20 10 0 second\n20 10 1 1\n"
	m := mustRead(t, []byte(text))
	m.Canonicalize()
	if got := string(mustWrite(t, m, 1)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestCanonicalizeOldForm checks that origins with the same name but two files stay separate.
func TestCanonicalizeOldForm(t *testing.T) {
	text := "MODULE Linux x86 12 a\nFILE 5 b.c\nFILE 6 a.c\nINLINE_ORIGIN 1 6 g\nINLINE_ORIGIN 2 5 g\nINLINE_ORIGIN 3 -1 g\nINLINE_ORIGIN 4 6 g\n" +
		"FUNC 10 10 0 f\nINLINE 0 1 2 10 2\nINLINE 0 1 4 12 2\nINLINE 0 1 1 14 2\nINLINE 0 1 3 16 2\n"
	want := "MODULE Linux x86 12 a\nFILE 0 b.c\nFILE 1 a.c\nINLINE_ORIGIN 0 0 g\nINLINE_ORIGIN 1 1 g\nINLINE_ORIGIN 2 -1 g\n" +
		"FUNC 10 10 0 f\nINLINE 0 1 0 10 2\nINLINE 0 1 1 12 2\nINLINE 0 1 1 14 2\nINLINE 0 1 2 16 2\n"
	m := mustRead(t, []byte(text))
	m.Canonicalize()
	if got := string(mustWrite(t, m, 1)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestCanonicalizeUndeclared(t *testing.T) {
	m := &Module{OS: "Linux", Arch: "x86", ID: "1", Name: "a", Files: []File{{3, "a.c"}}}
	m.Funcs = []Func{{RVA: 1, Size: 9, Name: "f", Body: build(1, []Inline{{CallFile: 77, Origin: 5, Ranges: []Range{{1, 1}}}}, []Line{{1, 1, 1, 3}, {2, 1, 1, 4000000000}})}}
	m.Canonicalize()
	want := "MODULE Linux x86 1 a\nFILE 0 <unknown>\nFILE 1 a.c\nINLINE_ORIGIN 0 <name omitted>\nFUNC 1 9 0 f\nINLINE 0 0 0 0 1 1\n1 1 1 1\n2 1 1 0\n"
	got := mustWrite(t, m, 1)
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	mustRead(t, got)
}

func TestFuncOrder(t *testing.T) {
	want := []Func{
		{RVA: 1, Size: 9, Name: "z"}, {RVA: 2, Size: 1, Name: "z"}, {RVA: 2, Size: 2, Name: "a"}, {RVA: 2, Size: 2, Name: "b"},
		{RVA: 2, Size: 2, Name: "b", ParamSize: 1}, {RVA: 2, Size: 2, Name: "b", ParamSize: 1, Multiple: true}, {RVA: 1<<64 - 1},
	}
	given := slices.Clone(want)
	slices.Reverse(given)
	given[0], given[3] = given[3], given[0]
	if got := sorted(given, compareFuncs); !slices.EqualFunc(got, want, func(a, b Func) bool { return a.equal(&b) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOrderIsOfWrittenNames pins that names are compared as they are written: a
// name that begins with a control character moves when it is cleaned.
func TestOrderIsOfWrittenNames(t *testing.T) {
	m := &Module{
		Funcs:   []Func{{RVA: 1, Size: 1, Name: "\x00b"}, {RVA: 1, Size: 1, Name: "a"}, {RVA: 1, Size: 1}},
		Publics: []Public{{RVA: 1, Name: "\tb"}, {RVA: 1, Name: "a"}},
	}
	text := mustWrite(t, m, 1)
	if again := mustWrite(t, mustRead(t, text), 1); !bytes.Equal(again, text) {
		t.Errorf("write(read(b)) is\n%swant\n%s", again, text)
	}
}

// TestEqualRecordsKeepTheirOrder pins that, among records that compare equal,
// the first stays first. Readers depend on this.
func TestEqualRecordsKeepTheirOrder(t *testing.T) {
	m := &Module{Wins: []StackWin{{RVA: 5}}}
	for i := range uint64(100) {
		m.Wins = append(m.Wins, StackWin{RVA: 1, LocalSize: i})
	}
	m.Canonicalize()
	for i := range uint64(100) {
		if m.Wins[i].LocalSize != i {
			t.Fatalf("record %d is number %d", i, m.Wins[i].LocalSize)
		}
	}
}

func TestCanonicalizeCFI(t *testing.T) {
	text := "MODULE Linux x86_64 1 a\n" +
		"STACK CFI INIT 20 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 24 .cfa: $rsp 16 +\nSTACK CFI 22 $rbx: .cfa -16 + ^\n" +
		"STACK CFI 22 .cfa: $rsp 24 + $rbx: .undef\nSTACK CFI 20 .ra: $x\n" +
		"STACK CFI INIT 10 10 .cfa: $rsp 8 +\nSTACK CFI 11 .cfa: $rsp 16 +\n"
	want := "MODULE Linux x86_64 1 a\nSTACK CFI INIT 10 10 .cfa: $rsp 8 +\nSTACK CFI 11 .cfa: $rsp 16 +\n" +
		"STACK CFI INIT 20 10 .cfa: $rsp 8 + .ra: $x\nSTACK CFI 22 $rbx: .undef .cfa: $rsp 24 +\nSTACK CFI 24 .cfa: $rsp 16 +\n"
	m, _ := tolerant(t, text)
	m.Canonicalize()
	got := mustWrite(t, m, 1)
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	mustRead(t, got)
}

func TestFreeFileID(t *testing.T) {
	for _, tt := range []struct {
		ids  []FileID
		want FileID
	}{{nil, 0}, {[]FileID{0, 1}, 2}, {[]FileID{7, 3}, 8}, {[]FileID{0, maxID, 1}, 2}, {[]FileID{maxID}, 0}, {[]FileID{maxID - 1}, maxID}} {
		m := &Module{}
		for _, id := range tt.ids {
			m.Files = append(m.Files, File{ID: id})
		}
		if got := m.freeFileID(); got != tt.want {
			t.Errorf("free of %v is %d, want %d", tt.ids, got, tt.want)
		}
	}
}
