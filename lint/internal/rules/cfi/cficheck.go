package cfi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// rulesField returns the number of the field where rules begin.
func rulesField(r *symfmt.Record) int {
	if r.Kind == symfmt.KindCFIInit {
		return 5
	}
	return 3
}

// oddRow returns a check that reports an oddity. The message may contain the row's address.
func oddRow(o facts.Oddity, message string) check.Func {
	withRVA := slices.Contains([]facts.Oddity{facts.OddBackwards, facts.OddSame, facts.OddNothing}, o)
	return check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
		switch {
		case p.CFI.Odd&o == 0:
		case withRVA:
			p.Report(r, 2, message, r.RVA)
		default:
			p.Report(r, 2, "%s", message)
		}
	})
}

// faultRule returns a check that reports faults of a record's text.
func faultRule(of func(*facts.RuleSet) []facts.RuleFault) check.Func {
	return check.PerRecord(func(p *check.Pass, r *symfmt.Record) {
		for _, f := range of(p.CFI.Set) {
			p.Report(r, rulesField(r)+f.Field, "%s", f.Text)
		}
	})
}

func checkSpace(p *check.Pass, r *symfmt.Record) {
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

// checkComplete reports, at their INIT, blocks whose INIT lacks a rule, even if a row provides it
// later.
func checkComplete(p *check.Pass) (func(*symfmt.Record), func()) {
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
			report(fmt.Sprintf(", only from %x on", c.At))
		}
	}, func() { report(", nor in a row") }
}

func checkBase(p *check.Pass, r *symfmt.Record) {
	if p.CFI.Odd&facts.OddLostBase != 0 {
		name := p.CFI.Sets.Names.Name(facts.InForce(p.CFI.Row, cfi.CFA).Saved)
		p.Report(r, rulesField(r), ".cfa is computed from %s, which no rule restores", name)
	}
}

func checkScratch(p *check.Pass, r *symfmt.Record) {
	if p.CFI.Odd&facts.OddScratch == 0 {
		return
	}
	name := p.CFI.Sets.Names.Name(facts.InForce(p.CFI.Row, cfi.CFA).Scratch)
	p.Report(r, rulesField(r), ".cfa is computed from %s, which calls do not preserve", name)
}

// blockOverlaps reports blocks that have the same range, or overlap.
var blockOverlaps = checkClashes(blockClashes, "SYM402", "SYM403")

// checkNameless reports blocks that begin where no name is known: outside any FUNC, and with no
// PUBLIC between them and the end of the last FUNC.
func checkNameless(p *check.Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		if p.Functions.Len()+p.Publics.Len() == 0 {
			return // another rule reports a file without names
		}
		names := namedCode{funcs: p.FuncsByRVA(), publics: p.PublicsByRVA()}
		blocks := facts.SortTable(&p.Blocks, func(a, b *facts.Block) int { return cmp.Compare(a.RVA, b.RVA) })
		for _, b := range blocks.All {
			if b.Size > 0 && !names.has(b.RVA) {
				p.ReportAt(int(b.Line), b.RVA, "no FUNC or PUBLIC for %x to %x", b.RVA, uint64(b.RVA)+b.Size)
			}
		}
	}
}

// namedCode visits the code in order of address and determines what has a name. A PUBLIC names
// everything up to the next FUNC.
type namedCode struct {
	funcs                facts.Sorted[facts.Func]
	publics              facts.Sorted[facts.Public]
	nextFunc, nextPublic int        // how many begin at or below the last address
	last                 symfmt.RVA // highest byte of these FUNCs
	any                  bool       // there is at least one such FUNC
}

// has reports whether an address, which must not be below the last one, has a name.
func (n *namedCode) has(rva symfmt.RVA) bool {
	for ; n.nextFunc < n.funcs.Len() && n.funcs.At(n.nextFunc).RVA <= rva; n.nextFunc++ {
		if f := n.funcs.At(n.nextFunc); f.Size > 0 {
			n.last, n.any = max(n.last, f.Last()), true
		}
	}
	if n.any && rva <= n.last {
		return true
	}
	for n.nextPublic < n.publics.Len() && n.publics.At(n.nextPublic).RVA <= rva {
		n.nextPublic++
	}
	return n.nextPublic > 0 && (!n.any || n.publics.At(n.nextPublic-1).RVA > n.last)
}
