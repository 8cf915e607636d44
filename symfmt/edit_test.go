package symfmt

import (
	"slices"
	"strings"
	"testing"
)

// editText has every kind of record, and some of them twice: once with the same
// text, and once with the same meaning but other numbers.
const editText = `MODULE Linux x86_64 AB0 a
INFO CODE_ID AB
INFO GENERATOR x
INFO CODE_ID AB
FILE 3 /src/a.c
FILE 4 /src/b.c
FILE 5 /src/a.c
FILE 9 /src/unused.c
INLINE_ORIGIN 7 inl
INLINE_ORIGIN 8 inl
FUNC 1000 20 0 f
INLINE 0 5 3 7 1008 4
1000 10 5 3
1010 10 6 4
FUNC 1000 20 0 f
INLINE 0 6 3 7 1008 4
1000 10 5 3
FUNC 1000 20 0 f
INLINE 0 5 5 8 1008 4
1000 10 5 5
1010 10 6 4
PUBLIC 2000 0 p
PUBLIC 2000 0 q
PUBLIC 2000 0 p
STACK WIN 4 1000 20 1 0 0 0 0 0 1 $eip 4 + ^ =
STACK WIN 4 1000 20 2 0 0 0 0 0 1 $eip 4 + ^ =
STACK WIN 4 1000 20 1 0 0 0 0 0 1 $eip 4 + ^ =
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 24 +
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
`

// textOf returns the text of a module.
func textOf(t testing.TB, m *Module) string {
	t.Helper()
	return string(mustWrite(t, m, 1))
}

// without removes the lines that begin with one of the words.
func without(text string, starts ...string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(line, s) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestDeduplicate(t *testing.T) {
	m := mustRead(t, []byte(editText))
	m.Canonicalize()
	// Equal records need not be neighbours: another record at the same address
	// may lie between them.
	if n := m.Deduplicate(); n != 5 {
		t.Errorf("%d removed, want 5: an INFO, a FUNC, a PUBLIC, a STACK WIN, a STACK CFI INIT", n)
	}
	const want = `MODULE Linux x86_64 AB0 a
INFO CODE_ID AB
INFO GENERATOR x
FILE 0 /src/a.c
FILE 1 /src/b.c
INLINE_ORIGIN 0 inl
FUNC 1000 20 0 f
INLINE 0 5 0 0 1008 4
1000 10 5 0
1010 10 6 1
FUNC 1000 20 0 f
INLINE 0 6 0 0 1008 4
1000 10 5 0
PUBLIC 2000 0 p
PUBLIC 2000 0 q
STACK WIN 4 1000 20 1 0 0 0 0 0 1 $eip 4 + ^ =
STACK WIN 4 1000 20 2 0 0 0 0 0 1 $eip 4 + ^ =
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 24 +
`
	if got := textOf(t, m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := m.Deduplicate(); n != 0 {
		t.Errorf("%d removed the second time", n)
	}
}

func TestDrop(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(*Module) int
		n     int
		lines []string // the missing lines
	}{
		{"inlines", (*Module).DropInlines, 5, []string{"INLINE"}},
		{"cfi", (*Module).DropCFI, 9, []string{"STACK"}},
		{"all but cfi", (*Module).KeepCFI, 20, []string{"FILE", "INLINE", "FUNC", "1", "PUBLIC"}},
		{"all", func(m *Module) int { return m.KeepCFI() + m.DropCFI() }, 29, []string{"FILE", "INLINE", "FUNC", "1", "PUBLIC", "STACK"}},
	} {
		m := mustRead(t, []byte(editText))
		whole := textOf(t, m)
		if n := c.edit(m); n != c.n {
			t.Errorf("%s: %d records, want %d", c.name, n, c.n)
		}
		got, want := textOf(t, m), without(whole, c.lines...)
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
		if c.n != strings.Count(whole, "\n")-strings.Count(got, "\n") {
			t.Errorf("%s: the number is not that of the lines", c.name)
		}
		if n := c.edit(m); n != 0 {
			t.Errorf("%s: %d records the second time", c.name, n)
		}
	}
}

func TestMapFiles(t *testing.T) {
	m := mustRead(t, []byte(editText))
	m.MapFiles(func(name string) string { return strings.Replace(name, "/src", ".", 1) })
	if got, want := textOf(t, m), strings.ReplaceAll(textOf(t, mustRead(t, []byte(editText))), "/src", "."); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Converting the output of convert changes nothing.
func TestConvertIsIdempotent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	edits := map[string]func(*Module){
		"nothing": func(*Module) {}, "old": func(m *Module) { m.OldInlines() },
		"no inlines": func(m *Module) { m.DropInlines() }, "no cfi": func(m *Module) { m.DropCFI() }, "only cfi": func(m *Module) { m.KeepCFI() },
	}
	convert := func(m *Module, edit func(*Module)) string {
		edit(m)
		m.Canonicalize()
		m.Deduplicate()
		return textOf(t, m)
	}
	check := func(what string, m *Module, edit func(*Module)) {
		once := convert(m, edit)
		// A strict reader does not accept some of the generator's names.
		again, _ := tolerant(t, once)
		if twice := convert(again, edit); twice != once {
			t.Fatalf("%s: once\n%s\ntwice\n%s", what, once, twice)
		}
	}
	for name, edit := range edits {
		for seed := range uint64(generated / 10) {
			check(name, newGenerator(seed).module(), edit)
		}
		for file, data := range symbolFiles(t) {
			check(name+" "+file, mustRead(t, data), edit)
		}
	}
}

// The time for many records at one address does not grow with the square of
// their number.
func TestDeduplicateMany(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	const n = 300_000
	m := &Module{OS: "Linux", Arch: "x86_64", ID: "AB0", Name: "a"}
	for i := range n {
		m.Infos = append(m.Infos, Info{"K", strings.Repeat("x", i%7) + "y"})
		m.Wins = append(m.Wins, StackWin{Type: 0, RVA: 1, CodeSize: 1, LocalSize: uint64(i % (n / 2))})
		m.CFI.Blocks = append(m.CFI.Blocks, CFIBlock{RVA: 1, Size: 9, First: uint32(i), Count: 1, Init: m.CFI.Rules.Parse([]byte(".cfa: 1"))})
		m.CFI.Rows = append(m.CFI.Rows, CFIRow{RVA: 2 + RVA(i%5), Rules: 0})
	}
	m.Canonicalize()
	if removed, want := m.Deduplicate(), n-7+n/2+n-5; removed != want {
		t.Errorf("%d removed, want %d", removed, want)
	}
	if len(m.CFI.Rows) != 5 {
		t.Errorf("%d rows are left, want 5", len(m.CFI.Rows))
	}
}
