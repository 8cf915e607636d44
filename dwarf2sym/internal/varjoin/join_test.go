package varjoin

import (
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// fileBase is the address of RVA 0 in the tests' files.
const fileBase = 0x400000

// reader fills in the Records of one reader. Its types are int and S, which has a pointer to S.
type reader struct {
	*Records
	f               Function
	integer, struc  vars.TypeID
	in0, in1, atCFA vars.ExprID
}

func newReader(seeds *Seeds) *reader {
	r := &reader{Records: New(seeds)}
	r.integer, _ = r.AddType(vars.Type{Kind: vars.Base, Name: "int", Size: 4, HasSize: true, Encoding: vars.Signed})
	var isNew bool
	if r.struc, _, isNew = r.AddStructure(vars.Type{Kind: vars.Struct, Name: "S", Size: 16, HasSize: true}, nil); isNew {
		pointer, _ := r.AddType(vars.Type{Kind: vars.Pointer, Elem: r.struc, Size: 8, HasSize: true})
		r.Type(r.struc).Members = []vars.Member{{Name: "next", Type: pointer}}
	}
	r.in1, _ = r.AddExpr([]vars.Op{{Code: vars.OpReg, Reg: 1}})
	r.in0, _ = r.AddExpr([]vars.Op{{Code: vars.OpReg, Reg: 0}})
	r.atCFA, _ = r.AddExpr([]vars.Op{{Code: vars.OpCFA}})
	return r
}

// function begins the function at an RVA, with one variable i in its own scope.
func (r *reader) function(rva uint64, locate func()) {
	r.f.Reset(fileBase+rva, true)
	r.f.Frame = r.atCFA
	locate()
	r.f.Variable(0, 0, 0)
}

// in sets the location of the next variable.
func (r *reader) in(lo, hi uint64, e vars.ExprID) { r.f.Locate(fileBase+lo, fileBase+hi, e) }

// end adds the function, in a unit of its own whose variables are i, s and p.
func (r *reader) end(key uint64) {
	r.AddFunc(FuncID{Key: key}, &r.f)
	r.EndUnit([]Variable{{Name: r.AddName([]byte("i")), Type: r.integer}, {Name: r.AddName([]byte("s")), Type: r.struc, Param: true}, {Name: r.AddName([]byte("p")), Type: r.integer, Label: uint32(key)}})
}

// scope opens a scope.
func (r *reader) scope(kind vars.ScopeKind, around int32, spans ...uint64) int32 {
	return r.f.Open(kind, around, func(to []dwarf.Span) []dwarf.Span {
		for i := 0; i < len(spans); i += 2 {
			to = append(to, dwarf.Span{Lo: fileBase + spans[i], Hi: fileBase + spans[i+1]})
		}
		return to
	})
}

// joined joins the records of readers, for FUNCs with places. It returns the resulting records.
func joined(t *testing.T, funcs string, places []Place, readers ...*reader) []string {
	t.Helper()
	read, err := symfmt.Read(t.Context(), strings.NewReader("MODULE Linux x86_64 0 m\nINLINE_ORIGIN 0 g\nFILE 0 a\n"+funcs), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []*Records
	for _, r := range readers {
		r.Freeze()
		all = append(all, r.Records)
	}
	info := &vars.Info{Locals: true, FullTypes: true}
	Join(info, read.Module.Funcs, places, fileBase, all)
	var text []byte
	for i := range info.Pieces() {
		text = info.Append(text, i)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:]
}

// onlyFuncs returns the records of functions, without their prefix.
func onlyFuncs(lines []string) (all []string) {
	for _, l := range lines {
		if text, ok := strings.CutPrefix(l, vars.Prefix+"F "); ok {
			all = append(all, text)
		}
	}
	return all
}

// The contents of a function's scopes become the variables of its FUNC.
func TestJoinScopes(t *testing.T) {
	const whole = "FUNC 1000 100 0 f\n"
	for _, tt := range []struct {
		name, funcs string
		fill        func(r *reader)
		want        string
	}{
		{"nothing", whole, func(r *reader) { r.f.Reset(fileBase+0x1000, true) }, ""},
		{"no location", whole, func(r *reader) { r.function(0x1000, func() {}) }, "1000 100 1 1-"},
		{"one place for all of it", whole, func(r *reader) { r.function(0x1000, func() { r.in(0x1000, 0x1100, r.in0) }) }, "1000 100 1 1=2"},
		{"two places", whole, func(r *reader) {
			r.function(0x1000, func() { r.in(0x1000, 0x1010, r.in0); r.in(0x1020, 0x1030, r.in1) })
		}, "1000 100 1/h0h0h0 1h2H3"},
		{"pieces of one place", whole, func(r *reader) {
			r.function(0x1000, func() { r.in(0x1000, 0x1010, r.in0); r.in(0x1010, 0x1030, r.in0) })
		}, "1000 100 1/j0 1h2"},
		{"beyond the function", whole, func(r *reader) {
			r.function(0x1000, func() { r.in(0xff0, 0x1010, r.in0); r.in(0x10f0, 0x1200, r.in1); r.in(0x2000, 0x2100, r.in0) })
		}, "1000 100 1/h0u0h0 1h2H3"},
		{"a block", whole, func(r *reader) {
			r.function(0x1000, func() {})
			b := r.scope(vars.BlockScope, 0, 0x1020, 0x1030, 0x1050, 0x1060)
			r.in(0x1020, 0x1060, r.in0)
			r.f.Variable(b, 1, 0)
		}, "1000 100 1/i0h0i0h0 1-{HhHh2=2}"},
		{"a block outside", whole, func(r *reader) {
			r.function(0x1000, func() {})
			b := r.scope(vars.BlockScope, 0, 0x1120, 0x1130)
			r.f.Variable(b, 1, r.in0)
		}, "1000 100 1 1-"},
		{"an empty block around one", whole, func(r *reader) {
			r.f.Reset(fileBase+0x1000, true)
			a := r.scope(vars.BlockScope, 0, 0x1010, 0x1080)
			r.scope(vars.BlockScope, a, 0x1010, 0x1018) // without variables
			r.f.Variable(r.scope(vars.BlockScope, a, 0x1020, 0x1030), 1, r.in0)
			r.scope(vars.BlockScope, 0, 0x1090, 0x1098)
		}, "1000 100 0/h0h0h0l0 0{Hj0{Hh1=1}}"},
		{"inlined calls", whole + "INLINE 0 1 0 0 1010 20\nINLINE 1 2 0 0 1010 10\nINLINE 0 3 0 0 1040 10\n", func(r *reader) {
			r.f.Reset(fileBase+0x1000, true)
			a := r.scope(vars.InlineScope, 0, 0x1010, 0x1030)
			r.f.Variable(a, 0, r.in0)
			r.f.Variable(r.scope(vars.InlineScope, a, 0x1010, 0x1020), 1, r.in1)
			r.f.Variable(r.scope(vars.InlineScope, 0, 0x1040, 0x1050), 0, r.in1)
		}, "1000 100 0 0(1=1(2=2))(1=2)"},
		{"an inlined call in pieces", whole + "INLINE 0 1 0 0 1010 20 1050 10\n", func(r *reader) {
			r.f.Reset(fileBase+0x1000, true)
			r.in(0x1010, 0x1060, r.in0)
			r.f.Variable(r.scope(vars.InlineScope, 0, 0x1010, 0x1030, 0x1050, 0x1060), 0, 0)
		}, "1000 100 0 0(1=1)"},
		{"an inlined call of which the start was cut off", whole + "INLINE 0 1 0 0 1000 10\n", func(r *reader) {
			r.f.Reset(fileBase+0xf00, true)
			r.f.Variable(r.scope(vars.InlineScope, 0, 0xf80, 0xf90, 0x1020, 0x1030), 0, r.in0) // not that of the INLINE
			r.f.Variable(r.scope(vars.InlineScope, 0, 0xff0, 0x1010), 1, r.in1)
		}, "1000 100 0 0(1=2) ^-100"},
		{"an inlined call without INLINE", whole + "INLINE 0 1 0 0 1010 20\nINLINE 0 3 0 0 1040 10\n", func(r *reader) {
			r.f.Reset(fileBase+0x1000, true)
			a := r.scope(vars.InlineScope, 0, 0x1018, 0x1030)
			r.f.Variable(r.scope(vars.BlockScope, a, 0x1018, 0x1020), 1, r.in1) // inside a scope that is not there
			r.f.Variable(r.scope(vars.InlineScope, 0, 0x1040, 0x1050), 0, r.in1)
		}, "1000 100 0 0(2:1=1)"},
	} {
		r := newReader(NewSeeds())
		tt.fill(r)
		r.end(7)
		got := onlyFuncs(joined(t, tt.funcs, []Place{{0x1000, FuncID{Key: 7}}}, r))
		want := []string{tt.want}
		if tt.want == "" {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, want)
		}
	}
}

// A function in two pieces has in each the variables of that piece, and the address of its entry. A FUNC of
// another function has none.
func TestJoinPieces(t *testing.T) {
	r := newReader(NewSeeds())
	r.function(0x1000, func() { r.in(0x1000, 0x1040, r.in0); r.in(0x3000, 0x3010, r.in1) })
	r.f.Variable(r.scope(vars.BlockScope, 0, 0x1010, 0x1020, 0x3008, 0x3010), 1, r.in0)
	r.f.Entry = fileBase + 0x3000
	r.end(7)
	id := FuncID{Key: 7}
	got := onlyFuncs(joined(t, "FUNC 1000 40 0 f\nFUNC 2000 10 0 g\nFUNC 3000 10 0 f.cold\n", []Place{{0x1000, id}, {0x3000, id}, {0x4000, id}}, r))
	want := []string{"1000 40 1/h0h0 1=2{Hh2=2} ^2000", "3000 10 1/88 1=3{Hh2=2}"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Calls are in the order of their return addresses, one for each. If two functions have the same target, it is
// unknown. A target can be a name.
func TestJoinSites(t *testing.T) {
	r := newReader(NewSeeds())
	r.f.Reset(fileBase+0x1000, true)
	call := func(ret uint64, target Target, tail bool) {
		if !tail {
			r.f.Param(vars.SiteParam{Location: r.in1, Value: r.in0})
		}
		r.f.Site(Site{Return: fileBase + ret, Tail: tail, Target: target})
	}
	site := func(ret, target uint64, tail bool) { call(ret, Target{Off: target}, tail) }
	site(0x1050, 1, false)
	site(0x1020, 2, false)
	site(0x1020, 1, false) // a second one at the same address
	site(0x1030, 3, true)
	call(0x1058, r.Named([]byte("f")), true)
	call(0x105a, r.Named([]byte("g")), true)
	call(0x105c, r.Named([]byte("alias")), true)
	call(0x105e, r.Named([]byte("twice")), true)
	r.f.Site(Site{Return: fileBase + 0x1060, Tail: true, Target: r.Named([]byte("alias")), TargetAt: r.in0})
	site(0x1000, 1, false) // before the first instruction
	site(0x1200, 1, false) // after the last instruction
	r.AddTarget(Target{Off: 1}, fileBase+0x2000)
	r.AddTarget(Target{Off: 2}, fileBase+0x2000)
	r.AddTarget(Target{Off: 2}, fileBase+0x3000)
	r.AddTarget(r.Named([]byte("g")), fileBase+0x4000)
	r.AddSymbol([]byte("g"), fileBase+0x5000) // debug information takes precedence
	r.AddSymbol([]byte("alias"), fileBase+0x6000)
	r.AddSymbol([]byte("twice"), fileBase+0x6000)
	r.AddSymbol([]byte("twice"), fileBase+0x7000)
	r.end(7)
	got := onlyFuncs(joined(t, "FUNC 1000 100 0 f\n", []Place{{0x1000, FuncID{Key: 7}}}, r))
	if want := []string{"1000 100 0 0 IGi1HG!IG>2000i1O!I!>4000I!>6000I!I!*1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Readers number what they find separately. After joining, each thing is there once, whichever reader found it.
func TestJoinReaders(t *testing.T) {
	var first []string
	for _, swapped := range []bool{false, true} {
		seeds := NewSeeds()
		a, b := newReader(seeds), newReader(seeds)
		b.Records = New(seeds) // numbers in another order
		b.in0, _ = b.AddExpr([]vars.Op{{Code: vars.OpReg, Reg: 0}})
		b.in1, _ = b.AddExpr([]vars.Op{{Code: vars.OpReg, Reg: 1}})
		b.atCFA, _ = b.AddExpr([]vars.Op{{Code: vars.OpCFA}})
		b.struc, _, _ = b.AddStructure(vars.Type{Kind: vars.Struct, Name: "S", Size: 16, HasSize: true}, []byte("elsewhere"))
		pointer, _ := b.AddType(vars.Type{Kind: vars.Pointer, Elem: b.struc, Size: 8, HasSize: true})
		b.Type(b.struc).Members = []vars.Member{{Name: "next", Type: pointer}}
		b.integer, _ = b.AddType(vars.Type{Kind: vars.Base, Name: "int", Size: 4, HasSize: true, Encoding: vars.Signed})
		if swapped {
			a, b = b, a
		}
		for i, r := range []*reader{a, b} {
			rva := 0x1000 * uint64(i+1)
			r.function(rva, func() { r.in(rva, rva+0x10, r.in0); r.in(rva+0x10, rva+0x20, r.in1) })
			r.f.Variable(0, 1, r.in0)
			r.end(uint64(i + 1))
		}
		got := joined(t, "FUNC 1000 100 0 f\nFUNC 2000 100 0 g\n", []Place{{0x1000, FuncID{Key: 1}}, {0x2000, FuncID{Key: 2}}}, a, b)
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("got %q, and with the readers in another order %q", first, got)
		}
	}
	want := []string{
		`INFO VAR T b#4 "int %5`, `INFO VAR T s#10 "S .3:next`, "INFO VAR T p2#8", "INFO VAR E cfa r:0 r:1", "INFO VAR V l1:i p2:s", "INFO VAR G 1,",
		"INFO VAR F 1000 100 1/h0h0 1h2h3=2", "INFO VAR F 2000 100 1/h0h0 1h2h3=2",
	}
	if !slices.Equal(first, want) {
		t.Errorf("got %q, want %q", first, want)
	}
}

// Types are the same only if their members are the same: equal names are not enough.
func TestJoinTypes(t *testing.T) {
	for _, tt := range []struct {
		name          string
		first, second vars.Type
		same          bool
	}{
		{"equal", vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, true},
		{"another size", vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, vars.Type{Kind: vars.Struct, Name: "T", Size: 8, HasSize: true}, false},
		{"another name", vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, vars.Type{Kind: vars.Struct, Name: "U", Size: 4, HasSize: true}, false},
		{"another member", vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true, Members: []vars.Member{{Name: "a"}}},
			vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true, Members: []vars.Member{{Name: "b"}}}, false},
		{"another enumerator", vars.Type{Kind: vars.Enum, Name: "E", Parts: &vars.Parts{Enumerators: []vars.Enumerator{{Name: "a", Value: 1}}}},
			vars.Type{Kind: vars.Enum, Name: "E", Parts: &vars.Parts{Enumerators: []vars.Enumerator{{Name: "a", Value: 2}}}}, false},
		{"a declaration and its definition", vars.Type{Kind: vars.Struct, Name: "T", Incomplete: true},
			vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, true},
		{"one without members and the other", vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true, Incomplete: true},
			vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, true},
		{"one without members and one of another size", vars.Type{Kind: vars.Struct, Name: "T", HasSize: true, Incomplete: true},
			vars.Type{Kind: vars.Struct, Name: "T", Size: 4, HasSize: true}, false},
	} {
		seeds := NewSeeds()
		a, b := newReader(seeds), newReader(seeds)
		for i, r := range []*reader{a, b} {
			r.struc = r.NewType([]vars.Type{tt.first, tt.second}[i])
			r.f.Reset(fileBase+0x1000*uint64(i+1), true)
			r.f.Variable(0, 1, r.in0)
			r.end(uint64(i + 1))
		}
		lines := joined(t, "FUNC 1000 100 0 f\nFUNC 2000 100 0 g\n", []Place{{0x1000, FuncID{Key: 1}}, {0x2000, FuncID{Key: 2}}}, a, b)
		n := 0
		for _, l := range lines {
			if strings.HasPrefix(l, "INFO VAR T ") {
				n++
			}
		}
		if (n == 1) != tt.same {
			t.Errorf("%s: %d types, %q", tt.name, n, lines)
		}
	}
}
