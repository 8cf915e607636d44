package unwind

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/symtool/symtool/internal/bin"
)

// Operations of DWARF expressions (DWARF 5, 2.5.1 and 7.7.1).
const (
	dwOpAddr         = 0x03
	dwOpDeref        = 0x06
	dwOpConst1u      = 0x08
	dwOpConst1s      = 0x09
	dwOpConst2u      = 0x0a
	dwOpConst2s      = 0x0b
	dwOpConst4u      = 0x0c
	dwOpConst4s      = 0x0d
	dwOpConst8u      = 0x0e
	dwOpConst8s      = 0x0f
	dwOpConstu       = 0x10
	dwOpConsts       = 0x11
	dwOpDup          = 0x12
	dwOpDrop         = 0x13
	dwOpOver         = 0x14
	dwOpPick         = 0x15
	dwOpSwap         = 0x16
	dwOpRot          = 0x17
	dwOpAbs          = 0x19
	dwOpAnd          = 0x1a
	dwOpDiv          = 0x1b
	dwOpMinus        = 0x1c
	dwOpMod          = 0x1d
	dwOpMul          = 0x1e
	dwOpNeg          = 0x1f
	dwOpNot          = 0x20
	dwOpOr           = 0x21
	dwOpPlus         = 0x22
	dwOpPlusUconst   = 0x23
	dwOpShl          = 0x24
	dwOpShr          = 0x25
	dwOpShra         = 0x26
	dwOpXor          = 0x27
	dwOpBra          = 0x28
	dwOpEq           = 0x29
	dwOpGe           = 0x2a
	dwOpGt           = 0x2b
	dwOpLe           = 0x2c
	dwOpLt           = 0x2d
	dwOpNe           = 0x2e
	dwOpSkip         = 0x2f
	dwOpLit0         = 0x30
	dwOpReg0         = 0x50
	dwOpBreg0        = 0x70
	dwOpBregx        = 0x92
	dwOpDerefSize    = 0x94
	dwOpNop          = 0x96
	dwOpCallFrameCFA = 0x9c
)

// cfiOperands returns the number of stack entries that an operation needs.
func cfiOperands(op uint8) int {
	switch op {
	case dwOpDeref, dwOpDerefSize, dwOpDup, dwOpDrop, dwOpAbs, dwOpNeg, dwOpNot, dwOpPlusUconst, dwOpBra:
		return 1
	case dwOpOver, dwOpSwap, dwOpAnd, dwOpDiv, dwOpMinus, dwOpMod, dwOpMul, dwOpOr, dwOpPlus,
		dwOpShl, dwOpShr, dwOpShra, dwOpXor, dwOpEq, dwOpGe, dwOpGt, dwOpLe, dwOpLt, dwOpNe:
		return 2
	case dwOpRot:
		return 3
	}
	return 0
}

// step executes one operation; the stack has its operands.
func (e *cfiEval) step(op uint8, c *bin.Cursor) error {
	switch {
	case op >= dwOpLit0 && op < dwOpReg0:
		e.push(e.constant(uint64(op - dwOpLit0)))
		return nil
	case op >= dwOpBreg0 && op < dwOpBreg0+32:
		return e.pushed(e.register(uint64(op-dwOpBreg0), c.SLEB()))
	case cfiOperands(op) == 2 && op != dwOpOver && op != dwOpSwap:
		b, a := e.pop(), e.pop()
		return e.pushed(e.arithmetic(op, a, b))
	}
	switch op {
	case dwOpAddr:
		if v := c.Uint(int(e.regs.bits / 8)); e.fixed {
			e.push(e.constant(v))
			return nil
		}
		return errors.New("an address that moves when the module is loaded")
	case dwOpConst1u:
		e.push(e.constant(uint64(c.U8())))
	case dwOpConst1s:
		e.push(e.constant(uint64(int8(c.U8()))))
	case dwOpConst2u:
		e.push(e.constant(uint64(c.U16())))
	case dwOpConst2s:
		e.push(e.constant(uint64(int16(c.U16()))))
	case dwOpConst4u:
		e.push(e.constant(uint64(c.U32())))
	case dwOpConst4s:
		e.push(e.constant(uint64(int32(c.U32()))))
	case dwOpConst8u, dwOpConst8s:
		e.push(e.constant(c.U64()))
	case dwOpConstu:
		e.push(e.constant(c.ULEB()))
	case dwOpConsts:
		e.push(e.constant(uint64(c.SLEB())))
	case dwOpDeref:
		return e.pushed(e.load(e.pop(), uint64(e.regs.bits/8)))
	case dwOpDerefSize:
		return e.pushed(e.load(e.pop(), uint64(c.U8())))
	case dwOpDup:
		return e.pick(0)
	case dwOpOver:
		return e.pick(1)
	case dwOpPick:
		return e.pick(int(c.U8()))
	case dwOpDrop:
		e.pop()
	case dwOpSwap:
		n := len(e.stack)
		e.stack[n-1], e.stack[n-2] = e.stack[n-2], e.stack[n-1]
	case dwOpRot:
		n := len(e.stack)
		e.stack[n-1], e.stack[n-2], e.stack[n-3] = e.stack[n-2], e.stack[n-3], e.stack[n-1]
	case dwOpAbs:
		a := e.pop()
		if !e.nonnegative(a) {
			return e.no("DW_OP_abs", a)
		}
		e.push(a)
	case dwOpNeg:
		e.push(e.sub(e.constant(0), e.pop()))
	case dwOpNot:
		e.push(e.sub(e.constant(^uint64(0)), e.pop()))
	case dwOpPlusUconst:
		e.push(e.add(e.pop(), e.constant(c.ULEB())))
	case dwOpSkip, dwOpBra:
		return e.jump(op, int(int16(c.U16())), c)
	case dwOpBregx:
		return e.pushed(e.register(c.ULEB(), c.SLEB()))
	case dwOpNop:
	case dwOpCallFrameCFA:
		if e.form == cfiExprCFA {
			return errCFICFA
		}
		e.push(e.term(cfiTerm{op: 'c'}))
	default:
		return errors.New("cannot write " + cfiOpName(op))
	}
	return nil
}

func (e *cfiEval) pushed(i int32, err error) error {
	if err == nil {
		e.push(i)
	}
	return err
}

func (e *cfiEval) pick(depth int) error {
	if depth >= len(e.stack) {
		return fmt.Errorf("entry %d of a stack of %d", depth, len(e.stack))
	}
	e.push(e.stack[len(e.stack)-1-depth])
	return nil
}

// jump goes on elsewhere; a condition must be known.
func (e *cfiEval) jump(op uint8, by int, c *bin.Cursor) error {
	if op == dwOpBra {
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
func (e *cfiEval) nonnegative(i int32) bool { return e.terms[i].max <= e.mask()>>1 }

// arithmetic returns the term of an operation with two operands; b was on top.
func (e *cfiEval) arithmetic(op uint8, a, b int32) (int32, error) {
	switch op {
	case dwOpPlus:
		return e.add(a, b), nil
	case dwOpMinus:
		return e.sub(a, b), nil
	case dwOpMul:
		return e.mul(a, b), nil
	case dwOpAnd:
		return e.and(a, b)
	case dwOpDiv:
		return e.signedDiv(a, b)
	case dwOpMod:
		k, ok := e.isConst(b)
		if !ok && !e.terms[a].pc && !e.terms[b].pc {
			return e.binary('%', a, b, cfiTerm{}), nil
		}
		if !ok || k == 0 {
			return 0, e.no("DW_OP_mod", a, b)
		}
		return e.modulo(a, k), nil
	case dwOpShl, dwOpShr, dwOpShra:
		return e.shift(op, a, b)
	case dwOpOr, dwOpXor:
		return e.orXor(op, a, b)
	}
	return e.compare(op, a, b)
}

// signedDiv divides signed words (DWARF 5, 2.5.1.4); Breakpad's is
// unsigned.
func (e *cfiEval) signedDiv(a, b int32) (int32, error) {
	k, ok := e.isConst(b)
	d := e.regs.wrap(int64(k))
	if !ok || d == 0 {
		return 0, e.no("DW_OP_div", a, b)
	}
	if v, ok := e.isConst(a); ok {
		n := e.regs.wrap(int64(v))
		return e.term(cfiTerm{op: 'k', val: uint64(n / d), pc: e.terms[a].pc || e.terms[b].pc}), nil
	}
	if d == 1 {
		return a, nil
	}
	if d < 0 || !e.nonnegative(a) {
		return 0, e.no("DW_OP_div", a, b)
	}
	return e.divide(a, k), nil
}

func (e *cfiEval) shift(op uint8, a, b int32) (int32, error) {
	k, ok := e.isConst(b)
	v, isConst := e.isConst(a)
	switch {
	case !ok:
		return 0, e.no(cfiOpName(op), a, b)
	case op == dwOpShra && isConst:
		n := e.regs.wrap(int64(v)) >> min(k, 63)
		return e.term(cfiTerm{op: 'k', val: uint64(n), pc: e.terms[a].pc || e.terms[b].pc}), nil
	case op == dwOpShra && !e.nonnegative(a):
		return 0, e.no(cfiOpName(op), a, b)
	case k >= uint64(e.regs.bits):
		return e.constant(0), nil
	case op == dwOpShl:
		return e.mul(a, e.constant(1<<k)), nil
	}
	return e.divide(a, 1<<k), nil
}

// orXor folds constants; with 0 and -1 there are other ways to write it, and
// where no bit is set on both sides it is a sum.
func (e *cfiEval) orXor(op uint8, a, b int32) (int32, error) {
	if _, ok := e.isConst(a); ok {
		a, b = b, a
	}
	x, y := e.terms[a], e.terms[b]
	switch {
	case y.op == 'k' && x.op == 'k':
		v := x.val | y.val
		if op == dwOpXor {
			v = x.val ^ y.val
		}
		return e.term(cfiTerm{op: 'k', val: v, pc: x.pc || y.pc}), nil
	case y.op == 'k' && y.val == 0:
		return a, nil
	case y.op == 'k' && y.val == e.mask() && op == dwOpXor:
		return e.sub(b, a), nil
	case y.op == 'k' && y.val == e.mask():
		return b, nil
	case e.disjoint(x, y) || e.disjoint(y, x):
		return e.add(a, b), nil
	}
	return 0, e.no(cfiOpName(op), a, b)
}

// disjoint reports whether x has zeros where y can have ones: y is small, and the
// low bits of x are an alignment's zeros.
func (e *cfiEval) disjoint(x, y cfiTerm) bool {
	if x.op != '@' && x.op != '*' {
		return false
	}
	k, ok := e.isConst(x.b)
	return ok && k&(k-1) == 0 && y.max < k && bits.OnesCount64(k) == 1
}

// compare compares signed words (DWARF 5, 2.5.1.5), if they are known.
func (e *cfiEval) compare(op uint8, a, b int32) (int32, error) {
	v, ok1 := e.isConst(a)
	w, ok2 := e.isConst(b)
	if !ok1 || !ok2 {
		return 0, e.no(cfiOpName(op), a, b)
	}
	x, y := e.regs.wrap(int64(v)), e.regs.wrap(int64(w))
	holds := false
	switch op {
	case dwOpEq:
		holds = x == y
	case dwOpGe:
		holds = x >= y
	case dwOpGt:
		holds = x > y
	case dwOpLe:
		holds = x <= y
	case dwOpLt:
		holds = x < y
	case dwOpNe:
		holds = x != y
	}
	var bit uint64
	if holds {
		bit = 1
	}
	return e.term(cfiTerm{op: 'k', val: bit, pc: e.terms[a].pc || e.terms[b].pc}), nil
}
