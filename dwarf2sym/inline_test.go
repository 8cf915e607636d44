package dwarf2sym

import (
	"testing"
)

func TestInlines(t *testing.T) {
	const head = `
			.debug_info
				unit 5
					compile_unit language/data1=2 comp_dir/string="/s" stmt_list/sec_offset=0 low_pc/addr=0
						a: subprogram name/string="a" inline/data1=1
						b: subprogram name/string="b" inline/data1=1
						c: subprogram name/string="c" inline/data1=1
`
	const tail = `
			.debug_line
				program 5
				dirs path/string
				dir "/s"
				files path/string
				file "x.c"
				file "y.c"
				end_sequence
			.debug_ranges
				u8 0`
	runCoreCases(t, []coreCase{
		{name: "nested, with call sites of every form",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x40 call_file/data1=0 call_line/udata=300
								lexical_block
									inlined_subroutine abstract_origin/ref_udata=&b low_pc/addr=0x1020 high_pc/data1=0x10 call_file/implicit_const=1 call_line/data2=7000
										inlined_subroutine abstract_origin/ref_addr=&c low_pc/addr=0x1028 high_pc/data1=8 call_file/data1=9 call_line/sdata=-1
								inlined_subroutine abstract_origin/ref1=&b low_pc/addr=0x1040 high_pc/data1=0x10 call_file/data1=1
							inlined_subroutine abstract_origin/ref8=&a low_pc/addr=0x1060 high_pc/data1=0x20 call_line/data1=5 call_file/data1=1` + tail,
			want: `
				FILE 0 /s/x.c
				FILE 1 /s/y.c
				FILE 2 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 b
				INLINE_ORIGIN 2 c
				FUNC 1000 80 0 f
				INLINE 0 300 0 0 1010 40
				INLINE 1 7000 1 1 1020 10
				INLINE 2 0 2 2 1028 8
				INLINE 1 0 1 1 1040 10
				INLINE 0 5 1 0 1060 20
				! test: .debug_line+0x0: file 9 of a line table that has files 0 to 1 (lost: the files of calls of unit at 0x0)`},
		{name: "outside of the function, in part or as a whole",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x40
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0 high_pc/data4=0x1060 call_line/data1=1
								inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1010 high_pc/data1=8 call_line/data1=2
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1030 high_pc/data1=0x11 call_line/data1=3
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1040 high_pc/data1=8 call_line/data1=4
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0 high_pc/data1=8 call_line/data1=5` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 b
				FUNC 1000 40 0 f
				INLINE 0 1 0 0 1010 8
				INLINE 1 2 0 1 1010 8
				INLINE 0 3 0 0 1030 10
				! test: .debug_info+0x57: code from 0x1040 to 0x1041 is not in the function at 0x29, which it is inlined into (lost: code of the inlined function at 0x57)
				! test: .debug_info+0x66: code from 0x1040 to 0x1048 is not in the function at 0x29, which it is inlined into (lost: code of the inlined function at 0x66)`},
		{name: "several ranges, clipped to the parts of the function",
			in: head + `
						subprogram name/string="f" ranges/sec_offset=&parts
							inlined_subroutine abstract_origin/ref4=&a ranges/sec_offset=&split
								inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x2010 high_pc/data1=0x10
							inlined_subroutine abstract_origin/ref4=&c low_pc/addr=0x1ff0 high_pc/data1=0x18
			.debug_rnglists
				parts: u8 6
				addr 0x1000 0x1080
				u8 6
				addr 0x2000 0x2040
				u8 0
				split: u8 6
				addr 0x1010 0x1020
				u8 6
				addr 0x1030 0x1040
				u8 6
				addr 0x2008 0x2030
				u8 0` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 b
				FUNC 1000 80 0 f
				INLINE 0 0 0 0 1010 10 1030 10
				FUNC 2000 40 0 f
				INLINE 0 0 0 0 2008 28
				INLINE 1 0 0 1 2010 10
				! test: .debug_info+0x48: code from 0x1ff0 to 0x2008 is not in the function at 0x29, which it is inlined into (lost: code of the inlined function at 0x48)`},
		{name: "outside of the function, and of its parent",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1070 high_pc/data1=0x40
							inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x3000 high_pc/data1=0x40
							inlined_subroutine abstract_origin/ref4=&c
							inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1010 high_pc/data1=0x10
								inlined_subroutine abstract_origin/ref4=&c low_pc/addr=0x1018 high_pc/data1=0x10` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 b
				INLINE_ORIGIN 2 c
				FUNC 1000 80 0 f
				INLINE 0 0 0 0 1070 10
				INLINE 0 0 0 1 1010 18
				INLINE 1 0 0 2 1018 10
				! test: .debug_info+0x35: code from 0x1080 to 0x10b0 is not in the function at 0x29, which it is inlined into (lost: code of the inlined function at 0x35)
				! test: .debug_info+0x43: code from 0x3000 to 0x3040 is not in the function at 0x29, which it is inlined into (lost: code of the inlined function at 0x43)`},
		{name: "a parent without code of its own",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a
								inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1010 high_pc/data1=0x10
								inlined_subroutine abstract_origin/ref4=&c low_pc/addr=0x1020 high_pc/data1=0x10` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 b
				INLINE_ORIGIN 2 c
				FUNC 1000 80 0 f
				INLINE 0 0 0 0 1010 20
				INLINE 1 0 0 1 1010 10
				INLINE 1 0 0 2 1020 10`},
		{name: "siblings that overlap: the last one owns the code",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x30
								inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1018 high_pc/data1=0x10
							inlined_subroutine abstract_origin/ref4=&c low_pc/addr=0x1020 high_pc/data1=0x10
							inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1020 high_pc/data1=4` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 b
				INLINE_ORIGIN 2 c
				FUNC 1000 80 0 f
				INLINE 0 0 0 0 1010 10 1030 10
				INLINE 1 0 0 1 1018 8
				INLINE 0 0 0 2 1024 c
				INLINE 0 0 0 1 1020 4`},
		{name: "one that others cover altogether is gone",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x10
							inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1008 high_pc/data1=0x20` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 b
				FUNC 1000 80 0 f
				INLINE 0 0 0 0 1008 20`},
		{name: "nested functions have their own",
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x40
								subprogram name/string="g" low_pc/addr=0x2000 high_pc/data1=0x80
									inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x2010 high_pc/data1=0x10
								inlined_subroutine abstract_origin/ref4=&c low_pc/addr=0x1020 high_pc/data1=0x10
								subprogram name/string="h"
									inlined_subroutine abstract_origin/ref4=&b low_pc/addr=0x1030 high_pc/data1=4` + tail,
			want: `
				FILE 0 ??
				INLINE_ORIGIN 0 a
				INLINE_ORIGIN 1 c
				INLINE_ORIGIN 2 b
				FUNC 1000 80 0 f
				INLINE 0 0 0 0 1010 40
				INLINE 1 0 0 1 1020 10
				FUNC 2000 80 0 g
				INLINE 0 0 0 2 2010 10`},
		{name: "left out",
			opts: Options{NoInlines: true},
			in: head + `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data1=0x80
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x30` + tail,
			want: `FUNC 1000 80 0 f`},
		{name: "outside of any function",
			in: head + `
						inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x30
						lexical_block
							inlined_subroutine abstract_origin/ref4=&a low_pc/addr=0x1010 high_pc/data1=0x30` + tail,
			want: ``},
	})
}

// newRand returns a generator of numbers below n, the same in each run.
func newRand(seed uint64) func(n int) int {
	return func(n int) int {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return int(seed>>11) % n
	}
}
