package symelf

import (
	"encoding/binary"
	"math/bits"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Reasons why a rule is left out.
const (
	whyRegister = "a rule uses a register without a DWARF number"
	whyDivision = "DWARF divides signed numbers"
	whyFails    = "a rule whose evaluation always fails"
	whyDeep     = "DW_OP_pick reaches only 255 values deep"
	whySelf     = "the CFA depends on itself"
)

// postfix translates an expression in Breakpad's postfix into DWARF's.
type postfix struct {
	names *cfi.Names
	order byteOrder
	cfa   bool // DWARF pushes the CFA first

	out    []byte
	depth  int // number of values above that CFA
	consts []constAt
}

// constAt is a constant on top of the stack and the start of its code.
type constAt struct {
	depth, start int
	value        uint64
}

// translate returns the operations of an expression, or the reason why it cannot
// be translated.
func (p *postfix) translate(e cfi.Expr) (ops []byte, why string) {
	p.out, p.depth, p.consts = nil, 0, p.consts[:0]
	uses, first := 0, true
	e.Uses(func(r cfi.Reg) {
		if r == cfi.CFA {
			uses++
		}
	})
	for op := range e.Ops() {
		if first && p.cfa && uses == 1 && op.Kind == cfi.OpValue && op.Reg == cfi.CFA {
			p.depth, first = 1, false // it is already there, and needed only once
			continue
		}
		first = false
		if why := p.op(op); why != "" {
			return nil, why
		}
	}
	if p.depth != 1 {
		return nil, whyFails
	}
	return p.out, ""
}

func (p *postfix) op(op cfi.Op) (why string) {
	switch op.Kind {
	case cfi.OpApply:
		return p.operator(op.Apply)
	case cfi.OpConst:
		p.depth++
		p.consts = append(p.consts, constAt{p.depth, len(p.out), op.Const})
		p.constant(op.Const)
		return ""
	case cfi.OpUndef, cfi.OpBad:
		return whyRegister
	}
	if op.Reg == cfi.CFA {
		return p.pickCFA()
	}
	n, ok := p.names.Arch().RegNumber(p.names.Name(op.Reg))
	if !ok {
		return whyRegister
	}
	if n < 32 {
		p.out = append(p.out, dw.OpBreg0+byte(n), 0)
	} else {
		p.out = append(binary.AppendUvarint(append(p.out, dw.OpBregx), n), 0)
	}
	p.depth++
	return ""
}

func (p *postfix) constant(v uint64) {
	switch s := int64(v); {
	case v < 32:
		p.out = append(p.out, dw.OpLit0+byte(v))
	case v < 1<<8:
		p.out = append(p.out, dw.OpConst1u, byte(v))
	case v < 1<<16:
		p.out = p.order.AppendUint16(append(p.out, dw.OpConst2u), uint16(v))
	case s < 0:
		p.out = bin.AppendSLEB(append(p.out, dw.OpConsts), s)
	default:
		p.out = binary.AppendUvarint(append(p.out, dw.OpConstu), v)
	}
}

// pickCFA copies the CFA from the bottom of the stack.
func (p *postfix) pickCFA() string {
	switch {
	case !p.cfa:
		return whySelf
	case p.depth > 255:
		return whyDeep
	}
	p.out = append(p.out, dw.OpPick, byte(p.depth))
	p.depth++
	return ""
}

// operator applies c to the values on the stack.
func (p *postfix) operator(c byte) (why string) {
	if c == '^' {
		if p.depth < 1 {
			return whyFails
		}
		p.out = append(p.out, dw.OpDeref)
		p.forget(p.depth)
		return ""
	}
	if p.depth < 2 || c == '=' {
		return whyFails
	}
	top, isConst := p.top()
	switch c {
	case '+':
		if isConst && int64(top.value) >= 0 {
			p.out = binary.AppendUvarint(append(p.out[:top.start], dw.OpPlusUconst), top.value)
		} else {
			p.out = append(p.out, dw.OpPlus)
		}
	case '-':
		p.out = append(p.out, dw.OpMinus)
	case '*':
		p.out = append(p.out, dw.OpMul)
	case '%':
		if !isConst || bits.OnesCount64(top.value) != 1 {
			return whyDivision
		}
		p.out = p.out[:top.start]
		p.constant(top.value - 1)
		p.out = append(p.out, dw.OpAnd)
	case '/':
		if !isConst || bits.OnesCount64(top.value) != 1 {
			return whyDivision
		}
		p.out = p.out[:top.start]
		p.constant(uint64(bits.TrailingZeros64(top.value)))
		p.out = append(p.out, dw.OpShr)
	case '@':
		if isConst && bits.OnesCount64(top.value) != 1 {
			return whyFails
		}
		p.out = append(p.out, dw.OpNeg, dw.OpAnd) // -b is the mask of the bits to keep
	}
	p.depth--
	p.forget(p.depth)
	return ""
}

// top returns the constant on top of the stack, if it is one.
func (p *postfix) top() (constAt, bool) {
	if n := len(p.consts); n > 0 && p.consts[n-1].depth == p.depth {
		return p.consts[n-1], true
	}
	return constAt{}, false
}

// forget records that the value at a depth and those above it are not constants.
func (p *postfix) forget(depth int) {
	for n := len(p.consts); n > 0 && p.consts[n-1].depth >= depth; n-- {
		p.consts = p.consts[:n-1]
	}
}
