package follow

import "slices"

// verdictOf is the result of a walk through a block.
type verdictOf struct {
	wrong    *mismatch
	compared int
	anchored int
	not      [reasonCount]int
	save     *saveMismatch
	saves    int // number of compared rules of the caller's registers
}

// check follows a block, whose code begins at start, and compares its rules. late is true if the whole block may be
// wrong, and only a call from elsewhere can show it.
func (f *follower) check(b *Block, code []byte, start uint64) (wrong *mismatch, late bool) {
	f.b, f.code, f.start, f.save = b, code, start, nil
	f.stats.Blocks++
	_, reg, off := f.ruleAt(0)
	if reg < 0 {
		f.abstain(reasonStart)
		return nil, false
	}
	if f.outOfStep() {
		f.abstain(reasonStep)
		return nil, false
	}
	f.ruled = f.ruledSaves(b)
	f.walk(0, false)
	if f.self {
		f.abstain(reasonSelfCall)
		return nil, false
	}
	if f.long {
		f.abstain(reasonLong)
		return nil, false
	}
	v := f.compare()
	odd := reg == frameSP && off != f.cpu.entry
	if odd && v.wrong == nil {
		v.wrong, late = f.byExits(off)
	} else if odd {
		// The first rule itself may be wrong.
		first := v
		f.walk(f.cpu.entry, true)
		if v = f.compare(); v.wrong == nil || v.wrong.count >= first.wrong.count {
			v = first
		}
	} else if v.wrong == nil {
		f.confirm()
	}
	f.count(&v)
	if f.save = v.save; v.wrong != nil && !late {
		f.save = nil // if the CFA is wrong, so is everything else
	}
	return v.wrong, late
}

// outOfStep reports whether a function begins inside what would be the block's first instruction: GHC's FDEs begin a
// byte before the code, for walkers that look up the byte before a return address.
func (f *follower) outOfStep() bool {
	if f.begins == nil {
		return false
	}
	var s frameState
	st := f.cpu.step(f.code, f.start, &s)
	return st.size > 1 && f.begins(f.start+1, f.start+uint64(st.size))
}

// compare compares the rules with the state at each instruction followed.
func (f *follower) compare() (v verdictOf) {
	v.not = f.bad
	slices.Sort(f.order)
	for _, at := range f.order {
		s := &f.state[f.index[at]-1]
		row, reg, off := f.ruleAt(at)
		switch {
		case row != nil && f.table.places[row.rules[1]].Kind == PlaceUndef:
			v.not[reasonOutermost]++
		case reg < 0:
			v.not[reasonForm]++
		case reg == frameFP && s.caller && !s.knows(reg):
			v.compared++
			v.add(f.sites[at], mismatch{addr: f.start + uint64(at), reg: f.cpu.regs[reg], rule: off, line: row.Line, lost: true})
		case !s.knows(reg):
			v.not[reasonRegister]++
		default:
			v.compared++
			if s.anchored {
				v.anchored++
			}
			if int64(s.off[reg]) != off {
				v.add(f.sites[at], mismatch{addr: f.start + uint64(at), reg: f.cpu.regs[reg], want: int64(s.off[reg]), rule: off, line: row.Line})
			} else {
				f.compareSaves(&v, at, row, s)
			}
		}
	}
	for _, c := range f.clash {
		if row, reg, off := f.ruleAt(c.at); reg == frameSP && off == int64(c.have) {
			v.add(f.sites[c.at], mismatch{addr: f.start + uint64(c.at), reg: f.cpu.regs[reg], want: int64(c.have), rule: int64(c.came), line: row.Line,
				joined: true})
		}
	}
	if v.wrong != nil {
		v.wrong.of = v.compared
	}
	if v.save != nil {
		v.save.of = v.compared
	}
	return v
}

// add counts a mismatch and keeps the first. call means that the mismatch is at a call.
func (v *verdictOf) add(call bool, m mismatch) {
	if v.wrong == nil {
		v.wrong = &m
	}
	v.wrong.count++
	if call {
		v.wrong.calls++
	}
}

// byExits checks a block with consistent rules against what must hold where control leaves it: a function returns with
// the stack pointer of its first instruction, and the target of a jump has its own rule. late is true if no exit
// decides.
func (f *follower) byExits(off int64) (wrong *mismatch, late bool) {
	var by int64
	seen := 0
	for _, e := range f.exits {
		want, ok := f.entered(e.target)
		if !ok {
			continue
		}
		d := int64(e.off) - want
		if d == 0 || seen > 0 && d != by {
			return nil, false
		}
		by = d
		seen++
	}
	if seen == 0 {
		return nil, true
	}
	m := f.whole(off, off-by)
	m.why, m.byExits = "the CFA is also known where it returns or jumps to other code", true
	return m, false
}

// confirm records the blocks that a correct function jumps to, if their first rules agree with the stack at the jump.
func (f *follower) confirm() {
	for _, e := range f.exits {
		if off, ok := f.entered(e.target); ok && off == int64(e.off) {
			f.confirmed[e.target] = true
		}
	}
}

// whole returns the finding that all rules of a block are off by the same amount.
func (f *follower) whole(off, want int64) *mismatch {
	row, _, _ := f.ruleAt(0)
	return &mismatch{addr: f.start, reg: f.cpu.regs[frameSP], want: want, rule: off, line: row.Line, count: len(f.order), of: len(f.order), calls: len(f.sites)}
}

// entered returns the CFA minus the stack pointer that is expected where control leaves a block: at a return (target
// 0), or at the target of a jump. Code without rules is taken for the procedure linkage table.
func (f *follower) entered(target uint64) (off int64, ok bool) {
	rva := cfiRVA(target - f.base)
	if target == 0 {
		return f.cpu.entry, true
	}
	b := f.table.Block(rva)
	if b == nil {
		return f.cpu.entry, true
	}
	if b == f.b {
		return 0, false
	}
	row := f.table.Row(b, rva)
	if row == nil {
		return 0, false
	}
	p := f.table.cfa(row)
	ok = p.Kind == PlaceSum && p.Base >= 0 && int(p.Base) < len(f.numReg) && f.numReg[p.Base] == frameSP
	return p.Off, ok
}

func (f *follower) abstain(r reason) {
	f.stats.Abstained++
	f.stats.AbstainedBy[r.String()]++
}

func (f *follower) count(v *verdictOf) {
	f.stats.Instructions += v.compared
	f.stats.Anchored += v.anchored
	f.stats.Saves += v.saves
	worst, not := reasonNone, 0
	for r, n := range v.not {
		if n > 0 {
			f.stats.NotCompared[reason(r).String()] += n
			if n > not {
				worst, not = reason(r), n
			}
		}
	}
	switch {
	case v.wrong != nil:
		f.stats.Wrong++
	case v.compared == 0:
		f.abstain(worst)
	case not > 0:
		f.stats.Partly++
	default:
		f.stats.Followed++
	}
}
