package lint

import (
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// orphanRule judges by levels alone, and at the end of a FUNC: an INLINE of the level above may
// come later.
var orphanRule = &Rule{
	ID:       "SYM325",
	Title:    "INLINE range outside all INLINEs of the level above",
	Severity: Error,
	Since:    "0.1",
	Spec:     "symbol_files: INLINE records",
	Doc: `The call that contains this one is missing, with its name and line. rust-minidump
goes from level to level and stops at the gap: this call is missing from stacks, too.
Breakpad shows it as if the function itself had made it.`,
	Bad:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\nINLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
	Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
	At:   6,
	On:   onFunc,
	Check: atFuncEnd(func(n *facts.Nesting) *facts.NestedRanges { return &n.Orphans }, func(p *Pass, x *facts.Nested) {
		p.reportPos(x.Pos, "no INLINE of level %d holds the range [%x, %x)", x.Depth-1, x.RVA, x.RVA+symfmt.RVA(x.Size))
	}),
}
