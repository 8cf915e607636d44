package show

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// Types of the tests.
const (
	tInt vars.TypeID = iota + 1
	tChar
	tCharPtr
	tPoint
	tString
	tArray
	tEnum
	tText
	tAccount
	tBits
)

func testFrame() *eval.Frame {
	in := &vars.Info{Types: []vars.Type{{},
		tInt:     {Kind: vars.Base, Name: "int", Size: 4, HasSize: true, Encoding: vars.Signed},
		tChar:    {Kind: vars.Base, Name: "char", Size: 1, HasSize: true, Encoding: vars.SignedChar},
		tCharPtr: {Kind: vars.Pointer, Elem: tChar},
		tPoint:   {Kind: vars.Struct, Name: "Point", Size: 8, HasSize: true, Members: []vars.Member{{Name: "x", Type: tInt}, {Name: "y", Type: tInt, Offset: 4}}},
		tString: {Kind: vars.Class, Name: "std::string_view", Size: 16, HasSize: true,
			Members: []vars.Member{{Name: "_M_len", Type: tInt}, {Name: "_M_str", Type: tCharPtr, Offset: 8}}},
		tArray:   {Kind: vars.Array, Elem: tInt, Parts: &vars.Parts{Dims: []vars.Dim{{Count: vars.Bound{Kind: vars.ConstBound, Value: 6}}}}},
		tEnum:    {Kind: vars.Enum, Name: "Flags", Elem: tInt, Parts: &vars.Parts{Enumerators: []vars.Enumerator{{Name: "A", Value: 1}, {Name: "B", Value: 2}, {Name: "C", Value: 3}}}},
		tText:    {Kind: vars.Array, Elem: tChar, Parts: &vars.Parts{Dims: []vars.Dim{{Count: vars.Bound{Kind: vars.ConstBound, Value: 8}}}}},
		tAccount: {Kind: vars.Struct, Name: "Account", Size: 16, HasSize: true, Members: []vars.Member{{Name: "id", Type: tPoint}, {Name: "Password", Type: tText, Offset: 8}}},
		tBits:    {Kind: vars.Struct, Name: "Bits", Size: 4, HasSize: true, Members: []vars.Member{{Name: "low", Type: tInt, BitSize: 3}, {Name: "high", Type: tInt, BitSize: 5, BitOffset: 3}}},
	}}
	m := dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x1000, Data: []byte("a\x1b[31m\"z\x00")}})
	return &eval.Frame{Arch: arch.X86_64, Order: m.Order, Memory: &m, Info: in}
}

func words(all ...uint64) (b []byte) {
	for _, w := range all {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func variable(t vars.TypeID, name string, b []byte) *eval.Variable {
	return &eval.Variable{Variable: &vars.Variable{Name: name, Type: t}, Value: eval.Value{Bytes: b}}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		t    vars.TypeID
		b    []byte
		want string
	}{
		{tInt, []byte{0xfe, 0xff, 0xff, 0xff}, "-2"},
		{tChar, []byte{'A'}, "65 'A'"},
		{tChar, []byte{0x1b}, `27 '\x1b'`},
		{tCharPtr, words(0x1000), `0x1000 <sym> "a\x1b[31m\"z"`},
		{tCharPtr, words(0), "0x0"},
		{tPoint, words(7<<32 | 3), "{x = 3, y = 7}"},
		{tString, words(2, 0x1000), `"a\x1b"`},
		{tString, words(2, 0x9000), "2 characters <unavailable: the dump does not have the memory at 0x9000>"},
		{tArray, words(1<<32, 5<<32|5, 5<<32|5), "{0, 1, 5 <4 times>}"},
		{tEnum, []byte{3, 0, 0, 0}, "C"},
		{tEnum, []byte{5, 0, 0, 0}, "A | 0x4"},
		{tEnum, []byte{8, 0, 0, 0}, "(Flags) 8"},
		{tText, []byte("ab\x00\x00\x00\x00\x00\x00"), `"ab"`},
		{tBits, []byte{0b10111_101, 0, 0, 0}, "{low = -3, high = -9}"},
	} {
		p := New(Options{Symbol: func(uint64) string { return "sym" }})
		if got := p.Text(testFrame(), variable(tt.t, "v", tt.b)); got != tt.want {
			t.Errorf("%d: got %s, want %s", tt.t, got, tt.want)
		}
	}
}

// Numbers of unusual types, and what an implicit pointer leads to.
func TestUnusualNumbers(t *testing.T) {
	f := testFrame()
	base := func(name string, size uint64, e vars.Encoding) vars.TypeID {
		f.Info.Types = append(f.Info.Types, vars.Type{Kind: vars.Base, Name: name, Size: size, HasSize: true, Encoding: e})
		return vars.TypeID(len(f.Info.Types) - 1)
	}
	f.Info.Types = append(f.Info.Types, vars.Type{Kind: vars.Unspecified, Name: "decltype(nullptr)"}, vars.Type{Kind: vars.Pointer, Elem: tInt})
	null, intPtr := vars.TypeID(len(f.Info.Types)-2), vars.TypeID(len(f.Info.Types)-1)
	half := eval.Value{Bytes: append(words(0xaaaaaaaaaaaaaaab), 0xfd, 0x3f, 0, 0, 0, 0, 0, 0), States: make([]eval.State, 16)}
	for i := 10; i < 16; i++ {
		half.States[i] = eval.Absent
	}
	to := func(v eval.Value, offset int64) eval.Value {
		return eval.Value{Bytes: make([]byte, 8), States: make([]eval.State, 8), Pointee: &eval.Pointee{Value: v, Offset: offset}}
	}
	for _, tt := range []struct {
		t    vars.TypeID
		v    eval.Value
		want string
	}{
		{base("complex int", 8, vars.ComplexInt), eval.Value{Bytes: []byte{3, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff}}, "3-4i"},
		{base("other", 8, vars.ComplexInt), eval.Value{Bytes: words(3)}, "3"},
		{base("long double", 16, vars.Float), half, "0.33333333333333333334"},
		{base("_Decimal64", 8, vars.DecimalFloat), eval.Value{Bytes: words(0x31a0000000000023)}, "0x31a0000000000023"},
		{null, eval.Value{Why: "the size of the type is not known"}, "nullptr"},
		{tCharPtr, to(eval.Value{Bytes: []byte("label\x00")}, 0), `<no address> -> "label"`},
		{tCharPtr, to(eval.Value{Bytes: []byte("label\x00")}, 2), `<no address> -> "bel"`},
		{tCharPtr, to(eval.Value{Bytes: []byte("label\x00")}, -1), `<no address> -> ""`},
		{tCharPtr, to(eval.Value{Bytes: make([]byte, 8), InMemory: true, Address: 0x1000}, 5), `<no address> -> "m\"z"`},
		{intPtr, to(eval.Value{Bytes: make([]byte, 8), InMemory: true, Address: 0x1000}, 4), `<no address> -> 2049076529`},
	} {
		v := &eval.Variable{Variable: &vars.Variable{Name: "v", Type: tt.t}, Value: tt.v}
		if got := New(Options{}).Text(f, v); got != tt.want {
			t.Errorf("%s: got %s, want %s", f.Info.TypeName(tt.t), got, tt.want)
		}
	}
}

// Values that a pattern names are neither in the text nor in the bytes.
func TestRedact(t *testing.T) {
	b := append(words(1), "hunter2\x00"...)
	p := New(Options{Redact: []string{"pass*"}})
	v := variable(tAccount, "a", b)
	if got := p.Text(testFrame(), v); got != `{id = {x = 1, y = 0}, Password = <redacted>}` {
		t.Error(got)
	}
	n := p.Tree(testFrame(), v)
	if n.Bytes != "0100000000000000"+strings.Repeat("..", 8) || n.Members[1].Bytes != strings.Repeat("..", 8) || n.Members[1].Value != redacted || n.Members[1].Members != nil {
		t.Errorf("%+v", n)
	}
	if got := p.Text(testFrame(), variable(tInt, "PassCode", []byte{1, 0, 0, 0})); got != redacted {
		t.Error(got)
	}
	if got := New(Options{Redact: []string{"point"}}).Text(testFrame(), v); !strings.HasPrefix(got, "{id = <redacted>") {
		t.Error(got)
	}
}

func TestRules(t *testing.T) {
	if len(rules()) < 30 {
		t.Errorf("%d rules", len(rules()))
	}
	for _, bad := range []string{"a", "a  other data=x", "a  string", "a  string data=x colour=y", "a  sequence data=x element=y"} {
		if _, err := parseRules(bad); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
	if maps := newPattern("std::*map<*"); !maps.matches("std::multimap<int>") || maps.matches("std::set<int>") || newPattern("string").matches("string2") {
		t.Error("matches")
	}
	if got := argument("Vec<(u8, A<B, C>), Global>", 1); got != "(u8, A<B, C>)" {
		t.Error(got)
	}
}

// Elements are named by their indices: from the lower bound on, and Fortran's first index is the innermost.
func TestElementNames(t *testing.T) {
	f := testFrame()
	bound := func(n int64) vars.Bound { return vars.Bound{Kind: vars.ConstBound, Value: n} }
	dims := []vars.Dim{{Lower: bound(1), Upper: bound(2)}, {Lower: bound(-1), Upper: bound(1)}}
	for _, tt := range []struct{ elem, want, text string }{
		{"int", "[1][-1]", "{{0, 1, 2}, {3, 4, 5}}"}, {"integer(kind=4)", "[-1][1]", "{{0, 1}, {2, 3}, {4, 5}}"},
	} {
		f.Info.Types = append(f.Info.Types, vars.Type{Kind: vars.Base, Name: tt.elem, Size: 4, HasSize: true, Encoding: vars.Signed})
		f.Info.Types = append(f.Info.Types, vars.Type{Kind: vars.Array, Elem: vars.TypeID(len(f.Info.Types) - 1), Parts: &vars.Parts{Dims: dims}})
		v := variable(vars.TypeID(len(f.Info.Types)-1), "v", words(1<<32, 3<<32|2, 5<<32|4))
		n := New(Options{}).Tree(f, v)
		if got := n.Members[0].Name + n.Members[0].Members[0].Name; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.elem, got, tt.want)
		}
		if n.Value != tt.text {
			t.Errorf("%s: got %s, want %s", tt.elem, n.Value, tt.text)
		}
	}
}

// The search for members in base classes is limited: here each of many classes has as many.
func TestManyBases(t *testing.T) {
	const n = 3000
	for _, name := range []string{"std::basic_string<char>", "std::tuple<int>", "Plain"} {
		f := testFrame()
		first := vars.TypeID(len(f.Info.Types))
		many := vars.Type{Kind: vars.Struct, Name: name, Size: 8, HasSize: true, Members: make([]vars.Member, n)}
		for i := range many.Members {
			many.Members[i] = vars.Member{Base: true, Type: first + 1}
		}
		f.Info.Types = append(f.Info.Types, many, vars.Type{Kind: vars.Struct, Name: "base", Size: 8, HasSize: true, Members: []vars.Member{{Base: true, Type: first}}})
		s := New(Options{}).start(f)
		s.text(eval.Value{Bytes: make([]byte, 8)}, first, 0)
		if least := -maxLooked - 10*n; s.looks < least {
			t.Errorf("%s: %d members were looked at, want at most %d", name, maxLooked-s.looks, maxLooked-least)
		}
	}
}

// The search for the variants of a value is limited, too.
func TestManyVariants(t *testing.T) {
	f := testFrame()
	id := vars.TypeID(len(f.Info.Types))
	many := vars.Type{Kind: vars.Struct, Name: "E", Size: 8, HasSize: true, Parts: &vars.Parts{}}
	for range 3000 { // each in the one before it
		many.Parts.Variants = append(many.Parts.Variants, vars.VariantPart{
			Discr:    vars.Member{Type: tInt},
			Variants: []vars.Variant{{Ranges: []vars.DiscrRange{{High: 9}}, Members: []vars.Member{{Name: "v", Type: id}}}},
		})
	}
	f.Info.Types = append(f.Info.Types, many)
	s := New(Options{}).start(f)
	got := s.text(eval.Value{Bytes: make([]byte, 8)}, id, 0)
	if s.looks >= 0 || s.looks < -10 || strings.Count(got, "...") > 8 {
		t.Errorf("%d variants were looked at, want %d: %.100s", maxLooked-s.looks, maxLooked, got)
	}
	if used := maxLookedAll - s.allLooks; used != maxLooked-s.looks {
		t.Errorf("%d of all values", used)
	}
	s.allLooks = 0
	if got := s.start(f).text(eval.Value{Bytes: make([]byte, 8)}, id, 0); got != "E{...}" {
		t.Errorf("after the limit of all values: %.100s", got)
	}
}

// Types that a rule shows by one member, or as a text, however deep the member is.
func TestRulesOfMembers(t *testing.T) {
	f := testFrame()
	add := func(x vars.Type) vars.TypeID {
		f.Info.Types = append(f.Info.Types, x)
		return vars.TypeID(len(f.Info.Types) - 1)
	}
	word := add(vars.Type{Kind: vars.Base, Name: "usize", Size: 8, HasSize: true, Encoding: vars.Unsigned})
	flag := add(vars.Type{Kind: vars.Base, Name: "bool", Size: 1, HasSize: true, Encoding: vars.Boolean})
	ints := add(vars.Type{Kind: vars.Pointer, Elem: tInt})
	record := func(name string, members ...vars.Member) vars.TypeID {
		return add(vars.Type{Kind: vars.Struct, Name: name, Size: uint64(8 * len(members)), HasSize: true, Members: members})
	}
	one := func(name string, id vars.TypeID) vars.Member { return vars.Member{Name: name, Type: id} }
	second := func(name string, id vars.TypeID) vars.Member { return vars.Member{Name: name, Type: id, Offset: 8} }
	for _, tt := range []struct {
		t    vars.TypeID
		b    []byte
		want string
	}{
		{record("std::atomic<bool>", one("_M_base", record("std::__atomic_base<bool>", one("_M_i", flag)))), words(1), "true"},
		{record("std::valarray<int>", one("_M_size", word), second("_M_data", ints)), words(2, 0x1000), "[861608801, 2049076529]"},
		{record("std::_Deque_iterator<int, int&, int*>", one("_M_cur", ints), second("_M_first", ints)), words(0x1000, 0x1000), "0x1000"},
		{record("std::reverse_iterator<int*>", one("current", ints)), words(0x1000), "0x1000"},
		{record("std::thread::id", one("_M_thread", word)), words(5), "5"},
		{record("&std::path::Path", one("data_ptr", tCharPtr), second("length", word)), words(0x1000, 1), `"a"`},
		{record("&std::ffi::os_str::OsStr", one("data_ptr", tCharPtr), second("length", word)), words(0x1000, 1), `"a"`},
		{record("&core::ffi::c_str::CStr", one("data_ptr", tCharPtr), second("length", word)), words(0x1005, 3), `"m\"z"`},
		{record("core::sync::atomic::AtomicPtr<i32>", one("p", record("core::cell::UnsafeCell<*mut i32>", one("value", ints)))), words(0x1000), "0x1000"},
	} {
		if got := New(Options{}).Text(f, variable(tt.t, "v", tt.b)); got != tt.want {
			t.Errorf("%s: got %s, want %s", f.Info.TypeName(tt.t), got, tt.want)
		}
	}
	for name, want := range map[string]bool{"T": true, "Self": true, "app::Dog": false, "i32": false, "": false, "Vec<u8>": false} {
		if isParameter(name) != want {
			t.Errorf("isParameter(%q)", name)
		}
	}
}

// Elements are where a descriptor says.
func TestElementsByAxes(t *testing.T) {
	for _, tt := range []struct {
		axes []eval.Axis
		want string // and the first element of the last row
		last string
		at   uint64
	}{
		{[]eval.Axis{{First: 1, Count: 3, Step: 8}}, "{0, 2, 4}", "[3]", 16},
		{[]eval.Axis{{First: 1, Count: 2, Step: 12}, {First: 5, Count: 2, Step: 4}}, "{{0, 1}, {3, 4}}", "[2]", 12},
		{[]eval.Axis{{Count: 9, Step: 20}}, "{0, 5}", "[1]", 20},
		{[]eval.Axis{{Count: 1, Step: 1 << 40}}, "{}", "", 0},
		{[]eval.Axis{{Count: 2, Step: 4}, {Count: 1 << 60, Step: 4}}, "{}", "", 0},
	} {
		f := testFrame()
		f.Info.Types = append(f.Info.Types, vars.Type{Kind: vars.Array, Elem: tInt, Parts: &vars.Parts{Dims: make([]vars.Dim, len(tt.axes))}})
		id := vars.TypeID(len(f.Info.Types) - 1)
		for i := range tt.axes {
			f.Info.Types[id].Dims()[i].Count = vars.Bound{Kind: vars.ConstBound, Value: 1}
		}
		v := variable(id, "v", words(1<<32, 3<<32|2, 5<<32|4))
		v.Axes = tt.axes
		n := New(Options{}).Tree(f, v)
		if n.Value != tt.want {
			t.Errorf("%v: got %s, want %s", tt.axes, n.Value, tt.want)
		}
		if k := len(n.Members); (k > 0) != (tt.last != "") || k > 0 && (n.Members[k-1].Name != tt.last || n.Members[k-1].Offset != tt.at) {
			t.Errorf("%v: got %+v", tt.axes, n.Members)
		}
	}
}
