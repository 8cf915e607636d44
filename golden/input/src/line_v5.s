# A DWARF 5 line table with unusual entry formats and every standard and extended opcode, one of each kind unknown.
	.text
	.globl f1
f1:	.fill 64, 1, 0x90
f1_end:
	.globl f2
f2:	.fill 96, 1, 0x90
f2_end:

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0
	.byte 0

	.section .debug_info,"",@progbits
	.long 2f-1f
1:	.short 5
	.byte 1, 8
	.long 0
	.uleb128 1
	.asciz "unit.c"
	.asciz "/src"
	.long 0
	.quad f1
	.long f2_end-f1
	.uleb128 2
	.asciz "f1"
	.quad f1
	.long f1_end-f1
	.uleb128 2
	.asciz "f2"
	.quad f2
	.long f2_end-f2
	.byte 0
2:

	.section .debug_str,"MS",@progbits,1
str_first:
	.asciz "from_strp.c"

	.section .debug_line_str,"MS",@progbits,1
dir_zero:
	.asciz "/src"
dir_rel:
	.asciz "sub/dir"
source_text:
	.asciz "int embedded;\n"

	.section .debug_line,"",@progbits
	.long line_end-1f
1:	.short 5
	.byte 8, 0
	.long program-2f
2:	.byte 2                  # minimum_instruction_length
	.byte 1                  # maximum_operations_per_instruction
	.byte 1                  # default_is_stmt
	.byte -3, 12, 14         # line_base, line_range, opcode_base
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
	.byte 2                  # opcode 13 is unknown: two operands
	.byte 2                  # directory_entry_format: a vendor's first, then the path
	.uleb128 0x2abc, 0x0f, 1, 0x1f
	.uleb128 4
	.uleb128 300
	.long dir_zero
	.uleb128 1
	.long dir_rel
	.uleb128 7
	.long dir_rel
	.uleb128 9
	.long dir_zero
	.byte 8                  # file_name_entry_format
	.uleb128 4, 0x07         # size: data8
	.uleb128 0x2001, 0x1f    # source text: line_strp
	.uleb128 2, 0x05         # directory: data2
	.uleb128 0x2fff, 0x09    # unknown: block
	.uleb128 3, 0x09         # time: block
	.uleb128 1, 0x0e         # path: strp
	.uleb128 5, 0x1e         # MD5: data16
	.uleb128 0x3000, 0x0d    # unknown: sdata
	.uleb128 3
	.macro file dir
	.quad 1234
	.long source_text
	.short \dir
	.uleb128 3
	.byte 1, 2, 3
	.uleb128 4
	.long 77
	.long str_first
	.octa 0x00112233445566778899aabbccddeeff
	.sleb128 -200
	.endm
	file 0
	file 1
	file 3
program:
	.byte 0, 9, 2            # set_address f2: the higher sequence first
	.quad f2
	.byte 3
	.sleb128 99              # advance_line
	.byte 1                  # copy: f2, line 100, file 1
	.byte 4
	.uleb128 2               # set_file
	.byte 5
	.uleb128 17              # set_column
	.byte 6                  # negate_stmt
	.byte 7                  # set_basic_block
	.byte 10, 11             # prologue_end, epilogue_begin
	.byte 12
	.uleb128 1               # set_isa
	.byte 2
	.uleb128 3               # advance_pc: 3*2
	.byte 13
	.uleb128 500, 600        # unknown standard opcode
	.byte 1                  # copy: f2+6, line 100, file 2
	.byte 0, 3, 0x80, 1, 2   # unknown extended opcode
	.byte 0, 2, 4, 5         # set_discriminator 5
	.byte 8                  # const_add_pc: (255-14)/12*2 = 40
	.byte 9
	.short 4                 # fixed_advance_pc: 4 bytes, not 4*2
	.byte 3
	.sleb128 -90
	.byte 1
	.byte 2
	.uleb128 8
	.byte 0, 1, 1            # end_sequence

	.byte 0, 9, 2
	.quad f1
	.byte 14+12*4+3+5        # special: address + 8, line + 5
	.byte 9
	.short 5                 # not a multiple of minimum_instruction_length
	.byte 3
	.sleb128 -6              # line 0
	.byte 1
	.byte 3
	.sleb128 70000
	.byte 14+3               # special: same address, same line: a second row
	.byte 14+12*2+3          # address + 4: the same line again
	.byte 4
	.uleb128 0
	.byte 14+12*2+4
	.byte 2
	.uleb128 16
	.byte 0, 1, 1            # ends before f1 does
line_end:
	.section .note.GNU-stack,"",@progbits
