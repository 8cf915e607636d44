package follow

// saveEvidence decides which findings about the caller's registers count. Only in code that is called is the return
// address known to be on the stack, and do registers hold the caller's values. Code that is only jumped to, such as
// GHC's, has its own convention. Code is called if a call leads to it, if it is exported, if it returns, or if code
// that is called jumps to it. None of this is needed if the block's first rule is the rule of a function that was
// just called.
type saveEvidence struct {
	found []foundSave
	jumps map[uint64][]uint64 // by block: the addresses that it jumps to
	roots []uint64            // blocks that return
}

// foundSave is a finding about a block.
type foundSave struct {
	block uint64
	save  *saveMismatch
	sure  bool // the block's first rule is the rule of a function that was just called
}

// add records the evidence from a block that was just checked.
func (e *saveEvidence) add(f *follower, block uint64) {
	if f.save != nil {
		_, reg, off := f.ruleAt(0)
		e.found = append(e.found, foundSave{block, f.save, reg == frameSP && off == f.cpu.entry})
	}
	for target := range f.leaves {
		if target == 0 {
			e.roots = append(e.roots, block)
			continue
		}
		if e.jumps == nil {
			e.jumps = map[uint64][]uint64{}
		}
		e.jumps[block] = append(e.jumps[block], target)
	}
}

// report reports the findings about blocks that are sure or called.
func (e *saveEvidence) report(f *follower, bin *Binary, report func(Finding)) {
	if len(e.found) == 0 {
		return
	}
	called := e.called(f, bin)
	for _, found := range e.found {
		if found.sure || called[found.block] {
			f.stats.WrongSaves++
			report(found.save.finding())
		}
	}
}

// called returns the blocks that are called.
func (e *saveEvidence) called(f *follower, bin *Binary) map[uint64]bool {
	called := map[uint64]bool{}
	next := e.roots
	add := func(addr uint64) {
		if b := f.table.Block(cfiRVA(addr - f.base)); b != nil {
			next = append(next, f.base+uint64(b.RVA))
		}
	}
	for addr := range f.calls {
		add(addr)
	}
	bin.Exported(add)
	for len(next) > 0 {
		block := next[len(next)-1]
		next = next[:len(next)-1]
		if called[block] {
			continue
		}
		called[block] = true
		for _, target := range e.jumps[block] {
			add(target)
		}
	}
	return called
}
