package demangle

// typ reads a type that is not qualified by itself.
func (d *msDecoder) typ() ref {
	d.enter()
	defer d.leave()
	switch c := d.peek(); c {
	case 'T', 'U', 'V':
		d.pos++
		return d.add(msNode{kind: msTag, op: c, f: [4]ref{d.typeName()}})
	case 'W':
		if d.pos++; !d.eat('4') { // of int, which all enums are said to be
			return d.fail()
		}
		return d.add(msNode{kind: msTag, op: c, f: [4]ref{d.typeName()}})
	case 'A', 'P', 'Q', 'R', 'S':
		d.pos++
		return d.pointer(c)
	case 'Y':
		d.pos++
		return d.array()
	case '?':
		d.pos++
		r := d.add(msNode{kind: msCustom, f: [4]ref{d.unqualifiedType()}})
		d.want('@')
		return r
	case '_':
		d.pos++
		return d.word(msPlain, msMoreTypes)
	case '$':
		return d.dollarType()
	}
	return d.word(msPlain, msTypes)
}

func (d *msDecoder) dollarType() ref {
	switch {
	case d.eatWord("$$A8@@"):
		return d.signature(true)
	case d.eatWord("$$A6"):
		return d.signature(false)
	case d.eatWord("$$Q"):
		return d.pointer('$')
	case d.eatWord("$$T"):
		return d.addWord(msPlain, msNames, 'T')
	}
	return d.fail()
}

// qualified reads qualifiers and the type they are of.
func (d *msDecoder) qualified() ref {
	quals := d.qualifiers()
	t := d.typ()
	d.nodes[t].quals |= quals
	return t
}

// result reads the type that a function returns: one with qualifiers has ? in front.
func (d *msDecoder) result() ref {
	if d.eat('?') {
		return d.qualified()
	}
	return d.typ()
}

// qualifiers reads a letter for const and volatile, of a member another.
func (d *msDecoder) qualifiers() msQuals {
	c := d.next()
	switch {
	case 'A' <= c && c <= 'D':
		return msQuals(c - 'A')
	case 'Q' <= c && c <= 'T':
		return msQuals(c-'Q') | msMember
	}
	d.fail()
	return 0
}

// extended reads the qualifiers of pointers alone: E for 64 bits, which all have, I and F.
func (d *msDecoder) extended() (q msQuals) {
	d.eat('E')
	if d.eat('I') {
		q |= msRestrict
	}
	if d.eat('F') {
		q |= msUnaligned
	}
	return q
}

// pointer reads a pointer, a reference, or a pointer to a member. mark is the letter before.
func (d *msDecoder) pointer(mark byte) ref {
	n := msNode{kind: msPointer, op: mark}
	if 'P' <= mark && mark <= 'S' {
		n.op, n.quals = 'P', msQuals(mark-'P')
	}
	if d.eat('6') {
		n.f[0] = d.signature(false)
		return d.add(n)
	}
	if d.peek() == '8' && n.op == 'P' {
		d.pos++
		n.f[1] = d.typeName()
		n.f[0] = d.signature(true)
		return d.add(n)
	}
	n.quals |= d.extended()
	if d.eatWord("__ptrauth") {
		n.at = d.number()
		d.number()
		d.number()
	}
	quals := d.qualifiers()
	if quals&msMember != 0 {
		if n.op != 'P' {
			return d.fail()
		}
		n.f[1] = d.typeName()
		n.f[0] = d.typ()
		d.nodes[n.f[0]].quals = quals &^ msMember
		return d.add(n)
	}
	n.f[0] = d.typ()
	d.nodes[n.f[0]].quals |= quals
	return d.add(n)
}

// array reads the number of dimensions, each of them, and the type of elements.
func (d *msDecoder) array() ref {
	rank, _, end, ok := msNumber(d.src, d.pos)
	if !ok || d.peek() == '?' || rank == 0 || rank > uint64(len(d.src)) {
		return d.fail()
	}
	d.pos = end
	mark := len(d.stack)
	for range rank {
		d.push(d.unsigned())
	}
	dims := d.pop(mark)
	quals := msQuals(0)
	if d.eatWord("$$C") {
		if quals = d.qualifiers(); quals&msMember != 0 {
			return d.fail()
		}
	}
	r := d.addList(msArray, d.typ(), dims)
	d.nodes[r].quals = quals
	return r
}
