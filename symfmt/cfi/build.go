package cfi

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// Builder builds expressions from operations in postfix order.
type Builder struct {
	names *Names
	code  []uint32
	first int // start in code of the expression being built; earlier expressions share the memory
}

// Builder returns a Builder for expressions with n's registers.
func (n *Names) Builder() Builder { return Builder{names: n} }

// Value appends the value of a register or of .cfa.
func (b *Builder) Value(r Reg) { b.code = appendReg(b.code, r) }

// Const appends a constant, truncated to the CPU's word size.
func (b *Builder) Const(v uint64) { b.code = appendConst(b.code, b.names.wrap(v)) }

// Apply appends one of the operators + - * / % @ ^.
func (b *Builder) Apply(operator byte) {
	b.code = append(b.code, opAdd+uint32(strings.IndexByte(opText, operator)))
}

// Sum appends base's value plus an offset, which is written even if it is 0.
func (b *Builder) Sum(base Reg, offset int64) {
	b.Value(base)
	b.Const(uint64(offset))
	b.Apply('+')
}

// Expr returns the expression built since its last call.
func (b *Builder) Expr() Expr {
	e := Expr{b.code[b.first:len(b.code):len(b.code)], b.names}
	if b.first = len(b.code); cap(b.code)-b.first < builderRoom {
		b.code, b.first = make([]uint32, 0, builderChunk), 0
	}
	return e
}

// Most expressions are a few words, so many share an allocation of builderChunk words. A new one is made
// if fewer than builderRoom are left.
const (
	builderChunk = 256
	builderRoom  = 32
)

// Op is one operation of an expression.
type Op struct {
	Kind  OpKind
	Reg   Reg    // for OpValue
	Const uint64 // for OpConst
	Apply byte   // for OpApply: one of + - * / % @ ^ =
}

// OpKind is what an Op does.
type OpKind uint8

// Kinds of Op.
const (
	OpValue OpKind = iota // pushes the value of a register, or of .cfa
	OpConst               // pushes a constant
	OpApply               // applies an operator
	OpUndef               // .undef
	OpBad                 // a constant that is not decimal or does not fit the word
)

// CutLoad returns e without the load from memory at its end, if it ends with one.
func (e Expr) CutLoad() (address Expr, ok bool) {
	last := -1
	for i := 0; i < len(e.code); i += opSize(e.code[i]) {
		last = i
	}
	if last < 0 || e.code[last] != opLoad {
		return e, false
	}
	return Expr{e.code[:last:last], e.names}, true
}

// Ops returns the operations of e in order.
func (e Expr) Ops() iter.Seq[Op] {
	return func(yield func(Op) bool) {
		for code := e.code; len(code) > 0; code = code[opSize(code[0]):] {
			if !yield(opOf(code)) {
				return
			}
		}
	}
}

// opOf returns the operation at the start of code.
func opOf(code []uint32) Op {
	switch op, arg := code[0]&(1<<opBits-1), code[0]>>opBits; op {
	case opReg, opVar:
		return Op{Kind: OpValue, Reg: Reg(arg)}
	case opCFA:
		return Op{Kind: OpValue, Reg: CFA}
	case opSmall, opConst:
		return Op{Kind: OpConst, Const: constant(code)}
	case opUndef:
		return Op{Kind: OpUndef}
	case opBad:
		return Op{Kind: OpBad}
	default:
		return Op{Kind: OpApply, Apply: opText[op-opAdd]}
	}
}

// Translate returns rules, which belong to another Names and perhaps to another
// CPU, as rules of n. Like parsing, it may add names; it leaves out the rules of
// registers for which there is no room, and replaces expressions that use such
// registers with .undef.
func (n *Names) Translate(rules Rules) Rules {
	out := make(Rules, 0, len(rules))
	for _, rule := range rules {
		from := rule.Expr.names
		if from == n || from == nil {
			out = append(out, rule)
			continue
		}
		if reg := n.adopt(from, rule.Reg); reg != NoReg {
			out = append(out, Rule{reg, n.translate(rule.Expr)})
		}
	}
	return out
}

// TranslateRow translates a row as Translate translates rules.
func (n *Names) TranslateRow(r *Row) Row {
	out := Row{RVA: r.RVA}
	if len(r.Regs) > 0 {
		out.Regs = make([]Rule, 0, len(r.Regs))
	}
	all := append(Rules{{CFA, r.CFA}, {RA, r.RA}}, r.Regs...)
	out.Apply(n.Translate(slices.DeleteFunc(all, func(rule Rule) bool { return rule.Expr.IsZero() })))
	return out
}

func (n *Names) translate(e Expr) Expr {
	to := make([]uint32, 0, len(e.code))
	for code := e.code; len(code) > 0; code = code[opSize(code[0]):] {
		switch op := code[0] & (1<<opBits - 1); op {
		case opReg, opVar, opBad:
			reg := n.adopt(e.names, Reg(code[0]>>opBits))
			if reg == NoReg {
				return n.Undef()
			}
			to = append(to, uint32(reg)<<opBits|op)
		case opSmall, opConst:
			to = appendConst(to, n.wrap(constant(code)))
		default:
			to = append(to, code[0])
		}
	}
	return Expr{to, n}
}

// adopt returns the register of n with the same name as r in from.
func (n *Names) adopt(from *Names, r Reg) Reg {
	if r < 0 || n.arch == from.arch && int(r) < from.known+len(from.homes) {
		return r
	}
	if name := from.Name(r); name != ".ra" {
		return n.intern(name)
	}
	return n.internOther(".ra")
}

// Pack returns rules in a fifth of the memory: for each rule its register, the
// number of words of its expression, and the words.
func (r Rules) Pack() []uint32 {
	n := 0
	for _, rule := range r {
		n += 2 + len(rule.Expr.code)
	}
	packed := make([]uint32, 0, n)
	for _, rule := range r {
		packed = append(packed, uint32(rule.Reg), uint32(len(rule.Expr.code)))
		packed = append(packed, rule.Expr.code...)
	}
	return packed
}

// Unpack returns the rules that Pack packed. They refer to packed.
func (n *Names) Unpack(packed []uint32) Rules {
	count := 0
	for p := packed; len(p) > 0; p = p[2+p[1]:] {
		count++
	}
	rules := make(Rules, 0, count)
	for p := packed; len(p) > 0; p = p[2+p[1]:] {
		end := 2 + p[1]
		rules = append(rules, Rule{Reg(p[0]), Expr{p[2:end:end], n}})
	}
	return rules
}

// AppendCode appends an encoding of r: two rule sets of the same Names have equal
// encodings if and only if they have the same operations for the same registers
// in the same order.
func (r Rules) AppendCode(dst []byte) []byte {
	for _, rule := range r {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(rule.Reg))
		dst = rule.Expr.AppendCode(dst)
	}
	return dst
}

// AppendCode appends an encoding of e: two expressions of the same Names have
// equal encodings if and only if they have the same operations.
func (e Expr) AppendCode(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.code)))
	for _, w := range e.code {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}
