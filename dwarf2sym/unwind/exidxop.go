package unwind

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/symtool/symtool/internal/bin"
)

// Unwind instructions (IHI 0038, "Frame unwinding instructions"). They move a virtual
// stack pointer, vsp, from the callee's frame to the caller's. Its final value is the
// caller's stack pointer: the CFA. Nothing is loaded here: vsp is an offset from a base,
// which is a register or a word in memory.

const exidxFinish = 0xb0

// Core registers with a special role.
const (
	armSP = 13
	armLR = 14
	armPC = 15
)

// armD0 is the DWARF number of VFP register d0.
const armD0 = 256

// exidxAddr is the value of a base plus an offset in bytes.
type exidxAddr struct {
	base int
	off  int64
}

// exidxBase is what addresses are relative to.
type exidxBase struct {
	load bool // the word at from; otherwise the value of a register in the callee
	reg  uint64
	from exidxAddr
}

// exidxFrame is the state of the virtual machine.
type exidxFrame struct {
	bases   []exidxBase
	vsp     exidxAddr
	core    uint16 // registers that were popped
	vfp     uint32
	coreAt  [16]exidxAddr // where they were popped from
	vfpAt   [32]exidxAddr
	unnamed int // number of others that were popped
}

func (f *exidxFrame) reset() {
	f.bases = append(f.bases[:0], exidxBase{reg: armSP})
	f.vsp, f.core, f.vfp, f.unnamed = exidxAddr{}, 0, 0, 0
}

// run executes instructions. refused reports that one of them is "refuse to unwind".
func (f *exidxFrame) run(code *exidxCode) (refused bool, err error) {
	f.reset()
	c := bin.New("", code.ops, nil)
	for c.Len() > 0 {
		start := c.Pos()
		op := c.U8()
		if op == exidxFinish {
			break
		}
		known := true
		switch {
		case op < 0x40:
			f.vsp.off += int64(op&0x3f)<<2 + 4
		case op < 0x80:
			f.vsp.off -= int64(op&0x3f)<<2 + 4
		case op < 0x90:
			mask := uint16(op&0xf)<<12 | uint16(c.U8())<<4
			if mask == 0 {
				return true, nil
			}
			f.popCore(mask)
		case op < 0xa0:
			known = f.setVSP(int(op & 0xf))
		case op < 0xb0:
			f.popCore((2<<(op&7)-1)<<4 | uint16(op&8)<<(armLR-3))
		case op < 0xc0:
			known = f.group11(op, &c)
		default:
			known = f.group12(op, &c)
		}
		switch {
		case c.Err() != nil:
			return false, code.errorf(start, "unwind instruction %#x lacks its operand", op)
		case !known && c.Pos()-start > 1:
			return false, code.errorf(start, "unwind instruction %#x %#x is reserved", op, code.ops[start+1])
		case !known:
			return false, code.errorf(start, "unwind instruction %#x is reserved", op)
		}
	}
	return false, nil
}

// group11 executes the instructions from 0xb1 to 0xbf. It returns false for a reserved
// one.
func (f *exidxFrame) group11(op uint8, c *bin.Cursor) bool {
	switch {
	case op == 0xb1:
		mask := c.U8()
		f.popCore(uint16(mask & 0xf))
		return mask != 0 && mask < 0x10
	case op == 0xb2:
		n := c.ULEB()
		f.vsp.off += int64(n)<<2 + 0x204
		return n < 1<<30
	case op == 0xb3:
		return f.popRange(c.U8(), 0, 16, 4)
	case op == 0xb4: // the return address's authentication code
		f.vsp.off += 4
		f.unnamed++
	case op == 0xb5: // vsp is the modifier of that code
	case op >= 0xb8:
		f.popVFP(8, int(op&7)+1, 4)
	default:
		return false // formerly registers of the FPA
	}
	return true
}

// group12 executes the instructions from 0xc0 on. It returns false for a reserved one.
func (f *exidxFrame) group12(op uint8, c *bin.Cursor) bool {
	switch {
	case op < 0xc6:
		f.popOther(int(op&7)+1, 8)
	case op == 0xc6: // wR
		operand := c.U8()
		f.popOther(int(operand&0xf)+1, 8)
		return int(operand>>4)+int(operand&0xf) < 16
	case op == 0xc7: // wCGR
		mask := c.U8()
		f.popOther(bits.OnesCount8(mask), 4)
		return mask != 0 && mask < 0x10
	case op == 0xc8:
		return f.popRange(c.U8(), 16, 32, 0)
	case op == 0xc9:
		return f.popRange(c.U8(), 0, 32, 0)
	case op >= 0xd0 && op < 0xd8:
		f.popVFP(8, int(op&7)+1, 0)
	default:
		return false
	}
	return true
}

// popCore pops the registers of a mask, the lowest one first. If the stack pointer is
// among them, its value becomes vsp after all have been popped.
func (f *exidxFrame) popCore(mask uint16) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros16(m)
		f.coreAt[i] = f.vsp
		f.vsp.off += 4
	}
	if mask&(1<<armSP) != 0 {
		f.rebase(exidxBase{load: true, from: f.coreAt[armSP]})
	}
	f.core |= mask &^ (1 << armSP)
}

// setVSP sets vsp from a register's value in the frame reached so far. It returns false for a register that must not be
// used.
func (f *exidxFrame) setVSP(reg int) bool {
	switch {
	case reg == armSP || reg == armPC:
		return false
	case f.core>>reg&1 != 0:
		f.rebase(exidxBase{load: true, from: f.coreAt[reg]})
	default:
		f.rebase(exidxBase{reg: uint64(reg)})
	}
	return true
}

func (f *exidxFrame) rebase(b exidxBase) {
	f.vsp = exidxAddr{base: len(f.bases)}
	f.bases = append(f.bases, b)
}

// popRange pops the VFP registers that an operand names, counted from above. It returns
// false unless all are below limit. pad is the space that FSTMFDX leaves after them.
func (f *exidxFrame) popRange(operand uint8, above, limit int, pad int64) bool {
	first, n := above+int(operand>>4), int(operand&0xf)+1
	if first+n > limit {
		return false
	}
	f.popVFP(first, n, pad)
	return true
}

func (f *exidxFrame) popVFP(first, n int, pad int64) {
	for i := first; i < first+n; i++ {
		f.vfpAt[i] = f.vsp
		f.vfp |= 1 << i
		f.vsp.off += 8
	}
	f.vsp.off += pad
}

// popOther pops registers that Breakpad has no name for.
func (f *exidxFrame) popOther(n int, size int64) {
	f.vsp.off += int64(n) * size
	f.unnamed += n
}

// rules sets the current rules of the VM to the frame's state. It returns false if a rule
// cannot be written as postfix, which is reported.
func (f *exidxFrame) rules(vm *machine, code *exidxCode) bool {
	p := exidxPrinter{f: f, vm: vm, code: code}
	vm.cur.cfa = p.cfa()
	regs := vm.cie.regs
	ra := armLR
	if f.core>>armPC&1 != 0 {
		ra = armPC
	}
	for m := f.core; m != 0; m &= m - 1 {
		i := bits.TrailingZeros16(m)
		slot := slotRA
		if i != ra {
			slot = regs.slot(uint64(i))
		}
		vm.cur.put(slot, p.saved(f.coreAt[i]))
	}
	for m := f.vfp; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		vm.cur.put(regs.slot(uint64(armD0+i)), p.saved(f.vfpAt[i]))
	}
	return !p.lost
}

// exidxPrinter converts addresses to rules.
type exidxPrinter struct {
	f    *exidxFrame
	vm   *machine
	code *exidxCode
	lost bool
}

// cfa returns the rule of the CFA.
func (p *exidxPrinter) cfa() regRule {
	rule, err := p.value(p.f.vsp, formCFA)
	if err != nil {
		p.vm.r.stats.LostCFA++
		p.report("CFA", err)
	}
	return rule
}

// saved returns the rule of a register that is saved at a.
func (p *exidxPrinter) saved(a exidxAddr) regRule {
	if a.base == p.f.vsp.base {
		return regRule{kind: ruleAt, val: p.vm.cie.regs.wrap(a.off - p.f.vsp.off)}
	}
	p.f.bases = append(p.f.bases, exidxBase{load: true, from: a})
	rule, err := p.value(exidxAddr{base: len(p.f.bases) - 1}, formIs)
	if err != nil {
		p.vm.r.stats.LostRules++
		p.report("rule", err)
	}
	return rule
}

// value returns the rule for the value a.
func (p *exidxPrinter) value(a exidxAddr, form exprForm) (regRule, error) {
	e := &p.vm.r.eval
	e.regs, e.form, e.known, e.terms = p.vm.cie.regs, form, false, e.terms[:0]
	term, err := p.term(a)
	if err != nil {
		return regRule{kind: ruleLost}, err
	}
	rule, err := e.result(term)
	if err != nil {
		rule = regRule{kind: ruleLost}
	}
	return rule, err
}

// term returns the term of a in the evaluator.
func (p *exidxPrinter) term(a exidxAddr) (term int32, err error) {
	e, b := &p.vm.r.eval, &p.f.bases[a.base]
	if !b.load {
		return e.register(b.reg, a.off)
	}
	if len(e.terms) > maxTerms {
		return 0, errors.New("takes too many steps")
	}
	if term, err = p.term(b.from); err == nil {
		term, err = e.load(term, 4)
	}
	return e.add(term, e.constant(uint64(a.off))), err
}

func (p *exidxPrinter) report(what string, err error) {
	p.lost = true
	f := p.vm.fde
	p.vm.r.problems.add(f.entryPos, fmt.Sprintf("%s in %s", what, p.vm.entry()), p.code.errorf(0, "no postfix: %v", err))
}
