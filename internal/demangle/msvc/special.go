package demangle

// special reads what begins with ?_ and is neither a function nor a variable: tables of
// virtual functions, descriptions of types, initializers. d.pos is at its first ?.
func (d *msDecoder) special() (r ref, ok bool) {
	from := d.pos
	d.pos += len("?_")
	c := d.next()
	switch c {
	case '7', '8', 'S':
		return d.vtable(c), true
	case '9':
		return d.vcall(), true
	case 'B':
		return d.guard(0), true
	case 'C':
		return d.literal(), true
	case 'R':
		return d.runtimeType(), true
	case '_':
		c = d.next()
		switch c {
		case 'E', 'F':
			return d.initializer(c), true
		case 'J':
			return d.guard(1), true
		}
	}
	d.pos = from
	return 0, false
}

// vtable reads a table's class, its qualifiers, and the bases that it is for.
func (d *msDecoder) vtable(word byte) ref {
	name := d.scoped(d.addWord(msWord, msNames, word))
	if !d.eat('6') {
		d.want('7')
	}
	quals := d.qualifiers()
	mark := len(d.stack)
	for d.more('@') {
		d.push(d.typeName())
	}
	d.want('@')
	r := d.addList(msVtable, name, d.pop(mark))
	d.nodes[r].quals = quals
	return r
}

// vcall reads a thunk that calls a virtual function by its place in the table.
func (d *msDecoder) vcall() ref {
	v := d.add(msNode{kind: msVcall})
	name := d.scoped(v)
	if !d.eat2('$', 'B') {
		return d.fail()
	}
	d.nodes[v].at = d.unsigned()
	d.want('A')
	signature := d.add(msNode{kind: msSignature, op: d.call(), class: msNoParams | msIsVcall})
	return d.add(msNode{kind: msFunction, f: [4]ref{name, signature}})
}

// guard reads the variable that says which static variables of a function are initialized.
func (d *msDecoder) guard(threads uint8) ref {
	g := d.add(msNode{kind: msGuard, op: threads})
	name := d.scoped(g)
	if !d.eat('5') && !d.eatWord("4IA") {
		return d.fail()
	}
	if d.pos < len(d.src) {
		d.nodes[g].at = d.unsigned()
	}
	return d.add(msNode{kind: msVariable, f: [4]ref{name}})
}

// runtimeType reads the parts of RTTI.
func (d *msDecoder) runtimeType() ref {
	c := d.next()
	switch c {
	case '0':
		t := d.result()
		if !d.eatWord("@8") || d.pos != len(d.src) {
			return d.fail()
		}
		return d.typeInfo(t, c)
	case '1':
		base := d.add(msNode{kind: msBase, at: d.unsigned()})
		d.number()
		d.unsigned()
		d.unsigned()
		return d.untyped(base)
	case '2', '3':
		return d.untyped(d.addWord(msWord, msNames, c))
	case '4':
		return d.vtable(c)
	}
	return d.fail()
}

func (d *msDecoder) typeInfo(t ref, word byte) ref {
	return d.add(msNode{kind: msTypeInfo, f: [4]ref{d.addWord(msWord, msNames, word), t}})
}

// untyped reads the class around a name, and 8.
func (d *msDecoder) untyped(name ref) ref {
	name = d.scoped(name)
	d.want('8')
	return d.add(msNode{kind: msVariable, f: [4]ref{name}})
}

// initializer reads a function that initializes or destroys a variable. What follows is the
// variable's whole symbol in ?...@@, or its name alone. Old versions of clang left out the
// question mark and an @.
func (d *msDecoder) initializer(code byte) ref {
	n := msNode{kind: msInit, op: code}
	whole := d.eat('?')
	symbol := d.declared()
	if d.failed {
		return 0
	}
	if s := d.nodes[symbol]; s.kind == msFunction {
		if whole {
			return d.fail()
		}
		n.f[0] = s.f[0]
		d.nodes[symbol].f[0] = d.add(n)
		return symbol
	}
	n.f[0], n.flags = symbol, msOfVariable
	d.want('@')
	if whole {
		d.want('@')
	}
	return d.function(d.add(n))
}
