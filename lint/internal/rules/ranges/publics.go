package ranges

import (
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

var onPublic = []symfmt.Kind{symfmt.KindPublic}

var publicRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM320",
			Title:    "PUBLIC at the start of a FUNC",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: PUBLIC records",
			Doc: `Readers use the FUNC and never the PUBLIC, which only costs bytes: a tenth of
libxul.sym was such records.`,
			Cites: []string{"Mozilla bug 1539574"},
			Bad:   check.Head + "FUNC 1000 10 0 f\nPUBLIC 1000 0 f\nPUBLIC 2000 0 g\n",
			Good:  check.Head + "FUNC 1000 10 0 f\nPUBLIC 2000 0 g\n",
			At:    3,
		},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return nil, func() {
				publicsIn(p.Facts, func(pub *facts.Public, f *facts.Func) {
					if pub.RVA == f.RVA {
						p.ReportAt(int(pub.Line), pub.RVA, "PUBLIC at %x, where the FUNC of line %d starts", pub.RVA, f.Line)
					}
				})
			}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM321",
			Title:    "PUBLIC inside a FUNC",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symbol_files: PUBLIC records",
			Doc: `Readers use the FUNC and never the PUBLIC: a label inside a function, or a function
whose FUNC is missing because the one before is too long. Kernels have symbols without
a size for such labels.`,
			Cites: []string{"blazesym#1571"},
			Bad:   check.Head + "FUNC 1000 10 0 f\nPUBLIC 1008 0 g\n",
			Good:  check.Head + "FUNC 1000 10 0 f\nPUBLIC 1010 0 g\n",
			At:    3,
		},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return nil, func() {
				publicsIn(p.Facts, func(pub *facts.Public, f *facts.Func) {
					if pub.RVA != f.RVA {
						p.ReportAt(int(pub.Line), pub.RVA, "PUBLIC at %x, inside the FUNC [%x, %x) of line %d", pub.RVA, f.RVA, f.End(), f.Line)
					}
				})
			}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM322",
			Title:    "PUBLIC twice at one address",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: PUBLIC records; Breakpad: ParsePublicSymbol",
			Doc: `Readers keep one of the names. Breakpad counts the second as an error, calls the file
corrupt, and gives up the rest of it after 100 of them. The format has "PUBLIC m" for
several symbols at one address, with one name.`,
			Cites: []string{"Mozilla bug 1539574"},
			Bad:   check.Head + "PUBLIC 1000 0 f\nPUBLIC 1000 0 g\n",
			Good:  check.Head + "PUBLIC m 1000 0 f\n",
			At:    3,
		},
		Check: duplicatePublics,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM323",
			Title:    "PUBLICs are not ordered by address",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symtool: order of what it writes",
			Doc:      `Readers sort them. Reported once; symtool convert sorts.`,
			Bad:      check.Head + "PUBLIC 2000 0 g\nPUBLIC 1000 0 f\n",
			Good:     check.Head + "PUBLIC 1000 0 f\nPUBLIC 2000 0 g\n",
			At:       3,
		},
		On:    onPublic,
		Check: check.Ascending,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM324",
			Title:    "PUBLIC at address 0",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "Breakpad: ParsePublicSymbol",
			Doc: `Breakpad skips it. The address is that of the module's headers: usually the symbol
has no address of its own. In a relocatable file, and in some images without an
operating system, it is code.`,
			Cites: []string{"zephyr#109003", "fix-stacks#41"},
			Bad:   check.Head + "PUBLIC 0 0 f\n",
			Good:  check.Head + "PUBLIC 1000 0 f\n",
			At:    2,
		},
		On: onPublic,
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if r.RVA == 0 {
					p.Report(r, facts.AddressField(r), "PUBLIC at address 0")
				}
			}, nil
		},
	},
}

// publicsIn calls found for each PUBLIC inside a FUNC. If several FUNCs contain the PUBLIC, it
// passes the one with the highest start.
func publicsIn(f *facts.Facts, found func(*facts.Public, *facts.Func)) {
	if f.Publics.Len() == 0 {
		return
	}
	funcs, next := f.FuncsByRVA(), 0
	for _, pub := range f.PublicsByRVA().All {
		for next < funcs.Len() && funcs.At(next).RVA <= pub.RVA {
			next++
		}
		for k := next - 1; k >= 0 && k >= next-facts.MaxShared; k-- {
			if fn := funcs.At(k); pub.RVA-fn.RVA < symfmt.RVA(fn.Size) {
				found(pub, fn)
				break
			}
		}
	}
}

func duplicatePublics(p *check.Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		var first *facts.Public
		for _, pub := range p.PublicsByRVA().All {
			if first == nil || first.RVA != pub.RVA {
				first = pub
				continue
			}
			p.ReportAt(int(pub.Line), pub.RVA, "PUBLIC at %x is in line %d, too", pub.RVA, first.Line)
		}
	}
}
