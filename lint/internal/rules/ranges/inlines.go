package ranges

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// maxRanges is the number of ranges that Breakpad reads: 512 fields, minus the first four.
const maxRanges = 254

var inlineRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM313",
			Title:    "INLINE skips a level",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `The level of an INLINE is at most one above that of the INLINE before it, and 0 for
the first. Breakpad drops one that skips a level, and the inlined call is missing
from stacks; rust-minidump sorts them. Mozilla's dump_syms orders INLINEs by address,
not by call. symtool dump writes them in order. Where no INLINE of the level above
holds it at all, see SYM325.`,
			Bad: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4 1008 4\n" +
				"INLINE 1 5 0 0 1000 2\nINLINE 0 7 0 0 1004 4\nINLINE 2 5 0 0 1000 2\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   8,
		},
		On: onFunc,
		Check: atFuncEnd(func(n *facts.Nesting) *facts.NestedRanges { return &n.Skips }, func(p *check.Pass, x *facts.Nested) {
			p.ReportOwned(x.Pos, "level %d, want at most %d here", x.Depth, x.Most)
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM314",
			Title:    "INLINE range outside its FUNC",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `Readers look for the function first, so this part of the range is never found: if the
code is in another part of a split function, the inlined call is missing there.
Breakpad's dumper repeats all INLINEs under every part.`,
			Cites: []string{"symbolic#603"},
			Bad:   check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 100c 8\n1000 10 1 0\n",
			Good:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:    5,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if !p.InFunc {
					return
				}
				for i, x := range r.Inline.Ranges {
					if !p.Func.Holds(x) {
						p.Report(r, facts.RangeField(r, i), "range [%x, %x) outside the function [%x, %x)",
							x.RVA, x.RVA+symfmt.RVA(x.Size), p.Func.RVA, p.Func.End())
						return
					}
				}
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM315",
			Title:    "INLINE range outside its parent",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `"The ranges of an INLINE record are always inside the ranges described by its parent
record", the last INLINE before it that is one level higher. Breakpad makes the
larger range the caller, or drops the record: the stack has the calls in the wrong
order, or lacks one. rust-minidump looks at levels only, and finds the record where
another INLINE of the level above holds it; where none does, see SYM325. Mozilla's
dump_syms joins equal neighbours of two calls.`,
			Bad: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" +
				"INLINE 1 6 0 0 1004 8\nINLINE 0 7 0 0 1008 8\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" +
				"INLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
			At: 6,
		},
		On: onFunc,
		Check: atFuncEnd(func(n *facts.Nesting) *facts.NestedRanges { return &n.Strays }, func(p *check.Pass, x *facts.Nested) {
			p.ReportOwned(x.Pos, "range [%x, %x) outside the INLINE of level %d before it", x.RVA, x.RVA+symfmt.RVA(x.Size), x.Depth-1)
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM316",
			Title:    "INLINEs of one level overlap",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `At each level an instruction comes from one call. Breakpad drops a range that
overlaps in part, rust-minidump takes one of the two: the stack has the wrong call.`,
			Bad: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" +
				"INLINE 0 6 0 0 1004 8\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\n" +
				"INLINE 0 6 0 0 1004 8\n1000 10 1 0\n",
			At: 6,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if p.InFunc && p.Nesting.Overlaps {
					p.Report(r, 1, "ranges overlap those of another INLINE of level %d with the same parent", r.Inline.Depth)
				}
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM317",
			Title:    "INLINE range without bytes",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc:      `Readers drop it. A linker or compiler removed the code, or the dumper took an end for a start.`,
			Bad:      check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 0\n1000 10 1 0\n",
			Good:     check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:       5,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				for i, x := range r.Inline.Ranges {
					if x.Size == 0 {
						p.Report(r, facts.RangeField(r, i)+1, "range at %x of size 0", x.RVA)
						return
					}
				}
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM318",
			Title:    "INLINE after line records",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symtool: order of what it writes",
			Doc: `Readers accept any order; dumpers write the INLINEs of a FUNC before its lines.
Reported once.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\n1000 10 1 0\nINLINE 0 5 0 0 1004 4\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   6,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			n, first := 0, 0
			return func(r *symfmt.Record) {
					if p.InFunc && p.Func.Lines > 0 {
						if n++; n == 1 {
							first = r.Pos().Line
						}
					}
				}, func() {
					if n > 0 {
						p.ReportLine(first, "INLINE after line records; %s of this kind", text.Count(n, "record"))
					}
				}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM319",
			Title:    "INLINE with more ranges than Breakpad reads",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "Breakpad: ParseInline",
			Doc: `Breakpad reads 512 fields of an INLINE, which are 254 ranges, and drops a record with
more: the call and those inlined into it are missing from stacks.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 1000 0 f\nINLINE 0 5 0 0" + manyRanges(maxRanges+1) + "\n1000 1000 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 1000 0 f\nINLINE 0 5 0 0" + manyRanges(maxRanges) + "\n1000 1000 1 0\n",
			At:   5,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if n := len(r.Inline.Ranges); n > maxRanges {
					p.Report(r, -1, "INLINE of %s, want at most %d", text.Count(n, "range"), maxRanges)
				}
			}, nil
		},
	},
}

// manyRanges returns n ranges for an example.
func manyRanges(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " %x 1", 0x1000+2*i)
	}
	return b.String()
}

// atFuncEnd returns a check that calls report with each range of a list when a FUNC has ended: at
// the next FUNC, or at the end of the file.
func atFuncEnd(list func(*facts.Nesting) *facts.NestedRanges, report func(p *check.Pass, x *facts.Nested)) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		end := func() {
			done := list(&p.Nesting).Done
			for i := range done {
				report(p, &done[i])
			}
		}
		return func(*symfmt.Record) { end() }, end
	}
}

// orphanRule judges only by levels and at the end of a FUNC, because an INLINE of the level above
// may come later.
var orphanRule = &check.Rule{
	Rule: &finding.Rule{
		ID:       "SYM325",
		Title:    "INLINE range outside all INLINEs of the level above",
		Severity: finding.Error,
		Since:    "0.1",
		Spec:     "symbol_files: INLINE records",
		Doc: `The call that contains this one is missing, with its name and line. rust-minidump
goes from level to level and stops at the gap: this call is missing from stacks, too.
Breakpad shows it as if the function itself had made it.`,
		Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\nINLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
		Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
		At:   6,
	},
	On: onFunc,
	Check: atFuncEnd(func(n *facts.Nesting) *facts.NestedRanges { return &n.Orphans }, func(p *check.Pass, x *facts.Nested) {
		p.ReportOwned(x.Pos, "no INLINE of level %d holds the range [%x, %x)", x.Depth-1, x.RVA, x.RVA+symfmt.RVA(x.Size))
	}),
}
