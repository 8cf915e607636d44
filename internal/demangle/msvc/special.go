package msvc

// special reads a name that begins with ?_ and is neither a function nor a variable: tables of
// virtual functions, descriptions of types, initializers. d.Pos is at the first ?.
func (d *decoder) special() (r ref, ok bool) {
	from := d.Pos
	d.Pos += len("?_")
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
	d.Pos = from
	return 0, false
}

// vtable reads a table's class, its qualifiers, and the bases that it is for.
func (d *decoder) vtable(word byte) ref {
	name := d.scoped(d.addWord(kWord, tableNames, word))
	if !d.Eat('6') {
		d.Want('7')
	}
	quals := d.qualifiers()
	mark := len(d.Stack)
	for d.More('@') {
		d.Push(d.typeName())
	}
	d.Want('@')
	r := d.addList(kVtable, name, d.Pop(mark))
	d.nodes[r].quals = quals
	return r
}

// vcall reads a thunk that calls a virtual function by its offset in the table.
func (d *decoder) vcall() ref {
	v := d.add(node{kind: kVcall})
	name := d.scoped(v)
	if !d.Eat2('$', 'B') {
		return d.Fail()
	}
	d.nodes[v].at = d.unsigned()
	d.Want('A')
	signature := d.add(node{kind: kSignature, op: d.call(), class: classNoParams | classIsVcall})
	return d.add(node{kind: kFunction, f: [4]ref{name, signature}})
}

// guard reads the variable that records which static variables of a function are initialized.
func (d *decoder) guard(threads uint8) ref {
	g := d.add(node{kind: kGuard, op: threads})
	name := d.scoped(g)
	if !d.Eat('5') && !d.eatWord("4IA") {
		return d.Fail()
	}
	if d.Pos < len(d.Src) {
		d.nodes[g].at = d.unsigned()
	}
	return d.add(node{kind: kVariable, f: [4]ref{name}})
}

// runtimeType reads the parts of RTTI.
func (d *decoder) runtimeType() ref {
	c := d.next()
	switch c {
	case '0':
		t := d.result()
		if !d.eatWord("@8") || d.Pos != len(d.Src) {
			return d.Fail()
		}
		return d.typeInfo(t, c)
	case '1':
		base := d.add(node{kind: kBase, at: d.unsigned()})
		d.number()
		d.unsigned()
		d.unsigned()
		return d.untyped(base)
	case '2', '3':
		return d.untyped(d.addWord(kWord, tableNames, c))
	case '4':
		return d.vtable(c)
	}
	return d.Fail()
}

func (d *decoder) typeInfo(t ref, word byte) ref {
	return d.add(node{kind: kTypeInfo, f: [4]ref{d.addWord(kWord, tableNames, word), t}})
}

// untyped reads the class around a name, and 8.
func (d *decoder) untyped(name ref) ref {
	name = d.scoped(name)
	d.Want('8')
	return d.add(node{kind: kVariable, f: [4]ref{name}})
}

// initializer reads a function that initializes or destroys a variable. The variable's whole
// symbol follows in ?...@@, or only its name. Old versions of clang omitted the question mark
// and an @.
func (d *decoder) initializer(code byte) ref {
	n := node{kind: kInit, op: code}
	whole := d.Eat('?')
	symbol := d.declared()
	if d.Failed {
		return 0
	}
	if s := d.nodes[symbol]; s.kind == kFunction {
		if whole {
			return d.Fail()
		}
		n.f[0] = s.f[0]
		d.nodes[symbol].f[0] = d.add(n)
		return symbol
	}
	n.f[0], n.flags = symbol, flagOfVariable
	d.Want('@')
	if whole {
		d.Want('@')
	}
	return d.function(d.add(n))
}
