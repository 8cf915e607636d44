package demangle

// read reads a name into nodes; the last one is the whole of it.
func (d *decoder) read(raw string, asGCC bool) bool {
	d.src, d.pos, d.failed, d.depth = raw, len("_Z"), false, 0
	d.asGCC, d.unresolved, d.unresolvedIDs, d.twofold = asGCC, 0, 0, 0
	if len(d.nodes) < len(fixed.nodes) {
		d.nodes = append(d.nodes[:0], fixed.nodes...)
		d.lists = append(d.lists[:0], fixed.lists...)
	}
	d.nodes, d.lists = d.nodes[:len(fixed.nodes)], d.lists[:len(fixed.lists)]
	d.stack, d.subs, d.templates = d.stack[:0], d.subs[:0], d.templates[:0]
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

// fail ends the reading of a name: there is nothing more to read.
func (d *decoder) fail() ref {
	d.failed, d.pos = true, len(d.src)
	return 0
}

// tooMuch ends the work on a name that takes more than its length allows.
func (d *decoder) tooMuch() {
	d.costly = true
	d.fail()
}

// step counts work.
func (d *decoder) step() {
	if d.steps--; d.steps < 0 {
		d.tooMuch()
	}
}

// enter is called where grammar refers to itself; leave undoes it.
func (d *decoder) enter() {
	d.step()
	if d.depth++; d.depth > maxDepth {
		d.tooMuch()
	}
}

func (d *decoder) leave() { d.depth-- }

// peek returns the next byte, or 0 at the end, which is in no name.
func (d *decoder) peek() byte {
	if d.pos < len(d.src) {
		return d.src[d.pos]
	}
	return 0
}

// behind returns the byte after the next one, or 0.
func (d *decoder) behind() byte {
	if d.pos+1 < len(d.src) {
		return d.src[d.pos+1]
	}
	return 0
}

func (d *decoder) eat(c byte) bool {
	if d.peek() != c || d.pos >= len(d.src) {
		return false
	}
	d.pos++
	return true
}

// eat2 passes two bytes.
func (d *decoder) eat2(c, c2 byte) bool {
	if d.peek() != c || d.behind() != c2 {
		return false
	}
	d.pos += 2
	return true
}

func (d *decoder) want(c byte) {
	if !d.eat(c) {
		d.fail()
	}
}

// more reports whether there is something before the byte that ends a list.
func (d *decoder) more(end byte) bool { return !d.failed && d.peek() != end }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

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
