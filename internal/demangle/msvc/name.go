package msvc

import (
	"strings"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// symbolName reads the name of a symbol: an identifier, an operator or a template, and the
// scopes around it.
func (d *decoder) symbolName() ref {
	name := d.unqualified()
	return d.scoped(name)
}

// typeName reads the name of a type.
func (d *decoder) typeName() ref { return d.scoped(d.unqualifiedType()) }

// scoped reads the scopes around a name, up to @.
func (d *decoder) scoped(name ref) ref {
	if d.Failed {
		return 0
	}
	mark := len(d.Stack)
	d.Push(name)
	for d.More('@') {
		d.Push(d.scope())
	}
	d.Want('@')
	l := d.Pop(mark)
	if d.Failed {
		return 0
	}
	if s := d.innermost(name); d.nodes[s].kind == kStructor {
		if l.N < 2 {
			return d.Fail()
		}
		d.nodes[s].f[0] = d.Elements(l)[1]
	}
	return d.add(node{kind: kScoped, f: [4]ref{l.Start, l.N}})
}

// innermost returns a name without template arguments.
func (d *decoder) innermost(name ref) ref {
	for d.nodes[name].kind == kTemplate {
		name = d.nodes[name].f[0]
	}
	return name
}

// lastName returns the name before the scopes, without template arguments.
func (d *decoder) lastName(scoped ref) ref {
	if d.Failed {
		return 0
	}
	return d.innermost(d.Elements(d.nodes[scoped].list())[0])
}

// unqualified reads a name of a symbol without scopes.
func (d *decoder) unqualified() ref {
	switch {
	case mangled.IsDigit(d.Peek()):
		return d.knownName()
	case d.Peek() == '?' && d.Behind() == '$':
		return d.template(false)
	case d.Eat('?'):
		return d.operator()
	}
	return d.simpleName()
}

func (d *decoder) unqualifiedType() ref {
	switch {
	case mangled.IsDigit(d.Peek()):
		return d.knownName()
	case d.Peek() == '?' && d.Behind() == '$':
		return d.template(true)
	}
	return d.simpleName()
}

// scope reads a namespace, a class, or a function around a name.
func (d *decoder) scope() ref {
	d.Enter()
	defer d.Leave()
	switch {
	case d.Peek() != '?':
	case d.Behind() == 'A':
		return d.anonymous()
	case d.inFunction():
		return d.local()
	}
	return d.unqualifiedType()
}

// simpleName reads an identifier up to @.
func (d *decoder) simpleName() ref {
	from := d.Pos
	r := d.identifier()
	d.remember(r, from, d.Pos)
	d.Want('@')
	return r
}

// identifier reads up to an @.
func (d *decoder) identifier() ref {
	n := strings.IndexByte(d.Src[d.Pos:], '@')
	if n <= 0 {
		return d.Fail()
	}
	d.Pos += n
	return d.add(node{kind: kName, f: [4]ref{ref(d.Pos - n), ref(n)}})
}

// anonymous reads a namespace without a name: ?A, a hash, and @. With Microsoft's compiler, whose
// hash is in lower case, it gets a number; with clang, whose hash is in upper case, it gets none
// and is repeated in full. A hash without letters is clang's if it occurs twice.
func (d *decoder) anonymous() ref {
	n := strings.IndexByte(d.Src[d.Pos:], '@')
	if n < 0 {
		return d.Fail()
	}
	r := d.addWord(kWord, tableNames, 'A')
	hash := d.Src[d.Pos+len("?A"):][:n-len("?A")]
	if strings.ContainsAny(hash, "abcdef") || !strings.ContainsAny(hash, "ABCDEF") && strings.Count(d.Src, d.Src[d.Pos:][:n]) == 1 {
		d.remember(r, d.Pos, d.Pos+n)
	}
	d.Pos += n + 1
	return r
}

// remember gives a name the next number, unless it has one.
func (d *decoder) remember(r ref, from, to int) {
	k := &d.known
	if k.nNames == len(k.names) || d.Failed {
		return
	}
	for _, n := range k.names[:k.nNames] {
		if d.Src[n.from:n.to] == d.Src[from:to] {
			return
		}
	}
	k.names[k.nNames] = knownName{r, ref(from), ref(to)}
	k.nNames++
}

func (d *decoder) knownName() ref {
	i := int(d.Peek() - '0')
	if i >= d.known.nNames {
		return d.Fail()
	}
	d.Pos++
	return d.known.names[i].r
}

// inFunction reports whether a function around a name follows: ?, the number of the block in
// the function, ?. A number of several digits begins with B to P, as ?A is a namespace.
func (d *decoder) inFunction() bool {
	s := d.Src[d.Pos+1:]
	n := strings.IndexByte(s, '?')
	if n <= 0 {
		return false
	}
	if s = s[:n]; n == 1 {
		return s[0] == '@' || mangled.IsDigit(s[0])
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

// local reads a function around a name. A function in C has only its name, whose @ ends the scopes.
func (d *decoder) local() ref {
	d.Want('?')
	at := d.number()
	d.Want('?')
	n := node{kind: kLocal, at: at}
	if c := d.Peek(); c == '_' || mangled.IsLower(c) || mangled.IsUpper(c) {
		n.f[0] = d.add(node{kind: kVariable, f: [4]ref{d.identifier()}})
	} else {
		n.f[0] = d.symbol()
	}
	return d.add(n)
}

// template reads ?$, a name, and template arguments, in which names and parameters have numbers
// of their own. A scope gets a number, the name of a function does not.
func (d *decoder) template(scope bool) ref {
	d.Enter()
	defer d.Leave()
	from := d.Pos
	if !d.Eat2('?', '$') {
		return d.Fail()
	}
	outer := d.known
	d.known.nNames, d.known.nParam = 0, 0
	name := d.unqualified()
	args := d.templateArgs()
	d.known = outer
	if d.Failed {
		return 0
	}
	r := d.addList(kTemplate, name, args)
	if scope {
		if k := d.nodes[d.innermost(name)].kind; k == kConvert || k == kStructor {
			return d.Fail()
		}
		d.remember(r, from, d.Pos)
	}
	return r
}

// operator reads the part after the ? of an operator, constructor or helper.
func (d *decoder) operator() ref {
	table := tableOperators
	switch {
	case d.Eat2('_', '_'):
		if d.Eat('K') {
			return d.add(node{kind: kSuffix, f: [4]ref{d.simpleName()}})
		}
		table = tableLateOperators
	case d.Eat('_'):
		table = tableMoreOperators
	case d.Eat('0'):
		return d.add(node{kind: kStructor})
	case d.Eat('1'):
		return d.add(node{kind: kStructor, op: 1})
	case d.Eat('B'):
		return d.add(node{kind: kConvert})
	}
	return d.word(kWord, table)
}

// word reads the code of a word in a table.
func (d *decoder) word(kind kind, table table) ref {
	c := d.Peek()
	if int(c) >= len(llvmWords[table]) || llvmWords[table][c] == "" {
		return d.Fail()
	}
	d.Pos++
	return d.addWord(kind, table, c)
}

func (d *decoder) addWord(kind kind, table table, code byte) ref {
	return d.add(node{kind: kind, op: uint8(table), at: ref(code)})
}
