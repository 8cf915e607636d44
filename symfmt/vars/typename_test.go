package vars

import (
	"strings"
	"testing"
)

func TestTypeName(t *testing.T) {
	long := strings.Repeat("x", 5000)
	in := &Info{Types: []Type{{}, {Kind: Base, Name: "char"}, {Kind: Const, Elem: 1}, {Kind: Pointer, Elem: 2},
		{Kind: Const, Elem: 3}, {Kind: Function, Elem: 1, Parts: &Parts{Params: []TypeID{3}}}, {Kind: Pointer, Elem: 5}, {Kind: Struct, Name: "S"},
		{Kind: MemberPtr, Elem: 1, Class: 7}, {Kind: Array, Elem: 1, Parts: &Parts{Dims: []Dim{{Count: Bound{Kind: ConstBound, Value: 4}}}}}, {Kind: Base, Name: long}}}
	for id, want := range map[TypeID]string{3: "const char *", 4: "const char * const", 6: "char (*)(const char *)", 8: "char S::*", 9: "char[4]", 10: long[:4096] + "..."} {
		if got := in.TypeName(id); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Types that refer to themselves in several places have names of bounded length, and naming them is fast.
func TestEndlessTypeName(t *testing.T) {
	in := &Info{Types: []Type{{}, {Kind: Pointer, Elem: 1}, {Kind: Function, Elem: 2, Parts: &Parts{Params: []TypeID{2, 2, 2}}},
		{Kind: MemberPtr, Elem: 3, Class: 3}, {Kind: Const, Elem: 4}, {Kind: Array, Elem: 5, Parts: &Parts{Dims: make([]Dim, 1<<16)}}}}
	for id := range in.Types {
		if got := in.TypeName(TypeID(id)); len(got) > 2*maxTypeName || id > 0 && !strings.Contains(got, "...") {
			t.Errorf("type %d: %d bytes, %.80s", id, len(got), got)
		}
	}
}
