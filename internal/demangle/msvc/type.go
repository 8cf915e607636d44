package msvc

// typ reads a type that is not qualified by itself.
func (d *decoder) typ() ref {
	d.Enter()
	defer d.Leave()
	switch c := d.Peek(); c {
	case 'T', 'U', 'V':
		d.Pos++
		return d.add(node{kind: kTag, op: c, f: [4]ref{d.typeName()}})
	case 'W':
		if d.Pos++; !d.Eat('4') { // of int, as all enums are marked
			return d.Fail()
		}
		return d.add(node{kind: kTag, op: c, f: [4]ref{d.typeName()}})
	case 'A', 'P', 'Q', 'R', 'S':
		d.Pos++
		return d.pointer(c)
	case 'Y':
		d.Pos++
		return d.array()
	case '?':
		d.Pos++
		r := d.add(node{kind: kCustom, f: [4]ref{d.unqualifiedType()}})
		d.Want('@')
		return r
	case '_':
		d.Pos++
		return d.word(kPlain, tableMoreTypes)
	case '$':
		return d.dollarType()
	}
	return d.word(kPlain, tableTypes)
}

func (d *decoder) dollarType() ref {
	switch {
	case d.eatWord("$$A8@@"):
		return d.signature(true)
	case d.eatWord("$$A6"):
		return d.signature(false)
	case d.eatWord("$$Q"):
		return d.pointer('$')
	case d.eatWord("$$T"):
		return d.addWord(kPlain, tableNames, 'T')
	}
	return d.Fail()
}

// qualified reads qualifiers and the type that they qualify.
func (d *decoder) qualified() ref {
	quals := d.qualifiers()
	t := d.typ()
	d.nodes[t].quals |= quals
	return t
}

// result reads the type that a function returns: ? precedes one with qualifiers.
func (d *decoder) result() ref {
	if d.Eat('?') {
		return d.qualified()
	}
	return d.typ()
}

// qualifiers reads a letter for const and volatile; members have other letters.
func (d *decoder) qualifiers() qualSet {
	c := d.next()
	switch {
	case 'A' <= c && c <= 'D':
		return qualSet(c - 'A')
	case 'Q' <= c && c <= 'T':
		return qualSet(c-'Q') | qualMember
	}
	d.Fail()
	return 0
}

// extended reads the qualifiers that only pointers have: E for 64 bits, which all have, I and F.
func (d *decoder) extended() (q qualSet) {
	d.Eat('E')
	if d.Eat('I') {
		q |= qualRestrict
	}
	if d.Eat('F') {
		q |= qualUnaligned
	}
	return q
}

// pointer reads a pointer, a reference, or a pointer to a member. mark is the letter before.
func (d *decoder) pointer(mark byte) ref {
	n := node{kind: kPointer, op: mark}
	if 'P' <= mark && mark <= 'S' {
		n.op, n.quals = 'P', qualSet(mark-'P')
	}
	if d.Eat('6') {
		n.f[0] = d.signature(false)
		return d.add(n)
	}
	if d.Peek() == '8' && n.op == 'P' {
		d.Pos++
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
	if quals&qualMember != 0 {
		if n.op != 'P' {
			return d.Fail()
		}
		n.f[1] = d.typeName()
		n.f[0] = d.typ()
		d.nodes[n.f[0]].quals = quals &^ qualMember
		return d.add(n)
	}
	n.f[0] = d.typ()
	d.nodes[n.f[0]].quals |= quals
	return d.add(n)
}

// array reads the number of dimensions, each of them, and the type of elements.
func (d *decoder) array() ref {
	rank, _, end, ok := parseNumber(d.Src, d.Pos)
	if !ok || d.Peek() == '?' || rank == 0 || rank > uint64(len(d.Src)) {
		return d.Fail()
	}
	d.Pos = end
	mark := len(d.Stack)
	for range rank {
		d.Push(d.unsigned())
	}
	dims := d.Pop(mark)
	quals := qualSet(0)
	if d.eatWord("$$C") {
		if quals = d.qualifiers(); quals&qualMember != 0 {
			return d.Fail()
		}
	}
	r := d.addList(kArray, d.typ(), dims)
	d.nodes[r].quals = quals
	return r
}
