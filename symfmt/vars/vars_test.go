package vars

import (
	"reflect"
	"slices"
	"testing"
)

// sample returns a function at 0x1000 with a parameter, an inlined call at 0x1010 to 0x1020, and a
// block at 0x1014 to 0x1018 in it.
func sample() *Info {
	in := &Info{
		Types:  []Type{{}, {Kind: Base, Name: "int", Size: 4, HasSize: true, Encoding: Signed}},
		Vars:   []Variable{{}, {Name: "a", Type: 1, Param: true}, {Name: "b", Type: 1}, {Name: "c", Type: 1}},
		Exprs:  []Expr{{}, NewExpr([]Op{{Code: OpReg, Reg: 5}}), NewExpr([]Op{{Code: OpFbreg, S: -20}}), NewExpr([]Op{{Code: OpCFA}})},
		Groups: [][]VarID{nil, {1}, {2, 3}, {3}},

		RuntimeTypes: []RuntimeType{{0x4000, 1}, {0x4010, 1}},
	}
	tree := &Block{Group: 1, Inline: -1, Vars: []Location{{List: []Entry{{Range{0, 8}, 1}, {Range{8, 0x30}, 2}}}}, Blocks: []Block{
		{Kind: InlineScope, Inline: 2, Group: 2, Vars: []Location{{Whole: 1}, {}}, Blocks: []Block{
			{Kind: BlockScope, Inline: -1, Ranges: []Range{{0x14, 0x18}}, Group: 3, Vars: []Location{{List: []Entry{{Range{0x10, 0x16}, 2}}}}},
		}},
	}}
	var b Builder
	b.Reset(0x1000)
	addTree(&b, tree)
	b.Site(&CallSite{Return: 0x1008, Target: 0x900, HasTarget: true, Params: []SiteParam{{1, 2}}})
	b.Site(&CallSite{Return: 0x1012, Tail: true, Params: []SiteParam{{1, 2}, {2, 1}}})
	in.Funcs = []Func{{RVA: 0x1000, Size: 0x30, FrameBase: 3, Body: b.Finish()}}
	if got := in.Funcs[0].Tree(in); !reflect.DeepEqual(got, tree) {
		panic("tree")
	}
	return in
}

// addTree packs a tree.
func addTree(b *Builder, t *Block) {
	switch t.Kind {
	case FuncScope:
		b.Func(t.Group)
	case InlineScope:
		b.Inline(t.Inline, t.Group)
	case BlockScope:
		b.Block(t.Ranges, t.Group)
	}
	for i := range t.Vars {
		b.Location(&t.Vars[i])
	}
	for i := range t.Blocks {
		addTree(b, &t.Blocks[i])
	}
	b.End()
}

func TestAt(t *testing.T) {
	in := sample()
	for _, tt := range []struct {
		rva     RVA
		inlines []int
		want    []Scope
	}{
		{0xfff, nil, nil},
		{0x1030, nil, nil},
		{0x1007, nil, []Scope{{FuncScope, -1, 0, []Instance{{1, 1}}}}},
		{0x1010, []int{2}, []Scope{
			{InlineScope, 2, 1, []Instance{{2, 1}, {3, 0}}}, {FuncScope, -1, 0, []Instance{{1, 2}}}}},
		{0x1014, []int{2}, []Scope{
			{BlockScope, -1, 1, []Instance{{3, 2}}}, {InlineScope, 2, 1, []Instance{{2, 1}, {3, 0}}}, {FuncScope, -1, 0, []Instance{{1, 2}}}}},
		{0x1014, []int{1}, []Scope{{FuncScope, -1, 0, []Instance{{1, 2}}}}},
	} {
		if got := in.At(tt.rva, tt.inlines); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%#x: got %v, want %v", tt.rva, got, tt.want)
		}
	}
}

func TestCallSite(t *testing.T) {
	in := sample()
	if s, ok := in.CallSite(0x1008); !ok || s.Target != 0x900 || len(s.Params) != 1 {
		t.Errorf("got %v, %v", s, ok)
	}
	if s, ok := in.CallSite(0x1012); !ok || !s.Tail || s.HasTarget || s.Params[1] != (SiteParam{2, 1}) {
		t.Errorf("got %v, %v", s, ok)
	}
	if _, ok := in.CallSite(0x1010); ok {
		t.Error("a call site at 0x1010")
	}
}

func TestExprPacks(t *testing.T) {
	ops := []Op{
		{Code: OpBreg, Reg: 7, S: -8}, {Code: OpDeref, U: 8}, {Code: OpBranch, To: 4}, {Code: OpConstType, Type: 3, Data: []byte{1, 2}},
		{Code: OpEntryValue, Sub: []Op{{Code: OpReg, Reg: 5}}}, {Code: OpImplicitPointer, Label: 9, S: 4}, {Code: OpPiece, U: 1 << 40},
	}
	if got := NewExpr(ops).Ops(); !reflect.DeepEqual(got, ops) {
		t.Errorf("got %v, want %v", got, ops)
	}
}

// Expressions that types refer to follow those of functions; what nothing refers to is dropped.
func TestNumber(t *testing.T) {
	in := sample()
	number := func(n uint64) Expr { return NewExpr([]Op{{Code: OpConstNumber, U: n}}) }
	in.Exprs = append(in.Exprs, number(1), number(2))
	in.Types = append(in.Types, Type{Name: "unused"}, Type{Kind: Array, Elem: 1, Parts: &Parts{Dims: []Dim{{Count: Bound{Kind: ExprBound, Expr: 5}}}}})
	in.Vars = append(in.Vars, Variable{Name: "list", Type: 3})
	in.Groups[1] = []VarID{4}
	was := in.Exprs
	in.Number([]ExprID{3, 1, 2})
	if want := []Expr{{}, was[3], was[1], was[2], was[5]}; !slices.Equal(in.Exprs, want) {
		t.Errorf("got expressions %v, want %v", in.Exprs, want)
	}
	if want := []Variable{{}, {Name: "list", Type: 1}, {Name: "b", Type: 2}, {Name: "c", Type: 2}}; !slices.Equal(in.Vars, want) {
		t.Errorf("got variables %v, want %v", in.Vars, want)
	}
	if want := [][]VarID{nil, {1}, {2, 3}, {3}}; !slices.EqualFunc(in.Groups, want, slices.Equal) {
		t.Errorf("got groups %v, want %v", in.Groups, want)
	}
	if array := in.Types[1]; len(in.Types) != 3 || array.Elem != 2 || array.Dims()[0].Count.Expr != 4 {
		t.Errorf("got types %+v", in.Types)
	}
}

// An expression that refers to a variable in no scope loses the variable's label, also inside other
// expressions.
func TestNumberLabels(t *testing.T) {
	refer := func(known, unknown uint32) []Op {
		return []Op{{Code: OpEntryValue, Sub: []Op{{Code: OpCall, Label: known}, {Code: OpCall, Label: unknown}}},
			{Code: OpConvert, Type: 1}, {Code: OpImplicitPointer, Label: unknown}}
	}
	in := &Info{Types: make([]Type, 2), Vars: []Variable{{}, {Name: "v", Type: 1, Label: 7}, {Name: "unused", Label: 8}}, Groups: [][]VarID{nil, {1}},
		Exprs: []Expr{{}, NewExpr(refer(7, 8)), NewExpr([]Op{{Code: OpBreg, Reg: 7, S: 8}})}}
	was := in.Exprs[2]
	in.Number([]ExprID{1, 2})
	if want := []Expr{{}, NewExpr(refer(7, 0)), was}; !slices.Equal(in.Exprs, want) {
		t.Errorf("got expressions %v, want %v", in.Exprs, want)
	}
}
