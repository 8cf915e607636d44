package symelf

import (
	"encoding/binary"
	"math/bits"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/cfi"
)

// DWARF operations (DWARF 5, table 7.9).
const (
	opDeref   = 0x06
	opConst1u = 0x08
	opConst2u = 0x0a
	opConstu  = 0x10
	opConsts  = 0x11
	opPick    = 0x15
	opAnd     = 0x1a
	opMinus   = 0x1c
	opMod     = 0x1d
	opMul     = 0x1e
	opNeg     = 0x1f
	opPlus    = 0x22
	opPlusU   = 0x23
	opShr     = 0x25
	opLit0    = 0x30
	opBreg0   = 0x70
	opBregx   = 0x92
)

// Why a rule is left out.
const (
	whyRegister = "a rule names a register without a DWARF number"
	whyDivision = "DWARF divides signed numbers"
	whyFails    = "a rule that no evaluation succeeds with"
	whyDeep     = "DW_OP_pick reaches 255 values deep"
	whySelf     = "the CFA depends on itself"
)

// postfix translates an expression in Breakpad's postfix into DWARF's.
type postfix struct {
	names *cfi.Names
	order byteOrder
	cfa   bool // DWARF puts the CFA onto the stack first

	out    []byte
	depth  int // values on the stack above that CFA
	consts []constAt
}

// constAt is a constant that is the top of the stack, and where its code begins.
type constAt struct {
	depth, start int
	value        uint64
}

// translate returns the operations of an expression, or the reason why it has none.
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
			p.depth, first = 1, false // it is there, and needed once only
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
		p.out = append(p.out, opBreg0+byte(n), 0)
	} else {
		p.out = append(binary.AppendUvarint(append(p.out, opBregx), n), 0)
	}
	p.depth++
	return ""
}

func (p *postfix) constant(v uint64) {
	switch s := int64(v); {
	case v < 32:
		p.out = append(p.out, opLit0+byte(v))
	case v < 1<<8:
		p.out = append(p.out, opConst1u, byte(v))
	case v < 1<<16:
		p.out = p.order.AppendUint16(append(p.out, opConst2u), uint16(v))
	case s < 0:
		p.out = bin.AppendSLEB(append(p.out, opConsts), s)
	default:
		p.out = binary.AppendUvarint(append(p.out, opConstu), v)
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
	p.out = append(p.out, opPick, byte(p.depth))
	p.depth++
	return ""
}

// operator applies c to the values on the stack.
func (p *postfix) operator(c byte) (why string) {
	if c == '^' {
		if p.depth < 1 {
			return whyFails
		}
		p.out = append(p.out, opDeref)
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
			p.out = binary.AppendUvarint(append(p.out[:top.start], opPlusU), top.value)
		} else {
			p.out = append(p.out, opPlus)
		}
	case '-':
		p.out = append(p.out, opMinus)
	case '*':
		p.out = append(p.out, opMul)
	case '%':
		if !isConst || bits.OnesCount64(top.value) != 1 {
			return whyDivision
		}
		p.out = p.out[:top.start]
		p.constant(top.value - 1)
		p.out = append(p.out, opAnd)
	case '/':
		if !isConst || bits.OnesCount64(top.value) != 1 {
			return whyDivision
		}
		p.out = p.out[:top.start]
		p.constant(uint64(bits.TrailingZeros64(top.value)))
		p.out = append(p.out, opShr)
	case '@':
		if isConst && bits.OnesCount64(top.value) != 1 {
			return whyFails
		}
		p.out = append(p.out, opNeg, opAnd) // -b has the bits that stay
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

// forget records that the value at a depth, and what was above, is not a constant.
func (p *postfix) forget(depth int) {
	for n := len(p.consts); n > 0 && p.consts[n-1].depth >= depth; n-- {
		p.consts = p.consts[:n-1]
	}
}
