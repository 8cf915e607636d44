package msvc

// templateArgs reads template arguments up to @.
func (d *decoder) templateArgs() span {
	mark := len(d.Stack)
	for d.More('@') {
		if d.eatWord("$S") || d.eatWord("$$V") || d.eatWord("$$$V") || d.eatWord("$$Z") {
			continue // an empty pack, or the end of one
		}
		d.Push(d.templateArg())
	}
	d.Want('@')
	return d.Pop(mark)
}

func (d *decoder) templateArg() ref {
	d.Enter()
	defer d.Leave()
	switch {
	case d.Peek() != '$':
		return d.typ()
	case d.eatWord("$$Y"): // an alias of templates
		return d.typeName()
	case d.eatWord("$$B"): // an array
		return d.typ()
	case d.eatWord("$$C"):
		return d.qualified()
	case d.Behind() == '$':
		return d.typ()
	}
	d.Pos++
	if d.Eat('M') { // the type of an argument for auto; the value shows it
		d.typ()
	}
	v := d.value()
	if n := &d.nodes[v]; n.kind == kBraced {
		n.op = 1
	}
	return v
}

// value reads a value: a number, a symbol, a class with its members.
func (d *decoder) value() ref {
	d.Enter()
	defer d.Leave()
	c := d.next()
	switch c {
	case '0':
		return d.add(node{kind: kInteger, at: d.number()})
	case '1', 'H', 'I', 'J': // for classes with one base, several, virtual ones, and unknown
		n := node{kind: kSymbol, op: 1}
		if d.Peek() == '?' {
			n.f[0] = d.symbol()
		}
		return d.offsets(n, max(0, int(c)-'H'+1))
	case 'A', 'B':
		return d.add(node{kind: kFloat, op: c, at: d.unsigned()})
	case 'E':
		if d.Peek() != '?' {
			return d.Fail()
		}
		return d.add(node{kind: kSymbol, f: [4]ref{d.symbol()}})
	case 'F', 'G':
		return d.offsets(node{kind: kSymbol}, int(c-'F')+2)
	case '2', '3', '7':
		return d.braced(c)
	case '8':
		n := node{kind: kField}
		n.f[0], n.f[1] = d.typeName(), d.simpleName()
		d.Want('@')
		return d.add(n)
	case 'N':
		return d.add(node{kind: kNull})
	}
	return d.Fail()
}

// braced reads the values of a class (2), an array (3), or a union (7), up to @. Each value of an
// array ends with an @; a union's value follows the member's name.
func (d *decoder) braced(code byte) ref {
	n := node{kind: kBraced, f: [4]ref{d.typ()}}
	mark := len(d.Stack)
	for d.More('@') {
		switch code {
		case '2':
			d.Push(d.member())
		case '3':
			d.Push(d.value())
			d.Want('@')
		case '7':
			name := d.simpleName()
			d.Push(d.add(node{kind: kField, f: [4]ref{0, name, d.value()}}))
		}
	}
	d.Want('@')
	l := d.Pop(mark)
	n.f[1], n.f[2] = l.Start, l.N
	return d.add(n)
}

// member reads a value of a class. Its type precedes it, unless the value begins with the type.
// Pointers have the code of references.
func (d *decoder) member() ref {
	if c := d.Peek(); c == '2' || c == '3' || c == '7' {
		return d.value()
	}
	t := d.typ()
	v := d.value()
	if p := &d.nodes[t]; p.kind == kPointer && p.op == 'P' && d.nodes[v].kind == kSymbol {
		d.nodes[v].op = 1
	}
	return v
}

// offsets reads the numbers of a pointer to a member.
func (d *decoder) offsets(n node, count int) ref {
	mark := len(d.Stack)
	for range count {
		d.Push(d.offset())
	}
	l := d.Pop(mark)
	n.f[1], n.f[2] = l.Start, l.N
	return d.add(n)
}
