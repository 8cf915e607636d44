package unwind

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// operandCount returns the number of stack entries that an operation needs.
func operandCount(op uint8) int {
	switch op {
	case dw.OpDeref, dw.OpDerefSize, dw.OpDup, dw.OpDrop, dw.OpAbs, dw.OpNeg, dw.OpNot, dw.OpPlusUconst, dw.OpBra:
		return 1
	case dw.OpOver, dw.OpSwap, dw.OpAnd, dw.OpDiv, dw.OpMinus, dw.OpMod, dw.OpMul, dw.OpOr, dw.OpPlus,
		dw.OpShl, dw.OpShr, dw.OpShra, dw.OpXor, dw.OpEq, dw.OpGe, dw.OpGt, dw.OpLe, dw.OpLt, dw.OpNe:
		return 2
	case dw.OpRot:
		return 3
	}
	return 0
}

// step executes one operation, whose operands must be on the stack.
func (e *evaluator) step(op uint8, c *bin.Cursor) error {
	switch {
	case op >= dw.OpLit0 && op < dw.OpReg0:
		e.push(e.constant(uint64(op - dw.OpLit0)))
		return nil
	case op >= dw.OpBreg0 && op < dw.OpBreg0+32:
		return e.pushed(e.register(uint64(op-dw.OpBreg0), c.SLEB()))
	case operandCount(op) == 2 && op != dw.OpOver && op != dw.OpSwap:
		b, a := e.pop(), e.pop()
		return e.pushed(e.arithmetic(op, a, b))
	}
	switch op {
	case dw.OpAddr:
		if v := c.Uint(int(e.regs.bits / 8)); e.fixed {
			e.push(e.constant(v))
			return nil
		}
		return errors.New("an address that moves when the module is loaded")
	case dw.OpConst1u:
		e.push(e.constant(uint64(c.U8())))
	case dw.OpConst1s:
		e.push(e.constant(uint64(int8(c.U8()))))
	case dw.OpConst2u:
		e.push(e.constant(uint64(c.U16())))
	case dw.OpConst2s:
		e.push(e.constant(uint64(int16(c.U16()))))
	case dw.OpConst4u:
		e.push(e.constant(uint64(c.U32())))
	case dw.OpConst4s:
		e.push(e.constant(uint64(int32(c.U32()))))
	case dw.OpConst8u, dw.OpConst8s:
		e.push(e.constant(c.U64()))
	case dw.OpConstu:
		e.push(e.constant(c.ULEB()))
	case dw.OpConsts:
		e.push(e.constant(uint64(c.SLEB())))
	case dw.OpDeref:
		return e.pushed(e.load(e.pop(), uint64(e.regs.bits/8)))
	case dw.OpDerefSize:
		return e.pushed(e.load(e.pop(), uint64(c.U8())))
	case dw.OpDup:
		return e.pick(0)
	case dw.OpOver:
		return e.pick(1)
	case dw.OpPick:
		return e.pick(int(c.U8()))
	case dw.OpDrop:
		e.pop()
	case dw.OpSwap:
		n := len(e.stack)
		e.stack[n-1], e.stack[n-2] = e.stack[n-2], e.stack[n-1]
	case dw.OpRot:
		n := len(e.stack)
		e.stack[n-1], e.stack[n-2], e.stack[n-3] = e.stack[n-2], e.stack[n-3], e.stack[n-1]
	case dw.OpAbs:
		a := e.pop()
		if !e.nonnegative(a) {
			return e.no("DW_OP_abs", a)
		}
		e.push(a)
	case dw.OpNeg:
		e.push(e.sub(e.constant(0), e.pop()))
	case dw.OpNot:
		e.push(e.sub(e.constant(^uint64(0)), e.pop()))
	case dw.OpPlusUconst:
		e.push(e.add(e.pop(), e.constant(c.ULEB())))
	case dw.OpSkip, dw.OpBra:
		return e.jump(op, int(int16(c.U16())), c)
	case dw.OpBregx:
		return e.pushed(e.register(c.ULEB(), c.SLEB()))
	case dw.OpNop:
	case dw.OpCallFrameCFA:
		if e.form == formCFA {
			return errOwnCFA
		}
		e.push(e.term(exprTerm{op: 'c'}))
	default:
		return errors.New("cannot write " + opName(op))
	}
	return nil
}

func (e *evaluator) pushed(i int32, err error) error {
	if err == nil {
		e.push(i)
	}
	return err
}

func (e *evaluator) pick(depth int) error {
	if depth >= len(e.stack) {
		return fmt.Errorf("entry %d of a stack of %d", depth, len(e.stack))
	}
	e.push(e.stack[len(e.stack)-1-depth])
	return nil
}

// jump continues at another offset. The condition, if any, must be known.
func (e *evaluator) jump(op uint8, by int, c *bin.Cursor) error {
	if op == dw.OpBra {
		i := e.pop()
		v, ok := e.isConst(i)
		if !ok {
			return e.no("DW_OP_bra", i)
		}
		if v == 0 {
			return nil
		}
	}
	c.Seek(c.Pos() + by)
	return nil
}

// nonnegative reports whether a term is never negative as a signed word.
func (e *evaluator) nonnegative(i int32) bool { return e.terms[i].max <= e.mask()>>1 }

// arithmetic returns the term of an operation with two operands; b was on top.
func (e *evaluator) arithmetic(op uint8, a, b int32) (int32, error) {
	switch op {
	case dw.OpPlus:
		return e.add(a, b), nil
	case dw.OpMinus:
		return e.sub(a, b), nil
	case dw.OpMul:
		return e.mul(a, b), nil
	case dw.OpAnd:
		return e.and(a, b)
	case dw.OpDiv:
		return e.signedDiv(a, b)
	case dw.OpMod:
		k, ok := e.isConst(b)
		if !ok && !e.terms[a].pc && !e.terms[b].pc {
			return e.binary('%', a, b, exprTerm{}), nil
		}
		if !ok || k == 0 {
			return 0, e.no("DW_OP_mod", a, b)
		}
		return e.modulo(a, k), nil
	case dw.OpShl, dw.OpShr, dw.OpShra:
		return e.shift(op, a, b)
	case dw.OpOr, dw.OpXor:
		return e.orXor(op, a, b)
	}
	return e.compare(op, a, b)
}

// signedDiv divides signed words (DWARF 5, 2.5.1.4). Breakpad's division is unsigned.
func (e *evaluator) signedDiv(a, b int32) (int32, error) {
	k, ok := e.isConst(b)
	d := e.regs.wrap(int64(k))
	if !ok || d == 0 {
		return 0, e.no("DW_OP_div", a, b)
	}
	if v, ok := e.isConst(a); ok {
		n := e.regs.wrap(int64(v))
		return e.term(exprTerm{op: 'k', val: uint64(n / d), pc: e.terms[a].pc || e.terms[b].pc}), nil
	}
	if d == 1 {
		return a, nil
	}
	if d < 0 || !e.nonnegative(a) {
		return 0, e.no("DW_OP_div", a, b)
	}
	return e.divide(a, k), nil
}

func (e *evaluator) shift(op uint8, a, b int32) (int32, error) {
	k, ok := e.isConst(b)
	v, isConst := e.isConst(a)
	switch {
	case !ok:
		return 0, e.no(opName(op), a, b)
	case op == dw.OpShra && isConst:
		n := e.regs.wrap(int64(v)) >> min(k, 63)
		return e.term(exprTerm{op: 'k', val: uint64(n), pc: e.terms[a].pc || e.terms[b].pc}), nil
	case op == dw.OpShra && !e.nonnegative(a):
		return 0, e.no(opName(op), a, b)
	case k >= uint64(e.regs.bits):
		return e.constant(0), nil
	case op == dw.OpShl:
		return e.mul(a, e.constant(1<<k)), nil
	}
	return e.divide(a, 1<<k), nil
}

// orXor returns the term for an OR or XOR. It folds constants; an operation with 0 or -1
// can be written in other ways, and one whose operands have no common bit is a sum.
func (e *evaluator) orXor(op uint8, a, b int32) (int32, error) {
	if _, ok := e.isConst(a); ok {
		a, b = b, a
	}
	x, y := e.terms[a], e.terms[b]
	switch {
	case y.op == 'k' && x.op == 'k':
		v := x.val | y.val
		if op == dw.OpXor {
			v = x.val ^ y.val
		}
		return e.term(exprTerm{op: 'k', val: v, pc: x.pc || y.pc}), nil
	case y.op == 'k' && y.val == 0:
		return a, nil
	case y.op == 'k' && y.val == e.mask() && op == dw.OpXor:
		return e.sub(b, a), nil
	case y.op == 'k' && y.val == e.mask():
		return b, nil
	case e.disjoint(x, y) || e.disjoint(y, x):
		return e.add(a, b), nil
	}
	return 0, e.no(opName(op), a, b)
}

// disjoint reports whether x has zeros where y can have ones: y is small, and the low
// bits of x are zero by alignment.
func (e *evaluator) disjoint(x, y exprTerm) bool {
	if x.op != '@' && x.op != '*' {
		return false
	}
	k, ok := e.isConst(x.b)
	return ok && k&(k-1) == 0 && y.max < k && bits.OnesCount64(k) == 1
}

// compare compares signed words (DWARF 5, 2.5.1.5), which must be known.
func (e *evaluator) compare(op uint8, a, b int32) (int32, error) {
	v, ok1 := e.isConst(a)
	w, ok2 := e.isConst(b)
	if !ok1 || !ok2 {
		return 0, e.no(opName(op), a, b)
	}
	x, y := e.regs.wrap(int64(v)), e.regs.wrap(int64(w))
	holds := false
	switch op {
	case dw.OpEq:
		holds = x == y
	case dw.OpGe:
		holds = x >= y
	case dw.OpGt:
		holds = x > y
	case dw.OpLe:
		holds = x <= y
	case dw.OpLt:
		holds = x < y
	case dw.OpNe:
		holds = x != y
	}
	var bit uint64
	if holds {
		bit = 1
	}
	return e.term(exprTerm{op: 'k', val: bit, pc: e.terms[a].pc || e.terms[b].pc}), nil
}
