package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Terms are made here, and folded if possible: the constructors return the index of a
// term with the value of the operation for every input.

func (e *evaluator) mask() uint64 { return ^uint64(0) >> (64 - e.regs.bits) }

// term adds a term. If all its bits are known, it becomes a constant.
func (e *evaluator) term(t exprTerm) int32 {
	if t.op == 'k' {
		t.val &= e.mask()
		t.max, t.low, t.know = t.val, t.val, uint8(e.regs.bits)
	} else if uint(t.know) >= e.regs.bits {
		return e.fold(t.low, uint8(e.regs.bits), t.pc)
	}
	if t.max == 0 && t.op != 'k' {
		t.max = e.mask()
	}
	t.val &= e.mask()
	t.low &= lowMask(t.know)
	e.terms = append(e.terms, t)
	return int32(len(e.terms) - 1)
}

func lowMask(n uint8) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// fold makes a constant from the known lowest n bits of a term.
func (e *evaluator) fold(v uint64, n uint8, pc bool) int32 {
	if pc {
		e.used = max(e.used, n)
	}
	return e.term(exprTerm{op: 'k', val: v, pc: pc})
}

func (e *evaluator) constant(v uint64) int32 { return e.term(exprTerm{op: 'k', val: v}) }

// isConst returns the value of a constant term.
func (e *evaluator) isConst(i int32) (uint64, bool) {
	t := &e.terms[i]
	return t.val, t.op == 'k'
}

// register returns the value of a register plus an offset.
func (e *evaluator) register(reg uint64, offset int64) (int32, error) {
	slot := e.regs.slot(reg)
	if slot == 0 {
		return 0, fmt.Errorf("uses %s, which has no name", e.regs.describe(reg))
	}
	t := exprTerm{op: 'r', reg: uint32(reg), val: uint64(offset), pc: slot == e.regs.pc}
	if t.pc && e.known {
		t.low, t.know = e.pc+uint64(offset), pageBits
		if e.fixed {
			t.know = uint8(e.regs.bits)
		}
	}
	return e.term(t), nil
}

// binary makes a term for an operator, after folding.
func (e *evaluator) binary(op byte, a, b int32, t exprTerm) int32 {
	t.op, t.a, t.b = op, a, b
	t.pc = e.terms[a].pc || e.terms[b].pc
	return e.term(t)
}

// no returns the reason why an operator cannot be written. If a pc is involved, it may
// become possible once the pc is known.
func (e *evaluator) no(name string, operands ...int32) error {
	if !e.known {
		for _, i := range operands {
			if e.terms[i].pc {
				return errNeedPC
			}
		}
	}
	return errors.New("cannot write " + name)
}

func (e *evaluator) add(a, b int32) int32 {
	x, y := e.terms[a], e.terms[b]
	if x.op == 'k' {
		a, b, x, y = b, a, y, x
	}
	know := min(x.know, y.know)
	low := (x.low + y.low) & lowMask(know)
	pc := x.pc || y.pc
	if y.op == 'k' {
		switch {
		case x.op == 'k':
			return e.term(exprTerm{op: 'k', val: x.val + y.val, pc: pc})
		case y.val == 0:
			return a
		case x.op == 'r' || x.op == 'c':
			x.val, x.low, x.know = x.val+y.val, low, know
			return e.term(x)
		case x.op == '+':
			if k, ok := e.isConst(x.b); ok {
				return e.add(x.a, e.constant(k+y.val))
			}
		}
	}
	t := exprTerm{low: low, know: know}
	if sum, carry := bits.Add64(x.max, y.max, 0); carry == 0 && sum <= e.mask() {
		t.max = sum
	}
	return e.binary('+', a, b, t)
}

func (e *evaluator) sub(a, b int32) int32 {
	if k, ok := e.isConst(b); ok {
		return e.add(a, e.constant(-k))
	}
	x, y := &e.terms[a], &e.terms[b]
	know := min(x.know, y.know)
	return e.binary('-', a, b, exprTerm{low: x.low - y.low, know: know})
}

func (e *evaluator) mul(a, b int32) int32 {
	x, y := e.terms[a], e.terms[b]
	if x.op == 'k' {
		a, b, x, y = b, a, y, x
	}
	t := exprTerm{low: x.low * y.low, know: min(x.know, y.know)}
	if y.op == 'k' {
		switch {
		case x.op == 'k':
			return e.term(exprTerm{op: 'k', val: x.val * y.val, pc: x.pc || y.pc})
		case y.val == 1:
			return a
		case y.val == 0:
			return e.constant(0)
		}
		t.know = uint8(min(uint(x.know)+uint(bits.TrailingZeros64(y.val)), e.regs.bits))
		t.low = x.low * y.val
	}
	if hi, lo := bits.Mul64(x.max, y.max); hi == 0 && lo <= e.mask() {
		t.max = lo
	}
	return e.binary('*', a, b, t)
}

// divide returns the unsigned quotient by a constant that is not 0.
func (e *evaluator) divide(a int32, k uint64) int32 {
	if v, ok := e.isConst(a); ok {
		return e.term(exprTerm{op: 'k', val: v / k, pc: e.terms[a].pc})
	}
	if k == 1 {
		return a
	}
	t := exprTerm{max: e.terms[a].max / k}
	if n := bits.TrailingZeros64(k); k&(k-1) == 0 && int(e.terms[a].know) > n {
		t.know, t.low = e.terms[a].know-uint8(n), e.terms[a].low>>n
	}
	if t.max == 0 {
		return e.constant(0)
	}
	return e.binary('/', a, e.constant(k), t)
}

// modulo returns the unsigned remainder by a constant that is not 0.
func (e *evaluator) modulo(a int32, k uint64) int32 {
	if v, ok := e.isConst(a); ok {
		return e.term(exprTerm{op: 'k', val: v % k, pc: e.terms[a].pc})
	}
	x := &e.terms[a]
	switch {
	case k == 1:
		return e.constant(0)
	case x.max < k:
		return a
	case k&(k-1) == 0 && bits.TrailingZeros64(k) <= int(x.know):
		return e.fold(x.low%k, uint8(bits.TrailingZeros64(k)), x.pc)
	}
	return e.binary('%', a, e.constant(k), exprTerm{max: min(x.max, k-1)})
}

// alignDown clears the bits below 2^n.
func (e *evaluator) alignDown(a int32, n int) int32 {
	if n == 0 {
		return a
	}
	x := &e.terms[a]
	t := exprTerm{max: x.max, know: max(x.know, uint8(n)), low: x.low &^ (1<<n - 1)}
	return e.binary('@', a, e.constant(1<<n), t)
}

// and returns the term for an AND. It can be written for masks that are one run of bits.
func (e *evaluator) and(a, b int32) (int32, error) {
	if _, ok := e.isConst(a); ok {
		a, b = b, a
	}
	m, ok := e.isConst(b)
	if !ok {
		return 0, e.no("DW_OP_and", a, b)
	}
	x := &e.terms[a]
	from, to := bits.TrailingZeros64(m), bits.Len64(m)
	switch {
	case m == 0:
		return e.constant(0), nil
	case x.op == 'k':
		return e.term(exprTerm{op: 'k', val: x.val & m, pc: x.pc}), nil
	case int(x.know) >= to:
		return e.fold(x.low&m, uint8(to), x.pc), nil
	case bits.OnesCount64(m) != to-from:
		return 0, e.no("DW_OP_and", a)
	}
	if uint(to) < e.regs.bits {
		a = e.modulo(a, 1<<to)
	}
	return e.alignDown(a, from), nil
}

// load loads a word, or a smaller integer from part of one.
func (e *evaluator) load(a int32, size uint64) (int32, error) {
	word := uint64(e.regs.bits / 8)
	if size == 0 || size > word {
		return 0, fmt.Errorf("cannot load %d bytes", size)
	}
	i := e.term(exprTerm{op: '^', a: a, pc: e.terms[a].pc})
	if size == word {
		return i, nil
	}
	if e.order == binary.ByteOrder(binary.BigEndian) {
		return e.divide(i, 1<<(8*(word-size))), nil
	}
	return e.modulo(i, 1<<(8*size)), nil
}
