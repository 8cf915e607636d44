package show

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// dynamicFrame has values, at 0x1000, whose types only names of functions reveal, and a tree of two levels.
func dynamicFrame() (*eval.Frame, map[string]vars.TypeID) {
	in, ids := &vars.Info{Types: []vars.Type{{}}}, map[string]vars.TypeID{}
	add := func(name string, t vars.Type) vars.TypeID {
		if t.Kind == vars.Struct || t.Kind == vars.Class || t.Kind == vars.Union {
			t.Name = name
		}
		in.Types = append(in.Types, t)
		ids[name] = vars.TypeID(len(in.Types) - 1)
		return ids[name]
	}
	array := func(name string, elem vars.TypeID, n int64) vars.TypeID {
		return add(name, vars.Type{Kind: vars.Array, Elem: elem, Parts: &vars.Parts{Dims: []vars.Dim{{Count: vars.Bound{Kind: vars.ConstBound, Value: n}}}}})
	}
	record := func(kind vars.TypeKind, name string, size uint64, members ...vars.Member) vars.TypeID {
		return add(name, vars.Type{Kind: kind, Size: size, HasSize: true, Members: members})
	}
	num := add("u32", vars.Type{Kind: vars.Base, Name: "u32", Size: 4, HasSize: true, Encoding: vars.Unsigned})
	word := add("usize", vars.Type{Kind: vars.Base, Name: "usize", Size: 8, HasSize: true, Encoding: vars.Unsigned})
	fn := add("fn", vars.Type{Kind: vars.Function})
	code := add("*fn", vars.Type{Kind: vars.Pointer, Elem: fn})
	record(vars.Struct, "app::Dog", 8, vars.Member{Name: "age", Type: num}, vars.Member{Name: "id", Type: num, Offset: 4})
	record(vars.Class, "std::any", 16, vars.Member{Name: "_M_manager", Type: code}, vars.Member{Name: "_M_storage", Type: word, Offset: 8})
	base := record(vars.Struct, "std::_Base_bitset<1>", 8, vars.Member{Name: "_M_w", Type: word})
	record(vars.Class, "std::bitset<5>", 8, vars.Member{Base: true, Type: base})
	wide := record(vars.Struct, "std::_Base_bitset<2>", 16, vars.Member{Name: "_M_w", Type: array("words", word, 2)})
	record(vars.Class, "std::bitset<70>", 16, vars.Member{Base: true, Type: wide})
	table := add("*vtable", vars.Type{Kind: vars.Pointer, Name: "&[usize; 4]", Elem: array("vtable", word, 4)})
	record(vars.Struct, "&dyn app::Speak", 16, vars.Member{Name: "pointer", Type: code}, vars.Member{Name: "vtable", Type: table, Offset: 8})
	record(vars.Class, "std::span<int, 2ul>", 8, vars.Member{Name: "_M_ptr", Type: add("*u32", vars.Type{Kind: vars.Pointer, Elem: num})})

	dangling := record(vars.Struct, "core::mem::manually_drop::ManuallyDrop<u32>", 4, vars.Member{Name: "value", Type: num})
	slot := record(vars.Union, "core::mem::maybe_uninit::MaybeUninit<u32>", 4, vars.Member{Name: "value", Type: dangling})
	leaf := record(vars.Struct, "btree::LeafNode<u32, u32>", 24, vars.Member{Name: "keys", Type: array("keys", slot, 2)},
		vars.Member{Name: "vals", Type: array("vals", slot, 2), Offset: 8}, vars.Member{Name: "len", Type: num, Offset: 16})
	node := add("*leaf", vars.Type{Kind: vars.Pointer, Elem: leaf})
	record(vars.Struct, "btree::InternalNode<u32, u32>", 48, vars.Member{Name: "data", Type: leaf}, vars.Member{Name: "edges", Type: array("edges", node, 3), Offset: 24})
	some := record(vars.Struct, "Some", 16, vars.Member{Name: "__0", Type: record(vars.Struct, "NodeRef", 16,
		vars.Member{Name: "node", Type: record(vars.Struct, "NonNull", 8, vars.Member{Name: "pointer", Type: node})}, vars.Member{Name: "height", Type: word, Offset: 8})})
	root := record(vars.Struct, "Option<NodeRef>", 16)
	in.Types[root].AddParts().Variants = []vars.VariantPart{{Discr: vars.Member{Type: word}, Variants: []vars.Variant{
		{Ranges: []vars.DiscrRange{{}}}, {Members: []vars.Member{{Name: "Some", Type: some}}},
	}}}
	record(vars.Struct, "alloc::collections::btree::map::BTreeMap<u32, u32>", 24, vars.Member{Name: "root", Type: root}, vars.Member{Name: "length", Type: word, Offset: 16})

	m := make([]byte, 0x400)
	put := func(at int, all ...uint64) { copy(m[at:], words(all...)) }
	put(0x000, 3|9<<32)                            // app::Dog
	put(0x040, 0, 8, 4, 0xa00)                     // its table
	put(0x080, 0xb00, 99, 4)                       // one of another size
	put(0x100, 1|2<<32, 10|20<<32, 2)              // a leaf with 1: 10, 2: 20
	put(0x120, 7, 70, 1)                           // a leaf with 7: 70
	put(0x140, 5, 50, 1, 0x1100, 0x1120, 0xffffff) // their parent, with 5: 50
	memory := dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x1000, Data: m}})
	return &eval.Frame{Arch: arch.X86_64, Memory: &memory, Info: in, Func: &vars.Func{}}, ids
}

// The types of values are found by the names of functions to which the values refer; if these are not enough, no type
// is shown.
func TestDynamicTypes(t *testing.T) {
	f, ids := dynamicFrame()
	names := map[uint64]string{
		0xa00: "app!<app::Dog as app::Speak>::speak", 0xb00: "app!core::ptr::drop_in_place::<app::Dog>",
		0xc00: "app!std::any::_Manager_internal<u32>::_S_manage(std::any::_Op)", 0xd00: "app!std::any::_Manager_external<app::Dog>::_S_manage()",
		0xd08: "app!std::any::_Manager_external<app::Dog>::_S_manage() + 0x8", 0xe00: "app!std::any::_Manager_internal<Gone>::_S_manage()",
	}
	printer := New(Options{Symbol: func(addr uint64) string { return names[addr] }})
	const tree = "alloc::collections::btree::map::BTreeMap<u32, u32>"
	for _, tt := range []struct {
		name  string
		words []uint64
		want  string
	}{
		{"std::any", []uint64{0, 0}, "empty"},
		{"std::any", []uint64{0xc00, 42}, "[u32] 42"},
		{"std::any", []uint64{0xd00, 0x1000}, "[app::Dog] Dog {age: 3, id: 9}"},
		{"std::any", []uint64{0xe00, 42}, "[Gone] {...}"},
		{"std::any", []uint64{0xd08, 0x1000}, "{manager 0xd08 <app!std::any::_Manager_external<app::Dog>::_S_manage() + 0x8>}"},
		{"std::bitset<5>", []uint64{0x6}, "00110"},
		{"std::bitset<70>", []uint64{1 << 63, 0x21}, "bits {63, 64, 69}"},
		{"&dyn app::Speak", []uint64{0x1000, 0x1040}, "0x1000: Dog {age: 3, id: 9}"},
		{"&dyn app::Speak", []uint64{0x1000, 0x1080}, "0x1000 (app::Dog)"},     // the table has another size
		{"&dyn app::Speak", []uint64{0x1000, 0x1100}, "0x1000, vtable 0x1100"}, // no names
		{"&dyn app::Speak", []uint64{0x1000, 0x9000}, "0x1000, vtable 0x9000"}, // not in the dump
		{"std::span<int, 2ul>", []uint64{0x1000}, "[3, 9]"},
		{tree, []uint64{0x1100, 0, 2}, "{1: 10, 2: 20}"},
		{tree, []uint64{0x1140, 1, 4}, "{1: 10, 2: 20, 5: 50, 7: 70}"},
		{tree, []uint64{0x1140, 1, 5}, "{1: 10, 2: 20, 5: 50, 7: 70, <damaged: it has 5 elements>}"},
		{tree, []uint64{0x1140, 2, 5}, "{<unavailable: it has 5 elements>}"}, // too high: an element is taken for a pointer
		{tree, []uint64{0x1140, 99, 5}, "{5 elements}"},
		{tree, []uint64{0, 0, 0}, "{}"},
	} {
		got := printer.Text(f, variable(ids[tt.name], "v", words(tt.words...)))
		if got != tt.want {
			t.Errorf("%s %x: got %s, want %s", tt.name, tt.words, got, tt.want)
		}
	}
}

// Floating-point types of one size have different formats.
func TestFloats(t *testing.T) {
	for _, tt := range []struct {
		name   string
		arch   *arch.Arch
		lo, hi uint64
		size   int
		want   string
	}{
		{"_Float128", arch.X86_64, 0, 0x3fff8 << 44, 16, "1.5"},
		{"real(kind=16)", arch.X86_64, 0, 0xbfff8 << 44, 16, "-1.5"},
		{"long double", arch.ARM64, 0x999999999999999a, 0x3fff199999999999, 16, "1.1"},
		{"__float128", arch.X86_64, 0, 0x7fff << 48, 16, "+Inf"},
		{"__float128", arch.X86_64, 1, 0xffff << 48, 16, "NaN"},
		{"__float128", arch.X86_64, 0, 1 << 63, 16, "-0"},
		{"long double", arch.X86_64, 0xc000000000000000, 0xbfff, 16, "-1.5"},
		{"long double", arch.X86_64, 1 << 63, 0xffff, 16, "-Inf"},
		{"long double", arch.PPC64, 0, 0x3ff8 << 48, 16, "0x3ff80000000000000000000000000000"},
		{"_Float16", arch.X86_64, 0x3e00, 0, 2, "1.5"},
		{"_Float16", arch.X86_64, 0x8001, 0, 2, "-5.9604645e-08"},
		{"_Float16", arch.X86_64, 0xfc00, 0, 2, "-Inf"},
		{"__bf16", arch.X86_64, 0x3fc0, 0, 2, "1.5"},
		{"double", arch.X86_64, math.Float64bits(0.1), 0, 8, "0.1"},
	} {
		s := &showing{f: &eval.Frame{Arch: tt.arch}}
		if got := s.float(&vars.Type{Name: tt.name}, tt.lo, tt.hi, tt.size); got != tt.want {
			t.Errorf("%s of %s, %d bytes: got %s, want %s", tt.name, tt.arch.Name, tt.size, got, tt.want)
		}
	}
}

// The target of a pointer is shown if it is a structure that the dump has.
func TestPointersToObjects(t *testing.T) {
	f, ids := dynamicFrame()
	f.Info.Types = append(f.Info.Types, vars.Type{Kind: vars.Pointer, Elem: ids["app::Dog"]})
	id := vars.TypeID(len(f.Info.Types) - 1)
	for addr, want := range map[uint64]string{0x1000: "0x1000: Dog {age: 3, id: 9}", 0x9000: "0x9000", 0x13fc: "0x13fc", 0: "0x0"} {
		if got := New(Options{}).Text(f, variable(id, "p", words(addr))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := New(Options{Redact: []string{"app::dog"}}).Text(f, variable(id, "p", words(0x1000))); got != "0x1000: "+redacted {
		t.Errorf("got %s", got)
	}
}

// Names of types leave out what the libraries add.
func TestPlainName(t *testing.T) {
	const text = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	for name, want := range map[string]string{
		text: "std::string",
		"const std::vector<" + text + ", std::allocator<" + text + " > > &":                  "const std::vector<std::string> &",
		"std::map<int, " + text + ", std::less<int>, std::allocator<std::pair<int, int> > >": "std::map<int, std::string>",
		"std::map<int, int, Less, std::allocator<std::pair<int, int> > >::iterator":          "std::map<int, int, Less>::iterator",
		"std::tuple<int, std::less<int> >":                                                   "std::tuple<int, std::less<int>>",
		"my::vector<int, std::allocator<int> >":                                              "my::vector<int, std::allocator<int>>",
		"alloc::vec::Vec<u8, alloc::alloc::Global>":                                          "alloc::vec::Vec<u8>",
		"core::option::Option<fn(i32) -> alloc::vec::Vec<u8>>":                               "core::option::Option<fn(i32) -> alloc::vec::Vec<u8>>",
		"std::function<void (int, std::vector<int, std::allocator<int> >)>":                  "std::function<void (int, std::vector<int, std::allocator<int> >)>",
		"A<(B)1, operator< >": "A<(B)1, operator< >",
		"map[string]int":      "map[string]int", "a > b": "a > b", "<": "<", "x<": "x<", ">><<((": ">><<((",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for n := range 100 {
		deep := ""
		for range n {
			deep += "a<"
		}
		if got := plainName(deep + "x"); len(got) > 10*len(deep)+10 {
			t.Errorf("%d: %s", n, fmt.Sprintf("%.100s", got))
		}
	}
}
