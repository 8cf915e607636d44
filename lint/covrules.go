package lint

import (
	"sync"

	"github.com/symtool/symtool/symfmt"
)

// publicHead is a file without functions.
const publicHead = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nPUBLIC 1000 0 f\n"

var coverageRules = sync.OnceValue(func() []*Rule {
	return []*Rule{
		{
			ID: "SYM701", Title: "no call frame information", Severity: Warning, Since: "0.1", Spec: cfiSpec,
			Doc: `There are functions, and neither STACK CFI nor STACK WIN that readers can use: stacks
through this module are guessed. A debug file that was split off with objcopy
--only-keep-debug has none: dump it together with the binary.`,
			Cites: []string{"dump_syms#274", "Mozilla bug 1717909", "symbolic#783"},
			Bad:   amd64Head, At: 0,
			Good:  amd64Head + goodInit,
			Check: withCoverage(checkNoCFI),
		},
		{
			ID: "SYM702", Title: "less call frame information than demanded", Severity: Error, Since: "0.1", Spec: "symtool: --min-cfi",
			Doc: `The share of the functions' bytes that have call frame information, or that of their
first bytes, is under the limit. Without functions it is about public symbols. With
--binary the share of return addresses must reach the limit, too: these are where
a walker looks for rules, in each frame but the first.`,
			With: func(o *Options) { o.MinCFI = 60 },
			Bad:  publicHead + "PUBLIC 2000 0 g\n" + goodInit, At: 0,
			Good:  publicHead + goodInit,
			Check: withCoverage(checkMinCFI),
		},
		{
			ID: "SYM703", Title: "fewer lines than demanded", Severity: Error, Since: "0.1", Spec: "symtool: --min-lines",
			Doc:  "The share of the functions' bytes that have line records is under the limit.",
			With: func(o *Options) { o.MinLines = 99 },
			Bad:  "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n1000 20 1 0\n" + goodInit, At: 0,
			Good:  amd64Head + goodInit,
			Check: withCoverage(checkMinLines),
		},
		{
			ID: "SYM704", Title: "no lines", Severity: Note, Since: "0.1", Spec: "symbol_files: Line records",
			Doc: `No function has a line record: stacks show names of functions without files and
lines. The binary was built or dumped without debug information.`,
			Bad: "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFUNC 1000 40 0 f\n" + goodInit, At: 0,
			Good: amd64Head + goodInit,
			Check: withCoverage(func(p *Pass, c *Coverage) {
				if c.Functions > 0 && c.WithLines.Covered == 0 {
					p.ReportLine(0, "none of %s has line records", plural(uint64(c.Functions), "function"))
				}
			}),
		},
		{
			ID: "SYM705", Title: "no names", Severity: Warning, Since: "0.1", Spec: "symbol_files: FUNC records",
			Doc: "There is neither a FUNC nor a PUBLIC record: stacks show addresses only.",
			Bad: "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n" + goodInit, At: 0,
			Good: publicHead + goodInit,
			Check: withCoverage(func(p *Pass, c *Coverage) {
				if c.Functions+c.Publics == 0 {
					p.ReportLine(0, "there is no FUNC and no PUBLIC record")
				}
			}),
		},
		{
			ID: "SYM706", Title: "function without call frame information", Severity: Note, Since: "0.1", Spec: cfiSpec,
			Doc: `Other functions of the module have call frame information, and this has none at all
or none for a part of it. Readers guess the caller of a frame there. Assembly
without .cfi directives is like that.`,
			Bad: amd64Head + goodInit + "FUNC 2000 10 0 g\n2000 10 1 0\n", At: 5,
			Good:  amd64Head + goodInit,
			Check: checkFunctions,
		},
	}
})

// withCoverage checks what was measured.
func withCoverage(f func(*Pass, *Coverage)) checkFunc {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return nil, func() { f(p, p.report.Coverage) }
	}
}

func checkNoCFI(p *Pass, c *Coverage) {
	if c.Functions+c.Publics == 0 || c.anyCFI() {
		return
	}
	switch {
	case c.Blocks > 0:
		p.ReportLine(0, "none of %d STACK CFI blocks has rules for .cfa and .ra", c.Blocks)
	case c.WinBlocks > 0:
		p.ReportLine(0, "none of %d STACK WIN records is of use", c.WinBlocks)
	default:
		p.ReportLine(0, "there is no STACK CFI and no STACK WIN record")
	}
}

func checkMinCFI(p *Pass, c *Coverage) {
	limit := p.Options.MinCFI
	switch {
	case limit <= 0:
	case c.Functions == 0 && c.Public.below(limit):
		p.ReportLine(0, "%s of public symbols have call frame information, want %v %%", c.Public, limit)
	case c.Functions == 0 && c.Publics == 0 && !c.anyCFI():
		p.ReportLine(0, "there is no call frame information, want %v %%", limit)
	case c.Code.below(limit):
		p.ReportLine(0, "%s of function bytes have call frame information, want %v %%", c.Code, limit)
	case c.Entries.below(limit):
		p.ReportLine(0, "%s of functions have call frame information at their first byte, want %v %%", c.Entries, limit)
	case c.Calls != nil && c.Calls.below(limit):
		p.ReportLine(0, "%s of return addresses have call frame information, want %v %%", *c.Calls, limit)
	}
}

func checkMinLines(p *Pass, c *Coverage) {
	limit := p.Options.MinLines
	switch {
	case limit <= 0:
	case c.Functions == 0:
		p.ReportLine(0, "there are no functions with lines, want %v %%", limit)
	case c.Lines.below(limit):
		p.ReportLine(0, "%s of function bytes have lines, want %v %%", c.Lines, limit)
	}
}

// checkFunctions reports each function that lacks call frame information, unless
// all do.
func checkFunctions(p *Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if !p.report.Coverage.anyCFI() {
			return
		}
		known := p.report.Coverage.known
		for _, f := range p.Functions.All {
			if covered := known.in(f.RVA, f.Size); covered < f.Size {
				p.ReportAt(int(f.Line), f.RVA, "%#x of %#x bytes without call frame information", f.Size-covered, f.Size)
			}
		}
	}
}
