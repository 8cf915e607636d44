package ranges

import (
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

var onLine = []symfmt.Kind{symfmt.KindLine}

// withLine is a function that one line record covers.
const withLine = check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n"

var lineRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM306",
			Title:    "line record before its FUNC",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `The line belongs to code of the function before, or to no function. Readers that
search the line records find this function for an address outside it, with a negative
offset; others never find the line.`,
			Cites: []string{"dump_syms#535", "symbolic#746", "Mozilla bug 1810249"},
			Bad:   check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\nff8 8 1 0\n1000 10 1 0\n",
			Good:  withLine,
			At:    4,
		},
		On:     onLine,
		Faults: facts.LineBefore,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			p.Report(r, 0, "line at %x, before its function at %x", r.Line.RVA, p.Func.RVA)
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM307",
			Title:    "line record past the end of its FUNC",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `Readers look for the function first: the bytes past its end have no line, or a line
of another function. The size of the FUNC or of the line is wrong.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n1010 4 2 0\n",
			Good: withLine,
			At:   5,
		},
		On:     onLine,
		Faults: facts.LinePast,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			l := &r.Line
			p.Report(r, 0, "line [%x, %x) past the end of its function, %x", l.RVA, l.RVA+symfmt.RVA(l.Size), p.Func.End())
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM308",
			Title:    "line records are not ordered by address",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symtool: order of what it writes",
			Doc: `Readers sort them. Where records overlap, their order decides which one wins.
Reported once.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1008 8 2 0\n1000 8 1 0\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 0\n",
			At:   5,
		},
		On:     onLine,
		Faults: facts.LineOrder,
		Check:  countFault("line record is at a lower address than the one before it"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM309",
			Title:    "line record overlaps another of its FUNC",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `"No two line records cover the same range of addresses." Breakpad drops the one that
comes later, rust-minidump the one at the higher address: code gets the wrong line,
or no line where the dropped one goes on.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 c 1 0\n1008 8 2 0\n",
			Good: check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n1008 8 2 0\n",
			At:   5,
		},
		On:     onLine,
		Faults: facts.LineOverlap,
		Check: check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
			l := &r.Line
			p.Report(r, 0, "line [%x, %x) overlaps one before it", l.RVA, l.RVA+symfmt.RVA(l.Size))
		}),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM310",
			Title:    "line record without bytes",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `Readers drop it. Dumpers of PDB files write them for lines without code of their own.
Reported once.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 0 1 0\n1000 10 2 0\n",
			Good: withLine,
			At:   4,
		},
		On:     onLine,
		Faults: facts.LineEmpty,
		Check:  countFault("line record of size 0"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM311",
			Title:    "line number 0",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `The compiler assigned no line to this code. Frames there have a file and line 0. The
specification counts from 1; all readers accept 0. Reported once.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 0 0\n",
			Good: withLine,
			At:   4,
		},
		On:     onLine,
		Faults: facts.LineNoNumber,
		Check:  countFault("line number 0"),
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM312",
			Title:    "FUNCs with gaps between their lines",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: Line records",
			Doc: `Frames in the gaps have a function but no line. Compilers leave few: data in code,
padding, and code that no source line asks for. Only the first FUNC is reported;
those without any line do not count.`,
			Bad:  check.Head + "FILE 0 a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n",
			Good: withLine,
			At:   3,
		},
		Check: check.AtEnd(reportGaps),
	},
}

// countFault returns a check that reports the rule's fault once, at the first line record that
// has it.
func countFault(what string) check.Func {
	return func(p *check.Pass) (func(*symfmt.Record), func()) {
		n, first := 0, 0
		var rva symfmt.RVA
		return func(r *symfmt.Record) {
				if n++; n == 1 {
					first, rva = r.Pos().Line, r.Line.RVA
				}
			}, func() {
				if n > 0 {
					p.ReportFirst(first, rva, "%s; %s of this kind", what, text.Count(n, "record"))
				}
			}
	}
}

func reportGaps(p *check.Pass) {
	var first *facts.Func
	n, with := 0, 0
	var bytes uint64
	for _, f := range p.Functions.All {
		if f.Lines == 0 {
			continue
		}
		with++
		if f.Covered >= f.Size {
			continue
		}
		if n++; n == 1 {
			first = f
		}
		bytes += f.Size - f.Covered
	}
	if n > 0 {
		p.ReportFirst(int(first.Line), first.RVA, "%s of this function have no line; %s in %d of %d functions with lines",
			text.Count(first.Size-first.Covered, "byte"), text.Count(bytes, "byte"), n, with)
	}
}
