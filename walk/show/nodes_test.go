package show

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// nodeTypes are containers with nodes as compilers describe them, without what rules do not need: a set, a map, a list,
// an unordered set, a forward list, a vector of bits, and two maps of Go.
const nodeTypes = `INFO VAR 1 all full
INFO VAR T b#4 "int %5
INFO VAR T p0#8
INFO VAR T s#20 "std::_Rb_tree_node_base .1:_M_color .2@8:_M_parent .2@10:_M_left .2@18:_M_right
INFO VAR T s#30 "Tree_impl .3@8:_M_header .5@28:_M_node_count
INFO VAR T b#8 "unsigned~long %7
INFO VAR T c#30 "Tree .4:_M_impl
INFO VAR T c#30 "std::set<int,~std::less<int>,~std::allocator<int>~> .6:_M_t
INFO VAR T c#30 "std::map<int,~int,~std::less<int>,~std::allocator<std::pair<const~int,~int>~>~> .6:_M_t
INFO VAR T s#8 "std::pair<const~int,~int> .1:first .1@4:second
INFO VAR T c#18 "std::__cxx11::list<int,~std::allocator<int>~> .b:_M_impl
INFO VAR T s#18 "List_impl .c:_M_node
INFO VAR T s#18 "List_node .2:_M_next .2@8:_M_prev .5@10:_M_size
INFO VAR T c#38 "std::unordered_set<int,~std::hash<int>,~std::equal_to<int>,~std::allocator<int>~> .e:_M_h
INFO VAR T s#38 "Hashtable .f@10:_M_before_begin .5@18:_M_element_count
INFO VAR T s#8 "Hash_node .2:_M_nxt
INFO VAR T c#8 "std::forward_list<int,~std::allocator<int>~> .11:_M_impl
INFO VAR T s#8 "Forward_impl .12:_M_head
INFO VAR T s#8 "Forward_node .2:_M_next
INFO VAR T c#28 "std::vector<bool,~std::allocator<bool>~> .14:_M_impl
INFO VAR T s#28 "Bits_impl .15:_M_start .15@10:_M_finish
INFO VAR T s#10 "Bit_iterator .2:_M_p .16@8:_M_offset
INFO VAR T b#4 "unsigned~int %7
INFO VAR T t18 "map[int]int
INFO VAR T p19#8
INFO VAR T s#30 "map<int,int> .5:used .5@8:seed .1a@10:dirPtr .1b@18:dirLen
INFO VAR T p1c#8
INFO VAR T b#8 "int64 %5
INFO VAR T p1d#8
INFO VAR T s#20 "table<int,int> .5:used .1e@10:groups
INFO VAR T s#10 "groupReference<int,int> .1f:data .5@8:lengthMask
INFO VAR T p20#8
INFO VAR T s#48 "group<int,int> .5:ctrl .21@8:slots
INFO VAR T a22 [;;8;
INFO VAR T s#8 "slot<int,int> .1:key .1@4:elem
INFO VAR E a:100 a:200 a:300 a:400 a:500 a:600 a:700 a:710
INFO VAR V l7:set l8:map la:list ld:unordered l10:forward l13:bits l17:small l17:large
INFO VAR G 1,,,,,,,
INFO VAR F 0 40 0 1=1=2=3=4=5=6=7=8
`

// nodeMemory has values of these types.
func nodeMemory() []byte {
	m := make([]byte, 0x1000)
	put := func(at int, values ...uint64) { copy(m[at:], words(values...)) }
	for _, at := range []int{0x100, 0x200} {
		put(at+8, 0, 0x1800, 0x1840, 0x1880, 3) // the header's colour, root, first and last; the count
	}
	put(0x800, 0, 0x1108, 0x1840, 0x1880, 2<<32|20)
	put(0x840, 0, 0x1800, 0, 0, 1<<32|10)
	put(0x880, 0, 0x1800, 0, 0, 3<<32|30)
	put(0x300, 0x18c0, 0x18e0, 2)
	put(0x8c0, 0x18e0, 0x1300, 7)
	put(0x8e0, 0x1300, 0x18c0, 8)
	put(0x410, 0x1900, 2)
	put(0x500, 0x1900)
	put(0x900, 0x1910, 5, 0, 6)
	put(0x600, 0x1920, 0, 0x1920, 3)
	put(0x920, 0b101)
	put(0x700, 0x1940, 0, 0x1a00)
	put(0x940, 2, 0, 0x1980, 0)                                   // a group instead of a directory
	put(0x980, 0x8080_8080_02_80_01_80, 0, 10<<32|1, 0, 30<<32|3) // slots 1 and 3 are full
	put(0xa00, 2, 0, 0x1a40, 2)
	put(0xa40, 0x1a60, 0x1a60) // one table twice
	put(0xa60, 2, 0, 0x1980, 0)
	return m
}

// Containers of nodes are shown by their elements.
func TestNodes(t *testing.T) {
	want := []string{
		"{10, 20, 30}", "{[10] = 1, [20] = 2, [30] = 3}", "{7, 8}", "{5, 6}", "{5, 6}", "{true, false, true}", "map[1:10 3:30]", "map[1:10 3:30]",
	}
	texts := shown(t, []byte(nodeTypes), nodeMemory())
	if len(texts) != 2*len(want) {
		t.Fatalf("%d texts: %q", len(texts), texts)
	}
	for i, w := range want {
		if got := texts[2*i+1]; got != w {
			t.Errorf("got %s, want %s", got, w)
		}
	}
}

// Where nodes form a circle, lead nowhere or are fewer than the count, the list of elements ends; no text is long.
func TestNodesDamaged(t *testing.T) {
	for _, tt := range []struct {
		at, value int
		want      string
	}{
		{0x128, 9, "{10, 20, 30, <damaged: it has 9 elements>}"}, {0x128, 0, "{}"}, {0x118, 0, "{<damaged: it has 3 elements>}"}, {0x118, 0x9000, "{<unavailable: the dump does not have the memory at 0x9020>, <unavailable: it has 3 elements>}"}, {0x850, 0x1840, "{10, "}, {0x858, 0x1840, "{10, 10, 10}"},
		{0x310, 3, "{7, 8, <damaged: it has 3 elements>}"}, {0x8e0, 0x18c0, "{7, 8}"}, {0x8c0, 0x9000, "{7, <unavailable: "},
		{0x910, 0x1900, "{5, 6, 5, "}, {0x418, 1 << 40, "1099511627776 elements {5, 6, <damaged"},
		{0x610, 0x1910, "<damaged"}, {0x618, 65, "<damaged"}, {0x610, 0x1928, "67 elements {true, false, true, false, "},
		{0x940, 3, "map[1:10 3:30 <damaged: it has 3 elements>]"}, {0x950, 0x9000, "map[<damaged: it has 2 elements>]"},
		{0xa18, 1 << 50, "map[1:10 3:30"}, {0xa78, 1 << 60, "map[1:10 3:30"}, {0x700, 0, "nil"}, {0x940, 0, "map[]"},
	} {
		m := nodeMemory()
		copy(m[tt.at:], words(uint64(tt.value)))
		texts := shown(t, []byte(nodeTypes), m)
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, tt.want) }) {
			t.Errorf("%#x at %#x: got %q, want %s", tt.value, tt.at, texts, tt.want)
		}
		for _, text := range texts {
			if len(text) > 3000 {
				t.Errorf("%#x at %#x: a text of %d bytes", tt.value, tt.at, len(text))
			}
		}
	}
}

// A number deep in structures does not make an element of a container wide; one of sixteen bytes does.
func TestWideElements(t *testing.T) {
	for size, want := range map[uint64]bool{8: false, 16: true} {
		in := &vars.Info{Types: []vars.Type{{}, {Kind: vars.Base, Name: "n", Size: size, HasSize: true}}}
		for i := range 20 {
			in.Types = append(in.Types, vars.Type{Kind: vars.Struct, Members: []vars.Member{{Base: i%2 == 0, Type: vars.TypeID(i + 1)}}})
		}
		s := New(Options{}).start(&eval.Frame{Arch: arch.X86_64, Info: in})
		if got := s.isWide(vars.TypeID(len(in.Types)-1), maxNested); got != want {
			t.Errorf("%d bytes: %v, want %v", size, got, want)
		}
	}
}

// A pointer to a member function has an address, or the offset of a virtual one.
func TestMemberFunctionPointers(t *testing.T) {
	in := &vars.Info{Types: []vars.Type{{}, {Kind: vars.MemberPtr, Size: 16, HasSize: true}}}
	memory := dump.NewMemory(binary.LittleEndian, nil)
	for _, tt := range []struct {
		arch *arch.Arch
		a, b uint64
		want string
	}{
		{arch.X86_64, 0x1000, 0, "0x1000 <sym>"}, {arch.X86_64, 0, 0, "0x0"}, {arch.X86_64, 1, 0, "virtual function at offset 0 of the table"},
		{arch.X86_64, 0x11, 8, "virtual function at offset 16 of the table, this adjustment 8"},
		{arch.ARM64, 0x1000, 16, "0x1000 <sym>, this adjustment 8"}, {arch.ARM64, 16, 1, "virtual function at offset 16 of the table"},
	} {
		f := &eval.Frame{Arch: tt.arch, Memory: &memory, Info: in, Func: &vars.Func{}}
		p := New(Options{Symbol: func(uint64) string { return "sym" }})
		if got := p.Text(f, variable(1, "v", words(tt.a, tt.b))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.arch.Name, got, tt.want)
		}
	}
}

// The language of the function decides how a value is shown whose type exists in several languages.
func TestLanguageOfFunction(t *testing.T) {
	const types = `INFO VAR 1 all full
INFO VAR T b#1 "bool %2
INFO VAR T a1 [;;2;
INFO VAR T s#2 "P .1:x .1@1:y
INFO VAR T p3#8
INFO VAR T a1 [;;;
INFO VAR T f#8 "func()
INFO VAR T b#0 "()
INFO VAR E a:100 a:200 a:300
INFO VAR V l2:a l3:p l4:to l5:open l6:f l7:unit
INFO VAR G 1,,,,,
INFO VAR L LETTER
INFO VAR F 0 40 0 1=1=1=3=1=2=1
`
	m := make([]byte, 0x1000)
	m[0x100] = 1
	copy(m[0x200:], words(0x1300))
	for letter, want := range map[string][]string{
		"c": {"{true, false}", "{x = true, y = false}", "0x0", "{...}"},
		"x": {"{true, false}", "{x = true, y = false}", "0x0", "{...}"},
		"-": {"{true, false}", "{x = true, y = false}", "0x0", "{...}"},
		"r": {"[true, false]", "P {x: true, y: false}", "0x0", "[...]", "0x1300 <sym>", "()"},
		"g": {"[true false]", "{x:true y:false}", "nil", "[...]", "0x1300 <sym>"},
	} {
		texts := shown(t, []byte(strings.Replace(types, "LETTER", letter, 1)), m)
		for i, w := range want {
			if got := texts[2*i+1]; got != w {
				t.Errorf("%s: got %s, want %s", letter, got, w)
			}
		}
	}
}
