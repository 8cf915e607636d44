package coverage

import (
	"fmt"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
)

// publicHead is the beginning of a file without functions.
const publicHead = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nPUBLIC 1000 0 f\n"

const coverageSpec = "symbol_files: STACK CFI records"

// Rules are the rules of the family, by ID.
var Rules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID: "SYM701", Title: "no call frame information", Severity: finding.Warning, Since: "0.1", Spec: coverageSpec,
			Doc: `There is code, and neither STACK CFI nor STACK WIN that readers can use: stacks
through this module are guessed. A debug file that was split off with objcopy
--only-keep-debug has none: dump it together with the binary. Start-up code does not
count.`,
			Cites: []string{"dump_syms#274", "Mozilla bug 1717909", "symbolic#783"},
			Bad:   check.HeadFunc, At: 0,
			Good: check.HeadFunc + check.Init,
		},
		Check: withCoverage(checkNoCFI),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM702", Title: "less call frame information than demanded", Severity: finding.Error, Since: "0.1", Spec: "symtool: --min-cfi",
			Doc: `The share of the code that has call frame information is under the limit: with
--binary of the binary's executable bytes, otherwise of the code that FUNC and PUBLIC
records name. The limit also holds for the functions' first bytes and, with --binary,
for return addresses: that is where a walker looks for rules, in each frame but the
first.`,
			Bad: publicHead + "PUBLIC 2000 0 g\n" + check.Init, At: 0,
			Good: publicHead + check.Init,
		},
		With:  func(o *check.Options) { o.MinCFI = 60 },
		Check: withCoverage(checkMinCFI),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM703", Title: "fewer lines than demanded", Severity: finding.Error, Since: "0.1", Spec: "symtool: --min-lines",
			Doc: "The share of the functions' bytes that have line records is under the limit.",
			Bad: "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n1000 20 1 0\n" + check.Init, At: 0,
			Good: check.HeadFunc + check.Init,
		},
		With:  func(o *check.Options) { o.MinLines = 99 },
		Check: withCoverage(checkMinLines),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM704", Title: "no lines", Severity: finding.Note, Since: "0.1", Spec: "symbol_files: Line records",
			Doc: `No function has a line record: stacks show names of functions without files and
lines. The binary was built or dumped without debug information.`,
			Bad: "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n" + check.Init, At: 0,
			Good: check.HeadFunc + check.Init,
		},
		Check: withCoverage(func(p *check.Pass, c *coverage.Coverage) {
			if c.Functions > 0 && c.WithLines.Covered == 0 {
				p.ReportLine(0, "none of %s has line records", text.Count(uint64(c.Functions), "function"))
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM705", Title: "no names", Severity: finding.Warning, Since: "0.1", Spec: "symbol_files: FUNC records",
			Doc: "There is neither a FUNC nor a PUBLIC record: stacks show addresses only.",
			Bad: "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n" + check.Init, At: 0,
			Good: publicHead + check.Init,
		},
		Check: withCoverage(func(p *check.Pass, c *coverage.Coverage) {
			if c.Functions+c.Publics == 0 && c.Verdict != coverage.VariablesOnly && !c.NoCode {
				p.ReportLine(0, "no FUNC or PUBLIC record")
			}
		}),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM706", Title: "function without call frame information", Severity: finding.Note, Since: "0.1", Spec: coverageSpec,
			Doc: `Other functions of the module have call frame information, and this one has none, or
none for a part of it. Readers guess the caller of a frame there. Assembly without
.cfi directives is like that. A PUBLIC has no size: it is counted up to the next
record. With --binary, code with neither FUNC nor PUBLIC is found, too.`,
			Bad: check.HeadFunc + check.Init + "FUNC 2000 10 0 g\n2000 10 1 0\n", At: 5,
			Good: check.HeadFunc + check.Init,
		},
		Check: withCoverage(checkFunctions),
	},
}

// withCoverage returns a check of the measured coverage.
func withCoverage(judge func(*check.Pass, *coverage.Coverage)) check.Func {
	return check.AtEnd(func(p *check.Pass) { judge(p, p.Result.Coverage) })
}

func checkNoCFI(p *check.Pass, c *coverage.Coverage) {
	if c.Functions+c.Publics == 0 || anyCFI(c) || onlyStartup(c, p.Facts) {
		return
	}
	switch {
	case c.Blocks > 0:
		p.ReportLine(0, "none of %d STACK CFI blocks has rules for .cfa and .ra", c.Blocks)
	case c.WinBlocks > 0:
		p.ReportLine(0, "none of %d STACK WIN records is usable", c.WinBlocks)
	default:
		p.ReportLine(0, "no STACK CFI or STACK WIN record")
	}
}

func checkMinCFI(p *check.Pass, c *coverage.Coverage) {
	limit := p.Options.MinCFI
	switch {
	case limit <= 0, c.NoCode:
		return
	case c.All.Total == 0 && !anyCFI(c):
		p.ReportLine(0, "there is no call frame information, want %v %%", limit)
		return
	case c.All.Total == 0:
		p.ReportLine(0, "%s; want %v %%", Unmeasured, limit)
		return
	}
	for _, s := range demanded(c) {
		if below(s.Share, limit) {
			p.ReportLine(0, "%s of %s, want %v %%%s", s.Share, s.Of, limit, largest(c))
			return
		}
	}
}

// largest describes the function with the most bytes without call frame information.
func largest(c *coverage.Coverage) string {
	if len(c.Worst) == 0 {
		return ""
	}
	g := &c.Worst[0]
	return fmt.Sprintf("; the largest piece without has %s, at %x%s", text.Count(g.Missing, "byte"), g.RVA, g.Label())
}

func checkMinLines(p *check.Pass, c *coverage.Coverage) {
	limit := p.Options.MinLines
	switch {
	case limit <= 0:
	case c.Functions == 0:
		p.ReportLine(0, "there are no functions with lines, want %v %%", limit)
	case below(c.Lines, limit):
		p.ReportLine(0, "%s of function bytes have lines, want %v %%", c.Lines, limit)
	}
}

// checkFunctions reports each function that lacks call frame information, unless
// all do.
func checkFunctions(p *check.Pass, c *coverage.Coverage) {
	if !anyCFI(c) {
		return
	}
	codeShare(p, c.Known, func(g *coverage.Gap) {
		switch g.Kind {
		case coverage.GapFunc:
			p.ReportAt(g.Line, g.RVA, "%#x of %#x bytes without call frame information", g.Missing, g.Size)
		case coverage.GapPublic:
			p.ReportAt(g.Line, g.RVA, "%#x of %#x bytes from this PUBLIC on without call frame information", g.Missing, g.Size)
		case coverage.GapCode:
			p.ReportAt(0, g.RVA, "%#x bytes at %x without FUNC, PUBLIC and call frame information", g.Missing, g.RVA)
		}
	})
}
