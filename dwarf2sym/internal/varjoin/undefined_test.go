package varjoin

import (
	"maps"
	"testing"

	"github.com/symtool/symtool/symfmt/vars"
)

// Structures that are only declared are wanted if something may have a value of their type and no reader has their
// definition.
func TestUndefined(t *testing.T) {
	seeds := NewSeeds()
	a, b := newReader(seeds), newReader(seeds)
	declared := func(name string) vars.TypeID {
		return a.NewType(vars.Type{Kind: vars.Struct, Name: name, Incomplete: true})
	}
	variable := func(id vars.TypeID) {
		a.EndUnit([]Variable{{Name: a.AddName([]byte("v")), Type: id, Located: true}})
	}
	variable(declared("value"))
	a.EndUnit([]Variable{{Name: a.AddName([]byte("v")), Type: declared("without a value")}})
	variable(a.NewType(vars.Type{Kind: vars.Typedef, Elem: a.NewType(vars.Type{Kind: vars.Const, Elem: declared("typedef")})}))
	variable(a.NewType(vars.Type{Kind: vars.Array, Elem: declared("element")}))
	variable(a.NewType(vars.Type{Kind: vars.Pointer, Elem: declared("pointed to")}))
	variable(declared("defined"))
	declared("unused")
	a.NewType(vars.Type{Kind: vars.Struct, Name: "around", Members: []vars.Member{{Type: declared("member")}}})
	a.NewType(vars.Type{Kind: vars.Struct, Name: "enum", Parts: &vars.Parts{Variants: []vars.VariantPart{{
		Variants: []vars.Variant{{Members: []vars.Member{{Type: declared("variant")}}}},
	}}}})
	self := a.NewType(vars.Type{Kind: vars.Typedef})
	a.Type(self).Elem = self
	variable(self)
	b.NewType(vars.Type{Kind: vars.Struct, Name: "defined"})
	got := Undefined([]*Records{a.Records, b.Records})
	if want := map[string]bool{"value": true, "typedef": true, "element": true, "member": true, "variant": true}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
