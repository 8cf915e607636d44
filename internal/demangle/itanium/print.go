package itanium

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// printer writes nodes as C++.
//
// The parts of a declarator surround its name, the innermost next to it: a pointer to a
// function is int (*)(char). A type therefore pushes what must be written inside the type
// below it onto the stack inner, and pops what that type has not written.
type printer struct {
	root  ref
	tree  int // how deep in the nodes
	out   []byte
	limit int  // maximum length of out
	last  byte // the last byte of words; it decides whether a space follows

	inner []ref
	base  int   // where the current declarator's begin in inner
	saved []ref // to be written after the parameters of a function

	style style

	inTemplate bool // the parameters of a template template parameter, which have no names

	printed []outSpan // templates in out, by the memo of their nodes
}

// style says whose form a name has.
type style uint8

const (
	asFilt style = iota // c++filt's
	asLLVM              // llvm-cxxfilt's
)

// outSpan is out[from:to].
type outSpan struct{ from, to int }

// write prints the name that was read, and the suffixes of clones. It reports whether it
// could.
func (d *decoder) write() bool {
	d.tree, d.last, d.base, d.inTemplate = 0, 0, 0, false
	d.inner, d.saved, d.printed = d.inner[:0], d.saved[:0], d.printed[:0]
	d.pass++
	from := len(d.out)
	d.limit = from + mangled.LengthAllowed(d.Src)
	d.print(d.root)
	d.printClones()
	if len(d.out) > d.limit {
		d.TooMuch()
	}
	return !d.Failed && len(d.out) > from
}

// printClones prints the suffixes of clones, which begin where the name ends.
func (d *decoder) printClones() {
	end := len(d.Src)
	if d.style == asLLVM && d.rootEnd < end {
		d.text(" (")
		d.text(d.Src[d.rootEnd:])
		d.text(")")
		return
	}
	for d.Pos = d.rootEnd; !d.Failed && d.Pos < end; {
		from := d.Pos
		d.clone()
		d.text(" [clone ")
		d.text(d.Src[from:d.Pos])
		d.text("]")
	}
}

func (d *decoder) text(s string) {
	if len(s) > 0 {
		d.last = s[len(s)-1]
		d.out = append(d.out, s...)
	}
}

func (d *decoder) byte(c byte) {
	d.last = c
	d.out = append(d.out, c)
}

// numbered prints a number between words. As in c++filt, it does not affect spaces.
func (d *decoder) numbered(before string, n int, behind string) {
	d.out = append(d.out, before...)
	d.out = strconv.AppendInt(d.out, int64(n), 10)
	d.out = append(d.out, behind...)
}

func (d *decoder) int(n int) {
	d.out = strconv.AppendInt(d.out, int64(n), 10)
	d.last = d.out[len(d.out)-1]
}

// print prints a node.
func (d *decoder) print(r ref) {
	if int(r) < len(fixed.nodes) {
		d.text(fixed.texts[d.style][r])
		return
	}
	d.Step()
	if len(d.out) > d.limit {
		d.TooMuch()
	}
	n := &d.nodes[r]
	// A type may be printed inside itself once: it is the result of a function whose
	// parameters are printed inside it.
	if n.busy > 1 {
		d.Fail()
	}
	if d.Failed {
		return
	}
	n.busy++
	d.deeper()
	d.printNode(r, n)
	d.tree--
	n.busy--
}

func (d *decoder) printNode(r ref, n *node) {
	switch n.kind {
	case kName:
		d.text(d.Src[n.f[0]:][:n.f[1]])
	case kNumber:
		d.int(int(n.f[0]))
	case kParamText:
		d.text("T")
		d.int(int(n.f[0]))
	case kScoped:
		d.printScope(n)
		d.text("::")
		d.print(n.f[1])
	case kTemplate:
		d.printTemplate(n)
	case kTemplateParam:
		d.printParam(n)
	case kTyped:
		d.printTyped(r, n)
	case kPointer, kReference, kRvalueReference, kComplex, kImaginary, kConstrainedAuto:
		d.printSuffixed(r, n.f[0])
	case kQualified:
		d.printQualified(r, n)
	case kMethod:
		d.printMethod(r, n)
	case kFunction:
		d.printFunction(r, n)
	case kArray:
		d.printArray(r, n)
	case kVector, kPtrMem:
		d.printDeclarator(r, n.f[1])
	case kVendor:
		d.printDeclarator(r, n.f[1])
	default:
		d.printOther(r, n)
	}
}

// printScope prints the scope of a name. LLVM, too, writes the standard library's abbreviations in full before
// constructors and destructors.
func (d *decoder) printScope(n *node) {
	scope := n.f[0]
	if d.style == asLLVM && int(scope) < len(fixed.expanded) && fixed.expanded[scope] != "" && d.isStructor(n.f[1]) && d.kind(n.f[1]) != kCast {
		d.text(fixed.expanded[scope])
		return
	}
	d.print(scope)
}

// printOther prints the rarer kinds.
func (d *decoder) printOther(r ref, n *node) {
	switch n.kind {
	case kCtor, kLiteralOp, kFriend, kCast, kTagged:
		d.printWords(n)
	case kDtor:
		d.byte('~')
		d.print(n.f[0])
	case kOperator:
		d.printOperator(operator(n.op))
	case kClosure:
		if d.style == asLLVM {
			d.printUnnamed("'lambda", int(n.f[3]))
			d.printLambda(n)
			return
		}
		d.text("{lambda")
		d.printLambda(n)
		d.text("#")
		d.int(int(n.f[3]) + 1)
		d.text("}")
	case kUnnamedType:
		if d.style == asLLVM {
			d.printUnnamed("'unnamed", int(n.f[0]))
			return
		}
		d.text("{unnamed type#")
		d.int(int(n.f[0]) + 1)
		d.text("}")
	case kUnnamedEnum:
		d.text("{enum:")
		d.print(n.f[0])
		d.text("{")
		d.print(n.f[1])
		d.text("}}")
	case kDefaultArg:
		d.numbered("{default arg#", int(n.f[1])+1, "}::")
		d.print(n.f[0])
	case kSpecial:
		d.specialText(n.op)
		d.print(n.f[0])
	case kConstruction:
		d.text("construction vtable for ")
		d.print(n.f[0])
		d.text("-in-")
		d.print(n.f[1])
	case kEnableIf:
		d.print(n.f[0])
		d.text(" [enable_if:")
		d.printArgs(d.list(n))
		d.text("]")
	case kConstraint:
		d.print(n.f[0])
		d.text(" requires ")
		d.print(n.f[1])
	case kBindings:
		d.text("[")
		d.printArgs(d.list(n))
		d.text("]")
	case kModule:
		d.printModule(n)
	case kEntity:
		d.print(n.f[1])
		d.byte('@')
		d.print(n.f[0])
	case kArgPack, kExprList:
		d.printArgs(d.list(n))
	case kQualifiedArg:
		d.print(n.f[1])
	case kTypeParam, kValueParam, kTemplateTempl, kConceptParam, kParamPack, kParamName:
		d.printParamDecl(r, n)
	case kQualifiers:
		d.printQualifiers(n)
	case kLambdaAuto, kFunctionParam, kBinaryFP, kTransformed, kDecltype, kElaborated, kFixed, kBitInt, kExplicitObject:
		d.printOtherType(n)
	default:
		d.printExpression(n)
	}
}

// printUnnamed prints LLVM's name for an unnamed entity, with its number in the scope from the
// second one on.
func (d *decoder) printUnnamed(kind string, n int) {
	d.text(kind)
	if n > 0 {
		d.int(n - 1)
	}
	d.byte('\'')
}

// printWords prints a name with fixed words around it.
func (d *decoder) printWords(n *node) {
	switch n.kind {
	case kLiteralOp:
		d.text(`operator"" `)
	case kCast:
		d.text("operator ")
	}
	d.print(n.f[0])
	switch n.kind {
	case kTagged:
		d.text("[abi:")
		d.print(n.f[1])
		d.byte(']')
	case kFriend:
		d.text("[friend]")
	}
}

// printOperator prints the name of an operator function.
func (d *decoder) printOperator(op operator) {
	name := operators[op].name
	d.text("operator")
	if mangled.IsLower(name[0]) {
		d.byte(' ')
	}
	d.text(strings.TrimSuffix(name, " "))
}

func (d *decoder) printModule(n *node) {
	if n.f[0] != 0 {
		d.print(n.f[0])
	}
	switch {
	case n.op != 0:
		d.byte(':')
	case n.f[0] != 0:
		d.byte('.')
	}
	d.print(n.f[1])
}

// printArgs prints nodes with commas between them, without empty packs.
func (d *decoder) printArgs(list []ref) {
	first := true
	for _, r := range list {
		if d.isEmpty(r) {
			continue
		}
		if !first {
			d.text(", ")
		}
		d.print(r)
		first = false
	}
}

// isEmpty reports whether nothing is printed for a node.
func (d *decoder) isEmpty(r ref) bool {
	n := &d.nodes[r]
	switch n.kind {
	case kArgPack:
		d.Step()
		d.deeper()
		empty := true
		for _, arg := range d.list(n) {
			if d.Failed || !d.isEmpty(arg) {
				empty = false
				break
			}
		}
		d.tree--
		return empty
	case kExprList:
		return n.f[1] == 0
	case kPackExpansion:
		return n.f[1] != 0 && d.isEmpty(n.f[0])
	case kQualifiedArg:
		return d.style == asLLVM && d.isEmpty(n.f[1]) // c++filt writes the comma before it
	}
	return false
}

// own begins a separate declarator, with its own part of inner; done ends it.
func (d *decoder) own() (base int) {
	base = d.base
	d.base = len(d.inner)
	return base
}

func (d *decoder) done(base int) {
	d.inner = d.inner[:d.base]
	d.base = base
}

// printTemplate prints a template, which has the same text wherever it is: when a substitution
// refers to it again, the text is copied.
func (d *decoder) printTemplate(n *node) {
	if n.pass == d.pass && !d.inTemplate {
		p := d.printed[n.memo]
		d.out = append(d.out, d.out[p.from:p.to]...)
		d.last = '>'
		return
	}
	base, from := d.own(), len(d.out)
	d.print(n.f[0])
	if d.last == '<' && d.style == asFilt { // the end of an operator
		d.byte(' ')
	}
	d.byte('<')
	d.printArgs(d.list(n))
	if d.last == '>' && d.style == asFilt {
		d.byte(' ')
	}
	d.byte('>')
	d.done(base)
	if !d.inTemplate {
		n.pass, n.memo = d.pass, ref(len(d.printed))
		d.printed = append(d.printed, outSpan{from, len(d.out)})
	}
}

// printParam prints the argument that a template parameter stands for.
func (d *decoder) printParam(n *node) {
	template := &d.nodes[n.f[1]]
	if n.f[1] == 0 || n.f[0] >= template.f[2] {
		d.Fail()
		return
	}
	d.print(d.list(template)[n.f[0]])
}

// printTyped prints a function with its type around the name.
func (d *decoder) printTyped(r ref, n *node) {
	base := d.own()
	d.inner = append(d.inner, r)
	d.print(n.f[1])
	if len(d.inner) > d.base {
		d.byte(' ')
		d.print(n.f[0])
	}
	d.done(base)
}
