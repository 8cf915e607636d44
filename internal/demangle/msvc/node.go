package demangle

// An msNode is a part of a name of Microsoft's scheme. Numbers are refs to their place in the
// mangled name. 28 bytes.
type msNode struct {
	kind  msKind
	op    uint8
	quals msQuals
	flags msFlags
	class msClass
	f     [4]ref // as kind says
	at    ref    // place in the mangled name
}

type msKind uint8

const (
	_ msKind = iota // no node

	// Names.
	msName     // f[0:2]: place and length in the mangled name
	msWord     // op: table of msWords; at: code
	msStructor // f: class name; op: 1 for a destructor
	msConvert  // f: type, which the signature gives
	msSuffix   // f: name of a literal's operator
	msTemplate // f: name; list: arguments
	msLocal    // f: symbol of the function around; at: number of the scope
	msScoped   // list: the name and the scopes around it
	msBase     // at: four numbers: an RTTI base class descriptor
	msVcall    // at: offset
	msGuard    // op: 1 of threads; at: number, or 0
	msInit     // f: variable or name; op: E or F; flags: msOfVariable

	// Symbols.
	msFunction // f: name, msSignature; at: numbers of a thunk
	msVariable // f: name, type; op: storage class
	msTypeInfo // f: name, type
	msVtable   // f: name; list: for whom
	msString   // at: the literal after ??_C@_

	// Types.
	msPlain     // likewise
	msTag       // f: name; op: T, U, V or W
	msPointer   // f: pointee, class or 0; op: P, A or $; at: numbers of __ptrauth, or 0
	msArray     // f: element; list: dimensions
	msSignature // f: result or 0; list: parameters; op: letter of the calling convention; class, flags
	msCustom    // f: name

	// Template arguments.
	msInteger // at
	msFloat   // at: bits; op: A for 32, B for 64
	msSymbol  // f: symbol or 0; list: offsets; op: 1 for &
	msBraced  // f: type of a class, union or elements; list: values; op: 1 if the type is printed
	msField   // f: class, or 0 in a union; name; value in a union
	msNull    // a pointer to no member
)

// list returns where the list of a node is.
func (n *msNode) list() span {
	switch n.kind {
	case msScoped:
		return span{n.f[0], n.f[1]}
	case msVtable, msTemplate, msArray, msSymbol, msSignature, msBraced:
		return span{n.f[1], n.f[2]}
	}
	return span{}
}

type msQuals uint8

const (
	msConst msQuals = 1 << iota
	msVolatile
	msRestrict
	msUnaligned
	msMember // those of a member, which is not printed
)

// msFlags are of a signature, but for the last.
type msFlags uint8

const (
	msVariadic msFlags = 1 << iota
	msNoexcept
	msVoid // no parameters, as (void)
	msLRef // a method of lvalues
	msRRef // or of rvalues
	msOfVariable
)

// msClass is what a function is to its class.
type msClass uint16

const (
	msPrivate msClass = 1 << iota
	msProtected
	msPublic
	msGlobal
	msStatic
	msVirtual
	msExternC
	msNoParams   // the type is not in the name
	msAdjust     // a thunk: one offset
	msVtordisp   // two
	msVtordispEx // four
	msIsVcall    // a thunk that calls a virtual function
	msAnyThunk   = msAdjust | msVtordisp | msIsVcall
	msNoThis     = msGlobal | msStatic
	msAccess     = msPrivate | msProtected | msPublic
)

func (d *msDecoder) add(n msNode) ref {
	d.step()
	d.nodes = append(d.nodes, n)
	return ref(len(d.nodes) - 1)
}

// addList adds a node with a list behind what may be its first part.
func (d *msDecoder) addList(k msKind, first ref, l span) ref {
	return d.add(msNode{kind: k, f: [4]ref{first, l.start, l.n}})
}
