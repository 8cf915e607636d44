package demangle

import "strings"

// symbol reads a whole symbol: a function, a variable, or what compilers add to them.
func (d *msDecoder) symbol() ref {
	d.enter()
	defer d.leave()
	switch {
	case d.eat('.'):
		t := d.result()
		if d.pos != len(d.src) {
			return d.fail()
		}
		return d.typeInfo(t, 'N')
	case strings.HasPrefix(d.src[d.pos:], "??@"):
		return d.hashed()
	}
	d.want('?')
	if d.peek() == '?' && d.behind() == '_' {
		if r, ok := d.special(); ok {
			return r
		}
	}
	return d.declared()
}

// hashed reads ??@, the hash of a name that is too long, and @. For the locator of a complete
// object ??_R4@ is added.
func (d *msDecoder) hashed() ref {
	from := d.pos
	n := strings.IndexByte(d.src[from+len("??@"):], '@')
	if n < 0 {
		return d.fail()
	}
	d.pos += len("??@") + n + 1
	d.eatWord("??_R4@")
	r := d.add(msNode{kind: msName, f: [4]ref{ref(from), ref(d.pos - from)}})
	return d.add(msNode{kind: msVariable, f: [4]ref{r}})
}

// eatWord passes a word if it follows.
func (d *msDecoder) eatWord(word string) bool {
	if !strings.HasPrefix(d.src[d.pos:], word) {
		return false
	}
	d.pos += len(word)
	return true
}

// declared reads the name of a function or a variable, and its type.
func (d *msDecoder) declared() ref {
	name := d.symbolName()
	if d.failed {
		return 0
	}
	if d.isFunclet(name) {
		return d.funclet(name)
	}
	if c := d.peek(); '0' <= c && c <= '4' {
		if d.nodes[d.lastName(name)].kind == msConvert {
			return d.fail()
		}
		d.pos++
		return d.add(msNode{kind: msVariable, op: c, f: [4]ref{name, d.variableType()}})
	}
	r := d.function(name)
	if last := d.lastName(name); d.nodes[last].kind == msConvert && !d.failed {
		result := d.nodes[d.nodes[r].f[1]].f[0]
		if result == 0 {
			return d.fail()
		}
		d.nodes[last].f[0] = result
	}
	return r
}

// isFunclet reports whether a name is what clang calls the code of an exception handler,
// fin$0@0@, with the name of its function to follow.
func (d *msDecoder) isFunclet(name ref) bool {
	parts := d.elements(d.nodes[name].list())
	n := &d.nodes[parts[0]]
	return len(parts) == 2 && parts[1] == parts[0] && n.kind == msName && strings.Contains(d.src[n.f[0]:][:n.f[1]], "$")
}

// funclet reads the function of a handler. ?fin$0@0@f@@ becomes what Microsoft's compiler calls
// ?fin$0@?0??f@@YAXXZ@4HA.
func (d *msDecoder) funclet(name ref) ref {
	around := d.add(msNode{kind: msVariable, f: [4]ref{d.symbolName()}})
	local := d.add(msNode{kind: msLocal, f: [4]ref{around}})
	parts := d.elements(d.nodes[name].list())
	n := &d.nodes[parts[0]]
	d.nodes[local].at = n.f[0] + n.f[1] + 1 // 0 is the number of the name, and here of the block
	parts[1] = local
	return d.add(msNode{kind: msVariable, f: [4]ref{name}})
}

// variableType reads the type of a variable and its qualifiers; those of a pointer are
// repeated as those of what it points to.
func (d *msDecoder) variableType() ref {
	t := d.typ()
	if d.failed {
		return 0
	}
	if d.nodes[t].kind != msPointer {
		d.nodes[t].quals = d.qualifiers()
		return t
	}
	d.nodes[t].quals |= d.extended()
	quals := d.qualifiers()
	if d.nodes[t].f[1] != 0 {
		d.typeName()
	}
	d.nodes[d.nodes[t].f[0]].quals |= quals
	return t
}

// function reads what follows the name of a function: its class, the offsets of a thunk, and
// its type.
func (d *msDecoder) function(name ref) ref {
	class := msClass(0)
	if d.eatWord("$$J0") {
		class = msExternC
	} else if !d.eatWord("$$h") { // a function of ARM64EC
		d.eatWord("$$F") // managed
	}
	class |= d.functionClass()
	n := msNode{kind: msFunction, at: ref(d.pos)}
	for range class.offsets() {
		d.offset()
	}
	signature := ref(0)
	if class&msNoParams != 0 {
		signature = d.add(msNode{kind: msSignature})
	} else {
		signature = d.signature(class&msNoThis == 0)
	}
	d.nodes[signature].class = class
	n.f = [4]ref{name, signature}
	return d.add(n)
}

// offsets returns how many offsets a thunk has.
func (c msClass) offsets() int {
	switch {
	case c&msAdjust != 0:
		return 1
	case c&msVtordispEx != 0:
		return 4
	case c&msVtordisp != 0:
		return 2
	}
	return 0
}

// functionClass reads a letter of eight for each access: a member, static, virtual, a thunk,
// and the same for far code; Y and Z are functions that are not members.
func (d *msDecoder) functionClass() msClass {
	access := [3]msClass{msPrivate, msProtected, msPublic}
	c := d.next()
	switch {
	case c == '9':
		return msExternC | msNoParams
	case 'A' <= c && c <= 'X':
		return access[(c-'A')/8] | [4]msClass{0, msStatic, msVirtual, msVirtual | msAdjust}[(c-'A')%8/2]
	case c == 'Y' || c == 'Z':
		return msGlobal
	case c == '$':
		class := msVirtual | msVtordisp
		if d.eat('R') {
			class |= msVtordispEx
		}
		if c = d.next(); '0' <= c && c <= '5' {
			return class | access[(c-'0')/2]
		}
	}
	d.fail()
	return 0
}

// signature reads the type of a function; of a method with the qualifiers of *this.
func (d *msDecoder) signature(method bool) ref {
	n := msNode{kind: msSignature}
	if method {
		n.quals = d.extended()
		switch {
		case d.eat('G'):
			n.flags = msLRef
		case d.eat('H'):
			n.flags = msRRef
		}
		n.quals |= d.qualifiers()
	}
	n.op = d.call()
	if !d.eat('@') {
		n.f[0] = d.result()
	}
	var params span
	params, n.flags = d.params(n.flags)
	n.f[1], n.f[2] = params.start, params.n
	if d.eat2('_', 'E') {
		n.flags |= msNoexcept
	} else {
		d.want('Z')
	}
	return d.add(n)
}

func (d *msDecoder) call() byte {
	c := d.next()
	if !isUpper(c) && !isLower(c) {
		d.fail()
	}
	return c
}

// params reads parameters up to @, or Z if there may be more of them. X is (void).
func (d *msDecoder) params(flags msFlags) (span, msFlags) {
	if d.eat('X') {
		return span{}, flags | msVoid
	}
	mark := len(d.stack)
	for d.more('@') && d.peek() != 'Z' {
		d.push(d.param())
	}
	if !d.eat('@') {
		d.want('Z')
		flags |= msVariadic
	}
	return d.pop(mark), flags
}

// param reads the type of a parameter. One that takes more than a letter gets a number.
func (d *msDecoder) param() ref {
	k := &d.known
	if c := d.peek(); isDigit(c) {
		if int(c-'0') >= k.nParam {
			return d.fail()
		}
		d.pos++
		return k.params[c-'0']
	}
	from := d.pos
	t := d.typ()
	if k.nParam < len(k.params) && d.pos-from > 1 && !d.failed {
		k.params[k.nParam] = t
		k.nParam++
	}
	return t
}
