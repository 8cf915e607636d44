package itanium

// node is a part of a name: a name, a type, an expression. Its parts are other nodes, so a
// part that substitutions refer to exists once. It has 40 bytes.
type node struct {
	kind kind
	has  traits
	op   uint8 // an operator, a qualifier or a flag: see kind
	busy uint8 // how often the node is being printed

	// The template to which all template parameters below belong; 0 if there are no
	// parameters, mixedTemplates if they belong to several.
	tmpl ref

	f          [4]ref // as kind says
	pass, memo ref    // the last traversal that met the node, and its result for it
}

const mixedTemplates = -1

// traits are properties of a node or of one of its parts.
type traits uint8

const (
	hasParam   traits = 1 << iota // a template parameter, or auto in the parameters of a lambda
	hasPack                       // an argument pack
	hasScope                      // a function or lambda, which has template parameters of its own
	simplifies                    // something that simplify replaces
)

// kind determines the fields of a node: first the nodes from f[0] on, whose number is in
// layouts; then the start and length of a list, if there is one; then numbers.
type kind uint8

const (
	kNone kind = iota

	// Names and fixed text.
	kText    // a fixed text, by the number of the node
	kBuiltin // a builtin type, likewise; op: literalForm
	kName    // f[0:2]: place and length in the mangled name
	kNumber  // f[0]
	kParamText
	kTemplateParam // f[0]: number; f[1]: template, or 0 while it is unknown
	kLambdaAuto    // f[0]: number
	kFunctionParam // f[0]: number; 0 is this
	kUnnamedType   // f[0]: number
	kBinaryFP      // f[0]: bits; op: a letter after them, or 0
	kParamName     // f[0]: number; op: index into paramPrefixes
	kOperator      // op
	kSizeofPack    // f[0]: pack whose elements are counted

	// Types.
	kPointer
	kReference
	kRvalueReference
	kComplex
	kImaginary
	kConstrainedAuto // op: 1 for decltype(auto)
	kTransformed     // f[1:3]: name
	kDecltype
	kElaborated // op: index into elaboratedKinds
	kFixed      // op: fixedAccum, fixedSat
	kBitInt     // op: 1 if signed
	kExplicitObject
	kQualified  // f: type, qualifiers
	kMethod     // f: function type or name, qualifiers or none; op: index into refQualifiers
	kQualifiers // list
	kQualifier  // list: of a throw or noexcept; op: index into qualifierNames
	kVendor     // f: qualifier, type
	kArray      // f: dimension, element
	kVector     // f: dimension, element
	kPtrMem     // f: class, member
	kFunction   // f: return type or none; list: parameters; op: 1 if it is a local name's
	kPackExpansion

	// Composed names.
	kTyped     // f: name, type
	kScoped    // f: scope, name; op: 1 if local to a function
	kTemplate  // f: name; list: arguments
	kCtor      // f: name, base class or none
	kDtor      // f: name
	kTagged    // f: name, tag
	kFriend    // f: name
	kCast      // f: type of a conversion
	kLiteralOp // f: name of a literal's suffix
	kBindings  // list
	kUnnamedEnum
	kDefaultArg // f: entity; f[1]: number
	kClosure    // f: kList of template parameters or none, kList of parameters, kPair of constraints or none; f[3]: number
	kSpecial    // f: the entity; op: index into specialPrefixes
	kConstruction
	kEnableIf // f: function; list: conditions
	kModule   // f: module around or none, name; op: 1 if a partition
	kEntity   // f: module, name
	kConstraint
	kArgPack      // list
	kQualifiedArg // f: declaration, argument
	kTypeParam
	kValueParam    // f: name, type
	kTemplateTempl // f: name, constraint or none; list: parameters
	kConceptParam  // f: name, constraint
	kParamPack
	kList // list
	kPair

	// Expressions.
	kNullary    // op
	kUnary      // f: operand; op; f[1]: unarySuffix, unaryType
	kConvert    // f: kCast, operand
	kBinary     // f: operands; op
	kTrinary    // f: operands; op
	kFold       // f: operand, initial value or none; op; f[2]: 1 for a left fold
	kSizeofArgs // list
	kSubobject  // f: type, expression; f[2]: offset
	kPtrMemCast // f: type, expression
	kNew        // f: placement or none, type, initializer or none
	kLiteral    // f: type; f[1:3]: value; op: 1 if negative
	kString     // f: type
	kLambda     // f: closure
	kExprList   // list
	kBraced     // f: type or none, kExprList
	kRequires   // f: kList of parameters or none; list: requirements
	kExprReq    // f: expression, constraint or none; op: 1 for noexcept
	kTypeReq
	kNestedReq

	kinds
)

const (
	fixedAccum = 1 << iota
	fixedSat
)

const (
	unarySuffix = 1 << iota // x++
	unaryType               // the operand is a type
)

// layout says which fields of a node are nodes, and whether a list follows them.
type layout struct {
	refs    int8 // number of nodes
	visited int8 // how many of them may hold the parameters of a conversion or a pack expansion
	list    bool
}

var layouts = [kinds]layout{
	kPointer: {1, 1, false}, kReference: {1, 1, false}, kRvalueReference: {1, 1, false},
	kComplex: {1, 1, false}, kImaginary: {1, 1, false}, kConstrainedAuto: {1, 1, false},
	kTransformed: {1, 1, false}, kDecltype: {1, 1, false}, kElaborated: {1, 1, false},
	kFixed: {1, 1, false}, kBitInt: {1, 1, false}, kExplicitObject: {1, 1, false},
	kQualified: {2, 1, false}, kMethod: {2, 1, false}, kQualifiers: {0, 0, true},
	kQualifier: {0, 0, true}, kVendor: {2, 2, false}, kArray: {2, 2, false},
	kVector: {2, 2, false}, kPtrMem: {2, 2, false}, kFunction: {1, 1, true},
	kPackExpansion: {1, 1, false},

	kTyped: {2, 2, false}, kScoped: {2, 2, false}, kTemplate: {1, 1, true}, kCtor: {2, 2, false},
	kDtor: {1, 1, false}, kTagged: {2, 2, false}, kFriend: {1, 1, false}, kCast: {1, 1, false},
	kLiteralOp: {1, 1, false}, kBindings: {0, 0, true}, kUnnamedEnum: {2, 2, false},
	kDefaultArg: {1, 1, false}, kClosure: {3, 3, false}, kSpecial: {1, 1, false},
	kConstruction: {2, 2, false}, kEnableIf: {1, 1, true}, kModule: {2, 2, false},
	kEntity: {2, 2, false}, kConstraint: {2, 2, false}, kArgPack: {0, 0, true},
	kQualifiedArg: {2, 2, false}, kTypeParam: {1, 1, false}, kValueParam: {2, 2, false},
	kTemplateTempl: {2, 2, true}, kConceptParam: {2, 2, false}, kParamPack: {1, 1, false},
	kList: {0, 0, true}, kPair: {2, 2, false},

	kUnary: {1, 1, false}, kConvert: {2, 2, false}, kBinary: {2, 2, false}, kTrinary: {3, 3, false},
	kFold: {2, 2, false}, kSizeofArgs: {0, 0, true}, kSubobject: {2, 2, false},
	kPtrMemCast: {2, 2, false}, kNew: {3, 3, false}, kLiteral: {1, 1, false}, kString: {1, 1, false},
	kLambda: {1, 1, false}, kExprList: {0, 0, true}, kBraced: {2, 2, false}, kRequires: {1, 1, true},
	kExprReq: {2, 2, false}, kTypeReq: {1, 1, false}, kNestedReq: {1, 1, false},
}

// ownTraits are the traits of a node without its parts, by kind.
var ownTraits = [kinds]traits{
	kTemplateParam: hasParam | simplifies, kLambdaAuto: hasParam | hasScope,
	kPackExpansion: simplifies, kArgPack: hasPack, kTyped: hasScope, kClosure: hasScope,
}

// add adds a node. It has the traits of its parts besides its own.
func (d *decoder) add(n node) ref {
	l := &layouts[n.kind]
	n.has = ownTraits[n.kind]
	for _, part := range n.f[:l.refs] {
		d.inherit(&n, part)
	}
	if l.list {
		for _, part := range d.list(&n) {
			d.inherit(&n, part)
		}
	}
	if n.kind == kLambdaAuto || n.kind == kClosure {
		n.tmpl = mixedTemplates
	}
	if d.collapses(&n) {
		n.has |= simplifies
	}
	d.Step()
	d.nodes = append(d.nodes, n)
	return ref(len(d.nodes) - 1)
}

func (d *decoder) inherit(n *node, part ref) {
	p := &d.nodes[part]
	n.has |= p.has
	switch {
	case p.tmpl == 0 || p.tmpl == n.tmpl:
	case n.tmpl == 0:
		n.tmpl = p.tmpl
	default:
		n.tmpl = mixedTemplates
	}
}

// collapses reports whether n and the part below it become one node: a reference to a
// reference, qualifiers of a qualified type.
func (d *decoder) collapses(n *node) bool {
	switch n.kind {
	case kReference, kRvalueReference:
		below := d.nodes[n.f[0]].kind
		return below == kReference || below == kRvalueReference
	case kQualified:
		below := d.nodes[n.f[0]].kind
		return below == kFunction || below == kQualified || below == kMethod
	case kMethod:
		below := d.nodes[n.f[0]].kind
		return below == kQualified || below == kMethod
	case kArray:
		return d.nodes[n.f[1]].kind == kQualified
	}
	return false
}

func (d *decoder) kind(r ref) kind { return d.nodes[r].kind }

// add1 and add2 add nodes of the simplest kinds.
func (d *decoder) add1(k kind, a ref) ref    { return d.add(node{kind: k, f: [4]ref{a}}) }
func (d *decoder) add2(k kind, a, b ref) ref { return d.add(node{kind: k, f: [4]ref{a, b}}) }

// addParam adds a template parameter. Its template is 0 in the type of a conversion
// operator, whose template arguments come later.
func (d *decoder) addParam(index int, template ref) ref {
	tmpl := template
	if tmpl == 0 {
		tmpl = mixedTemplates
	}
	return d.add(node{kind: kTemplateParam, f: [4]ref{ref(index), template}, tmpl: tmpl})
}

// list returns the list of a node whose kind has one.
func (d *decoder) list(n *node) []ref {
	at := layouts[n.kind].refs
	return d.Lists[n.f[at]:][:n.f[at+1]]
}

func (d *decoder) spanOf(n *node) span {
	at := layouts[n.kind].refs
	return span{Start: n.f[at], N: n.f[at+1]}
}

// addList adds a node with a list.
func (d *decoder) addList(k kind, s span) ref {
	return d.add(node{kind: k, f: [4]ref{s.Start, s.N}})
}
