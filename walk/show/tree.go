package show

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// Node is a value with its members, or a member.
type Node struct {
	Name  string // "[2]" for an element, by its index, "::Base" for a base class, "<anonymous>" if it has none
	Type  string
	Value string // as text; "" for a member with members
	// Bytes are the bytes in hexadecimal, in memory order, with ".." for each that is unknown or redacted.
	// The bytes of a bit field are a number of the field's type.
	Bytes    string
	Status   eval.Status
	Why      string // what is missing, or ""
	InMemory bool
	Address  uint64
	Offset   uint64 // of a member, from the start of the value that contains it

	BitOffset, BitSize int // of a bit field, in bits from Offset; BitSize is 0 for other members

	Members []Node
	Cut     bool // there are more members or bytes
}

// Tree returns the value of a variable of a frame with its members.
func (p *Printer) Tree(f *eval.Frame, v *eval.Variable) Node {
	s := p.start(f)
	n := s.node(v.Name, v.Value, v.Type, 0)
	if n.Value != redacted {
		n.Value = p.Text(f, v)
	}
	return n
}

// maxBytes limits the bytes of one variable and its members. The bytes of a member count again in each value
// that contains it.
const maxBytes = 3 * eval.MaxValue

// node returns a value with its members.
func (s *showing) node(name string, v eval.Value, id vars.TypeID, depth int) Node {
	s.left--
	n := Node{Name: name, Type: s.in.TypeName(id), Status: v.Status(), Why: v.Why, InMemory: v.InMemory, Address: v.Address}
	if s.isRedacted(s.in, name, id) {
		n.Value, n.Why, n.Bytes = redacted, "", strings.Repeat("..", len(v.Bytes))
		return n
	}
	if s.bytes -= len(v.Bytes); s.bytes < 0 {
		n.Cut = true
		return n
	}
	masked := s.masked(v, id)
	n.Bytes = masked.Hex()
	t, plain := s.in.Plain(id)
	if t == nil || v.Status() != eval.HasValue {
		return n
	}
	switch t.Kind {
	case vars.Struct, vars.Class, vars.Union:
		n.Members, n.Cut = s.memberNodes(&v, t, depth)
	case vars.Array, vars.Vector:
		n.Members, n.Cut = s.elementNodes(&v, t, plain, depth)
	}
	if depth > 0 && len(n.Members) == 0 {
		leaf := s.start(s.f)
		leaf.following, leaf.looks = true, s.looks
		n.Value = text.Printable(leaf.text(v, id, depth))
		s.looks = leaf.looks
	}
	return n
}

// memberNodes returns the members of a structure.
func (s *showing) memberNodes(v *eval.Value, t *vars.Type, depth int) (nodes []Node, cut bool) {
	members, _, ok := s.membersOf(v, t)
	if ok && len(t.Variants()) > 0 {
		members = append(discriminants(t), members...)
	}
	for i := range members {
		m := &members[i]
		if depth >= s.o.Depth || s.left <= 0 {
			return nodes, true
		}
		part, _ := s.f.Member(v, m)
		name := m.Name
		switch {
		case m.Base:
			name = "::" + s.in.TypeName(m.Type)
		case name == "":
			name = "<anonymous>"
		}
		n := s.node(name, part, m.Type, depth+1)
		n.Offset = m.Offset
		if m.At != 0 && part.InMemory && v.InMemory {
			n.Offset = part.Address - v.Address
		}
		if m.BitSize != 0 {
			n.BitOffset, n.BitSize = int(m.BitOffset), int(m.BitSize)
		}
		nodes = append(nodes, n)
	}
	return nodes, false
}

// discriminants returns the members that select variants, starting with that of the last part.
func discriminants(t *vars.Type) (members []vars.Member) {
	for _, part := range slices.Backward(t.Variants()) {
		if part.Discr.Type != 0 {
			members = append(members, part.Discr)
		}
	}
	return members
}

// elementNodes returns the elements of an array.
func (s *showing) elementNodes(v *eval.Value, t *vars.Type, id vars.TypeID, depth int) (nodes []Node, cut bool) {
	size, ok := s.sizeOf(t.Elem)
	if !ok || size == 0 || size > eval.MaxValue {
		return nil, len(v.Bytes) > 0
	}
	return s.elementsOf(v, t.Elem, size, s.axes(v, t), depth)
}

func (s *showing) elementsOf(v *eval.Value, id vars.TypeID, size uint64, axes []axis, depth int) (nodes []Node, cut bool) {
	inner := axes[1:]
	step, length, ok := extent(axes, size)
	if !ok {
		return nil, true
	}
	for i := range uint64(axes[0].of(v, step, length)) {
		if depth >= s.o.Depth || s.left <= 0 || len(nodes) == s.o.Length {
			return nodes, true
		}
		part, name := v.Part(int(i*step), int(length)), "["+strconv.FormatInt(axes[0].first+int64(i), 10)+"]"
		var n Node
		if len(inner) == 0 {
			n = s.node(name, part, id, depth+1)
		} else {
			s.left--
			if s.bytes -= len(part.Bytes); s.bytes < 0 {
				return nodes, true
			}
			masked := s.masked(part, id)
			n = Node{Name: name, Type: s.in.TypeName(id), Bytes: masked.Hex(), Status: part.Status(), Why: part.Why, InMemory: part.InMemory, Address: part.Address}
			n.Members, n.Cut = s.elementsOf(&part, id, size, inner, depth+1)
		}
		n.Offset = i * step
		nodes = append(nodes, n)
	}
	return nodes, false
}

// masked returns a value without the bytes of redacted members.
func (s *showing) masked(v eval.Value, id vars.TypeID) eval.Value {
	if len(s.redact) == 0 || len(v.Bytes) == 0 {
		return v
	}
	out := v
	out.Bytes = slices.Clone(v.Bytes)
	if out.States = slices.Clone(v.States); out.States == nil {
		out.States = make([]eval.State, len(v.Bytes))
	}
	s.mask(&out, 0, id, maxMask)
	return out
}

// maxMask limits the depth at which redacted members are looked for, and maxMaskParts the number of members
// checked for one variable. Everything beyond these limits is masked.
const (
	maxMask      = 16
	maxMaskParts = 50_000
)

// mask makes the bytes of redacted members unknown.
func (s *showing) mask(v *eval.Value, at uint64, id vars.TypeID, depth int) {
	size, ok := s.sizeOf(id)
	if !ok {
		size = uint64(len(v.Bytes))
	}
	t, _ := s.in.Plain(id)
	if t == nil || depth == 0 || s.toMask < 0 || s.isRedacted(s.in, "", id) {
		s.erase(v, at, size)
		return
	}
	for m := range allMembers(t) {
		if s.toMask--; s.toMask < 0 {
			s.erase(v, at, size)
			return
		}
		switch {
		case m == nil: // a variant
		case m.At != 0: // its location depends on the object
			s.erase(v, at, size)
		case s.isRedacted(s.in, m.Name, m.Type):
			n, ok := s.sizeOf(m.Type)
			if !ok {
				n = size
			}
			s.erase(v, at+m.Offset, n)
		default:
			s.mask(v, at+m.Offset, m.Type, depth-1)
		}
	}
	if t.Kind == vars.Array || t.Kind == vars.Vector {
		n, ok := s.sizeOf(t.Elem)
		if !ok || n == 0 {
			s.erase(v, at, uint64(len(v.Bytes)))
			return
		}
		if elem, _ := s.in.Plain(t.Elem); elem != nil && elem.Kind == vars.Base {
			return
		}
		for from := at; from < uint64(len(v.Bytes)) && from < at+max(size, n); from += n {
			if s.toMask--; s.toMask < 0 {
				s.erase(v, at, size)
				return
			}
			s.mask(v, from, t.Elem, depth-1)
		}
	}
}

// allMembers yields all members that a structure may have. For each variant it first yields nil, because
// variants without members take time, too.
func allMembers(t *vars.Type) iter.Seq[*vars.Member] {
	return func(yield func(*vars.Member) bool) {
		each := func(members []vars.Member) bool {
			for i := range members {
				if !yield(&members[i]) {
					return false
				}
			}
			return true
		}
		if !each(t.Members) {
			return
		}
		for i := range t.Variants() {
			for k := range t.Variants()[i].Variants {
				if !yield(nil) || !each(t.Variants()[i].Variants[k].Members) {
					return
				}
			}
		}
	}
}

// erase makes bytes unknown. It charges maxMaskParts, because parts may overlap in damaged types.
func (s *showing) erase(v *eval.Value, at, size uint64) {
	n := uint64(len(v.Bytes))
	size = min(size, n)
	at = min(at, n)
	end := min(at+size, n)
	clear(v.Bytes[at:end])
	v.Bits = nil // Bits would reveal single bits
	states := v.States[at:end]
	for i := range states {
		states[i] = eval.Absent
	}
	s.toMask -= int(size / 64)
}
