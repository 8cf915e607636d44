package pdb

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/symtool/symtool/internal/demangle"
)

// Kinds of type records (cvinfo.h).
const (
	leafModifier  = 0x1001
	leafPointer   = 0x1002
	leafProcedure = 0x1008
	leafMethod    = 0x1009
	leafArgList   = 0x1201
	leafArray     = 0x1503
	leafClass     = 0x1504
	leafStruct    = 0x1505
	leafUnion     = 0x1506
	leafEnum      = 0x1507
	leafInterface = 0x1519
	leafFuncID    = 0x1601
	leafMethodID  = 0x1602
	leafStringID  = 0x1605
)

const (
	firstType   = 0x1000
	maxTypeName = 16 << 10 // bytes, as types of a damaged file may contain themselves many times
	maxTypeNest = 64
)

// typeTable locates the records of a stream of types.
type typeTable struct {
	r       *reader
	offsets []uint32
}

// readTypes reads the offsets of the records of a stream.
func (d *database) readTypes(stream int) (*typeTable, error) {
	t := &typeTable{r: d.stream(stream)}
	if t.r.s.size == 0 {
		return t, nil
	}
	head, err := t.r.part(0, 8)
	if err != nil {
		return t, err
	}
	at := int64(u32(head[4:]))
	in := bufio.NewReaderSize(io.NewSectionReader(t.r, at, max(t.r.s.size-at, 0)), 256<<10)
	var size [2]byte
	for {
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return t, nil
		}
		n := int64(u16(size[:]))
		if n < 2 {
			return t, t.r.errorf(uint64(at), "type record of %d bytes", n)
		}
		t.offsets = append(t.offsets, uint32(at))
		if _, err := in.Discard(int(n)); err != nil {
			return t, nil
		}
		at += 2 + n
	}
}

// names formats names of types and functions. It must not be used concurrently.
type names struct {
	types, ids *typeTable
	known      map[uint32]string // of types
	functions  map[uint32]string // of ids
	pages      map[*typeTable]*pageCache
	buf, plain []byte
	room       int64 // bytes that names may still take
}

// namesRatio bounds the bytes of names beyond minNames, as a multiple of the bytes of types:
// types of a damaged file may contain each other any number of times. Real ones need a quarter.
const (
	namesRatio = 4
	minNames   = 4 << 20
)

func newNames(types, ids *typeTable) *names {
	n := &names{types: types, ids: ids, known: map[uint32]string{}, functions: map[uint32]string{}, pages: map[*typeTable]*pageCache{}}
	n.room = minNames + namesRatio*(types.r.s.size+ids.r.s.size)
	return n
}

// charge charges a name. It returns "..." instead if there is no room left.
func (n *names) charge(name string) string {
	if n.room -= int64(len(name)); n.room < 0 {
		return "..."
	}
	return name
}

// record returns the kind and the contents of a record, valid until the next call.
func (n *names) record(t *typeTable, i uint32) (uint16, []byte) {
	if i < firstType || uint64(i-firstType) >= uint64(len(t.offsets)) {
		return 0, nil
	}
	at, pages := int64(t.offsets[i-firstType]), n.pages[t]
	if pages == nil {
		pages = &pageCache{r: t.r}
		n.pages[t] = pages
	}
	var head [4]byte
	if !pages.read(head[:], at) {
		return 0, nil
	}
	size := int(u16(head[:])) - 2
	if cap(n.buf) < size {
		n.buf = make([]byte, size)
	}
	b := n.buf[:size]
	if !pages.read(b, at+4) {
		return 0, nil
	}
	return u16(head[2:]), b
}

// pageCache has pages of a stream that were read: types refer to those near them.
type pageCache struct {
	r     *reader
	pages [cachedPages]struct {
		number int64 // in the stream, from 1
		data   []byte
	}
}

const (
	pageSize    = 4 << 10 // bytes
	cachedPages = 64
)

// read fills buf from an offset, and reports whether the stream has so many bytes.
func (c *pageCache) read(buf []byte, off int64) bool {
	for len(buf) > 0 {
		number := off / pageSize
		p := &c.pages[number%cachedPages]
		if p.number != number+1 {
			if p.number = 0; p.data == nil {
				p.data = make([]byte, pageSize)
			}
			n, err := c.r.ReadAt(p.data[:pageSize], number*pageSize)
			if err != nil && err != io.EOF {
				return false
			}
			p.number, p.data = number+1, p.data[:n]
		}
		within := int(off % pageSize)
		if within >= len(p.data) {
			return false
		}
		n := copy(buf, p.data[within:])
		buf, off = buf[n:], off+int64(n)
	}
	return true
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

// typ returns the name of a type.
func (n *names) typ(i uint32, nest int) string {
	if i < firstType {
		return primitive(i)
	}
	if name, ok := n.known[i]; ok {
		return name
	}
	if nest > maxTypeNest {
		return "..."
	}
	name := n.print(i, nest)
	if len(name) > maxTypeName {
		name = "..."
	}
	name = n.charge(name)
	n.known[i] = name
	return name
}

func primitive(i uint32) string {
	if i == 0x103 {
		return "std::nullptr_t"
	}
	name, ok := primitives[byte(i)]
	if !ok {
		return "..."
	}
	if i>>8&15 != 0 {
		name += "*"
	}
	return name
}

func (n *names) print(i uint32, nest int) string {
	kind, b := n.record(n.types, i)
	switch {
	case kind == leafModifier && len(b) >= 6:
		inner, flags := u32(b), u16(b[4:])
		name := n.typ(inner, nest+1)
		for bit, word := range []string{" const", " volatile"} {
			if flags>>bit&1 != 0 {
				name += word
			}
		}
		return name
	case kind == leafPointer && len(b) >= 8:
		return n.pointer(u32(b), u32(b[4:]), b[8:], nest)
	case kind == leafProcedure, kind == leafMethod:
		result, args, ok := procedure(kind, b)
		if !ok {
			return "..."
		}
		return n.typ(result, nest+1) + " (" + n.args(args, nest+1) + ")"
	case kind == leafArray && len(b) >= 8:
		return n.typ(u32(b), nest+1) + "[]"
	case (kind == leafClass || kind == leafStruct || kind == leafInterface) && len(b) >= 16:
		return named(b[16:])
	case kind == leafUnion && len(b) >= 8:
		return named(b[8:])
	case kind == leafEnum && len(b) >= 12:
		return text(b[12:])
	}
	return "..."
}

// named returns the name after a number, which is the size of a type.
func named(b []byte) string {
	if len(b) < 2 {
		return "..."
	}
	size := map[uint16]int{0x8000: 1, 0x8001: 2, 0x8002: 2, 0x8003: 4, 0x8004: 4, 0x8009: 8, 0x800a: 8}[u16(b)]
	return text(b[min(2+size, len(b)):])
}

// pointer returns the name of a pointer, a reference or a pointer to a member.
func (n *names) pointer(to, attrs uint32, more []byte, nest int) string {
	mark := "*"
	switch attrs >> 5 & 7 {
	case 1:
		mark = "&"
	case 4:
		mark = "&&"
	case 2, 3:
		if len(more) >= 4 {
			mark = n.typ(u32(more), nest+1) + "::*"
		}
	}
	if attrs>>10&1 != 0 {
		mark += " const"
	}
	kind, b := n.record(n.types, to)
	for range maxTypeNest { // all marks of pointers to pointers to functions are in the brackets
		if kind != leafPointer || len(b) < 8 || strings.Contains(mark, "::") || b[4]>>5 != 0 {
			break
		}
		inner, innerMark := u32(b), "*"
		if u32(b[4:])>>10&1 != 0 {
			innerMark += " const"
		}
		innerKind, innerData := n.record(n.types, inner)
		if innerKind != leafProcedure && innerKind != leafMethod && innerKind != leafPointer {
			break
		}
		to, mark, kind, b = inner, innerMark+mark, innerKind, innerData
	}
	if kind == leafProcedure || kind == leafMethod {
		if result, args, ok := procedure(kind, b); ok {
			return n.typ(result, nest+1) + " (" + mark + ")(" + n.args(args, nest+1) + ")"
		}
	}
	if strings.Contains(mark, "::") {
		mark = " " + mark
	}
	return n.typ(to, nest+1) + mark
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

// args returns the names of arguments.
func (n *names) args(list uint32, nest int) string {
	kind, b := n.record(n.types, list)
	if kind != leafArgList || len(b) < 4 || nest > maxTypeNest {
		return ""
	}
	count := min(uint64(u32(b)), uint64(len(b)-4)/4)
	all := make([]uint32, count)
	for i := range all {
		all[i] = u32(b[4+4*i:])
	}
	var out strings.Builder
	for i, a := range all {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(n.typ(a, nest+1))
		if out.Len() > maxTypeName {
			return "..."
		}
	}
	return out.String()
}

// signature returns the arguments of a function's type, in brackets, followed by const for a
// const method; "" if it has no type.
func (n *names) signature(typ uint32) string {
	kind, b := n.record(n.types, typ)
	if kind != leafProcedure && kind != leafMethod {
		return ""
	}
	_, args, ok := procedure(kind, b)
	if !ok {
		return ""
	}
	this := uint32(0)
	if kind == leafMethod {
		this = u32(b[8:])
	}
	text := n.charge("(" + n.args(args, 0) + ")")
	if kind, b := n.record(n.types, this); kind == leafPointer && len(b) >= 8 {
		if kind, b := n.record(n.types, u32(b)); kind == leafModifier && len(b) >= 6 && u16(b[4:])&1 != 0 {
			text += " const"
		}
	}
	return text
}

// function returns the name of a function by its id, which inlined calls have.
func (n *names) function(id uint32) string {
	if name, ok := n.functions[id]; ok {
		return name
	}
	name := plain(n.printFunction(id))
	n.functions[id] = name
	return name
}

func (n *names) printFunction(id uint32) string {
	kind, b := n.record(n.ids, id)
	if kind != leafFuncID && kind != leafMethodID || len(b) < 8 {
		return fmt.Sprintf("<function %#x>", id)
	}
	scope, typ, name := u32(b), u32(b[4:]), cmp.Or(text(b[8:]), "<name omitted>")
	switch {
	case scope == 0:
	case kind == leafMethodID:
		name = n.typ(scope, 0) + "::" + name
	default:
		if kind, b := n.record(n.ids, scope); kind == leafStringID && len(b) >= 4 {
			name = text(b[4:]) + "::" + name
		}
	}
	return name + n.signature(typ)
}

// unnamed replaces the names of anonymous namespaces by those that demanglers use.
var unnamed = strings.NewReplacer("`anonymous namespace'", "(anonymous namespace)", "`anonymous-namespace'", "(anonymous namespace)")

// plain returns a name as demanglers spell it.
func plain(name string) string {
	if strings.IndexByte(name, '`') < 0 {
		return name
	}
	return unnamed.Replace(name)
}

// demangled returns what a decorated name stands for, or the name if that is nothing.
func (n *names) demangled(raw string) string {
	plain, err := demangle.Append(n.plain[:0], raw)
	if err != nil {
		return raw
	}
	n.plain = plain
	return n.charge(string(plain))
}

// nameOf returns a function's name with its arguments.
func (n *names) nameOf(p *proc) string { return plain(n.rawName(p)) }

func (n *names) rawName(p *proc) string {
	name := p.name
	if strings.HasPrefix(name, "@") { // a function of fastcall in assembly
		name, _, _ = cutSize(name[1:])
	}
	switch {
	case strings.HasPrefix(name, "?"): // what clang adds to a program is called by decorated names
		return n.demangled(name)
	case p.thunk:
		return name
	case p.isID:
		kind, b := n.record(n.ids, p.typ)
		if (kind == leafFuncID || kind == leafMethodID) && len(b) >= 8 {
			return name + n.signature(u32(b[4:]))
		}
		return name
	}
	return name + n.signature(p.typ)
}
