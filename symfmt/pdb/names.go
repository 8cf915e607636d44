package pdb

import (
	"bytes"
	"fmt"

	"github.com/symtool/symtool/internal/demangle"
)

const (
	maxTypeName = 16 << 10 // bytes, as types of a damaged file may contain themselves many times
	maxTypeNest = 64
	maxNameWork = 16 * maxTypeName // for one name: bytes, including those of types that are cut, and records
)

// names formats names of types and functions. It must not be used concurrently.
type names struct {
	types, ids typeReader
	name       []byte // what was formatted last
	left       int    // work that may still be done for this name
	room       int64  // and for all names
}

// namesRatio bounds the work for names beyond minNames, as a multiple of the bytes of types: types of a damaged
// file may contain each other any number of times. Real files need about once their bytes.
const (
	namesRatio = 8
	minNames   = 1 << 20
)

func newNames(types, ids *typeTable) *names {
	n := &names{types: typeReader{typeTable: types}, ids: typeReader{typeTable: ids}}
	n.room = minNames + namesRatio*(types.r.s.size+ids.r.s.size)
	return n
}

// cut is what stands for a part of a name that is too long.
const cut = "..."

// add appends a part of a name, or cut if there is no room left.
func (n *names) add(dst []byte, part []byte) []byte {
	if n.left -= 1 + len(part); n.left < 0 {
		return append(dst, cut...)
	}
	return append(dst, part...)
}

// start resets the budget for another name.
func (n *names) start() {
	n.left = int(min(n.room, maxNameWork))
}

// finish charges the work for a name, and returns the name as demanglers spell it.
func (n *names) finish(name []byte) []byte {
	n.room -= int64(min(n.room, maxNameWork)) - int64(n.left)
	n.name = name
	return plain(name)
}

// primitives are the names of types below 0x1000, by their low byte.
var primitives = map[byte]string{
	0x03: "void", 0x08: "HRESULT", 0x10: "signed char", 0x20: "unsigned char", 0x68: "signed char", 0x69: "unsigned char",
	0x70: "char", 0x71: "wchar_t", 0x7a: "char16_t", 0x7b: "char32_t", 0x7c: "char8_t", 0x11: "short", 0x21: "unsigned short",
	0x72: "short", 0x73: "unsigned short", 0x12: "long", 0x22: "unsigned long", 0x74: "int", 0x75: "unsigned int",
	0x13: "long long", 0x23: "unsigned long long", 0x76: "long long", 0x77: "unsigned long long",
	0x14: "__int128", 0x24: "unsigned __int128", 0x78: "__int128", 0x79: "unsigned __int128",
	0x30: "bool", 0x40: "float", 0x41: "double", 0x42: "long double", 0x46: "_Float16",
}

// typ appends the name of a type.
func (n *names) typ(dst []byte, i uint32, nest int) []byte {
	if i < firstType {
		return append(dst, primitive(i)...)
	}
	if n.left--; n.left < 0 || nest > maxTypeNest {
		return append(dst, cut...)
	}
	from := len(dst)
	if dst = n.print(dst, i, nest); len(dst)-from > maxTypeName {
		return append(dst[:from], cut...)
	}
	return dst
}

func primitive(i uint32) string {
	if i == 0x103 {
		return "std::nullptr_t"
	}
	name, ok := primitives[byte(i)]
	if !ok {
		return cut
	}
	if i>>8&15 != 0 {
		name += "*"
	}
	return name
}

func (n *names) print(dst []byte, i uint32, nest int) []byte {
	kind, b := n.types.record(i)
	switch {
	case kind == leafModifier && len(b) >= 6:
		inner, flags := u32(b), u16(b[4:])
		dst = n.typ(dst, inner, nest+1)
		for bit, word := range []string{" const", " volatile"} {
			if flags>>bit&1 != 0 {
				dst = append(dst, word...)
			}
		}
		return dst
	case kind == leafPointer && len(b) >= 8:
		return n.pointer(dst, u32(b), u32(b[4:]), b[8:], nest)
	case kind == leafProcedure, kind == leafMethod:
		result, args, ok := procedure(kind, b)
		if !ok {
			break
		}
		dst = append(n.typ(dst, result, nest+1), " ("...)
		return append(n.args(dst, args, nest+1), ')')
	case kind == leafArray && len(b) >= 8:
		return append(n.typ(dst, u32(b), nest+1), "[]"...)
	case (kind == leafClass || kind == leafStruct || kind == leafInterface) && len(b) >= 16:
		return n.add(dst, named(b[16:]))
	case kind == leafUnion && len(b) >= 8:
		return n.add(dst, named(b[8:]))
	case kind == leafEnum && len(b) >= 12:
		return n.add(dst, cString(b[12:]))
	}
	return append(dst, cut...)
}

// named returns the name that follows a number: the size of a type.
func named(b []byte) []byte {
	if len(b) < 2 {
		return []byte(cut)
	}
	size := 0
	switch u16(b) {
	case 0x8000:
		size = 1
	case 0x8001, 0x8002:
		size = 2
	case 0x8003, 0x8004:
		size = 4
	case 0x8009, 0x800a:
		size = 8
	}
	return cString(b[min(2+size, len(b)):])
}

// pointer appends the name of a pointer, a reference or a pointer to a member.
func (n *names) pointer(dst []byte, to, attrs uint32, more []byte, nest int) []byte {
	mark, member := "*", false
	switch attrs >> 5 & 7 {
	case 1:
		mark = "&"
	case 4:
		mark = "&&"
	case 2, 3:
		if len(more) >= 4 {
			mark, member = string(n.typ(nil, u32(more), nest+1))+"::*", true
		}
	}
	if attrs>>10&1 != 0 {
		mark += " const"
	}
	kind, b := n.types.record(to)
	for range maxTypeNest { // all marks of pointers to pointers to functions go inside the brackets
		if kind != leafPointer || len(b) < 8 || member || b[4]>>5 != 0 {
			break
		}
		inner, innerMark := u32(b), "*"
		if u32(b[4:])>>10&1 != 0 {
			innerMark += " const"
		}
		innerKind, innerData := n.types.record(inner)
		if innerKind != leafProcedure && innerKind != leafMethod && innerKind != leafPointer {
			break
		}
		to, mark, kind, b = inner, innerMark+mark, innerKind, innerData
	}
	if kind == leafProcedure || kind == leafMethod {
		if result, args, ok := procedure(kind, b); ok {
			dst = append(n.typ(dst, result, nest+1), " ("...)
			dst = append(append(dst, mark...), ")("...)
			return append(n.args(dst, args, nest+1), ')')
		}
	}
	dst = n.typ(dst, to, nest+1)
	if member {
		dst = append(dst, ' ')
	}
	return append(dst, mark...)
}

// procedure returns the result and the arguments of a function's type.
func procedure(kind uint16, b []byte) (result, args uint32, ok bool) {
	at := 8
	if kind == leafMethod {
		at = 16
	}
	if len(b) < at+4 {
		return 0, 0, false
	}
	return u32(b), u32(b[at:]), true
}

// args appends the names of arguments.
func (n *names) args(dst []byte, list uint32, nest int) []byte {
	kind, b := n.types.record(list)
	if kind != leafArgList || len(b) < 4 || nest > maxTypeNest {
		return dst
	}
	var few [16]uint32
	all := few[:0]
	for i := range min(uint64(u32(b)), uint64(len(b)-4)/4) {
		all = append(all, u32(b[4+4*i:]))
	}
	from := len(dst)
	for i, a := range all {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if dst = n.typ(dst, a, nest+1); len(dst)-from > maxTypeName {
			return append(dst[:from], cut...)
		}
	}
	return dst
}

// signature appends the arguments of a function's type, in brackets, followed by const for a
// const method. It appends nothing if the function has no type.
func (n *names) signature(dst []byte, typ uint32) []byte {
	kind, b := n.types.record(typ)
	if kind != leafProcedure && kind != leafMethod {
		return dst
	}
	_, args, ok := procedure(kind, b)
	if !ok {
		return dst
	}
	this := uint32(0)
	if kind == leafMethod {
		this = u32(b[8:])
	}
	dst = append(n.args(append(dst, '('), args, 0), ')')
	if kind, b := n.types.record(this); kind == leafPointer && len(b) >= 8 {
		if kind, b := n.types.record(u32(b)); kind == leafModifier && len(b) >= 6 && u16(b[4:])&1 != 0 {
			dst = append(dst, " const"...)
		}
	}
	return dst
}

// function returns the name of a function by its id, which inlined calls refer to. The name is valid until the
// next method call.
func (n *names) function(id uint32) []byte {
	n.start()
	return n.finish(n.appendFunction(n.name[:0], id))
}

func (n *names) appendFunction(dst []byte, id uint32) []byte {
	kind, b := n.ids.record(id)
	if kind != leafFuncID && kind != leafMethodID || len(b) < 8 {
		return fmt.Appendf(dst, "<function %#x>", id)
	}
	scope, typ := u32(b), u32(b[4:])
	switch {
	case scope == 0:
	case kind == leafMethodID:
		dst = append(n.typ(dst, scope, 0), "::"...)
	default:
		if kind, b := n.ids.record(scope); kind == leafStringID && len(b) >= 4 {
			dst = append(n.add(dst, cString(b[4:])), "::"...)
		}
	}
	_, b = n.ids.record(id) // again, because records read since may have replaced it
	name := cString(b[8:])
	if len(name) == 0 {
		name = []byte("<name omitted>")
	}
	return n.signature(n.add(dst, name), typ)
}

// plain replaces, in place, the names of anonymous namespaces by those that demanglers use.
func plain(name []byte) []byte {
	const unnamed = "(anonymous namespace)"
	for rest := name; ; {
		i := bytes.IndexByte(rest, '`')
		if i < 0 {
			return name
		}
		rest = rest[i:]
		if bytes.HasPrefix(rest, []byte("`anonymous namespace'")) || bytes.HasPrefix(rest, []byte("`anonymous-namespace'")) {
			copy(rest, unnamed)
		}
		rest = rest[1:]
	}
}

// nameOf returns a function's name with its arguments. It is valid until the next call of a method.
func (n *names) nameOf(p *proc) []byte {
	n.start()
	return n.finish(n.appendName(n.name[:0], p))
}

func (n *names) appendName(dst []byte, p *proc) []byte {
	name := p.name
	if name[0] == '@' { // a function of fastcall in assembly
		plain, _, _ := cutSize(string(name[1:]))
		name = []byte(plain)
	}
	switch {
	case bytes.HasPrefix(name, []byte{'?'}): // what clang adds to a program is called by decorated names
		if long, err := demangle.Append(dst, string(name)); err == nil {
			return long
		}
		return append(dst[:0], name...)
	case p.thunk:
		return append(dst, name...)
	case p.isID:
		if kind, b := n.ids.record(p.typ); (kind == leafFuncID || kind == leafMethodID) && len(b) >= 8 {
			return n.signature(append(dst, name...), u32(b[4:]))
		}
		return append(dst, name...)
	}
	return n.signature(append(dst, name...), p.typ)
}
