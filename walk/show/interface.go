package show

import (
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// dynamic shows a Go interface: the type and the value that it holds, or its two words if the type is unknown.
func (s *showing) dynamic(parts map[string]part, v eval.Value, id vars.TypeID, depth int) string {
	data := parts["data"]
	if s.word(data) == 0 && s.word(parts["type"]) == 0 {
		return "nil"
	}
	held := s.heldType(parts["type"])
	size, known := s.sizeOf(held)
	if held == 0 || !known || size > eval.MaxValue {
		t, _ := s.in.Plain(id)
		return s.structure(v, t, id, depth)
	}
	out := "(" + TypeName(s.in, held) + ") "
	switch {
	case s.isDirect(held, maxSteps):
		return out + s.text(data.value, held, 0) // including what it points to, such as the text of an error
	case size == 0:
		return out + s.text(eval.Value{}, held, depth+1)
	}
	return out + s.text(s.f.Read(s.word(data), int(size)), held, depth+1)
}

// heldType returns the type to which the first word of an interface refers, or 0. The word points to the type's
// descriptor or to an itab; an itab that the linker did not make contains the address of the descriptor.
func (s *showing) heldType(p part) vars.TypeID {
	if id := s.in.RuntimeType(vars.RVA(s.word(p) - s.f.Base)); id != 0 {
		return id
	}
	for _, name := range []string{"Type", "_type"} { // from Go 1.22, and before
		if t, ok := s.follow(p, []string{"*", name}); ok && t.plain != nil && t.plain.Kind == vars.Pointer && t.value.Whole() {
			return s.in.RuntimeType(vars.RVA(s.word(t) - s.f.Base))
		}
	}
	return 0
}

// isDirect reports whether an interface holds values of a type directly rather than a pointer to them: the type is a
// pointer, or consists of one.
func (s *showing) isDirect(id vars.TypeID, depth int) bool {
	t, _ := s.in.Plain(id)
	if t == nil || depth == 0 {
		return false
	}
	switch t.Kind {
	case vars.Pointer, vars.Function:
		return true
	case vars.Struct:
		return len(t.Members) == 1 && s.isDirect(t.Members[0].Type, depth-1)
	case vars.Array:
		size, ok := s.sizeOf(id)
		return ok && size == uint64(s.f.Arch.PtrSize) && s.isDirect(t.Elem, depth-1)
	}
	return false
}
