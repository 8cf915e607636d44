# A version 4 line table for a machine with four operations in an instruction of 16 bytes.
	.text
	.globl vliw
vliw:	.fill 320, 1, 0x90
vliw_end:

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
1:	.short 4
	.long 0
	.byte 8
	.uleb128 1
	.asciz "vliw.c"
	.asciz "/src"
	.long 0
	.quad vliw
	.long vliw_end-vliw
	.uleb128 2
	.asciz "vliw"
	.quad vliw
	.long vliw_end-vliw
	.byte 0
2:

	.section .debug_line,"",@progbits
	.long line_end-1f
1:	.short 4
	.long program-2f
2:	.byte 16, 4, 1           # bytes, operations per instruction, default_is_stmt
	.byte -1, 4, 13
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
	.byte 0                  # no directories
	.asciz "vliw.c"
	.uleb128 0, 0, 0
	.byte 0
program:
	.byte 0, 9, 2
	.quad vliw
	.byte 13+1+1             # line 2, op 0
	.byte 13+1+1+4*1         # line 3, op 1: the same address
	.byte 13+1+1+4*3         # line 4, op 0 of the next instruction
	.byte 2
	.uleb128 6               # op 2 of the one after
	.byte 1
	.byte 13+1+1+4*1         # line 5, op 3
	.byte 8                  # const_add_pc: 60 operations
	.byte 9
	.short 16                # fixed_advance_pc: bytes; op becomes 0
	.byte 13+1+1             # line 6
	.byte 2
	.uleb128 4               # one instruction
	.byte 0, 1, 1
line_end:
	.section .note.GNU-stack,"",@progbits
