package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/cfi"
)

// DWARF expressions (DWARF 5, 2.5 and 6.4.2) as Breakpad postfix. The expression is executed on a
// stack of terms instead of values; the term left on top is written as postfix. Breakpad computes
// modulo the word size, unsigned, and has + - * / % @ (align down) ^ (load a word). Other DWARF
// operations are written with these only if the values are the same for every input.
//
// The pc is a term like any register. If an operator cannot be written for it, the expression is
// executed again for each pc. In a file that may be loaded anywhere, only the low 12 bits of the
// pc are known, as segments move by pages.

// exprForm says what an expression's value means.
type exprForm uint8

const (
	formCFA exprForm = iota // the CFA
	formAt                  // where the register is saved; starts with the CFA on the stack
	formIs                  // the register's value; starts with the CFA on the stack
)

// Limits for one expression. Compilers write up to ten operations.
const (
	maxStack  = 64  // terms on the stack
	maxTerms  = 512 // terms created
	maxSteps  = 256 // operations, including repeated ones
	maxTokens = 128 // words of postfix
	pageBits  = 12

	// maxWork bounds the operations that a module's size does not bound: those of expressions
	// that depend on the pc, and of loops.
	maxWork = 1 << 24
)

// exprTerm is a node of an expression; a and b are indices of terms.
type exprTerm struct {
	op   byte   // 'k' constant, 'r' register + val, 'c' CFA + val, or Breakpad's operator
	pc   bool   // depends on the pc
	a, b int32  // operands
	reg  uint32 // DWARF number, for 'r'
	val  uint64
	max  uint64 // upper bound of its value
	low  uint64 // known value of the lowest bits
	know uint8
}

var (
	errNeedPC = errors.New("depends on the pc")
	errOwnCFA = errors.New("the CFA depends on itself")
)

// evaluator translates expressions.
type evaluator struct {
	order binary.ByteOrder
	fixed bool

	regs  *regTable // for the expression being translated
	form  exprForm
	known bool // the pc is known
	pc    uint64
	used  uint8 // number of its lowest bits that were used

	work  int // operations left
	terms []exprTerm
	stack []int32
	build cfi.Builder
	key   []byte

	byKey map[string]regRule // translated expressions, with their errors in errs
	errs  map[string]error
	byPC  []pcExpr
	codes map[string]uint32
	exprs []cfi.Expr // by number
}

// pcExpr is an expression that depends on the pc.
type pcExpr struct {
	regs  *regTable
	form  exprForm
	data  []byte
	bits  uint8              // the number of low bits of the pc that results depended on
	cache map[uint64]regRule // by these bits
	err   error              // the first error, until it is reported
	bad   bool               // had an error
}

func (e *evaluator) init(in *Input, names *cfi.Names) {
	e.build = names.Builder()
	e.order, e.fixed, e.work = in.Order, in.Fixed, maxWork
	for i := range in.Sections {
		e.work += len(in.Sections[i].Data)
	}
	e.byKey, e.errs = make(map[string]regRule), make(map[string]error)
	e.codes = make(map[string]uint32)
}

// rule translates an expression. If it cannot be written, rule returns a ruleLost rule and an
// error with the reason and the expression.
func (e *evaluator) rule(regs *regTable, data []byte, form exprForm) (regRule, error) {
	e.key = append(append(e.key[:0], byte(form), byte(regs.id)), data...)
	if rule, ok := e.byKey[string(e.key)]; ok {
		return rule, e.errs[string(e.key)]
	}
	rule, err := e.translate(regs, data, form, 0, false)
	if err == errNeedPC {
		rule = regRule{kind: rulePC, ref: uint32(len(e.byPC))}
		e.byPC = append(e.byPC, pcExpr{regs: regs, form: form, data: data, cache: make(map[uint64]regRule)})
		err = nil
	}
	if err != nil {
		rule = regRule{kind: ruleLost}
		err = fmt.Errorf("%w: %s", err, printExpr(data, e.order, regs))
		e.errs[string(e.key)] = err
	}
	e.byKey[string(e.key)] = rule
	return rule, err
}

// at returns the rule of an expression that depends on the pc, for one pc.
func (e *evaluator) at(ref uint32, pc uint64) regRule {
	x := &e.byPC[ref]
	if rule, ok := x.cache[pc&lowMask(x.bits)]; ok {
		return rule
	}
	rule, err := e.translate(x.regs, x.data, x.form, pc, true)
	if err != nil {
		rule = regRule{kind: ruleLost}
		if !x.bad {
			x.bad, x.err = true, fmt.Errorf("%w: %s", err, printExpr(x.data, e.order, x.regs))
		}
	}
	if e.used > x.bits || len(x.cache) >= 1<<pageBits {
		clear(x.cache)
		x.bits = max(x.bits, e.used)
	}
	x.cache[pc&lowMask(x.bits)] = rule
	return rule
}

func (e *evaluator) translate(regs *regTable, data []byte, form exprForm, pc uint64, known bool) (regRule, error) {
	e.regs, e.form, e.pc, e.known, e.used = regs, form, pc, known, 0
	e.terms, e.stack = e.terms[:0], e.stack[:0]
	if form != formCFA {
		e.push(e.term(exprTerm{op: 'c'}))
	}
	if err := e.run(data); err != nil {
		return regRule{}, err
	}
	if len(e.stack) == 0 {
		return regRule{}, errors.New("leaves nothing on the stack")
	}
	return e.result(e.stack[len(e.stack)-1])
}

// result converts the term to a rule: a plain one if possible, so that equal rules are equal
// values.
func (e *evaluator) result(i int32) (regRule, error) {
	t := &e.terms[i]
	val := e.regs.wrap(int64(t.val))
	switch {
	case t.op == 'c' && e.form == formAt:
		return regRule{kind: ruleAt, val: val}, nil
	case t.op == 'c' && e.form == formIs:
		return regRule{kind: ruleIs, val: val}, nil
	case t.op == 'r' && e.form != formAt:
		return regRule{kind: ruleReg, ref: t.reg, val: val}, nil
	}
	tokens := 0
	err := e.postfix(i, 1, &tokens)
	if e.form == formAt {
		e.build.Apply('^')
	}
	expr := e.build.Expr()
	if err != nil {
		return regRule{}, err
	}
	return regRule{kind: ruleExpr, ref: e.intern(expr)}, nil
}

func (e *evaluator) intern(expr cfi.Expr) uint32 {
	code := expr.AppendCode(nil)
	id, ok := e.codes[string(code)]
	if !ok {
		id = uint32(len(e.exprs))
		e.exprs = append(e.exprs, expr)
		e.codes[string(code)] = id
	}
	return id
}

// postfix adds the operations of a term to e.build, for an evaluation that has depth values on
// its stack including this one.
func (e *evaluator) postfix(i int32, depth int, tokens *int) error {
	if *tokens++; *tokens > maxTokens || depth >= cfi.MaxDepth {
		return fmt.Errorf("more than %d terms or %d deep", maxTokens, cfi.MaxDepth)
	}
	t := &e.terms[i]
	switch t.op {
	case 'k':
		e.build.Const(t.val)
	case 'r':
		e.build.Value(e.regs.reg(uint64(t.reg)))
		e.plus(t.val)
	case 'c':
		if e.form == formCFA {
			return errOwnCFA
		}
		e.build.Value(cfi.CFA)
		e.plus(t.val)
	default:
		if err := e.postfix(t.a, depth, tokens); err != nil {
			return err
		}
		if t.op != '^' {
			if err := e.postfix(t.b, depth+1, tokens); err != nil {
				return err
			}
		}
		e.build.Apply(t.op)
	}
	return nil
}

func (e *evaluator) plus(val uint64) {
	if e.regs.wrap(int64(val)) != 0 {
		e.build.Const(val)
		e.build.Apply('+')
	}
}

func (e *evaluator) push(i int32) { e.stack = append(e.stack, i) }

// pop returns the top of the stack; run has checked the depth.
func (e *evaluator) pop() int32 {
	i := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	return i
}

// run executes an expression.
func (e *evaluator) run(data []byte) error {
	c := bin.New("", data, e.order)
	for steps := 0; c.Len() > 0; steps++ {
		e.work--
		if steps == maxSteps || e.work < 0 || len(e.stack) > maxStack || len(e.terms) > maxTerms {
			return errors.New("takes too many steps")
		}
		op := c.U8()
		if need := operandCount(op); len(e.stack) < need {
			return fmt.Errorf("%s with %d of %d operands", opName(op), len(e.stack), need)
		}
		err := e.step(op, &c)
		if c.Err() != nil {
			return errors.New("ends within an operation")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
