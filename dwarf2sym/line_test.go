package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// lineUnit returns a unit with one function f at 0x1000 and the given line program.
func lineUnit(header, size, program string) string {
	return fmt.Sprintf(`
	%s
	.debug_info
		unit 4
			compile_unit language/data1=2 name/string="a.c" comp_dir/string="/src" stmt_list/sec_offset=0
				subprogram name/string="f" low_pc/addr=0x1000 high_pc/data4=%s
	.debug_line
		%s`, header, size, program)
}

func TestLineOpcodes(t *testing.T) {
	cases := []coreCase{
		{name: "every standard opcode",
			in: lineUnit("", "0x100", `program 4
				file "a.c" 0
				file "b.c" 0
				set_address 0x1000
				advance_line 9
				copy                      # 1000: 10
				advance_pc 0x10
				advance_line -3
				set_file 2
				copy                      # 1010: b.c 7
				set_column 300
				negate_stmt
				set_basic_block
				set_prologue_end
				set_epilogue_begin
				set_isa 200
				const_add_pc              # (255-13)/14 = 17
				copy                      # the same line
				fixed_advance_pc 0x1000
				fixed_advance_pc 0xf0df
				set_address 0x1080
				special 0x1f              # 1 on, no line: (31-13)=18: 1, 4-5=-1
				discriminator 3
				advance_pc 0x7f
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FILE 1 /src/b.c
				FUNC 1000 100 0 f
				1000 10 10 0
				1010 71 7 1
				1081 7f 6 1`},
		{name: "rows of one line are one record, of one address the last counts",
			in: lineUnit("", "0x20", `program 4
				file "a.c" 0
				set_address 0x1000
				advance_line 1
				copy
				special 0x13
				special 0x12              # line 3 again
				special 0x20              # 1001: 3
				special 0x20              # 1002: 3
				special 0x21              # 1003: 4
				set_file 0
				copy                      # no file
				set_file 1
				special 0x11              # 1003: 3, not 4
				special 0x21              # 1004: 4
				advance_pc 0x1c
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1000 4 3 0
				1004 1c 4 0`},
		{name: "line 0 and negative lines",
			in: lineUnit("", "0x20", `program 4
				file "a.c" 0
				set_address 0x1000
				advance_line -1
				copy
				advance_pc 4
				advance_line 5
				copy
				advance_pc 4
				advance_line -6
				copy
				advance_pc 24
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1000 4 0 0
				1004 4 5 0
				1008 18 4294967295 0`},
		{name: "files that are not there",
			in: lineUnit("", "0x20", `program 4
				file "a.c" 9
				set_address 0x1000
				copy
				advance_pc 4
				set_file 2
				copy
				advance_pc 4
				set_file 0
				special 0x14
				advance_pc 4
				set_file 0xffffffffffff
				special 0x14
				advance_pc 20
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1000 4 1 0
				! test: .debug_line+0x0: file 2 of a line table that has files 1 to 1 (lost: lines of an unknown file of unit at 0x0, a.c)
				! test: .debug_line+0x0: file 1 is in directory 9 of a line table that has directories 0 to 0 (lost: the directory of a file of unit at 0x0, a.c)`},
		{name: "extended opcodes of length 0",
			in: lineUnit("", "0x20", `program 4
				file "a.c" 0
				<00 00>
				set_address 0x1000
				copy
				<00 00>
				advance_pc 0x20
				end_sequence
				<00 00 00 00>`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1000 20 1 0`},
		{name: "sequences of dropped code: the highest address, and the one before it",
			in: lineUnit("", "0x20", `program 4
				file "a.c" 0
				set_address 0xfffffffffffffffe
				copy
				advance_pc 0x1002
				copy
				advance_pc 0x20
				end_sequence
				set_address 0xffffffffffffffff
				advance_line 5
				special 0x20
				advance_pc 0x1010
				copy
				advance_pc 0x10
				end_sequence
				set_address 0x1010
				copy
				advance_pc 0x10
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1010 10 1 0`},
		{name: "a sequence that leaves the address space",
			in: lineUnit("", "0x20", `program 4
				file "a.c" 0
				set_address 0xfffffffffffff000
				copy
				advance_pc 0x2000
				advance_line 7
				copy
				advance_pc 0x20
				end_sequence
				set_address 0x1010
				copy
				advance_pc 0x10
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1010 10 1 0
				! test: .debug_line+0x3b: addresses past the highest one, 0xffffffffffffffff (lost: lines of a sequence of unit at 0x0, a.c)`},
		{name: "a set address does not mend what left the address space",
			in: lineUnit("", "0x20", `program 4 min=255
				file "a.c" 0
				set_address 0x100
				copy
				advance_pc 0xffffffffffffffff
				copy
				set_address 0x1000
				copy
				advance_pc 1
				end_sequence`),
			want: `
				FUNC 1000 20 0 f
				! test: .debug_line+0x4d: addresses past the highest one, 0xffffffffffffffff (lost: lines of a sequence of unit at 0x0, a.c)`},
		{name: "32 bits: up to the end of the address space, and past it",
			in: strings.Replace(lineUnit("addrsize 4\n.code 0xfffff000 0x100000000", "0x1000", `program 4
				file "a.c" 0
				set_address 0xfffff000
				copy
				advance_pc 0x1000
				end_sequence
				set_address 0xffffe000
				copy
				advance_pc 0x3000
				copy
				advance_pc 1
				end_sequence`), "=0x1000", "=0xfffff000", 1),
			want: `
				FILE 0 /src/a.c
				FUNC fffff000 1000 0 f
				fffff000 1000 1 0
				! test: .debug_line+0x43: addresses past the highest one, 0xffffffff (lost: lines of a sequence of unit at 0x0, a.c)`},
		{name: "define_file",
			in: lineUnit("", "8", `program 3
				dir "/inc"
				file "a.c" 0
				set_address 0x1000
				define_file "d.h" 1
				set_file 2
				copy
				advance_pc 8
				end_sequence`),
			want: `
				FILE 0 /inc/d.h
				FUNC 1000 8 0 f
				1000 8 1 0`},
		{name: "unknown standard and extended opcodes are gone over",
			in: lineUnit("", "0x20", `program 3 opbase=16 extra=2 base=-3 range=12
				file "a.c" 0
				set_address 0x1000
				u8 13
				uleb 300 1
				u8 15
				uleb 300 1
				<00 04 80 01 02 03>
				<00 01 7e>
				special 20              # 20-16=4: line 1-3+4=2
				advance_pc 32
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1000 20 2 0`},
		{name: "few standard opcodes",
			in: lineUnit("", "0x20", `program 2 opbase=4 base=0 range=4
				file "a.c" 0
				set_address 0x1000
				special 5                # 1: line 2
				special 8                # 4: 1 on
				special 9                # 5: 1 on, line 3
				advance_pc 30
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 20 0 f
				1000 2 2 0
				1002 1e 3 0`},
		{name: "minimum instruction length",
			in: lineUnit("", "0x100", `program 3 min=4
				file "a.c" 0
				set_address 0x1000
				copy
				special 0x21             # 1 on: 4 bytes, line 2
				advance_pc 3             # 12 bytes
				special 0x13
				const_add_pc             # 17 on: 68 bytes
				special 0x13
				fixed_advance_pc 2       # bytes
				special 0x13
				advance_pc 0x100
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 100 0 f
				1000 4 1 0
				1004 c 2 0
				1010 44 3 0
				1054 2 4 0
				1056 aa 5 0`},
		{name: "VLIW: operations, of which three make an instruction of 16 bytes",
			in: lineUnit("", "0x100", `program 4 min=16 ops=3
				file "a.c" 0
				set_address 0x1000
				copy                     # op 0
				special 0x21             # op 1: the same address, line 2
				special 0x2f             # 2 on: 0x1010 op 0, line 3
				advance_pc 4             # 0x1020 op 1
				special 0x13             # line 4
				const_add_pc             # 17 on: 18 operations, 0x1080 op 0
				special 0x13             # line 5
				advance_pc 1
				fixed_advance_pc 0x20    # 0x10a0 op 0
				special 0x21             # op 1, line 6
				advance_pc 2             # 0x10b0
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 100 0 f
				1000 10 2 0
				1010 10 3 0
				1020 60 4 0
				1080 20 5 0
				10a0 10 6 0`},
		{name: "operations per instruction 0 is 1",
			in: lineUnit("", "0x10", `program 4 ops=0
				file "a.c" 0
				set_address 0x1000
				special 0x13
				advance_pc 0x10
				end_sequence`),
			want: "FILE 0 /src/a.c\nFUNC 1000 10 0 f\n1000 10 2 0"},
	}
	runCoreCases(t, cases)
	for i := range cases {
		cases[i].in = "big\n" + cases[i].in
	}
	runCoreCases(t, cases)
}

func TestLineSequences(t *testing.T) {
	runCoreCases(t, []coreCase{
		{name: "sequences in any order, gaps stay gaps",
			in: lineUnit("", "0x100", `program 4
				file "a.c" 0
				set_address 0x1080
				advance_line 7
				copy
				advance_pc 16
				end_sequence
				set_address 0x1000
				copy
				advance_pc 16
				end_sequence
				set_address 0x1040
				advance_line 3
				copy
				advance_pc 16
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 100 0 f
				1000 10 1 0
				1040 10 4 0
				1080 10 8 0`},
		{name: "records do not leave their function",
			in: lineUnit("", "0x10", `program 4
				file "a.c" 0
				set_address 0xff0
				copy
				advance_pc 0x1f
				special 0x13
				advance_pc 0x20
				end_sequence`),
			want: "FILE 0 /src/a.c\nFUNC 1000 10 0 f\n1000 f 1 0\n100f 1 2 0"},
		{name: "addresses that go backwards are put in order",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address 0x1020
				copy
				set_address 0x1000
				advance_line 1
				copy
				set_address 0x1010
				advance_line 1
				copy
				set_address 0x1040
				end_sequence`),
			want: "FILE 0 /src/a.c\nFUNC 1000 40 0 f\n1000 10 2 0\n1010 10 3 0\n1020 20 1 0"},
		{name: "empty and reversed sequences",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				end_sequence
				set_address 0x1000
				end_sequence
				set_address 0x1010
				copy
				set_address 0x1008
				end_sequence
				set_address 0x1010
				copy
				end_sequence
				set_address 0x1000
				advance_line 4
				copy
				advance_pc 4
				end_sequence`),
			want: "FILE 0 /src/a.c\nFUNC 1000 40 0 f\n1000 4 5 0"},
		{name: "a sequence that is not ended is kept up to its last address, as by gdb",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address 0x1000
				copy
				advance_pc 4
				end_sequence
				set_address 0x1010
				copy
				advance_pc 4`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				1010 4 1 0
				! test: .debug_line+0x44: line program ends within a sequence (lost: lines from 0x1014 on in sequence 2 of unit at 0x0, a.c)`},
		{name: "a program that ends within an opcode",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address 0x1000
				copy
				advance_pc 4
				end_sequence
				<00 05 02 00>`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				! test: .debug_line+0x36: line program ends within opcode 0 (lost: lines behind sequence 1 of unit at 0x0, a.c)`},
		{name: "a program that ends within an opcode of a sequence",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address 0x1000
				copy
				advance_pc 4
				advance_line 1
				copy
				<02 80>`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				! test: .debug_line+0x36: line program ends within opcode 2 (lost: lines from 0x1004 on in sequence 1 and all behind it of unit at 0x0, a.c)`},
		{name: "an address of no size costs the rest of its sequence",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address 0x1000
				copy
				advance_pc 4
				advance_line 1
				copy
				<00 04 02 08 10 00>
				copy
				set_address 0x1010
				advance_line 9
				copy
				advance_pc 4
				end_sequence
				set_address 0x1020
				copy
				advance_pc 4
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				1020 4 1 0
				! test: .debug_line+0x38: address of 3 bytes (lost: lines from 0x1004 on in sequence 1 of unit at 0x0, a.c)`},
		{name: "sequences that begin with an address of no size",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				<00 01 02>
				copy
				advance_pc 4
				end_sequence
				set_address 0x1000
				copy
				advance_pc 4
				end_sequence
				<00 04 02 08 10 00>
				copy
				advance_pc 4
				<00 01 02>
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				! test: .debug_line+0x27: address of 0 bytes (lost: lines of sequence 1, and parts of 1 more sequences of unit at 0x0, a.c)`},
		{name: "a broken sequence, and a program that ends within it",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address 0x1000
				copy
				advance_pc 4
				<00 04 02 08 10 00>
				<00 05 02 00>`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				! test: .debug_line+0x35: address of 3 bytes (lost: lines from 0x1004 on in sequence 1 of unit at 0x0, a.c)
				! test: .debug_line+0x39: line program ends within opcode 0 (lost: lines behind sequence 1 and all behind it of unit at 0x0, a.c)`},
		{name: "rows of dropped code that is broken off",
			in: lineUnit("", "0x40", `program 4
				file "a.c" 0
				set_address -1
				copy
				<00 04 02 08 10 00>
				copy
				end_sequence
				set_address 0x1000
				copy
				advance_pc 4
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 40 0 f
				1000 4 1 0
				! test: .debug_line+0x33: address of 3 bytes (lost: lines of sequence 1 of unit at 0x0, a.c)`},
		{name: "code at 0 and dropped functions there: the sequence that fits",
			in: `
			.code 0 0x1000
			.debug_info
				unit 4
					compile_unit language/data1=2 name/string="a.c" comp_dir/string="/src" stmt_list/sec_offset=0
						subprogram name/string="live" low_pc/addr=0 high_pc/data4=0x20
						subprogram name/string="dead1" low_pc/addr=0 high_pc/data4=0x10
						subprogram name/string="dead2" low_pc/addr=0 high_pc/data4=0x30
						subprogram name/string="live2" low_pc/addr=0x20 high_pc/data4=0x20
			.symbol 0 0x20 live
			.symbol 0x20 0x20 live2
			.debug_line
				program 4
					file "a.c" 0
					set_address 0
					advance_line 100
					copy
					advance_pc 0x10
					special 0x13
					advance_pc 0x10
					end_sequence
					set_address 0
					advance_line 200
					copy
					advance_pc 0x10
					end_sequence
					set_address 0
					advance_line 300
					copy
					advance_pc 0x30
					end_sequence
					set_address 0x20
					advance_line 400
					copy
					advance_pc 0x20
					end_sequence`,
			want: `
				FILE 0 /src/a.c
				FUNC 0 20 0 live
				0 10 101 0
				10 10 102 0
				FUNC 20 20 0 live2
				20 20 401 0`},
		{name: "code at 0 as one sequence, and a dropped function before it",
			in: `
			.code 0 0x1000
			.debug_info
				unit 4
					compile_unit language/data1=2 name/string="a.c" comp_dir/string="/src" stmt_list/sec_offset=0
						subprogram name/string="dead" low_pc/addr=0 high_pc/data4=0x18
						subprogram name/string="live" low_pc/addr=0 high_pc/data4=0x20
						subprogram name/string="live2" low_pc/addr=0x20 high_pc/data4=0x20
			.symbol 0 0x20 live
			.debug_line
				program 4
					file "a.c" 0
					set_address 0
					advance_line 200
					copy
					advance_pc 0x18
					end_sequence
					set_address 0
					advance_line 100
					copy
					advance_pc 0x20
					special 0x13
					advance_pc 0x20
					end_sequence
					set_address 0
					advance_line 300
					copy
					advance_pc 1
					end_sequence`,
			want: `
				FILE 0 /src/a.c
				FUNC 0 20 0 live
				0 20 101 0
				FUNC 20 20 0 live2
				20 20 102 0`},
		{name: "sequences that overlap: the later start counts",
			in: lineUnit("", "0x100", `program 4
				file "a.c" 0
				set_address 0x1000
				advance_line 9
				copy
				advance_pc 0x80
				end_sequence
				set_address 0x1020
				advance_line 19
				copy
				advance_pc 0x10
				end_sequence
				set_address 0x1070
				advance_line 29
				copy
				advance_pc 0x20
				end_sequence`),
			want: `
				FILE 0 /src/a.c
				FUNC 1000 100 0 f
				1000 20 10 0
				1020 10 20 0
				1030 40 10 0
				1070 20 30 0`},
	})
}

func TestLineHeaders(t *testing.T) {
	const body = `
				set_address 0x1000
				copy
				advance_pc 8
				end_sequence`
	runCoreCases(t, []coreCase{
		{name: "64-bit", in: lineUnit("", "8", "program 3 64\nfile \"a.c\" 0\n"+body), want: "FILE 0 /src/a.c\nFUNC 1000 8 0 f\n1000 8 1 0"},
		{name: "version 5 with its own address size", in: lineUnit("", "8", "program 5 addr=4\ndirs path/string\ndir \"/x\"\nfiles path/string\nfile \"0.c\"\nfile \"1.c\"\n"+body),
			want: "FILE 0 /x/1.c\nFUNC 1000 8 0 f\n1000 8 1 0"},
		{name: "version 5, 64-bit, every form",
			in: lineUnit("", "8", `program 5 64
				dirs path/line_strp timestamp/block2
				dir "/zero" <01 02>
				dir "/one" <>
				files MD5/data16 0x3000/sdata path/strp directory_index/data1 size/data8 0x3001/block 0x3002/block1 0x3003/block4 0x3004/strp_sup LLVM_source/line_strp
				file <000102030405060708090a0b0c0d0e0f> -5 "0.c" 0 9 <01> <> <02> 0 ""
				file <000102030405060708090a0b0c0d0e0f> -5 "1.c" 1 9 <01 02> <01> <02> 0 "text"`+body),
			want: "FILE 0 /one/1.c\nFUNC 1000 8 0 f\n1000 8 1 0"},
		{name: "version 5, indexed names",
			in: lineUnit("", "8", `program 5
				dirs path/strx1
				dir 0
				files path/strx2 directory_index/udata
				file 1 0
				file 2 0`+body+`
				.debug_str
				d: "/d"
				e: "e.c"
				f: "f.c"
				.debug_str_offsets
				off &d &e &f`),
			want: "FILE 0 /d/f.c\nFUNC 1000 8 0 f\n1000 8 1 0"},
		{name: "unknown version", in: lineUnit("", "8", "program 6\n"+body),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x0: line program version 6, want 2 to 5 (lost: lines of unit at 0x0, a.c)"},
		{name: "line range 0 without special opcodes", in: lineUnit("", "8", "program 4 range=0\nfile \"a.c\" 0\n"+body),
			want: "FILE 0 /src/a.c\nFUNC 1000 8 0 f\n1000 8 1 0"},
		{name: "line range 0 and a special opcode", in: lineUnit("", "0x10", "program 4 range=0\nfile \"a.c\" 0\n"+body+"\nset_address 0x1008\nspecial 200\nend_sequence"),
			want: "FILE 0 /src/a.c\nFUNC 1000 10 0 f\n1000 8 1 0\n! test: .debug_line+0x41: opcode 200 with line range 0 (lost: lines from 0x1008 on in sequence 2 of unit at 0x0, a.c)"},
		{name: "line range 0 and const_add_pc", in: lineUnit("", "0x10", "program 4 range=0\nfile \"a.c\" 0\nset_address 0x1000\ncopy\nadvance_pc 4\ncopy\nconst_add_pc\ncopy\nend_sequence"),
			want: "FILE 0 /src/a.c\nFUNC 1000 10 0 f\n1000 4 1 0\n! test: .debug_line+0x34: opcode 8 with line range 0 (lost: lines from 0x1004 on in sequence 1 of unit at 0x0, a.c)"},
		{name: "opcode base 0", in: lineUnit("", "0x10", "program 4 opbase=0 lengths=0\nfile \"a.c\" 0\nset_address 0x1000\nspecial 6\nspecial 0x76\nend_sequence"),
			want: "FILE 0 /src/a.c\nFUNC 1000 10 0 f\n1000 8 1 0"},
		{name: "unknown form in the file table", in: lineUnit("", "8", "program 5\ndirs path/addr\ndir 0\n"+body),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x22: entry with unknown form 0x1 (lost: lines of unit at 0x0, a.c)"},
		{name: "name outside of its section", in: lineUnit("", "8", "program 5\ndirs path/line_strp\ndir 0x1234\n"+body),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x22: name outside its string section, at 0x1234 (lost: the name of directory 0 of unit at 0x0, a.c)"},
		{name: "names outside of their sections", in: lineUnit("", "8", "program 5\ndirs path/line_strp\ndir 0\ndir 0x1234\nfiles path/line_strp directory_index/udata\nfile 4 0\nfile 4 1\nfile 0x99 0\nfile 0x98 0\n"+
			"set_address 0x1000\ncopy\nset_address 0x1004\nset_file 0\ncopy\nset_address 0x1006\nset_file 2\ncopy\nset_address 0x1008\nend_sequence\n.debug_line_str\n\"/x\"\n<00>\n\"a.c\""),
			want: "FILE 0 /src/a.c\nFILE 1 /x/a.c\nFUNC 1000 8 0 f\n1000 4 1 0\n1004 2 1 1\n" +
				"! test: .debug_line+0x26: name outside its string section, at 0x1234 (lost: the name of directory 1 of unit at 0x0, a.c)\n" +
				"! test: .debug_line+0x3a: name outside its string section, at 0x99 (lost: the name of file 2 of unit at 0x0, a.c)\n" +
				"! test: .debug_line+0x0: file 2 has no name (lost: lines of an unknown file of unit at 0x0, a.c)\n" +
				"! test: .debug_line+0x0: file 1 is in directory 1, which has no name (lost: the directory of a file of unit at 0x0, a.c)"},
		{name: "a table of files that the header cuts off", in: lineUnit("", "8", "begin\nu16 5\nu8 4 0\nu32 25\nu8 1 1 1 0xfb 14 1\nu8 1 1 8 1\n\"/x\"\nu8 1 1 8 3\n\"0.c\"\n\"1.c\"\n"+
			"<00 05 02 00 10 00 00 06 00 05 02 08 10 00 00 00 01 01>\nend"),
			want: "FILE 0 /x/1.c\nFUNC 1000 8 0 f\n1000 8 1 0\n! test: .debug_line+0x25: string without a NUL in 0 bytes (lost: files from number 2 on of unit at 0x0, a.c)"},
		{name: "longer than the section", in: lineUnit("", "8", "u32 100\nu16 4\n"),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x0: line program of 100 bytes, 2 left in the section (lost: lines of unit at 0x0, a.c)"},
		{name: "too short for a length", in: lineUnit("", "8", "u16 100"),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x0: line program of 2 bytes (lost: lines of unit at 0x0, a.c)"},
		{name: "too short for a 64-bit length", in: lineUnit("", "8", "u32 0xffffffff 0"),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x0: line program of 8 bytes (lost: lines of unit at 0x0, a.c)"},
		{name: "header longer than the program", in: lineUnit("", "8", "begin\nu16 4\nu32 99\nend"),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0xa: header of 99 bytes, 0 left in the program (lost: lines of unit at 0x0, a.c)"},
		{name: "outside the section", in: strings.Replace(lineUnit("", "8", "u8 0"), "sec_offset=0", "sec_offset=9", 1),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x9: line program starts outside the section (lost: lines of unit at 0x0, a.c)"},
		{name: "many entries of no bytes", in: lineUnit("", "8", "begin\nu16 5\nu8 8 0\nu32 14\nu8 1 1 1 0xfb 14 1\nu8 1 0x2001 0x19\nuleb 0xffffffff\n"),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x1a: entry with unknown form 0x19 (lost: lines of unit at 0x0, a.c)"},
		{name: "many entries without a format", in: lineUnit("", "8", "begin\nu16 5\nu8 8 0\nu32 12\nu8 1 1 1 0xfb 14 1\nu8 0\nuleb 0xffffffff\n"),
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x18: 4294967295 entries without a format (lost: lines of unit at 0x0, a.c)"},
		{name: "no .debug_line",
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2 name/string="a.c" stmt_list/sec_offset=0
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data4=8`,
			want: "FUNC 1000 8 0 f\n! test: .debug_line+0x0: line program starts outside the section (lost: lines of unit at 0x0, a.c)"},
	})
}

func TestLineSizes(t *testing.T) {
	if n := unsafe.Sizeof(dwarf.Row{}); n != 16 {
		t.Errorf("row has %d bytes", n)
	}
}
