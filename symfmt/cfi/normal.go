package cfi

import "slices"

// normal returns code with the same effect as e's that is equal for expressions
// that differ only in the order and grouping of sums, the order of factors, or
// unfolded constants. Malformed code stays as it is, and any code with .undef
// becomes .undef.
func (e Expr) normal() []uint32 {
	if e.isNormal() || e.Check() != nil {
		return e.code
	}
	var stack []sum
	for i := 0; i < len(e.code); i += opSize(e.code[i]) {
		w := e.code[i]
		switch op := w & (1<<opBits - 1); op {
		case opSmall, opConst:
			stack = append(stack, sum{offset: constant(e.code[i:])})
		case opUndef:
			return []uint32{opUndef}
		case opReg, opCFA:
			stack = append(stack, single([]uint32{w}))
		case opLoad:
			top := &stack[len(stack)-1]
			*top = single(append(top.code(e.names), opLoad))
		default:
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = append(stack[:len(stack)-2], e.names.combine(op, a, b))
		}
	}
	return stack[0].code(e.names)
}

// isNormal recognises the commonest normal forms: "base", "base offset +" and
// "base offset + ^". It may return false for others.
func (e Expr) isNormal() bool {
	code := e.code
	if n := len(code); n > 0 && code[n-1] == opLoad {
		code = code[:n-1]
	}
	_, offset, ok := baseOffset(code)
	return ok && (offset != 0 || len(code) == 1)
}

// sum is a sum of terms and an offset.
type sum struct {
	terms  []term
	offset uint64
}

// term is a summand or, if minus is set, a subtrahend.
type term struct {
	minus bool
	code  []uint32
}

func single(code []uint32) sum { return sum{terms: []term{{code: code}}} }

// code returns the sum's code: summands, subtrahends, offset.
func (s sum) code(n *Names) []uint32 {
	slices.SortFunc(s.terms, func(a, b term) int {
		switch {
		case a.minus == b.minus:
			return slices.Compare(a.code, b.code)
		case b.minus:
			return -1
		}
		return 1
	})
	offset := n.wrap(s.offset)
	var code []uint32
	if len(s.terms) == 0 || s.terms[0].minus {
		code, offset = appendConst(nil, offset), 0
	}
	for _, t := range s.terms {
		first := len(code) == 0
		code = append(code, t.code...)
		switch {
		case t.minus:
			code = append(code, opSub)
		case !first:
			code = append(code, opAdd)
		}
	}
	if offset != 0 {
		code = append(appendConst(code, offset), opAdd)
	}
	return code
}

// combine returns a op b. It takes over their memory.
func (n *Names) combine(op uint32, a, b sum) sum {
	switch op {
	case opAdd:
		return sum{append(a.terms, b.terms...), a.offset + b.offset}
	case opSub:
		for _, t := range b.terms {
			a.terms = append(a.terms, term{!t.minus, t.code})
		}
		return sum{a.terms, a.offset - b.offset}
	}
	if len(a.terms)+len(b.terms) == 0 {
		if v, k := calc(op, a.offset&n.mask, b.offset&n.mask); k == 0 {
			return sum{offset: v}
		}
	}
	x, y := a.code(n), b.code(n)
	if op == opMul && slices.Compare(x, y) > 0 {
		x, y = y, x
	}
	return single(append(slices.Concat(x, y), op))
}
