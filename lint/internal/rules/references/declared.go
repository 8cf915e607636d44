// Package references implements the rules of the family references: numbers of files and origins, and
// the id of the module.
package references

import (
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

var (
	onFile   = []symfmt.Kind{symfmt.KindFile}
	onOrigin = []symfmt.Kind{symfmt.KindInlineOrigin}
	onInline = []symfmt.Kind{symfmt.KindInline}
)

// Rules are the rules of the family, by ID.
var Rules = slices.Concat(refRules, useRules, formRules, moduleIDRules)

var refRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM201",
			Title:    "FILE number used twice",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: FILE records",
			Doc: `Breakpad gives all lines with the number the first name, rust-minidump the last: one
of them answers wrongly. Files were joined without renumbering.`,
			Bad:  check.Head + "FILE 0 a.c\nFILE 0 b.c\nFUNC 1000 10 0 f\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nFILE 1 b.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 1 1\n",
			At:   3,
		},
		On:    onFile,
		Check: again,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM202",
			Title:    "INLINE_ORIGIN number used twice",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE_ORIGIN records",
			Doc: `Breakpad gives all inlined calls with the number the first name, rust-minidump the
last: one of them answers wrongly.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nINLINE_ORIGIN 0 h\n" + check.Inlined,
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   4,
		},
		On:    onOrigin,
		Check: again,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM203",
			Title:    "line record of a missing FILE",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `Frames at this code have a line number but no file name. The FILE record was lost, or
the numbers were changed in one place only. Each number is reported once, where it is
first used.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 1\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 0\n",
			At:   5,
		},
		Check: undeclared(func(f *facts.Facts) *facts.IDs { return &f.Files }, symfmt.KindLine, "file"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM204",
			Title:    "INLINE called from a missing FILE",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `The frame that makes the call has no file name. Each number is reported once, where
it is first used.`,
			Cites: []string{"dump_syms#466"},
			Bad:   check.Head + "FILE 1 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 4\n1000 10 1 1\n",
			Good:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:    5,
		},
		Check: undeclared(func(f *facts.Facts) *facts.IDs { return &f.Files }, symfmt.KindInline, "call file"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM205",
			Title:    "INLINE of a missing INLINE_ORIGIN",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `The inlined function has no name: Breakpad prints "<name omitted>" and rust-minidump
leaves the frame out. Each number is reported once, where it is first used.`,
			Bad:  check.Head + "FILE 0 a.c\n" + check.Inlined,
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   4,
		},
		Check: undeclared(func(f *facts.Facts) *facts.IDs { return &f.Origins }, symfmt.KindInline, "origin"),
	},
}

// again reports a number that was already declared.
func again(p *check.Pass) (func(*symfmt.Record), func()) {
	return func(r *symfmt.Record) {
		if p.Redeclared {
			p.Report(r, 1, "number %d already belongs to an earlier %v", r.ID, r.Kind)
		}
	}, nil
}

// undeclared returns a check for numbers that records of a kind use but nothing declares.
func undeclared(ids func(*facts.Facts) *facts.IDs, kind symfmt.Kind, what string) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		return nil, func() {
			ids := ids(p.Facts)
			for _, use := range ids.ForwardUses {
				if use.Kind == kind && !ids.Has(use.ID) {
					p.ReportOwned(use.Pos, "%s %d is not declared", what, use.ID)
				}
			}
		}
	}
}

// formRules are the rules about the old form of INLINE and INLINE_ORIGIN.
var formRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM210",
			Title:    "INLINE records of both forms",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
			Doc: `The form of a file's INLINEs decides whether its INLINE_ORIGINs have the number of a
file before the name. With both forms nobody can know: names begin with a stray
number or lack one. Only the first that differs is reported.`,
			Bad: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\n" +
				"INLINE 0 5 0 1004 4\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   6,
		},
		On: onInline,
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			reported := false
			return func(r *symfmt.Record) {
				if !reported && p.Forms.Old > 0 && p.Forms.New > 0 {
					reported = true
					form := "with a call file after records without"
					if r.OldForm {
						form = "without a call file after records with one"
					}
					p.Report(r, -1, "INLINE %s", form)
				}
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM211",
			Title:    "INLINE with the call file -1",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
			Doc: `Breakpad reads -1 as a call whose file is not known; rust-minidump refuses the file.
Reported once. symtool convert writes a FILE named <unknown> instead.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 -1 0 1004 4\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   5,
		},
		On: onInline,
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			first, n := 0, 0
			return func(r *symfmt.Record) {
					if r.Inline.NoFile && !r.OldForm {
						if n++; n == 1 {
							first = r.Pos().Line
						}
					}
				}, func() {
					if n > 0 {
						p.ReportLine(first, "call file -1; %s", text.Count(n, "such record"))
					}
				}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM212",
			Title:    "INLINE_ORIGIN of the old form that names a missing FILE",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "Breakpad: ParseInlineOrigin",
			Doc: `The second number is that of a FILE. Breakpad shows the inlined function without its
file.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 7 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 1004 4\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   3,
		},
		Check: oldOriginFiles,
	},
}

func oldOriginFiles(p *check.Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if !p.Forms.OldOrigins() {
			return
		}
		for _, use := range p.Forms.Origins.ForwardUses {
			if !p.Files.Has(use.ID) {
				p.ReportPos(use.Pos, "file %d is not declared", use.ID)
			}
		}
	}
}
