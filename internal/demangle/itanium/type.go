package itanium

import "github.com/symtool/symtool/internal/demangle/mangled"

// typ reads a <type>. inCast means that it is the type of a conversion function, whose
// template arguments follow it.
func (d *decoder) typ(inCast bool) ref {
	d.Enter()
	defer d.Leave()
	qualifiers := d.qualifiers()
	if b := fixed.builtin[d.Peek()]; b != 0 {
		d.Pos++
		return d.qualify(b, qualifiers)
	}
	function := d.Peek() == 'F'
	r, candidate := d.unqualifiedType(inCast)
	if qualifiers != 0 && !function && d.kind(r) == kMethod {
		return d.Fail() // the function type already has qualifiers
	}
	// The qualifiers of a function type qualify this: they are part of the type.
	if candidate && !(qualifiers != 0 && function) {
		d.subs = append(d.subs, r)
	}
	return d.qualify(r, qualifiers)
}

// qualify adds qualifiers to a type, and the result to what substitutions can refer to.
func (d *decoder) qualify(r, qualifiers ref) ref {
	if qualifiers == 0 || d.Failed {
		return r
	}
	switch n := d.nodes[r]; n.kind {
	case kFunction:
		r = d.add2(kMethod, r, qualifiers)
	case kMethod:
		r = d.add(node{kind: kMethod, op: n.op, f: [4]ref{n.f[0], d.mergeQualifiers(qualifiers, n.f[1])}})
	case kQualified: // an array of arrays
		r = d.add2(kQualified, n.f[0], d.mergeQualifiers(qualifiers, n.f[1]))
	default:
		r = d.add2(kQualified, r, qualifiers)
	}
	d.subs = append(d.subs, r)
	return r
}

// unqualifiedType reads a type without qualifiers. candidate reports whether
// substitutions may refer to it.
func (d *decoder) unqualifiedType(inCast bool) (r ref, candidate bool) {
	switch c := d.Peek(); c {
	case 'u':
		return d.vendorType(), true
	case 'F':
		return d.functionType(), true
	case 'N', 'W', 'Z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if r, _ = d.name(); d.kind(r) == kMethod {
			return d.Fail(), false // the qualifiers of a member function
		}
		return r, true
	case 'A':
		return d.arrayType(inCast), true
	case 'M':
		d.Pos++
		class := d.typ(false)
		return d.add2(kPtrMem, class, d.typ(inCast)), true
	case 'T':
		return d.paramType(inCast), true
	case 'S':
		return d.substitutedType(inCast)
	case 'P', 'R', 'O', 'C', 'G':
		d.Pos++
		return d.add1(typeSuffixes[c], d.typ(inCast)), true
	case 'U':
		return d.extendedType(inCast)
	case 'D':
		return d.dType(inCast)
	}
	return d.Fail(), false
}

// typeSuffixes are the kinds of types that consist of another type and a suffix.
var typeSuffixes = [256]kind{
	'P': kPointer, 'R': kReference, 'O': kRvalueReference, 'C': kComplex, 'G': kImaginary,
}

// vendorType reads u <source-name> [I <type> E].
func (d *decoder) vendorType() ref {
	d.Want('u')
	name := d.sourceName()
	if !d.Eat('I') {
		return name
	}
	base := d.typ(false)
	d.Want('E')
	if d.kind(name) != kName {
		return d.Fail()
	}
	n := &d.nodes[name]
	return d.add(node{kind: kTransformed, f: [4]ref{base, n.f[0], n.f[1]}})
}

// paramType reads a type that begins with T: a template parameter, with arguments if it
// is a template itself, or an elaborated type.
func (d *decoder) paramType(inCast bool) ref {
	for i, c := range []byte("sue") {
		if d.Eat2('T', c) {
			r, _ := d.name()
			return d.add(node{kind: kElaborated, op: uint8(i), f: [4]ref{r}})
		}
	}
	r := d.templateParam()
	if d.Peek() != 'I' {
		return r
	}
	if inCast {
		return d.castArgs(r, true)
	}
	d.subs = append(d.subs, r)
	return d.template(r)
}

var elaboratedKinds = [...]string{"struct ", "union ", "enum "}

// substitutedType reads a type that begins with S.
func (d *decoder) substitutedType(inCast bool) (r ref, candidate bool) {
	c := d.Behind()
	if !mangled.IsDigit(c) && c != '_' && !mangled.IsUpper(c) {
		r, _ = d.name()
		// An abbreviation by itself is not counted.
		return r, r != fixed.std[c]
	}
	if r = d.substitution(); d.kind(r) == kModule {
		var cast bool
		if r, cast = d.unqualified(r); cast {
			d.setTemplate(r, 0)
		}
		d.subs = append(d.subs, r)
	}
	if d.Peek() != 'I' {
		return r, false
	}
	if d.kind(r) == kTemplateParam && inCast {
		t := d.castArgs(r, false)
		return t, t != r
	}
	return d.template(r), true
}

// template reads the arguments of a template.
func (d *decoder) template(name ref) ref {
	args, constraint := d.templateArgs()
	return d.constrained(d.addTemplate(name, args), constraint)
}

// extendedType reads a type that begins with U: an unnamed type, or one with a vendor's
// qualifier.
func (d *decoder) extendedType(inCast bool) (r ref, candidate bool) {
	switch {
	case d.Eat2('U', 'e'):
		return d.unnamedEnum(), false
	case d.Eat2('U', 'l'):
		return d.closure(), false
	case d.Eat2('U', 't'):
		return d.unnamedType(), false
	}
	d.Want('U')
	name := d.sourceName()
	if d.Peek() == 'I' {
		name = d.template(name)
	}
	return d.add2(kVendor, name, d.typ(inCast)), true
}

// dType reads a type that begins with D.
func (d *decoder) dType(inCast bool) (r ref, candidate bool) {
	d.Want('D')
	c := d.Peek()
	if !d.Eat(c) {
		return d.Fail(), false
	}
	switch c {
	case 'T', 't':
		r = d.expression()
		d.Want('E')
		return d.add1(kDecltype, r), true
	case 'p':
		r = d.typ(inCast)
		return d.expansion(r), true
	case 'a':
		return fixed.auto, false
	case 'c':
		return fixed.decltypeAuto, false
	case 'F':
		return d.floatType(inCast), false
	case 'v':
		return d.vectorType(inCast), true
	case 'B', 'U':
		return d.bitInt(c == 'B'), true
	case 'k', 'K':
		n := node{kind: kConstrainedAuto}
		if c == 'K' {
			n.op = 1
		}
		n.f[0], _ = d.name()
		return d.add(n), false
	case 'A':
		return d.fixedPoint(fixedPointAccum), false
	case 'R':
		return d.fixedPoint(fixedPointFract), false
	case 'S':
		switch {
		case d.Eat2('D', 'A'):
			return d.fixedPoint(fixedPointAccum + fixedPointSat), false
		case d.Eat2('D', 'R'):
			return d.fixedPoint(fixedPointFract + fixedPointSat), false
		}
		return d.Fail(), false
	}
	if r = fixed.dBuiltin[c]; r == 0 {
		return d.Fail(), false
	}
	return r, false
}

// fixedPoint reads the size of a fixed-point type.
func (d *decoder) fixedPoint(form int) ref {
	r := fixed.fixedPoint[d.Peek()][form]
	if r == 0 {
		return d.Fail()
	}
	d.Pos++
	return r
}

// floatType reads the part after DF: a binary float, or one of GCC's fixed-point types.
func (d *decoder) floatType(inCast bool) ref {
	numbered := mangled.IsDigit(d.Peek())
	bits := 0
	if numbered {
		bits = d.number()
	}
	switch c := d.Peek(); {
	case c == 'b' && bits == 16:
		d.Pos++
		return fixed.dBuiltin['F']
	case c == '_' && bits > 0:
		d.Pos++
		return d.add1(kBinaryFP, ref(bits))
	case c == 'x' && bits > 0:
		d.Pos++
		return d.add(node{kind: kBinaryFP, op: 'x', f: [4]ref{ref(bits)}})
	case c == '_' || c == 'x' || c == 'b':
		return d.Fail()
	}
	n := node{kind: kFixed, f: [4]ref{d.typ(inCast)}}
	if mangled.IsDigit(d.Peek()) {
		d.number()
	}
	if numbered {
		n.op |= fixedAccum
	}
	if d.Pos < len(d.Src) {
		if d.Peek() == 's' {
			n.op |= fixedSat
		}
		d.Pos++
	}
	return d.add(n)
}

// bitInt reads the size of a _BitInt.
func (d *decoder) bitInt(signed bool) ref {
	n := node{kind: kBitInt}
	if signed {
		n.op = 1
	}
	if mangled.IsDigit(d.Peek()) {
		n.f[0] = d.add1(kNumber, ref(d.number()))
	} else {
		n.f[0] = d.expression()
	}
	d.Want('_')
	return d.add(n)
}

// vectorType reads the part after Dv.
func (d *decoder) vectorType(inCast bool) ref {
	var dimension ref
	if d.Eat('_') {
		dimension = d.expression()
	} else {
		dimension = d.add1(kNumber, ref(d.number()))
	}
	d.Want('_')
	return d.add2(kVector, dimension, d.typ(inCast))
}

// arrayType reads A [<dimension>] _ <element>. The qualifiers of the elements are also
// the array's.
func (d *decoder) arrayType(inCast bool) ref {
	d.Want('A')
	dimension := fixed.empty
	switch c := d.Peek(); {
	case mangled.IsDigit(c):
		from := d.Pos
		for mangled.IsDigit(d.Peek()) {
			d.Pos++
		}
		dimension = d.add2(kName, ref(from), ref(d.Pos-from))
	case c != '_':
		dimension = d.expression()
	}
	d.Want('_')
	element := d.typ(inCast)
	if n := d.nodes[element]; n.kind == kQualified {
		return d.add2(kQualified, d.add2(kArray, dimension, n.f[0]), n.f[1])
	}
	return d.add2(kArray, dimension, element)
}

// functionType reads F [Y] <types> [<ref-qualifier>] E.
func (d *decoder) functionType() ref {
	d.Want('F')
	d.Eat('Y') // extern "C"
	r := d.bareFunction(true, false)
	if q := d.refQualifier(); q != 0 {
		r = d.add(node{kind: kMethod, op: q, f: [4]ref{r}})
	}
	d.Want('E')
	return r
}

// bareFunction reads [J] <types>, the result first if there is one.
func (d *decoder) bareFunction(returns, explicit bool) ref {
	returns = d.Eat('J') || returns
	var result ref
	if returns {
		result = d.typ(false)
	}
	params := d.params(explicit)
	return d.add(node{kind: kFunction, f: [4]ref{result, params.Start, params.N}})
}

// params reads the types of a function's parameters; a single void means none. explicit means
// that the first is the object of a member function.
func (d *decoder) params(explicit bool) span {
	mark := len(d.Stack)
	for d.Pos < len(d.Src) {
		c := d.Peek()
		if c == 'E' || c == '.' || c == 'Q' || (c == 'R' || c == 'O') && d.Behind() == 'E' {
			break
		}
		r := d.typ(false)
		if explicit && len(d.Stack) == mark {
			r = d.add1(kExplicitObject, r)
		}
		d.Push(r)
	}
	if len(d.Stack) == mark {
		d.Fail()
	}
	if len(d.Stack) == mark+1 && d.Stack[mark] == fixed.void {
		d.Stack = d.Stack[:mark]
	}
	return d.Pop(mark)
}

// The qualifiers of types and functions, by node.op of a kQualifier.
var qualifierNames = [...]string{"restrict", "volatile", "const", "transaction_safe", "noexcept", "throw"}

const (
	qRestrict = iota
	qVolatile
	qConst
	qTransactionSafe
	qNoexcept
	qThrow
)

// qualifiers reads the qualifiers before a type or name, the last of which is printed
// first. It returns 0 if there are none.
func (d *decoder) qualifiers() ref {
	switch d.Peek() {
	case 'r', 'V', 'K', 'D':
	default:
		return 0
	}
	mark := len(d.Stack)
	for !d.Failed {
		q := d.qualifier()
		if q.kind == kNone {
			break
		}
		d.Push(d.add(q))
	}
	if len(d.Stack) == mark {
		return 0
	}
	for i, j := mark, len(d.Stack)-1; i < j; i, j = i+1, j-1 {
		d.Stack[i], d.Stack[j] = d.Stack[j], d.Stack[i]
	}
	return d.addList(kQualifiers, d.Pop(mark))
}

func (d *decoder) qualifier() node {
	q := node{kind: kQualifier}
	switch {
	case d.Eat('r'):
		q.op = qRestrict
	case d.Eat('V'):
		q.op = qVolatile
	case d.Eat('K'):
		q.op = qConst
	case d.Peek() != 'D':
		return node{}
	case d.Eat2('D', 'x'):
		q.op = qTransactionSafe
	case d.Eat2('D', 'o'):
		q.op = qNoexcept
	case d.Eat2('D', 'O'):
		q.op = qNoexcept
		mark := len(d.Stack)
		d.Push(d.expression())
		d.setSpan(&q, d.Pop(mark))
		d.Want('E')
	case d.Eat2('D', 'w'):
		q.op = qThrow
		d.setSpan(&q, d.params(false))
		d.Want('E')
	default:
		return node{}
	}
	return q
}

// setSpan sets the list of a node.
func (d *decoder) setSpan(n *node, s span) {
	at := layouts[n.kind].refs
	n.f[at], n.f[at+1] = s.Start, s.N
}

// mergeQualifiers adds the qualifiers of q2 to those of q1, each once. Either may be 0.
// Qualifiers with operands are refused in q2: only functions have them, and only once.
func (d *decoder) mergeQualifiers(q1, q2 ref) ref {
	if q1 == 0 || q2 == 0 {
		return max(q1, q2)
	}
	mark := len(d.Stack)
	var seen uint8
	for i, list := range [2]ref{q1, q2} {
		for _, q := range d.list(&d.nodes[list]) {
			n := &d.nodes[q]
			switch plain := n.f[1] == 0; {
			case i > 0 && !plain:
				d.Fail()
			case i > 0 && seen>>n.op&1 != 0:
				continue
			case plain:
				seen |= 1 << n.op
			}
			d.Push(q)
		}
	}
	// The node itself is changed, so all references to it are merged, too.
	s := d.Pop(mark)
	n := &d.nodes[q1]
	for _, q := range d.Elements(s) {
		d.inherit(n, q)
	}
	d.setSpan(n, s)
	return q1
}

var refQualifiers = [...]string{"", "&", "&&"}

// refQualifier reads the reference qualifier of a function, an index into refQualifiers.
func (d *decoder) refQualifier() uint8 {
	switch {
	case d.Eat('R'):
		return 1
	case d.Eat('O'):
		return 2
	}
	return 0
}
