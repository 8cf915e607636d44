// Package symtest has what the tests of formats and readers share: binaries, modules from text, and
// text from modules and their STACK CFI.
package symtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
)

// Open opens a binary, and closes it at the end of the test.
func Open(t testing.TB, path string) *object.File {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Module parses a symbol file. It ignores damage.
func Module[T string | []byte](t testing.TB, text T) *symfmt.Module {
	t.Helper()
	result, err := symfmt.Read(context.Background(), strings.NewReader(string(text)), symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	return result.Module
}

// Text returns the module as the text of a symbol file.
func Text(t testing.TB, m *symfmt.Module) string {
	t.Helper()
	var b strings.Builder
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// LongNames returns a module whose functions all have the same name of 16 KiB: formats that write
// it only once turn 32 MB of names into small files.
func LongNames() *symfmt.Module {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "33323130353437363839616263646566A", Name: "m"}
	long := strings.Repeat("n", 16<<10)
	for i := range 2000 {
		m.Funcs = append(m.Funcs, symfmt.Func{RVA: symfmt.RVA(0x1000 + 16*i), Size: 16, Name: long})
	}
	return m
}

// CFI returns the STACK CFI records of a table as text.
func CFI(t *symfmt.CFITable) string {
	var b strings.Builder
	for _, k := range t.Blocks {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x %s\n", uint64(k.RVA), k.Size, t.Rules.Text(k.Init))
		for _, row := range t.Rows[k.First : k.First+k.Count] {
			if text := t.Rules.Text(row.Rules); text != "" {
				fmt.Fprintf(&b, "STACK CFI %x %s\n", uint64(row.RVA), text)
			}
		}
	}
	return b.String()
}

// Marked returns the code that has each mark in a table's rows, with adjacent ranges joined.
func Marked(t *symfmt.CFITable) map[symfmt.CFIMarks][]symfmt.Range {
	out := map[symfmt.CFIMarks][]symfmt.Range{}
	add := func(marks symfmt.CFIMarks, from, to symfmt.RVA) {
		for _, mark := range []symfmt.CFIMarks{symfmt.MarkSignal, symfmt.MarkKeyB, symfmt.MarkSigned, symfmt.MarkCode} {
			list := out[mark]
			switch n := len(list); {
			case marks&mark == 0 || from == to:
			case n > 0 && list[n-1].RVA+symfmt.RVA(list[n-1].Size) == from:
				list[n-1].Size += uint64(to - from)
			default:
				out[mark] = append(list, symfmt.Range{RVA: from, Size: uint64(to - from)})
			}
		}
	}
	for _, b := range t.Blocks {
		at, marks := b.RVA, b.Marks
		for _, row := range t.Rows[b.First : b.First+b.Count] {
			add(marks, at, row.RVA)
			at, marks = row.RVA, row.Marks
		}
		add(marks, at, b.RVA+symfmt.RVA(b.Size))
	}
	return out
}
