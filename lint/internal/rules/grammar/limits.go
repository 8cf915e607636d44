package grammar

import (
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// longLine is the length in bytes up to which every reader accepts a line: rust-minidump's buffer
// grows to 160 KiB, and a line may fill half of it.
const longLine = 80 << 10

// limitRules are the rules about records that some readers do not accept.
var limitRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM124",
			Title:    "line that is too long for some readers",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "rust-minidump: sym_file/mod.rs",
			Doc: `rust-minidump drops lines that do not fit into its buffer, 80 to 160 KiB. A name of
this length helps nobody: shorten it.`,
			Bad:  check.Head + "FUNC 1000 10 0 f" + strings.Repeat("g", longLine) + "\n",
			Good: check.Head + "FUNC 1000 10 0 f\n",
			At:   2,
		},
		On: withKinds(named, symfmt.KindInfo, symfmt.KindInline),
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if n := len(r.Text()); n > longLine {
					p.Report(r, -1, "line of %d bytes, want at most %d", n, longLine)
				}
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM125",
			Title:    "size over 32 bits",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "rust-minidump: sym_file/parser.rs",
			Doc: `rust-minidump refuses the file: it reads sizes of code and of parameters as 32 bits.
No function is that large: the dumper subtracted addresses of two unrelated things,
or used an end that was missing.`,
			Bad:  check.Head + "FUNC 1000 123456789 0 f\n",
			Good: check.Head + "FUNC 1000 12345 0 f\n",
			At:   2,
		},
		On:     allKinds,
		Faults: facts.LineBig,
		Check:  sizes32,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM126",
			Title:    "INLINE of the old form, without a call file",
			Severity: finding.Error,
			Refused:  true,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records; Breakpad: ParseInline",
			Doc: `Breakpad distinguishes the two forms by the number of fields. rust-minidump, and
older versions of Breakpad, know only one of them: rust-minidump refuses the file.
Only the first is reported. Dump the binary again.`,
			Bad:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 1004 4\n1000 10 1 0\n",
			Good: check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:   5,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			first := 0
			return func(r *symfmt.Record) {
					if r.OldForm && first == 0 {
						first = r.Pos().Line
					}
				}, func() {
					if p.Forms.OldOrigins() {
						p.ReportLine(first, "INLINE without a call file; %s of this form", text.Count(p.Forms.Old, "record"))
					}
				}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM127",
			Title:    "INLINE at an absurdly deep level",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `Compilers nest inlined calls a few dozen levels deep. Readers that recurse level by
level have run out of stack on such files, and symbolic had a limit for some weeks.
lint looks no deeper than this. The level is damaged, or the dumper followed a call
that contains itself.`,
			Cites: []string{"symbolic#1014"},
			Bad:   check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 512 5 0 0 1004 4\n1000 10 1 0\n",
			Good:  check.Head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + check.Inlined,
			At:    5,
		},
		On: []symfmt.Kind{symfmt.KindInline},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if r.Inline.Depth >= facts.MaxDepth {
					p.Report(r, 1, "level %d, want less than %d", r.Inline.Depth, facts.MaxDepth)
				}
			}, nil
		},
	},
}

// sizes32 checks the sizes of every record.
func sizes32(p *check.Pass) (func(*symfmt.Record), func()) {
	check := func(r *symfmt.Record, field int, what string, v uint64) {
		if v>>32 != 0 {
			if r.Multiple && (r.Kind == symfmt.KindFunc || r.Kind == symfmt.KindPublic) {
				field++
			}
			p.Report(r, field, "%s %x, want at most ffffffff", what, v)
		}
	}
	return func(r *symfmt.Record) {
		switch r.Kind {
		case symfmt.KindLine:
			check(r, 1, "size", r.Line.Size)
		case symfmt.KindFunc:
			check(r, 2, "size", r.Size)
			check(r, 3, "parameter size", r.ParamSize)
		case symfmt.KindPublic:
			check(r, 2, "parameter size", r.ParamSize)
		case symfmt.KindCFIInit:
			check(r, 4, "size", r.Size)
		case symfmt.KindInline:
			first := 5
			if r.OldForm {
				first = 4
			}
			for i, x := range r.Inline.Ranges {
				check(r, first+2*i+1, "size", x.Size)
			}
		case symfmt.KindStackWin:
			w := &r.Win
			for i, v := range [...]uint64{w.CodeSize, w.PrologueSize, w.EpilogueSize, w.ParameterSize,
				w.SavedRegisterSize, w.LocalSize, w.MaxStackSize} {
				check(r, 4+i, "size", v)
			}
		}
	}, nil
}
