package msvc

// node is a part of a name. Numbers are refs to their place in the mangled name. It has 28
// bytes.
type node struct {
	kind  kind
	op    uint8
	quals qualSet
	flags flagSet
	class classSet
	f     [4]ref // as kind says
	at    ref    // place in the mangled name
}

type kind uint8

const (
	_ kind = iota // no node

	// Names.
	kName     // f[0:2]: place and length in the mangled name
	kWord     // op: table of llvmWords; at: code
	kStructor // f: class name; op: 1 for a destructor
	kConvert  // f: type, which the signature gives
	kSuffix   // f: name of a literal's operator
	kTemplate // f: name; list: arguments
	kLocal    // f: symbol of the function around; at: number of the scope
	kScoped   // list: the name and the scopes around it
	kBase     // at: four numbers: an RTTI base class descriptor
	kVcall    // at: offset
	kGuard    // op: 1 for threads; at: number, or 0
	kInit     // f: variable or name; op: E or F; flags: flagOfVariable

	// Symbols.
	kFunction // f: name, kSignature; at: numbers of a thunk
	kVariable // f: name, type; op: storage class
	kTypeInfo // f: name, type
	kVtable   // f: name; list: bases that it is for
	kString   // at: the literal after ??_C@_

	// Types.
	kPlain     // likewise
	kTag       // f: name; op: T, U, V or W
	kPointer   // f: pointee, class or 0; op: P, A or $; at: numbers of __ptrauth, or 0
	kArray     // f: element type; list: dimensions
	kSignature // f: result or 0; list: parameters; op: letter of the calling convention; class, flags
	kCustom    // f: name

	// Template arguments.
	kInteger // at
	kFloat   // at: bits; op: A for 32, B for 64
	kSymbol  // f: symbol or 0; list: offsets; op: 1 for &
	kBraced  // f: type of a class, union or elements; list: values; op: 1 if the type is printed
	kField   // f: class, or 0 in a union; name; value in a union
	kNull    // a pointer to no member
)

// list returns the list of a node.
func (n *node) list() span {
	switch n.kind {
	case kScoped:
		return span{Start: n.f[0], N: n.f[1]}
	case kVtable, kTemplate, kArray, kSymbol, kSignature, kBraced:
		return span{Start: n.f[1], N: n.f[2]}
	}
	return span{}
}

type qualSet uint8

const (
	qualConst qualSet = 1 << iota
	qualVolatile
	qualRestrict
	qualUnaligned
	qualMember // a member's qualifiers; this is not printed
)

// flagSet has the flags of a signature, except the last.
type flagSet uint8

const (
	flagVariadic flagSet = 1 << iota
	flagNoexcept
	flagVoid // no parameters, as (void)
	flagLRef // a method of lvalues
	flagRRef // or of rvalues
	flagOfVariable
)

// classSet says how a function belongs to its class.
type classSet uint16

const (
	classPrivate classSet = 1 << iota
	classProtected
	classPublic
	classGlobal
	classStatic
	classVirtual
	classExternC
	classNoParams   // the name does not have the type
	classAdjust     // a thunk: one offset
	classVtordisp   // two
	classVtordispEx // four
	classIsVcall    // a thunk that calls a virtual function
	classAnyThunk   = classAdjust | classVtordisp | classIsVcall
	classNoThis     = classGlobal | classStatic
	classAccess     = classPrivate | classProtected | classPublic
)

func (d *decoder) add(n node) ref {
	d.Step()
	d.nodes = append(d.nodes, n)
	return ref(len(d.nodes) - 1)
}

// addList adds a node with a list after its first part, if it has one.
func (d *decoder) addList(k kind, first ref, l span) ref {
	return d.add(node{kind: k, f: [4]ref{first, l.Start, l.N}})
}
