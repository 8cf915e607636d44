package itanium

import "github.com/symtool/symtool/internal/demangle/mangled"

// substitution reads S <number> _, or the abbreviation of a name of the standard library.
func (d *decoder) substitution() ref {
	d.Want('S')
	c := d.Peek()
	if c == '_' || mangled.IsDigit(c) || mangled.IsUpper(c) {
		id := d.seqID(false)
		if d.Failed || id >= len(d.subs) {
			return d.Fail()
		}
		return d.rebound(d.subs[id])
	}
	r := fixed.std[c]
	if r == 0 {
		return d.Fail()
	}
	d.Pos++
	if d.Peek() == 'B' {
		r = d.tags(r)
		d.subs = append(d.subs, r)
	}
	return r
}

// rebound returns what a substitution stands for. Its template parameters become those of
// the template whose function is being read, not of the template where they were first
// read.
func (d *decoder) rebound(r ref) ref {
	n := &d.nodes[r]
	if n.has&hasParam == 0 {
		return r
	}
	own := len(d.templates) > 0 && d.templates[len(d.templates)-1] == n.tmpl && n.has&hasScope == 0
	if own && n.tmpl > 0 && d.lambdaLevel == 0 && !d.inConstraint {
		return r
	}
	level, templates := d.lambdaLevel, len(d.templates)
	if templates == 0 && n.kind == kTemplate {
		d.templates = append(d.templates, r) // clang refers to a template in its own arguments
	}
	t := d.begin(rebind)
	r = d.transform(r, &t)
	d.lambdaLevel, d.templates = level, d.templates[:templates]
	return r
}

// reboundParam returns what a template parameter in a substitution becomes.
func (d *decoder) reboundParam(r ref) ref {
	n := &d.nodes[r]
	index := n.f[0]
	switch {
	case d.inConstraint:
		return d.add1(kParamText, index)
	case d.lambdaLevel > 0 && n.kind == kLambdaAuto:
		return r
	case d.lambdaLevel > 0:
		return d.add1(kLambdaAuto, index)
	case len(d.templates) == 0:
		return d.Fail()
	}
	template := d.templates[len(d.templates)-1]
	if template != 0 && index >= d.nodes[template].f[2] {
		return d.Fail()
	}
	return d.addParam(int(index), template)
}

// simplify replaces template parameters and pack expansions by their arguments, and joins
// what collapses then: references to references, qualifiers of qualified types.
func (d *decoder) simplify(r ref) ref {
	if d.Failed || d.nodes[r].has&simplifies == 0 {
		return r
	}
	t := d.begin(simplify)
	return d.transform(r, &t)
}

// transform turns a tree of nodes into another, with which it shares what does not change.
type transform struct {
	what      change
	pass      ref
	pack, arg ref // of expand
}

type change uint8

const (
	rebind   change = iota
	simplify        // see decoder.simplify
	expand          // replaces a pack by an argument
)

// needs lists the traits of nodes that change.
var needs = [...]traits{rebind: hasParam, simplify: simplifies, expand: hasPack}

func (d *decoder) begin(what change) transform {
	d.pass++
	return transform{what: what, pass: d.pass}
}

func (d *decoder) transform(r ref, t *transform) ref {
	if d.Failed || d.nodes[r].has&needs[t.what] == 0 {
		return r
	}
	d.deeper()
	r = d.transformNode(r, t)
	d.tree--
	return r
}

func (d *decoder) transformNode(r ref, t *transform) ref {
	n := d.nodes[r]
	switch {
	case t.what == expand && r == t.pack:
		return t.arg
	case t.what == expand && n.kind == kPackExpansion:
		return r
	case t.what == rebind && (n.kind == kTemplateParam || n.kind == kLambdaAuto):
		return d.reboundParam(r)
	case t.what == simplify && n.kind == kTemplateParam:
		if template := &d.nodes[n.f[1]]; n.f[1] != 0 && n.f[0] < template.f[2] {
			return d.list(template)[n.f[0]]
		}
		return r
	}
	if n.pass == t.pass {
		return n.memo
	}
	// Until the result is known, the node stands for itself: only a malformed name has a
	// node inside itself.
	d.nodes[r].pass, d.nodes[r].memo = t.pass, r
	changed := false
	if t.what == rebind && (n.kind == kTyped || n.kind == kClosure) {
		changed = d.rebindScope(&n, t)
	} else {
		changed = d.transformParts(&n, t)
	}
	made := r
	if changed {
		if n.kind == kVendor && d.nodes[r].f[1] != n.f[1] {
			return d.Fail()
		}
		n.tmpl, n.busy = 0, 0
		if n.kind == kPackExpansion && t.what == rebind {
			n.f[1] = d.packIn(n.f[0])
		}
		made = d.add(n)
	}
	if t.what == simplify {
		made = d.simplifyNode(made)
	}
	d.nodes[r].pass, d.nodes[r].memo = t.pass, made
	return made
}

// transformParts transforms the parts of n, and reports whether one has changed.
func (d *decoder) transformParts(n *node, t *transform) (changed bool) {
	l := &layouts[n.kind]
	for i := range l.refs {
		if part := d.transform(n.f[i], t); part != n.f[i] {
			n.f[i], changed = part, true
		}
	}
	if !l.list {
		return changed
	}
	s, copied := d.spanOf(n), false
	for i := range s.N {
		before := d.Lists[s.Start+i]
		part := d.transform(before, t)
		if part == before {
			continue
		}
		if !copied {
			start := ref(len(d.Lists))
			d.Lists = append(d.Lists, d.Elements(s)...)
			s.Start, copied = start, true
			d.setSpan(n, s)
		}
		d.Lists[s.Start+i] = part
	}
	return changed || copied
}

// rebindScope rebinds the parts of a function or lambda, in which there are other template
// parameters, and reports whether one has changed.
func (d *decoder) rebindScope(n *node, t *transform) bool {
	level, templates := d.lambdaLevel, len(d.templates)
	switch {
	case n.kind == kClosure:
		d.lambdaLevel = templates + 1
	case d.kind(n.f[0]) == kTemplate:
		d.templates = append(d.templates, n.f[0])
		d.lambdaLevel = 0
	}
	changed := d.transformParts(n, t)
	d.lambdaLevel, d.templates = level, d.templates[:templates]
	return changed
}

// simplifyNode simplifies a node whose parts are already simplified.
func (d *decoder) simplifyNode(r ref) ref {
	n := d.nodes[r]
	switch n.kind {
	case kMethod:
		switch below := d.nodes[n.f[0]]; below.kind {
		case kMethod:
			return d.add(node{kind: kMethod, op: joinRefQualifiers(n.op, below.op), f: [4]ref{below.f[0], d.mergeQualifiers(n.f[1], below.f[1])}})
		case kQualified:
			return d.add(node{kind: kMethod, op: n.op, f: [4]ref{below.f[0], d.mergeQualifiers(n.f[1], below.f[1])}})
		}
	case kQualified:
		switch below := d.nodes[n.f[0]]; below.kind {
		case kFunction:
			return d.add2(kMethod, n.f[0], n.f[1])
		case kQualified:
			return d.add2(kQualified, below.f[0], d.mergeQualifiers(n.f[1], below.f[1]))
		case kMethod:
			return d.add(node{kind: kMethod, op: below.op, f: [4]ref{below.f[0], d.mergeQualifiers(n.f[1], below.f[1])}})
		}
	case kReference:
		switch below := d.nodes[n.f[0]]; below.kind {
		case kReference:
			return n.f[0]
		case kRvalueReference:
			return d.add1(kReference, below.f[0])
		}
	case kRvalueReference:
		if below := d.kind(n.f[0]); below == kReference || below == kRvalueReference {
			return n.f[0]
		}
	case kArray:
		if element := d.nodes[n.f[1]]; element.kind == kQualified {
			return d.add2(kQualified, d.add2(kArray, n.f[0], element.f[0]), element.f[1])
		}
	case kPackExpansion:
		if n.f[1] != 0 {
			return d.expandPack(n.f[0], n.f[1])
		}
	}
	return r
}

// joinRefQualifiers joins indices into refQualifiers: & wins.
func joinRefQualifiers(a, b uint8) uint8 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// expandPack returns base once for each argument of a pack, with the argument instead of the
// pack.
func (d *decoder) expandPack(base, pack ref) ref {
	mark := len(d.Stack)
	args := d.spanOf(&d.nodes[pack])
	for i := range args.N {
		t := d.begin(expand)
		t.pack, t.arg = pack, d.Lists[args.Start+i]
		d.Push(d.simplify(d.transform(base, &t)))
	}
	return d.addList(kExprList, d.Pop(mark))
}
