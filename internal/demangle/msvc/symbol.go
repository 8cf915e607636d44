package msvc

import (
	"strings"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// symbol reads a whole symbol: a function, a variable, or something that compilers add.
func (d *decoder) symbol() ref {
	d.Enter()
	defer d.Leave()
	switch {
	case d.Eat('.'):
		t := d.result()
		if d.Pos != len(d.Src) {
			return d.Fail()
		}
		return d.typeInfo(t, 'N')
	case strings.HasPrefix(d.Src[d.Pos:], "??@"):
		return d.hashed()
	}
	d.Want('?')
	if d.Peek() == '?' && d.Behind() == '_' {
		if r, ok := d.special(); ok {
			return r
		}
	}
	return d.declared()
}

// hashed reads ??@, the hash of a name that is too long, and @. The locator of a complete object
// also has ??_R4@.
func (d *decoder) hashed() ref {
	from := d.Pos
	n := strings.IndexByte(d.Src[from+len("??@"):], '@')
	if n < 0 {
		return d.Fail()
	}
	d.Pos += len("??@") + n + 1
	d.eatWord("??_R4@")
	r := d.add(node{kind: kName, f: [4]ref{ref(from), ref(d.Pos - from)}})
	return d.add(node{kind: kVariable, f: [4]ref{r}})
}

// eatWord skips a word if it follows, and reports whether it did.
func (d *decoder) eatWord(word string) bool {
	if !strings.HasPrefix(d.Src[d.Pos:], word) {
		return false
	}
	d.Pos += len(word)
	return true
}

// declared reads the name of a function or a variable, and its type.
func (d *decoder) declared() ref {
	name := d.symbolName()
	if d.Failed {
		return 0
	}
	if d.isFunclet(name) {
		return d.funclet(name)
	}
	if c := d.Peek(); '0' <= c && c <= '4' {
		if d.nodes[d.lastName(name)].kind == kConvert {
			return d.Fail()
		}
		d.Pos++
		return d.add(node{kind: kVariable, op: c, f: [4]ref{name, d.variableType()}})
	}
	r := d.function(name)
	if last := d.lastName(name); d.nodes[last].kind == kConvert && !d.Failed {
		result := d.nodes[d.nodes[r].f[1]].f[0]
		if result == 0 {
			return d.Fail()
		}
		d.nodes[last].f[0] = result
	}
	return r
}

// isFunclet reports whether a name is clang's for the code of an exception handler, fin$0@0@,
// followed by the name of its function.
func (d *decoder) isFunclet(name ref) bool {
	parts := d.Elements(d.nodes[name].list())
	n := &d.nodes[parts[0]]
	return len(parts) == 2 && parts[1] == parts[0] && n.kind == kName && strings.Contains(d.Src[n.f[0]:][:n.f[1]], "$")
}

// funclet reads the function of a handler. The result for ?fin$0@0@f@@ is the same as for
// ?fin$0@?0??f@@YAXXZ@4HA, the name that Microsoft's compiler writes.
func (d *decoder) funclet(name ref) ref {
	around := d.add(node{kind: kVariable, f: [4]ref{d.symbolName()}})
	local := d.add(node{kind: kLocal, f: [4]ref{around}})
	parts := d.Elements(d.nodes[name].list())
	n := &d.nodes[parts[0]]
	d.nodes[local].at = n.f[0] + n.f[1] + 1 // 0 is the number of the name, and here of the block
	parts[1] = local
	return d.add(node{kind: kVariable, f: [4]ref{name}})
}

// variableType reads the type of a variable and its qualifiers; those of a pointer are repeated
// for its target.
func (d *decoder) variableType() ref {
	t := d.typ()
	if d.Failed {
		return 0
	}
	if d.nodes[t].kind != kPointer {
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
func (d *decoder) function(name ref) ref {
	class := classSet(0)
	if d.eatWord("$$J0") {
		class = classExternC
	} else if !d.eatWord("$$h") { // a function of ARM64EC
		d.eatWord("$$F") // managed
	}
	class |= d.functionClass()
	n := node{kind: kFunction, at: ref(d.Pos)}
	for range class.offsets() {
		d.offset()
	}
	signature := ref(0)
	if class&classNoParams != 0 {
		signature = d.add(node{kind: kSignature})
	} else {
		signature = d.signature(class&classNoThis == 0)
	}
	d.nodes[signature].class = class
	n.f = [4]ref{name, signature}
	return d.add(n)
}

// offsets returns how many offsets a thunk has.
func (c classSet) offsets() int {
	switch {
	case c&classAdjust != 0:
		return 1
	case c&classVtordispEx != 0:
		return 4
	case c&classVtordisp != 0:
		return 2
	}
	return 0
}

// functionClass reads one of eight letters for each access: a member, static, virtual, a thunk,
// and the same for far code; Y and Z are functions that are not members.
func (d *decoder) functionClass() classSet {
	access := [3]classSet{classPrivate, classProtected, classPublic}
	c := d.next()
	switch {
	case c == '9':
		return classExternC | classNoParams
	case 'A' <= c && c <= 'X':
		return access[(c-'A')/8] | [4]classSet{0, classStatic, classVirtual, classVirtual | classAdjust}[(c-'A')%8/2]
	case c == 'Y' || c == 'Z':
		return classGlobal
	case c == '$':
		class := classVirtual | classVtordisp
		if d.Eat('R') {
			class |= classVtordispEx
		}
		if c = d.next(); '0' <= c && c <= '5' {
			return class | access[(c-'0')/2]
		}
	}
	d.Fail()
	return 0
}

// signature reads the type of a function; a method's type has the qualifiers of *this.
func (d *decoder) signature(method bool) ref {
	n := node{kind: kSignature}
	if method {
		n.quals = d.extended()
		switch {
		case d.Eat('G'):
			n.flags = flagLRef
		case d.Eat('H'):
			n.flags = flagRRef
		}
		n.quals |= d.qualifiers()
	}
	n.op = d.call()
	if !d.Eat('@') {
		n.f[0] = d.result()
	}
	var params span
	params, n.flags = d.params(n.flags)
	n.f[1], n.f[2] = params.Start, params.N
	if d.Eat2('_', 'E') {
		n.flags |= flagNoexcept
	} else {
		d.Want('Z')
	}
	return d.add(n)
}

func (d *decoder) call() byte {
	c := d.next()
	if !mangled.IsUpper(c) && !mangled.IsLower(c) {
		d.Fail()
	}
	return c
}

// params reads parameters up to @, or Z if there may be more of them. X is (void).
func (d *decoder) params(flags flagSet) (span, flagSet) {
	if d.Eat('X') {
		return span{}, flags | flagVoid
	}
	mark := len(d.Stack)
	for d.More('@') && d.Peek() != 'Z' {
		d.Push(d.param())
	}
	if !d.Eat('@') {
		d.Want('Z')
		flags |= flagVariadic
	}
	return d.Pop(mark), flags
}

// param reads the type of a parameter. A type of more than one letter gets a number.
func (d *decoder) param() ref {
	k := &d.known
	if c := d.Peek(); mangled.IsDigit(c) {
		if int(c-'0') >= k.nParam {
			return d.Fail()
		}
		d.Pos++
		return k.params[c-'0']
	}
	from := d.Pos
	t := d.typ()
	if k.nParam < len(k.params) && d.Pos-from > 1 && !d.Failed {
		k.params[k.nParam] = t
		k.nParam++
	}
	return t
}
