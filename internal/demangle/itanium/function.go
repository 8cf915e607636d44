package itanium

import (
	"strings"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// encoding reads the name and type of a function, a variable, or a special name. local means
// that names that are local to the function follow.
func (d *decoder) encoding(local bool) ref {
	d.Enter()
	defer d.Leave()
	if c := d.Peek(); c == 'G' || c == 'T' {
		return d.special()
	}
	name, explicit := d.name()
	name = d.simplify(name)
	if d.Failed || d.Pos == len(d.Src) || d.Peek() == 'E' {
		return name // a variable
	}
	template, level := d.templateOf(name), d.lambdaLevel
	if template != 0 {
		d.templates = append(d.templates, template)
		d.lambdaLevel = 0
	}
	const enableIf = "Ua9enable_ifI"
	var conditions span
	var condition, constraint ref
	if strings.HasPrefix(d.Src[d.Pos:], enableIf) {
		d.Pos += len(enableIf) - 1
		conditions, condition = d.templateArgs()
	}
	function := d.bareFunction(d.returns(name), explicit)
	if d.Peek() == 'Q' {
		constraint = d.constraint()
	}
	if template != 0 {
		d.templates = d.templates[:len(d.templates)-1]
		d.lambdaLevel = level
	}
	function = d.simplify(function)
	if d.Failed {
		return 0
	}
	if local {
		d.nodes[function].op = 1
	}
	name, function = d.hoist(name, function)
	if d.kind(name) == kConstraint && constraint == 0 {
		n := d.nodes[name]
		name, constraint = n.f[0], n.f[1]
	}
	r := d.add2(kTyped, name, function)
	if conditions.N > 0 {
		r = d.add(node{kind: kEnableIf, f: [4]ref{r, conditions.Start, conditions.N}})
		r = d.constrained(r, condition)
	}
	return d.constrained(r, constraint)
}

// hoist moves the qualifiers of a member function from its name to its type.
func (d *decoder) hoist(name, function ref) (ref, ref) {
	n := d.nodes[name]
	switch {
	case n.kind == kMethod:
		return n.f[0], d.qualifyMethod(&n, function)
	case n.kind != kScoped || n.op == 0:
		return name, function
	}
	entity := d.nodes[n.f[1]]
	if entity.kind == kDefaultArg {
		if m := d.nodes[entity.f[0]]; m.kind == kMethod {
			arg := d.add(node{kind: kDefaultArg, f: [4]ref{m.f[0], entity.f[1]}})
			return d.addScoped(n.f[0], arg, true), d.qualifyMethod(&m, function)
		}
	}
	if entity.kind == kMethod {
		return d.addScoped(n.f[0], entity.f[0], true), d.qualifyMethod(&entity, function)
	}
	return name, function
}

// qualifyMethod returns function with the qualifiers of a kMethod.
func (d *decoder) qualifyMethod(m *node, function ref) ref {
	return d.add(node{kind: kMethod, op: m.op, f: [4]ref{function, m.f[1]}})
}

func (d *decoder) addScoped(scope, name ref, local bool) ref {
	n := node{kind: kScoped, f: [4]ref{scope, name}}
	if local {
		n.op = 1
	}
	return d.add(n)
}

// templateOf returns the template that a function is an instance of, or 0.
func (d *decoder) templateOf(r ref) ref {
	for {
		switch n := &d.nodes[r]; n.kind {
		case kTemplate:
			return r
		case kScoped:
			if n.op == 0 && d.kind(n.f[1]) != kCtor {
				return 0
			}
			r = n.f[1]
		case kMethod, kConstraint:
			r = n.f[0]
		case kCtor:
			r = n.f[1]
		default:
			return 0
		}
	}
}

// returns reports whether a function's mangled type begins with the type of its result
// (section 5.1.5.3).
func (d *decoder) returns(r ref) bool {
	for {
		switch n := &d.nodes[r]; n.kind {
		case kScoped:
			if n.op == 0 {
				return false
			}
			r = n.f[1]
		case kTemplate:
			return !d.isStructor(n.f[0])
		case kQualified, kMethod, kConstraint:
			r = n.f[0]
		default:
			return false
		}
	}
}

// isStructor reports whether a name names a constructor, destructor or conversion, which may have
// ABI tags.
func (d *decoder) isStructor(r ref) bool {
	for {
		switch n := &d.nodes[r]; n.kind {
		case kScoped:
			r = n.f[1]
		case kTagged:
			r = n.f[0]
		default:
			return n.kind == kCtor || n.kind == kDtor || n.kind == kCast
		}
	}
}

// local reads Z <encoding> E and a name in that function, a string literal, or a name in
// one of its default arguments.
func (d *decoder) local() (r ref, explicit bool) {
	d.Want('Z')
	function := d.encoding(true)
	d.Want('E')
	if d.Eat('s') {
		d.discriminator()
		return d.addScoped(function, fixed.stringLiteral, true), false
	}
	arg := -1
	if d.Eat('d') {
		arg = d.index()
	}
	r, explicit = d.name()
	d.discriminator()
	if arg >= 0 {
		r = d.add(node{kind: kDefaultArg, f: [4]ref{r, ref(arg)}})
	}
	return d.addScoped(function, r, true), explicit
}

// discriminator skips _ <digit>, or __ <number> _. clang omits the underscores at the end
// of a name.
func (d *decoder) discriminator() {
	if !d.Eat('_') {
		at := d.Pos
		for at < len(d.Src) && mangled.IsDigit(d.Src[at]) {
			at++
		}
		if at == len(d.Src) {
			d.Pos = at
		}
		return
	}
	long := d.Eat('_')
	n := d.number()
	if n < 0 {
		d.Fail()
	}
	if long && n >= 10 {
		d.Want('_')
	}
}

// unnamedType reads the part after Ut.
func (d *decoder) unnamedType() ref {
	r := d.add1(kUnnamedType, ref(d.index()))
	d.subs = append(d.subs, r)
	return r
}

// unnamedEnum reads the part after Ue.
func (d *decoder) unnamedEnum() ref {
	underlying := d.typ(false)
	r := d.add2(kUnnamedEnum, underlying, d.sourceName())
	d.subs = append(d.subs, r)
	return r
}
