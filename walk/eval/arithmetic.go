package eval

import (
	"math/big"

	"github.com/symtool/symtool/symfmt/vars"
)

// operate returns a op b, where b is the top of the stack.
func operate(op vars.OpCode, a, b number) (number, *failure) {
	switch op {
	case vars.OpShl, vars.OpShr, vars.OpShra:
		return shift(op, a, b)
	}
	a, b, fault := sameType(a, b)
	if fault != nil {
		return number{}, fault
	}
	switch op {
	case vars.OpEq, vars.OpNe, vars.OpGe, vars.OpGt, vars.OpLe, vars.OpLt:
		return compare(op, a, b)
	}
	if a.class == float {
		return floatArithmetic(op, a, b)
	}
	out := a
	switch op {
	case vars.OpPlus:
		out.lo = a.lo + b.lo
		out.hi = a.hi + b.hi
		if out.lo < a.lo {
			out.hi++
		}
	case vars.OpMinus:
		out.lo = a.lo - b.lo
		out.hi = a.hi - b.hi
		if a.lo < b.lo {
			out.hi--
		}
	case vars.OpMul:
		out.lo, out.hi = mul128(a, b)
	case vars.OpAnd:
		out.lo, out.hi = a.lo&b.lo, a.hi&b.hi
	case vars.OpOr:
		out.lo, out.hi = a.lo|b.lo, a.hi|b.hi
	case vars.OpXor:
		out.lo, out.hi = a.lo^b.lo, a.hi^b.hi
	case vars.OpDiv, vars.OpMod:
		return divide(op, a, b)
	default:
		return number{}, invalid("operation %d does not have two operands", op)
	}
	return out.mask(), nil
}

// sameType makes the types of two operands equal. DWARF requires that they are (section 2.5.1.4),
// but clang and rustc mix integers with generic values, which then take the other's type.
func sameType(a, b number) (number, number, *failure) {
	if a.class == b.class && a.size == b.size {
		return a, b, nil
	}
	switch {
	case a.class == generic && b.class < float:
		a = a.extend(b.size, b.class == signed)
		a.class = b.class
		return a, b, nil
	case b.class == generic && a.class < float:
		b = b.extend(a.size, a.class == signed)
		b.class = a.class
		return a, b, nil
	}
	return a, b, invalid("operands of different types")
}

// divide divides integers. Generic values are signed in a quotient, but unsigned in a remainder
// (section 2.5.1.4).
func divide(op vars.OpCode, a, b number) (number, *failure) {
	if b.isZero() {
		return number{}, invalid("division by zero")
	}
	if a.class == generic {
		a.class, b.class = signed, signed
		if op == vars.OpMod {
			a.class, b.class = unsigned, unsigned
		}
		out, fault := divide(op, a, b)
		out.class = generic
		return out, fault
	}
	q, r := new(big.Int).QuoRem(a.asInt(), b.asInt(), new(big.Int))
	if op == vars.OpMod {
		q = r
	}
	return intOf(q, a.class, a.size), nil
}

// shift shifts a by b bits, whatever the type of b is.
func shift(op vars.OpCode, a, b number) (number, *failure) {
	if a.class >= float || b.class >= float || b.class == signed && b.negative() {
		return number{}, invalid("a shift with an operand that is not an integer")
	}
	by := uint(128)
	if b.hi == 0 && b.lo < 128 {
		by = uint(b.lo)
	}
	from := a
	from.class = unsigned
	if op == vars.OpShra {
		from.class = signed
	}
	v := from.asInt()
	if op == vars.OpShl {
		v.Lsh(v, by)
	} else {
		v.Rsh(v, by) // rounds towards negative infinity, as an arithmetic shift does
	}
	return intOf(v, a.class, a.size), nil
}

// compare compares numbers. Generic values are signed. The result is generic.
func compare(op vars.OpCode, a, b number) (number, *failure) {
	c := 0
	if a.class == float {
		x, ok1 := a.asFloat()
		y, ok2 := b.asFloat()
		if !ok1 || !ok2 {
			return number{}, invalid("a comparison of numbers that are not finite")
		}
		c = x.Cmp(y)
	} else if a.class == opaque {
		return number{}, invalid("a comparison of a value that is not a number")
	} else {
		c = a.asInt().Cmp(b.asInt())
	}
	holds := false
	switch op {
	case vars.OpEq:
		holds = c == 0
	case vars.OpNe:
		holds = c != 0
	case vars.OpGe:
		holds = c >= 0
	case vars.OpGt:
		holds = c > 0
	case vars.OpLe:
		holds = c <= 0
	case vars.OpLt:
		holds = c < 0
	}
	out := number{class: generic, size: 8}
	if holds {
		out.lo = 1
	}
	return out, nil
}

func floatArithmetic(op vars.OpCode, a, b number) (number, *failure) {
	x, ok1 := a.asFloat()
	y, ok2 := b.asFloat()
	if !ok1 || !ok2 {
		return number{}, invalid("arithmetic with numbers that are not finite")
	}
	prec := uint(64)
	switch a.size {
	case 4:
		prec = 24
	case 8:
		prec = 53
	}
	out := new(big.Float).SetPrec(prec)
	switch op {
	case vars.OpPlus:
		out.Add(x, y)
	case vars.OpMinus:
		out.Sub(x, y)
	case vars.OpMul:
		out.Mul(x, y)
	case vars.OpDiv:
		if y.Sign() == 0 {
			return number{}, invalid("division by zero")
		}
		out.Quo(x, y)
	default:
		return number{}, invalid("operation %d of floating-point numbers", op)
	}
	n, ok := floatOf(out, a.size)
	if !ok {
		return number{}, invalid("a floating-point number of %d bytes", a.size)
	}
	return n, nil
}

// unary returns the result of an operation with one operand.
func unary(op vars.OpCode, a number) (number, *failure) {
	if a.class == float {
		sign := uint64(1) << (8*min(a.size, 8) - 1)
		at := &a.lo
		if a.size >= x87Size {
			sign, at = 1<<15, &a.hi
		}
		switch op {
		case vars.OpNeg:
			*at ^= sign
			return a, nil
		case vars.OpAbs:
			*at &^= sign
			return a, nil
		}
		return a, invalid("operation %d of a floating-point number", op)
	}
	zero := number{class: a.class, size: a.size}
	switch {
	case op == vars.OpNot:
		a.lo, a.hi = ^a.lo, ^a.hi
		return a.mask(), nil
	case op == vars.OpAbs && (a.class == unsigned || !a.negative()):
		return a, nil
	}
	return operate(vars.OpMinus, zero, a)
}
