package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

func TestNames(t *testing.T) {
	full := Options{Demangle: true}
	runCoreCases(t, []coreCase{
		{name: "linkage name, else plain name; MIPS's name for it", opts: full,
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						subprogram name/string="f" linkage_name/string="_Z1fv" low_pc/addr=0x1000 high_pc/data1=1
						subprogram name/string="g" MIPS_linkage_name/strp="_Z1gi" low_pc/addr=0x1100 high_pc/data1=1
						subprogram name/string="main" low_pc/addr=0x1200 high_pc/data1=1
						subprogram name/string="h" linkage_name/string="" low_pc/addr=0x1300 high_pc/data1=1
						subprogram name/string="i" linkage_name/strp="" low_pc/addr=0x1400 high_pc/data1=1
						subprogram name/string="j" linkage_name/strp="not mangled" low_pc/addr=0x1500 high_pc/data1=1
						subprogram low_pc/addr=0x1600 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 f()
				FUNC 1100 1 0 g(int)
				FUNC 1200 1 0 main
				FUNC 1300 1 0 h
				FUNC 1400 1 0 i
				FUNC 1500 1 0 not mangled
				FUNC 1600 1 0 <name omitted>`},
		{name: "not demangled",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						subprogram name/string="f" linkage_name/string="_Z1fv" low_pc/addr=0x1000 high_pc/data1=1`,
			want: `FUNC 1000 1 0 _Z1fv`},
		{name: "through specification and abstract_origin", opts: full,
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						namespace name/string="ns"
							class_type name/string="C"
								decl: subprogram name/string="m" declaration/flag_present
								mangled: subprogram name/string="n" linkage_name/strp="_ZN2ns1C1nEv" declaration/flag_present
						abs: subprogram specification/ref4=&decl inline/data1=1
						absn: subprogram specification/ref4=&mangled inline/data1=1
						subprogram abstract_origin/ref4=&abs low_pc/addr=0x1000 high_pc/data1=1
						subprogram abstract_origin/ref_addr=&absn low_pc/addr=0x1100 high_pc/data1=1
						subprogram specification/ref4=&decl low_pc/addr=0x1200 high_pc/data1=1
						subprogram name/string="own" specification/ref4=&decl low_pc/addr=0x1300 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 ns::C::m
				FUNC 1100 1 0 ns::C::n()
				FUNC 1200 1 0 ns::C::m
				FUNC 1300 1 0 ns::C::own`},
		{name: "a structure without a name is a lambda's where a constructor or destructor of it says so", opts: full,
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						subprogram name/string="main" low_pc/addr=0x1000 high_pc/data1=16
							structure_type
								subprogram name/string="<lambda>" declaration/flag_present
								op: subprogram name/string="operator()" declaration/flag_present
							structure_type
								subprogram name/string="operator()<>" low_pc/addr=0x1100 high_pc/data1=16
								subprogram name/string="~<lambda>" declaration/flag_present
							structure_type
								subprogram name/string="m" low_pc/addr=0x1200 high_pc/data1=16
									structure_type name/string="<lambda>"
										subprogram name/string="n" low_pc/addr=0x1300 high_pc/data1=16
							structure_type name/string="S"
								subprogram name/string="<lambda>" low_pc/addr=0x1400 high_pc/data1=16
						subprogram specification/ref4=&op low_pc/addr=0x1500 high_pc/data1=16`,
			want: `
				FUNC 1000 10 0 main
				FUNC 1100 10 0 main::{lambda}::operator()<>
				FUNC 1200 10 0 main::(anonymous struct)::m
				FUNC 1300 10 0 main::(anonymous struct)::m::<lambda>::n
				FUNC 1400 10 0 main::S::<lambda>
				FUNC 1500 10 0 main::{lambda}::operator()`},
		{name: "empty argument packs leave no commas", opts: full,
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						structure_type name/string="W<int, >"
							subprogram name/string="two<, int>" low_pc/addr=0x1000 high_pc/data1=16`,
			want: `FUNC 1000 10 0 W<int>::two<int>`},
		{name: "the symbol names a function without its clone's suffix; other suffixes, and dots within the name, stay", opts: full,
			in: `
			.symbol 0x1000 0x10 _Z1fi.isra.0.cold
			.symbol 0x1100 0x10 _Z1gv.actor
			.symbol 0x1200 0x10 _Z1gv.destroy
			.symbol 0x1300 0x10 _Z1gPZ1gvE10_Z1g.Frame.actor
			.symbol 0x1400 0x10 _ZN29_$LT$a..B$u20$as$u20$a..C$GT$1m17h0123456789abcdefE.llvm.77
			.symbol 0x1500 0x10 _Z1hv.5
			.debug_info
				unit 4
					compile_unit language/data1=4
						namespace name/string="ns"
							subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=16
							subprogram name/string="g" low_pc/addr=0x1100 high_pc/data1=16
							subprogram name/string="g" low_pc/addr=0x1200 high_pc/data1=16
							subprogram name/string="g" low_pc/addr=0x1300 high_pc/data1=16
							subprogram name/string="m" low_pc/addr=0x1400 high_pc/data1=16
							subprogram name/string="h" low_pc/addr=0x1500 high_pc/data1=16`,
			want: `
				FUNC 1000 10 0 f(int)
				FUNC 1100 10 0 g() [clone .actor]
				FUNC 1200 10 0 g() [clone .destroy]
				FUNC 1300 10 0 g(g()::_Z1g.Frame*) [clone .actor]
				FUNC 1400 10 0 <a::B as a::C>::m
				FUNC 1500 10 0 h() [clone .5]`},
		{name: "cycles, dangling and wrong references",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						self: subprogram abstract_origin/ref4=&self low_pc/addr=0x1000 high_pc/data1=1
						two: subprogram abstract_origin/ref4=&one low_pc/addr=0x1100 high_pc/data1=1
						one: subprogram specification/ref4=&two
						subprogram abstract_origin/ref4=0xffffff low_pc/addr=0x1200 high_pc/data1=1
						subprogram abstract_origin/ref_addr=1 low_pc/addr=0x1300 high_pc/data1=1
						subprogram abstract_origin/ref4=3 low_pc/addr=0x1400 high_pc/data1=1
						subprogram abstract_origin/ref_sig8=3 low_pc/addr=0x1500 high_pc/data1=1
						subprogram specification/GNU_ref_alt=3 low_pc/addr=0x1600 high_pc/data1=1
							inlined_subroutine abstract_origin/GNU_ref_alt=3 low_pc/addr=0x1600 high_pc/data1=1
						subprogram abstract_origin/ref4=&block low_pc/addr=0x1700 high_pc/data1=1
						block: lexical_block low_pc/addr=0x1000`,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 <name omitted>
				FUNC 1000 1 0 <name omitted>
				FUNC 1100 1 0 <name omitted>
				FUNC 1200 1 0 <name omitted>
				FUNC 1300 1 0 <name omitted>
				FUNC 1400 1 0 <name omitted>
				FUNC 1500 1 0 <name omitted>
				FUNC 1600 1 0 <name omitted>
				INLINE 0 0 0 0 1600 1
				FUNC 1700 1 0 <name omitted>
				! test: .debug_info+0xd: references in a circle, or more than 16 of them (lost: name of the function at 0xd)
				! test: .debug_info+0x1b: references in a circle, or more than 16 of them (lost: name of the function at 0x1b)
				! test: .debug_info+0x2e: reference to 0xffffff, where no DIE of a function can be read (lost: name of the function at 0x2e)
				! test: .debug_info+0x3c: reference to 0x1, where no DIE of a function can be read (lost: name of the function at 0x3c)
				! test: .debug_info+0x4a: reference to 0x3, where no DIE of a function can be read (lost: name of the function at 0x4a)
				! test: .debug_info+0x58: no type unit has the signature 0x3 (lost: name of the function at 0x58)
				! test: .debug_info+0x87: reference to 0x95, where no DIE of a function can be read (lost: name of the function at 0x87)`},
		{name: "nameless functions take the ELF symbol", opts: full,
			in: `
			.symbol 0x1000 1 _Z3symv
			.symbol 0x1101 1 other
			.debug_info
				unit 4
					compile_unit language/data1=4
						subprogram low_pc/addr=0x1000 high_pc/data1=1
						subprogram low_pc/addr=0x1100 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 sym()
				FUNC 1100 1 0 <name omitted>
				PUBLIC 1101 0 other`},
		{name: "a mangled symbol has more than scopes", opts: full,
			in: `
			.symbol 0x1000 1 _ZN2ns1fEi
			.symbol 0x1100 1 _ZN2ns5otherEi
			.symbol 0x1200 1 h
			.debug_info
				unit 4
					compile_unit language/data1=4
						namespace name/string="ns"
							subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=1
							subprogram name/string="g" low_pc/addr=0x1100 high_pc/data1=1
							subprogram name/string="h<int>" low_pc/addr=0x1200 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 ns::f(int)
				FUNC 1100 1 0 ns::other(int)
				FUNC 1200 1 0 ns::h<int>`},
		{name: "scopes of every kind",
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x21
						namespace name/string="a"
							namespace
								structure_type name/strp="S"
									union_type
										subprogram name/string="f1" low_pc/addr=0x1000 high_pc/data1=1
									enumeration_type
										subprogram name/string="f2" low_pc/addr=0x1001 high_pc/data1=1
									class_type
										subprogram name/string="f3" low_pc/addr=0x1002 high_pc/data1=1
									structure_type
										subprogram name/string="f4" low_pc/addr=0x1003 high_pc/data1=1
								module name/string="M"
									tag:0x38 name/string="I"
										subprogram name/string="f5" low_pc/addr=0x1004 high_pc/data1=1
							subprogram name/string="f6" low_pc/addr=0x1005 high_pc/data1=1
						subprogram name/string="f7" low_pc/addr=0x1006 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 a::(anonymous namespace)::S::(anonymous union)::f1
				FUNC 1001 1 0 a::(anonymous namespace)::S::(anonymous enum)::f2
				FUNC 1002 1 0 a::(anonymous namespace)::S::(anonymous class)::f3
				FUNC 1003 1 0 a::(anonymous namespace)::S::(anonymous struct)::f4
				FUNC 1004 1 0 a::(anonymous namespace)::M::I::f5
				FUNC 1005 1 0 a::f6
				FUNC 1006 1 0 f7`},
		{name: "local types: the function around them", opts: full,
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x21
						namespace name/string="a"
							decl: subprogram name/string="run" linkage_name/string="_ZN1a3runEv" declaration/flag_present
							plain: subprogram name/string="go" declaration/flag_present
						subprogram specification/ref4=&decl low_pc/addr=0x2000 high_pc/data1=16
							lexical_block
								structure_type name/string="L"
									subprogram name/string="operator()" low_pc/addr=0x1000 high_pc/data1=1
						subprogram specification/ref4=&plain
							structure_type name/string="L"
								structure_type name/string="K"
									subprogram name/string="f" low_pc/addr=0x1001 high_pc/data1=1
						subprogram
							structure_type name/string="L"
								subprogram name/string="g" low_pc/addr=0x1002 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 a::run()::L::operator()
				FUNC 1001 1 0 a::go::L::K::f
				FUNC 1002 1 0 L::g
				FUNC 2000 10 0 a::run()`},
		{name: "a type that is completed outside of its scope",
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x21
						namespace name/string="a"
							decl: structure_type name/string="S" declaration/flag_present
						structure_type specification/ref4=&decl
							subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=1`,
			want: `FUNC 1000 1 0 S::f`},
		{name: "Go, C and languages that are not known: names are whole", opts: full,
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=0x16
						subprogram name/string="main.(*T).M" low_pc/addr=0x1000 high_pc/data1=1
				unit 4
					compile_unit language/data1=0x0c
						structure_type name/string="s"
							subprogram name/string="cfunc" linkage_name/string="__GI_cfunc" low_pc/addr=0x1001 high_pc/data1=1
						subprogram linkage_name/string="only_asm" low_pc/addr=0x1002 high_pc/data1=1
				unit 4
					compile_unit
						namespace name/string="n"
							subprogram name/string="x" low_pc/addr=0x1003 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 main.(*T).M
				FUNC 1001 1 0 cfunc
				FUNC 1002 1 0 only_asm
				FUNC 1003 1 0 x`},
		{name: "Rust", opts: full,
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=0x1c
						namespace name/string="krate"
							subprogram name/strp="f<u8>" linkage_name/strp="_ZN5krate1f17h0123456789abcdefE" low_pc/addr=0x1000 high_pc/data1=1
							subprogram name/strp="g" linkage_name/strp="_RNvC6_123foo3bar" low_pc/addr=0x1001 high_pc/data1=1
							subprogram name/strp="h" low_pc/addr=0x1002 high_pc/data1=1`,
			want: `
				FUNC 1000 1 0 krate::f
				FUNC 1001 1 0 123foo::bar
				FUNC 1002 1 0 krate::h`},
		{name: "what cannot stand in a record",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						namespace name/string="a\nb"
							subprogram name/string="f\tg\r" low_pc/addr=0x1000 high_pc/data1=1
						subprogram name/string="   " low_pc/addr=0x1001 high_pc/data1=1
						subprogram name/string="\x01" low_pc/addr=0x1002 high_pc/data1=1
						o: subprogram name/string=" " inline/data1=1
						subprogram name/string="\xff\xfe" low_pc/addr=0x1003 high_pc/data1=1
							inlined_subroutine abstract_origin/ref4=&o low_pc/addr=0x1003 high_pc/data1=1`,
			want: "FILE 0 ??\nINLINE_ORIGIN 0 <name omitted>\nFUNC 1000 1 0 a?b::f?g?\nFUNC 1001 1 0 <name omitted>\nFUNC 1002 1 0 ?\nFUNC 1003 1 0 \ufffd\nINLINE 0 0 0 0 1003 1"},
	})
}

// References into other units, forwards and backwards, by LTO and dwz.
func TestNamesInOtherUnits(t *testing.T) {
	runCoreCases(t, []coreCase{
		{name: "forwards and backwards, short names of scopes",
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x21
						namespace name/string="n"
							class_type name/string="C"
								m: subprogram name/string="m" declaration/flag_present
								inl: subprogram name/strp="inl" inline/data1=1
						l: subprogram linkage_name/string="_Z1lv"
				unit 5
					compile_unit language/data1=0x1d name/string="<artificial>"
						subprogram abstract_origin/ref_addr=&m low_pc/addr=0x1000 high_pc/data1=8
							inlined_subroutine abstract_origin/ref_addr=&inl low_pc/addr=0x1002 high_pc/data1=1
							inlined_subroutine abstract_origin/ref_addr=&late low_pc/addr=0x1004 high_pc/data1=1
						subprogram abstract_origin/ref_addr=&l low_pc/addr=0x1100 high_pc/data1=8
						subprogram abstract_origin/ref_addr=&late low_pc/addr=0x1200 high_pc/data1=8
				unit 5
					compile_unit language/data1=0x21 name/string="late.cc"
						namespace name/string="late"
							late: subprogram specification/ref4=&spec
							spec: subprogram name/string="decl"`,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 n::C::inl
				INLINE_ORIGIN 1 late::decl
				FUNC 1000 8 0 n::C::m
				INLINE 0 0 0 0 1002 1
				INLINE 0 0 0 1 1004 1
				FUNC 1100 8 0 _Z1lv
				FUNC 1200 8 0 late::decl`},
		{name: "through several units, local types there",
			in: `
			.debug_info
				unit 5
					compile_unit language/data1=0x21
						x: subprogram specification/ref_addr=&y low_pc/addr=0x1000 high_pc/data1=1
				unit 5 64
					compile_unit language/data1=0x21
						y: subprogram abstract_origin/ref_addr=&z
				unit 4
					compile_unit language/data1=0x21
						fn: subprogram name/string="around"
							structure_type name/string="L"
								z: subprogram name/string="op"`,
			want: `FUNC 1000 1 0 around::L::op`},
		{name: "in a partial unit, which has no language",
			in: `
			.debug_info
				unit 4
					partial_unit
						namespace name/string="n"
							f: subprogram name/string="f"
				unit 4
					compile_unit language/data1=0x21
						subprogram specification/ref_addr=&f low_pc/addr=0x1000 high_pc/data1=1`,
			want: `FUNC 1000 1 0 n::f`},
		{name: "in a unit that cannot be read",
			in: `
			.debug_info
				unit 4 abbrev=0x999
					compile_unit language/data1=0x21
						f: subprogram name/string="f"
				unit 4
					compile_unit language/data1=0x21
						subprogram specification/ref_addr=&f low_pc/addr=0x1000 high_pc/data1=1`,
			want: "FUNC 1000 1 0 <name omitted>\n! test: .debug_abbrev+0x999: table starts outside the section's 19 bytes (lost: unit at 0x0)\n! test: .debug_info+0x1e: reference to 0xd, where no DIE of a function can be read (lost: name of the function at 0x1e)"},
		{name: "a DIE longer than what is read at first, one beyond reason",
			in: fmt.Sprintf(`
			.debug_info
				unit 4
					compile_unit language/data1=0x0c
						f: subprogram const_value/block=<%s> name/string="f"
						g: subprogram const_value/block=<%s> name/string="g"
				unit 4
					compile_unit language/data1=0x0c
						subprogram specification/ref_addr=&f low_pc/addr=0x1000 high_pc/data1=1
						subprogram specification/ref_addr=&g low_pc/addr=0x1001 high_pc/data1=1`,
				strings.Repeat("00", 3000), strings.Repeat("00", units.PeekMost)),
			want: "FUNC 1000 1 0 f\nFUNC 1001 1 0 <name omitted>\n! test: .debug_info+0x10bec: reference to 0xbca, where no DIE of a function can be read (lost: name of the function at 0x10bec)"},
	})
}

// References to more units than are kept open, one after another.
func TestManyForeignUnits(t *testing.T) {
	const units = units.ForeignUnits + 50
	var b, want strings.Builder
	b.WriteString("\t.debug_info\n")
	for i := range units {
		fmt.Fprintf(&b, "\tunit 4\n\t\tcompile_unit language/data1=4\n\t\t\tnamespace name/string=\"n%d\"\n\t\t\t\tf%d: subprogram name/string=\"f\"\n", i, i)
	}
	b.WriteString("\tunit 4\n\t\tcompile_unit language/data1=4\n")
	for i := range 2 * units {
		fmt.Fprintf(&b, "\t\t\tsubprogram specification/ref_addr=&f%d low_pc/addr=%d high_pc/data1=1\n", i%units, 0x1000+i)
		fmt.Fprintf(&want, "FUNC %x 1 0 n%d::f\n", 0x1000+i, i%units)
	}
	c := coreOf(t, b.String())
	for _, run := range coreRuns {
		if got := c.text(t, Options{}, run); got != want.String() {
			t.Fatalf("%+v:\n%.300s", run, got)
		}
	}
}
