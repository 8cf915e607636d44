package itanium

import (
	"iter"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// templateArgs reads I <template-arg>* [<constraint>] E; J instead of I begins a pack.
func (d *decoder) templateArgs() (args span, constraint ref) {
	d.Pos++
	mark := len(d.Stack)
	for d.More('E') {
		d.Push(d.templateArg(span{Start: ref(mark), N: ref(len(d.Stack) - mark)}))
		if d.Peek() == 'Q' {
			constraint = d.constraint()
			if d.Peek() != 'E' {
				d.Fail()
			}
		}
	}
	d.Want('E')
	return d.Pop(mark), constraint
}

// templateArg reads a template argument. before are the arguments before it, on the stack.
func (d *decoder) templateArg(before span) ref {
	switch d.Peek() {
	case 'X':
		d.Pos++
		r := d.expression()
		d.Want('E')
		return r
	case 'L':
		return d.literal()
	case 'I', 'J':
		args, constraint := d.templateArgs()
		return d.constrained(d.addList(kArgPack, args), constraint)
	case 'T':
		switch d.Behind() {
		case 'y', 'n', 't', 'p', 'k':
			return d.qualifiedArg(before)
		}
	}
	return d.typ(false)
}

// qualifiedArg reads a template argument after the declaration of its parameter, which
// may refer to the arguments before it.
func (d *decoder) qualifiedArg(before span) ref {
	d.Enter()
	defer d.Leave()
	start := ref(len(d.Lists))
	d.Lists = append(d.Lists, d.Stack[before.Start:][:before.N]...)
	template := d.addTemplate(fixed.empty, span{Start: start, N: before.N})
	d.templates = append(d.templates, template)
	param, _ := d.paramDecl()
	d.templates = d.templates[:len(d.templates)-1]
	return d.add2(kQualifiedArg, param, d.templateArg(span{}))
}

// constrained adds a constraint to a name, if there is one.
func (d *decoder) constrained(r, constraint ref) ref {
	if constraint == 0 {
		return r
	}
	return d.add2(kConstraint, r, constraint)
}

// constraint reads Q <expression>.
func (d *decoder) constraint() ref {
	d.Want('Q')
	before := d.inConstraint
	d.inConstraint = true
	r := d.expression()
	d.inConstraint = before
	return r
}

// templateParam reads T [L <level> _] [<number>] _. Parameters in constraints are printed as
// they are mangled.
func (d *decoder) templateParam() ref {
	from := d.Pos
	d.Want('T')
	level := 0
	if d.Eat('L') {
		level = d.index()
	}
	index := d.index()
	if d.Failed {
		return 0
	}
	if d.inConstraint {
		return d.add2(kName, ref(from), ref(d.Pos-1-from))
	}
	// GCC mangles the auto parameters of a lambda like a template's: PR 78252.
	auto := d.lambdaLevel > 0 && level == d.lambdaLevel-1
	if level < len(d.templates) {
		template := d.templates[level]
		if template == 0 || index < int(d.nodes[template].f[2]) {
			return d.addParam(index, template)
		}
	}
	if !auto {
		return d.Fail()
	}
	return d.add1(kLambdaAuto, ref(index))
}

// setTemplate sets the template of the parameters in the type of a conversion. 0 means that
// there is no template, and that there must not be such a parameter.
func (d *decoder) setTemplate(r, template ref) {
	d.pass++
	d.setParams(r, template, false)
}

// setParams is setTemplate for a node and its parts. inClosure means that the node is in a
// lambda, which has no parameters of the conversion.
func (d *decoder) setParams(r, template ref, inClosure bool) {
	n := &d.nodes[r]
	if d.Failed || n.has&hasParam == 0 || n.kind != kTemplateParam && d.met(n) {
		return
	}
	switch {
	case n.kind == kTemplateParam && (inClosure || template == 0):
		if n.f[1] == 0 {
			d.Fail()
		}
		return
	case n.kind == kTemplateParam:
		if n.f[1] != 0 || n.f[0] >= d.nodes[template].f[2] {
			d.Fail()
			return
		}
		n.f[1] = template
		return
	case n.kind == kClosure:
		if inClosure = true; template != 0 {
			return
		}
	}
	d.deeper()
	for part := range d.visited(n) {
		d.setParams(part, template, inClosure)
	}
	d.tree--
}

// met reports whether the current traversal has met a node before.
func (d *decoder) met(n *node) bool {
	if n.pass == d.pass {
		return true
	}
	n.pass, n.memo = d.pass, 0
	return false
}

// visited yields the parts of a node that may hold template parameters.
func (d *decoder) visited(n *node) iter.Seq[ref] {
	return func(yield func(ref) bool) {
		l := &layouts[n.kind]
		for _, part := range n.f[:l.visited] {
			if !yield(part) {
				return
			}
		}
		if !l.list {
			return
		}
		for _, part := range d.list(n) {
			if !yield(part) {
				return
			}
		}
	}
}

// deeper counts how deep in the nodes a traversal is.
func (d *decoder) deeper() {
	if d.tree++; d.tree > mangled.MaxTree {
		d.TooMuch()
	}
}

// clearTemplates fails if there are parameters without a template among args.
func (d *decoder) clearTemplates(args span) {
	for i := range args.N {
		d.setTemplate(d.Lists[args.Start+i], 0)
	}
}

// castArgs reads what follows a template parameter in the type of a conversion: its own
// template arguments, if others follow them; otherwise the arguments are those of the
// conversion function, and are not read. candidate means that substitutions may refer to param.
func (d *decoder) castArgs(param ref, candidate bool) ref {
	before := *d
	args, constraint := d.templateArgs()
	if !d.Failed && d.Peek() == 'I' {
		if candidate {
			d.subs = append(d.subs, param)
		}
		return d.constrained(d.addTemplate(param, args), constraint)
	}
	if d.Costly {
		return d.Fail()
	}
	d.Pos, d.Failed, d.Depth = before.Pos, false, before.Depth
	d.subs, d.Stack, d.templates = d.subs[:len(before.subs)], d.Stack[:len(before.Stack)], d.templates[:len(before.templates)]
	d.lambdaLevel, d.inConstraint, d.declared = before.lambdaLevel, before.inConstraint, before.declared
	d.unresolved, d.unresolvedIDs, d.twofold = before.unresolved, before.unresolvedIDs, before.twofold
	return param
}

// expansion adds a pack expansion of a type or expression.
func (d *decoder) expansion(r ref) ref {
	return d.add2(kPackExpansion, r, d.packIn(r))
}

// packIn returns the argument pack of the first template parameter in r that stands for a
// pack, or 0.
func (d *decoder) packIn(r ref) ref {
	d.pass++
	return d.findPack(r)
}

func (d *decoder) findPack(r ref) (pack ref) {
	n := &d.nodes[r]
	if d.Failed || n.has&hasParam == 0 {
		return 0
	}
	switch n.kind {
	case kTemplateParam:
		if t := &d.nodes[n.f[1]]; n.f[1] != 0 && n.f[0] < t.f[2] {
			if arg := d.list(t)[n.f[0]]; d.kind(arg) == kArgPack {
				return arg
			}
		}
		return 0
	case kPackExpansion, kClosure, kTagged, kFixed, kDefaultArg:
		return 0
	}
	if d.met(n) {
		return 0
	}
	d.deeper()
	for part := range d.visited(n) {
		if pack = d.findPack(part); pack != 0 {
			break
		}
	}
	d.tree--
	return pack
}

// closure reads the part after Ul: [<template-param-decl>*] [<constraint>] <types>
// [<constraint>] E [<number>] _.
func (d *decoder) closure() ref {
	level := d.lambdaLevel
	d.lambdaLevel = len(d.templates) + 1
	templates := len(d.templates)
	params := d.paramDecls()
	var constraints [2]ref
	if d.Peek() == 'Q' {
		constraints[0] = d.constraint()
	}
	types := d.addList(kList, d.params(false))
	d.lambdaLevel, d.templates = level, d.templates[:templates]
	if d.Peek() == 'Q' {
		constraints[1] = d.constraint()
	}
	d.Want('E')
	n := node{kind: kClosure, f: [4]ref{params, types, 0, ref(d.index())}}
	if constraints != [2]ref{} {
		n.f[2] = d.add2(kPair, constraints[0], constraints[1])
	}
	return d.add(n)
}

// paramDecls reads the template parameters of a lambda into a kList, and makes them a template
// for what follows. It returns 0 if there are none.
func (d *decoder) paramDecls() ref {
	mark := len(d.Stack)
	template := ref(0)
	for isParamDecl(d.Peek(), d.Behind()) && !d.Failed {
		param, value := d.paramDecl()
		d.Push(param)
		if template == 0 {
			template = d.addTemplate(fixed.empty, span{})
			d.templates = append(d.templates, template)
		}
		d.addArg(template, value)
	}
	if template == 0 {
		return 0
	}
	return d.addList(kList, d.Pop(mark))
}

// addArg adds an argument to a template whose parameters are being declared.
func (d *decoder) addArg(template, arg ref) {
	n := &d.nodes[template]
	start := ref(len(d.Lists))
	d.Lists = append(d.Lists, d.list(n)...)
	d.Lists = append(d.Lists, arg)
	d.setSpan(n, span{Start: start, N: n.f[2] + 1})
}

func isParamDecl(c, c2 byte) bool {
	return c == 'T' && (c2 == 'y' || c2 == 'k' || c2 == 'n' || c2 == 't' || c2 == 'p')
}

// paramPrefixes begin the names of declared template parameters: types, values, templates.
var paramPrefixes = [...]string{"$T", "$N", "$TT"}

const (
	paramType = iota
	paramValue
	paramTemplate
)

// paramDecl reads the declaration of a template parameter. value is its name.
func (d *decoder) paramDecl() (param, value ref) {
	d.Enter()
	defer d.Leave()
	if !isParamDecl(d.Peek(), d.Behind()) {
		return d.Fail(), 0
	}
	c := d.Behind()
	d.Pos += 2
	switch c {
	case 'y':
		value = d.paramName(paramType)
		return d.add1(kTypeParam, value), value
	case 'k':
		before := d.inConstraint
		d.inConstraint = true
		concept, _ := d.name()
		d.inConstraint = before
		value = d.paramName(paramType)
		return d.add2(kConceptParam, value, concept), value
	case 'n':
		value = d.paramName(paramValue)
		return d.add2(kValueParam, value, d.typ(false)), value
	case 't':
		value = d.paramName(paramTemplate)
		return d.templateTemplate(value), value
	}
	param, value = d.paramDecl()
	return d.add1(kParamPack, param), value
}

func (d *decoder) paramName(prefix uint8) ref {
	i := d.declared[prefix]
	d.declared[prefix]++
	return d.add(node{kind: kParamName, op: prefix, f: [4]ref{i}})
}

// templateTemplate reads the parameters of a template template parameter.
func (d *decoder) templateTemplate(name ref) ref {
	mark := len(d.Stack)
	template, constraint := ref(0), ref(0)
	templates := len(d.templates)
	for d.More('E') {
		param, value := d.paramDecl()
		d.Push(param)
		if template == 0 {
			template = d.addTemplate(fixed.empty, span{})
			d.templates = append(d.templates, template)
		}
		d.addArg(template, value)
		if d.Peek() == 'Q' {
			if constraint = d.constraint(); d.Peek() != 'E' {
				d.Fail()
			}
		}
	}
	d.Want('E')
	d.templates = d.templates[:templates]
	s := d.Pop(mark)
	return d.add(node{kind: kTemplateTempl, f: [4]ref{name, constraint, s.Start, s.N}})
}
