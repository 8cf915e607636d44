package lint

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// formRules are about the old form of INLINE and INLINE_ORIGIN.
var formRules = []*Rule{
	{
		ID:       "SYM210",
		Title:    "INLINE records of both forms",
		Severity: Error,
		Since:    "0.1",
		Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
		Doc: `The form of a file's INLINEs decides whether its INLINE_ORIGINs have the number of a
file before the name. With both forms nobody can know: names begin with a stray
number or lack one. Only the first that differs is reported.`,
		Bad: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\n" +
			"INLINE 0 5 0 1004 4\n1000 10 1 0\n",
		Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
		At:   6,
		On:   onInline,
		Check: func(p *Pass) (func(*symfmt.Record), func()) {
			reported := false
			return func(r *symfmt.Record) {
				if !reported && p.Forms.Old > 0 && p.Forms.New > 0 {
					reported = true
					form := "with a call file behind records without"
					if r.OldForm {
						form = "without a call file behind records with one"
					}
					p.Report(r, -1, "INLINE %s", form)
				}
			}, nil
		},
	},
	{
		ID:       "SYM211",
		Title:    "INLINE with the call file -1",
		Severity: Error,
		Refused:  true,
		Since:    "0.1",
		Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
		Doc: `Breakpad reads -1 as a call whose file is not known; rust-minidump refuses the file.
Reported once. symtool convert writes a FILE named <unknown> instead.`,
		Bad:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 -1 0 1004 4\n1000 10 1 0\n",
		Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
		At:   5,
		On:   onInline,
		Check: func(p *Pass) (func(*symfmt.Record), func()) {
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
		ID:       "SYM212",
		Title:    "INLINE_ORIGIN of the old form that names a missing FILE",
		Severity: Warning,
		Since:    "0.1",
		Spec:     "Breakpad: ParseInlineOrigin",
		Doc: `The second number is that of a FILE. Breakpad shows the inlined function without its
file.`,
		Bad:   head + "FILE 0 a.c\nINLINE_ORIGIN 0 7 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 1004 4\n1000 10 1 0\n",
		Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
		At:    3,
		Check: oldOriginFiles,
	},
}

func oldOriginFiles(p *Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if !p.Forms.OldOrigins() {
			return
		}
		for _, use := range p.Forms.Origins.Early {
			if !p.Files.Has(use.ID) {
				p.reportPlace(use.Pos, "file %d is not declared", use.ID)
			}
		}
	}
}
