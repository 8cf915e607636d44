package unwind

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/arch"
)

// maxRemember bounds the nesting of DW_CFA_remember_state: compilers use
// two or three levels.
const maxRemember = 256

// machine executes the instructions of one entry. Its memory is reused for the next entry.
type machine struct {
	r   *reader
	s   *Section
	cie *cieInfo
	fde *fdeInfo // nil while the instructions of a CIE are executed
	c   bin.Cursor

	what string // "FDE", or "entry" of an index table

	loc   uint64 // start of the row being built
	cur   rowState
	dirty slotMask // slots changed since the writer last looked
	stack []savedState
}

// runCIE executes the initial instructions, which are the rest of c, and keeps the rules
// in cie.
func (vm *machine) runCIE(c *bin.Cursor, cie *cieInfo) error {
	vm.s, vm.cie, vm.fde, vm.c = &vm.r.in.Sections[cie.section], cie, nil, *c
	vm.cur.clear()
	vm.run()
	vm.cur.save(&cie.initial)
	return vm.c.Err()
}

// runFDE passes each row of an FDE to the writer. Rows before damage are kept.
func (vm *machine) runFDE(f *fdeInfo) {
	vm.s, vm.cie, vm.fde, vm.what = &vm.r.in.Sections[f.section], &vm.r.cies[f.cie], f, "FDE"
	vm.c = bin.NewAt(vm.s.Name, vm.s.Data[f.insOff:f.insEnd], f.insOff, vm.r.in.Order)
	vm.cur.load(&vm.cie.initial)
	vm.loc = f.lo
	vm.run()
	if err := vm.c.Err(); err != nil {
		lost := vm.entry()
		if vm.loc > f.lo {
			lost += fmt.Sprintf(", from %#x on", min(vm.loc, f.hi))
		}
		vm.r.problems.add(f.entryPos, lost, err)
		return
	}
	vm.r.w.row(vm.loc, f.hi)
}

// run executes instructions up to the end or the first damaged one.
func (vm *machine) run() {
	vm.stack = vm.stack[:0]
	c := &vm.c
	for c.Len() > 0 {
		start := c.Pos()
		op := c.U8()
		switch op & 0xc0 {
		case dw.CFAAdvanceLoc:
			vm.advance(uint64(op & 0x3f))
		case dw.CFAOffset:
			vm.setAt(uint64(op&0x3f), c.ULEB(), 1)
		case dw.CFARestore:
			vm.restore(uint64(op & 0x3f))
		default:
			vm.extended(op, start)
		}
		if c.Err() != nil {
			return
		}
	}
}

// extended executes an instruction whose opcode is in the low six bits.
func (vm *machine) extended(op uint8, start int) {
	c := &vm.c
	switch op {
	case dw.CFANop:
	case dw.CFASetLoc:
		vm.setLoc(vm.r.address(c, vm.s, vm.cie, vm.functionStart()))
	case dw.CFAAdvanceLoc1:
		vm.advance(uint64(c.U8()))
	case dw.CFAAdvanceLoc2:
		vm.advance(uint64(c.U16()))
	case dw.CFAAdvanceLoc4:
		vm.advance(uint64(c.U32()))
	case dw.CFAOffsetExtended:
		vm.setAt(c.ULEB(), c.ULEB(), 1)
	case dw.CFARestoreExtended:
		vm.restore(c.ULEB())
	case dw.CFAUndefined:
		vm.set(c.ULEB(), regRule{kind: ruleUndef})
	case dw.CFASameValue:
		vm.set(c.ULEB(), regRule{kind: ruleSame})
	case dw.CFARegister:
		vm.setRegister(c.ULEB(), c.ULEB())
	case dw.CFARememberState:
		vm.remember()
	case dw.CFARestoreState:
		vm.restoreState()
	case dw.CFADefCFA:
		vm.defCFA(c.ULEB(), int64(c.ULEB()))
	case dw.CFADefCFARegister:
		vm.defCFARegister(c.ULEB())
	case dw.CFADefCFAOffset:
		vm.defCFAOffset(int64(c.ULEB()))
	case dw.CFADefCFAExpression:
		vm.defCFAExpression(c.Bytes(c.ULEB()))
	case dw.CFAExpression:
		vm.setExpression(c.ULEB(), c.Bytes(c.ULEB()), formAt)
	case dw.CFAOffsetExtendedSF:
		vm.setAt(c.ULEB(), uint64(c.SLEB()), 1)
	case dw.CFADefCFASF:
		vm.defCFA(c.ULEB(), c.SLEB()*vm.cie.dataAlign)
	case dw.CFADefCFAOffsetSF:
		vm.defCFAOffset(c.SLEB() * vm.cie.dataAlign)
	case dw.CFAValOffset:
		vm.setIs(c.ULEB(), int64(c.ULEB()))
	case dw.CFAValOffsetSF:
		vm.setIs(c.ULEB(), c.SLEB())
	case dw.CFAValExpression:
		vm.setExpression(c.ULEB(), c.Bytes(c.ULEB()), formIs)
	case dw.CFAMIPSAdvanceLoc8:
		vm.advance(c.U64())
	case dw.CFAAArch64SetRAState:
		if vm.r.in.Arch != arch.ARM64 {
			vm.unknown(op, start)
			return
		}
		vm.cur.signed = c.ULEB() != 0
		c.SLEB() // where it was signed
	case dw.CFAAArch64NegateRAState, dw.CFAAArch64NegateRAStateWithPC:
		if vm.r.in.Arch != arch.ARM64 {
			vm.unknown(op, start)
			return
		}
		vm.cur.signed = !vm.cur.signed
	case dw.CFAGNUArgsSize:
		c.ULEB()
	case dw.CFAGNUNegativeOffsetExtended:
		vm.setAt(c.ULEB(), c.ULEB(), -1)
	default:
		vm.unknown(op, start)
	}
}

func (vm *machine) unknown(op uint8, start int) {
	vm.c.Seek(start)
	vm.c.Fail("unknown call frame instruction %#x", op)
}

// entry names the current entry in a message.
func (vm *machine) entry() string {
	return fmt.Sprintf("%s at %#x for %#x", vm.what, vm.fde.offset, vm.fde.lo)
}

func (vm *machine) functionStart() uint64 {
	if vm.fde == nil {
		return 0
	}
	return vm.fde.lo
}

// advance ends the row; the next one starts delta code units later.
func (vm *machine) advance(delta uint64) {
	if vm.fde == nil {
		vm.c.Fail("advance in the instructions of a CIE")
		return
	}
	if vm.c.Err() != nil {
		return
	}
	align := vm.cie.codeAlign
	bytes := delta * align
	if room := vm.fde.hi - vm.loc; align != 0 && bytes/align != delta || bytes > room {
		vm.c.Fail("advance by %d units of %d bytes from %#x, past the end of the FDE at %#x", delta, align, vm.loc, vm.fde.hi)
		vm.last()
		return
	}
	vm.to(vm.loc + bytes)
}

// setLoc ends the row; the next one starts at loc.
func (vm *machine) setLoc(loc uint64) {
	if vm.fde == nil {
		vm.c.Fail("DW_CFA_set_loc in the instructions of a CIE")
	}
	switch {
	case vm.c.Err() != nil:
	case loc < vm.loc:
		vm.c.Fail("DW_CFA_set_loc to %#x, want %#x to %#x", loc, vm.loc, vm.fde.hi)
	case loc > vm.fde.hi:
		vm.c.Fail("DW_CFA_set_loc to %#x, past the end of the FDE at %#x", loc, vm.fde.hi)
		vm.last()
	default:
		vm.to(loc)
	}
}

// to ends the row, if it has begun before loc.
func (vm *machine) to(loc uint64) {
	if loc > vm.loc {
		vm.r.w.row(vm.loc, loc)
		vm.loc = loc
	}
}

// last ends the row where the FDE ends.
func (vm *machine) last() { vm.to(vm.fde.hi) }

// slotOf returns the slot of a column. It reports false for a register without a name.
func (vm *machine) slotOf(column uint64) (slot int, ok bool) {
	if column == vm.cie.ra {
		return slotRA, true
	}
	slot = vm.cie.regs.slot(column)
	return slot, slot != 0
}

// set sets the rule of a column.
func (vm *machine) set(column uint64, rule regRule) {
	slot, ok := vm.slotOf(column)
	switch {
	case vm.c.Err() != nil:
	case ok:
		vm.dirty.add(slot)
		vm.cur.put(slot, rule)
	default:
		vm.r.stats.Unnamed++
	}
}

func (vm *machine) setAt(column, factored uint64, sign int64) {
	val := sign * int64(factored) * vm.cie.dataAlign
	vm.set(column, regRule{kind: ruleAt, val: vm.cie.regs.wrap(val)})
}

func (vm *machine) setIs(column uint64, factored int64) {
	vm.set(column, regRule{kind: ruleIs, val: vm.cie.regs.wrap(factored * vm.cie.dataAlign)})
}

func (vm *machine) setRegister(column, source uint64) {
	if vm.c.Err() != nil {
		return
	}
	if _, ok := vm.slotOf(column); ok && vm.cie.regs.slot(source) == 0 {
		vm.lost(column, "value is in "+vm.cie.regs.describe(source)+", which has no name")
		vm.set(column, regRule{kind: ruleLost})
		return
	}
	rule := regRule{kind: ruleReg, ref: uint32(source)}
	if column == source && column != vm.cie.ra {
		rule = regRule{kind: ruleSame}
	}
	vm.set(column, rule)
}

func (vm *machine) setExpression(column uint64, expr []byte, form exprForm) {
	if vm.c.Err() != nil {
		return
	}
	if _, ok := vm.slotOf(column); !ok {
		vm.r.stats.Unnamed++
		return
	}
	rule, err := vm.r.eval.rule(vm.cie.regs, expr, form)
	if err != nil {
		vm.lost(column, err.Error())
	}
	vm.set(column, rule)
}

// restore gives a column the rule that the CIE's instructions gave it.
func (vm *machine) restore(column uint64) {
	slot, ok := vm.slotOf(column)
	if vm.c.Err() != nil || !ok {
		return
	}
	vm.dirty.add(slot)
	if vm.fde == nil {
		vm.cur.put(slot, regRule{})
		return
	}
	vm.cur.put(slot, vm.cie.initial.rule(slot))
}

func (vm *machine) remember() {
	if len(vm.stack) == maxRemember {
		vm.c.Fail("%d nested DW_CFA_remember_state", maxRemember+1)
		return
	}
	if n := len(vm.stack); n < cap(vm.stack) {
		vm.stack = vm.stack[:n+1]
	} else {
		vm.stack = append(vm.stack, savedState{})
	}
	vm.cur.save(&vm.stack[len(vm.stack)-1])
}

// restoreState also restores the CFA, as GCC, LLVM and gdb do (DWARF 5, 6.4.2.4: all
// rules).
func (vm *machine) restoreState() {
	n := len(vm.stack)
	if n == 0 {
		vm.c.Fail("DW_CFA_restore_state without DW_CFA_remember_state")
		return
	}
	vm.dirty = vm.dirty.with(vm.cur.set)
	vm.cur.load(&vm.stack[n-1])
	vm.dirty = vm.dirty.with(vm.cur.set)
	vm.stack = vm.stack[:n-1]
}

func (vm *machine) defCFA(column uint64, offset int64) {
	if vm.c.Err() != nil {
		return
	}
	if vm.cie.regs.slot(column) == 0 {
		vm.lostCFA("it is relative to " + vm.cie.regs.describe(column) + ", which has no name")
	}
	// A column above all known numbers stays unnamed.
	vm.cur.cfa = regRule{kind: ruleReg, ref: uint32(min(column, 1<<32-1)), val: vm.cie.regs.wrap(offset)}
}

// defCFARegister keeps the offset. It is 0 if there is no CFA yet: the CIEs that GNU as
// writes for MIPS and RISC-V begin with this instruction.
func (vm *machine) defCFARegister(column uint64) {
	if k := vm.cur.cfa.kind; k != ruleReg && k != ruleNone {
		vm.c.Fail("DW_CFA_def_cfa_register where the CFA is not a register and an offset")
		return
	}
	vm.defCFA(column, vm.cur.cfa.val)
}

func (vm *machine) defCFAOffset(offset int64) {
	if vm.cur.cfa.kind != ruleReg {
		vm.c.Fail("DW_CFA_def_cfa_offset where the CFA is not a register and an offset")
		return
	}
	if vm.c.Err() == nil {
		vm.cur.cfa.val = vm.cie.regs.wrap(offset)
	}
}

func (vm *machine) defCFAExpression(expr []byte) {
	if vm.c.Err() != nil {
		return
	}
	rule, err := vm.r.eval.rule(vm.cie.regs, expr, formCFA)
	if err != nil {
		vm.lostCFA(err.Error())
	}
	vm.cur.cfa = rule
}

// lost reports a rule that cannot be written as postfix.
func (vm *machine) lost(column uint64, why string) {
	vm.r.stats.LostRules++
	name := vm.cie.regs.describe(column)
	if column == vm.cie.ra {
		name = ".ra"
	}
	vm.report("rule of "+name, why)
}

func (vm *machine) lostCFA(why string) {
	vm.r.stats.LostCFA++
	vm.report("CFA", why)
}

// lostAt reports an expression that depends on the pc and that cannot be written as
// postfix for one of its values.
func (vm *machine) lostAt(form exprForm, err error) {
	if form == formCFA {
		vm.lostCFA(err.Error())
		return
	}
	vm.r.stats.LostRules++
	vm.report("rule", err.Error())
}

func (vm *machine) report(what, why string) {
	place, lost := vm.cie.entryPos, fmt.Sprintf("%s in CIE at %#x", what, vm.cie.offset)
	if vm.fde != nil {
		place = vm.fde.entryPos
		lost = fmt.Sprintf("%s from %#x on in %s", what, vm.loc, vm.entry())
	}
	vm.r.problems.add(place, lost, errorf(vm.s.Name, vm.c.Offset(), "no postfix: %s", why))
}
