package itanium

import "github.com/symtool/symtool/internal/demangle/mangled"

// read reads a name into nodes, the whole name into d.root, and reports whether it could.
func (d *decoder) read(raw string, asGCC bool) bool {
	d.Start(raw, len("_Z"))
	d.asGCC, d.unresolved, d.unresolvedIDs, d.twofold = asGCC, 0, 0, 0
	if len(d.nodes) < len(fixed.nodes) {
		d.nodes = append(d.nodes[:0], fixed.nodes...)
		d.Lists = append(d.Lists[:0], fixed.lists...)
	}
	d.nodes, d.Lists = d.nodes[:len(fixed.nodes)], d.Lists[:len(fixed.lists)]
	d.subs, d.templates = d.subs[:0], d.templates[:0]
	d.lambdaLevel, d.inConstraint, d.declared, d.pass = 0, false, [3]ref{}, 0
	d.root = d.encoding(false)
	d.rootEnd = d.Pos
	for d.clone() {
	}
	if d.Pos != len(d.Src) {
		d.Fail()
	}
	return !d.Failed
}

// maxNumber is far above the numbers in any name.
const maxNumber = 1<<31/10 - 10

// number reads [n] <non-negative decimal integer>.
func (d *decoder) number() int {
	negative := d.Eat('n')
	if !mangled.IsDigit(d.Peek()) {
		d.Fail()
	}
	n := 0
	for mangled.IsDigit(d.Peek()) {
		if n >= maxNumber {
			d.Fail()
			return 0
		}
		n = 10*n + int(d.Src[d.Pos]-'0')
		d.Pos++
	}
	if negative {
		return -n
	}
	return n
}

// index reads [<non-negative number>] _, where _ is 0 and 0_ is 1.
func (d *decoder) index() int {
	if d.Eat('_') {
		return 0
	}
	if !mangled.IsDigit(d.Peek()) {
		d.Fail()
		return 0
	}
	n := d.number()
	d.Want('_')
	return n + 1
}

// seqID reads [<number in base 36>] _, or up to the end of the name if that may be left out.
func (d *decoder) seqID(endOK bool) int {
	if d.Eat('_') {
		return 0
	}
	for id := 0; ; d.Pos++ {
		switch c := d.Peek(); {
		case d.Pos == len(d.Src) && endOK && !d.Failed:
			return id + 1
		case id >= 1<<31/36-36:
			d.Fail()
			return 0
		case c == '_':
			d.Pos++
			return id + 1
		case mangled.IsDigit(c):
			id = 36*id + int(c-'0')
		case mangled.IsUpper(c):
			id = 36*id + int(c-'A') + 10
		default:
			d.Fail()
			return 0
		}
	}
}

// clone skips the suffix of a function that a compiler has copied, .cold or .part.0, and
// reports whether there was one.
func (d *decoder) clone() bool {
	if d.Failed || d.Peek() != '.' || !isCloneByte(d.Behind()) {
		return false
	}
	for d.Pos += 2; isCloneByte(d.Peek()); d.Pos++ {
	}
	for d.Peek() == '.' && mangled.IsDigit(d.Behind()) {
		for d.Pos += 2; mangled.IsDigit(d.Peek()); d.Pos++ {
		}
	}
	return true
}

func isCloneByte(c byte) bool { return mangled.IsLower(c) || mangled.IsDigit(c) || c == '_' }
