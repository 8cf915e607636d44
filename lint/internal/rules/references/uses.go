package references

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// useRules are the rules about numbers that are used before they are declared, or never.
var useRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM206",
			Title:    "FILE declared after its first use",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `The specification wants a "prior FILE record". Breakpad and rust-minidump find it
anywhere in the file; readers that read the file once do not.`,
			Bad:  check.Head + "FUNC 1000 10 0 f\n1000 10 1 0\nFILE 0 a.c\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			At:   3,
		},
		Check: late(func(f *facts.Facts) *facts.IDs { return &f.Files }, "file"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM207",
			Title:    "INLINE_ORIGIN declared after its first use",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE_ORIGIN records",
			Doc: `Breakpad and rust-minidump find it anywhere in the file; readers that read the file
once do not.`,
			Bad:  check.Head + "FILE 0 a.c\n" + check.Inlined + "INLINE_ORIGIN 0 g\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   4,
		},
		Check: late(func(f *facts.Facts) *facts.IDs { return &f.Origins }, "origin"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM208",
			Title:    "FILE records that nothing uses",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `They only cost bytes. Some dumpers write every file of the line tables; symtool
convert writes those that are used. Reported once.`,
			Bad:  check.Head + "FILE 0 a.c\nFILE 1 b.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			At:   0,
		},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return nil, func() {
				old := func(id uint32) bool {
					return p.Forms.OldOrigins() && p.Forms.Origins.UsedForward(id)
				}
				if n, least := p.Files.Unused(old); n > 0 {
					p.ReportLine(0, "%d of %s are unused, the first is %d", n, text.Count(p.Files.Count, "FILE record"), least)
				}
			}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM209",
			Title:    "INLINE_ORIGIN records that nothing uses",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE_ORIGIN records",
			Doc: `They only cost bytes, unless INLINE records were lost: then inlined calls are missing
from stacks. symtool convert writes those that are used. Reported once.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   0,
		},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return nil, func() {
				if n, least := p.Origins.Unused(func(uint32) bool { return false }); n > 0 {
					p.ReportLine(0, "%d of %s are unused, the first is %d", n, text.Count(p.Origins.Count, "INLINE_ORIGIN record"), least)
				}
			}
		},
	},
}

// late returns a check for numbers that are declared after their use.
func late(ids func(*facts.Facts) *facts.IDs, what string) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		return nil, func() {
			ids := ids(p.Facts)
			for _, use := range ids.ForwardUses {
				if ids.Has(use.ID) {
					p.ReportOwned(use.Pos, "%s %d is declared after this use", what, use.ID)
				}
			}
		}
	}
}
