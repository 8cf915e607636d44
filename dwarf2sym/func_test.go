package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"
)

func TestFuncs(t *testing.T) {
	runCoreCases(t, []coreCase{
		{name: "sorted by address, over all units",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="d" low_pc/addr=0x4000 high_pc/data1=1
						subprogram name/string="b" low_pc/addr=0x2000 high_pc/data1=1
				unit 4
					compile_unit language/data1=2
						subprogram name/string="a" low_pc/addr=0x1000 high_pc/data1=1
						subprogram name/string="c" low_pc/addr=0x3000 high_pc/data1=1`,
			want: "FUNC 1000 1 0 a\nFUNC 2000 1 0 b\nFUNC 3000 1 0 c\nFUNC 4000 1 0 d"},
		{name: "declarations and abstract instances have no code",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						subprogram name/string="a" declaration/flag_present
						subprogram name/string="b" inline/data1=3
						subprogram name/string="c" low_pc/addr=0x1000
						subprogram name/string="d" high_pc/data1=3
						subprogram name/string="e" entry_pc/addr=0x1000`,
			want: ``},
		{name: "dropped by the linker: 0, -1, -2, 1, data, behind the code",
			in: `
			.code 0x1000 0x2000
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="zero" low_pc/addr=0 high_pc/data1=16
						subprogram name/string="one" low_pc/addr=1 high_pc/data1=16
						subprogram name/string="minus1" low_pc/addr=-1 high_pc/data1=16
						subprogram name/string="minus2" low_pc/addr=-2 high_pc/data1=16
						subprogram name/string="data" low_pc/addr=0x8000 high_pc/data1=16
						subprogram name/string="before" low_pc/addr=0xff8 high_pc/data1=16
						subprogram name/string="end" low_pc/addr=0x2000 high_pc/data1=16
						subprogram name/string="over" low_pc/addr=0x1ff8 high_pc/data1=16
						subprogram name/string="live" low_pc/addr=0x1000 high_pc/data1=16`,
			want: `
				FUNC 1000 10 0 live
				FUNC 1ff8 8 0 over
				! test: .debug_info+0x7a: its code would be [0x1ff8, 0x2008), and the code of the file ends at 0x2000 (lost: the end of the function at 0x7a)`},
		{name: "4-byte -1 and -2",
			in: `
			addrsize 4
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="minus1" low_pc/addr=-1 high_pc/data1=16
						subprogram name/string="minus2" low_pc/addr=-2 high_pc/addr=14
						subprogram name/string="live" low_pc/addr=0x1000 high_pc/data1=16`,
			want: "FUNC 1000 10 0 live"},
		{name: "code that is at 0",
			in: `
			.code 0 0x1000
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="reset" low_pc/addr=0 high_pc/data1=16`,
			want: "FUNC 0 10 0 reset"},
		{name: "code at 0, and dropped functions there: the ELF symbol's size decides",
			in: `
			.code 0 0x1000
			.symbol 0 0x10 reset
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="dead" low_pc/addr=0 high_pc/data1=24
						subprogram name/string="dead10" low_pc/addr=0 high_pc/data1=16
						subprogram name/string="reset" low_pc/addr=0 high_pc/data1=16
						subprogram name/string="next" low_pc/addr=0x10 high_pc/data1=16`,
			want: "FUNC m 0 10 0 reset\nFUNC 10 10 0 next"},
		{name: "hot and cold: a FUNC for each part, with its own lines",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2 stmt_list/sec_offset=0 comp_dir/string="/s"
						subprogram name/string="f" ranges/sec_offset=0
			.debug_ranges
				addr 0x1000 0x1010 0x2000 0x2008 0 0
			.debug_line
				program 4
				file "x.c" 0
				set_address 0x1000
				copy
				advance_pc 0x10
				end_sequence
				set_address 0x1ff0
				advance_line 6
				copy
				advance_pc 0x14
				advance_line 1
				copy
				advance_pc 0x14
				end_sequence`,
			want: `
				FILE 0 /s/x.c
				FUNC 1000 10 0 f
				1000 10 1 0
				FUNC 2000 8 0 f
				2000 4 7 0
				2004 4 8 0`},
		{name: "folded: equal code gives one FUNC with m, the first DIE names it",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="zz" low_pc/addr=0x1000 high_pc/data1=16
						subprogram name/string="same" low_pc/addr=0x2000 high_pc/data1=16
				unit 4
					compile_unit language/data1=2
						subprogram name/string="aa" low_pc/addr=0x1000 high_pc/data1=16
						subprogram name/string="same" low_pc/addr=0x2000 high_pc/data1=16
						subprogram low_pc/addr=0x3000 high_pc/data1=16
						subprogram name/string="named" low_pc/addr=0x3000 high_pc/data1=16`,
			want: "FUNC m 1000 10 0 zz\nFUNC 2000 10 0 same\nFUNC 3000 10 0 named"},
		{name: "a folded function takes the name of the ELF symbol",
			in: `
			.symbol 0x1000 0x10 aa
			.debug_info
				unit 4
					compile_unit language/data1=2
						subprogram name/string="zz" low_pc/addr=0x1000 high_pc/data1=16
						subprogram name/string="aa" low_pc/addr=0x1000 high_pc/data1=16`,
			want: "FUNC m 1000 10 0 aa"},
		{name: "of folded functions, the one that has inlined ones: BOLT takes them from the others",
			in: `
			.symbol 0x1000 0x10 aa
			.symbol 0x1000 0x10 bb
			.debug_info
				unit 4
					compile_unit language/data1=2
						i: subprogram name/string="i" inline/data1=1
						subprogram name/string="aa" low_pc/addr=0x1000 high_pc/data1=16
							inlined_subroutine abstract_origin/ref4=&i low_pc/addr=0 high_pc/addr=0x20
						subprogram name/string="bb" low_pc/addr=0x1000 high_pc/data1=16
							inlined_subroutine abstract_origin/ref4=&i low_pc/addr=0x1008 high_pc/data1=4`,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 i
				FUNC m 1000 10 0 bb
				INLINE 0 0 0 0 1008 4`},
		{name: "a folded function whose symbol is the only one: gold drops those of the others",
			in: `
			.symbol 0x1000 0x10 aa
			.debug_info
				unit 4
					compile_unit language/data1=2
						i: subprogram name/string="i" inline/data1=1
						subprogram name/string="bb" low_pc/addr=0x1000 high_pc/data1=16
							inlined_subroutine abstract_origin/ref4=&i low_pc/addr=0x1008 high_pc/data1=4
						subprogram name/string="aa" low_pc/addr=0x1000 high_pc/data1=16`,
			want: "FUNC m 1000 10 0 aa"},
		{name: "a folded function without linkage name keeps its name: the symbol is that of another one",
			in: `
			.symbol 0x1000 0x10 _ZN1SD2Ev
			.symbol 0x2000 0x10 _ZN1S1fEi
			.debug_info
				unit 4
					compile_unit language/data1=4
						structure_type name/string="S"
							subprogram name/string="destroy" low_pc/addr=0x1000 high_pc/data1=16
							subprogram name/string="~S" low_pc/addr=0x1000 high_pc/data1=16
							subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=16`,
			want: "FUNC m 1000 10 0 S::destroy\nFUNC 2000 10 0 _ZN1S1fEi"},
		{name: "labels of one address in assembly are no folded functions",
			in: `
			.debug_info
				unit 4
					compile_unit language/data2=0x8001
						subprogram name/string="memcpy" low_pc/addr=0x1000 high_pc/data1=16
						subprogram name/string="__memcpy" low_pc/addr=0x1000 high_pc/data1=16`,
			want: "FUNC 1000 10 0 memcpy"},
		{name: "overlaps: the code belongs to the one that starts last",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2 stmt_list/sec_offset=0 comp_dir/string="/s"
						i: subprogram name/string="i" inline/data1=1
						subprogram name/string="outer" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&i low_pc/addr=0x1008 high_pc/data1=0x70
							subprogram name/string="inner" low_pc/addr=0x1020 high_pc/data1=0x20
								inlined_subroutine abstract_origin/ref4=&i low_pc/addr=0x1024 high_pc/data1=4
						subprogram name/string="across" low_pc/addr=0x1070 high_pc/data1=0x20
			.debug_line
				program 4
				file "x.c" 0
				set_address 0x1000
				copy
				advance_pc 0x10
				special 0x13
				advance_pc 0x80
				end_sequence`,
			want: `
				FILE 0 ??
				FILE 1 /s/x.c
				INLINE_ORIGIN 0 i
				FUNC 1000 20 0 outer
				INLINE 0 0 0 0 1008 18
				1000 10 1 1
				1010 10 2 1
				FUNC 1020 20 0 inner
				INLINE 0 0 0 0 1024 4
				1020 20 2 1
				FUNC 1040 30 0 outer
				INLINE 0 0 0 0 1040 30
				1040 30 2 1
				FUNC 1070 20 0 across
				1070 20 2 1`},
		{name: "nested in a C function without code of its own",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=0x0c
						subprogram name/strp="outer" sibling/ref4=&next inline/data1=3
							subprogram name/string="inner" low_pc/addr=0x1000 high_pc/data1=0x20
						next: subprogram name/string="f" low_pc/addr=0x2000 high_pc/data1=0x20`,
			want: "FUNC 1000 20 0 inner\nFUNC 2000 20 0 f"},
		{name: "below types and functions without code in C++",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=4
						structure_type name/strp="S" sibling/ref4=&n1
							subprogram name/string="m" low_pc/addr=0x1000 high_pc/data1=0x20
						n1: subprogram name/strp="outer" sibling/ref4=&n2
							structure_type name/strp="L"
								subprogram name/string="op" low_pc/addr=0x2000 high_pc/data1=0x20
						n2: subprogram name/string="f" low_pc/addr=0x3000 high_pc/data1=0x20`,
			want: "FUNC 1000 20 0 S::m\nFUNC 2000 20 0 outer::L::op\nFUNC 3000 20 0 f"},
	})
}

// Each piece of code belongs to the function that starts last, as in a simple model that
// examines each address.
func TestCutModel(t *testing.T) {
	rng := newRand(99)
	for round := range 300 {
		var b strings.Builder
		b.WriteString("\t.debug_info\n\tunit 4\n\t\tcompile_unit language/data1=2\n")
		type fn struct{ lo, size int }
		var funcs []fn
		for i := range 1 + rng(10) {
			f := fn{0x1000 + rng(48), 1 + rng(32)}
			if i > 0 && rng(6) == 0 {
				f.lo = funcs[i-1].lo
			}
			funcs = append(funcs, f)
			fmt.Fprintf(&b, "\t\t\tsubprogram name/string=\"f%d\" low_pc/addr=%d high_pc/data1=%d\n", i, f.lo, f.size)
		}
		m, _, err := coreOf(t, b.String()).read(Options{}, coreRuns[0])
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[int]string)
		for _, f := range m.Funcs {
			for a := int(f.RVA); a < int(f.RVA)+int(f.Size); a++ {
				if got[a] != "" {
					t.Fatalf("round %d: %#x belongs to %s and %s", round, a, got[a], f.Name)
				}
				got[a] = f.Name
			}
		}
		for a := 0x1000; a < 0x1100; a++ {
			best, start := "", -1
			for i, f := range funcs {
				first := true // of those that start there
				for _, e := range funcs[:i] {
					first = first && e.lo != f.lo
				}
				if first && f.lo <= a && a < f.lo+f.size && f.lo > start {
					best, start = fmt.Sprintf("f%d", i), f.lo
				}
			}
			if got[a] != best {
				t.Fatalf("round %d, %#x: %q, want %q\n%s", round, a, got[a], best, b.String())
			}
		}
	}
}

func TestFuncsFromSymbols(t *testing.T) {
	const lines = `
			.debug_line
				program 4
				file "x.s" 0
				set_address 0x1000
				copy
				advance_pc 0x10
				special 0x13
				advance_pc 0x30
				end_sequence`
	runCoreCases(t, []coreCase{
		{name: "a unit without functions",
			in: `
			.symbol 0x0ff0 0x10 before
			.symbol 0x1000 0x10 sized
			.label 0x1004 label
			.symbol 0x1010 0 unsized
			.symbol 0x1020 0 unsized2
			.symbol 0x1038 0x100 over
			.symbol 0x1040 0x10 behind
			.debug_info
				unit 4
					compile_unit language/data2=0x8001 stmt_list/sec_offset=0 comp_dir/string="/s"` + lines,
			want: `
				FILE 0 /s/x.s
				FUNC 1000 10 0 sized
				1000 10 1 0
				FUNC 1010 10 0 unsized
				1010 10 2 0
				FUNC 1020 18 0 unsized2
				1020 18 2 0
				FUNC 1038 8 0 over
				1038 8 2 0
				PUBLIC ff0 0 before
				PUBLIC 1004 0 label
				PUBLIC 1040 0 behind`},
		{name: "what the functions of a C unit leave: typed symbols, and untyped ones with a size",
			in: `
			.symbol 0x1000 0x08 before
			.symbol 0x1008 0x08 described
			.label 0x1010 label
			.symbol 0x1018 0x08 behind
			.label 0x101a place 2
			.label 0x1020 f.__part.1 4
			.symbol 0x1024 0x08 unsized
			.label 0x102c f.__part.2 8
			.debug_info
				unit 4
					compile_unit language/data1=0x0c stmt_list/sec_offset=0 comp_dir/string="/s"
						subprogram name/string="f" low_pc/addr=0x1008 high_pc/data1=8` + lines,
			want: `
				FILE 0 /s/x.s
				FUNC 1000 8 0 before
				1000 8 1 0
				FUNC 1008 8 0 f
				1008 8 1 0
				FUNC 1020 4 0 f.__part.1
				1020 4 2 0
				FUNC 102c 8 0 f.__part.2
				102c 8 2 0
				PUBLIC 1010 0 label
				PUBLIC 1018 0 behind
				PUBLIC 101a 0 place
				PUBLIC 1024 0 unsized`},
		{name: "a row does not go on in the function behind, which the unit does not describe",
			in: `
			.symbol 0x1008 0x08 late
			.symbol 0x1018 0x08 none
			.symbol 0x1020 0x08 again
			.debug_info
				unit 4
					compile_unit language/data1=0x0c stmt_list/sec_offset=0 comp_dir/string="/s"
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=8
						subprogram name/string="g" low_pc/addr=0x1010 high_pc/data1=8
			.debug_line
				program 4
				file "x.c" 0
				set_address 0x1000
				copy
				advance_pc 0x0c
				special 0x13
				advance_pc 4
				special 0x13
				advance_pc 0x12
				copy
				advance_pc 6
				end_sequence`,
			want: `
				FILE 0 /s/x.c
				FUNC 1000 8 0 f
				1000 8 1 0
				FUNC 1008 8 0 late
				100c 4 2 0
				FUNC 1010 8 0 g
				1010 8 3 0
				FUNC 1020 8 0 again
				1022 6 3 0
				PUBLIC 1018 0 none`},
		{name: "symbols that are longer than what describes their functions",
			in: `
			.symbol 0x1000 0x20 f
			.label 0x1004 label
			.symbol 0x1018 0x04 nested
			.symbol 0x1020 0x10 g
			.label 0x1029 label2
			.symbol 0x1030 0x04 exact
			.symbol 0x1038 0x100 over
			.debug_info
				unit 4
					compile_unit language/data1=0x0c stmt_list/sec_offset=0 comp_dir/string="/s"
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=8
						subprogram name/string="g" low_pc/addr=0x1020 high_pc/data1=4
						subprogram name/string="h" low_pc/addr=0x1026 high_pc/data1=2
						subprogram name/string="exact" low_pc/addr=0x1030 high_pc/data1=4
						subprogram name/string="over" low_pc/addr=0x1038 high_pc/data1=1` + lines,
			want: `
				FILE 0 /s/x.s
				FUNC 1000 18 0 f
				1000 10 1 0
				1010 8 2 0
				FUNC 1020 6 0 g
				1020 6 2 0
				FUNC 1026 2 0 h
				1026 2 2 0
				FUNC 1028 8 0 g
				1028 8 2 0
				FUNC 1030 4 0 exact
				1030 4 2 0
				FUNC 1038 8 0 over
				1038 8 2 0
				PUBLIC 1004 0 label
				PUBLIC 1018 0 nested
				PUBLIC 1029 0 label2`},
		{name: "a function without a size goes on in another unit, where no other one begins",
			in: `
			.code 0x0f00 0x3000
			.symbol 0x0fe0 0 begun
			.symbol 0x1010 0x08 sized
			.symbol 0x1f00 0x10 sized2
			.symbol 0x2f00 0 begun2
			.debug_info
				unit 4
					compile_unit language/data2=0x8001 stmt_list/sec_offset=0 comp_dir/string="/s"
				unit 4
					compile_unit language/data2=0x8001 stmt_list/sec_offset=&tails comp_dir/string="/s"
				unit 4
					compile_unit language/data1=0x0c stmt_list/sec_offset=&own comp_dir/string="/s"
						subprogram name/string="begun3" low_pc/addr=0x2f00 high_pc/data1=4` + lines + `
			tails: program 4
				file "y.s" 0
				set_address 0x0fe8
				copy
				advance_pc 8
				end_sequence
				set_address 0x2000
				copy
				advance_pc 8
				end_sequence
				set_address 0x2f10
				copy
				advance_pc 8
				end_sequence
			own: program 4
				file "z.c" 0
				set_address 0x2f00
				copy
				advance_pc 4
				end_sequence`,
			want: `
				FILE 0 /s/y.s
				FILE 1 /s/x.s
				FILE 2 /s/z.c
				FUNC fe0 30 0 begun
				fe8 8 1 0
				1000 10 1 1
				FUNC 1010 8 0 sized
				1010 8 2 1
				FUNC 2f00 18 0 begun3
				2f00 4 1 2
				2f10 8 1 0
				PUBLIC 1f00 0 sized2`},
		{name: "dropped functions have sequences at 0, where other code is",
			in: `
			.code 0 0x2000
			.symbol 0 0x20 asm
			.symbol 0x1008 0x08 left
			.debug_info
				unit 4
					compile_unit language/data1=0x0c stmt_list/sec_offset=&c comp_dir/string="/s"
						subprogram name/string="dead" ranges/data4=0
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=8
				unit 4
					compile_unit language/data2=0x8001 stmt_list/sec_offset=&asm comp_dir/string="/s"
			.debug_ranges
				addr -1 0x5000 8 9 0 0
			.debug_line
				c: program 4
				file "c.c" 0
				set_address 0
				copy
				advance_pc 0x20
				end_sequence
				set_address 0x1000
				copy
				advance_pc 8
				copy
				advance_pc 8
				end_sequence
				asm: program 4
				file "x.s" 0
				set_address 0
				copy
				advance_pc 0x20
				end_sequence`,
			want: `
				FILE 0 /s/x.s
				FILE 1 /s/c.c
				FUNC 0 20 0 asm
				0 20 1 0
				FUNC 1000 8 0 f
				1000 8 1 1
				FUNC 1008 8 0 left
				1008 8 1 1`},
		{name: "not of partial units, nor where the functions were dropped, nor in data",
			in: `
			.code 0x1000 0x1010
			.symbol 0x1000 0x40 f
			.debug_info
				unit 4
					partial_unit stmt_list/sec_offset=0 comp_dir/string="/s"
				unit 4
					compile_unit language/data1=2 stmt_list/sec_offset=0 comp_dir/string="/s"
						subprogram name/string="dead" low_pc/addr=0 high_pc/data1=4` + lines,
			want: `PUBLIC 1000 0 f`},
		{name: "cut to the code",
			in: `
			.code 0x1000 0x1010
			.symbol 0x1000 0x40 f
			.debug_info
				unit 4
					compile_unit language/data2=0x8001 stmt_list/sec_offset=0 comp_dir/string="/s"` + lines,
			want: `
				FILE 0 /s/x.s
				FUNC 1000 10 0 f
				1000 10 1 0`},
	})
}
