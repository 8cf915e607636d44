package cfi

import (
	"slices"
	"strconv"
)

// Expr is an expression. The zero Expr stands for a missing one.
type Expr struct {
	code  []uint32
	names *Names
}

// An expression's code has one word for each token: the operation in the low
// byte, its argument above. The constant of an opConst follows in two more
// words.
const (
	opReg    = iota // argument: Reg; its value
	opVar           // argument: Reg; the variable, whose value is taken when it is used
	opBad           // argument: Reg whose name is the malformed constant
	opSmall         // argument: constant
	opConst         // constant in the next two words, low one first
	opCFA           // .cfa
	opUndef         // .undef
	opAdd           // from here on operators, in the order of opText
	opSub           //
	opMul           //
	opDiv           //
	opMod           //
	opAlign         //
	opLoad          //
	opAssign        //
)

const opText = "+-*/%@^="

const opBits = 8

func opSize(w uint32) int {
	if w&(1<<opBits-1) == opConst {
		return 3
	}
	return 1
}

// appendConst appends an operation for v, which is already wrapped.
func appendConst(code []uint32, v uint64) []uint32 {
	if s := int64(v); int64(int32(s<<opBits)>>opBits) == s {
		return append(code, uint32(s)<<opBits|opSmall)
	}
	return append(code, opConst, uint32(v), uint32(v>>32))
}

// constant returns the value of an opSmall or opConst at the start of code.
func constant(code []uint32) uint64 {
	if code[0]&(1<<opBits-1) == opSmall {
		return uint64(int64(int32(code[0]) >> opBits))
	}
	return uint64(code[1]) | uint64(code[2])<<32
}

// appendReg appends an operation for the value of a register or of .cfa.
func appendReg(code []uint32, r Reg) []uint32 {
	if r == CFA {
		return append(code, opCFA)
	}
	return append(code, opReg+uint32(r)<<opBits)
}

// IsZero reports whether e is the zero Expr.
func (e Expr) IsZero() bool { return len(e.code) == 0 }

// Size returns the size of the operations of e in memory, in bytes.
func (e Expr) Size() int { return 4 * len(e.code) }

// IsUndef reports whether e is .undef alone.
func (e Expr) IsUndef() bool { return len(e.code) == 1 && e.code[0] == opUndef }

// EndOfStack is the .ra rule that every walker takes for the end of a stack, on every
// CPU. Breakpad, rust-minidump and LLDB accept no return address below 4096, but
// Breakpad's x86-64 walker takes 0 to mean that the rules failed, and goes on to scan
// the stack (TestOracleBreakpadStore).
const EndOfStack = 1

// firstPage is the size of the first page, which no system uses for code.
const firstPage = 4096

// EndsStack reports whether e, as the rule for .ra, means that there is no caller:
// EndOfStack, or any other number below 4096. Other dumpers and older versions write
// 0.
func (e Expr) EndsStack() bool {
	if len(e.code) == 0 || len(e.code) != opSize(e.code[0]) {
		return false
	}
	switch e.code[0] & (1<<opBits - 1) {
	case opSmall, opConst:
		return constant(e.code) < firstPage
	}
	return false
}

// Offset returns the expression of base's value plus offset. Base is a register or
// CFA.
func (n *Names) Offset(base Reg, offset int64) Expr {
	code := appendReg(nil, base)
	if v := n.wrap(uint64(offset)); v != 0 {
		code = append(appendConst(code, v), opAdd)
	}
	return Expr{code, n}
}

// Load returns the expression of the word in memory at base's value plus offset.
func (n *Names) Load(base Reg, offset int64) Expr {
	e := n.Offset(base, offset)
	e.code = append(e.code, opLoad)
	return e
}

// Undef returns the expression .undef.
func (n *Names) Undef() Expr { return Expr{[]uint32{opUndef}, n} }

// AsOffset returns the base and offset of an expression that Offset could have
// made, whatever its form.
func (e Expr) AsOffset() (base Reg, offset int64, ok bool) {
	return baseOffset(e.normal())
}

// AsLoad returns the base and offset of an expression that Load could have
// made, whatever its form.
func (e Expr) AsLoad() (base Reg, offset int64, ok bool) {
	code := e.normal()
	if len(code) < 2 || code[len(code)-1] != opLoad {
		return NoReg, 0, false
	}
	return baseOffset(code[:len(code)-1])
}

// baseOffset takes "base" or "base offset +" apart.
func baseOffset(code []uint32) (Reg, int64, bool) {
	if len(code) == 0 {
		return NoReg, 0, false
	}
	base := NoReg
	switch code[0] & (1<<opBits - 1) {
	case opReg:
		base = Reg(code[0] >> opBits)
	case opCFA:
		base = CFA
	default:
		return NoReg, 0, false
	}
	if len(code) == 1 {
		return base, 0, true
	}
	op := code[1] & (1<<opBits - 1)
	end := 1 + opSize(code[1])
	if (op == opSmall || op == opConst) && len(code) == end+1 && code[end] == opAdd {
		return base, int64(constant(code[1:])), true
	}
	return NoReg, 0, false
}

// Uses calls f for each use of a register in e, including CFA, in order.
func (e Expr) Uses(f func(Reg)) {
	for code := e.code; len(code) > 0; code = code[opSize(code[0]):] {
		switch code[0] & (1<<opBits - 1) {
		case opReg, opVar:
			f(Reg(code[0] >> opBits))
		case opCFA:
			f(CFA)
		}
	}
}

// String returns the text of e: its tokens as parsed, separated by one space,
// constants without a plus sign or leading zeros, and constants in the upper
// half of the word's range as negative numbers.
func (e Expr) String() string { return string(e.appendTo(nil)) }

// appendTo appends the text of e.
func (e Expr) appendTo(dst []byte) []byte { return appendCode(dst, e.names, e.code) }

func appendCode(dst []byte, n *Names, code []uint32) []byte {
	for i := 0; i < len(code); i += opSize(code[i]) {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = appendOp(dst, n, code[i:])
	}
	return dst
}

// appendOp appends the text of the first operation of code.
func appendOp(dst []byte, n *Names, code []uint32) []byte {
	op, arg := code[0]&(1<<opBits-1), code[0]>>opBits
	switch op {
	case opReg, opVar, opBad:
		return append(dst, n.Name(Reg(arg))...)
	case opSmall, opConst:
		return strconv.AppendInt(dst, int64(constant(code)), 10)
	case opCFA:
		return append(dst, ".cfa"...)
	case opUndef:
		return append(dst, ".undef"...)
	}
	return append(dst, opText[op-opAdd])
}

// Equal reports whether e and o, of the same Names, have the same effect, as
// far as a normal form shows: sums in any order and grouping, constants folded.
func (e Expr) Equal(o Expr) bool {
	return slices.Equal(e.code, o.code) || slices.Equal(e.normal(), o.normal())
}

// Check returns the fault, if any, that makes every evaluation of e fail. It does not
// report registers without a value or .undef.
func (e Expr) Check() error {
	depth, token := 0, 0
	fail := func(k Kind) error { return fault{kind: k, token: token}.error(e.names, NoReg, e.code) }
	if e.IsZero() {
		return fail(Empty)
	}
	for code := e.code; len(code) > 0; code = code[opSize(code[0]):] {
		token++
		op := code[0] & (1<<opBits - 1)
		switch {
		case op == opBad:
			return fail(BadConstant)
		case op == opAssign:
			return fail(Assignment)
		case op == opLoad && depth < 1, op >= opAdd && op < opLoad && depth < 2:
			return fail(Underflow)
		case op >= opAdd && op < opLoad:
			depth--
		case op < opAdd:
			depth++
		}
		if depth > MaxDepth {
			return fail(Overflow)
		}
	}
	if depth != 1 {
		token = 0
		return fail(Leftover)
	}
	return nil
}
