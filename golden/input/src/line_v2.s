# A version 2 line table with only nine standard opcodes, an include directory, define_file, and files out of range.
	.text
	.globl old
old:	.fill 48, 1, 0x90
old_end:

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0x1b, 0x08, 0x10, 0x06, 0x11, 0x01, 0x12, 0x01, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0, 0
	.byte 0

	.section .debug_info,"",@progbits
	.long 2f-1f
1:	.short 2
	.long 0
	.byte 8
	.uleb128 1
	.asciz "old.c"
	.asciz "/src/build"
	.long 0
	.quad old, old_end
	.uleb128 2
	.asciz "old"
	.quad old, old_end
	.byte 0
2:

	.section .debug_line,"",@progbits
	.long line_end-1f
1:	.short 2
	.long program-2f
2:	.byte 1, 1               # minimum_instruction_length, default_is_stmt
	.byte -5, 14, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.asciz "../include"
	.asciz "/usr/include"
	.byte 0
	.asciz "old.c"
	.uleb128 0, 0, 0
	.asciz "rel.h"
	.uleb128 1, 12345, 678
	.asciz "abs.h"
	.uleb128 2, 0, 0
	.asciz "/abs/olute.h"
	.uleb128 1, 0, 0
	.asciz "baddir.h"
	.uleb128 9, 0, 0
	.byte 0
program:
	.byte 0, 9, 2
	.quad old
	.byte 10+5+1             # line 2, old.c
	.byte 4
	.uleb128 2
	.byte 10+5+1+14*4          # rel.h
	.byte 4
	.uleb128 3
	.byte 10+5+1+14*4          # abs.h
	.byte 4
	.uleb128 4
	.byte 10+5+1+14*4
	.byte 4
	.uleb128 5
	.byte 10+5+1+14*4
	.byte 0, 2f-1f           # define_file: number 6
1:	.byte 3
	.asciz "defined.h"
	.uleb128 1, 0, 0
2:	.byte 4
	.uleb128 6
	.byte 10+5+1+14*4
	.byte 4
	.uleb128 40              # no such file
	.byte 10+5+1+14*4
	.byte 2
	.uleb128 8
	.byte 0, 1, 1
line_end:
	.section .note.GNU-stack,"",@progbits
