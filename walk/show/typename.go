package show

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// maxName limits the length of a name that is made of those of many types, and maxNested how many
// types are in one another.
const (
	maxName   = 4 << 10
	maxNested = 64
)

// TypeName returns the name of a type as C++ writes it, if it has none of its own: "const char *".
func TypeName(in *vars.Info, id vars.TypeID) string {
	before, after := declarator(in, id, maxNested)
	name := before + after
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "..."
	}
	return name
}

var qualifiers = map[vars.TypeKind]string{
	vars.Const: "const", vars.Volatile: "volatile", vars.Restrict: "restrict", vars.Atomic: "_Atomic",
}

var marks = map[vars.TypeKind]string{vars.Pointer: "*", vars.Reference: "&", vars.RValueRef: "&&"}

var unnamed = map[vars.TypeKind]string{
	vars.Void: "void", vars.Struct: "struct {...}", vars.Class: "class {...}", vars.Union: "union {...}", vars.Enum: "enum {...}",
	vars.String: "string", vars.Base: "?", vars.Unspecified: "?",
}

// declarator returns the parts of a type's name before and behind that of a variable.
func declarator(in *vars.Info, id vars.TypeID, depth int) (before, after string) {
	t := &in.Types[id]
	if depth == 0 {
		return "...", ""
	}
	if word, ok := qualifiers[t.Kind]; ok {
		before, after = declarator(in, t.Elem, depth-1)
		if elem := in.Types[t.Elem].Kind; marks[elem] != "" || elem == vars.MemberPtr {
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
	case vars.Pointer, vars.Reference, vars.RValueRef:
		return pointerName(in, t, marks[t.Kind], depth)
	case vars.MemberPtr:
		return pointerName(in, t, TypeName(in, t.Class)+"::*", depth)
	case vars.Array, vars.Vector:
		before, after = declarator(in, t.Elem, depth-1)
		return before, dims(t) + after
	case vars.Function:
		before, after = declarator(in, t.Elem, depth-1)
		return before, params(in, t, depth) + after
	case vars.Typedef, vars.Subrange:
		return declarator(in, t.Elem, depth-1)
	}
	return unnamed[t.Kind], ""
}

func pointerName(in *vars.Info, t *vars.Type, mark string, depth int) (before, after string) {
	before, after = declarator(in, t.Elem, depth-1)
	if strings.HasPrefix(after, "[") || strings.HasPrefix(after, "(") {
		return before + " (" + mark, ")" + after
	}
	if strings.HasSuffix(before, "*") || strings.HasSuffix(before, "&") {
		return before + mark, after
	}
	return before + " " + mark, after
}

// dims returns the dimensions of an array, as far as they are numbers.
func dims(t *vars.Type) string {
	var b strings.Builder
	for i := range t.Dims {
		d := &t.Dims[i]
		switch {
		case d.Count.Kind == vars.ConstBound:
			b.WriteString("[" + strconv.FormatInt(d.Count.Value, 10) + "]")
		case d.Upper.Kind == vars.ConstBound && d.Lower.Kind != vars.ExprBound:
			b.WriteString("[" + strconv.FormatInt(d.Upper.Value-d.Lower.Value+1, 10) + "]")
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

func params(in *vars.Info, t *vars.Type, depth int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, p := range t.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxName {
			b.WriteString("...")
			break
		}
		before, after := declarator(in, p, depth-1)
		b.WriteString(before + after)
	}
	b.WriteByte(')')
	return b.String()
}
