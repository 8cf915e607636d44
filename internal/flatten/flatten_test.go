package flatten

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// flattened returns the Flat of the first FUNC of a symbol file.
func flattened(t *testing.T, text string) *Flat {
	t.Helper()
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 0 a\n")
	for i := range 10 {
		fmt.Fprintf(&b, "FILE %d %d.c\n", i, i)
	}
	if !strings.Contains(text, "INLINE_ORIGIN") {
		b.WriteString("INLINE_ORIGIN 0 f\nINLINE_ORIGIN 3 g\nINLINE_ORIGIN 5 h\nINLINE_ORIGIN 7 i\n")
	}
	result, err := symfmt.Read(context.Background(), strings.NewReader(b.String()+text), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	var p Flattener
	p.Reset(m.Funcs[0].RVA)
	for r := m.Funcs[0].LineReader(); r.Next(); {
		p.AddLine(&r.Line)
	}
	for r := m.Funcs[0].InlineReader(); r.Next(); {
		p.AddInline(&r.Inline)
	}
	var out Flat
	p.Flatten(&out)
	return &out
}

func TestFlatten(t *testing.T) {
	tests := []struct {
		name, text string
		segments   []Segment
		calls      []Call
	}{
		{
			"a line that starts later counts, and nothing behind it",
			"FUNC 10 20 0 f\n10 10 1 0\n14 4 2 0\n",
			[]Segment{{0, 1, 0, false, NoCall}, {4, 2, 0, false, NoCall}, {8, 0, 0, true, NoCall}}, nil,
		},
		{
			"one INLINE inside of two others is two calls",
			"FUNC 10 20 0 f\nINLINE 0 1 2 3 10 8\nINLINE 0 4 2 5 18 8\nINLINE 1 6 2 7 14 8\n10 20 9 0\n",
			[]Segment{{0, 9, 0, false, 0}, {4, 9, 0, false, 1}, {8, 9, 0, false, 3}, {12, 9, 0, false, 2}, {16, 9, 0, false, NoCall}, {32, 0, 0, true, NoCall}},
			[]Call{{3, 2, false, 1, 0, NoCall}, {7, 2, false, 6, 2, 0}, {5, 2, false, 4, 1, NoCall}, {7, 2, false, 6, 2, 2}},
		},
		{
			"the old form: the file of the FUNC's own line, then that of the origin",
			"INLINE_ORIGIN 3 1 g\nINLINE_ORIGIN 4 2 h\nFUNC 10 20 0 f\nINLINE 0 1 3 10 10\nINLINE 1 2 4 10 10\n10 10 5 6\n20 10 7 8\n",
			[]Segment{{0, 5, 6, false, 1}, {16, 7, 8, false, NoCall}, {32, 0, 0, true, NoCall}},
			[]Call{{3, 8, false, 1, 0, NoCall}, {4, 0, true, 2, 1, 0}},
		},
		{
			"a depth that is missing ends the chain",
			"FUNC 10 20 0 f\nINLINE 0 1 2 3 10 8\nINLINE 2 6 2 7 10 8\n",
			[]Segment{{0, 0, 0, true, 0}, {8, 0, 0, true, NoCall}},
			[]Call{{3, 2, false, 1, 0, NoCall}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := flattened(t, tt.text)
			if !slices.Equal(got.Segments, tt.segments) || !slices.Equal(got.Calls, tt.calls) {
				t.Errorf("got %v and %v\nwant %v and %v", got.Segments, got.Calls, tt.segments, tt.calls)
			}
		})
	}
}

// Each segment costs a walk through all depths. Depths beyond the limit are left
// out, so that the time stays proportional to the file's size.
func TestFlattenDepth(t *testing.T) {
	const n = 50_000
	var b strings.Builder
	b.WriteString("FUNC 0 30000 0 f\n")
	for i := range n {
		fmt.Fprintf(&b, "INLINE %d 1 0 0 %x %x\n", i, i, 2*(n-i))
	}
	if got := flattened(t, b.String()); len(got.Calls) != symfmt.MaxInlineDepth {
		t.Errorf("%d calls, want %d", len(got.Calls), symfmt.MaxInlineDepth)
	}
}
