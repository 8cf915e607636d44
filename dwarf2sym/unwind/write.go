package unwind

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// writer converts rows to blocks and records. Rule sets are looked up by the rules that
// changed, so that most rows cost one look-up.
type writer struct {
	r      *reader
	table  symfmt.CFITable
	sets   map[string]internedRules // by key: all sets
	near   [1024]internedRules      // recent sets by hash, looked up before sets
	key    []byte                   // describes the record being made
	set    cfi.Rules                // storage of intern
	hash   uint64                   // of key
	room   int                      // bytes left for rule sets
	toPC   int                      // number of addresses at which expressions may still be evaluated
	mostPC int                      // the initial value of toPC

	taken  func(lo uint64) // if non-nil, called with the start of each row of an FDE
	pieces []codePiece     // what the FDE may cover, ascending
	open   bool            // there is a block to continue
	lo     uint64          // its start
	end    uint64          // end of its last row
	said   rowState        // rules in force in the block, as the records give them
	marks  symfmt.CFIMarks // in force in the block
	pc     uint64          // where the current row starts
	full   bool            // a limit ended this FDE
}

// internedRules is a numbered rule set.
type internedRules struct {
	key string
	id  symfmt.RuleID
}

// codePiece is a part of an FDE's code that no better FDE describes.
type codePiece struct {
	lo, hi uint64
	fde    int32
}

func (w *writer) init(r *reader, size int) {
	w.r = r
	w.sets = make(map[string]internedRules)
	w.room = 1<<16 + rulesFactor*size
	w.table.Rows = make([]symfmt.CFIRow, 0, size/8) // compilers write 7 to 9 bytes for a row
	w.toPC = maxPC
	if n := r.in.CodeBytes; n > 0 && n < maxPC {
		w.toPC = int(n)
	}
	w.mostPC = w.toPC
}

// start begins an FDE.
func (w *writer) start(pieces []codePiece) {
	w.pieces, w.open, w.full = pieces, false, false
}

// row takes the rules of the VM for [lo, hi), which follows the previous row.
func (w *writer) row(lo, hi uint64) {
	if w.taken != nil && lo < hi {
		w.taken(lo)
	}
	for len(w.pieces) > 0 {
		p := &w.pieces[0]
		if hi <= p.lo {
			return
		}
		if from, to := max(lo, p.lo), min(hi, p.hi); from < to {
			w.cover(from, to)
		}
		if hi < p.hi {
			return
		}
		w.close()
		w.pieces = w.pieces[1:]
	}
}

// cover writes what changes in [lo, hi).
func (w *writer) cover(lo, hi uint64) {
	vm := &w.r.vm
	w.pc = lo
	if w.open && vm.cur.cfa == w.said.cfa && vm.dirty.empty() && !w.full && vm.marks() == w.marks {
		w.end = hi
		return
	}
	slots := vm.cur.perPC
	if vm.cur.cfa.kind != rulePC && slots.empty() {
		w.emit(hi)
		return
	}
	for ; w.pc < hi; w.pc++ {
		if w.toPC == 0 {
			w.stop("%d addresses with expressions that depend on the pc", w.mostPC)
			return
		}
		w.toPC--
		w.r.stats.PerPC++
		vm.dirty = vm.dirty.with(slots)
		w.emit(w.pc + 1)
	}
	// The rules in force are those of the last address.
	vm.dirty = vm.dirty.with(slots)
}

// emit writes the record for the row from w.pc to hi, if one is needed.
func (w *writer) emit(hi uint64) {
	vm := &w.r.vm
	cfa := w.resolve(vm.cur.cfa)
	if w.full || !w.writable(cfa) {
		w.close()
		return
	}
	changed, init := vm.dirty, !w.open
	if init {
		w.said.clear()
		changed = vm.cur.set
		changed.add(slotRA)
		if !vm.cie.regs.spIsCFA && vm.cie.regs.sp >= 0 {
			changed.add(vm.cie.regs.sp)
		}
	}
	w.key, w.hash = append(w.key[:0], byte(vm.cie.regs.id)), 0
	if cfa != w.said.cfa {
		w.said.cfa = cfa
		w.addKey(0xff, cfa)
	}
	for i, m := range changed {
		for ; m != 0; m &= m - 1 {
			slot := 64*i + bits.TrailingZeros64(m)
			if rule := w.effect(slot); rule != w.said.regs[slot] {
				w.said.put(slot, rule)
				w.addKey(slot, rule)
			}
		}
	}
	vm.dirty = slotMask{}
	marks := vm.marks()
	if len(w.key) > 1 || init || marks != w.marks {
		id, ok := w.rules()
		if !ok {
			return
		}
		w.marks = marks
		w.record(id, init)
	}
	w.end = hi
}

// marks returns the marks of the current row.
func (vm *machine) marks() (m symfmt.CFIMarks) {
	if vm.cie.signal {
		m |= symfmt.MarkSignal
	}
	if vm.cie.keyB {
		m |= symfmt.MarkKeyB
	}
	if vm.cur.signed {
		m |= symfmt.MarkSigned
	}
	return m
}

// writable reports whether the CFA rule can be written.
func (w *writer) writable(cfa regRule) bool {
	switch cfa.kind {
	case ruleReg:
		return w.r.vm.cie.regs.slot(uint64(cfa.ref)) != 0
	case ruleExpr:
		return true
	}
	return false
}

// resolve evaluates a rule at w.pc if it depends on the pc.
func (w *writer) resolve(rule regRule) regRule {
	if rule.kind != rulePC {
		return rule
	}
	e := &w.r.eval
	out := e.at(rule.ref, w.pc)
	if x := &e.byPC[rule.ref]; x.err != nil {
		w.r.vm.lostAt(x.form, x.err)
		x.err = nil
	}
	return out
}

// effect returns a slot's rule in the form used in records; ruleNone means that nothing
// needs to be written.
func (w *writer) effect(slot int) regRule {
	cie := w.r.vm.cie
	rule, said := w.resolve(w.r.vm.cur.regs[slot]), w.said.regs[slot].kind != ruleNone
	if slot == slotRA {
		return returnAddress(cie, rule)
	}
	cfaIsSP := slot == cie.regs.sp && cie.regs.spIsCFA
	switch rule.kind {
	case ruleNone:
		switch {
		case cfaIsSP && said:
			return regRule{kind: ruleIs}
		case said, slot == cie.regs.sp && !cfaIsSP:
			return regRule{kind: ruleSame}
		}
	case ruleIs:
		if cfaIsSP && rule.val == 0 && !said {
			return regRule{}
		}
	case ruleUndef, ruleLost:
		if rule.kind == ruleUndef && !said && !cie.regs.saved.has(slot) {
			return regRule{}
		}
		return regRule{kind: ruleLost}
	}
	return rule
}

// returnAddress returns the effect of the return-address column's rule.
func returnAddress(cie *cieInfo, rule regRule) regRule {
	switch rule.kind {
	case ruleNone, ruleSame:
		if slot := cie.regs.slot(cie.ra); slot != 0 && slot != cie.regs.pc {
			return regRule{kind: ruleReg, ref: uint32(cie.ra)}
		}
		return regRule{kind: ruleLost}
	case ruleUndef:
		return regRule{kind: ruleEnd}
	}
	return rule
}

func (w *writer) addKey(slot int, rule regRule) {
	head := uint64(rule.ref)<<16 | uint64(rule.kind)<<8 | uint64(slot)
	w.key = binary.LittleEndian.AppendUint64(w.key, head)
	w.key = binary.LittleEndian.AppendUint64(w.key, uint64(rule.val))
	w.hash = (w.hash ^ head ^ uint64(rule.val)<<32) * 0x9e3779b97f4a7c15
	w.hash ^= w.hash >> 32
}

// rules returns the number of the rule set that w.key describes.
func (w *writer) rules() (symfmt.RuleID, bool) {
	near := &w.near[w.hash%uint64(len(w.near))]
	if near.key == string(w.key) {
		return near.id, true
	}
	known, ok := w.sets[string(w.key)]
	if !ok {
		if known, ok = w.intern(); !ok {
			return 0, false
		}
	}
	*near = known
	return known.id, true
}

// intern makes a new rule set.
func (w *writer) intern() (internedRules, bool) {
	rules := w.set[:0]
	for k := w.key[1:]; len(k) > 0; k = k[16:] {
		head, val := binary.LittleEndian.Uint64(k), int64(binary.LittleEndian.Uint64(k[8:]))
		rule := w.rule(int(head&0xff), regRule{kind: ruleKind(head >> 8), ref: uint32(head >> 16), val: val})
		w.room -= rule.Expr.Size()
		rules = append(rules, rule)
	}
	if w.room < 0 {
		w.stop("rule sets of more than %d times the size of the sections", rulesFactor)
		return internedRules{}, false
	}
	w.set = rules
	known := internedRules{string(w.key), w.table.Rules.Add(rules)}
	w.sets[known.key] = known
	return known, true
}

// rule returns a slot's rule, or the CFA's, as a value.
func (w *writer) rule(slot int, rule regRule) cfi.Rule {
	regs, e := w.r.vm.cie.regs, &w.r.eval
	reg := cfi.CFA
	if slot != 0xff {
		reg = regs.regs[slot]
	}
	switch rule.kind {
	case ruleSame:
		e.build.Value(reg)
	case ruleLost:
		return cfi.Rule{Reg: reg, Expr: regs.table.Undef()}
	case ruleEnd:
		e.build.Const(cfi.EndOfStack)
	case ruleAt:
		e.build.Sum(cfi.CFA, rule.val)
		e.build.Apply('^')
	case ruleIs:
		e.build.Sum(cfi.CFA, rule.val)
	case ruleReg:
		if from := regs.reg(uint64(rule.ref)); slot != 0xff && rule.val == 0 {
			e.build.Value(from)
		} else {
			e.build.Sum(from, rule.val)
		}
	case ruleExpr:
		return cfi.Rule{Reg: reg, Expr: e.exprs[rule.ref]}
	}
	return cfi.Rule{Reg: reg, Expr: e.build.Expr()}
}

// record adds a STACK CFI INIT or STACK CFI record for the row at w.pc.
func (w *writer) record(id symfmt.RuleID, init bool) {
	rva := symfmt.RVA(w.pc - w.r.in.Base)
	t := &w.table
	if len(t.Rows) >= math.MaxUint32 {
		w.stop("more than %d STACK CFI records before it", uint32(math.MaxUint32))
		return
	}
	if init {
		t.Blocks = append(t.Blocks, symfmt.CFIBlock{RVA: rva, Init: id, First: uint32(len(t.Rows)), Marks: w.marks})
		w.open, w.lo = true, w.pc
		return
	}
	t.Rows = append(t.Rows, symfmt.CFIRow{RVA: rva, Rules: id, Marks: w.marks})
	t.Blocks[len(t.Blocks)-1].Count++
}

// close ends the block, if there is one.
func (w *writer) close() {
	if w.open {
		w.table.Blocks[len(w.table.Blocks)-1].Size = w.end - w.lo
		w.open = false
	}
}

// stop ends the FDE because a limit was reached.
func (w *writer) stop(format string, args ...any) {
	w.close()
	if w.full {
		return
	}
	w.full = true
	vm := &w.r.vm
	w.r.problems.add(vm.fde.entryPos, fmt.Sprintf("%s, from %#x on", vm.entry(), w.pc),
		errorf(vm.s.Name, vm.fde.offset, format, args...))
}
