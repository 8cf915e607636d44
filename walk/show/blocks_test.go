package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// libraryTypes are types of libstdc++ and of Rust as compilers describe them, without what rules do not need.
// The variable l has type 2 at 0x1100, and so on: the n-th variable at 0x1000 + n*0x100.
const libraryTypes = `INFO VAR 1 all full
INFO VAR T b#4 "int %5
INFO VAR T c#50 "std::deque<int,~std::allocator<int>~> .b@0:_M_impl
INFO VAR T c#20 "std::variant<int,~std::string,~S> .c@0:_M_u .10@18:_M_index
INFO VAR T c#10 "std::tuple<int,~double,~char> .11@0^:
INFO VAR T c#20 "std::function<int(int)> .16@0^: .17@18:_M_invoker
INFO VAR T s#20 "alloc::collections::vec_deque::VecDeque<i32,~alloc::alloc::Global> .19@10:head .19@18:len .1a@0:buf
INFO VAR T p1#8
INFO VAR T p7#8
INFO VAR T s#20 "_Deque_iterator .7@0:_M_cur .7@8:_M_first .7@10:_M_last .8@18:_M_node
INFO VAR T s#18 "S .1@0:x .1@4:y
INFO VAR T s#50 "_Deque_impl .9@10:_M_start .9@30:_M_finish
INFO VAR T u#18 "_Variadic_union<int,~std::string,~S> .d@0:_M_first .e@0:_M_rest
INFO VAR T s#4 "_Uninitialized<int,~true> .1@0:_M_storage
INFO VAR T u#18 "_Variadic_union<std::string,~S> .1d@0:_M_first .f@0:_M_rest
INFO VAR T u#18 "_Variadic_union<S> .1e@0:_M_first
INFO VAR T b#1 "unsigned~char %8
INFO VAR T s#10 "_Tuple_impl<0,~int,~double,~char> .12@0^: .13@c^:
INFO VAR T s#10 "_Tuple_impl<1,~double,~char> .14@8^: .15@0^:
INFO VAR T s#4 "_Head_base<0,~int> .1@0:_M_head_impl
INFO VAR T s#1 "_Tuple_impl<2,~char> .18@0^:
INFO VAR T s#8 "_Head_base<1,~double> .1b@0:_M_head_impl
INFO VAR T s#18 "_Function_base .17@10:_M_manager
INFO VAR T p1c#8
INFO VAR T s#1 "_Head_base<2,~char> .10@0:_M_head_impl
INFO VAR T b#8 "usize %7
INFO VAR T s#10 "RawVec<i32> .1f@0:inner
INFO VAR T b#8 "double %4
INFO VAR T f1
INFO VAR T s#18 "_Uninitialized<std::string,~false> .20@0:_M_storage
INFO VAR T s#18 "_Uninitialized<S,~false> .21@0:_M_storage
INFO VAR T s#10 "RawVecInner .22@0:cap .23@8:ptr
INFO VAR T s#18 "__gnu_cxx::__aligned_membuf<std::string> .25@0:_M_storage
INFO VAR T s#18 "__gnu_cxx::__aligned_membuf<S> .25@0:_M_storage
INFO VAR T s#8 "UsizeNoHighBit .19@0:__0
INFO VAR T s#8 "Unique .24@0:pointer
INFO VAR T s#8 "NonNull .7@0:pointer
INFO VAR T a10 [;;18;
INFO VAR T b#4 "i32 %5
INFO VAR E a:100 a:200 a:300 a:400 a:500
INFO VAR V l2:queue l3:either l4:three l5:call l6:ring
INFO VAR G 1,,,,
INFO VAR F 0 40 0 1=1=2=3=4=5
`

// libraryMemory has values of these types.
func libraryMemory() []byte {
	m := make([]byte, 0x1000)
	put := func(at int, values ...uint64) { copy(m[at:], words(values...)) }
	// 130 ints in two blocks of 128, beginning at the third place of the first block.
	put(0x110, 0x1608, 0x1600, 0x1800, 0x1e00)
	put(0x130, 0x1810, 0x1800, 0x1a00, 0x1e08)
	put(0xe00, 0x1600, 0x1800)
	for i := range 256 {
		m[0x600+4*i] = byte(i)
	}
	put(0x200, 5<<32|4, 0, 0, 2)   // S{4, 5}
	put(0x300, 0x4004000000000000) // 2.5
	put(0x308, 7<<32|'k')
	put(0x400, 0, 0, 0x1111, 0x2222)
	put(0x500, 4, 0x1600, 3, 2) // room for 4 from 0x1600, two elements from the last place on
	return m
}

// Containers of several parts are shown as gdb's printers show them: by their elements.
func TestLibraryShapes(t *testing.T) {
	want := []string{
		"130 elements {2, 3, 4, ", "[2] {x = 4, y = 5}", "{7, 2.5, 107 'k'}", "calls 0x2222 <sym>", "[3, 0]",
	}
	texts := shown(t, []byte(libraryTypes), libraryMemory())
	if len(texts) != 2*len(want) {
		t.Fatalf("%d texts: %q", len(texts), texts)
	}
	for i, w := range want {
		if got := texts[2*i+1]; !strings.HasPrefix(got, w) {
			t.Errorf("got %s, want %s", got, w)
		}
	}
}

// Parts that do not fit together are not followed.
func TestLibraryShapesDamaged(t *testing.T) {
	for _, tt := range []struct {
		at, value int
		want      string
	}{
		{0x148, 0x1e04, "<damaged"}, {0x148, 0x1d00, "<damaged"}, {0x110, 0x1802, "<damaged"}, {0x148, -8, "<damaged"},
		{0x218, 0xff, "valueless"}, {0x218, 7, "<alternative 7>"}, {0x218, 0, "[0] 4"}, {0x218, 1, "[1] "},
		{0x410, 0, "empty"}, {0x518, 5, "<damaged"}, {0x510, 4, "<damaged"}, {0x518, 0, "[]"}, {0x500, -1, "["},
	} {
		m := libraryMemory()
		copy(m[tt.at:], words(uint64(tt.value)))
		texts := shown(t, []byte(libraryTypes), m)
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, tt.want) }) {
			t.Errorf("%#x at %#x: got %q, want %s", tt.value, tt.at, texts, tt.want)
		}
	}
	if texts := shown(t, []byte(libraryTypes), bytes.Repeat([]byte{0xff}, 0x1000)); len(texts) != 10 {
		t.Errorf("%q", texts)
	}
}

// ownedTypes are durations and weak pointers of libstdc++, in the form of libraryTypes.
const ownedTypes = `INFO VAR 1 all full
INFO VAR T b#8 "long~int %5
INFO VAR T s#8 "std::chrono::duration<long~int,~std::ratio<1,~1000>~> .1@0:__r
INFO VAR T s#8 "std::chrono::time_point<std::chrono::_V2::system_clock,~std::chrono::duration<long~int,~std::ratio<1l,~1l>~>~> .4@0:__d
INFO VAR T s#8 "std::chrono::duration<long~int,~std::ratio<1l,~1l>~> .1@0:__r
INFO VAR T s#8 "std::chrono::duration<long~int,~std::ratio<2,~3>~> .1@0:__r
INFO VAR T s#10 "std::weak_ptr<long~int> .7@0:_M_ptr .8@8:_M_refcount
INFO VAR T p1#8
INFO VAR T s#8 "std::__weak_count .9@0:_M_pi
INFO VAR T pa#8
INFO VAR T s#8 "std::_Sp_counted_base .b@0:_M_use_count .b@4:_M_weak_count
INFO VAR T b#4 "int %5
INFO VAR E a:100 a:200 a:300 a:400 a:500
INFO VAR V l2:ms l3:at l5:odd l6:kept l6:gone
INFO VAR G 1,,,,
INFO VAR F 0 40 0 1=1=2=3=4=5
`

// Durations have their unit, and what a weak pointer points to is shown only while something owns it.
func TestDurationsAndOwners(t *testing.T) {
	m := make([]byte, 0x1000)
	for at, values := range map[int][]uint64{
		0x100: {1500}, 0x200: {1700000000}, 0x300: {7}, 0x400: {0x1600, 0x1700}, 0x500: {0x1600, 0x1710}, 0x600: {77},
		0x700: {1<<32 | 2}, 0x710: {1 << 32},
	} {
		copy(m[at:], words(values...))
	}
	want := []string{"1500ms", "1700000000s", "7[2/3]s", "0x1600 <sym>: 77", "expired"}
	texts := shown(t, []byte(ownedTypes), m)
	if len(texts) != 2*len(want) {
		t.Fatalf("%d texts: %q", len(texts), texts)
	}
	for i, w := range want {
		if got := texts[2*i+1]; got != w {
			t.Errorf("got %s, want %s", got, w)
		}
	}
}

// hashTypes are a map and a set of Rust, in the form of libraryTypes.
const hashTypes = `INFO VAR 1 all full
INFO VAR T b#8 "usize %7
INFO VAR T s#20 "std::collections::hash::map::HashMap<u32,~u16,~S,~A> .3@0:base
INFO VAR T s#20 "hashbrown::map::HashMap<u32,~u16,~S,~A> .4@0:table
INFO VAR T s#20 "hashbrown::raw::RawTable<(u32,~u16),~A> .5@0:table
INFO VAR T s#20 "hashbrown::raw::RawTableInner .6@0:ctrl .1@8:bucket_mask .1@10:growth_left .1@18:items
INFO VAR T s#8 "core::ptr::non_null::NonNull<u8> .7@0:pointer
INFO VAR T p8#8
INFO VAR T b#1 "u8 %7
INFO VAR T s#8 "(u32,~u16) .a@0:__0 .b@4:__1
INFO VAR T b#4 "u32 %7
INFO VAR T b#2 "u16 %7
INFO VAR T s#20 "std::collections::hash::set::HashSet<u32,~S> .d@0:base
INFO VAR T s#20 "hashbrown::set::HashSet<u32,~S,~A> .e@0:map
INFO VAR T s#20 "hashbrown::map::HashMap<u32,~(),~S,~A> .f@0:table
INFO VAR T s#20 "hashbrown::raw::RawTable<(u32,~()),~A> .5@0:table
INFO VAR T s#4 "(u32,~()) .a@0:__0 .11@4:__1
INFO VAR T b#0 "() %7
INFO VAR E a:100 a:200 a:300
INFO VAR V l2:map lc:set l2:empty
INFO VAR G 1,,
INFO VAR L r
INFO VAR F 0 40 0 1=1=2=3
`

// The elements of a hashbrown table precede its control bytes, in reverse order.
func TestHashes(t *testing.T) {
	memory := func(changes map[int][]uint64) []byte {
		m := make([]byte, 0x1000)
		for at, values := range map[int][]uint64{
			0x100: {0x1600, 3, 0, 2}, 0x200: {0x1700, 3, 0, 3}, 0x300: {0x1800, 0, 0, 0},
			0x600: {0xff22ff11}, 0x5f8: {71<<32 | 70}, 0x5e8: {73<<32 | 72},
			0x700: {0x2222ff11}, 0x6f0: {8<<32 | 9, 77<<32 | 7},
		} {
			copy(m[at:], words(values...))
		}
		for at, values := range changes {
			copy(m[at:], words(values...))
		}
		return m
	}
	for _, c := range []struct {
		changes map[int][]uint64
		want    []string
	}{
		{nil, []string{"{70: 71, 72: 73}", "{77, 8, 9}", "{}"}},
		{map[int][]uint64{0x118: {9}}, []string{"{70: 71, 72: 73, <damaged: it has 9 elements>}", "{77, 8, 9}", "{}"}},
		{map[int][]uint64{0x108: {1 << 40}, 0x200: {0x90000000}}, []string{"{2 elements}", "{3 elements}", "{}"}},
		{map[int][]uint64{0x108: {^uint64(0)}, 0x318: {1}}, []string{"{2 elements}", "{77, 8, 9}", "{0: 0}"}},
	} {
		texts := shown(t, []byte(hashTypes), memory(c.changes))
		if len(texts) != 2*len(c.want) {
			t.Fatalf("%d texts: %q", len(texts), texts)
		}
		for i, w := range c.want {
			if got := texts[2*i+1]; got != w {
				t.Errorf("%v: got %s, want %s", c.changes, got, w)
			}
		}
	}
}
