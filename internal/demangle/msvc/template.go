package demangle

// templateArgs reads template arguments up to @.
func (d *msDecoder) templateArgs() span {
	mark := len(d.stack)
	for d.more('@') {
		if d.eatWord("$S") || d.eatWord("$$V") || d.eatWord("$$$V") || d.eatWord("$$Z") {
			continue // an empty pack, or the end of one
		}
		d.push(d.templateArg())
	}
	d.want('@')
	return d.pop(mark)
}

func (d *msDecoder) templateArg() ref {
	d.enter()
	defer d.leave()
	switch {
	case d.peek() != '$':
		return d.typ()
	case d.eatWord("$$Y"): // an alias of templates
		return d.typeName()
	case d.eatWord("$$B"): // an array
		return d.typ()
	case d.eatWord("$$C"):
		return d.qualified()
	case d.behind() == '$':
		return d.typ()
	}
	d.pos++
	if d.eat('M') { // the type of an argument for auto, which the value shows
		d.typ()
	}
	v := d.value()
	if n := &d.nodes[v]; n.kind == msBraced {
		n.op = 1
	}
	return v
}

// value reads a value: a number, a symbol, a class with its members.
func (d *msDecoder) value() ref {
	d.enter()
	defer d.leave()
	c := d.next()
	switch c {
	case '0':
		return d.add(msNode{kind: msInteger, at: d.number()})
	case '1', 'H', 'I', 'J': // for classes with one base, several, virtual ones, and unknown
		n := msNode{kind: msSymbol, op: 1}
		if d.peek() == '?' {
			n.f[0] = d.symbol()
		}
		return d.offsets(n, max(0, int(c)-'H'+1))
	case 'A', 'B':
		return d.add(msNode{kind: msFloat, op: c, at: d.unsigned()})
	case 'E':
		if d.peek() != '?' {
			return d.fail()
		}
		return d.add(msNode{kind: msSymbol, f: [4]ref{d.symbol()}})
	case 'F', 'G':
		return d.offsets(msNode{kind: msSymbol}, int(c-'F')+2)
	case '2', '3', '7':
		return d.braced(c)
	case '8':
		n := msNode{kind: msField}
		n.f[0], n.f[1] = d.typeName(), d.simpleName()
		d.want('@')
		return d.add(n)
	case 'N':
		return d.add(msNode{kind: msNull})
	}
	return d.fail()
}

// braced reads the values of a class (2), of an array (3), or of a union (7), up to @. Those of an
// array end with an @ each, that of a union has its name in front.
func (d *msDecoder) braced(code byte) ref {
	n := msNode{kind: msBraced, f: [4]ref{d.typ()}}
	mark := len(d.stack)
	for d.more('@') {
		switch code {
		case '2':
			d.push(d.member())
		case '3':
			d.push(d.value())
			d.want('@')
		case '7':
			name := d.simpleName()
			d.push(d.add(msNode{kind: msField, f: [4]ref{0, name, d.value()}}))
		}
	}
	d.want('@')
	l := d.pop(mark)
	n.f[1], n.f[2] = l.start, l.n
	return d.add(n)
}

// member reads a value of a class. Its type is in front, unless the value begins with it. Pointers
// have the code of references.
func (d *msDecoder) member() ref {
	if c := d.peek(); c == '2' || c == '3' || c == '7' {
		return d.value()
	}
	t := d.typ()
	v := d.value()
	if p := &d.nodes[t]; p.kind == msPointer && p.op == 'P' && d.nodes[v].kind == msSymbol {
		d.nodes[v].op = 1
	}
	return v
}

// offsets reads the numbers of a pointer to a member.
func (d *msDecoder) offsets(n msNode, count int) ref {
	mark := len(d.stack)
	for range count {
		d.push(d.offset())
	}
	l := d.pop(mark)
	n.f[1], n.f[2] = l.start, l.n
	return d.add(n)
}
