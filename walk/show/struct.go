package show

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// structure shows members in the style of the language: {x = 1}, Name {x: 1}, {X:1}.
func (s *showing) structure(v eval.Value, t *vars.Type, id vars.TypeID, depth int) string {
	lang := s.language(id)
	name := ""
	if lang == langRust && !strings.HasPrefix(t.Name, "(") {
		name, _, _ = strings.Cut(text.LastPart(t.Name), "<")
	}
	if t.Incomplete {
		return name + "{?}"
	}
	if depth >= s.o.Depth {
		return name + "{...}"
	}
	members, variant, ok := s.membersOf(&v, t)
	switch {
	case !ok:
		return name + "<unknown variant>"
	case len(members) == 0 && !s.lookAt(0):
		return name + "{...}"
	}
	if variant != nil && len(members) == 1 { // an enum of Rust is shown as its variant
		if text := s.member(&v, variant, depth); text != "{}" {
			return text
		}
		return variant.Name
	}
	return name + s.body(&v, members, lang, depth, lang == langRust && strings.HasPrefix(t.Name, "("))
}

// member shows the value of a member.
func (s *showing) member(v *eval.Value, m *vars.Member, depth int) string {
	if s.isRedacted(s.in, m.Name, m.Type) {
		return redacted
	}
	part, _ := s.f.Member(v, m)
	return s.text(part, m.Type, depth+1)
}

// body shows members in brackets. The members of a tuple have no names.
func (s *showing) body(v *eval.Value, members []vars.Member, lang language, depth int, tuple bool) string {
	tuple = tuple || lang == langRust && len(members) > 0 && isTuple(members)
	var parts []string
	for i := range members {
		m := &members[i]
		if s.left <= 0 {
			parts = append(parts, "...")
			break
		}
		if m.Base && s.isEmpty(m.Type) || lang == langRust && !tuple && strings.HasPrefix(s.in.Types[m.Type].Name, "core::marker::PhantomData<") {
			continue
		}
		value := s.member(v, m, depth)
		switch {
		case tuple || m.Name == "" && !m.Base:
		case m.Base:
			value = "<" + s.in.TypeName(m.Type) + "> = " + value
		case lang == langC:
			value = m.Name + " = " + value
		case lang == langGo:
			value = m.Name + ":" + value
		default:
			value = m.Name + ": " + value
		}
		parts = append(parts, value)
	}
	switch {
	case lang == langGo:
		return "{" + strings.Join(parts, " ") + "}"
	case tuple:
		return "(" + strings.Join(parts, ", ") + ")"
	case lang == langRust && len(parts) == 0:
		return ""
	case lang == langRust:
		return " {" + strings.Join(parts, ", ") + "}"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// isTuple reports whether members have numbers as names, as in Rust's tuples.
func isTuple(members []vars.Member) bool {
	for i := range members {
		if members[i].Name != "__"+strconv.Itoa(i) {
			return false
		}
	}
	return true
}

// isEmpty reports whether a base class has no members.
func (s *showing) isEmpty(id vars.TypeID) bool { return s.emptyTo(id, s.o.Depth) }

func (s *showing) emptyTo(id vars.TypeID, depth int) bool {
	t, _ := s.in.Plain(id)
	if t == nil || depth == 0 || t.Kind != vars.Struct && t.Kind != vars.Class || t.Incomplete || !s.look(t) {
		return false
	}
	for i := range t.Members {
		if !t.Members[i].Base || !s.emptyTo(t.Members[i].Type, depth-1) {
			return false
		}
	}
	return true
}

// membersOf returns the members of a value, including those of the variant that its discriminant selects. variant is
// the member of which the variant consists, if it has only one; ok is false if the discriminant is unknown.
func (s *showing) membersOf(v *eval.Value, t *vars.Type) (members []vars.Member, variant *vars.Member, ok bool) {
	parts := t.Variants()
	if len(parts) == 0 {
		return t.Members, nil, true
	}
	if s.look(t) {
		members = append(members, t.Members...)
	}
	for i := range parts {
		if !s.lookAt(1 + len(parts[i].Variants)) {
			s.left = 0 // nothing more is shown
			return members, nil, true
		}
		chosen, ok := s.variantOf(v, &parts[i])
		if !ok {
			return nil, nil, false
		}
		if chosen == nil {
			continue
		}
		members = append(members, chosen.Members...)
		if len(chosen.Members) == 1 {
			variant = &chosen.Members[0]
		}
	}
	return members, variant, true
}

// variantOf returns the variant of a value, or nil if none applies. It returns false if the discriminant is unknown.
func (s *showing) variantOf(v *eval.Value, part *vars.VariantPart) (*vars.Variant, bool) {
	if part.Discr.Type == 0 {
		if len(part.Variants) == 0 {
			return nil, true
		}
		return &part.Variants[0], len(part.Variants) == 1
	}
	d, ok := s.f.Member(v, &part.Discr)
	t, _ := s.in.Plain(part.Discr.Type)
	if !ok || t == nil || !d.Whole() || len(d.Bytes) == 0 {
		return nil, false
	}
	lo, _ := s.number(d.Bytes, t)
	var other *vars.Variant
	for i := range part.Variants {
		variant := &part.Variants[i]
		if len(variant.Ranges) == 0 {
			other = variant
		}
		if !s.lookAt(len(variant.Ranges)) {
			return nil, false
		}
		for _, r := range variant.Ranges {
			// Discriminants may or may not be sign-extended.
			for _, n := range [2]uint64{lo, uint64(signed(lo, len(d.Bytes)))} {
				if r.Low <= n && n <= r.High || int64(r.Low) <= int64(n) && int64(n) <= int64(r.High) {
					return variant, true
				}
			}
		}
	}
	return other, true
}

// array shows the elements of an array. Of consecutive equal elements, only one is shown.
func (s *showing) array(v eval.Value, t *vars.Type, id vars.TypeID, depth int) string {
	open, separator, end := "{", ", ", "}"
	switch s.language(id) {
	case langRust:
		open, end = "[", "]"
	case langGo:
		open, separator, end = "[", " ", "]"
	}
	if depth >= s.o.Depth || len(v.Bytes) == 0 && slices.ContainsFunc(t.Dims(), unbounded) {
		return open + "..." + end
	}
	elem, _ := s.in.Plain(t.Elem)
	size, ok := s.sizeOf(t.Elem)
	if elem == nil || !ok || size == 0 {
		return open + "..." + end
	}
	if (isCharacter(elem) || s.isWideText(t.Elem)) && v.Whole() && len(t.Dims()) == 1 && s.language(id) == langC {
		return s.characterArray(v.Bytes, elem)
	}
	return s.elements(v, t.Elem, size, s.axes(&v, t), [3]string{open, separator, end}, depth)
}

// unbounded reports whether the length of a dimension is unknown; it then counts as 0.
func unbounded(d vars.Dim) bool { return d.Upper.Kind == vars.NoBound && d.Count.Kind == vars.NoBound }

// axis is a dimension of an array: its first index and its number of elements.
type axis struct {
	first int64
	count uint64
	step  uint64 // bytes from one element to the next; 0 if they are adjacent
}

// extent returns the number of bytes from an element of the outermost dimension to the next, and the size of one. ok is
// false if they are too large.
func extent(axes []axis, size uint64) (step, length uint64, ok bool) {
	length = size
	for i := len(axes) - 1; i >= 0; i-- {
		n := &axes[i]
		if step = length; n.step != 0 {
			step = n.step
		}
		if step > eval.MaxValue || length > eval.MaxValue {
			return 0, 0, false
		}
		if i == 0 {
			break
		}
		if n.count == 0 || n.count > eval.MaxValue {
			return 0, 0, false
		}
		length += (n.count - 1) * step
	}
	return step, length, length <= eval.MaxValue
}

// of returns the number of elements of the outermost dimension that a value has.
func (a *axis) of(v *eval.Value, step, length uint64) int {
	n := uint64(len(v.Bytes))
	if n < length {
		return 0
	}
	most := (n-length)/step + 1
	if a.step != 0 {
		most = min(most, a.count)
	}
	return int(most)
}

// axes returns the dimensions of an array, the outermost in memory first. An array that is a list has one dimension,
// whose count is not needed.
func (s *showing) axes(v *eval.Value, t *vars.Type) []axis {
	axes := make([]axis, max(len(t.Dims()), 1))
	if len(v.Axes) == len(axes) {
		for i, a := range v.Axes {
			axes[i] = axis{a.First, a.Count, a.Step}
		}
		return axes
	}
	for i := range t.Dims() {
		if l := t.Dims()[i].Lower; l.Kind == vars.ConstBound {
			axes[i].first = l.Value
		}
	}
	if len(axes) == 1 {
		return axes
	}
	counts := s.f.Counts(t, nil)
	if t.Extra != nil || counts == nil {
		return axes[:1]
	}
	for i := range counts {
		axes[i].count = counts[i]
	}
	if elem, _ := s.in.Plain(t.Elem); elem != nil && strings.Contains(elem.Name, "(kind=") {
		slices.Reverse(axes) // Fortran's first dimension is the innermost
	}
	return axes
}

// characterArray shows characters up to the trailing zeros.
func (s *showing) characterArray(b []byte, t *vars.Type) string {
	codes := s.codes(b, t)
	for len(codes) > 0 && codes[len(codes)-1] == 0 {
		codes = codes[:len(codes)-1]
	}
	most := min(len(codes), 4*s.o.Length)
	return s.characters(codes[:most], t, most < len(codes))
}

// elements shows elements of size bytes, or nested arrays of them with inner dimensions.
func (s *showing) elements(v eval.Value, id vars.TypeID, size uint64, axes []axis, marks [3]string, depth int) string {
	by, length, ok := extent(axes, size)
	if !ok {
		return marks[0] + marks[2]
	}
	step, count := int(by), axes[0].of(&v, by, length)
	var parts []string
	shown := 0
	for i := 0; i < count; {
		if shown == s.o.Length || s.left <= 0 {
			parts = append(parts, "...")
			break
		}
		part := v.Part(i*step, int(length))
		text := ""
		if len(axes) > 1 {
			text = s.elements(part, id, size, axes[1:], marks, depth+1)
		} else {
			text = s.text(part, id, depth+1)
		}
		n := 1
		for i+n < count && same(&v, i*step, (i+n)*step, int(length)) {
			n++
		}
		if n > 3 {
			text += " <" + strconv.Itoa(n) + " times>"
		} else {
			n = 1
		}
		parts = append(parts, text)
		i += n
		shown++
	}
	return marks[0] + strings.Join(parts, marks[1]) + marks[2]
}

// same reports whether the size bytes at two offsets are equal and known.
func same(v *eval.Value, a, b, size int) bool {
	for i := range size {
		if v.Bytes[a+i] != v.Bytes[b+i] || !v.Known(a+i) || !v.Known(b+i) {
			return false
		}
	}
	return true
}
