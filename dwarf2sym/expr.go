package dwarf2sym

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/cfi"
)

// DWARF expressions (DWARF 5, 2.5 and 6.4.2) as Breakpad postfix. The
// expression is run on a stack of terms instead of values; the term that is
// left on top is printed. Breakpad computes modulo the word size, unsigned, and
// has + - * / % @ (align down) ^ (load a word); what DWARF does otherwise is
// written with these only where the values are the same for every input.
//
// The pc is a term like any register. When an operator cannot be written for
// it, the expression is run again for each pc. Of a file that is loaded
// anywhere only the low 12 bits of the pc are known: segments move by pages.

// cfiForm says what an expression's value means.
type cfiForm uint8

const (
	cfiExprCFA cfiForm = iota // the CFA
	cfiExprAt                 // where the register is saved; starts with the CFA on the stack
	cfiExprIs                 // the register's value; starts with the CFA on the stack
)

// Limits for one expression. Compilers write up to ten operations.
const (
	cfiMaxStack  = 64  // terms on the stack
	cfiMaxTerms  = 512 // terms made
	cfiMaxSteps  = 256 // operations, in loops too
	cfiMaxTokens = 128 // words of postfix
	cfiPageBits  = 12

	// cfiMaxWork bounds the operations for all expressions, for what a module
	// has beyond its size: those that depend on the pc, and loops.
	cfiMaxWork = 1 << 24
)

// cfiTerm is a node of an expression; a and b are indexes of terms.
type cfiTerm struct {
	op   byte   // 'k' constant, 'r' register + val, 'c' CFA + val, or Breakpad's operator
	pc   bool   // depends on the pc
	a, b int32  // operands
	reg  uint32 // DWARF number, for 'r'
	val  uint64
	max  uint64 // no value of it is greater
	low  uint64 // what is known of the value, in the lowest known bits
	know uint8
}

var (
	errCFINeedPC = errors.New("depends on the pc")
	errCFICFA    = errors.New("the CFA depends on itself")
)

// cfiEval translates expressions.
type cfiEval struct {
	order binary.ByteOrder
	fixed bool

	regs  *cfiRegs // of the expression being translated
	form  cfiForm
	known bool // the pc is known
	pc    uint64

	work  int // operations that are left
	terms []cfiTerm
	stack []int32
	text  []byte
	key   []byte

	byKey map[string]cfiRule // translated ones, with their error in errs
	errs  map[string]error
	byPC  []cfiPCExpr
	texts map[string]uint32
	posts []string // postfix by number
}

// cfiPCExpr is an expression that depends on the pc.
type cfiPCExpr struct {
	regs  *cfiRegs
	form  cfiForm
	data  []byte
	cache map[uint64]cfiRule // by what is known of the pc
	err   error              // the first, until it is reported
	bad   bool               // had an error
}

func (e *cfiEval) init(in *cfiInput) {
	e.order, e.fixed, e.work = in.order, in.fixed, cfiMaxWork
	for i := range in.sections {
		e.work += len(in.sections[i].data)
	}
	e.byKey, e.errs = make(map[string]cfiRule), make(map[string]error)
	e.texts = make(map[string]uint32)
}

// rule translates an expression. One that cannot be written gives a cfiLost
// rule and an error that says why, with the expression.
func (e *cfiEval) rule(regs *cfiRegs, data []byte, form cfiForm) (cfiRule, error) {
	e.key = append(append(e.key[:0], byte(form), byte(regs.id)), data...)
	if rule, ok := e.byKey[string(e.key)]; ok {
		return rule, e.errs[string(e.key)]
	}
	rule, err := e.translate(regs, data, form, 0, false)
	if err == errCFINeedPC {
		rule = cfiRule{kind: cfiPC, ref: uint32(len(e.byPC))}
		e.byPC = append(e.byPC, cfiPCExpr{regs: regs, form: form, data: data, cache: make(map[uint64]cfiRule)})
		err = nil
	}
	if err != nil {
		rule = cfiRule{kind: cfiLost}
		err = fmt.Errorf("%w: %s", err, cfiPrintExpr(data, e.order, regs))
		e.errs[string(e.key)] = err
	}
	e.byKey[string(e.key)] = rule
	return rule, err
}

// at gives the rule of an expression that depends on the pc, for one pc.
func (e *cfiEval) at(ref uint32, pc uint64) cfiRule {
	x := &e.byPC[ref]
	key := pc
	if !e.fixed {
		key &= 1<<cfiPageBits - 1
	} else if len(x.cache) >= 1<<cfiPageBits {
		clear(x.cache)
	}
	rule, ok := x.cache[key]
	if !ok {
		var err error
		if rule, err = e.translate(x.regs, x.data, x.form, pc, true); err != nil {
			rule = cfiRule{kind: cfiLost}
			if !x.bad {
				x.bad, x.err = true, fmt.Errorf("%w: %s", err, cfiPrintExpr(x.data, e.order, x.regs))
			}
		}
		x.cache[key] = rule
	}
	return rule
}

func (e *cfiEval) translate(regs *cfiRegs, data []byte, form cfiForm, pc uint64, known bool) (cfiRule, error) {
	e.regs, e.form, e.pc, e.known = regs, form, pc, known
	e.terms, e.stack = e.terms[:0], e.stack[:0]
	if form != cfiExprCFA {
		e.push(e.term(cfiTerm{op: 'c'}))
	}
	if err := e.run(data); err != nil {
		return cfiRule{}, err
	}
	if len(e.stack) == 0 {
		return cfiRule{}, errors.New("leaves nothing on the stack")
	}
	return e.result(e.stack[len(e.stack)-1])
}

// result turns the term into a rule: a plain one where there is one, so that
// equal rules are equal values.
func (e *cfiEval) result(i int32) (cfiRule, error) {
	t := &e.terms[i]
	val := e.regs.wrap(int64(t.val))
	switch {
	case t.op == 'c' && e.form == cfiExprAt:
		return cfiRule{kind: cfiAt, val: val}, nil
	case t.op == 'c' && e.form == cfiExprIs:
		return cfiRule{kind: cfiIs, val: val}, nil
	case t.op == 'r' && e.form != cfiExprAt:
		return cfiRule{kind: cfiReg, ref: t.reg, val: val}, nil
	}
	e.text = e.text[:0]
	tokens := 0
	if err := e.print(i, 1, &tokens); err != nil {
		return cfiRule{}, err
	}
	if e.form == cfiExprAt {
		e.text = append(e.text, " ^"...)
	}
	return cfiRule{kind: cfiText, ref: e.intern()}, nil
}

func (e *cfiEval) intern() uint32 {
	id, ok := e.texts[string(e.text)]
	if !ok {
		id = uint32(len(e.posts))
		e.posts = append(e.posts, string(e.text))
		e.texts[e.posts[id]] = id
	}
	return id
}

// print writes a term into e.text, for an evaluation that has depth values on
// its stack with this one.
func (e *cfiEval) print(i int32, depth int, tokens *int) error {
	if *tokens++; *tokens > cfiMaxTokens || depth >= cfi.MaxDepth {
		return fmt.Errorf("more than %d terms or %d deep", cfiMaxTokens, cfi.MaxDepth)
	}
	t := &e.terms[i]
	switch t.op {
	case 'k':
		e.word(strconv.FormatInt(e.regs.wrap(int64(t.val)), 10))
	case 'r':
		e.word(e.regs.name(uint64(t.reg)))
		e.plus(t.val)
	case 'c':
		if e.form == cfiExprCFA {
			return errCFICFA
		}
		e.word(".cfa")
		e.plus(t.val)
	default:
		if err := e.print(t.a, depth, tokens); err != nil {
			return err
		}
		if t.op != '^' {
			if err := e.print(t.b, depth+1, tokens); err != nil {
				return err
			}
		}
		e.word(string(t.op))
	}
	return nil
}

func (e *cfiEval) word(s string) {
	if len(e.text) > 0 {
		e.text = append(e.text, ' ')
	}
	e.text = append(e.text, s...)
}

func (e *cfiEval) plus(val uint64) {
	if v := e.regs.wrap(int64(val)); v != 0 {
		e.word(strconv.FormatInt(v, 10))
		e.word("+")
	}
}

// Terms.

func (e *cfiEval) mask() uint64 { return ^uint64(0) >> (64 - e.regs.bits) }

// term adds a term. What is known of all its bits makes it a constant.
func (e *cfiEval) term(t cfiTerm) int32 {
	if t.op == 'k' {
		t.val &= e.mask()
		t.max, t.low, t.know = t.val, t.val, uint8(e.regs.bits)
	} else if uint(t.know) >= e.regs.bits {
		return e.term(cfiTerm{op: 'k', val: t.low, pc: t.pc})
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

func (e *cfiEval) constant(v uint64) int32 { return e.term(cfiTerm{op: 'k', val: v}) }

// isConst returns the value of a constant term.
func (e *cfiEval) isConst(i int32) (uint64, bool) {
	t := &e.terms[i]
	return t.val, t.op == 'k'
}

// register is the value of a register plus an offset.
func (e *cfiEval) register(reg uint64, offset int64) (int32, error) {
	slot := e.regs.slot(reg)
	if slot == 0 {
		return 0, fmt.Errorf("uses %s, which has no name", e.regs.describe(reg))
	}
	t := cfiTerm{op: 'r', reg: uint32(reg), val: uint64(offset), pc: slot == e.regs.pc}
	if t.pc && e.known {
		t.low, t.know = e.pc+uint64(offset), cfiPageBits
		if e.fixed {
			t.know = uint8(e.regs.bits)
		}
	}
	return e.term(t), nil
}

// binary makes a term of an operator; folding has been done.
func (e *cfiEval) binary(op byte, a, b int32, t cfiTerm) int32 {
	t.op, t.a, t.b = op, a, b
	t.pc = e.terms[a].pc || e.terms[b].pc
	return e.term(t)
}

// no says why an operator cannot be written: perhaps it can once the pc is
// known.
func (e *cfiEval) no(name string, operands ...int32) error {
	if !e.known {
		for _, i := range operands {
			if e.terms[i].pc {
				return errCFINeedPC
			}
		}
	}
	return errors.New("cannot write " + name)
}

func (e *cfiEval) add(a, b int32) int32 {
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
			return e.term(cfiTerm{op: 'k', val: x.val + y.val, pc: pc})
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
	t := cfiTerm{low: low, know: know}
	if sum, carry := bits.Add64(x.max, y.max, 0); carry == 0 && sum <= e.mask() {
		t.max = sum
	}
	return e.binary('+', a, b, t)
}

func (e *cfiEval) sub(a, b int32) int32 {
	if k, ok := e.isConst(b); ok {
		return e.add(a, e.constant(-k))
	}
	x, y := &e.terms[a], &e.terms[b]
	know := min(x.know, y.know)
	return e.binary('-', a, b, cfiTerm{low: x.low - y.low, know: know})
}

func (e *cfiEval) mul(a, b int32) int32 {
	x, y := e.terms[a], e.terms[b]
	if x.op == 'k' {
		a, b, x, y = b, a, y, x
	}
	t := cfiTerm{low: x.low * y.low, know: min(x.know, y.know)}
	if y.op == 'k' {
		switch {
		case x.op == 'k':
			return e.term(cfiTerm{op: 'k', val: x.val * y.val, pc: x.pc || y.pc})
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

// divide is unsigned division by a constant that is not 0.
func (e *cfiEval) divide(a int32, k uint64) int32 {
	if v, ok := e.isConst(a); ok {
		return e.term(cfiTerm{op: 'k', val: v / k, pc: e.terms[a].pc})
	}
	if k == 1 {
		return a
	}
	t := cfiTerm{max: e.terms[a].max / k}
	if n := bits.TrailingZeros64(k); k&(k-1) == 0 && int(e.terms[a].know) > n {
		t.know, t.low = e.terms[a].know-uint8(n), e.terms[a].low>>n
	}
	if t.max == 0 {
		return e.constant(0)
	}
	return e.binary('/', a, e.constant(k), t)
}

// modulo is the unsigned remainder by a constant that is not 0.
func (e *cfiEval) modulo(a int32, k uint64) int32 {
	if v, ok := e.isConst(a); ok {
		return e.term(cfiTerm{op: 'k', val: v % k, pc: e.terms[a].pc})
	}
	x := &e.terms[a]
	switch {
	case k == 1:
		return e.constant(0)
	case x.max < k:
		return a
	case k&(k-1) == 0 && bits.TrailingZeros64(k) <= int(x.know):
		return e.term(cfiTerm{op: 'k', val: x.low % k, pc: x.pc})
	}
	return e.binary('%', a, e.constant(k), cfiTerm{max: min(x.max, k-1)})
}

// alignDown clears the bits below 2^n.
func (e *cfiEval) alignDown(a int32, n int) int32 {
	if n == 0 {
		return a
	}
	x := &e.terms[a]
	t := cfiTerm{max: x.max, know: max(x.know, uint8(n)), low: x.low &^ (1<<n - 1)}
	return e.binary('@', a, e.constant(1<<n), t)
}

// and can be written for masks of one run of bits.
func (e *cfiEval) and(a, b int32) (int32, error) {
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
		return e.term(cfiTerm{op: 'k', val: x.val & m, pc: x.pc}), nil
	case int(x.know) >= to:
		return e.term(cfiTerm{op: 'k', val: x.low & m, pc: x.pc}), nil
	case bits.OnesCount64(m) != to-from:
		return 0, e.no("DW_OP_and", a)
	}
	if uint(to) < e.regs.bits {
		a = e.modulo(a, 1<<to)
	}
	return e.alignDown(a, from), nil
}

// word loads a word, load a smaller integer out of one.
func (e *cfiEval) load(a int32, size uint64) (int32, error) {
	word := uint64(e.regs.bits / 8)
	if size == 0 || size > word {
		return 0, fmt.Errorf("cannot load %d bytes", size)
	}
	i := e.term(cfiTerm{op: '^', a: a, pc: e.terms[a].pc})
	if size == word {
		return i, nil
	}
	if e.order == binary.ByteOrder(binary.BigEndian) {
		return e.divide(i, 1<<(8*(word-size))), nil
	}
	return e.modulo(i, 1<<(8*size)), nil
}

func (e *cfiEval) push(i int32) { e.stack = append(e.stack, i) }

// pop returns the top of the stack; run has checked the depth.
func (e *cfiEval) pop() int32 {
	i := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	return i
}

// run executes an expression.
func (e *cfiEval) run(data []byte) error {
	c := bin.New("", data, e.order)
	for steps := 0; c.Len() > 0; steps++ {
		e.work--
		if steps == cfiMaxSteps || e.work < 0 || len(e.stack) > cfiMaxStack || len(e.terms) > cfiMaxTerms {
			return errors.New("takes too many steps")
		}
		op := c.U8()
		if need := cfiOperands(op); len(e.stack) < need {
			return fmt.Errorf("%s with %d of %d operands", cfiOpName(op), len(e.stack), need)
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
