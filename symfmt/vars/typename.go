package vars

import (
	"strconv"
	"strings"
)

// maxTypeName limits the length of a name that is composed of other types' names, and maxNested the
// depth of nesting.
const (
	maxTypeName = 4 << 10
	maxNested   = 64
)

// TypeName returns the name of a type as C++ writes it, if it has none of its own: "const char *".
func (in *Info) TypeName(id TypeID) string {
	n := namer{in: in, left: maxTypeName}
	before, after := n.declarator(id, maxNested)
	name := before + after
	if len(name) > maxTypeName {
		name = strings.ToValidUTF8(name[:maxTypeName], "") + "..."
	}
	return name
}

// namer names one type. The references between types come from a file and may be circular, so the
// number of bytes has a limit.
type namer struct {
	in   *Info
	left int // bytes
}

var qualifiers = map[TypeKind]string{
	Const: "const", Volatile: "volatile", Restrict: "restrict", Atomic: "_Atomic",
}

var marks = map[TypeKind]string{Pointer: "*", Reference: "&", RValueRef: "&&"}

var unnamed = map[TypeKind]string{
	Void: "void", Struct: "struct {...}", Class: "class {...}", Union: "union {...}", Enum: "enum {...}",
	String: "string", Base: "?", Unspecified: "?",
}

// declarator returns the parts of a type's name that come before and after a variable's name.
func (n *namer) declarator(id TypeID, depth int) (before, after string) {
	t := &n.in.Types[id]
	if depth == 0 || n.left < 0 {
		return "...", ""
	}
	n.left -= 1 + len(t.Name) + len(t.Dims())
	if word, ok := qualifiers[t.Kind]; ok {
		before, after = n.declarator(t.Elem, depth-1)
		if elem := n.in.Types[t.Elem].Kind; marks[elem] != "" || elem == MemberPtr {
			return before + " " + word, after
		}
		if strings.HasPrefix(before, word+" ") { // of an array, and of its elements
			return before, after
		}
		return word + " " + before, after
	}
	if t.Name != "" {
		return t.Name, ""
	}
	switch t.Kind {
	case Pointer, Reference, RValueRef:
		return n.pointerName(t, marks[t.Kind], depth)
	case MemberPtr:
		before, after = n.declarator(t.Class, depth-1)
		return n.pointerName(t, before+after+"::*", depth)
	case Array, Vector:
		before, after = n.declarator(t.Elem, depth-1)
		return before, dims(t) + after
	case Function:
		before, after = n.declarator(t.Elem, depth-1)
		return before, n.params(t, depth) + after
	case Typedef, Subrange:
		return n.declarator(t.Elem, depth-1)
	}
	return unnamed[t.Kind], ""
}

func (n *namer) pointerName(t *Type, mark string, depth int) (before, after string) {
	before, after = n.declarator(t.Elem, depth-1)
	if strings.HasPrefix(after, "[") || strings.HasPrefix(after, "(") {
		return before + " (" + mark, ")" + after
	}
	if strings.HasSuffix(before, "*") || strings.HasSuffix(before, "&") {
		return before + mark, after
	}
	return before + " " + mark, after
}

// dims returns the dimensions of an array; those that are not constant are empty.
func dims(t *Type) string {
	var b strings.Builder
	for i := range t.Dims() {
		d := &t.Dims()[i]
		switch {
		case d.Count.Kind == ConstBound:
			b.WriteString("[" + strconv.FormatInt(d.Count.Value, 10) + "]")
		case d.Upper.Kind == ConstBound && d.Lower.Kind != ExprBound:
			b.WriteString("[" + strconv.FormatInt(d.Upper.Value-d.Lower.Value+1, 10) + "]")
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

func (n *namer) params(t *Type, depth int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, p := range t.Params() {
		if i > 0 {
			b.WriteString(", ")
		}
		if n.left < 0 {
			b.WriteString("...")
			break
		}
		before, after := n.declarator(p, depth-1)
		b.WriteString(before + after)
	}
	b.WriteByte(')')
	return b.String()
}
