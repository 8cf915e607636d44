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
	case 'E':
		if d.peek() != '?' {
			return d.fail()
		}
		return d.add(msNode{kind: msSymbol, f: [4]ref{d.symbol()}})
	case 'F', 'G':
		return d.offsets(msNode{kind: msSymbol}, int(c-'F')+2)
	}
	return d.fail()
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
