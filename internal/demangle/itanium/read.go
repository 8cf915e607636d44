package demangle

// read reads a name into nodes; the last one is the whole of it.
func (d *decoder) read(raw string, asGCC bool) bool {
	d.start(raw, len("_Z"))
	d.asGCC, d.unresolved, d.unresolvedIDs, d.twofold = asGCC, 0, 0, 0
	if len(d.nodes) < len(fixed.nodes) {
		d.nodes = append(d.nodes[:0], fixed.nodes...)
		d.lists = append(d.lists[:0], fixed.lists...)
	}
	d.nodes, d.lists = d.nodes[:len(fixed.nodes)], d.lists[:len(fixed.lists)]
	d.subs, d.templates = d.subs[:0], d.templates[:0]
	d.lambdaLevel, d.inConstraint, d.declared, d.pass = 0, false, [3]ref{}, 0
	d.root = d.encoding(false)
	d.rootEnd = d.pos
	for d.clone() {
	}
	if d.pos != len(d.src) {
		d.fail()
	}
	return !d.failed
}

// maxNumber is far beyond the numbers of any name.
const maxNumber = 1<<31/10 - 10

// number reads [n] <non-negative decimal integer>.
func (d *decoder) number() int {
	negative := d.eat('n')
	if !isDigit(d.peek()) {
		d.fail()
	}
	n := 0
	for isDigit(d.peek()) {
		if n >= maxNumber {
			d.fail()
			return 0
		}
		n = 10*n + int(d.src[d.pos]-'0')
		d.pos++
	}
	if negative {
		return -n
	}
	return n
}

// index reads [<non-negative number>] _, where _ is 0 and 0_ is 1.
func (d *decoder) index() int {
	if d.eat('_') {
		return 0
	}
	if !isDigit(d.peek()) {
		d.fail()
		return 0
	}
	n := d.number()
	d.want('_')
	return n + 1
}

// seqID reads [<number in base 36>] _, or up to the end of the name if that may be left out.
func (d *decoder) seqID(endOK bool) int {
	if d.eat('_') {
		return 0
	}
	for id := 0; ; d.pos++ {
		switch c := d.peek(); {
		case d.pos == len(d.src) && endOK && !d.failed:
			return id + 1
		case id >= 1<<31/36-36:
			d.fail()
			return 0
		case c == '_':
			d.pos++
			return id + 1
		case isDigit(c):
			id = 36*id + int(c-'0')
		case isUpper(c):
			id = 36*id + int(c-'A') + 10
		default:
			d.fail()
			return 0
		}
	}
}

// clone passes the suffix of a function that a compiler has copied: .cold, .part.0.
func (d *decoder) clone() bool {
	if d.failed || d.peek() != '.' || !isCloneByte(d.behind()) {
		return false
	}
	for d.pos += 2; isCloneByte(d.peek()); d.pos++ {
	}
	for d.peek() == '.' && isDigit(d.behind()) {
		for d.pos += 2; isDigit(d.peek()); d.pos++ {
		}
	}
	return true
}

func isCloneByte(c byte) bool { return isLower(c) || isDigit(c) || c == '_' }
