package itanium

import "github.com/symtool/symtool/internal/demangle/mangled"

// expression reads an <expression>.
func (d *decoder) expression() ref {
	d.Enter()
	defer d.Leave()
	switch c, c2 := d.Peek(), d.Behind(); {
	case c == 'L':
		return d.literal()
	case c == 'T':
		return d.templateParam()
	case mangled.IsDigit(c), c == 'o' && c2 == 'n':
		return d.functionID()
	case c == 'u':
		return d.vendorCall()
	case c == 's' && c2 == 'r':
		return d.unresolvedName()
	case c == 'f' && c2 == 'p', c == 'f' && c2 == 'L' && d.Pos+2 < len(d.Src) && mangled.IsDigit(d.Src[d.Pos+2]):
		return d.functionParam()
	case d.Eat2('s', 'o'):
		return d.subobject()
	case d.Eat2('s', 'p'):
		return d.expansion(d.expression())
	case d.Eat2('s', 'Z'):
		pack := d.packIn(d.expression())
		if pack == 0 {
			return d.Fail()
		}
		return d.add1(kSizeofPack, pack)
	case d.Eat2('s', 'P'):
		return d.addList(kSizeofArgs, d.args())
	case d.Eat2('m', 'c'):
		return d.memberCast()
	case d.Eat2('i', 'l'):
		return d.add2(kBraced, 0, d.expressions('E'))
	case d.Eat2('t', 'l'):
		t := d.typ(false)
		return d.add2(kBraced, t, d.expressions('E'))
	case d.Eat2('s', 't'):
		return d.addUnary(operatorCode("st"), d.typ(false), unaryType)
	case d.Eat2('r', 'q'):
		return d.requires(0)
	case d.Eat2('r', 'Q'):
		return d.requires(d.requiresParams())
	}
	return d.operation()
}

// args reads template arguments up to E.
func (d *decoder) args() span {
	mark := len(d.Stack)
	for d.More('E') {
		d.Push(d.templateArg(span{}))
	}
	d.Want('E')
	return d.Pop(mark)
}

// expressions reads expressions up to end.
func (d *decoder) expressions(end byte) ref {
	mark := len(d.Stack)
	for d.More(end) {
		d.Push(d.expression())
	}
	d.Want(end)
	return d.addList(kExprList, d.Pop(mark))
}

func (d *decoder) addUnary(op operator, operand ref, form ref) ref {
	return d.add(node{kind: kUnary, op: uint8(op), f: [4]ref{operand, form}})
}

func (d *decoder) addBinary(op operator, left, right ref) ref {
	return d.add(node{kind: kBinary, op: uint8(op), f: [4]ref{left, right}})
}

// operation reads an operator with its operands.
func (d *decoder) operation() ref {
	op := d.operator()
	if d.Failed {
		return 0
	}
	if op == opConvert {
		return d.conversion()
	}
	info := &operators[op]
	switch info.args {
	case 0:
		return d.add(node{kind: kNullary, op: uint8(op)})
	case 1:
		form := ref(0)
		if (info.code == "pp" || info.code == "mm") && !d.Eat('_') {
			form = unarySuffix
		}
		return d.addUnary(op, d.expression(), form)
	case 2:
		return d.binary(op)
	}
	switch info.form {
	case opNew:
		return d.newExpression()
	case opBinaryFold:
		return d.fold(info.code == "fL", true)
	}
	n := node{kind: kTrinary, op: uint8(op)}
	for i := range 3 {
		n.f[i] = d.expression()
	}
	return d.add(n)
}

// conversion reads the part after cv: <type> <expression>, or <type> _ <expression>* E.
func (d *decoder) conversion() ref {
	cast := d.castType(true)
	if d.Eat('_') {
		return d.add2(kConvert, cast, d.expressions('E'))
	}
	return d.add2(kConvert, cast, d.expression())
}

// binary reads the operands of a binary operator.
func (d *decoder) binary(op operator) ref {
	info := &operators[op]
	var left ref
	switch info.form {
	case opCast:
		left = d.typ(false)
		return d.addBinary(op, left, d.expression())
	case opUnaryFold:
		return d.fold(info.code == "fl", false)
	case opField:
		if info.code == "di" {
			var cast bool
			if left, cast = d.unqualified(0); cast {
				d.setTemplate(left, 0)
			}
			return d.addBinary(op, left, d.expression())
		}
	}
	left = d.expression()
	switch info.form {
	case opCall, opParenCall:
		return d.addBinary(op, left, d.expressions('E'))
	case opMember:
		return d.addBinary(op, left, d.member())
	}
	return d.addBinary(op, left, d.expression())
}

// member reads the part after . or ->.
func (d *decoder) member() ref {
	if d.Peek() == 'L' {
		return d.literal()
	}
	if d.Eat2('g', 's') {
		return d.addUnary(operatorCode("gs"), d.memberName(), 0)
	}
	return d.memberName()
}

func (d *decoder) memberName() ref {
	if c, c2 := d.Peek(), d.Behind(); c == 's' && c2 == 'r' || c == 'g' && c2 == 's' {
		return d.Fail()
	}
	r := d.baseUnresolvedName()
	if d.Peek() == 'I' {
		r = d.template(r)
	}
	return r
}

// fold reads a fold expression: its operator, its operand and, if there is one, its initial
// value.
func (d *decoder) fold(left, binary bool) ref {
	op := d.operator()
	if op == opConvert {
		return d.Fail()
	}
	n := node{kind: kFold, op: uint8(op)}
	n.f[0] = d.expression()
	if binary {
		n.f[1] = d.expression()
	}
	if left {
		n.f[2] = 1
	}
	return d.add(n)
}

// newExpression reads the part after nw or na: <expression>* _ <type> E, or with an
// initializer instead of E.
func (d *decoder) newExpression() ref {
	n := node{kind: kNew}
	if !d.Eat('_') {
		n.f[0] = d.expressions('_')
	}
	n.f[1] = d.typ(false)
	switch {
	case d.Eat('E'):
	case d.Eat2('p', 'i'):
		n.f[2] = d.expressions('E')
	case d.Peek() == 'i' && d.Behind() == 'l':
		n.f[2] = d.expression()
	default:
		return d.Fail()
	}
	return d.add(n)
}

// functionID reads [on] <unqualified-name> [<template-args>].
func (d *decoder) functionID() ref {
	d.Eat2('o', 'n')
	r, cast := d.unqualified(0)
	if cast {
		d.setTemplate(r, 0)
	}
	if d.Peek() == 'I' {
		r = d.template(r)
	}
	return r
}

// functionParam reads fp [<qualifiers>] [<number>] _, fL <level> p ... the same, or fpT.
// Neither qualifiers nor levels are printed.
func (d *decoder) functionParam() ref {
	if d.Eat2('f', 'L') {
		d.number()
		d.Want('p')
	} else {
		d.Pos += 2
		if d.Eat('T') {
			return d.add1(kFunctionParam, 0)
		}
	}
	d.qualifiers()
	return d.add1(kFunctionParam, ref(d.index()+1))
}

// memberCast reads the part after mc: <type> <expression> [<offset>] E.
func (d *decoder) memberCast() ref {
	t := d.typ(false)
	x := d.expression()
	d.offset()
	d.Want('E')
	return d.add2(kPtrMemCast, t, x)
}

func (d *decoder) offset() int {
	if c := d.Peek(); c == 'n' || mangled.IsDigit(c) {
		return d.number()
	}
	return 0
}

// subobject reads the part after so: <type> <expression> [<offset>] <union-selector>* [p] E.
func (d *decoder) subobject() ref {
	t := d.typ(false)
	x := d.expression()
	offset := d.offset()
	for d.Eat('_') {
		d.offset()
	}
	d.Eat('p')
	d.Want('E')
	return d.add(node{kind: kSubobject, f: [4]ref{t, x, ref(offset)}})
}

// vendorCall reads u <source-name> <template-arg>* E. The argument of clang's __uuidof
// is a type after t or an expression after z.
func (d *decoder) vendorCall() ref {
	d.Want('u')
	name := d.sourceName()
	if n := d.nodes[name]; n.kind == kName && d.Src[n.f[0]:][:n.f[1]] == "__uuidof" {
		arg := ref(0)
		switch {
		case d.Eat('t'):
			arg = d.typ(false)
		case d.Eat('z'):
			arg = d.expression()
		}
		if arg != 0 {
			mark := len(d.Stack)
			d.Push(arg)
			return d.addBinary(operatorCode("cl"), name, d.addList(kExprList, d.Pop(mark)))
		}
	}
	return d.addBinary(operatorCode("cl"), name, d.addList(kExprList, d.args()))
}

// unresolvedName reads a member of a type that depends on template parameters. Compilers
// mangle it in two ways; only clang follows the ABI (section 5.1.6.1):
//
//	clang  sr <simple-id>+ E <name>, srN <type> <simple-id>+ E <name>, sr <type> <name>
//	GCC    sr <type> <name>
//
// The types and templates of a <type> count for substitutions, those of a <simple-id> do not.
func (d *decoder) unresolvedName() ref {
	d.Pos += 2
	d.unresolved++
	id := mangled.IsDigit(d.Peek())
	if id {
		d.unresolvedIDs++
	}
	if c := d.Peek(); !id && c != 'N' && c != 'T' && c != 'S' && c != 'D' {
		return d.Fail()
	}
	simple := id || d.dependent()
	if simple {
		d.twofold++
	}
	var scope ref
	if d.asGCC || !simple {
		scope = d.typ(false)
	} else {
		if d.Eat('N') {
			scope = d.typ(false)
		}
		for d.More('E') {
			id := d.simpleID()
			if scope == 0 {
				scope = id
			} else {
				scope = d.addScoped(scope, id, false)
			}
		}
		d.Want('E')
	}
	return d.addScoped(scope, d.memberName(), false)
}

// dependent reports whether a member of a template parameter, or of another type that is
// not spelled out, follows.
func (d *decoder) dependent() bool {
	c := d.Behind()
	return d.Peek() == 'N' && (c == 'T' || c == 'D' || c == 'S' && d.Pos+2 < len(d.Src) && d.Src[d.Pos+2] != 't')
}

// simpleID reads <source-name> [<template-args>].
func (d *decoder) simpleID() ref {
	if !mangled.IsDigit(d.Peek()) {
		return d.Fail()
	}
	r := d.tags(d.sourceName())
	if d.Peek() == 'I' {
		r = d.template(r)
	}
	return r
}

// baseUnresolvedName reads <simple-id>, on <operator-name>, or dn <destructor-name>. GCC
// omits on: PR 70182.
func (d *decoder) baseUnresolvedName() ref {
	var r ref
	switch {
	case d.Eat2('d', 'n'):
		if mangled.IsDigit(d.Peek()) {
			r = d.sourceName()
		} else {
			r = d.typ(false)
		}
		r = d.add1(kDtor, r)
	case mangled.IsDigit(d.Peek()):
		r = d.sourceName()
	default:
		d.Eat2('o', 'n')
		if op := d.operator(); op == opConvert {
			r = d.castType(true)
		} else {
			r = d.add(node{kind: kOperator, op: uint8(op)})
		}
	}
	if d.Peek() == 'I' {
		r = d.template(r)
	}
	return r
}

// requiresParams reads the parameters of a requires expression up to _.
func (d *decoder) requiresParams() ref {
	mark := len(d.Stack)
	for d.More('_') {
		d.Push(d.typ(false))
	}
	d.Want('_')
	return d.addList(kList, d.Pop(mark))
}

// requires reads the requirements of a requires expression.
func (d *decoder) requires(params ref) ref {
	mark := len(d.Stack)
	for d.More('E') {
		d.Push(d.requirement())
	}
	d.Want('E')
	s := d.Pop(mark)
	return d.add(node{kind: kRequires, f: [4]ref{params, s.Start, s.N}})
}

// requirement reads X <expression> [N] [R <constraint>], T <type>, or Q <expression>.
func (d *decoder) requirement() ref {
	switch {
	case d.Eat('X'):
		n := node{kind: kExprReq}
		n.f[0] = d.expression()
		if d.Eat('N') {
			n.op = 1
		}
		if d.Eat('R') {
			n.f[1], _ = d.name()
		}
		return d.add(n)
	case d.Eat('T'):
		return d.add1(kTypeReq, d.typ(false))
	case d.Eat('Q'):
		return d.add1(kNestedReq, d.expression())
	}
	return d.Fail()
}

// literal reads L <type> <value> E, or L [_] Z <encoding> E.
func (d *decoder) literal() ref {
	d.Enter()
	defer d.Leave()
	d.Want('L')
	if d.Eat2('_', 'Z') || d.Eat('Z') { // GCC omitted the underscore up to ABI version 3
		r := d.encoding(false)
		d.Want('E')
		return r
	}
	t := d.typ(false)
	n := node{kind: kLiteral}
	if d.Eat('n') {
		n.op = 1
	}
	if d.Peek() == 'E' && t != fixed.null {
		return d.emptyLiteral(t)
	}
	from := d.Pos
	for d.More('E') && d.Pos < len(d.Src) {
		d.Pos++
	}
	n.f = [4]ref{t, ref(from), ref(d.Pos - from)}
	d.Want('E')
	return d.add(n)
}

// emptyLiteral reads the end of a literal without a value: a lambda or a string.
func (d *decoder) emptyLiteral(t ref) ref {
	d.Want('E')
	n := &d.nodes[t]
	if n.kind == kClosure {
		return d.add1(kLambda, t)
	}
	if n.kind == kQualified {
		n = &d.nodes[n.f[0]]
	}
	if n.kind != kArray {
		return d.Fail()
	}
	return d.add1(kString, t)
}
