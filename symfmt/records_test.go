package symfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
)

// reading returns everything in a record that depends on the text.
func reading(rec *Record) string {
	text := fmt.Sprintf("%d:%v %v %v %t %q", rec.Pos().Line, rec.Kind, rec.FieldPos(2), rec.Owner, rec.Apart, rec.Text())
	switch rec.Kind {
	case KindModule:
		return fmt.Sprintf("%s %s %s %s %q", text, rec.OS, rec.Arch, rec.DebugID, rec.Name)
	case KindInfo:
		return fmt.Sprintf("%s %q %q", text, rec.Key, rec.Name)
	case KindFile, KindInlineOrigin:
		return fmt.Sprintf("%s %d %q", text, rec.ID, rec.Name)
	case KindFunc, KindPublic:
		size := rec.Size
		if rec.Kind == KindPublic {
			size = 0
		}
		return fmt.Sprintf("%s %t %x %x %x %q", text, rec.Multiple, rec.RVA, size, rec.ParamSize, rec.Name)
	case KindInline:
		return fmt.Sprintf("%s %t %v", text, rec.OldForm, rec.Inline)
	case KindLine:
		return fmt.Sprintf("%s %v", text, rec.Line)
	case KindStackWin:
		return fmt.Sprintf("%s %v %q", text, rec.Win, rec.Name)
	case KindCFIInit:
		return fmt.Sprintf("%s %x %x %q", text, rec.RVA, rec.Size, rec.Name)
	}
	return fmt.Sprintf("%s %x %q", text, rec.RVA, rec.Name)
}

// readings returns what a Reader returns for all records, and its problems.
func readings(t *testing.T, rd *Reader) (all []string) {
	for {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, reading(rec))
	}
	r := rd.Report()
	for _, p := range r.Problems {
		all = append(all, fmt.Sprintf("%s: %v", p.Lost, p.Err))
	}
	return append(all, fmt.Sprintf("%d lines, %d dropped, digest %t", r.Lines, r.Dropped, r.Digest))
}

// checkRecords checks that a module has the same records as its text.
func checkRecords(t *testing.T, m *Module) {
	t.Helper()
	text := mustWrite(t, m, 1)
	for _, opts := range []ReadOptions{{Tolerant: true}, {Tolerant: true, Grouped: true, File: "a.sym"}} {
		want := readings(t, NewReader(bytes.NewReader(text), opts))
		got := readings(t, NewModuleRecords(m).Reader(opts))
		if slices.Equal(got, want) {
			continue
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%+v: record %d of the module is\n%s\nand of its text\n%s", opts, i, got[i], want[i])
			}
		}
		t.Fatalf("%+v: %d records and problems of the module, %d of its text", opts, len(got), len(want))
	}
}

// TestRecords compares records of modules and of their texts.
func TestRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	for seed := range uint64(300) {
		m := newGenerator(seed).module()
		m.Digest = seed%2 == 1
		checkRecords(t, m)
	}
	for name, text := range symbolFiles(t) {
		t.Run(name, func(t *testing.T) { checkRecords(t, mustRead(t, text)) })
	}
}

// TestRecordsOfDamage reads records that no reader accepts unchanged.
func TestRecordsOfDamage(t *testing.T) {
	var a Arena
	var b BodyBuilder
	b.AddLine(Line{RVA: 0x1000, Size: 1<<64 - 1, Num: 3})
	b.AddInline(&Inline{Ranges: []Range{{RVA: 0x1004, Size: 1<<64 - 5}}})
	bad := b.Finish(&a)
	m := &Module{
		Files:   []File{{ID: 1, Name: "a"}, {ID: 1, Name: "b"}},
		Infos:   []Info{{Key: "DIGEST", Value: "sha256"}, {Key: " "}, {Key: "A\nB", Value: "\t"}},
		Origins: []InlineOrigin{{ID: 2}, {ID: 2, Name: "twice"}},
		Funcs: []Func{
			{RVA: 0x2000, Size: 1<<64 - 1, Name: "too long", Body: bad}, {RVA: 0x1000, Size: 8, Name: "\x00 \xff", Body: bad}, {RVA: 0x3000},
		},
		Publics: []Public{{RVA: 1, Name: "\u2028"}},
		Wins:    []StackWin{{HasProgram: true}, {RVA: 8, CodeSize: 1<<64 - 1}},
	}
	rules := func(text string) RuleID { return m.CFI.Rules.Parse([]byte(text)) }
	m.CFI.Rows = []CFIRow{{RVA: 9, Rules: rules("")}, {RVA: 8, Rules: rules("x y")}, {RVA: 7, Rules: rules(".cfa: 1")}}
	m.CFI.Blocks = []CFIBlock{
		{RVA: 5, Size: 9, Init: rules("")}, {RVA: 6, Size: 1<<64 - 1, Init: rules(".cfa: 2"), Count: 3}, {RVA: 7, Size: 1, Init: rules("no rule")},
	}
	checkRecords(t, m)
	m.Digest = true
	checkRecords(t, m)
}

// TestRecordsInParts reads each position separately.
func TestRecordsInParts(t *testing.T) {
	m := newGenerator(7).module()
	all := NewModuleRecords(m)
	opts := ReadOptions{Tolerant: true, MaxProblems: 1 << 20}
	whole, parts := all.Reader(opts), all.Reader(opts)
	for at := range all.Len() {
		parts.ResetRecords(all, at, at+1)
		for {
			rec, err := parts.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			got := string(rec.Text())
			if rec, err = whole.Next(); err != nil || string(rec.Text()) != got {
				t.Fatalf("position %d has %q, want %q (%v)", at, got, rec.Text(), err)
			}
			if got, want := parts.Extent(), (Extent{at, at + 1}); got != want || whole.Extent() != want {
				t.Fatalf("extent %v and %v of position %d", got, whole.Extent(), at)
			}
		}
	}
	if _, err := whole.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("records behind the last position: %v", err)
	}
}

// TestRecordsOfVariables reads records that are several lines of one table.
func TestRecordsOfVariables(t *testing.T) {
	const text = `MODULE Linux x86_64 000000000000000000000000000000000 a
FUNC 1000 40 0 f
PUBLIC 2000 0 g
STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
INFO VAR 1 all full
INFO VAR T b#4 "int %5
INFO VAR T p1#8
INFO VAR E cfa f:-18 r:5
INFO VAR V p1:n l2:at
INFO VAR G 1,2
INFO VAR F 1000 40 1/8j8 1h3h2-
`
	m := mustRead(t, []byte(text))
	if m.Vars == nil || len(m.Vars.Funcs) != 1 {
		t.Fatalf("no variables: %v", m.Vars)
	}
	checkRecords(t, m)
}
