package demangle

import "strings"

// symbolName reads the name of a symbol: an identifier, an operator or a template, and its
// scopes.
func (d *msDecoder) symbolName() ref {
	name := d.unqualified()
	return d.scoped(name)
}

// typeName reads the name of a type.
func (d *msDecoder) typeName() ref { return d.scoped(d.unqualifiedType()) }

// scoped reads the scopes around a name, up to @.
func (d *msDecoder) scoped(name ref) ref {
	if d.failed {
		return 0
	}
	mark := len(d.stack)
	d.push(name)
	for d.more('@') {
		d.push(d.scope())
	}
	d.want('@')
	l := d.pop(mark)
	if d.failed {
		return 0
	}
	if s := d.innermost(name); d.nodes[s].kind == msStructor {
		if l.n < 2 {
			return d.fail()
		}
		d.nodes[s].f[0] = d.elements(l)[1]
	}
	return d.add(msNode{kind: msScoped, f: [4]ref{l.start, l.n}})
}

// innermost returns a name without template arguments.
func (d *msDecoder) innermost(name ref) ref {
	for d.nodes[name].kind == msTemplate {
		name = d.nodes[name].f[0]
	}
	return name
}

// lastName returns the name in front of the scopes, without template arguments.
func (d *msDecoder) lastName(scoped ref) ref {
	if d.failed {
		return 0
	}
	return d.innermost(d.elements(d.nodes[scoped].list())[0])
}

// unqualified reads a name of a symbol without scopes.
func (d *msDecoder) unqualified() ref {
	switch {
	case isDigit(d.peek()):
		return d.knownName()
	case d.peek() == '?' && d.behind() == '$':
		return d.template(false)
	case d.eat('?'):
		return d.operator()
	}
	return d.simpleName()
}

func (d *msDecoder) unqualifiedType() ref {
	switch {
	case isDigit(d.peek()):
		return d.knownName()
	case d.peek() == '?' && d.behind() == '$':
		return d.template(true)
	}
	return d.simpleName()
}

// scope reads a namespace, a class, or a function around a name.
func (d *msDecoder) scope() ref {
	d.enter()
	defer d.leave()
	switch {
	case d.peek() != '?':
	case d.behind() == 'A':
		return d.anonymous()
	case d.inFunction():
		return d.local()
	}
	return d.unqualifiedType()
}

// simpleName reads an identifier up to @.
func (d *msDecoder) simpleName() ref {
	from := d.pos
	r := d.identifier()
	d.remember(r, from, d.pos)
	d.want('@')
	return r
}

// identifier reads up to an @.
func (d *msDecoder) identifier() ref {
	n := strings.IndexByte(d.src[d.pos:], '@')
	if n <= 0 {
		return d.fail()
	}
	d.pos += n
	return d.add(msNode{kind: msName, f: [4]ref{ref(d.pos - n), ref(n)}})
}

// anonymous reads a namespace without a name: ?A, a hash, and @. It gets a number from
// Microsoft's compiler, whose hash is in lower case, and none from clang, whose hash is in upper
// case and spelled out again. A hash without letters is clang's if it is there twice.
func (d *msDecoder) anonymous() ref {
	n := strings.IndexByte(d.src[d.pos:], '@')
	if n < 0 {
		return d.fail()
	}
	r := d.addWord(msWord, msNames, 'A')
	hash := d.src[d.pos+len("?A"):][:n-len("?A")]
	if strings.ContainsAny(hash, "abcdef") || !strings.ContainsAny(hash, "ABCDEF") && strings.Count(d.src, d.src[d.pos:][:n]) == 1 {
		d.remember(r, d.pos, d.pos+n)
	}
	d.pos += n + 1
	return r
}

// remember gives a name the next number, unless it has one.
func (d *msDecoder) remember(r ref, from, to int) {
	k := &d.known
	if k.nNames == len(k.names) || d.failed {
		return
	}
	for _, n := range k.names[:k.nNames] {
		if d.src[n.from:n.to] == d.src[from:to] {
			return
		}
	}
	k.names[k.nNames] = msKnownName{r, ref(from), ref(to)}
	k.nNames++
}

func (d *msDecoder) knownName() ref {
	i := int(d.peek() - '0')
	if i >= d.known.nNames {
		return d.fail()
	}
	d.pos++
	return d.known.names[i].r
}

// inFunction reports whether a function around a name follows: ?, the number of the block in
// it, ?. A number of several digits begins with B to P, as ?A is a namespace.
func (d *msDecoder) inFunction() bool {
	s := d.src[d.pos+1:]
	n := strings.IndexByte(s, '?')
	if n <= 0 {
		return false
	}
	if s = s[:n]; n == 1 {
		return s[0] == '@' || isDigit(s[0])
	}
	if s[n-1] != '@' || s[0] < 'B' {
		return false
	}
	for _, c := range []byte(s[:n-1]) {
		if c < 'A' || c > 'P' {
			return false
		}
	}
	return true
}

// local reads a function around a name; of one in C there is the name alone, whose @ ends the scopes.
func (d *msDecoder) local() ref {
	d.want('?')
	at := d.number()
	d.want('?')
	n := msNode{kind: msLocal, at: at}
	if c := d.peek(); c == '_' || isLower(c) || isUpper(c) {
		n.f[0] = d.add(msNode{kind: msVariable, f: [4]ref{d.identifier()}})
	} else {
		n.f[0] = d.symbol()
	}
	return d.add(n)
}

// template reads ?$, a name, and template arguments, in which names and parameters are
// numbered anew. A scope gets a number, the name of a function does not.
func (d *msDecoder) template(scope bool) ref {
	d.enter()
	defer d.leave()
	from := d.pos
	if !d.eat2('?', '$') {
		return d.fail()
	}
	outer := d.known
	d.known.nNames, d.known.nParam = 0, 0
	name := d.unqualified()
	args := d.templateArgs()
	d.known = outer
	if d.failed {
		return 0
	}
	r := d.addList(msTemplate, name, args)
	if scope {
		if k := d.nodes[d.innermost(name)].kind; k == msConvert || k == msStructor {
			return d.fail()
		}
		d.remember(r, from, d.pos)
	}
	return r
}

// operator reads what is after the ? of an operator, constructor or helper.
func (d *msDecoder) operator() ref {
	table := msOperators
	switch {
	case d.eat2('_', '_'):
		if d.eat('K') {
			return d.add(msNode{kind: msSuffix, f: [4]ref{d.simpleName()}})
		}
		table = msLateOperators
	case d.eat('_'):
		table = msMoreOperators
	case d.eat('0'):
		return d.add(msNode{kind: msStructor})
	case d.eat('1'):
		return d.add(msNode{kind: msStructor, op: 1})
	case d.eat('B'):
		return d.add(msNode{kind: msConvert})
	}
	return d.word(msWord, table)
}

// word reads the code of a word in a table.
func (d *msDecoder) word(kind msKind, table msTable) ref {
	c := d.peek()
	if int(c) >= len(msWords[table]) || msWords[table][c] == "" {
		return d.fail()
	}
	d.pos++
	return d.addWord(kind, table, c)
}

func (d *msDecoder) addWord(kind msKind, table msTable, code byte) ref {
	return d.add(msNode{kind: kind, op: uint8(table), at: ref(code)})
}
