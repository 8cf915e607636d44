package itanium

import "github.com/symtool/symtool/internal/demangle/mangled"

// name reads a <name>. explicit reports a function with an explicit object parameter.
func (d *decoder) name() (r ref, explicit bool) {
	d.Enter()
	defer d.Leave()
	module := ref(0)
	switch d.Peek() {
	case 'N':
		return d.nested()
	case 'Z':
		return d.local()
	case 'U':
		r, cast := d.unqualified(0)
		if cast {
			d.setTemplate(r, 0)
		}
		return r, false
	case 'S':
		if d.Behind() == 't' {
			d.Pos += 2
			n, cast := d.unqualified(0)
			return d.nameArgs(d.addScoped(fixed.stdName, n, false), cast, false), false
		}
		switch r = d.substitution(); d.kind(r) {
		case kModule:
			module = r
		case kMethod:
			return d.Fail(), false // a function type is not a name
		default:
			return d.nameArgs(r, false, true), false
		}
	}
	r, cast := d.unqualified(module)
	return d.nameArgs(r, cast, false), false
}

// nameArgs reads the template arguments of a name, if there are any. known means that the name
// is from a substitution.
func (d *decoder) nameArgs(r ref, cast, known bool) ref {
	if d.Peek() != 'I' {
		if cast {
			d.setTemplate(r, 0)
		}
		return r
	}
	if !known {
		d.subs = append(d.subs, r)
	}
	args, constraint := d.templateArgs()
	t := d.addTemplate(r, args)
	if cast {
		d.setTemplate(r, t)
		d.clearTemplates(args)
	}
	return d.constrained(t, constraint)
}

func (d *decoder) addTemplate(name ref, args span) ref {
	return d.add(node{kind: kTemplate, f: [4]ref{name, args.Start, args.N}})
}

// nested reads N [<CV-qualifiers>] [<ref-qualifier>] <prefix> E.
func (d *decoder) nested() (r ref, explicit bool) {
	d.Want('N')
	var qualifiers ref
	var refQualifier uint8
	if explicit = d.Eat('H'); !explicit {
		qualifiers = d.qualifiers()
		refQualifier = d.refQualifier()
	}
	r = d.prefix()
	if qualifiers != 0 || refQualifier != 0 {
		r = d.add(node{kind: kMethod, op: refQualifier, f: [4]ref{r, qualifiers}})
	}
	d.Want('E')
	return r, explicit
}

// prefix reads a <prefix>, the scopes of a name and the name itself, up to E.
func (d *decoder) prefix() ref {
	var r, last, module, cast ref
	for !d.Failed {
		var next ref
		c := d.Peek()
		switch {
		case mangled.IsDigit(c), mangled.IsLower(c), c == 'U', c == 'L', c == 'F', c == 'W', c == 'D' && d.Behind() == 'C':
			var isCast bool
			next, isCast = d.unqualified(module)
			module = 0
			if isCast {
				if cast != 0 {
					return d.Fail() // a conversion in the scope of another
				}
				cast = d.castOf(next)
			}
		case c == 'C':
			next = d.constructor(last)
		case c == 'D' && (d.Behind() == 'T' || d.Behind() == 't'):
			next = d.typ(false)
		case c == 'D':
			next = d.destructor(last)
		case c == 'S':
			if next = d.substitution(); d.kind(next) == kModule {
				module = next
				continue
			}
		case c == 'I', c == 'J':
			if r == 0 {
				return d.Fail()
			}
			next = d.prefixArgs(r, cast)
			r, cast = 0, 0
		case c == 'T':
			next = d.templateParam()
		case c == 'E':
			if r == 0 {
				return d.Fail()
			}
			if cast != 0 {
				d.setTemplate(cast, d.ownTemplate(cast))
			}
			return r
		case c == 'M' && r != 0: // the lambda after it initializes this member
			d.Pos++
			continue
		default:
			return d.Fail()
		}
		last = next
		if r == 0 {
			r = next
		} else {
			r = d.addScoped(r, next, false)
		}
		if c != 'S' && (d.Pos == len(d.Src) || d.Peek() != 'E') {
			d.subs = append(d.subs, r)
		}
	}
	return 0
}

// prefixArgs reads template arguments after a prefix. clang sometimes writes J for I.
func (d *decoder) prefixArgs(name, cast ref) ref {
	var args span
	var constraint ref
	if d.Peek() == 'I' {
		args, constraint = d.templateArgs()
	} else {
		mark := len(d.Stack)
		for d.More('E') { // J is the first argument
			d.Push(d.templateArg(span{}))
		}
		args = d.Pop(mark)
		d.Want('E')
	}
	t := d.addTemplate(name, args)
	if cast != 0 {
		d.setTemplate(cast, t)
		d.clearTemplates(args)
	}
	return d.constrained(t, constraint)
}

// castOf returns the conversion operator in an unqualified name.
func (d *decoder) castOf(r ref) ref {
	if d.kind(r) == kEntity {
		r = d.nodes[r].f[1]
	}
	for d.kind(r) == kTagged || d.kind(r) == kFriend {
		r = d.nodes[r].f[0]
	}
	if d.kind(r) != kCast {
		return d.Fail()
	}
	return r
}

// ownTemplate returns the template that a conversion operator converts to, or 0.
func (d *decoder) ownTemplate(cast ref) ref {
	if to := d.nodes[cast].f[0]; d.kind(to) == kTemplate {
		return to
	}
	return 0
}

// constructor reads C <digit>, or CI <digit> <base class type>.
func (d *decoder) constructor(last ref) ref {
	d.Pos++
	inheriting := d.Eat('I')
	if c := d.Peek(); last == 0 || c < '1' || c > '5' {
		return d.Fail()
	}
	d.Pos++
	var base ref
	if inheriting {
		base = d.typ(false)
	}
	return d.tags(d.add2(kCtor, d.lastName(last), base))
}

// destructor reads D <digit>.
func (d *decoder) destructor(last ref) ref {
	if c := d.Behind(); last == 0 || c < '0' || c > '5' || c == '3' {
		return d.Fail()
	}
	d.Pos += 2
	return d.tags(d.add1(kDtor, d.lastName(last)))
}

// lastName returns the name of a class without scopes, template arguments and tags.
func (d *decoder) lastName(r ref) ref {
	for {
		switch n := &d.nodes[r]; n.kind {
		case kTemplate, kTagged:
			r = n.f[0]
		case kScoped:
			r = n.f[1]
		default:
			return r
		}
	}
}

// tags reads the ABI tags after a name.
func (d *decoder) tags(r ref) ref {
	for d.Eat('B') {
		r = d.add2(kTagged, r, d.sourceName())
	}
	return r
}

// unqualified reads an <unqualified-name>. cast reports a conversion operator.
func (d *decoder) unqualified(module ref) (r ref, cast bool) {
	module = d.moduleName(module)
	friend := d.Eat('F')
	switch c := d.Peek(); {
	case mangled.IsDigit(c):
		r = d.sourceName()
	case mangled.IsLower(c):
		r, cast = d.operatorFunction()
	case d.Eat2('D', 'C'):
		mark := len(d.Stack)
		d.Push(d.sourceName())
		for d.More('E') {
			d.Push(d.sourceName())
		}
		d.Want('E')
		r = d.addList(kBindings, d.Pop(mark))
	case d.Eat('L'):
		r = d.sourceName()
		d.discriminator()
	case d.Eat2('U', 'b'):
		d.index()
		r = fixed.blockLiteral
	case d.Eat2('U', 'e'):
		r = d.unnamedEnum()
	case d.Eat2('U', 'l'):
		r = d.closure()
	case d.Eat2('U', 't'):
		r = d.unnamedType()
	default:
		return d.Fail(), false
	}
	if module != 0 {
		r = d.add2(kEntity, module, r)
	}
	r = d.tags(r)
	if friend {
		r = d.add1(kFriend, r)
	}
	return r, cast
}

// operatorFunction reads an <operator-name>.
func (d *decoder) operatorFunction() (r ref, cast bool) {
	op := d.operator()
	switch op {
	case opConvert:
		return d.castType(false), true
	case opLiteral:
		return d.add1(kLiteralOp, d.sourceName()), false
	}
	return d.add(node{kind: kOperator, op: uint8(op)}), false
}

// castType reads the type of a conversion. The template arguments of a conversion function
// follow it, and are filled in later.
func (d *decoder) castType(inExpression bool) ref {
	if inExpression {
		return d.add1(kCast, d.typ(false))
	}
	d.templates = append(d.templates, 0)
	to := d.typ(true)
	d.templates = d.templates[:len(d.templates)-1]
	return d.add1(kCast, to)
}

// sourceName reads <length> <identifier>.
func (d *decoder) sourceName() ref {
	n := d.number()
	if n <= 0 || n > len(d.Src)-d.Pos {
		return d.Fail()
	}
	id := d.Src[d.Pos:][:n]
	d.Pos += n
	if isAnonymous(id) {
		return fixed.anonymous
	}
	return d.add2(kName, ref(d.Pos-n), ref(n))
}

// isAnonymous reports whether an identifier is GCC's for the unnamed namespace, _GLOBAL__N_1.
func isAnonymous(id string) bool {
	const prefix = "_GLOBAL_"
	if len(id) <= len(prefix)+2 || id[:len(prefix)] != prefix {
		return false
	}
	c := id[len(prefix)]
	return (c == '.' || c == '_' || c == '$') && id[len(prefix)+1] == 'N'
}

// moduleName reads any number of W [P] <source-name>, below the module around.
func (d *decoder) moduleName(around ref) ref {
	for d.Eat('W') {
		n := node{kind: kModule}
		if d.Eat('P') {
			n.op = 1
		}
		n.f = [4]ref{around, d.sourceName()}
		around = d.add(n)
		d.subs = append(d.subs, around)
	}
	return around
}
