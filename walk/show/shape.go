package show

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// part is a part of a shape: the value of a member.
type part struct {
	value eval.Value
	id    vars.TypeID
	plain *vars.Type
}

// ruleOf returns the rule for a value and the value's parts, which are known even if other bytes are not. It returns
// nil if there is no rule.
func (s *showing) ruleOf(v eval.Value, id, plain vars.TypeID) (*rule, map[string]part) {
	t := &s.in.Types[plain]
	if t.Kind != vars.Struct && t.Kind != vars.Class && t.Kind != vars.Pointer {
		return nil, nil
	}
	all := rules()
	for i := range all {
		r := &all[i]
		if !r.pattern.matches(t.Name) && !(s.in.Types[id].Name != "" && r.pattern.matches(s.in.Types[id].Name)) {
			continue
		}
		if parts := s.parts(r, v, plain); parts != nil {
			return r, parts
		}
	}
	return nil, nil
}

// parts returns the values at the paths of a rule, or nil if one does not exist, is unknown, or is not of the kind
// that the shape requires.
func (s *showing) parts(r *rule, v eval.Value, id vars.TypeID) map[string]part {
	parts := make(map[string]part, len(r.paths))
	for key, path := range r.paths {
		if key == "first" || key == "rest" { // relative to another part
			continue
		}
		p, ok := s.follow(part{value: v, id: id}, path)
		if !ok || !p.value.Whole() || p.plain == nil || len(p.value.Bytes) == 0 && key != "data" {
			return nil
		}
		if kind := partKinds[key]; p.plain.Kind != kind && kind != vars.Void && (key != "data" || !r.anyData()) {
			return nil
		}
		parts[key] = p
	}
	return parts
}

// partKinds are the kinds that parts must have. Void means any kind.
var partKinds = map[string]vars.TypeKind{
	"data": vars.Pointer, "end": vars.Pointer, "type": vars.Pointer, "to": vars.Pointer, "node": vars.Pointer, "endnode": vars.Pointer,
	"size": vars.Base, "some": vars.Base, "most": vars.Base,
}

// anyData reports whether the data of a shape may have any type, because it is the value itself rather than its
// location.
func (r *rule) anyData() bool {
	switch r.shape {
	case "array", "one", "optional", "variant", "tuple", "duration", "any", "bitset":
		return true
	}
	return false
}

// follow returns the member at a path. Members are also looked for in base classes and in anonymous members; a step
// "*" dereferences a pointer.
func (s *showing) follow(from part, path []string) (part, bool) {
	for _, step := range path {
		next, ok := part{}, false
		if step == "*" {
			next, ok = s.pointedTo(from)
		} else {
			next, ok = s.step(from, step, maxSteps)
		}
		if !ok {
			return part{}, false
		}
		from = next
	}
	from.plain, _ = s.in.Plain(from.id)
	return from, true
}

// pointedTo returns the structure to which a pointer points, if the dump has it.
func (s *showing) pointedTo(from part) (part, bool) {
	t, _ := s.in.Plain(from.id)
	if t == nil || t.Kind != vars.Pointer || !from.value.Whole() {
		return part{}, false
	}
	size, ok := s.sizeOf(t.Elem)
	if !ok || size == 0 || size > eval.MaxValue {
		return part{}, false
	}
	addr, _ := s.number(from.value.Bytes, t)
	v := s.f.Read(addr, int(size))
	return part{value: v, id: t.Elem}, v.Whole()
}

// maxSteps limits the depth at which a member is looked for in base classes, maxLooked the number of members that
// are examined for a value, because each of many bases may have as many, and maxLookedAll the number for all values.
const (
	maxSteps     = 8
	maxLooked    = 1 << 16
	maxLookedAll = 1 << 24
)

// look reports whether the members of t may be searched for a name.
func (s *showing) look(t *vars.Type) bool { return s.lookAt(1 + len(t.Members)) }

// lookAt charges n members or variants against maxLooked and maxLookedAll, and reports whether they may be examined.
func (s *showing) lookAt(n int) bool {
	if s.looks >= 0 && s.allLooks >= 0 {
		s.looks -= n
		s.allLooks -= n
	}
	return s.looks >= 0 && s.allLooks >= 0
}

func (s *showing) step(from part, name string, depth int) (part, bool) {
	t, _ := s.in.Plain(from.id)
	if t == nil || depth == 0 || t.Kind != vars.Struct && t.Kind != vars.Class && t.Kind != vars.Union || !s.look(t) {
		return part{}, false
	}
	for i := range t.Members {
		m := &t.Members[i]
		if m.Name == name && !m.Base {
			v, ok := s.f.Member(&from.value, m)
			return part{value: v, id: m.Type}, ok
		}
	}
	if len(t.Variants()) > 0 {
		members, _, _ := s.membersOf(&from.value, t)
		for i := len(members) - 1; i >= len(t.Members); i-- {
			if m := &members[i]; m.Name == name {
				v, ok := s.f.Member(&from.value, m)
				return part{value: v, id: m.Type}, ok
			}
		}
	}
	for i := len(t.Members) - 1; i >= 0 && s.lookAt(0); i-- { // a tuple's first element is in its last base class
		m := &t.Members[i]
		if !m.Base && m.Name != "" {
			continue
		}
		if v, ok := s.f.Member(&from.value, m); ok {
			if p, ok := s.step(part{value: v, id: m.Type}, name, depth-1); ok {
				return p, true
			}
		}
	}
	return part{}, false
}

// word returns a part as a number.
func (s *showing) word(p part) uint64 {
	if p.plain == nil { // the shape has no such part
		return 0
	}
	lo, _ := s.number(p.value.Bytes, p.plain)
	return lo
}

// shape shows a value by its rule.
func (s *showing) shape(r *rule, parts map[string]part, v eval.Value, id vars.TypeID, depth int) string {
	data := parts["data"]
	switch r.shape {
	case "string":
		return s.stringShape(parts)
	case "sequence":
		return s.sequence(r, parts, id, depth)
	case "array", "one":
		return s.text(data.value, data.id, depth+1)
	case "optional":
		if s.word(parts["some"]) == 0 {
			return "none"
		}
		return s.text(data.value, data.id, depth+1)
	case "pointer":
		if owners, ok := parts["some"]; ok && s.word(owners) == 0 {
			return "expired"
		}
		return s.smartPointer(data, depth)
	case "duration":
		return s.text(data.value, data.id, depth+1) + s.period(id)
	case "blocks":
		return s.blocks(parts, id, depth)
	case "ring":
		return s.ring(r, parts, id, depth)
	case "variant":
		return s.variant(r, parts, depth)
	case "tuple":
		return s.tuple(r, v, id, depth)
	case "function":
		return s.function(parts, depth)
	case "bits":
		return s.bits(parts)
	case "chain":
		return s.chain(r, parts, v, id, depth)
	case "tree":
		return s.tree(r, parts, id, depth)
	case "hashes":
		return s.hashes(r, parts, depth)
	case "table":
		return s.table(parts, depth)
	case "any":
		return s.anyValue(parts, depth)
	case "bitset":
		return s.bitset(data, id)
	case "dyn":
		return s.dyn(parts, depth)
	case "btree":
		return s.btree(r, parts, depth)
	case "count":
		if s.word(parts["size"]) == 0 {
			return "{}"
		}
		return "{" + count(s.word(parts["size"])) + "}"
	}
	return s.dynamic(parts, v, id, depth)
}

// count formats a number of elements.
func count(n uint64) string { return counted(n, "element") }

// counted formats a number of things.
func counted(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.FormatUint(n, 10) + " " + thing + "s"
}

// stringShape shows the text of a string.
func (s *showing) stringShape(parts map[string]part) string {
	data := parts["data"]
	elem, _ := s.in.Plain(data.plain.Elem)
	if elem == nil || elem.Kind != vars.Base || elem.Size < 1 || elem.Size > 4 {
		return "<text of another type>"
	}
	addr := s.word(data)
	size, ok := parts["size"]
	if !ok {
		return s.terminated(addr, elem)
	}
	n := s.word(size)
	if n == 0 {
		return quote(nil)
	}
	most := min(n, uint64(4*s.o.Length))
	v := s.f.Read(addr, int(most*elem.Size))
	known := 0
	for known < len(v.Bytes) && v.Known(known) {
		known++
	}
	if known < int(elem.Size) {
		return counted(n, "character") + " " + missing(&v)
	}
	codes := s.codes(v.Bytes[:known/int(elem.Size)*int(elem.Size)], elem)
	return s.characters(codes, elem, uint64(len(codes)) < n)
}

// sequence shows the elements to which a pointer points.
func (s *showing) sequence(r *rule, parts map[string]part, id vars.TypeID, depth int) string {
	data := parts["data"]
	elem := data.plain.Elem
	if r.element != nil {
		if elem = s.elementOf(r, id); elem == 0 {
			return "{elements of an unknown type}"
		}
	}
	size, ok := s.sizeOf(elem)
	if !ok || size > eval.MaxValue {
		return "{...}"
	}
	addr, n := s.word(data), uint64(0)
	t, _ := s.in.Plain(id)
	if r.count > 0 {
		n, _ = strconv.ParseUint(strings.TrimRight(argument(t.Name, r.count), "ulUL"), 10, 64)
	} else if end, ok := parts["end"]; ok {
		if last := s.word(end); last < addr || size == 0 || (last-addr)%size != 0 {
			return damaged
		} else {
			n = (last - addr) / size
		}
	} else {
		n = s.word(parts["size"])
	}
	marks := [3]string{"{", ", ", "}"}
	switch s.language(id) {
	case langRust:
		marks = [3]string{"[", ", ", "]"}
	case langGo:
		marks = [3]string{"[", " ", "]"}
	}
	title := ""
	if n > uint64(s.o.Length) {
		title = count(n) + " "
	}
	if n == 0 || size == 0 {
		return title + marks[0] + marks[2]
	}
	if depth >= s.o.Depth {
		return title + marks[0] + "..." + marks[2]
	}
	// Reading one more element than is shown reveals whether there are more.
	read := min(n, uint64(s.o.Length)+1, eval.MaxValue/size)
	v := s.f.Read(addr, int(read*size))
	if v.Status() != eval.HasValue {
		return title + missing(&v)
	}
	return title + s.elements(v, elem, uint64(size), make([]axis, 1), marks, depth+1)
}

// elementOf returns the type of the elements of a type, according to its type arguments, or 0.
func (s *showing) elementOf(r *rule, id vars.TypeID) vars.TypeID {
	t, _ := s.in.Plain(id)
	return s.typeNamed(r.elementName(t.Name))
}

// smartPointer shows a pointer and what it points to.
func (s *showing) smartPointer(data part, depth int) string {
	addr := s.word(data)
	if addr == 0 {
		return "nullptr"
	}
	out := s.pointer(addr, data.plain, depth+1)
	elem, _ := s.in.Plain(data.plain.Elem)
	if s.following || elem == nil || elem.Kind == vars.Void || elem.Kind == vars.Function || strings.HasPrefix(out, "@") || s.isEmpty(data.plain.Elem) {
		return out
	}
	return out + ": " + s.target(addr, data.plain.Elem, depth)
}

// periods are the units of durations, by their lengths in seconds.
var periods = map[string]string{
	"1/1000000000": "ns", "1/1000000": "us", "1/1000": "ms", "1/1": "s", "60/1": "min", "3600/1": "h", "86400/1": "d",
}

// period returns the unit of a duration, as C++20 prints it: "ms" of duration<long, ratio<1, 1000>>.
func (s *showing) period(id vars.TypeID) string {
	t, _ := s.in.Plain(id)
	ratio := argument(t.Name, 2)
	if ratio == "" {
		return ""
	}
	length := strings.TrimRight(argument(ratio, 1), "lL") + "/" + strings.TrimRight(argument(ratio, 2), "lL")
	if unit := periods[length]; unit != "" {
		return unit
	}
	return "[" + length + "]s"
}

// typeNamed returns the type with a name, or 0. Compilers and demanglers differ in spaces.
func (s *showing) typeNamed(name string) vars.TypeID {
	name = strings.ReplaceAll(name, "> >", ">>")
	names := s.names[s.in]
	if names == nil {
		names = map[string]vars.TypeID{}
		for i := range s.in.Types {
			if t := &s.in.Types[i]; t.Name != "" && !t.Incomplete {
				names[strings.ReplaceAll(t.Name, "> >", ">>")] = vars.TypeID(i)
			}
		}
		s.names[s.in] = names
	}
	return names[name]
}
