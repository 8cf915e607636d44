# .loc with view numbers, discriminators, is_stmt, prologue_end and two rows at one address.
	.file 1 "/src/a.c"
	.file 2 "/src/inc/b.h"
	.text
	.globl viewed
	.type viewed, @function
viewed:
	.loc 1 10 1 view .LVU0
	.loc 1 11 2 view .LVU1
	nop
	.loc 2 5 9 is_stmt 0 discriminator 3 view .LVU2
	nop
	.loc 1 12 3 is_stmt 1 prologue_end view .LVU3
	.loc 2 6 1 view .LVU4
	.loc 2 7 1 view .LVU5
	nop
	.loc 1 12 3 view .LVU6
	nop
	.loc 1 12 8 view .LVU7
	nop
	.loc 1 13 1 epilogue_begin isa 1
	ret
	.size viewed, .-viewed
end:

	.section .debug_line,"",@progbits
lines:
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
	.asciz "a.c"
	.asciz "/src"
	.long lines
	.quad viewed
	.long end-viewed
	.uleb128 2
	.asciz "viewed"
	.quad viewed
	.long end-viewed
	.byte 0
2:
	.section .note.GNU-stack,"",@progbits
