package itanium

import "slices"

// popInner pops what a type has left to the types below it. It reports whether it was still
// there; if not, it has been printed.
func (d *decoder) popInner() bool {
	if len(d.inner) == d.base {
		return false
	}
	d.inner = d.inner[:len(d.inner)-1]
	return true
}

// printSuffixed prints a type that consists of another and a suffix.
func (d *decoder) printSuffixed(r, below ref) {
	d.inner = append(d.inner, r)
	d.print(below)
	if len(d.inner) > d.base {
		d.printInner(r)
		d.popInner()
	}
}

// printDeclarator is like printSuffixed, but the suffix is left to be printed innermost.
func (d *decoder) printDeclarator(r, below ref) {
	d.inner = append(d.inner, r)
	d.print(below)
	if len(d.inner) > d.base {
		d.printOneInner(false)
	}
}

func (d *decoder) printQualified(r ref, n *node) {
	d.inner = append(d.inner, r)
	d.print(n.f[0])
	if len(d.inner) > d.base {
		d.byte(' ')
		d.print(n.f[1])
		d.popInner()
	}
}

func (d *decoder) printMethod(r ref, n *node) {
	d.inner = append(d.inner, r)
	d.print(n.f[0])
	if len(d.inner) > d.base {
		d.printMethodQualifiers(n)
		d.popInner()
	}
}

func (d *decoder) printMethodQualifiers(n *node) {
	if n.f[1] != 0 {
		d.byte(' ')
		d.print(n.f[1])
	}
	if n.op != 0 {
		d.byte(' ')
		d.text(refQualifiers[n.op])
	}
}

func (d *decoder) printQualifiers(n *node) {
	for i, r := range d.list(n) {
		if i > 0 {
			d.byte(' ')
		}
		q := &d.nodes[r]
		d.text(qualifierNames[q.op])
		if list := d.list(q); len(list) > 0 {
			d.byte('(')
			d.printArgs(list)
			d.byte(')')
		}
	}
}

// printFunction prints a function type. The parameters are printed inside the result: a
// function that returns a pointer to a function is printed inside that pointer's type. c++filt leaves out the result of a
// function with local names.
func (d *decoder) printFunction(r ref, n *node) {
	if n.f[0] != 0 && (n.op == 0 || d.style == asLLVM) {
		d.inner = append(d.inner, r)
		d.print(n.f[0])
		if !d.popInner() {
			return
		}
		d.byte(' ')
	}
	d.printParams(n)
}

// printParams prints what is inside a function type, in parentheses if necessary, the
// parameters, and the qualifiers of the function.
func (d *decoder) printParams(n *node) {
	parens, space := d.innerParens()
	if parens {
		if !space && d.last != '(' && d.last != '*' {
			space = true
		}
		if space && d.last != ' ' {
			d.byte(' ')
		}
		d.byte('(')
	}
	mark := len(d.saved)
	d.printAllInner(true)
	if parens {
		d.byte(')')
	}
	d.byte('(')
	d.printArgs(d.list(n))
	d.byte(')')
	d.inner = append(d.inner[:d.base], d.saved[mark:]...)
	d.saved = d.saved[:mark]
	d.printAllInner(false)
}

// innerParens reports whether the part inside a function type is in parentheses, and whether
// a space precedes them.
func (d *decoder) innerParens() (parens, space bool) {
	for _, r := range slices.Backward(d.inner[d.base:]) {
		switch d.kind(r) {
		case kPointer, kReference, kRvalueReference:
			return true, false
		case kQualified, kComplex, kImaginary, kPtrMem:
			return true, true
		}
	}
	return false, false
}

// printAllInner prints what was left to a type, from the innermost. save leaves out the
// qualifiers of functions, which are printed after their parameters.
func (d *decoder) printAllInner(save bool) {
	for len(d.inner) > d.base && !d.Failed {
		d.printOneInner(save)
	}
}

func (d *decoder) printOneInner(save bool) {
	r := d.inner[len(d.inner)-1]
	d.popInner()
	if save && d.kind(r) == kMethod {
		d.saved = append(d.saved, r)
		return
	}
	d.printInner(r)
}

// printInner prints what a type leaves to the types below it.
func (d *decoder) printInner(r ref) {
	switch n := &d.nodes[r]; n.kind {
	case kTyped:
		d.print(n.f[0])
	case kPointer:
		d.byte('*')
	case kReference:
		d.byte('&')
	case kRvalueReference:
		d.text("&&")
	case kComplex:
		d.text(" _Complex")
	case kImaginary:
		d.text(" _Imaginary")
	case kConstrainedAuto:
		if n.op == 0 {
			d.text(" auto")
		} else {
			d.text(" decltype(auto)")
		}
	case kQualified:
		d.byte(' ')
		d.print(n.f[1])
	case kMethod:
		d.printMethodQualifiers(n)
	case kVendor:
		d.byte(' ')
		d.print(n.f[0])
	case kVector:
		if d.style == asLLVM {
			d.text(" vector[")
			d.print(n.f[0])
			d.byte(']')
			break
		}
		d.text(" __vector(")
		d.print(n.f[0])
		d.byte(')')
	case kArray:
		d.printDimension(n)
	case kFunction:
		d.printParams(n)
	case kPtrMem:
		if d.last != '(' {
			d.byte(' ')
		}
		d.print(n.f[0])
		d.text("::*")
	case kValueParam, kConceptParam:
		d.print(n.f[0])
	case kParamPack:
		d.text("...")
		if p := &d.nodes[n.f[0]]; p.kind == kValueParam {
			d.print(p.f[0])
		}
	default:
		d.Fail()
	}
}

func (d *decoder) printArray(r ref, n *node) {
	d.inner = append(d.inner, r)
	d.print(n.f[1])
	if d.popInner() {
		d.printDimension(n)
	}
}

// printDimension prints the dimension of an array after the part inside the type, which is in
// parentheses unless it is another dimension.
func (d *decoder) printDimension(n *node) {
	space := " "
	for len(d.inner) > d.base && !d.Failed {
		in := d.inner[len(d.inner)-1]
		k := d.kind(in)
		if k == kQualified && d.kind(d.nodes[in].f[0]) == kArray {
			d.printOneInner(false)
			continue
		}
		if k == kArray {
			space = ""
			d.printOneInner(false)
			continue
		}
		d.text(" (")
		d.printAllInner(false)
		d.byte(')')
	}
	d.text(space)
	d.byte('[')
	d.print(n.f[0])
	d.byte(']')
}

// printOtherType prints a type that leaves nothing to others.
func (d *decoder) printOtherType(n *node) {
	switch n.kind {
	case kLambdaAuto:
		if d.style == asLLVM {
			d.text("auto")
			return
		}
		d.numbered("auto:", int(n.f[0])+1, "")
	case kFunctionParam:
		switch {
		case n.f[0] == 0:
			d.text("this")
		case d.style == asFilt:
			d.numbered("{parm#", int(n.f[0]), "}")
		case n.f[0] == 1:
			d.text("fp")
		default:
			d.numbered("fp", int(n.f[0])-2, "")
		}
	case kBinaryFP:
		d.numbered("_Float", int(n.f[0]), "")
		if n.op != 0 {
			d.out = append(d.out, n.op)
		}
	case kTransformed:
		d.text(d.Src[n.f[1]:][:n.f[2]])
		d.byte('(')
		d.print(n.f[0])
		d.byte(')')
	case kDecltype:
		d.text("decltype")
		if d.style == asFilt {
			d.byte(' ')
		}
		d.byte('(')
		d.print(n.f[0])
		d.byte(')')
	case kElaborated:
		d.text(elaboratedKinds[n.op])
		d.print(n.f[0])
	case kFixed:
		d.printFixed(n)
	case kBitInt:
		if n.op == 0 {
			d.text("unsigned ")
		}
		d.text("_BitInt(")
		d.print(n.f[0])
		d.byte(')')
	case kExplicitObject:
		d.text("this ")
		d.print(n.f[0])
	}
}

// printFixed prints one of GCC's fixed-point types; int is left out.
func (d *decoder) printFixed(n *node) {
	if n.op&fixedSat != 0 {
		d.text("_Sat ")
	}
	if n.f[0] != fixed.integer {
		d.print(n.f[0])
		d.byte(' ')
	}
	if n.op&fixedAccum != 0 {
		d.text("_Accum")
	} else {
		d.text("_Fract")
	}
}

// printLambda prints the parameters of a lambda.
func (d *decoder) printLambda(n *node) {
	var constraints [2]ref
	if n.f[2] != 0 {
		pair := &d.nodes[n.f[2]]
		constraints = [2]ref{pair.f[0], pair.f[1]}
	}
	if n.f[0] != 0 {
		d.byte('<')
		d.printArgs(d.list(&d.nodes[n.f[0]]))
		d.byte('>')
	}
	if constraints[0] != 0 {
		d.text(" requires ")
		d.print(constraints[0])
		d.byte(' ')
	}
	d.byte('(')
	d.printArgs(d.list(&d.nodes[n.f[1]]))
	d.byte(')')
	if constraints[1] != 0 {
		d.text(" requires ")
		d.print(constraints[1])
	}
}

// printParamDecl prints the declaration of a template parameter of a lambda.
func (d *decoder) printParamDecl(r ref, n *node) {
	switch n.kind {
	case kParamName:
		d.text(paramPrefixes[n.op])
		d.int(int(n.f[0]))
	case kTypeParam:
		d.text("typename")
		d.printAllInner(false)
		d.printParamName(n)
	case kValueParam, kConceptParam:
		d.inner = append(d.inner, r)
		d.print(n.f[1])
		if len(d.inner) > d.base {
			if n.kind == kConceptParam || !d.inTemplate {
				d.byte(' ')
				d.print(n.f[0])
			}
			d.popInner()
		}
	case kTemplateTempl:
		d.printTemplateTemplate(n)
	case kParamPack:
		d.printParamPack(r, n)
	}
}

// printParamName prints the name of a template parameter, if the parameters of its list have names.
func (d *decoder) printParamName(n *node) {
	if !d.inTemplate {
		d.byte(' ')
		d.print(n.f[0])
	}
}

func (d *decoder) printTemplateTemplate(n *node) {
	before, base := d.inTemplate, d.own()
	d.inTemplate = true
	d.text("template<")
	d.printArgs(d.list(n))
	d.text("> class")
	d.done(base)
	d.inTemplate = before
	d.printAllInner(false)
	d.printParamName(n)
	if n.f[1] != 0 {
		d.text(" requires ")
		d.print(n.f[1])
	}
}

func (d *decoder) printParamPack(r ref, n *node) {
	base := d.own()
	d.inner = append(d.inner, r)
	param := &d.nodes[n.f[0]]
	if param.kind == kValueParam {
		d.print(param.f[1])
	} else {
		d.print(n.f[0])
	}
	if len(d.inner) > d.base {
		d.text("...")
		if param.kind == kValueParam {
			d.printParamName(param)
		}
	}
	d.done(base)
}
