// Package ranges implements the rules of the family ranges: where functions, lines and inlined
// calls are.
package ranges

import (
	"slices"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

var onFunc = []symfmt.Kind{symfmt.KindFunc}

// Rules are the rules of the family, by ID.
var Rules = slices.Concat(rangeRules, lineRules, inlineRules, publicRules, []*check.Rule{orphanRule, isaBitRule})

var rangeRules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID:       "SYM301",
			Title:    "FUNC without bytes",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records",
			Doc: `Breakpad and rust-minidump drop a function of size 0 together with its lines. The
dumper did not know the end: a PUBLIC says the same and is kept.`,
			Bad:  check.Head + "FUNC 1000 0 0 f\nFUNC 2000 10 0 g\n",
			Good: check.Head + "FUNC 1000 10 0 f\nFUNC 2000 10 0 g\n",
			At:   2,
		},
		On: onFunc,
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				if r.Size == 0 && r.RVA <= lastAddress(p.Arch) { // otherwise see SYM305
					p.Report(r, facts.AddressField(r)+1, "function at %x has size 0", r.RVA)
				}
			}, nil
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM302",
			Title:    "FUNC twice for the same code",
			Severity: finding.Warning,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records",
			Doc: `Readers keep one of them, and not the same one: the name of a frame depends on the
reader. Where several symbols share code the format has "FUNC m", with one name.`,
			Cites: []string{"symbolic#808"},
			Bad:   check.Head + "FUNC 1000 10 0 f\nFUNC 1000 10 0 g\n",
			Good:  check.Head + "FUNC m 1000 10 0 f\n",
			At:    3,
		},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return nil, func() {
				funcOverlaps(p.Facts, func(f, g *facts.Func) {
					if f.RVA == g.RVA && f.Size == g.Size {
						p.ReportAt(int(g.Line), g.RVA, "function at %x of %#x bytes is also in line %d", g.RVA, g.Size, f.Line)
					}
				})
			}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM303",
			Title:    "FUNC overlaps another",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records",
			Doc: `Breakpad drops the one that comes later in the file, rust-minidump the one at the
higher address, with all its lines: frames there get the wrong function. Usually an
end is wrong, or a function in several parts was written as one.`,
			Cites: []string{"dump_syms#27"},
			Bad:   check.Head + "FUNC 1000 10 0 f\nFUNC 1008 10 0 g\n",
			Good:  check.Head + "FUNC 1000 8 0 f\nFUNC 1008 10 0 g\n",
			At:    3,
		},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return nil, func() {
				funcOverlaps(p.Facts, func(f, g *facts.Func) {
					if f.RVA != g.RVA || f.Size != g.Size {
						p.ReportAt(int(g.Line), g.RVA, "function [%x, %x) overlaps [%x, %x) of line %d", g.RVA, g.End(), f.RVA, f.End(), f.Line)
					}
				})
			}
		},
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM304",
			Title:    "FUNCs are not ordered by address",
			Severity: finding.Note,
			Since:    "0.1",
			Spec:     "symtool: order of what it writes",
			Doc: `Readers sort them. Two dumps of one binary are easier to compare when both have the
same order. Reported once; symtool convert sorts.`,
			Bad:  check.Head + "FUNC 2000 10 0 g\nFUNC 1000 10 0 f\n",
			Good: check.Head + "FUNC 1000 10 0 f\nFUNC 2000 10 0 g\n",
			At:   3,
		},
		On:    onFunc,
		Check: check.Ascending,
	},
	{
		Rule: &finding.Rule{
			ID:       "SYM305",
			Title:    "address that the CPU does not have",
			Severity: finding.Error,
			Since:    "0.1",
			Spec:     "symbol_files: FUNC records",
			Doc: `The very last addresses (-1, -2) mark functions that the linker removed: the dumper
took the mark for an address. On a 32-bit CPU an address over 32 bits is below the
module's start: the dumper subtracted a base that was too high. No frame is there. A
function that extends up to there ends at the mark; ranges up to 2^64-1 have made
Breakpad's range maps overflow.`,
			Cites: []string{"symbolic#937", "gimli#791", "llvm-mos#567", "Breakpad f80f2888"},
			Bad:   check.Head + "FUNC 2000 10 0 g\nFUNC fffffffffffffffe 1 0 f\n",
			Good:  check.Head + "FUNC 1000 10 0 f\nFUNC 2000 10 0 g\n",
			At:    3,
		},
		On: []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic},
		Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
			return func(r *symfmt.Record) {
				most := lastAddress(p.Arch)
				switch {
				case r.RVA > most:
					p.Report(r, facts.AddressField(r), "address %x, want at most %x", r.RVA, most)
				case r.Kind == symfmt.KindFunc && r.Size > uint64(most-r.RVA)+1:
					p.Report(r, facts.AddressField(r)+1, "function [%x, %x) ends beyond %x", r.RVA, r.RVA+symfmt.RVA(r.Size), most)
				}
			}, nil
		},
	},
}

// marks is how many of the last addresses are taken for markers: no module ends there.
const marks = 1 << 12

// lastAddress returns the highest address where code may be. Symbol files of kernels have absolute
// addresses, in the upper half.
func lastAddress(a *arch.Arch) symfmt.RVA {
	last := ^symfmt.RVA(0)
	if a != nil && a.PtrSize == 4 {
		last = 1<<32 - 1
	}
	return last - marks
}

// funcOverlaps calls found for pairs of functions that share bytes. f is, among the functions at
// lower addresses, the one with the highest end. If both have the same address, f is the first in
// the file.
func funcOverlaps(all *facts.Facts, found func(f, g *facts.Func)) {
	var top *facts.Func
	for _, g := range all.FuncsByRVA().All {
		if g.Size == 0 {
			continue
		}
		if top != nil && g.RVA-top.RVA < symfmt.RVA(top.Size) {
			found(top, g)
		}
		if top == nil || g.Last() > top.Last() {
			top = g
		}
	}
}

var isaBitRule = &check.Rule{
	Rule: &finding.Rule{
		ID:       "SYM326",
		Title:    "address with the instruction set bit",
		Severity: finding.Warning,
		Since:    "0.1",
		Spec:     "symbol_files: FUNC records",
		Doc: `Bit 0 of an ARM function's symbol says that its code is Thumb, and is not part of the
address. Walkers look addresses up with the bit cleared: they do not find the
function's first instruction, and a call frame information block at the true address
has no name there.`,
		Cites: []string{"Breakpad 89947e7d"},
		Bad:   armModule + "FUNC 1001 10 0 f\n",
		Good:  armModule + "FUNC 1000 10 0 f\n",
		At:    2,
	},
	On: []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic},
	Check: func(p *check.Pass) (func(*symfmt.Record), func()) {
		return func(r *symfmt.Record) {
			if p.Arch != nil && uint64(r.RVA)&p.Arch.ISABit != 0 {
				p.Report(r, facts.AddressField(r), "address %x, want %x", r.RVA, uint64(r.RVA)&^p.Arch.ISABit)
			}
		}, nil
	},
}

// armModule begins an example.
const armModule = "MODULE Linux arm 0123456789ABCDEF0123456789ABCDEF0 a\n"
