package lint

import (
	"slices"

	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// rulesField is the number of the field at which rules begin.
func rulesField(r *symfmt.Record) int {
	if r.Kind == symfmt.KindCFIInit {
		return 5
	}
	return 3
}

// check is a rule's function for runs.
type checkFunc = func(p *Pass) (func(*symfmt.Record), func())

// perRecord checks records one by one.
func perRecord(f func(p *Pass, r *symfmt.Record)) checkFunc {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		return func(r *symfmt.Record) { f(p, r) }, nil
	}
}

// oddRow reports an oddity of a row's address, which the message may have.
func oddRow(o facts.Oddity, message string) checkFunc {
	withRVA := slices.Contains([]facts.Oddity{facts.OddBackwards, facts.OddSame, facts.OddNothing}, o)
	return perRecord(func(p *Pass, r *symfmt.Record) {
		switch {
		case p.CFI.Odd&o == 0:
		case withRVA:
			p.Report(r, 2, message, r.RVA)
		default:
			p.Report(r, 2, "%s", message)
		}
	})
}

// faultRule reports faults of a record's text.
func faultRule(of func(*facts.RuleSet) []facts.RuleFault) checkFunc {
	return perRecord(func(p *Pass, r *symfmt.Record) {
		for _, f := range of(p.CFI.Set) {
			p.Report(r, rulesField(r)+f.Field, "%s", f.Text)
		}
	})
}

func checkSpace(p *Pass, r *symfmt.Record) {
	rva, size, field := r.RVA, r.Size, 3
	if r.Kind == symfmt.KindStackWin {
		rva, size = r.Win.RVA, r.Win.CodeSize
	}
	if p.Arch == nil || p.Arch.PtrSize > 4 {
		return
	}
	if end := uint64(rva) + size; end > 1<<32 || end < uint64(rva) {
		p.Report(r, field, "%#x bytes at %x end beyond 32 bits, the address size of %s", size, rva, p.Arch.Name)
	}
}

// checkComplete reports blocks in which a rule is missing at first, at their
// INIT: a row may give it later.
func checkComplete(p *Pass) (func(*symfmt.Record), func()) {
	var block facts.Block
	var missing string
	reg := cfi.NoReg
	report := func(behind string) {
		if missing != "" {
			p.ReportAt(int(block.Line), block.RVA, "no rule for %s at %x%s", missing, block.RVA, behind)
		}
		missing = ""
	}
	return func(r *symfmt.Record) {
		c := &p.CFI
		switch {
		case r.Kind == symfmt.KindCFIInit:
			report(", nor in a row")
			if (c.NoCFA || c.NoRA) && r.Size > 0 && c.Set.Fault == nil {
				block = *p.Blocks.At(c.Block)
				missing, reg = ".cfa", cfi.CFA
				if !c.NoCFA {
					missing, reg = ".ra", cfi.RA
				}
			}
		case missing != "" && facts.InForce(c.Row, reg) != nil:
			report(", only from " + hexRVA(c.At) + " on")
		}
	}, func() { report(", nor in a row") }
}

func checkBase(p *Pass, r *symfmt.Record) {
	if p.CFI.Odd&facts.OddLostBase != 0 {
		name := p.CFI.Sets.Names.Name(facts.InForce(p.CFI.Row, cfi.CFA).Saved)
		p.Report(r, rulesField(r), ".cfa is computed from %s, which no rule restores", name)
	}
}

func checkScratch(p *Pass, r *symfmt.Record) {
	if p.CFI.Odd&facts.OddScratch == 0 {
		return
	}
	name := p.CFI.Sets.Names.Name(facts.InForce(p.CFI.Row, cfi.CFA).Scratch)
	p.Report(r, rulesField(r), ".cfa is computed from %s, which calls do not preserve", name)
}

// blockOverlaps reports blocks that have the same range, or overlap.
var blockOverlaps = checkClashes(func(p *Pass) *bool { return &p.blocksCompared }, blockClashes, "SYM402", "SYM403")
