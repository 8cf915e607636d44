package symdiff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt/vars"
)

// typeEntry is a type with a name.
type typeEntry struct {
	id       vars.TypeID
	contents hash
}

// listTypes lists the types that are compared: those with a name and a complete definition. Types that
// differ are reported where they are declared; elsewhere only their name is compared.
func (v *variables) listTypes(members bool) {
	names := make([]hash, len(v.in.Types))
	name := func(id vars.TypeID) uint64 {
		if names[id] == 0 {
			names[id] = hashString(v.in.TypeName(id))
		}
		return uint64(names[id])
	}
	for i := range v.in.Types {
		t := &v.in.Types[i]
		if t.Name == "" || t.Incomplete {
			continue
		}
		h := mix(mix(numberSalt, t.Size), uint64(t.Encoding))
		if members {
			h = v.contents(h, t, name)
		}
		v.types = append(v.types, typeEntry{vars.TypeID(i), h})
	}
	slices.SortStableFunc(v.types, func(a, b typeEntry) int { return v.compareTypes(v, a, b) })
}

// contents adds the contents of a type, with the names of other types.
func (v *variables) contents(h hash, t *vars.Type, name func(vars.TypeID) uint64) hash {
	h = mix(h, name(t.Elem))
	eachMember(t, func(m *vars.Member, when string) {
		h = mix(mix(h, uint64(hashString(when+" "+m.Name))), name(m.Type))
		h = mix(mix(mix(h, m.Offset), uint64(m.BitSize)), uint64(m.BitOffset))
		h = mix(mix(h, uint64(v.expr(m.At, nil))), flag(m.Base))
	})
	for _, e := range t.Enumerators() {
		h = mix(mix(h, uint64(hashString(e.Name))), uint64(e.Value))
	}
	return h
}

// eachMember calls fn with the members of a type, and with the values of the discriminant for which each
// exists.
func eachMember(t *vars.Type, fn func(m *vars.Member, when string)) {
	for i := range t.Members {
		fn(&t.Members[i], "")
	}
	for i := range t.Variants() {
		p := &t.Variants()[i]
		if p.Discr.Type != 0 {
			fn(&p.Discr, "discriminant")
		}
		for k := range p.Variants {
			when := "otherwise"
			if len(p.Variants[k].Ranges) > 0 {
				when = fmt.Sprintf("at %d", int64(p.Variants[k].Ranges[0].Low))
			}
			for n := range p.Variants[k].Members {
				fn(&p.Variants[k].Members[n], when)
			}
		}
	}
}

func (v *variables) at(e typeEntry) *vars.Type { return &v.in.Types[e.id] }

// compareTypes orders types by name and kind.
func (v *variables) compareTypes(w *variables, a, b typeEntry) int {
	x, y := v.at(a), w.at(b)
	return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Kind, y.Kind))
}

// compareTypes compares the types with a name. If several have the same name, such as those of local
// classes, equal ones are matched first, then the others in order.
func (r *Result) compareTypes() {
	a, b := r.Old.variables, r.New.variables
	if a == nil || b == nil {
		return
	}
	i, j := 0, 0
	for i < len(a.types) || j < len(b.types) {
		order := 0
		switch {
		case i == len(a.types):
			order = 1
		case j == len(b.types):
			order = -1
		default:
			order = a.compareTypes(b, a.types[i], b.types[j])
		}
		switch {
		case order < 0:
			r.Changes = append(r.Changes, Change{Kind: Types, What: Removed, Old: int32(i), New: None, Part: None})
			i++
		case order > 0:
			r.Changes = append(r.Changes, Change{Kind: Types, What: Added, Old: None, New: int32(j), Part: None})
			j++
		default:
			toI, toJ := a.group(i), b.group(j)
			r.sameNamed(i, toI, j, toJ)
			i, j = toI, toJ
		}
	}
}

// group returns the end of the run of types with the same name and kind as the i-th.
func (v *variables) group(i int) int {
	end := i + 1
	for end < len(v.types) && v.compareTypes(v, v.types[i], v.types[end]) == 0 {
		end++
	}
	return end
}

// sameNamed compares types with the same name: [i, toI) of the old file, [j, toJ) of the new one.
func (r *Result) sameNamed(i, toI, j, toJ int) {
	a, b := r.Old.variables, r.New.variables
	have := map[hash]int{}
	for _, e := range b.types[j:toJ] {
		have[e.contents]++
	}
	var old, new []int32
	common := map[hash]int{}
	for k := i; k < toI; k++ {
		if h := a.types[k].contents; have[h] > common[h] {
			common[h]++
		} else {
			old = append(old, int32(k))
		}
	}
	for k := j; k < toJ; k++ {
		if h := b.types[k].contents; common[h] > 0 {
			common[h]--
		} else {
			new = append(new, int32(k))
		}
	}
	for k := range max(len(old), len(new)) {
		c := Change{Kind: Types, Old: None, New: None, Part: None}
		switch {
		case k >= len(old):
			c.What, c.New = Added, new[k]
		case k >= len(new):
			c.What, c.Old = Removed, old[k]
		default:
			c.What, c.Old, c.New = MembersChanged, old[k], new[k]
			if a.at(a.types[c.Old]).Size != b.at(b.types[c.New]).Size {
				c.What |= Resized
			}
		}
		r.Changes = append(r.Changes, c)
	}
}

// typeKinds are the words for types with a name.
var typeKinds = map[vars.TypeKind]string{
	vars.Base: "base type", vars.Struct: "struct", vars.Class: "class", vars.Union: "union", vars.Enum: "enum", vars.Typedef: "typedef",
}

// members lists the members of a type.
func (s *textCursor) members(i int32) (out []item) {
	v := s.o.variables
	t := v.at(v.types[i])
	kind := typeKinds[t.Kind]
	if kind == "" {
		kind = "type"
	}
	out = s.keep(out, item{text: fmt.Sprintf("%s of %d bytes", kind, t.Size)})
	if t.Elem != 0 {
		out = s.keep(out, item{text: "of " + v.in.TypeName(t.Elem)})
	}
	eachMember(t, func(m *vars.Member, when string) {
		if s.room < 0 {
			return
		}
		at := fmt.Sprintf("+%d", m.Offset)
		switch {
		case m.At != 0:
			at, _ = v.place(m.At, nil)
		case m.BitSize != 0:
			at += fmt.Sprintf(" bits %d..%d", m.BitOffset, uint32(m.BitOffset)+m.BitSize)
		}
		text := at + " " + m.Name + " (" + v.in.TypeName(m.Type) + ")"
		if m.Base {
			text = at + " base " + v.in.TypeName(m.Type)
		}
		if when != "" {
			text += ", " + when
		}
		out = s.keep(out, item{text: text})
	})
	for _, e := range t.Enumerators() {
		if out = s.keep(out, item{text: fmt.Sprintf("%s = %d", e.Name, e.Value)}); s.room < 0 {
			break
		}
	}
	return out
}
