package flatten

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
)

// treeOf returns the tree of the first FUNC of a symbol file, a line for each node: its INLINE, by depth, and its code.
func treeOf(t *testing.T, text string) (tree Tree, lines string) {
	t.Helper()
	m := symtest.Module(t, "MODULE Linux x86_64 0 a\nINLINE_ORIGIN 0 f\nFILE 0 a.c\n"+text)
	var p Flattener
	p.Reset(m.Funcs[0].RVA)
	for r := m.Funcs[0].InlineReader(); r.Next(); {
		p.AddInline(&r.Inline)
	}
	p.Tree(&tree)
	var b strings.Builder
	for i, n := range tree.Nodes {
		fmt.Fprintf(&b, "%s%d", strings.Repeat("-", int(n.Depth)), n.Inline)
		for _, r := range n.Ranges {
			fmt.Fprintf(&b, " %x-%x", r.Off, r.End)
		}
		if tree.Leaf(i) {
			b.WriteString(" leaf")
		}
		b.WriteByte('\n')
	}
	return tree, b.String()
}

func TestTree(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no INLINE", "FUNC 10 20 0 f\n", ""},
		{
			"siblings stay in the order of their records, and ranges that touch are one",
			"FUNC 10 20 0 f\nINLINE 0 1 0 0 20 4 24 4 2a 2\nINLINE 0 2 0 0 10 8\nINLINE 1 3 0 0 14 2\n",
			"0 10-18 1a-1c leaf\n1 0-8\n-2 4-6 leaf\n",
		},
		{
			"an INLINE in two others is two nodes",
			"FUNC 10 20 0 f\nINLINE 0 1 0 0 10 8\nINLINE 0 4 0 0 18 8\nINLINE 1 6 0 0 14 8\n",
			"0 0-8\n-2 4-8 leaf\n1 8-10\n-2 8-c leaf\n",
		},
		{
			"a child outside of its parent is cut",
			"FUNC 10 20 0 f\nINLINE 0 1 0 0 10 4\nINLINE 1 2 0 0 12 4\nINLINE 3 2 0 0 12 1\n",
			"0 0-4\n-1 2-4 leaf\n",
		},
	} {
		if _, got := treeOf(t, c.text); got != c.want {
			t.Errorf("%s:\n%swant:\n%s", c.name, got, c.want)
		}
	}
}

// Two INLINEs that take turns make those inside new each time. Their number is limited.
func TestTreeLimit(t *testing.T) {
	const turns, deep = 500, 500
	var b strings.Builder
	fmt.Fprintf(&b, "FUNC 0 %x 0 f\n", turns)
	for i := range turns {
		fmt.Fprintf(&b, "INLINE 0 %d 0 0 %x 1\n", i, i)
	}
	for depth := range deep {
		fmt.Fprintf(&b, "INLINE %d 1 0 0 0 %x\n", depth+1, turns)
	}
	tree, _ := treeOf(t, b.String())
	if n, limit := len(tree.Nodes), callsPerRange*(turns+deep+callsPerRange); n != limit {
		t.Errorf("%d nodes, want the limit, %d", n, limit)
	}
}
