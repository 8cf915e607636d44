package itanium

// specialPrefixes are printed before the entity of a special name.
var specialPrefixes = [...]string{
	"vtable for ", "VTT for ", "typeinfo for ", "typeinfo name for ", "template parameter object for ",
	"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ", "typeinfo fn for ",
	"java Class for ", "TLS init function for ", "TLS wrapper function for ", "guard variable for ",
	"reference temporary for ", "hidden alias for ", "non-transaction clone for ", "transaction clone for ",
	"initializer for module ",
}

// The indices of specialPrefixes.
const (
	spVtable = iota
	spVTT
	spTypeinfo
	spTypeinfoName
	spParamObject
	spThunk
	spVirtualThunk
	spCovariantThunk
	spTypeinfoFn
	spJavaClass
	spTLSInit
	spTLSWrapper
	spGuard
	spReference
	spAlias
	spNonTransaction
	spTransaction
	spModule
)

// specialText prints the prefix of a special name.
func (d *decoder) specialText(prefix uint8) {
	switch {
	case d.style == asLLVM && prefix == spTLSInit:
		d.text("thread-local initialization routine for ")
	case d.style == asLLVM && prefix == spTLSWrapper:
		d.text("thread-local wrapper routine for ")
	default:
		d.text(specialPrefixes[prefix])
	}
}

func (d *decoder) addSpecial(prefix uint8, r ref) ref {
	return d.add(node{kind: kSpecial, op: prefix, f: [4]ref{r}})
}

// special reads a <special-name>.
func (d *decoder) special() ref {
	if d.Eat('T') {
		return d.specialType()
	}
	d.Want('G')
	c := d.Peek()
	if !d.Eat(c) {
		return d.Fail()
	}
	switch c {
	case 'V':
		r, _ := d.name()
		return d.addSpecial(spGuard, r)
	case 'R':
		r, _ := d.name()
		d.seqID(true)
		return d.addSpecial(spReference, r)
	case 'A':
		return d.addSpecial(spAlias, d.encoding(false))
	case 'T':
		kind := uint8(spTransaction)
		if c = d.Peek(); c == 'n' {
			kind = spNonTransaction
		}
		if !d.Eat(c) {
			return d.Fail()
		}
		return d.addSpecial(kind, d.encoding(false))
	case 'I':
		if r := d.moduleName(0); r != 0 {
			return d.addSpecial(spModule, r)
		}
	}
	return d.Fail()
}

// specialTypes are the special names of types, by the letter after T.
var specialTypes = map[byte]uint8{
	'V': spVtable, 'T': spVTT, 'I': spTypeinfo, 'S': spTypeinfoName, 'F': spTypeinfoFn, 'J': spJavaClass,
}

// specialType reads the part after T.
func (d *decoder) specialType() ref {
	c := d.Peek()
	if !d.Eat(c) {
		return d.Fail()
	}
	switch c {
	case 'V', 'T', 'I', 'S', 'F', 'J':
		return d.addSpecial(specialTypes[c], d.typ(false))
	case 'A':
		return d.addSpecial(spParamObject, d.templateArg(span{}))
	case 'h':
		d.callOffset('h')
		return d.addSpecial(spThunk, d.encoding(false))
	case 'v':
		d.callOffset('v')
		return d.addSpecial(spVirtualThunk, d.encoding(false))
	case 'c':
		for range 2 {
			c := d.Peek()
			d.Eat(c)
			d.callOffset(c)
		}
		return d.addSpecial(spCovariantThunk, d.encoding(false))
	case 'C':
		derived := d.typ(false)
		if d.number() < 0 {
			d.Fail()
		}
		d.Want('_')
		return d.add2(kConstruction, d.typ(false), derived)
	case 'H', 'W':
		r, _ := d.name()
		if c == 'H' {
			return d.addSpecial(spTLSInit, r)
		}
		return d.addSpecial(spTLSWrapper, r)
	}
	return d.Fail()
}

// callOffset skips the offsets of a thunk, which are not printed.
func (d *decoder) callOffset(c byte) {
	switch c {
	case 'h':
		d.number()
	case 'v':
		d.number()
		d.Want('_')
		d.number()
	default:
		d.Fail()
	}
	d.Want('_')
}
